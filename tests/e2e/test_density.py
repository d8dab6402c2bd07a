# SPDX-License-Identifier: Apache-2.0
"""synfire bandwidth, density and aggregate: values, formats and refusals, of files of numbers, of recordings and of states."""
import math
import os
import pathlib
import stat
import subprocess

import command

SQUARES = [i * i for i in range(1, 101)]


def write(path, rows):
    """A row a line, whose columns are apart by blanks."""
    pathlib.Path(path).write_text("".join(" ".join(map(str, row if isinstance(row, tuple) else (row,))) + "\n" for row in rows))


def write_spikes(path, spikes):
    pathlib.Path(path).write_text("name,seconds\n" + "".join(f"{name},{at:.4f}\n" for name, at in spikes))


def integral(points):
    """By trapezia, of a list of (x, y)."""
    return sum((after + before) / 2 * (to - at) for (at, before), (to, after) in zip(points, points[1:]))


class OfNumbers(command.Test):
    @classmethod
    def prepare(cls):
        write("squares.txt", SQUARES)
        write("columns.txt", [(i % 7, i % 11, i * i % 13) for i in range(300)])

    def points(self, *words):
        """The columns of the CSV of a density, as numbers."""
        return [tuple(map(float, row.values())) for row in self.rows("density", *words)]


class Bandwidth(OfNumbers):
    def words(self, method, *more):
        return "bandwidth", "squares.txt", "--method", method, "--quiet", *more

    def test_fields_have_their_names(self):
        out = self.document(*self.words("plugin"))
        self.assertLessEqual({"h", "h_relative", "h0", "objective", "at_edge", "minima", "seconds", "device"}, set(out))
        self.assertEqual((out["method"], out["n"], out["d"]), ("plugin", 100, 1))
        self.assertRegex(self.synfire(*self.words("plugin")).stdout, "(?m)^plugin  *100 ")

    def test_isj_is_the_default(self):
        self.assertEqual(self.document("bandwidth", "squares.txt")["method"], "isj")

    def test_numbers_may_come_through_a_pipe(self):
        done = subprocess.run([os.environ["SYNFIRE"], "bandwidth", "/dev/stdin", "--method", "plugin", "--json"],
                              input=pathlib.Path("squares.txt").read_bytes(), capture_output=True, check=True)
        self.assertEqual(command.schema.parse(done.stdout)["h"], self.document(*self.words("plugin"))["h"])

    def test_direct_sums_give_the_same(self):
        for method in "plugin", "lscv", "lscv-paper":
            fast, exact = (self.document(*self.words(method, *how))["h"] for how in ((), ("--exact",)))
            with self.subTest(method=method):
                self.assertAlmostEqual(fast / exact, 1, delta=1e-9)

    def test_the_lowest_point_of_the_curve_is_next_to_the_minimum_that_is_told(self):
        curve = self.synfire(*self.words("lscv", "--curve")).stdout.splitlines()
        self.assertEqual((len(curve), curve[0]), (201, "h,objective"))
        lowest = min((tuple(map(float, line.split(","))) for line in curve[1:]), key=lambda point: point[1])
        self.assertAlmostEqual(self.document(*self.words("lscv"))["h"] / lowest[0], 1, delta=0.03)
        self.assertEqual(len(self.synfire(*self.words("lscv-paper", "--curve")).stdout.splitlines()), 151)

    def test_some_methods_take_several_columns(self):
        out = self.document("bandwidth", "columns.txt", "--method", "silverman")
        self.assertEqual((out["n"], out["d"]), (300, 3))
        self.assertTrue(0.4 <= out["h"] < 0.5, out["h"])
        self.assertEqual(self.document("bandwidth", "columns.txt", "--method", "lscv-paper", "--quiet")["d"], 3)
        self.refuses(65, "the method isj takes 1", "bandwidth", "columns.txt")
        write("doubled.txt", [(i, i) for i in SQUARES])
        self.refuses(65, "2 columns", "bandwidth", "doubled.txt", "--method", "plugin")
        write("singular.txt", [(i % 7, i % 11, i % 7 + i % 11) for i in range(300)])
        self.refuses(65, "singular", "bandwidth", "singular.txt", "--method", "scott")

    def test_a_minimum_at_the_edge_is_told_of(self):
        write("steps.txt", [i * i % 5 for i in range(300)])
        self.assertTrue(self.document("bandwidth", "steps.txt")["at_edge"])
        self.assertIn("steps of a clock", self.synfire("bandwidth", "steps.txt", "--json").stderr)

    def test_too_little_and_what_is_no_number_is_refused(self):
        write("few.txt", SQUARES[:49])
        write("same.txt", [7] * 60)
        write("words.txt", [1, "x"])
        for sentence, path in (("not enough data: found 49 samples", "few.txt"), ("all 60 samples equal 7", "same.txt"),
                               ("found 'x'", "words.txt")):
            self.refuses(65, sentence, "bandwidth", path)
        self.refuses(66, "No such file", "bandwidth", "nowhere.txt")
        self.refuses(66, "is a directory", "bandwidth", ".")

    def test_wrong_words_are_refused(self):
        for sentence, *words in (("expected", "--method", "magic"), ("has no curve", "--curve"),
                                 ("no form by direct sums", "--exact"), ("give --quantity too", "--units", "a")):
            with self.subTest(words=words):
                self.refuses(64, sentence, "bandwidth", "squares.txt", *words)


