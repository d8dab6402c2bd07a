# SPDX-License-Identifier: Apache-2.0
"""synfire compare: a planted difference between groups of recordings is found and none where there is none, numbers are those of
info, graph and mine, what is done is not done again, wells and replicates are averaged, and what is wrong is refused or left out
by name."""
import contextlib
import csv
import functools
import importlib.util
import os
import pathlib
import re
import shutil
import signal
import statistics
import tempfile
import unittest

import command
import figures

FAST = ("--without", "chains", "--surrogates", 40, "--min-count", 10)
BOTH = ("wild type", "KO, long")
CELLS = [("wild type", "9"), ("ko", "9"), ("wild type", "12"), ("ko", "12")]


def write(path, head, *rows):
    with open(path, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head.split(","), *rows])


def measures(document):
    """Those of the only two groups that it compares."""
    contrast, = document["contrasts"]
    return {measure["measure"]: measure for measure in contrast["measures"]}


def values(rows, name):
    return [float(row[name]) for row in rows if row[name] != ""]


@functools.cache
def groups():
    """Five recordings of constant rates, w1 to w5, five with bursts that units share, and what was made of both in `first`; it
    goes when the tests end."""
    folder = tempfile.TemporaryDirectory()
    at = functools.partial(os.path.join, folder.name)
    of_one = ("--unit-count", 6, "--rate", 5, "--duration", 60, "--seed")
    for i in range(1, 6):
        command.Test.synfire("simulate", at(f"w{i}.h5"), *of_one, i)
        command.Test.synfire("simulate", at(f"m{i}.h5"), *of_one, 10 + i, "--burst-rate", 0.2, "--burst-spikes", 6)
    write(at("table.csv"), "file,condition,animal,dose",
          *(row for i in range(1, 6) for row in ((f"w{i}.h5", BOTH[0], f"a{i}", 0), (f"m{i}.h5", BOTH[1], f"b{i}", 1))))
    done = command.Test.synfire("compare", at("table.csv"), "--out", at("first"), *FAST, "--jobs", 3, "--json")
    return folder, done


class Groups(command.Test):
    @classmethod
    def prepare(cls):
        folder, done = groups()
        shutil.copytree(folder.name, ".", dirs_exist_ok=True)
        cls.out, cls.printed, cls.said = command.schema.held(command.schema.parse(done.stdout)), done.stdout, done.stderr

    @classmethod
    def again(cls, table, *words):
        """What compare prints of these groups, whose recordings were analysed before; what it makes is in `again`."""
        shutil.rmtree("again", ignore_errors=True)
        shutil.copytree("first", "again")
        return cls.synfire("compare", table, "--out", "again", *FAST, *words)

    def compared(self, table, *words, saying=""):
        """The document of the same; it says this on stderr."""
        done = self.again(table, *words, "--json")
        self.assertIn(saying, done.stderr)
        return command.schema.held(command.schema.parse(done.stdout))


