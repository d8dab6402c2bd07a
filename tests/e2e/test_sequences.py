# SPDX-License-Identifier: Apache-2.0
"""The order of units within network bursts: a planted sequence is told with its units and their places, in every table, figure
and comparison; and wrong words are refused."""
import os
import random
import re

import command

ISI = ("--recorded", "0:210", "--network-method", "isi-n", "--network-spikes", 6, "--network-within", 400)
FOLLOW = ("sequences", "planted.csv", *ISI)
ALONE = ("--without", "graph,chains", "--network-method", "isi-n", "--network-spikes", 6, "--network-within", 400)


def plant(path):
    """40 bursts 5 s apart: a, b, c, d fire 8 ms after each other, then e to h anywhere within 300 ms, h four times."""
    draw = random.Random(5)
    with open(path, "w") as file:
        for burst in range(40):
            start = 5 * burst + 2 + draw.random() * 0.5
            for i, unit in enumerate("abcd"):
                print(f"{unit},{start + 0.008 * i + draw.random() * 0.002:.5f}", file=file)
            for unit in "efghhhh":
                print(f"{unit},{start + draw.random() * 0.3:.5f}", file=file)


def by_name(told):
    return {unit["name"]: unit for unit in told["unit_detail"]}


def members_of(told):
    return [name for _, name in sorted((unit["order"], unit["name"]) for unit in told["unit_detail"] if unit["member"])]


def image_of(panel):
    image, = (mark for mark in panel["marks"] if mark["shape"] == "image")
    return image["values"]


