# SPDX-License-Identifier: Apache-2.0
"""synfire criticality: a branching network of which a tenth is recorded, avalanches that are known, every table, options
and refusals."""
import math
import random

import command

BRANCHING_RATIO = 0.98  # a bin of 4 ms
KNOWN = """a,0.001
a,0.009
b,0.010
a,0.013
a,0.021
b,0.029
b,0.0299
a,0.0301
b,0.0399
"""
NETWORK = ("criticality", "network.csv", "--recorded", "0:240")
UNRELATED = ("criticality", "poisson.csv", "--recorded", "0:100")


def write_network(path):
    """A branching network with a drive, of whose spikes a tenth is seen; 40 units share them."""
    dice = random.Random(3)
    active, rate = 60.0, 60.0
    with open(path, "w") as file:
        for bin_number in range(60000):
            mean = BRANCHING_RATIO * active + (1 - BRANCHING_RATIO) * rate
            active = max(0, round(dice.gauss(mean, math.sqrt(mean))))
            for _ in range(active):
                if dice.random() < 0.1:
                    print(f"u{dice.randrange(40)},{bin_number * 0.004 + dice.random() * 0.0039:.6f}", file=file)


def write_poisson(path):
    dice = random.Random(4)
    with open(path, "w") as file:
        for unit in range(10):
            time = 0
            while (time := time + dice.expovariate(10)) < 100:
                print(f"u{unit},{time:.6f}", file=file)


def measures_of(document):
    return {row["measure"]: row for row in document["criticality"]}


class BranchingNetwork(command.Test):
    @classmethod
    def prepare(cls):
        write_network("network.csv")
        cls.found = cls.document(*NETWORK, "--rounds", 5)
        cls.of = measures_of(cls.found)

    def test_the_branching_ratio_does_not_depend_on_how_much_is_recorded(self):
        ratio = self.of["branching_ratio"]
        self.assertAlmostEqual(ratio["value"] / BRANCHING_RATIO, 1, delta=0.01)
        self.assertTrue(ratio["low"] < ratio["value"] < ratio["high"], ratio)
        self.assertLess(self.of["branching_ratio_conventional"]["value"], 0.8)
        self.assertLess(self.of["own_share"]["value"], 0.3)

    def test_the_timescale_follows_from_the_branching_ratio(self):
        self.assertAlmostEqual(self.of["timescale"]["value"], -0.004 / math.log(self.of["branching_ratio"]["value"]), delta=1e-9)

    def test_lags_blocks_and_bin_have_their_defaults(self):
        self.assertEqual((self.found["lags"], self.found["blocks"], self.found["branching_bin_ms"]), (500, 50, 4))

    def test_the_autocorrelation_has_a_row_for_each_lag(self):
        lags = self.found["autocorrelation"]
        self.assertEqual(len(lags), 500)
        self.assertAlmostEqual(lags[0]["lag_s"], 0.004, delta=1e-12)
        self.assertGreater(lags[0]["error"], 0)

    def test_nothing_is_to_be_said_against_the_branching_ratio(self):
        self.assertEqual([c for c in self.found["criticality_cautions"] if c["of"] == "branching_ratio"], [])

    def test_fits_are_of_the_avalanches_that_are_listed(self):
        avalanches = self.found["avalanches"]
        fit = {row["of"]: row for row in self.found["avalanche_fits"]}
        self.assertEqual(self.of["avalanches"]["value"], len(avalanches))
        self.assertEqual(fit["size"]["exponent"], self.of["size_exponent"]["value"])
        self.assertEqual(fit["size"]["avalanches"], len(avalanches))
        self.assertEqual(fit["duration"]["tail"], sum(a["bins"] >= fit["duration"]["xmin"] for a in avalanches))


class OtherCommands(command.Test):
    """compare has the same numbers, and plot draws them."""

    @classmethod
    def prepare(cls):
        write_network("network.csv")
        with open("table.csv", "w") as file:
            file.write("file,condition,recorded\nnetwork.csv,x,0:240\n")
        cls.found = cls.document(*NETWORK, "--avalanche-bin", 8, "--rounds", 0)
        cls.of = measures_of(cls.found)

    def test_compare_has_the_same_numbers(self):
        self.synfire("compare", "table.csv", "--out", "compared", "--without", "graph,chains", "--avalanche-bin", 8)
        row = command.rows_of("compared/recordings.csv")[0]
        self.assertEqual(float(row["branching_ratio"]), self.of["branching_ratio"]["value"])
        for of in ("size", "duration"):
            exponent = self.of[f"{of}_exponent"]["value"]
            self.assertEqual(row[f"avalanche_{of}_exponent"], "" if exponent is None else str(exponent))

    def test_plot_draws_the_autocorrelation_and_names_the_branching_ratio(self):
        drawn = self.document("plot", "avalanches", "network.csv", "--recorded", "0:240", "--avalanche-bin", 8, "--rounds", 0,
                              "-o", "avalanches.svg")
        panel, = (panel for panel in drawn["panels"] if panel["title"].startswith("Autocorrelation"))
        line, = (mark for mark in panel["marks"] if mark["of"] == "slopes")
        self.assertEqual(line["y"], [lag["r"] for lag in self.found["autocorrelation"]])
        self.assertIn(f"branching ratio {self.of['branching_ratio']['value']:.4g}", drawn["caption"])

    def test_other_figures_take_no_bin(self):
        self.refuses(64, "--avalanche-bin: says nothing to the figure rates", "plot", "rates", "network.csv", "-o", "x.svg",
                     "--avalanche-bin", 4)