class Density(OfNumbers):
    GIVEN = ("squares.txt", "--bandwidth", 500)

    def test_it_integrates_to_1_over_the_grid_that_was_asked_for(self):
        points = self.points(*self.GIVEN, "--grid", "-5000:15000:2001")
        self.assertEqual((len(points), points[0][0], points[-1][0]), (2001, -5000, 15000))
        self.assertAlmostEqual(integral(points), 1, delta=1e-6)

    def test_what_is_reflected_at_0_does(self):
        self.assertAlmostEqual(integral(self.points(*self.GIVEN, "--reflect", "--grid", "0:15000:1501")), 1, delta=1e-4)

    def test_on_a_logarithmic_axis_it_is_by_the_natural_logarithm(self):
        points = self.points("squares.txt", "--log")
        self.assertAlmostEqual(integral([(math.log(x), density) for x, density in points]), 1, delta=1e-3)

    def test_a_number_of_points_is_the_most_there_are(self):
        points = self.points("squares.txt", "--grid", 2000, "--bandwidth", 30)
        self.assertLessEqual(len(points), 2000)
        self.assertAlmostEqual(integral(points), 1, delta=1e-3)

    def test_the_document_has_the_grid_and_how_it_was_made(self):
        out = self.document("density", "squares.txt", "--grid", "0:10000:101", "--bandwidth", 300)
        self.assertEqual([out[key] for key in ("n", "h", "method", "axis", "reflected", "tick")],
                         [100, 300, "given", "linear", False, None])
        self.assertTrue(0 < out["outside"] < 0.1, out["outside"])
        for at, x in enumerate(out["grid"]):
            self.assertAlmostEqual(x, at * 100, delta=1e-9)
        of_csv = self.points("squares.txt", "--grid", "0:10000:101", "--bandwidth", 300)
        self.assertEqual(list(zip(out["grid"], out["density"])), of_csv)

    def test_a_grid_that_would_miss_kernels_is_refused_with_the_number_that_is_needed(self):
        words = ("density", "squares.txt", "--bandwidth", 300, "--grid")
        self.refuses(64, "3 points from 0 to 10000 are too few for the bandwidth 300: 68 are needed", *words, "0:10000:3")
        self.synfire(*words, "0:10000:68", "--csv")
        self.refuses(64, " points, more than 20", "density", "squares.txt", "--grid", 20, "--bandwidth", 3)

    def test_what_lies_outside_the_points_is_told(self):
        table = self.synfire("density", "squares.txt", "--grid", "0:2500.5:1001", "--bandwidth", 30).stdout
        self.assertIn("100 samples, bandwidth 30 (given); 52.50 % of the density lies outside the points", table.splitlines()[-1])

    def test_it_is_drawn(self):
        self.synfire("density", "squares.txt", "--plot", "density.svg")
        drawn = pathlib.Path("density.svg").read_text()
        self.assertIn("</svg>", drawn)
        self.assertIn("100 samples, bandwidth", drawn)

    def test_where_nothing_can_be_drawn_that_is_said(self):
        plot = ("density", "squares.txt", "--plot")
        self.refuses(73, "cannot create", *plot, "nowhere/x.svg")
        os.symlink("/dev/full", "full.svg")
        self.refuses(74, "cannot write", *plot, "full.svg")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))
        self.refuses(64, "expected a file that ends in .svg, .pdf or .png", *plot, "density.eps")

    def test_what_its_axis_cannot_have_is_refused(self):
        write("zero.txt", [*SQUARES, 0])
        write("below.txt", [*SQUARES, -1])
        self.refuses(65, "above 0", "density", "zero.txt", "--log")
        self.refuses(65, "at least 0", "density", "below.txt", "--reflect")
        for sentence, *words in (("does not go with", "--log", "--reflect"), ("does not go with", "--linear", "--reflect"),
                                 ("begins at 0: a logarithmic axis begins above 0", "--log", "--grid", "0:10:100"),
                                 ("A < B", "--grid", "5:5:10"), ("A < B", "--grid", "0:1:1"), ("above 0", "--bandwidth", 0)):
            with self.subTest(words=words):
                self.refuses(64, sentence, "density", "squares.txt", *words)