class Planted(command.Test):
    @classmethod
    def prepare(cls):
        plant("planted.csv")
        cls.told = cls.document(*FOLLOW, "--episodes", "a -(4,12]-> b -(4,12]-> c")

    def test_the_sequence_is_of_the_planted_units_in_their_order(self):
        told = self.told
        self.assertEqual([told["bursts"], told["ordered"], told["backbone"]], [40, 40, 8])
        self.assertTrue(told["sequence"])
        self.assertEqual([told["p"], told["placed_p"]], [0.001, 0.001])
        self.assertFalse(told["counted"])
        self.assertEqual(told["members"], told["placed"])
        self.assertEqual(members_of(told), ["a", "b", "c", "d"])
        self.assertRegex(self.synfire(*FOLLOW).stdout, r"(?m)^sequence  a > b > c > d$")

    def test_a_planted_unit_keeps_its_place_in_every_burst(self):
        units = by_name(self.told)
        for i, name in enumerate("abcd"):
            self.assertAlmostEqual(units[name]["place_ms"], 8 * i, delta=2)
            self.assertEqual(units[name]["kept"], 40)
            self.assertLess(units[name]["q"], 0.01)

    def test_a_fast_unit_is_not_early(self):
        units = by_name(self.told)
        self.assertLess(units["a"]["position"], -0.5)
        self.assertAlmostEqual(units["h"]["position"], units["e"]["position"], delta=0.3)
        self.assertEqual([units["h"]["order"], units["e"]["spikes"]], [0, 1])

    def test_every_burst_and_every_pair_of_bursts_has_a_row(self):
        similar = [pair["similarity"] for pair in self.told["similarity"]]
        self.assertEqual([len(similar), len(self.told["burst_detail"])], [40 * 39 / 2, 40])
        self.assertAlmostEqual(sum(similar) / len(similar), self.told["mean_similarity"], delta=1e-9)

    def test_ranks_of_a_burst_begin_with_its_first_spike(self):
        first = [latency for latency in self.told["latencies"] if latency["burst"] == 0]
        self.assertEqual(len(first), 8)
        self.assertEqual(min(first, key=lambda latency: latency["first_s"])["rank"], 0)

    def test_a_chain_has_its_place_in_the_bursts(self):
        chain, = self.told["chains"]
        self.assertTrue(chain["fixed"])
        self.assertEqual([chain["count"], chain["kept"]], [40, 40])
        self.assertAlmostEqual(chain["place_ms"], 0, delta=3)

    def test_tables_of_csv_have_as_many_rows(self):
        rows = {table: len(self.rows(*FOLLOW, "--table", table)) for table in ("units", "bursts", "latencies", "similarity")}
        self.assertEqual(rows, {"units": 8, "bursts": 40, "latencies": 320, "similarity": 780})
        summary, = self.rows(*FOLLOW, "--table", "summary")
        self.assertEqual(list(summary.values())[:4], ["first-last", "40", "40", "8"])

    def test_of_few_bursts_all_ways_to_play_them_are_counted(self):
        told = self.document(*FOLLOW, "--to", 50)
        self.assertEqual([told["bursts"], told["counted"], told["p"]], [10, True, 1 / 512])

    def test_without_bursts_nothing_is_said(self):
        self.assertIn("nothing can be said of sequences", self.synfire(*FOLLOW, "--network-within", 1).stdout)

    def test_the_figure_shows_units_by_place_and_the_verdict(self):
        drawn = self.document("plot", *FOLLOW, "-o", "sequences.svg")
        left, right = drawn["panels"]
        self.assertIn("There is a sequence, of these", drawn["caption"])
        self.assertIn("p 0.001", drawn["caption"])
        names, units = left["y"]["names"], by_name(self.told)
        self.assertEqual(len(names), 8)
        self.assertEqual(names[::-1][:4], ["a", "b", "c", "d"])
        self.assertEqual(names[3::-1], sorted("efgh", key=lambda name: units[name]["place_ms"]))
        low, high, cells, inner = left["colours"]["from"], left["colours"]["to"], image_of(left), 0
        for latency in self.told["latencies"]:
            cell = cells[names.index(latency["name"]) * 40 + latency["burst"]]
            self.assertAlmostEqual(cell, max(low, min(high, latency["latency_ms"])), delta=1e-6)
            inner += low < latency["latency_ms"] < high
        self.assertGreaterEqual(inner, 0.85 * len(self.told["latencies"]))
        cells = image_of(right)
        for pair in self.told["similarity"]:
            one, other = cells[pair["burst"] * 40 + pair["other"]], cells[pair["other"] * 40 + pair["burst"]]
            self.assertEqual([one, other], [pair["similarity"]] * 2)
        self.assertEqual([cells[burst * 41] for burst in range(40)], [None] * 40)

    def test_the_report_has_the_figure(self):
        report = self.document("report", "planted.csv", "--recorded", "0:210", "-o", "planted.html")
        figure, = (figure for figure in report["figures"] if figure["kind"] == "sequences")
        self.assertIsNone(figure["why_not"])
        self.assertEqual(len(figure["panels"]), 2)
        self.assertIn("network bursts by rate", figure["caption"])
        with open("planted.html") as page:
            self.assertIn('<figure id="sequences">', page.read())

    def test_help_names_what_it_takes(self):
        told = self.synfire("sequences", "--help").stdout
        self.assertIn("(-1 to 1, default 0.1)", told)
        self.assertIn("default: a fiftieth of what bursts last", told)

    def test_wrong_words_are_refused(self):
        self.refuses(64, "expected one of first-last, first-spike, rate-peak", "sequences", "planted.csv", "--order-by", "last")
        self.refuses(64, "--table: chains are those of --episodes", "sequences", "planted.csv", "--csv", "--table", "chains")
        self.refuses(64, "--table: is of --csv", "sequences", "planted.csv", "--table", "units")
        self.refuses(64, "--backbone", "sequences", "planted.csv", "--backbone", 2)
        self.refuses(64, "--surrogates", "sequences", "planted.csv", "--surrogates", 5)
        self.refuses(64, "--backbone: says nothing to the figure rates", "plot", "rates", "planted.csv", "-o", "x.svg", "--backbone", 0.5)

    def test_a_figure_of_no_bursts_is_not_written(self):
        self.refuses(65, "fewer than two network bursts have an order", "plot", *FOLLOW, "--network-within", 1, "-o", "none.svg", "--quiet")
        self.assertFalse(os.path.exists("none.svg"))


class OtherOrders(command.Test):
    """By first spikes and by rate peaks."""

    @classmethod
    def prepare(cls):
        plant("planted.csv")
        cls.told = {by: cls.document(*FOLLOW, "--order-by", by) for by in ("first-last", "first-spike", "rate-peak")}

    def test_the_same_sequence_is_told(self):
        for by, told in self.told.items():
            self.assertEqual(told["order_by"], by)
            self.assertTrue(told["sequence"])
            self.assertEqual(told["p"], 0.001)
            self.assertEqual(members_of(told), ["a", "b", "c", "d"])

    def test_what_it_is_by_is_said(self):
        for by, words in ("first-spike", "first spikes"), ("rate-peak", "rate peaks"):
            self.assertRegex(self.synfire(*FOLLOW, "--order-by", by).stdout, f"(?m)^order     by {words}")
            self.assertIn(f"Its mean by {by} is", self.document("plot", *FOLLOW, "--order-by", by, "-o", f"{by}.svg")["caption"])

    def test_a_fast_unit_is_early_by_its_first_spike_alone(self):
        first, both = by_name(self.told["first-spike"]), by_name(self.told["first-last"])
        self.assertLess(first["h"]["position"], first["e"]["position"] - 0.2)
        self.assertAlmostEqual(both["h"]["position"], both["e"]["position"], delta=0.3)


