# SPDX-License-Identifier: Apache-2.0
"""synfire mine and count: fields, exact counts, options, refusals."""
import functools
import importlib.util
import json
import math
import os
import pathlib
import random
import re
import resource
import subprocess
import unittest
import xml.etree.ElementTree
from decimal import Decimal

import command
import interrupt

WORKED = "unit,seconds\nA,0.001\nA,0.002\nB,0.005\nB,0.008\nA,0.010\nA,0.013\nC,0.015\nB,0.018\nC,0.020\n"
CHAINS = ("mine", "demo.h5", "--delay", "4:6", "--min-count", 60)
MINE = (*CHAINS, "--max-size", 8)
TESTED = ("mine", "demo.h5", "--delay", "4:6", "--min-count", 100, "--max-size", 8, "--significance", "segment-shift", "--surrogates", 200,
          "--quiet")
HEAD = ("id,size,episode,count,expected,p,q,strength,not_tested,ratio_low,ratio_high,needed,expected_given_rest,p_first,p_last,p_links,"
        "worth_showing,bursts,in_bursts,reverse_count,asymmetry,one_electrode,folded_under,epochs")
NEEDS_ALL_SPIKES = {"bursts", "in_bursts", "reverse_count", "asymmetry"}
REAL = command.DATA / "recordings" / "Demas2003_P9_CTRL_MY1_1A.h5"


def write(path, text):
    pathlib.Path(path).write_text(text)


def size_of(episode):
    return len(episode["units"])


def text_of(episode):
    return episode["names"][0] + "".join(f" -(4,6]-> {name}" for name in episode["names"][1:])


def counted(rows):
    """Rows without what needs all spikes at once, which is empty of spikes read in pieces."""
    return [{name: cell for name, cell in row.items() if name not in NEEDS_ALL_SPIKES} for row in rows]


def rounded(document):
    """The same from any threshold that is 60 but for how it was given."""
    document = command.without_times(document)
    if 59.99 <= document["threshold"] <= 60.0001:
        document["threshold"] = 60
    return document


@functools.cache
def demo():
    """A minute with two planted chains, and what is mined in it."""
    command.Test.synfire("simulate", "demo.h5", "--preset", "sym26")
    return pathlib.Path("demo.h5").read_bytes(), command.Test.document(*MINE)


class OfTheDemo(command.Test):
    @classmethod
    def prepare(cls):
        recording, cls.all = demo()
        pathlib.Path("demo.h5").write_bytes(recording)
        cls.episodes = cls.all["episodes"]
        write("text.txt", "".join(text_of(e) + "\n" for e in cls.episodes))
        write("json.txt", "".join(json.dumps({"units": e["units"], "delays_ms": e["delays_ms"]}) + "\n" for e in cls.episodes))
        write("some.txt", "".join(text_of(e) + "\n" for e in cls.episodes[:40]))
        write("two.txt", "".join(text_of(e) + "\n" for e in cls.episodes[:2]))
        write("worked.csv", WORKED)
        write("worked.txt", "A -(5,10]-> B -(10,15]-> C\n")


