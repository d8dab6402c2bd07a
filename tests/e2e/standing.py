# SPDX-License-Identifier: Apache-2.0
"""Folding and order of what a run publishes, from the counts in each of its messages anew.

    standing.py MESSAGES.jsonl

Prints how many windows, chains and significant parts there were, of all windows together; exits with 1 where a message says
otherwise."""
import json
import math
import sys


def key(item):
    return tuple(item["units"]), tuple(map(tuple, item["delays_ms"]))


def is_significant(item):
    return item["q"] is not None and item["q"] <= 0.05


def parents(items):
    """Of each the longer one that with chance accounts for it, of several the one with the highest count."""
    found = {}
    by_key = {key(item): item for item in items}
    for longer in items:
        units, delays = key(longer)
        for part in ((units[:-1], delays[:-1]), (units[1:], delays[1:])):
            item = by_key.get(part)
            if item is None or len(units) < 3 or (is_significant(item) and not is_significant(longer)):
                continue
            if item["count"] - longer["count"] > item["expected"] + 2 * math.sqrt(item["count"]):
                continue
            before = found.get(item["id"])
            if before is None or before["count"] < longer["count"]:
                found[item["id"]] = longer
    return found


def place(item):
    above = (item["count"] - item["expected"]) / math.sqrt(max(item["expected"], 1))
    return not is_significant(item), item["folded_under"] is not None, above <= 0, -len(item["units"]), -above


windows = chains = parts = 0
for line in open(sys.argv[1]):
    message = json.loads(line)
    if message["topic"] != "episodes":
        continue
    windows += 1
    items, found = message["episodes"], parents(message["episodes"])
    for item in items:
        parent = found[item["id"]]["id"] if item["id"] in found else None
        assert item["folded_under"] == parent, (item, parent)
    significant = [item for item in items if is_significant(item)]
    folded = sum(item["id"] in found for item in significant)
    assert (message["chains"], message["significant_parts"]) == (len(significant) - folded, folded)
    in_order = sorted(items, key=lambda item: item["standing"])
    assert [item["standing"] for item in in_order] == list(range(1, len(items) + 1))
    assert sorted(map(place, items)) == [place(item) for item in in_order]
    chains += message["chains"]
    parts += folded
print(windows, chains, parts)