class TwoGroups(Groups):
    @classmethod
    def prepare(cls):
        super().prepare()
        cls.by = measures(cls.out)
        cls.recordings, cls.bursts = (command.rows_of(f"first/{name}.csv") for name in ("recordings", "bursts"))

    def assert_close(self, found, expected, name):
        self.assertAlmostEqual(found, expected, delta=1e-9 * max(1, abs(expected)), msg=name)

    def test_a_planted_difference_is_found(self):
        contrast, = self.out["contrasts"]
        self.assertEqual((contrast["permutations"], contrast["all_permutations"], contrast["paired"]), (252, True, False))
        rate = self.by["network_burst_rate"]
        self.assertEqual(rate["q"], 2 / 252)
        self.assertGreater(rate["g"], 2)
        self.assertGreater(rate["difference_interval"][0], 6)
        self.assertGreater(rate["mean"][1], 6)
        self.assertLess(rate["mean"][0], 1)

    def test_none_is_found_where_there_is_none(self):
        write("none.csv", "file,condition,animal", *((f"{name}.h5", "xy"[int(name[1]) % 2], name)
                                                     for name in ("w1", "w2", "w3", "w4", "w5", "m1", "m2", "m3", "m4")))
        self.assertGreater(min(m["q"] for m in measures(self.compared("none.csv")).values() if m["q"] is not None), 0.05)

    def test_what_was_compared_is_told(self):
        self.assertEqual((self.out["failed"], self.out["replicate"]), (0, "animal"))
        self.assertEqual(tuple(c["name"] for c in self.out["conditions"]), BOTH)
        self.assertEqual({(r["status"], r["error"]) for r in self.out["recordings"]}, {("done", None)})
        self.assertNotIn("chains", self.by)
        for measure in self.by.values():
            self.assertTrue(measure["p"] is None or measure["p"] <= measure["q"], measure)

    def test_means_are_those_of_recordings_where_each_is_a_replicate(self):
        self.assertEqual([(r["condition"], r["dose"], r["well"]) for r in self.recordings],
                         [("wild type", "0", ""), ("KO, long", "1", "")] * 5)
        self.assertEqual(len(command.rows_of("first/replicates.csv")), 10)
        for name, of in self.by.items():
            for side, condition in enumerate(BOTH):
                found = values((r for r in self.recordings if r["condition"] == condition), name)
                self.assertEqual(len(found), of["n"][side], name)
                if found:
                    self.assert_close(statistics.fmean(found), of["mean"][side], name)

    def test_measures_of_bursts_stand_beside_those_of_chance_and_what_lies_beyond_is_compared(self):
        for name, of in self.by.items():
            self.assertEqual("burst" in name, f"{name}_chance" in self.recordings[0], name)
            for side, condition in enumerate(BOTH):
                rows = [r for r in self.recordings if r["condition"] == condition and r[name] != ""] if "burst" in name else []
                self.assertEqual((of["chance"] or [None] * 2)[side] is None, not rows, name)
                if rows:
                    self.assert_close(statistics.fmean(values(rows, f"{name}_chance")), of["chance"][side], name)
            if "burst" in name and of["difference"] is not None:
                beyond = [mean - chance for mean, chance in zip(of["mean"], of["chance"])]
                self.assert_close(beyond[1] - beyond[0], of["difference"], name)
        self.assertGreater(self.by["burst_share"]["chance"][0], 0.5 * self.by["burst_share"]["mean"][0])
        self.assertLess(self.by["network_burst_rate"]["chance"][1], 1)

    def test_rows_of_units_and_bursts_add_up_to_those_of_recordings(self):
        units = command.rows_of("first/units.csv")
        self.assertEqual((len(units), len(self.recordings)), (60, 10))
        self.assertEqual(sum(values(units, "spikes")), sum(values(self.recordings, "spikes")))
        self.assertEqual(sum(values(units, "bursts")), sum(b["kind"] == "unit" for b in self.bursts))
        for r in self.recordings:
            own = sum(b["kind"] == "network" and b["file"] == r["file"] for b in self.bursts)
            self.assertAlmostEqual(own / (float(r["duration_s"]) / 60), float(r["network_burst_rate"]), delta=1e-9)
        self.assertEqual(command.rows_of("first/chains.csv"), [])

    def test_tests_have_a_row_each_as_in_the_document(self):
        self.assertEqual([(t["measure"], t["p"]) for t in command.rows_of("first/tests.csv")],
                         [(name, "" if m["p"] is None else repr(m["p"])) for name, m in self.by.items()])
        self.assertEqual(pathlib.Path("first/summary.json").read_text(), self.printed)

    def test_bursts_are_those_that_info_and_mine_tell(self):
        for name in "m1.h5", "m2.h5":
            own = [float(b["stop_s"]) - float(b["start_s"]) for b in self.bursts if b["file"] == name and b["kind"] == "network"]
            info = self.document("info", name)
            mined = self.document("mine", name, "--delay", "1:5", "--min-count", 10, "--max-size", 2)
            self.assertEqual([info["network_bursts"], mined["bursts"]], [len(own)] * 2)
            self.assertGreater(len(own), 3)
            self.assertAlmostEqual(info["network_burst_s"], statistics.fmean(own), delta=1e-6)

    def test_welchs_test_has_no_permutations(self):
        out = self.compared("table.csv", "--test", "welch", "--measures", "rate_hz,isi_cv")
        self.assertEqual((out["test"], out["contrasts"][0]["permutations"], list(measures(out))), ("welch", 0, ["rate_hz", "isi_cv"]))
        self.assertEqual({r["status"] for r in out["recordings"]}, {"kept"})

    def test_what_is_doubtful_is_said_once_and_below_tables_if_there_are_any(self):
        self.assertRegex(self.said, r"\A.*from 1 Hz on Poisson trains have bursts too.*\n\Z")
        done = self.again("table.csv")
        self.assertRegex(done.stdout, "\nDoubtful\n  units fire at up to .* from 1 Hz on Poisson trains have bursts too")
        self.assertNotIn("Poisson trains", done.stderr)

    def test_columns_of_tables_are_in_line_where_a_name_is_longer_than_the_first(self):
        text = self.again("table.csv", "--by", "dose", "--control", 1).stdout
        self.assertIn("\n1 and 0\n", text)
        self.assertIn("\navalanche_duration_ ", text)
        tables = re.findall("(?m)^measure .*\n(?:(?!--verbose).+\n)+", text)
        self.assertNotEqual(tables, [])
        for table in tables:
            widths = {len(line) for line in table.splitlines() if not line.startswith("  ")}
            self.assertEqual(len(widths), 1, table)
            self.assertLessEqual(max(widths), 80)