class OfAPlane(OfNumbers):
    """Of two columns that correlate: a density over a plane, and what the second is where the first lies in a range."""

    @classmethod
    def prepare(cls):
        super().prepare()
        write("pairs.txt", [(i * 7 % 31, i * 7 % 31 * 2 + i * 11 % 13) for i in range(1, 61)])

    def test_it_integrates_to_1(self):
        points = self.points("pairs.txt", "--grid", "-30:60:91,-60:140:101")
        self.assertEqual(len(points), 91 * 101)
        self.assertAlmostEqual(sum(density for *_, density in points) * 1 * 2, 1, delta=1e-3)

    def test_the_document_has_both_axes_and_a_row_of_each_first(self):
        out = self.document("density", "pairs.txt", "--grid", "0:2:3,0:1:2")
        self.assertEqual((out["grid"], [len(row) for row in out["density"]]), ([[0, 1, 2], [0, 1]], [3, 3]))

    def test_a_box_holds_what_the_density_over_it_integrates_to(self):
        columns = {}
        for x, y, density in self.points("pairs.txt", "--grid", "5:15:201,10:30:201"):
            columns.setdefault(x, []).append((y, density))
        expected = 60 * integral([(x, integral(points)) for x, points in sorted(columns.items())])
        out = self.document("aggregate", "pairs.txt", "--range", "5:15,10:30", "--exact")
        self.assertAlmostEqual(out["estimate"] / expected, 1, delta=1e-3)

    def test_the_second_column_is_averaged_over_a_range_of_the_first(self):
        out = self.document("aggregate", "pairs.txt", "--range", "9.5:20.5", "--op", "avg", "--exact")
        self.assertTrue(0 <= out["relative_error"] < 0.1, out)

    def test_it_is_drawn(self):
        self.synfire("density", "pairs.txt", "--plot", "plane.svg")
        drawn = pathlib.Path("plane.svg").read_text()
        for words in "</svg>", "60 samples, bandwidth ", "(silverman)", ">density<":
            self.assertIn(words, drawn)

    def test_wrong_words_are_refused(self):
        self.refuses(64, "1 axis for 2 columns", "density", "pairs.txt", "--grid", "0:1:2")
        self.refuses(64, "goes with one column", "density", "pairs.txt", "--reflect")
        self.refuses(64, " points, or a smaller range", "density", "pairs.txt", "--grid", "0:30:3,0:60:2")
        self.refuses(65, "3 columns, expected 1 or 2", "density", "columns.txt")