class Mining(OfTheDemo):
    def test_fields_have_their_order_and_types(self):
        out = self.all
        self.assertEqual(list(out)[:10],
                         ["recording", "spikes", "units", "engine", "device", "seconds", "methods", "registered", "levels", "episodes"])
        self.assertEqual((out["recording"], out["units"], out["engine"], out["device"]), ("demo.h5", 26, "interval", "cpu"))
        for level in out["levels"]:
            self.assertEqual(list(level), ["size", "candidates", "culled", "frequent", "seconds", "complete"])
        self.assertEqual([level["size"] for level in out["levels"]], [1, 2, 3, 4, 5, 6, 7, 8])
        self.assertEqual(out["levels"][1]["candidates"], 26 * 25)
        for e in self.episodes:
            self.assertEqual(list(e)[:11], ["id", "size", "episode", "units", "names", "delays_ms", "count", "expected", "p", "q", "strength"])
            self.assertEqual((e["size"], e["episode"].split(" -(4,6]-> ")), (size_of(e), e["names"]))
            self.assertEqual(e["delays_ms"], [[4, 6]] * (size_of(e) - 1))
            self.assertGreaterEqual(e["count"], 60)
            self.assertIsNone(e["p"])
            self.assertIsNone(e["expected_given_rest"])

    def test_what_chance_gives_of_pairs_is_told(self):
        for e in self.episodes:
            self.assertTrue(0.7 < e["expected"] / 55 < 1.4 or size_of(e) > 2, e)

    def test_the_planted_chain_is_on_top_of_what_is_in_order(self):
        self.assertEqual(self.episodes, sorted(self.episodes, key=lambda e: (size_of(e), -e["count"], e["units"], e["delays_ms"])))
        self.assertEqual(sum(level["frequent"] for level in self.all["levels"][1:]), len(self.episodes))
        self.assertEqual(self.episodes[-1]["names"], list("DEFGHIJK"))
        self.assertEqual(len({e["id"] for e in self.episodes}), len(self.episodes))

    def test_engines_and_threads_find_the_same(self):
        for how in ("--engine", "reference"), ("--engine", "interval", "--threads", 1), ("--engine", "auto", "--device", "cpu", "--threads", 2):
            with self.subTest(how=how):
                out = self.document(*MINE, *how)
                self.assertEqual(out["episodes"], self.episodes)
                self.assertEqual([level["frequent"] for level in out["levels"]], [level["frequent"] for level in self.all["levels"]])

    def test_a_pair_knows_its_reverse_and_what_accounts_for_it(self):
        by = {tuple(e["names"]): e for e in self.episodes}
        ab, abc, back = by["A", "B"], by["A", "B", "C"], by["B", "A"]["count"]
        self.assertEqual(ab["reverse_count"], back)
        self.assertAlmostEqual(ab["asymmetry"], (ab["count"] - back) / (ab["count"] + back), delta=1e-9)
        self.assertIsNone(abc["reverse_count"])
        self.assertEqual((ab["folded_under"], abc["folded_under"]), (abc["id"], None))

    def test_delays_of_links_are_those_of_counted_occurrences(self):
        for e in self.episodes:
            self.assertEqual(len(e["links"]), size_of(e) - 1)
            for link in e["links"]:
                self.assertEqual((sum(link["histogram"]), len(link["histogram"])), (e["count"], 10))
                self.assertTrue(4 < link["least_ms"] <= link["lower_quarter_ms"] <= link["median_ms"] <= link["greatest_ms"] <= 6, link)
        abc = next(e for e in self.episodes if e["names"] == ["A", "B", "C"])
        self.assertTrue(4.5 < abc["links"][0]["median_ms"] < 5.5, abc["links"])
        self.assertGreater(max(abc["links"][0]["histogram"]), 2 * abc["count"] / 10)

    def test_the_table_folds_what_verbose_lists(self):
        table = self.synfire(*MINE).stdout
        self.assertRegex(table, "are folded, which count no more.*--verbose lists them")
        self.assertIn("\n> is a delay of (4,6] ms\n", table)
        self.assertNotRegex(table, "(?m)^A > B  ")
        self.assertRegex(self.synfire(*MINE, "--verbose").stdout, r"(?m)^A -\(4,6\]-> B  ")

    def test_thresholds_are_counts_rates_or_fractions(self):
        bare = ("mine", "demo.h5", "--delay", "4:6", "--max-size", 8)
        self.assertEqual(rounded(self.document(*bare, "--min-rate", 1)), rounded(self.all))
        self.assertEqual(rounded(self.document(*bare, "--min-fraction", 60 / self.all["spikes"])), rounded(self.all))

    def test_top_is_of_each_size(self):
        out = self.document(*MINE, "--top", 2)
        self.assertEqual([size_of(e) for e in out["episodes"]], [size for size in range(2, 8) for _ in "12"] + [8])

    def test_closed_leaves_out_parts_that_count_the_same(self):
        out = self.document(*MINE, "--closed")["episodes"]
        self.assertLess(len(out), len(self.episodes))
        self.assertIn(self.episodes[-1], out)

    def test_a_unit_may_repeat_by_either_name_of_the_option(self):
        words = ("mine", "demo.h5", "--delay", "10:60", "--min-count", 300, "--max-size", 2)
        former, out = self.document(*words, "--self"), self.document(*words, "--repeats")
        self.assertEqual(command.without_times(former), command.without_times(out))
        self.assertEqual(out["levels"][1]["candidates"], 26 * 26)
        self.assertTrue(any(e["units"][0] == e["units"][1] for e in out["episodes"]))

    def test_several_delays_are_all_tried(self):
        out = self.document("mine", "demo.h5", "--delay", "0:4,4:6.5", "--min-count", 60)
        self.assertEqual(out["levels"][1]["candidates"], 2 * 26 * 25)
        self.assertEqual({tuple(d) for e in out["episodes"] for d in e["delays_ms"]}, {(0, 4), (4, 6.5)})

    def test_units_may_be_chosen(self):
        out = self.document("mine", "demo.h5", "--units", "A,B,C", "--delay", "4:6", "--min-count", 1, "--max-size", 2)
        self.assertEqual([level["candidates"] for level in out["levels"]], [3, 6])

    def test_a_preset_says_that_it_is_used(self):
        words = ("mine", "demo.h5", "--preset", "cortex", "--max-size", 2, "--min-count", 100)
        told = self.synfire(*words, "--json")
        self.assertIn("preset cortex", told.stderr)
        self.assertEqual(json.loads(told.stdout)["levels"][1]["candidates"], 3 * 26 * 25)
        self.document(*words)

    def test_the_table_and_csv_have_what_was_found(self):
        table = self.synfire(*CHAINS).stdout
        self.assertRegex(table, "(?m)^D > E > F > G ")
        self.assertIn("more: --top", table)
        lines = self.synfire(*CHAINS, "--csv").stdout.splitlines()
        self.assertEqual(lines[0], HEAD)
        self.assertEqual(len(lines) - 1, sum(size_of(e) <= 4 for e in self.episodes))

    def test_a_default_threshold_is_told(self):
        self.assertIn("frequent from a count of 32 (a fortieth of a mean unit's spikes)", self.synfire("mine", "demo.h5", "--delay", "4:6").stdout)

    def test_where_chance_makes_every_chain_the_threshold_is_above_it(self):
        out = self.document("mine", "demo.h5", "--delay", "0.5:40", "--max-size", 3, "--top", 1)
        self.assertTrue(out["threshold_why"].startswith("a quarter of the way"), out["threshold_why"])
        self.assertEqual(out["levels"][1]["frequent"], 650)
        self.assertLess(out["levels"][2]["frequent"], 1000)

    def test_neighbours_on_the_array_may_be_left_out(self):
        out = self.document("mine", "demo.h5", "--delay", "0:20", "--min-count", 1, "--max-size", 2, "--min-distance", 120)
        at = {u["unit"]: (u["x_um"], u["y_um"]) for u in self.document("info", "demo.h5")["unit_detail"]}

        def far(a, b):
            return sum((p - q) ** 2 for p, q in zip(at[a], at[b])) >= 120 ** 2

        self.assertEqual(out["levels"][1]["candidates"], sum(a != b and far(a, b) for a in at for b in at))
        self.assertTrue(all(far(*e["units"]) for e in out["episodes"]))

    def test_what_two_pass_ruled_out_is_in_the_table(self):
        words = ("mine", "demo.h5", "--delay", "4:6", "--min-count", 70, "--engine", "two-pass")
        levels, table = self.document(*words)["levels"], self.synfire(*words).stdout
        self.assertIn("engine two-pass on cpu", table)
        rows = [line.split() for line in table.splitlines()]
        head = rows.index(["size", "candidates", "culled", "frequent", "seconds"])
        self.assertGreater(sum(level["culled"] for level in levels), 0)
        for row, level in zip(rows[head + 1:], levels):
            self.assertEqual(row[:4], [str(level[key]) for key in ("size", "candidates", "culled", "frequent")])

    def test_nothing_frequent_is_no_error_and_says_what_to_do(self):
        words = ("mine", "demo.h5", "--delay", "4:6")
        told = self.synfire(*words, "--min-count", 5000, "--json")
        out = json.loads(told.stdout)
        self.assertEqual((out["episodes"], out["levels"][0]["frequent"]), ([], 0))
        self.assertRegex(told.stderr, "no unit has 5000 spikes: the most that a pair counts is [0-9]*; --min-count [0-9]* finds [0-9]* pairs")
        self.assertIn("no pair of units reaches a count of 1000", self.synfire(*words, "--min-count", 1000, "--json").stderr)
        self.assertIn("no pair of units reaches a count of 1000: the most", self.synfire(*words, "--min-count", 999.25).stderr)  # counts are whole
        self.document(*words, "--min-count", 5000)

    def test_stopped_it_says_at_what(self):
        ended = interrupt.interrupt(r"shifting trains \[", *CHAINS, "--significance", "segment-shift", "--surrogates", 1000000)
        self.assertEqual(ended.returncode, 130)
        self.assertIn("stopped: all episodes are here, and none is tested\n", ended.stdout)
        self.assertRegex(ended.stderr, "(?m)^synfire: mine: stopped: ")

    def test_delays_narrower_than_two_ticks_are_told(self):
        write("coarse.csv", "".join(f"{'a' if i % 3 else 'b'},{i / 100:.3f}\n" for i in range(400)))
        told = self.synfire("mine", "coarse.csv", "--delay", "0:10", "--min-count", 5, "--json")
        self.assertIn("narrower than two clock ticks of 10 ms", told.stderr)