class Compared(command.Test):
    """Two measures of a recording, and a row of each unit, where `compare` is asked for them."""

    @classmethod
    def prepare(cls):
        plant("planted.csv")
        plant("again.csv")
        with open("table.csv", "w") as file:
            file.write("file,condition,recorded\nplanted.csv,x,0:210\nagain.csv,y,0:210\n")
        cls.peak = cls.document(*FOLLOW, "--order-by", "rate-peak")
        cls.told = cls.compare("compared", "--sequences", "--order-by", "rate-peak")
        cls.plain = cls.compare("plain")

    @classmethod
    def compare(cls, folder, *more):
        return cls.document("compare", "table.csv", "--out", folder, *ALONE, *more)

    def test_measures_are_those_of_the_recording_alone(self):
        rows = command.rows_of("compared/recordings.csv")
        self.assertEqual([float(row["burst_similarity"]) for row in rows], [self.peak["mean_similarity"]] * 2)
        self.assertEqual([float(row["placed_units"]) for row in rows], [self.peak["placed"] / self.peak["backbone"]] * 2)

    def test_every_unit_has_a_row(self):
        units = [(row["name"], row["order"]) for row in command.rows_of("compared/sequences.csv") if row["file"] == "planted.csv"]
        self.assertEqual(units, [(unit["name"], str(unit["order"])) for unit in self.peak["unit_detail"]])

    def test_measures_are_tested_and_named_in_the_methods(self):
        measured = {test["measure"] for contrast in self.told["contrasts"] for test in contrast["measures"]}
        self.assertLessEqual({"burst_similarity", "placed_units"}, measured)
        self.assertIn("by the rate peak of each", self.told["methods"])

    def test_without_being_asked_there_is_nothing_of_them(self):
        measured = {test["measure"] for contrast in self.plain["contrasts"] for test in contrast["measures"]}
        self.assertFalse({"burst_similarity", "placed_units"} & measured)
        self.assertNotIn("rate peak", self.plain["methods"])
        row, = (row for row in command.rows_of("plain/recordings.csv") if row["file"] == "again.csv")
        self.assertEqual(row["burst_similarity"], "")
        self.assertEqual(command.rows_of("plain/sequences.csv"), [])

    def test_the_number_of_surrogates_is_that_of_the_option(self):
        self.compare("few", "--sequences", "--sequence-surrogates", 19)
        least = [min(float(row["p"]) for row in command.rows_of(f"{folder}/sequences.csv") if row["p"]) for folder in ("compared", "few")]
        self.assertLess(least[0], 0.01)
        self.assertEqual(least[1], 0.05)

    def test_what_is_of_sequences_goes_with_them(self):
        refused = "compare", "table.csv", "--out", "x", *ALONE
        self.refuses(64, "is of sequences: give --sequences", *refused, "--measures", "placed_units")
        self.refuses(64, "goes with --sequences", *refused, "--backbone", 0.6)
        self.refuses(64, "goes with --sequences", *refused, "--sequence-surrogates", 99)


class Tables(command.Test):
    """In 80 characters."""

    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "wide.h5", "--unit-count", 12, "--rate", 1, "--duration", 300, "--burst-rate", 0.1, "--burst-spikes", 15,
                    "--burst-sigma", 800, "--quiet")
        cls.synfire("simulate", "busy.h5", "--unit-count", 12, "--rate", 3, "--duration", 120, "--burst-rate", 0.2, "--seed", 4, "--quiet")

    def keeps_to_80(self, *words):
        lines = self.synfire(*words, "--quiet").stdout.splitlines()
        self.assertTrue(any(line.startswith(("unit", "#", "power law of")) and "  " in line for line in lines), lines)
        wide = [line for line in lines if len(line) > 80 and len(re.split(" {2,}", line)) > 3]  # of a table, whose cells stand apart
        self.assertEqual(wide, [])

    def test_of_bursts(self):
        self.keeps_to_80("bursts", "wide.h5")

    def test_of_bursts_of_many_columns(self):
        self.keeps_to_80("bursts", "busy.h5")  # whose table would have 82

    def test_of_sequences(self):
        self.keeps_to_80("sequences", "wide.h5")

    def test_of_criticality(self):
        self.keeps_to_80("criticality", "wide.h5")

    def test_of_networks(self):
        self.keeps_to_80("graph", "wide.h5", "--min-count", 5, "--measures")

    def test_whole_milliseconds_have_no_exponent(self):
        self.assertNotRegex(self.synfire("sequences", "wide.h5", "--quiet").stdout, r"\de\+0\d")


if __name__ == "__main__":
    command.main()