class Figure(Groups):
    @classmethod
    def prepare(cls):
        super().prepare()
        cls.by = measures(cls.out)
        cls.panels = {panel.name: panel for panel in figures.panels("first/measures.svg")}

    def test_there_is_a_panel_of_each_measure_with_all_replicates(self):
        self.assertLessEqual(set(self.panels), set(self.by))
        self.assertGreaterEqual(sum(e.get("class") == "replicate" for p in self.panels.values() for e in p.group.iter()), 100)

    def test_dots_are_whole_and_a_recording_lies_over_its_replicate(self):
        for panel in self.panels.values():
            y = panel.y
            self.assertLess(y.first, 0)
            self.assertGreater(abs((0 - y.first) / (y.last - y.first) * (y.end - y.start)), 0.8)  # a dot at 0, 0.8 mm in radius
            dots = [e.get("class") for e in panel.group.iter() if e.get("class") in ("replicate", "recording")]
            self.assertEqual(dots[-1], "recording")

    def test_each_says_how_many_replicates_there_are_and_how_large_the_effect_is(self):
        said = 0
        for name, panel in self.panels.items():
            self.assertTrue(any(re.search(r"\(\d+\)$", e.text) for e in panel.elements("text", "tick")), name)
            words = [e.text for e in panel.elements("text", "words")]
            self.assertEqual(["g = " in text for text in words], [True] * (self.by[name]["g"] is not None), name)
            said += len(words)
        self.assertGreater(said, 3)

    def test_nothing_joins_conditions_that_were_not_compared_in_pairs(self):
        self.assertEqual([panel.name for panel in self.panels.values() if panel.elements("path", "pair")], [])

    def test_intervals_lie_about_their_means(self):
        count = 0
        for name, panel in self.panels.items():
            means, intervals = ([panel.points(e.get("d"))[0] for e in panel.elements("path", of)] for of in ("mean", "interval"))
            level = {round((from_x + to_x) / 2): y for (from_x, y), (to_x, _) in means}
            for (x, low), *_, (_, high) in intervals:
                self.assertAlmostEqual((low + high) / 2, level[round(x)], delta=2e-3 * (panel.y.last - panel.y.first), msg=name)
            count += len(intervals)
        self.assertGreater(count, 3)

    def test_on_a_shared_scale_the_first_condition_has_a_mean_of_1(self):
        self.again("table.csv", "--shared-scale", "--plot", "shared.svg")
        shared = figures.panels("shared.svg")
        self.assertGreater(len(shared), 3)
        self.assertEqual(len({(panel.y.first, panel.y.last) for panel in shared}), 1)
        for panel in shared:
            self.assertAlmostEqual(panel.points(panel.elements("path", "mean")[0].get("d"))[0][0][1], 1, delta=0.02)

    def test_it_goes_to_any_file_of_three_formats(self):
        self.again("table.csv", "--plot", "again.svg")
        self.assertEqual(pathlib.Path("again.svg").read_bytes(), pathlib.Path("first/measures.svg").read_bytes())
        words = ("compare", "table.csv", "--out", "again", *FAST, "--plot")
        self.refuses(64, "again.gif: expected a file that ends in .svg, .pdf or .png", *words, "again.gif")
        done = self.run_command(*words, "again.pdf")
        if done.returncode != 0 and "without Cairo" in done.stderr:
            self.skipTest("built without Cairo")
        self.again("table.csv", "--plot", "again.png")
        self.assertEqual(pathlib.Path("again.pdf").read_bytes()[:4], b"%PDF")
        self.assertEqual(pathlib.Path("again.png").read_bytes()[:4], b"\x89PNG")


