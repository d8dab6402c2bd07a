# SPDX-License-Identifier: Apache-2.0
"""What scripts/demo shows: both planted chains are found whole, each nearly as often as it was planted, and each has a q; what is
published folds and orders episodes as its own counts say."""
import math
import pathlib
import re

import command

DEMO = ("run", command.SOURCE / "configs" / "demo.yaml")


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
        for part in (units[:-1], delays[:-1]), (units[1:], delays[1:]):
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


def planted(told):
    """The rows of what was planted and found: the chain, how often it was planted and counted, by chance, and what was found."""
    rows = told[told.index("\nPlanted and found"):].splitlines()
    return [re.split("  +", row) for row in rows if " > " in row and not row.startswith("planted chain")]


class Demo(command.Test):
    @classmethod
    def prepare(cls):
        pathlib.Path("demo").mkdir()
        cls.synfire("simulate", "demo/demo.h5", "--preset", "sym26", "--duration", 180)
        cls.told = cls.synfire(*DEMO, "--set", "sources.0.speed=max").stdout
        cls.windows = command.messages_of("demo/demo.jsonl", "episodes")

    def played(self, *words, topic):
        """The messages of a run of it with these options."""
        self.synfire(*DEMO, "--quiet", *words, "--set", "sinks.0.path=again.jsonl")
        return command.messages_of("again.jsonl", topic)

    def test_both_chains_are_found_whole_about_as_often_as_they_were_planted(self):
        rows = planted(self.told)
        self.assertEqual([(row[0], row[-1]) for row in rows], [("A > B > C", "whole"), ("D > E > F > G > H > I > J > K", "whole")])
        for _, times, count, chance, _ in rows:
            self.assertGreaterEqual(int(count), 0.9 * int(times))
            self.assertLessEqual(float(chance), 2)

    def test_both_chains_have_a_q_and_all_else_is_their_parts(self):
        self.assertRegex(self.told, r"(?m)^2 chains, 29 significant parts \(q of 0.05 or less\) of")
        for chain in "A > B > C", "D > E > F > G > H > I > J > K":
            self.assertRegex(self.told, rf"(?m)^ +[0-9]+ .* (0.0|[0-9.]+e-)[0-9]+  {chain}$")

    def assert_folded(self, windows):
        """Each message folds and orders as its own counts say; how many chains and significant parts there are, of all together."""
        chains = parts = 0
        for message in windows:
            items, found = message["episodes"], parents(message["episodes"])
            for item in items:
                self.assertEqual(item["folded_under"], found[item["id"]]["id"] if item["id"] in found else None, item)
            significant = [item for item in items if is_significant(item)]
            folded = sum(item["id"] in found for item in significant)
            self.assertEqual((message["chains"], message["significant_parts"]), (len(significant) - folded, folded))
            in_order = sorted(items, key=lambda item: item["standing"])
            self.assertEqual([item["standing"] for item in in_order], list(range(1, len(items) + 1)))
            self.assertEqual([place(item) for item in in_order], sorted(map(place, items)))
            chains += message["chains"]
            parts += folded
        return chains, parts

    def test_episodes_fold_and_stand_by_their_counts_and_a_limit_changes_nothing_of_it(self):
        self.assertEqual(len(self.windows), 90)
        chains, parts = self.assert_folded(self.windows)
        self.assertGreater(chains, 50)
        self.assertGreater(parts, 500)
        limited = self.played("--set", "sources.0.speed=max", "--max-q", 0.5, topic="episodes")
        self.assertEqual((len(limited), self.assert_folded(limited)), (90, (chains, parts)))
        self.assertLess(sum(len(m["episodes"]) for m in limited), sum(len(m["episodes"]) for m in self.windows))

    def test_at_a_pace_that_no_test_keeps_up_with_none_is_left_out(self):
        last = self.played("--set", "sources.0.speed=10000", topic="status")[-1]  # a replay waits for them
        self.assertIn(last["tests"], (9, 10, 11))
        self.assertEqual(last["tests_missed"], 0)

    def test_a_chain_whose_units_are_left_out_is_not_found(self):
        told = self.synfire("run", "--replay", "demo/demo.h5", "--speed", "max", "--units", "A,B,C", "--set", "mine.delays_ms=4:6").stdout
        first, second = planted(told)
        self.assertEqual(first[-1], "whole")
        self.assertEqual((second[0][0], second[2], second[-1]), ("D", "0", "not found"))


if __name__ == "__main__":
    command.main()