class OfRecordings(command.Test):
    """Every unit has its own bandwidth: a fires every 10 to 13 ms, b at 60 irregular times, c twice at once."""

    @classmethod
    def prepare(cls):
        times = [1000]
        while times[-1] < 3000:
            times.append(times[-1] + 10 + (len(times) - 1) % 4)
        write_spikes("recording.csv", [*(("a", ms / 1000) for ms in times[:-1]), *(("b", 1 + i * i / 1000) for i in range(1, 61)),
                                       *[("c", 1.5)] * 2])
        cls.plugin = ("bandwidth", "recording.csv", "--quantity", "isi", "--method", "plugin")

    def test_every_unit_has_a_bandwidth_or_why_not(self):
        a, b, c = self.document(*self.plugin)["results"]
        self.assertEqual([(of["unit"], of["name"], of["method"]) for of in (a, b, c)],
                         [(i, name, "plugin") for i, name in enumerate("abc")])
        self.assertTrue(170 <= a["n"] < 180, a)
        self.assertEqual((b["n"], c["n"], a["error"], b["error"]), (59, 0, None, None))
        self.assertTrue(c["error"].startswith("not enough data: found 0"), c)
        self.assertIn("left out 1 intervals of length 0", self.synfire(*self.plugin).stderr)

    def test_a_unit_alone_is_the_whole_answer_as_of_the_same_numbers(self):
        out = self.document(*self.plugin, "--units", "b")
        self.assertEqual((out["unit"], out["name"], out["method"], out["n"]), (1, "b", "plugin", 59))
        write("b.txt", [(2 * i + 1) / 1000 for i in range(1, 60)])  # its intervals: 0.003, 0.005, ... 0.119 s
        self.assertAlmostEqual(out["h"] / self.document("bandwidth", "b.txt", "--method", "plugin")["h"], 1, delta=1e-12)

    def test_rates_are_of_windows(self):
        words = ("bandwidth", "recording.csv", "--quantity", "rate", "--window", 0.05, "--method", "plugin", "--units", "b")
        self.assertIn(self.document(*words)["n"], (71, 72))  # of 0.05 s over the recorded 3.6 s
        self.assertIn(self.document(*words, "--from", 1, "--to", 4)["n"], (59, 60))
        write("parts.csv", ["1,2.6", "2.6,4.6"])
        first, second = self.document(*words, "--epochs", "parts.csv")["epoch_n"]
        self.assertIn(first, (31, 32))  # and none after an epoch
        self.assertIn(second, (39, 40))

    def test_intervals_across_the_gap_between_two_epochs_are_none(self):
        write("epochs.csv", ["start,stop,label", "1,2,first", "3,4,second"])
        done = self.run_command(*self.plugin, "--units", "b", "--epochs", "epochs.csv")
        self.assertIn("not enough data: found 39 samples", done.stderr)

    def test_intervals_are_drawn_by_their_logarithm_and_no_kernel_is_narrower_than_the_clocks_step(self):
        words = ("density", "recording.csv", "--quantity", "isi", "--units", "a")
        out = self.document(*words, "--plot", "isi.svg")
        self.assertEqual((out["axis"], out["reflected"], out["tick"]), ("log", False, 0.001))
        drawn = pathlib.Path("isi.svg").read_text()
        for text in ">interval, s<", "Intervals of a, recording.csv<", ">density per ln(interval)<":
            self.assertIn(text, drawn)
        narrow = (*words, "--linear", "--bandwidth", 0.0001)
        out = self.document(*narrow)
        self.assertEqual((out["h"], out["method"], out["axis"]), (0.001, "given", "linear"))
        self.assertIn("held at the step, 0.001", self.synfire(*narrow, "--csv").stderr)

    def test_of_several_units_the_rows_of_each_are_those_of_the_unit_alone(self):
        self.synfire("simulate", "several.h5", "--unit-count", 4, "--duration", 20)
        write("halves.csv", ["0,9", "9,20"])
        words = ("density", "several.h5", "--quantity", "isi", "--grid", "0.002:0.5:60", "--epochs", "halves.csv", "--quiet")
        rows = self.rows(*words)
        self.assertEqual((len(rows), list(rows[0])), (240, ["unit", "name", "x", "density_per_ln_s", "epoch 0", "epoch 1"]))
        for unit, name in enumerate("ABCD"):
            own = [row for row in rows if row["unit"] == str(unit)]
            self.assertEqual({row["name"] for row in own}, {name})
            alone = self.rows(*words, "--units", f"#{unit}")
            self.assertEqual([list(row.values())[2:] for row in own], [list(row.values()) for row in alone])

    def test_delays_are_those_of_a_links_occurrences(self):
        """b follows a by 3 or 4 ms, and c follows b by 10 ms or more."""
        write_spikes("chain.csv", ((name, i / 5 + after) for i in range(200) for name, after in (
            ("a", 0), ("b", 0.003 + i % 7 / 7000), ("c", 0.013 + i % 7 / 7000 + i % 11 / 5000))))
        words, chain = ("bandwidth", "chain.csv", "--quantity", "delay"), "a -(0,5]-> b -(5,15]-> c"
        out = self.document(*words, "--episode", "a -(0,5]-> b")
        self.assertEqual([out[key] for key in ("unit", "name", "method", "n", "d")], [None, "a -(0,5]-> b", "isj", 200, 1])
        table = self.synfire(*words, "--episode", chain, "--quiet").stdout
        self.assertRegex(table, r"(?m)^a -\(0,5\]-> b  *isj  *200 ")
        self.assertRegex(table, r"(?m)^b -\(5,15\]-> c  *isj  *200 ")
        self.refuses(64, "needs --episode", *words)
        self.refuses(64, "expected a link", *words, "--episode", "a")
        self.refuses(64, "choose one as an episode of two", "density", "chain.csv", "--quantity", "delay", "--episode", chain)
        self.refuses(65, "no positions", "bandwidth", "chain.csv", "--quantity", "position", "--method", "scott")

    def test_positions_are_those_of_units(self):
        self.synfire("simulate", "array.h5", "--unit-count", 8, "--rate", 5, "--duration", 20, "--seed", 1)
        out = self.document("bandwidth", "array.h5", "--quantity", "position", "--method", "scott")
        self.assertEqual(out["d"], 2)
        self.assertTrue(0.3 <= out["h"] < 0.4, out["h"])

    def test_wrong_words_are_refused(self):
        self.refuses(64, "holds 3 units: choose one with --units, or take --csv", "density", "recording.csv", "--quantity", "isi",
                     "--quiet")
        self.refuses(64, "found 'speed'", "bandwidth", "recording.csv", "--quantity", "speed")