class DoneOnce(Groups):
    def statuses(self, table, *words):
        return [r["status"] for r in self.compared(table, *words)["recordings"]]

    def test_what_was_analysed_is_kept_whatever_the_jobs(self):
        out = self.compared("table.csv", "--jobs", 1, "--threads", 1)
        self.assertEqual(out["contrasts"], self.out["contrasts"])
        self.assertEqual([r["status"] for r in out["recordings"]], ["kept"] * 10)

    def test_another_content_under_the_same_name_is_not(self):
        pathlib.Path("another").mkdir()
        shutil.copy("table.csv", "another")
        for path in pathlib.Path(".").glob("[wm]?.h5"):
            shutil.copy(path, "another")
        self.synfire("simulate", "another/w1.h5", "--unit-count", 6, "--rate", 5, "--duration", 60, "--seed", 21)
        self.assertEqual(self.statuses("another/table.csv"), ["done"] + ["kept"] * 9)

    def test_nor_is_what_another_option_gave(self):
        write("one.csv", "file,condition", ("w1.h5", "x"))
        self.assertEqual([*self.statuses("one.csv"), *self.statuses("one.csv", "--active", 6)], ["kept", "done"])


class Designs(Groups):
    """Recordings of one animal are averaged, what is in both conditions makes a pair, and blocks are compared within."""

    @staticmethod
    def rates():
        return {r["file"][:-3]: float(r["rate_hz"]) for r in command.rows_of("again/recordings.csv")}

    def test_an_animal_in_both_conditions_makes_a_pair_of_its_means(self):
        write("pairs.csv", "file,condition,animal", *((f"{file}{i}.h5", condition, f"a{i}") for i in (1, 2, 3)
                                                      for file, condition in (("w", "before"), ("m", "after"))),
              ("m4.h5", "after", "a3"), ("m5.h5", "after", "a9"))
        out = self.compared("pairs.csv",
                            saying="before and after have replicates in common, and are compared in pairs, others left out")
        told, = out["contrasts"]
        self.assertEqual((told["paired"], told["left_out"], told["permutations"]), (True, 1, 8))
        rate, of = measures(out)["rate_hz"], self.rates()
        self.assertEqual(rate["n"], [3, 3])
        of_animals = {(r["condition"], r["animal"]): float(r["rate_hz"]) for r in command.rows_of("again/replicates.csv")}
        after = of_animals["after", "a3"]
        self.assertAlmostEqual(after, (of["m3"] + of["m4"]) / 2, delta=1e-12)
        self.assertAlmostEqual(rate["difference"], (of["m1"] + of["m2"] + after - of["w1"] - of["w2"] - of["w3"]) / 3, delta=1e-9)

    def test_blocks_are_compared_within_and_one_without_the_other_condition_is_left_out(self):
        write("blocks.csv", "file,condition,animal,batch", *((f"{file}{i}.h5", condition, f"{file}{i}", i % 2) for i in (1, 2, 3)
                                                             for file, condition in (("w", "wild type"), ("m", "ko"))),
              ("w4.h5", "wild type", "w4", 9))
        out = self.compared("blocks.csv", "--block", "batch",
                            saying="wild type and ko: 1 replicates are left out, of a batch without any of the other")
        told, = out["contrasts"]
        self.assertEqual((out["block"], told["blocks"], told["left_out"], told["permutations"]), ("batch", 2, 1, 12))
        rate, of = told["measures"][0], self.rates()
        self.assertEqual((rate["n"], rate["least_p"], rate["difference_interval"]), ([3, 3], 2 / 12, None))
        odd, even = (of["m1"] + of["m3"] - of["w1"] - of["w3"]) / 2, of["m2"] - of["w2"]
        self.assertAlmostEqual(rate["difference"], (odd * 1 + even * 0.5) / 1.5, delta=1e-9)
        replicates = {(c["name"], r["name"]): r for c in out["conditions"] for r in c["replicates"]}
        self.assertEqual(replicates["wild type", "w4"]["block"], "9")
        self.assertIn("chance", replicates["ko", "m1"])
        self.assertEqual(list(command.rows_of("again/replicates.csv")[0])[:4], ["condition", "animal", "batch", "rate_hz"])

    def test_the_same_name_in_another_block_is_another_replicate(self):
        write("blocks.csv", "file,condition,animal,batch", *((f"{file}{i}.h5", condition, "a", i) for i in (1, 2, 3)
                                                             for file, condition in (("w", "before"), ("m", "after"))))
        told, = self.compared("blocks.csv", "--block", "batch")["contrasts"]
        self.assertEqual([told["paired"], told["blocks"], told["measures"][0]["n"], told["permutations"]], [True, None, [3, 3], 8])