class SearchedDelays(OfTheDemo):
    """Of intervals that overlap each pair of units has one, in chains and graphs alike, of spikes held or not."""

    @classmethod
    def prepare(cls):
        super().prepare()
        cls.words = ("demo.h5", "--delay", "0:8/2", "--min-count", 60)
        cls.found = cls.document("mine", *cls.words, "--max-size", 3)
        cls.pairs = {tuple(e["units"]): e["delays_ms"][0] for e in cls.found["episodes"] if size_of(e) == 2}

    def test_each_pair_has_one_interval(self):
        levels = self.found["levels"]
        self.assertEqual((levels[1]["candidates"], levels[1]["frequent"]), (3 * 26 * 25, len(self.pairs)))
        self.assertEqual((self.pairs[0, 1], self.pairs[1, 2]), ([4, 8], [4, 8]))
        self.assertIn([0, 8], self.pairs.values())
        self.assertIn("of intervals that overlap each pair has the one in which it stands out most", self.found["methods"])

    def test_chains_have_the_intervals_of_their_pairs(self):
        chains = [e for e in self.found["episodes"] if size_of(e) == 3]
        self.assertIn([0, 1, 2], [e["units"] for e in chains])
        for e in chains:
            self.assertEqual([self.pairs[tuple(e["units"][i:i + 2])] for i in (0, 1)], e["delays_ms"])

    def test_graphs_have_the_same(self):
        edges = self.document("graph", *self.words)["edge_detail"]
        self.assertEqual({(e["from"], e["to"]): e["delay_ms"] for e in edges}, self.pairs)
        self.assertEqual(len(edges), len(self.pairs))

    def test_spikes_in_pieces_have_the_same(self):
        words = ("mine", *self.words, "--max-size", 3)
        self.assertEqual(counted(self.rows(*words, "--memory", "130M")), counted(self.rows(*words)))


