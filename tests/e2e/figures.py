# SPDX-License-Identifier: Apache-2.0
"""Reads numbers back from the shapes of a figure: a panel's attributes tell where its axes lie."""
import re
import xml.etree.ElementTree as tree

NS = "{http://www.w3.org/2000/svg}"


class Axis:
    def __init__(self, text):
        *numbers, kind = text.split()
        self.first, self.last, self.start, self.end = map(float, numbers)
        self.log = kind == "log"

    def value(self, mm):
        share = (mm - self.start) / (self.end - self.start)
        if self.log:
            return self.first * (self.last / self.first) ** share
        return self.first + share * (self.last - self.first)


class Panel:
    def __init__(self, group):
        self.group = group
        self.name = group.get("data-name")
        self.x, self.y = Axis(group.get("data-x")), Axis(group.get("data-y"))

    def elements(self, tag, of=None):
        return [e for e in self.group.iter(NS + tag) if of is None or e.get("class") == of]

    def points(self, d):
        """The parts of a path, each a list of (x, y)."""
        parts, x, y = [], 0.0, 0.0
        for command, words in re.findall(r"([MLHVZ])([^MLHVZ]*)", d):
            numbers = [float(w) for w in words.split()]
            if command == "Z":
                continue
            if command == "M":
                parts.append([])
            x = numbers[0] if command in "MLH" else x
            y = numbers[-1] if command in "MLV" else y
            parts[-1].append((self.x.value(x), self.y.value(y)))
        return parts

    def path(self, of):
        found, = self.elements("path", of)
        return self.points(found.get("d"))

    def steps(self, of):
        """The heights of the bins of a line of steps, or of what lies under one; of a band those above, then those
        below from right to left."""
        found, = self.elements("path", of)
        points = self.points(found.get("d"))[0]
        heights = [y for _, y in points[::2]]
        return heights[:-1] if of != "band" and found.get("fill") != "none" else heights

    def notes(self):
        return [e.text for e in self.group.iter(NS + "title")]


def panels(path, name=None):
    found = [Panel(g) for g in tree.parse(path).getroot().iter(NS + "g") if g.get("class") == "panel"]
    return [p for p in found if name is None or p.name == name]