class TwoFactors(Groups):
    """At each age the groups are compared, and effects of either and of both are tested."""
    WORDS = ("--factor", "age", "--permutations", 500, "--measures")

    @classmethod
    def prepare(cls):
        super().prepare()
        cls.table = [(f"{file}{i}.h5", condition, f"{animal}{i}", 12 if i > 2 else 9) for i in (1, 2, 3, 4)
                     for file, condition, animal in (("w", "wild type", "a"), ("m", "ko", "b"))]
        write("factors.csv", "file,condition,animal,age", *cls.table)
        done = cls.again("factors.csv", *cls.WORDS, "rate_hz,network_burst_rate,isi_cv", "--json")
        cls.out, cls.said = command.schema.held(command.schema.parse(done.stdout)), done.stderr
        shutil.move("again", "factors")
        cls.effects = {(e["effect"], e["measure"]): e for e in cls.out["effects"]}

    def test_groups_are_compared_at_each_age(self):
        self.assertEqual((self.out["factor"], [(c["name"], c["level"]) for c in self.out["conditions"]]), ("age", CELLS))
        self.assertEqual([(t["first"], t["second"], t["level"]) for t in self.out["contrasts"]],
                         [("wild type", "ko", "9"), ("wild type", "ko", "12")])
        self.assertTrue(all(m["level"] == t["level"] for t in self.out["contrasts"] for m in t["measures"]))
        self.assertIn("wild type at 9 and ko at 9: with so few replicates no permutation gives a p below 0.33", self.said)

    def test_effects_are_those_of_means_and_variances_of_the_conditions(self):
        rows = command.rows_of("factors/replicates.csv")
        self.assertEqual((list(rows[0])[:3], len(rows)), (["condition", "age", "animal"], 8))
        signs = {"condition": (-0.5, 0.5, -0.5, 0.5), "age": (-0.5, -0.5, 0.5, 0.5), "condition x age": (1, -1, -1, 1)}
        self.assertEqual((len(self.effects), len(self.out["effects"])), (9, 9))
        for (effect, measure), e in self.effects.items():
            cells = [[float(r[measure]) - float(r.get(f"{measure}_chance") or 0) for r in rows if (r["condition"], r["age"]) == cell]
                     for cell in CELLS]
            difference = sum(s * statistics.fmean(c) for s, c in zip(signs[effect], cells))
            error = sum(s * s * statistics.variance(c) / len(c) for s, c in zip(signs[effect], cells))
            with self.subTest(effect=effect, measure=measure):
                self.assertAlmostEqual(e["difference"], difference, delta=1e-9)
                self.assertAlmostEqual(e["statistic"], difference ** 2 / error, delta=1e-6 * e["statistic"])
                self.assertEqual((e["n"], e["degrees"], e["within"]), (8, 1, False))
                self.assertTrue(e["least_p"] <= e["p"] <= e["q"] <= 1 and e["epsilon_squared"] < e["eta_squared"] < 1, e)

    def test_the_planted_one_is_the_largest(self):
        order = sorted(self.effects, key=lambda key: self.effects[key]["p"] - self.effects[key]["eta_squared"])
        self.assertEqual(order[0], ("condition", "network_burst_rate"))

    def test_effects_have_a_row_each_and_a_sentence(self):
        self.assertEqual([(t["effect"], t["p"]) for t in command.rows_of("factors/effects.csv")],
                         [(e["effect"], repr(e["p"])) for e in self.out["effects"]])
        self.assertIn("Freedman and Lane", self.out["methods"])
        self.assertIn("over 3 effects", self.out["methods"])

    def test_the_figure_has_conditions_side_by_side_at_each_age(self):
        panels = figures.panels("factors/measures.svg")
        self.assertEqual(len(panels), 3)
        for panel in panels:
            condition, age, both = (f"{e['q']:.2g}" for (_, measure), e in self.effects.items() if measure == panel.name)
            self.assertEqual([e.text for e in panel.elements("text", "words")],
                             [f"q: condition {condition}, age {age},", f"both {both}", "age 9", "age 12"])
            self.assertEqual((panel.elements("path", "pair"), len(panel.elements("path", "mean"))), ([], 4))  # nothing joins ages
            self.assertEqual(len({e.get("fill") for e in panel.group.iter() if e.get("class") == "replicate"}), 2)  # alike at both

    def test_tables_are_of_each_age_and_of_effects(self):
        text = self.again("factors.csv", *self.WORDS, "rate_hz", "--control", "ko").stdout
        self.assertIn("\nko and wild type at 9\n", text)
        self.assertIn("\ncondition ko, age 12: 2 replicates, 2 rows\n", text)
        self.assertRegex(text, "(?m)^measure  *condition  *q  *age  *q  *condition x age  *q$")

    def test_one_name_at_both_ages_is_compared_with_itself(self):
        write("repeated.csv", "file,condition,animal,age",
              *((file, condition, f"{animal[0]}{(int(animal[1]) - 1) % 2 + 1}", age) for file, condition, animal, age in self.table))
        out = self.compared("repeated.csv", *self.WORDS, "rate_hz",
                            saying="age is tested within replicates, since some have several values of age")
        self.assertEqual([(e["effect"], e["within"], e["n"]) for e in out["effects"]],
                         [("condition", False, 4), ("age", True, 8), ("condition x age", True, 8)])

    def test_of_a_combination_that_is_nowhere_no_effect_is_tested_and_the_others_are_compared(self):
        write("holes.csv", "file,condition,animal,age", *(row for row in self.table if row[0] not in ("m3.h5", "m4.h5")))
        out = self.compared("holes.csv", *self.WORDS, "rate_hz",
                            saying="condition x age is not tested: each combination of condition and age needs two replicates")
        self.assertEqual(([t["level"] for t in out["contrasts"]], {e["p"] for e in out["effects"]}), (["9"], {None}))


