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


def hold_numbers(told, path):
    """What --json tells of a figure's panels is what its SVG shows."""
    def near(a, b, what):
        assert len(a) == len(b), (path, what, len(a), len(b))
        for x, y in zip(a, b):
            assert y is None or abs(x - y) <= 2e-3 * max(abs(y), reach / 10), (path, what, x, y)

    drawn = panels(path)
    assert [p["name"] for p in told] == [p.name for p in drawn], path
    marks = 0
    for numbers, panel in zip(told, drawn):
        for axis, there in ((numbers["x"], panel.x), (numbers["y"], panel.y)):
            assert (axis["from"], axis["to"], axis["log"]) == (there.first, there.last, there.log), (path, axis)
        reach = abs(panel.y.last - panel.y.first)
        labels = [e.text for e in panel.elements("text")]
        for words in (numbers["x"]["label"], numbers["y"]["label"], (numbers["colours"] or {}).get("label")):
            assert words is None or words in labels, (path, words)
        assert panel.notes() == [m["note"] for m in numbers["marks"] if m["note"] and m["shape"] != "words"], path
        of = lambda shape: [m for m in numbers["marks"] if m["shape"] == shape and m["of"]]
        for mark in of("steps"):
            near(panel.steps(mark["of"]), mark["y"], mark["of"])
            assert len(mark["x"]) == len(mark["y"]) + 1
        for mark in of("band"):
            near(panel.steps(mark["of"]), mark["high"] + mark["y"][::-1], mark["of"])
        for shape, tag in (("ticks", "path"), ("dots", "circle")):
            for name in {m["of"] for m in of(shape)}:
                told_x = [x for m in of(shape) if m["of"] == name for x in m["x"]]
                parts = [panel.points(e.get("d")) for e in panel.elements("path", name)] if tag == "path" else []
                seen_x = [part[0][0] for one in parts for part in one] if tag == "path" else \
                    [panel.x.value(float(e.get("cx"))) for e in panel.elements("circle", name)]
                width = abs(panel.x.last - panel.x.first)
                assert len(seen_x) == len(told_x), (path, name, len(seen_x), len(told_x))
                assert all(abs(a - b) <= 1e-3 * width for a, b in zip(seen_x, told_x)), (path, name)
        images = [m for m in numbers["marks"] if m["shape"] == "image"]
        assert len(panel.elements("image")) == len(images) + (numbers["colours"] is not None), path
        assert all(len(m["values"]) % m["columns"] == 0 for m in images)
        marks += len(numbers["marks"])
    assert marks > 0, path


def panels(path, name=None):
    found = [Panel(g) for g in tree.parse(path).getroot().iter(NS + "g") if g.get("class") == "panel"]
    return [p for p in found if name is None or p.name == name]