class Tested(OfTheDemo):
    """Two chains, and all else their parts: folded by one rule, and counted so."""

    @classmethod
    def prepare(cls):
        super().prepare()
        cls.table = cls.synfire(*TESTED).stdout
        cls.found = cls.document(*TESTED)

    def test_chains_and_their_parts_are_counted(self):
        self.assertEqual((self.found["chains"], self.found["significant_parts"]), (2, 29))
        standing = [e for e in self.found["episodes"] if e["q"] <= 0.05]
        self.assertEqual(sorted(size_of(e) for e in standing if e["folded_under"] is None), [3, 8])
        self.assertEqual(len(standing), 31)

    def test_tables_say_so_however_few_they_list(self):
        for told in self.table, self.synfire(*TESTED, "--top", 1).stdout:
            self.assertIn("2 chains, 29 significant parts (q of 0.05 or less)", told.splitlines())

    def test_standing_is_the_order_of_tables_and_csv(self):
        """A q of 0.05 or less, folded under no other, above chance, the longest, most above it."""
        def key(e):
            above = (e["count"] - e["expected"]) / math.sqrt(max(e["expected"], 1))
            return (e["q"] is None or e["q"] > 0.05, e["folded_under"] is not None, above <= 0, -size_of(e), -above)

        out = self.document(*TESTED, "--sort", "standing")["episodes"]
        keys = [key(e) for e in out]
        self.assertEqual(keys, sorted(keys))
        self.assertGreater(len({key[:4] for key in keys}), 6)
        self.assertEqual([row["id"] for row in self.rows(*TESTED)], [e["id"] for e in out])
        self.assertEqual(sorted(out, key=lambda e: e["id"]), sorted(self.found["episodes"], key=lambda e: e["id"]))
        self.assertNotEqual(out, self.found["episodes"])

    def test_the_table_has_both_chains_alone(self):
        self.assertEqual(re.findall("(?m)^[A-K](?: > [A-K])+", self.table)[:2], ["D > E > F > G > H > I > J > K", "A > B > C"])
        self.assertEqual(len(re.findall("(?m)^[A-K] > ", self.table)), 2)

    def test_columns_are_left_out_in_their_order_and_named(self):
        self.assertIn("--verbose adds needed, strength, median delays ms, 95 %, given rest", self.table.splitlines())

    def test_no_table_is_wider_than_80_and_its_numbers_are_those_of_all_columns(self):
        def rows(table):
            return [re.split("  +", line.strip()) for line in table.splitlines() if re.match("episode |[A-K] (>|-)", line)]

        narrow, (heads, *wide) = rows(self.table), rows(self.synfire(*TESTED, "--verbose").stdout)
        wide = {row[0]: dict(zip(heads, row)) for row in wide}
        self.assertEqual(len(narrow), 3)
        for line in self.table.splitlines():
            self.assertTrue(len(line) <= 80 or not re.match("episode |[A-K] > ", line), line)
        for row in narrow[1:]:
            whole = wide[row[0].replace(" > ", " -(4,6]-> ")]
            self.assertEqual(row[1:], [whole[head] for head in narrow[0][1:]])

    def test_a_long_chain_goes_on_in_the_next_line(self):
        names = [*"ABCDEFGH", "u26", "u27", "u28", "u29"]
        self.synfire("simulate", "chain.h5", "--unit-count", 30, "--rate", 4, "--duration", 30, "--quiet", "--chain", " -(4,6]-> ".join(names))
        table = self.synfire("mine", "chain.h5", "--delay", "4:6", "--max-size", 12, "--min-count", 15, "--quiet").stdout
        self.assertRegex(table, "(?m)^A > B > C > .* >  +[0-9]+  +[0-9.e-]+  +[0-9.e+]+$")
        self.assertRegex(table, "(?m)^  .*u29$")