class KnownAvalanches(command.Test):
    @classmethod
    def prepare(cls):
        with open("three.csv", "w") as file:
            file.write(KNOWN)
        cls.said = cls.synfire("criticality", "three.csv", "--recorded", "0:0.04", "--avalanche-bin", 4, "--csv", "--table", "avalanches")

    def test_avalanches_have_a_silent_bin_on_both_sides(self):
        self.assertEqual(self.said.stdout.splitlines(), ["start_s,stop_s,spikes,bins,units", "0.008,0.016,3,2,2", "0.02,0.024,1,1,1",
                                                         "0.028,0.032,3,1,2"])

    def test_too_few_spikes_and_avalanches_are_warned_of(self):
        self.assertIn("branching_ratio: 9 spikes are too few", self.said.stderr)
        self.assertIn("size: 3 avalanches are too few", self.said.stderr)

    def test_lines_have_what_is_doubtful_also_where_nothing_else_is_said(self):
        said = self.synfire("criticality", "three.csv", "--recorded", "0:0.04", "--avalanche-bin", 4, "--quiet")
        doubtful = said.stdout.partition("\nDoubtful\n")[2].splitlines()
        self.assertIn("  size: 3 avalanches are too few", "\n".join(doubtful))
        self.assertTrue(all(line.startswith("  ") for line in doubtful), doubtful)
        self.assertEqual(said.stderr, "")


class CoarseClock(command.Test):
    """Bins that hold now one step of the clock and now none differ by that alone."""

    @classmethod
    def prepare(cls):
        dice = random.Random(6)
        with open("coarse.csv", "w") as file:
            for step in range(20000):
                if dice.random() < 0.3:
                    print(f"u{dice.randrange(5)},{step * 0.01:.2f}", file=file)

    def cautions(self, *options):
        found = self.document("criticality", "coarse.csv", "--rounds", 0, *options)
        return [c["caution"] for c in found["criticality_cautions"] if c["of"] == "branching_ratio"]

    def test_a_bin_is_a_multiple_of_the_step(self):
        self.assertIn("coarse-clock", self.cautions())
        self.assertIn("coarse-clock", self.cautions("--branching-bin", 15))
        self.assertNotIn("coarse-clock", self.cautions("--branching-bin", 10))
        self.assertNotIn("coarse-clock", self.cautions("--branching-bin", 25))


class UnrelatedTrains(command.Test):
    """Trains that have nothing to do with each other have no branching ratio, and it says so."""

    @classmethod
    def prepare(cls):
        write_poisson("poisson.csv")
        cls.said = cls.synfire(*UNRELATED, "--json")
        cls.found = command.schema.held(command.schema.parse(cls.said.stdout))

    def test_the_reason_is_given(self):
        self.assertIn("the activity of a bin says nothing of the next ones", self.said.stderr)
        self.assertIn("no-memory", [c["caution"] for c in self.found["criticality_cautions"]])

    def test_there_is_no_ratio_and_no_timescale(self):
        of = measures_of(self.found)
        self.assertIsNone(of["branching_ratio"]["value"])
        self.assertIsNone(of["timescale"]["value"])

    def test_the_bin_of_avalanches_is_the_mean_interval(self):
        self.assertTrue(9 < self.found["avalanche_bin_ms"] < 11, self.found["avalanche_bin_ms"])

    def test_csv_has_every_table(self):
        for table, rows in (("measures", 10), ("fits", 2), ("avalanches", None), ("shapes", None), ("autocorrelation", 500),
                            ("cautions", None)):
            with self.subTest(table=table):
                found = self.rows(*UNRELATED, "--table", table)
                self.assertEqual(len(found), rows if rows is not None else len(found))

    def test_without_rounds_fits_have_no_p_and_no_interval(self):
        first = self.rows(*UNRELATED, "--rounds", 0, "--table", "fits")[0]
        self.assertEqual((first["p"], first["low"]), ("", ""))
        self.assertGreater(float(first["exponent"]), 1)

    def test_lines_for_people_name_the_bin(self):
        self.assertIn("avalanches in bins of", self.synfire(*UNRELATED).stdout)

    def test_wrong_words_are_refused(self):
        for sentence, words in (("--table: is of --csv", ("--table", "fits")), ("--lags", ("--lags", 2)),
                                ("--avalanche-bin", ("--avalanche-bin", -1)),
                                ("more than 2^31", ("--quiet", "--recorded", "0:100", "--branching-bin", "0.00001"))):
            with self.subTest(words=words):
                self.refuses(64, sentence, "criticality", "poisson.csv", *words)


if __name__ == "__main__":
    command.main()