class NumbersOfGraphAndMine(command.Test):
    WORDS = ("--delay", "4:6", "--min-count", 10, "--surrogates", 100)

    @classmethod
    def prepare(cls):
        for i in 1, 2:
            cls.synfire("simulate", f"c{i}.h5", "--unit-count", 6, "--rate", 5, "--duration", 60, "--seed", 30 + i, "--chain",
                        "A -(4,6]-> B -(4,6]-> C", "--chain-rate", 2)
        pathlib.Path("two.tsv").write_text("condition\tfile\nx\tc1.h5\ny\tc2.h5\n")
        cls.told = cls.synfire("compare", "two.tsv", "--out", "made", *cls.WORDS).stdout

    @staticmethod
    def rows_of(name):
        return [row for row in command.rows_of(f"made/{name}.csv") if row["file"] == "c1.h5"]

    def analysed(self, command_name, *words):
        return self.document(command_name, "c1.h5", *self.WORDS, "--significance", "segment-shift", "--max-q", 0.05, *words)

    def test_edges_are_those_of_graph(self):
        edges = [(int(e["from"]), int(e["to"]), int(e["count"]), float(e["q"])) for e in self.rows_of("edges")]
        self.assertEqual(edges, [(e["from"], e["to"], e["count"], e["q"]) for e in self.analysed("graph")["edge_detail"]])
        self.assertGreaterEqual(len(edges), 2)

    def test_chains_are_those_of_mine(self):
        chains = [(c["id"], c["episode"], int(c["count"]), float(c["q"])) for c in self.rows_of("chains")]
        found = [e for e in self.analysed("mine")["episodes"] if len(e["units"]) > 2]
        self.assertEqual(chains, [(e["id"], e["episode"], e["count"], e["q"]) for e in found])
        self.assertIn("A -(4,6]-> B -(4,6]-> C", [episode for _, episode, _, _ in chains])

    def test_measures_are_those_of_graph(self):
        row, = self.rows_of("recordings")
        edges = len(self.rows_of("edges"))
        self.assertEqual([float(row[name]) for name in ("chains", "edges", "reciprocity")], [len(self.rows_of("chains")), edges, 0])
        self.assertAlmostEqual(float(row["density"]), edges / 30, delta=1e-12)
        network = self.analysed("graph", "--measures", "--rewired", 20)["network"]
        for name in "path_length", "efficiency", "local_efficiency", "modularity", "participation", "small_world":
            self.assertEqual(row[name] and float(row[name]), "" if network[name] is None else network[name], name)
        self.assertGreater(network["path_length"], 1)
        self.assertIsNotNone(network["modularity"])

    def test_edges_by_tiling_are_those_of_graph(self):
        self.synfire("compare", "two.tsv", "--out", "tiling", "--metric", "sttc", *self.WORDS[:4], "--surrogates", 20)
        graph = self.document("graph", "c1.h5", "--metric", "sttc", "--delay", "4:6", "--surrogates", 20, "--max-q", 0.05)
        weights = [float(e["weight"]) for e in command.rows_of("tiling/edges.csv") if e["file"] == "c1.h5"]
        self.assertEqual(weights, [e["weight"] for e in graph["edge_detail"]])
        self.assertNotEqual(weights, [])
        self.assertEqual({r["reciprocity"] for r in command.rows_of("tiling/recordings.csv")}, {""})