class OtherRecordings(command.Test):
    def test_a_chain_planted_in_bursts_lies_in_them(self):
        self.synfire("simulate", "bursting.h5", "--unit-count", 12, "--rate", 2, "--duration", 120, "--burst-rate", 0.2, "--chain",
                     "A -(4,6]-> B", "--chain-rate", 1, "--quiet")
        out = self.document("mine", "bursting.h5", "--delay", "4:6", "--min-count", 60)
        self.assertTrue(5 < out["bursts"] < 60, out["bursts"])
        for e in out["episodes"]:
            self.assertTrue(0 <= e["bursts"] <= min(out["bursts"], e["in_bursts"]) and e["in_bursts"] <= e["count"], e)
        self.assertEqual(out["episodes"][0]["names"], ["A", "B"])
        self.assertGreater(out["episodes"][0]["bursts"], 0)

    @unittest.skipUnless(REAL.exists(), "no real data there (SYNFIRE_DATA names its folder)")
    def test_links_within_one_electrode_are_told_of(self):
        out = self.document("mine", REAL, "--delay", "0.5:20", "--min-count", 200)
        for e in out["episodes"]:  # names are those of electrodes, and a letter
            self.assertEqual(e["one_electrode"], any(a[:-1] == b[:-1] for a, b in zip(e["names"], e["names"][1:]) if a != b))
        self.assertTrue(any(e["one_electrode"] for e in out["episodes"]))
        for words in ("mine", REAL, "--delay", "0.5:20", "--min-count", 200), ("graph", REAL, "--delay", "0.5:20", "--min-count", 300):
            self.assertRegex(self.synfire(*words).stdout, "(?m)^links between units of one electrode.*ch_66a - ch_66b")

    def test_without_a_threshold_a_chain_is_found_among_few_units_and_many(self):
        self.synfire("simulate", "many.h5", "--unit-count", 800, "--rate", 2, "--duration", 600, "--chain", "A -(4,6]-> B -(4,6]-> C",
                     "--chain-rate", 0.2, "--seed", 4, "--quiet")
        out = self.document("mine", "many.h5")
        self.assertEqual(sorted(e["names"] for e in out["episodes"]), [["A", "B"], ["A", "B", "C"], ["B", "C"]])
        self.assertTrue(out["threshold_why"].startswith("a fortieth") and 20 < out["threshold"] < 35, out["threshold"])
        self.assertRegex(self.synfire("graph", "many.h5").stdout, r"(?m)^800 units, 2 edges; an edge is a pair from a count of [0-9.]* "
                                                                  r"\(a fortieth of a mean unit's spikes\) on$")
        self.assertRegex(self.synfire("mine", "many.h5", "--units", "#0-#7", "--from", 0, "--to", 100).stdout,
                         r"(?m)^delays .* frequent from a count of 20 \(the least by default\)")


class Epochs(OfTheDemo):
    """Each as if it were all there is: as counts of the same selection are."""

    @classmethod
    def prepare(cls):
        super().prepare()
        write("few.txt", "".join(text_of(e) + "\n" for e in cls.episodes[:30]))
        write("epochs.csv", "start,stop,label\n0,20,rest\n20,35.5,light\n40,60,rest\n")
        cls.mined = cls.document(*CHAINS, "--epochs", "epochs.csv")["episodes"]

    def test_counts_are_those_of_each_alone(self):
        count = ("count", "demo.h5", "--episodes", "few.txt")
        found = self.document(*count, "--epochs", "epochs.csv")
        self.assertEqual([e["label"] for e in found["epochs"]], ["rest", "light", "rest"])
        self.assertEqual([e["duration_s"] for e in found["epochs"]], [20, 15.5, 20])
        for k, (start, stop) in enumerate(((0, 20), (20, 35.5), (40, 60))):
            alone = self.document(*count, "--from", start, "--to", stop)["episodes"]
            self.assertEqual([e["epoch_counts"][k] for e in found["episodes"]], [e["count"] for e in alone])
        for e in found["episodes"]:
            self.assertLessEqual(sum(e["epoch_counts"]), e["count"])
            self.assertEqual(e["epochs"], sum(c > 0 for c in e["epoch_counts"]))

    def test_mined_episodes_have_them(self):
        self.assertTrue(all(len(e["epoch_counts"]) == 3 and sum(e["epoch_counts"]) <= e["count"] for e in self.mined))

    def test_the_table_sums_them_by_label(self):
        table = self.synfire(*CHAINS, "--epochs", "epochs.csv").stdout
        self.assertRegex(table, "(?m)^episode .* parts +rest +light$")
        self.assertRegex(table, "(?m)^[A-K] > .* [0-9]+, [0-9.]+/s +[0-9]+, [0-9.]+/s$")
        self.assertIn("the last 2 columns: each of 3 epochs taken alone, summed by label", table.splitlines())
        pairs = {" > ".join(e["names"]): e["epoch_counts"] for e in self.mined if size_of(e) == 2}
        rows = [line for line in table.splitlines() if line.split("  ")[0] in pairs]
        self.assertGreater(len(rows), 2)
        for line in rows:
            rest, light = (cell.split(",") for cell in line.split("  ")[-2:] if cell)
            counts = pairs[line.split("  ")[0]]
            self.assertEqual((int(rest[0]), int(light[0])), (counts[0] + counts[2], counts[1]), line)
            self.assertAlmostEqual(float(light[1].strip()[:-2]), counts[1] / 15.5, delta=0.01)

    def test_edges_of_the_graph_have_the_same(self):
        words = ("graph", *CHAINS[1:], "--epochs", "epochs.csv")
        graph, mined = self.document(*words), {tuple(e["units"]): e["epoch_counts"] for e in self.mined if size_of(e) == 2}
        self.assertEqual([e["label"] for e in graph["epochs"]], ["rest", "light", "rest"])
        self.assertEqual(graph["edges"], len(mined))
        for e in graph["edge_detail"]:
            self.assertEqual(e["epoch_counts"], mined[e["from"], e["to"]])
        table = self.synfire(*words).stdout
        self.assertRegex(table, "(?m)^from +to .* rest +light$")
        self.assertIn("the last 2 columns: each of 3 epochs taken alone, summed by label", table.splitlines())