class Aggregate(OfNumbers):
    """30 of the squares lie between 400.5 and 2500.5."""
    RANGE = ("aggregate", "squares.txt", "--range", "400.5:2500.5")
    BOX = ("aggregate", "columns.txt", "--range", "-1:3.5,-1:5.5,-1:20")

    def test_an_estimate_stands_beside_what_is_exact(self):
        out = self.document(*self.RANGE, "--exact")
        self.assertEqual(out["exact"], 30)
        self.assertTrue(28 < out["estimate"] < 32, out)
        self.assertAlmostEqual(out["relative_error"], abs(out["estimate"] - 30) / 30, delta=1e-9)
        self.assertRegex(self.synfire(*self.RANGE, "--op", "avg", "--exact").stdout, "(?m)^exact  1335.1667 ")
        self.assertRegex(self.synfire(*self.RANGE, "--op", "sum", "--exact", "--reflect").stdout, "(?m)^exact  40055 ")

    def test_what_is_exact_is_told_where_it_is_asked_for(self):
        out = self.document(*self.RANGE)
        self.assertEqual((out["exact"], out["relative_error"]), (None, None))

    def test_a_box_has_a_range_of_each_column(self):
        inside = [i * i % 13 for i in range(300) if i % 7 <= 3 and i % 11 <= 5]
        self.assertEqual(self.document(*self.BOX, "--exact")["exact"], len(inside))
        self.assertRegex(self.synfire(*self.BOX, "--op", "sum", "--exact").stdout, f"(?m)^exact  {sum(inside)} ")

    def test_a_range_that_is_open_holds_all_whatever_is_asked(self):
        for op in "count", "sum", "avg", "var":
            def answer(within):
                return self.document("aggregate", "squares.txt", "--range", within, "--op", op, "--exact")

            closed = answer("-1e9:1e9")
            for within in "-inf:+inf", "-inf:inf", ":":
                out = answer(within)
                with self.subTest(op=op, within=within):
                    self.assertEqual(out["exact"], closed["exact"])
                    self.assertAlmostEqual(out["estimate"] / closed["estimate"], 1, delta=1e-9)
        self.assertRegex(self.synfire("aggregate", "squares.txt", "--range", "400.5:", "--exact").stdout, "(?m)^exact  80 ")

    def test_wrong_words_are_refused(self):
        for sentence, *words in (*(("expected A:B", "--range", within) for within in ("inf:", "1:2:3", "nan:5", "5:4")),
                                 ("is needed",), ("one of count, sum, avg, var", "--range", "1:2", "--op", "median"),
                                 ("2 ranges for 1 column", "--range", "1:2,3:4")):
            with self.subTest(words=words):
                self.refuses(64, sentence, "aggregate", "squares.txt", *words)
        self.refuses(64, "go without --log", "aggregate", "columns.txt", "--range", "1:2,3:4,5:6", "--log")
        self.refuses(64, "1 range for 3 columns", "aggregate", "columns.txt", "--range", "1:2")