@unittest.skipUnless(importlib.util.find_spec("h5py"), "no Python module h5py, which writes wells")
class Wells(Groups):
    """A recording of wells has a row of each."""

    @classmethod
    def prepare(cls):
        super().prepare()
        import h5py
        for source in "w1.h5", "m1.h5":
            shutil.copy(source, f"wells-{source}")
            with h5py.File(f"wells-{source}", "r+") as file:
                file["units/well"][...] = [b"A", b"A", b"C", b"C", b"B", b"B"]  # of one letter each, as the empty ones

    def test_each_is_a_row_and_a_replicate_is_their_mean(self):
        write("wells.csv", "file,condition,culture,well", ("wells-w1.h5", "x", "c1", ""), ("wells-m1.h5", "x", "c2", "A"),
              ("wells-m1.h5", "y", "c3", "B"))
        out = self.compared("wells.csv")
        rows = command.rows_of("again/recordings.csv")
        self.assertEqual([(r["file"], r["well"], r["units"]) for r in rows],
                         [("wells-w1.h5", well, "2") for well in "ACB"] + [("wells-m1.h5", well, "2") for well in "AB"])
        self.assertEqual([r["wells"] for r in out["recordings"]], [3, 1, 1])
        self.assertEqual([(u["unit"], u["well"]) for u in command.rows_of("again/units.csv") if u["file"] == "wells-w1.h5"],
                         [(str(i), well) for i, well in enumerate("AACCBB")])
        first, = (r for r in command.rows_of("again/replicates.csv") if r["culture"] == "c1")
        self.assertAlmostEqual(float(first["rate_hz"]), statistics.fmean(values(rows[:3], "rate_hz")), delta=1e-12)

    def test_one_that_is_not_there_is_named(self):
        write("wells.csv", "file,condition,well", ("wells-w1.h5", "x", "C7"))
        self.refuses(65, "there is no well 'C7' in wells-w1.h5", "compare", "wells.csv", "--out", "wells", *FAST)


class NotAnalysed(Groups):
    """What cannot be analysed is left out and named, and what was analysed stands."""

    def with_rows(self, path, *rows):
        pathlib.Path(path).write_text(pathlib.Path("table.csv").read_text() + "".join(f"{row}\n" for row in rows))

    def test_what_is_broken_or_gone_is_named(self):
        pathlib.Path("cut.h5").write_bytes(pathlib.Path("w2.h5").read_bytes()[:3000])
        self.with_rows("partly.csv", "gone.h5,wild type,a8,0", "cut.h5,wild type,a9,0")
        shutil.copytree("first", "partly")
        done = self.run_command("compare", "partly.csv", "--out", "partly", *FAST, "--json")
        self.assertEqual(done.returncode, 65)
        for words in "left out: gone.h5: cannot open", "left out: cut.h5: ", "2 of 12 recordings could not be analysed":
            self.assertIn(words, done.stderr)
        out = command.schema.held(command.schema.parse(done.stdout))
        self.assertEqual((out["failed"], [r["status"] for r in out["recordings"]]), (2, ["kept"] * 10 + ["failed"] * 2))
        self.assertEqual(out["contrasts"][0]["measures"][0]["n"], [5, 5])
        self.assertIn("cannot open", out["recordings"][10]["error"])

    def test_where_there_is_nothing_else_that_is_the_error(self):
        write("gone.csv", "file,condition", ("gone.h5", "x"))
        self.refuses(66, "gone.h5: cannot open", "compare", "gone.csv", "--out", "gone", *FAST)

    def begin_to_wait(self, out, *words):
        """A run into this folder whose last recording is a pipe, which brings nothing as long as we like; it has begun to read it."""
        self.with_rows("slow.csv", "pipe.h5,wild type,a9,0")
        if not os.path.exists("pipe.h5"):
            os.mkfifo("pipe.h5")
        run = self.begin("slow", "compare", "slow.csv", "--out", out, *FAST, "--json", *words)
        ends = []

        def is_read():
            with contextlib.suppress(OSError):
                ends.append(os.open("pipe.h5", os.O_WRONLY | os.O_NONBLOCK))
            return ends

        command.wait_until(is_read, "a reader of the pipe", run)
        self.addCleanup(os.close, ends[0])
        return run

    def test_an_analysis_that_is_killed_is_named(self):
        run = self.begin_to_wait("killed", "--jobs", 1)
        for child in pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split():  # one: the others have ended
            os.kill(int(child), signal.SIGKILL)
        run.end(65)
        self.assertIn("pipe.h5: its analysis was ended by signal 9", run.err.read_text())
        out = run.document()
        self.assertEqual((out["failed"], [r["status"] for r in out["recordings"]]), (1, ["done"] * 10 + ["failed"]))

    def test_a_run_that_is_stopped_says_what_is_done(self):
        shutil.copytree("first", "stopped")
        run = self.begin_to_wait("stopped", "--jobs", 2)
        run.terminate()
        run.end(143)
        self.assertRegex(run.err.read_text(), "stopped: .* recordings are done, and the same command goes on")