class Occurrences(OfTheDemo):
    def test_as_hdf5_they_say_what_they_are_and_are_as_many_as_counted(self):
        self.synfire(*MINE, "--quiet", "--occurrences", "occurrences.h5")
        out = self.document("info", "occurrences.h5")
        known = {e["id"]: e["count"] for e in self.episodes}
        self.assertEqual(next(iter(out["provenance"])), "program")
        self.assertEqual((out["format"], out["recording"]), ("synfire occurrences 1", "demo.h5"))
        self.assertEqual(out["occurrences"], sum(e["count"] for e in out["episodes"]))
        self.assertGreater(out["occurrences"], 1000)
        self.assertEqual([known[e["id"]] for e in out["episodes"]], [e["count"] for e in out["episodes"]])
        self.assertIn("every spike time of each", self.synfire("info", "occurrences.h5").stdout)
        self.refuses(65, "holds occurrences of episodes", "mine", "occurrences.h5")

    @unittest.skipUnless(importlib.util.find_spec("h5py"), "no Python module h5py")
    def test_what_was_looked_for_is_said_as_options_have_it(self):
        import h5py
        self.synfire(*CHAINS, "--delay", "4:6,0.5:20", "--closed", "--occurrences", "looked.h5")
        with h5py.File("looked.h5") as file:
            self.assertEqual(file.attrs["configuration"].decode(), "mine:\n  delays_ms: 4:6,0.5:20\n  min_count: 60\n  max_size: 4\n"
                             "  repeats: false\n  closed: true\n  min_distance_um: 0\n")

    def test_as_csv_they_are_as_many_with_delays_inside_and_no_overlap(self):
        out, found = self.document(*MINE, "--occurrences", "occurrences.csv"), {}
        for row in command.rows_of("occurrences.csv"):
            times = [Decimal(row[f"spike_{i}_s"]) for i in range(1, 9) if row[f"spike_{i}_s"]]
            self.assertTrue(all(Decimal("0.004") < b - a <= Decimal("0.006") for a, b in zip(times, times[1:])), row)
            found.setdefault(row["id"], []).append(times)
            self.assertEqual(int(row["occurrence"]), len(found[row["id"]]))
        self.assertEqual({e["id"]: e["count"] for e in out["episodes"]}, {key: len(times) for key, times in found.items()})
        self.assertTrue(all(a[-1] <= b[0] for times in found.values() for a, b in zip(times, times[1:])))

    def test_a_folder_that_is_not_there_is_said(self):
        self.refuses(73, "cannot create", "mine", "demo.h5", "--delay", "4:6", "--min-count", 100, "--occurrences", "nowhere/x.csv")


class Counting(OfTheDemo):
    def test_the_worked_example_of_the_definition_counts_one(self):
        self.assertEqual(self.document("count", "worked.csv", "--episodes", "worked.txt")["episodes"][0]["count"], 1)

    def test_episodes_that_are_found_are_counted_the_same(self):
        def less(episodes):
            return [{key: value for key, value in e.items() if key not in ("strength", "correlograms")} for e in episodes]

        for file in "text.txt", "json.txt":
            with self.subTest(file=file):
                self.assertEqual(less(self.document("count", "demo.h5", "--episodes", file)["episodes"]), less(self.episodes))

    def test_each_window_counts_as_its_slice_alone(self):
        """The window is no multiple of the hop; one partial at the end."""
        count = ("count", "demo.h5", "--episodes", "some.txt")
        windows = self.document(*count, "--from", 3.5, "--window", 17.3, "--hop", 7.1)["windows"]
        self.assertEqual([w.get("partial", False) for w in windows], [False] * 6 + [True])
        self.assertEqual((windows[0]["from_s"], windows[0]["to_s"]), (3.5, 20.8))
        for w in windows:
            alone = self.document(*count, "--from", w["from_s"], "--to", w["to_s"])
            self.assertEqual([e["count"] for e in alone["episodes"]], w["counts"])

    def test_a_table_of_very_many_rows_takes_no_longer_than_its_rows(self):
        done = subprocess.run([os.environ["SYNFIRE"], "count", "demo.h5", "--episodes", "some.txt", "--window", "5", "--hop", "0.005"],
                              capture_output=True, text=True, check=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (60, 60)))
        self.assertGreater(done.stdout.count("\n"), 11000)

    def test_a_partial_window_is_named(self):
        self.assertRegex(self.synfire("count", "demo.h5", "--episodes", "some.txt", "--window", 20, "--hop", 20).stdout, "(?m) partial$")

    def test_the_correlogram_counts_what_pairs_there_are(self):
        first, second = self.document("count", "worked.csv", "--episodes", "worked.txt", "--correlogram")["episodes"][0]["correlograms"]
        self.assertEqual((first["units"], first["bin_ms"], first["from_ms"], len(first["counts"])), ([0, 1], 1, -50, 100))
        self.assertEqual((sum(first["counts"]), sum(second["counts"])), (12, 6))
        lags = [b - a for a in (1, 2, 10, 13) for b in (5, 8, 18)]  # bin k holds k - 50 < lag <= k - 49
        self.assertEqual(first["counts"], [lags.count(k - 49) for k in range(100)])
        self.assertAlmostEqual(first["expected"], 4 * 3 / 19, delta=0.001)
        self.assertIn("independent units at constant rates give",
                      self.synfire("count", "demo.h5", "--episodes", "some.txt", "--correlogram").stdout)

    def test_a_pair_that_is_its_own_reverse_has_none(self):
        write("self.txt", "A -(4,6]-> A\n")
        found = self.document("count", "demo.h5", "--episodes", "self.txt")["episodes"][0]
        self.assertEqual((found["reverse_count"], found["asymmetry"]), (None, None))