class State(OfNumbers):
    """It answers without its samples what they answered, in a file of some kilobytes; two of them as one."""
    WITHIN = ("--range", "20:60")

    @classmethod
    def prepare(cls):
        super().prepare()
        times = [f"{math.exp(3 + math.sin(i * 1.7) + math.sin(i * i * 0.31) + math.sin(i * 2.9)):.6g}" for i in range(1, 2001)]
        write("times.txt", times)
        write("odd.txt", times[::2])
        write("even.txt", times[1::2])
        write("far.txt", [float(time) * 1e6 for time in times])
        cls.whole = cls.document("aggregate", "times.txt", "--log", "--save", "times.h5", *cls.WITHIN)
        cls.odd = cls.document("aggregate", "odd.txt", "--log", "--save", "odd.h5")
        cls.synfire("aggregate", "even.txt", "--log", "--save", "even.h5")
        cls.both = cls.document("aggregate", "--from-state", "odd.h5", "even.h5", *cls.WITHIN, "--save", "both.h5")
        for name in "times", "far":
            cls.synfire("aggregate", f"{name}.txt", "--save", f"linear-{name}.h5")

    def close(self, found, expected, share):
        self.assertGreater(expected, 0)
        self.assertAlmostEqual(found / expected, 1, delta=share)

    def test_it_answers_what_its_samples_do_on_every_axis(self):
        for axis in "--linear", "--log", "--reflect":
            said = self.synfire("aggregate", "times.txt", axis, "--save", "axis.h5", "--quiet").stdout
            self.assertIn("axis.h5: the state of 2000 samples", said)
            answers = set()
            for op in "count", "sum", "avg", "var":
                asked = (*self.WITHIN, "--op", op)
                out = self.document("aggregate", "--from-state", "axis.h5", *asked)
                answers.add(out["estimate"])
                with self.subTest(axis=axis, op=op):
                    self.close(self.document("aggregate", "times.txt", axis, *asked)["estimate"], out["estimate"], 1e-4)
                    self.assertEqual([out[key] for key in ("states", "exact", "saved", "quantity", "unit", "name")], [1, *[None] * 5])
            self.assertEqual(len(answers), 4)

    def test_it_is_small_and_may_be_saved_with_an_answer_or_without(self):
        self.assertEqual((self.whole["states"], self.whole["saved"]), (None, "times.h5"))
        self.assertEqual([self.odd[key] for key in ("op", "n", "estimate")], [None, 1000, None])
        self.assertLess(os.path.getsize("times.h5"), 12000)

    def test_two_add_up(self):
        self.assertEqual([self.both[key] for key in ("n", "states", "saved")], [2000, 2, "both.h5"])
        self.close(self.both["estimate"], self.whole["estimate"], 0.002)
        self.assertEqual(self.document("aggregate", "--from-state", "both.h5", *self.WITHIN)["estimate"], self.both["estimate"])

    def test_of_two_columns_it_has_boxes_and_the_second_over_a_range_of_the_first(self):
        write("grid.txt", [(i % 17, i * 5 % 31) for i in range(1, 301)])
        self.synfire("aggregate", "grid.txt", "--save", "grid.h5")
        for within in "3:9,5:20", "3:9":
            with_samples, without = (self.document("aggregate", *of, "--range", within, "--op", "sum")["estimate"]
                                     for of in (("grid.txt",), ("--from-state", "grid.h5")))
            with self.subTest(within=within):
                self.close(without, with_samples, 1e-4)

    def test_what_does_not_add_up_answers_each_for_itself_and_says_so(self):
        self.refuses(64, "do not add up", "aggregate", "--from-state", "linear-times.h5", "linear-far.h5", "--save", "sum.h5")
        self.assertFalse(os.path.exists("sum.h5"))
        words = ("aggregate", "--from-state", "linear-times.h5", "linear-far.h5", "--range", "-1e9:1e9")
        self.close(self.document(*words)["estimate"], 4000, 1e-5)
        self.assertIn("each of 2 answers", self.synfire(*words, "--json").stderr)

    def test_what_has_no_common_answer_or_is_no_state_is_refused(self):
        self.synfire("simulate", "demo.h5", "--preset", "sym26", "--duration", 5)
        self.refuses(64, "3 columns", "aggregate", "columns.txt", "--save", "columns.h5")
        for code, sentence, *words in (
                (64, "another axis", "both.h5", "linear-times.h5", "--range", "1:2"),
                (64, "a state has none", "both.h5", "--range", "1:2", "--exact"),
                (64, "a state has none", "both.h5", "--range", "1:2", "--quantity", "isi"),
                (64, "write over the input", "both.h5", "--save", "both.h5"), (66, "no-such", "no-such.h5", "--range", "1:2"),
                (65, "HDF5", "times.txt", "--range", "1:2"), (65, "holds no state of a density", "demo.h5", "--range", "1:2")):
            with self.subTest(words=words):
                self.refuses(code, sentence, "aggregate", "--from-state", *words)


if __name__ == "__main__":
    command.main()