class Refused(Groups):
    """What is no table, and what is no option."""

    def refused(self, code, sentence, table, *words):
        """No folder comes of it."""
        self.refuses(code, sentence, "compare", table, "--out", "bad", *words)
        self.assertFalse(os.path.exists("bad"))

    def test_what_is_no_table(self):
        for sentence, text in (
                ("has no column 'file'", "path,condition\na,b\n"),
                ("has no column 'condition', and --by names no other; its columns are file, dose", "file,dose\nw1.h5,1\n"),
                ("bad.csv:3: names no file", "file,condition\nw1.h5,x\n,y\n"),
                ("bad.csv:2: has nothing in the column 'condition'", "file,condition\nw1.h5,\n"),
                ("column 'rate_hz' has the name of a column of the results", "file,condition,rate_hz\nw1.h5,x,1\n"),
                ("has no rows", "file,condition\n")):
            with self.subTest(sentence=sentence):
                pathlib.Path("bad.csv").write_text(text)
                self.refused(65, sentence, "bad.csv")
        self.refused(66, "absent.csv: cannot open", "absent.csv")

    def test_columns_that_are_no_factor_or_block(self):
        write("bad.csv", "file,condition,age", ("w1.h5", "x", 9), ("m1.h5", "y", ""))
        self.refused(65, "bad.csv:3: has nothing in the column 'age'", "bad.csv", "--factor", "age")
        write("bad.csv", "file,condition,age", ("w1.h5", "x", 9), ("m1.h5", "y", 9))
        self.refused(64, "--factor: found 'age', which has one value alone", "bad.csv", "--factor", "age")
        for sentence, *words in (
                ("--by: found 'sex', expected a column of the table: file, condition, animal, dose", "--by", "sex"),
                ("--block: found 'litter', expected a column of the table", "--block", "litter"),
                ("--block: found 'condition', whose values are what is compared", "--block", "condition"),
                ("--block: found 'dose', whose values are what is compared", "--factor", "dose", "--block", "dose"),
                ("--factor: found 'sex', expected a column of the table", "--factor", "sex"),
                ("--factor: found 'condition', which is the first factor", "--factor", "condition"),
                ("--factor: found 'animal', which says what a replicate is", "--factor", "animal"),
                ("--factor: goes with --test permutation", "--factor", "dose", "--test", "welch")):
            with self.subTest(sentence=sentence):
                self.refused(64, sentence, "table.csv", *words)

    def test_wrong_options(self):
        self.refuses(64, "--out: is missing", "compare", "table.csv")
        self.refuses(64, "--control: found 'x', which no recording is of", "compare", "table.csv", "--out", "first", *FAST,
                     "--control", "x")
        for sentence, *words in (
                ("found 'rates_hz': did you mean rate_hz?", "--measures", "rates_hz"),
                ("'chains' is of what --without leaves out", "--without", "chains", "--measures", "rate_hz,chains"),
                ("'chains' is of what --without leaves out", "--without", "chains,graph", "--measures", "rate_hz,chains"),
                ("'rate_hz' is there twice", "--measures", "rate_hz,rate_hz"), ("--without: found 'edges'", "--without", "edges"),
                ("--bursts: found", "--bursts", "300,170,200,10,3"), ("the analytic test gives no q", "--significance", "analytic"),
                ("--test: found 'anova', expected one of permutation, mann-whitney, welch", "--test", "anova"),
                ("does not go with --test welch", "--test", "welch", "--permutations", 100), ("--delay", "--delay", 5)):
            with self.subTest(sentence=sentence):
                self.refused(64, sentence, "table.csv", *words)


if __name__ == "__main__":
    command.main()