class Pictures(OfTheDemo):
    def test_there_is_one_for_each_link_and_correlogram_or_each_episodes_windows(self):
        ns = "{http://www.w3.org/2000/svg}"
        for words in (), ("--correlogram",), ("--window", 7), ("--window", 7, "--correlogram"):
            with self.subTest(words=words):
                self.synfire("count", "demo.h5", "--episodes", "two.txt", *words, "--plot", "two.svg")
                drawn = [g for g in xml.etree.ElementTree.parse("two.svg").getroot().iter(ns + "g") if g.get("class") == "panel"]
                self.assertEqual(len(drawn), 4 if len(words) == 3 else 2)
                for panel in drawn:
                    bars = next(p for p in panel.iter(ns + "path") if p.get("class") == "counts").get("d").count("V")
                    self.assertIn(bars, (8, 10, 100))
                places = {tuple(panel.get("data-" + axis).split()[2] for axis in "xy") for panel in drawn}
                self.assertEqual(len(places), len(drawn))  # none lies on another

    def test_none_is_written_over_the_input(self):
        before = pathlib.Path("two.txt").read_bytes()
        self.refuses(64, "--plot would write over the input", "count", "demo.h5", "--episodes", "two.txt", "--plot", "demo.h5")
        self.refuses(64, "--plot would write over the input", "count", "demo.h5", "--episodes", "two.txt", "--plot", "two.txt")
        self.assertEqual(pathlib.Path("two.txt").read_bytes(), before)

    def test_a_long_chains_name_stays_inside(self):
        write("long.txt", " -(4,6]-> ".join("DEFGHIJK") + "\n")
        self.synfire("count", "demo.h5", "--episodes", "long.txt", "--window", 20, "--plot", "long.svg")
        self.assertRegex(pathlib.Path("long.svg").read_text(),
                         r'class="title" .*font-size="[0-9.]*".*D -\(4,6\]-&gt; .*-&gt; .*\.\.\.</text>')

    def test_what_cannot_be_drawn_is_refused(self):
        for code, sentence, episodes, path in (
                (64, "long.gif: expected a file that ends in .svg, .pdf or .png", "two.txt", "long.gif"),
                (64, "expected 1 to 40", "text.txt", "many.svg"),
                (73, "cannot create", "two.txt", "nowhere/x.svg")):
            with self.subTest(path=path):
                self.refuses(code, sentence, "count", "demo.h5", "--episodes", episodes, "--plot", path)


class Refusals(OfTheDemo):
    def test_of_mine(self):
        for code, sentence, *words in (
                (64, "an argument is missing"),
                (66, "nowhere.h5", "nowhere.h5"),
                (64, "is after the recording", "demo.h5", "--from", 90),
                (64, "expected LO:HI", "demo.h5", "--delay", 5),
                (64, "is negative", "demo.h5", "--delay", "-1:5"),
                (64, "empty", "demo.h5", "--delay", "5:5"),
                (64, "does not go with --min-count", "demo.h5", "--min-count", 5, "--min-rate", 1),
                (64, "expected a number above 0", "demo.h5", "--min-count", 0),
                (64, "expected a number", "demo.h5", "--min-count", "many"),
                (64, "from 2 to 16", "demo.h5", "--max-size", 1),
                (64, "from 2 to 16", "demo.h5", "--max-size", 17),
                (64, "auto, interval, reference", "demo.h5", "--engine", "fastest"),
                (64, "one thread", "demo.h5", "--engine", "reference", "--threads", 2),
                (64, "expected auto, cpu, cuda, cuda:N or cuda:all", "demo.h5", "--device", "gpu"),
                (69, "there is no device cuda:99", "demo.h5", "--device", "cuda:99"),
                (64, "holds no positions", "worked.csv", "--min-distance", 100),
                (64, "goes with --significance", "demo.h5", "--surrogates", 5),
                (64, "one of segment-shift, jitter, shift, analytic", "demo.h5", "--significance", "magic"),
                (64, "makes none", "demo.h5", "--significance", "analytic", "--surrogates", 5),
                (64, "does not go with --json", "demo.h5", "--json", "--csv"),
                (64, "given twice", "demo.h5", "--delay", "0:5,0:5"),
                (64, "with /2, /4, /8 or /16 to search its parts", "demo.h5", "--delay", "0:5/3")):
            with self.subTest(words=words):
                self.refuses(code, sentence, "mine", *words)
        self.refuses(64, "goes with --significance", "graph", "demo.h5", "--fdr")

    def test_of_the_memory_of_devices(self):
        self.refuses(64, "SYNFIRE_DEVICE_MEMORY: found '8 GB', expected a size such as 8G or 512M", "mine", "demo.h5",
                     environment={"SYNFIRE_DEVICE_MEMORY": "8 GB"})
        self.synfire("mine", "demo.h5", "--device", "cpu", "--json", environment={"SYNFIRE_DEVICE_MEMORY": "8G"})

    def test_of_count(self):
        self.refuses(64, "--episodes: is needed", "count", "demo.h5")
        for sentence, *words in (
                ("give --window too", "--hop", 5),
                ("--window: found '0', expected a number of s above 0", "--window", 0),
                ("more than 10000000 windows", "--window", 1, "--hop", "1e-9")):
            with self.subTest(words=words):
                self.refuses(64, sentence, "count", "demo.h5", "--episodes", "text.txt", *words)

    def test_of_files_of_episodes(self):
        self.refuses(66, "nowhere.txt", "count", "demo.h5", "--episodes", "nowhere.txt")
        for sentence, path, text in (
                ("holds no episode", "blank.txt", "\n \n"),
                ("unknown.txt:2: column", "unknown.txt", "A -(0,5]-> B\nA -(0,5]-> Zebra\n"),
                ("index.txt:1: column 13: no unit has index #99", "index.txt", '{"units":[0,99],"delays_ms":[[0,5]]}\n'),
                ("broken.txt:1: column", "broken.txt", '{"units":[0,1],"delays_ms":[[0,5]]\n'),
                ("[low, high]", "pair.txt", '{"units":[0,1],"delays_ms":[[5]]}\n'),
                ("1 pairs", "none.txt", '{"units":[0,1],"delays_ms":[]}\n'),
                ("NUL", "nul.txt", "A -(0,5]-> B\n\0")):
            with self.subTest(path=path):
                write(path, text)
                self.refuses(65, sentence, "count", "demo.h5", "--episodes", path)


class Benchmark(command.Test):
    """On a small stream in the place of the large one; the recording is absent and said to be."""

    @classmethod
    def prepare(cls):
        dice, folder = random.Random(1), pathlib.Path("data", "episodes")
        folder.mkdir(parents=True)
        (folder / "sim-64-size20.csv").write_text("".join(f"u{dice.randrange(8)},{t / 100 + dice.random() / 200:.5f}\n" for t in range(2000)))

    def test_engines_find_the_same_and_what_is_absent_is_left_out(self):
        words = ("bench", "episodes", "sim-64-high", "retina", "--data", "data", "--threads", 2)
        told = self.synfire(*words, "--json")
        out = command.schema.held(command.schema.parse(told.stdout))
        self.assertRegex(told.stderr, "Stafford2009.*is left out")
        rows = [(r["engine"], r["threads"]) for r in out if r["device"] == "cpu"]
        self.assertEqual(rows, [("interval", 1), ("interval", 2), ("reference", 1)] + [(name, 2) for name in ("ptpe", "mtpe", "hybrid", "two-pass")])
        self.assertEqual(len({(r["candidates"], r["frequent"]) for r in out}), 1)
        self.assertEqual(out[0]["ratio"], 1)
        self.assertTrue(all(r["bench"] == "episodes" and r["job"] == "sim-64-high" and r["seconds"] > 0 for r in out))

    def test_a_device_may_be_chosen(self):
        out = self.document("bench", "episodes", "sim-64-high", "--data", "data", "--device", "cpu", "--threads", 1)
        self.assertEqual(({r["device"] for r in out}, len(out)), ({"cpu"}, 6))
        self.refuses(64, "there is no device 'gpu'", "bench", "episodes", "sim-64-high", "--data", "data", "--device", "gpu")

    def test_parts_that_it_has_are_told(self):
        self.refuses(64, "has no part 'nothing'; it has: sym26", "bench", "episodes", "nothing")

    def test_the_crossover_of_hybrid_is_measured_once_and_kept(self):
        cache = pathlib.Path("cache").absolute()
        words = ("bench", "episodes", "--calibrate", "--threads", 2, "--json")
        told = self.synfire(*words, environment={"XDG_CACHE_HOME": str(cache)})
        again = json.loads(self.synfire(*words, "--quiet", environment={"XDG_CACHE_HOME": str(cache)}).stdout)
        first = json.loads(told.stdout)
        self.assertIn(f"{cache}/synfire/crossover-", told.stderr)
        self.assertEqual([r["size"] for r in first if r["device"] == "cpu"], [2, 3, 4, 5, 6, 7, 8])
        self.assertTrue(all(r["from"] == "measured now" and r["seconds"] > 0 and r["ptpe_from"] >= 1 for r in first))
        self.assertTrue(all(r["from"] == "kept" for r in again))
        self.assertEqual([r["ptpe_from"] for r in first], [r["ptpe_from"] for r in again])


if __name__ == "__main__":
    command.main()
