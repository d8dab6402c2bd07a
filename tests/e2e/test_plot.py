# SPDX-License-Identifier: Apache-2.0
"""synfire plot: figures of every kind, whose numbers are those of the commands; their formats, captions and refusals."""
import math
import pathlib
import random
import re
import xml.etree.ElementTree as tree

import command
import figures

TESTED = ("--delay", "4:6", "--significance", "segment-shift", "--surrogates", 200, "--quiet")  # as figures are
CHAIN = "A -(4,6]-> B -(4,6]-> C"
TEST = ("chains", "chain", "correlograms", "graph", "network", "edges", "matrix", "tiling", "motifs")
KINDS = {**dict.fromkeys(TEST, ("--delay", "4:6")), **dict.fromkeys(("array", "rates", "intervals", "map", "raster"), ()),
         "drive": ("--delay", "1:10"), "markers": ("--align", "ttl0,-50ms,200ms", "--delay", "4:6")}


def write(path, lines):
    pathlib.Path(path).write_text("".join(f"{line}\n" for line in lines))


def by_name(told):
    return {each["name"]: each for each in told}


def spelled(episode):
    return f"{episode['count']}, expected by rates {episode['expected']:.4g}, q {episode['q']:.3g}"


def texts(panel, of):
    return [element.text for element in panel.elements("text", of)]


def marks(told, of=None, shape=None, panel=0):
    return [mark for mark in told["panels"][panel]["marks"] if of in (None, mark["of"]) and shape in (None, mark["shape"])]


class Test(command.Test):
    @classmethod
    def draw(cls, kind, recording, *options):
        """What --json tells of a figure, and the panels of its SVG, which show these numbers."""
        told = cls.document("plot", kind, recording, "-o", f"{kind}.svg", "--quiet", *options)
        figures.hold_numbers(told["panels"], f"{kind}.svg")
        return told, figures.panels(f"{kind}.svg")

    @classmethod
    def draw_lines(cls, kind, lines, *options):
        """The same of a recording with these lines."""
        write("lines.csv", lines)
        return cls.draw(kind, "lines.csv", *options)

    def assert_near(self, found, expected):
        self.assertEqual(len(found), len(expected))
        self.assertEqual([(a, b) for a, b in zip(found, expected) if abs(a - b) > 1e-3 * max(abs(b), 1)], [])


class Waves(Test):
    """Twelve units with a chain and markers, as every kind of figure."""

    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "waves.h5", "--unit-count", 12, "--rate", 8, "--duration", 60, "--chain", CHAIN, "--chain-rate", 2,
                    "--marker-every", 5, "--seed", 3, "--quiet")
        drawn = {kind: cls.draw(kind, "waves.h5", *options) for kind, options in KINDS.items()}
        cls.told, cls.panels = ({kind: pair[part] for kind, pair in drawn.items()} for part in (0, 1))
        cls.caption = {kind: told["caption"] for kind, told in cls.told.items()}
        cls.info, cls.mined = cls.document("info", "waves.h5"), cls.document("mine", "waves.h5", *TESTED)
        cls.standing = [e for e in cls.mined["episodes"] if e["q"] is not None and e["q"] <= 0.05]
        cls.best = [e for e in cls.standing if e["folded_under"] is None]

    def test_captions_say_what_was_tested_and_how(self):
        for kind, caption in self.caption.items():
            with self.subTest(kind=kind):
                self.assertGreater(len(caption.split()), 10)
                if kind in ("correlograms", "edges", "graph", "chains"):
                    self.assertIn(" 200 surrogates", caption)
                if kind in ("correlograms", "edges", "matrix", "graph", "chains", "chain"):
                    self.assertIn("expected by rates", caption)
        self.assertIn("ordered pairs stand out from most others with a confidence of 0.95 or more", self.caption["drive"])
        self.assertIn("within 6 ms", self.caption["tiling"])
        self.assertRegex(self.caption["markers"], "^Around 1[0-9] markers")

    def test_people_read_the_caption(self):
        said = self.synfire("plot", "markers", "waves.h5", "-o", "said.svg", *KINDS["markers"], "--quiet").stdout
        self.assertEqual(" ".join(said.split()), " ".join(self.caption["markers"].split()))

    def test_the_array_has_the_rate_of_each_unit(self):
        notes = dict(note.rsplit(": ", 1) for panel in self.panels["array"] for note in panel.notes())
        self.assertEqual({name: float(rate.split()[0]) for name, rate in notes.items()},
                         {unit["name"]: unit["rate_hz"] for unit in self.info["unit_detail"]})
        self.assertIs(self.told["array"]["panels"][0]["colours"]["log"], False)

    def test_rates_hold_every_spike(self):
        rate, = marks(self.told["rates"], "rate")
        ends = [min(x, 60) for x in rate["x"]]
        self.assertAlmostEqual(sum(y * (b - a) for y, a, b in zip(rate["y"], ends, ends[1:])) * self.info["units"], self.info["spikes"],
                               delta=0.01)

    def test_intervals_are_as_many_as_spikes_but_one_of_each_unit(self):
        histogram, = (panel for panel in self.panels["intervals"] if panel.name == "histogram")
        self.assertAlmostEqual(sum(histogram.steps("counts")), sum(u["spikes"] - 1 for u in self.info["unit_detail"]), delta=2.99)
        self.assertEqual(len(histogram.elements("path", "refractory")), histogram.x.first < 0.002)

    def test_chains_are_those_that_stand_out_without_their_parts(self):
        ratios, = (panel for panel in self.panels["chains"] if panel.name == "ratios")
        folded = len(self.standing) - len(self.best)
        self.assertTrue(self.best and folded)
        self.assertEqual(dict(note.split(": count ") for note in ratios.notes()), {" > ".join(e["names"]): spelled(e) for e in self.best})
        self.assertEqual((self.mined["chains"], self.mined["significant_parts"]), (len(self.best), folded))
        self.assertIn("1 chain, 2 significant parts, which", self.caption["chains"])

    def test_every_occurrence_of_a_chain_is_drawn(self):
        times, = (panel for panel in self.panels["chains"] if panel.name == "occurrences")
        self.assertEqual(sum(len(times.points(e.get("d"))) for e in times.elements("path", "occurrence")),
                         sum(e["count"] for e in self.best))

    def test_what_is_expected_of_a_chain_is_spread_over_its_delays(self):
        chain, = (e for e in self.mined["episodes"] if e["names"] == ["A", "B", "C"])
        self.assertGreater(len(self.panels["chain"]), 1)
        for panel in self.panels["chain"][1:]:  # not what was counted
            self.assertAlmostEqual(sum(panel.steps("expected")) / chain["expected"], 1, delta=0.05)
            self.assertAlmostEqual(sum(panel.steps("counts")), chain["count"], delta=0.99)

    def test_edges_are_all_pairs_and_the_graph_has_those_that_stand_out(self):
        edges = self.document("graph", "waves.h5", *TESTED)["edge_detail"]
        spell = {f"{e['from_name']} to {e['to_name']}: count {spelled(e)}": e["q"] <= 0.05 for e in edges}
        self.assertEqual(set(self.panels["edges"][0].notes()), set(spell))
        self.assertEqual({note for note in self.panels["graph"][0].notes() if " to " in note}, {note for note, stands in spell.items() if stands})

    def test_edges_of_a_graph_are_bent_and_as_wide_as_strong(self):
        panel, = self.panels["graph"]
        self.assertLessEqual({"A", "B", "C"}, set(texts(panel, "words")))
        paths = panel.elements("path", "edge")
        for path in paths:
            (first, *between, last), = panel.points(path.get("d"))
            self.assertGreater(len(between), 5)
            away = max(abs((last[0] - first[0]) * (y - first[1]) - (last[1] - first[1]) * (x - first[0])) for x, y in between)
            self.assertGreater(away, 0.04 * math.dist(first, last) ** 2)
        self.assertTrue(len({path.get("stroke-width") for path in paths}) == len(paths) > 1)

    def test_scales_of_colours_lie_around_what_means_nothing(self):
        matrix, tiling = (self.told[kind]["panels"][0]["colours"] for kind in ("matrix", "tiling"))
        self.assertTrue(matrix["log"])
        self.assertAlmostEqual(matrix["from"] * matrix["to"], 1, delta=1e-9)
        self.assertTrue(tiling["from"] == -tiling["to"] < 0, tiling)

    def test_drive_has_arrows_of_confident_pairs_and_a_cell_for_every_pair(self):
        drive = self.document("graph", "waves.h5", "--metric", "regression", "--delay", "1:10", "--max-false", 1, "--quiet")
        words = {1: "excites", -1: "inhibits"}
        told = {f"{e['from_name']} {words[e['sign']]} {e['to_name']}: score {e['score']:.3g}, confidence {e['confidence']:.3g}"
                for e in drive["edge_detail"] if e["confidence"] >= 0.95 and e["not_tested"] is None}
        self.assertEqual({mark["note"] for mark in marks(self.told["drive"], shape="arrow")}, told)
        self.assertTrue(any(note.startswith("A excites B") for note in told), told)
        cells = next(mark for mark in marks(self.told["drive"], panel=1) if "values" in mark)["values"]
        self.assertEqual([sum(cell is not None for cell in cells), drive["pairs_compared"], drive["edges"]], [132, 132, 132])
        self.assertEqual(max(cell or 0 for cell in cells), 10)

    def test_a_correlogram_has_its_band_its_surrogates_and_what_rates_give(self):
        pair = "A -(4,6]-> B"
        told, (panel,) = self.draw("correlograms", "waves.h5", "--episodes", pair)
        self.assertRegex(told["caption"], "Grey line and band: what is expected by rates.* Dashed: the mean of 200 surrogates")
        found, = self.document("count", "waves.h5", "--episodes", pair, "--correlogram", *TESTED[2:])["episodes"][0]["correlograms"]
        rates, surrogates, band = found["expected_counts"], found["surrogates"]["mean"], panel.steps("band")
        self.assert_near(panel.steps("counts"), found["counts"])
        self.assert_near(panel.steps("expected"), rates)
        self.assert_near(panel.steps("also"), surrogates)
        self.assert_near(band[:100], [x + 2 * x ** 0.5 for x in rates])
        for low, x in zip(band[100:], rates[::-1], strict=True):
            self.assertAlmostEqual(low, max(x - 2 * x ** 0.5, 0), delta=0.2)
        # The peak is spread around its place in surrogates, and nowhere in the band, which is as wide there as elsewhere.
        self.assertGreater(surrogates[54], 1.5 * surrogates[5])
        self.assertLess(max(band[:100]), 1.01 * min(band[:100]))
        self.assertLess(max(rates), 1.01 * min(rates))

    def test_a_column_has_two_correlograms_in_a_row(self):
        _, panels = self.draw("correlograms", "waves.h5", "--delay", "4:6", "--width", "column")
        self.assertEqual(len({panel.x.start for panel in panels}), 2)
        for panel in panels:
            self.assertLess(panel.x.end - panel.x.start, 40)
            self.assertLess(panel.y.start - panel.y.end, 20)

    def test_motifs_have_the_counts_of_the_census_and_a_drawing_of_each_triad(self):
        census = by_name(self.document("match", "waves.h5", "census", "--max-q", 0.05, "--rewired", 100, *TESTED)["triads"])
        panel, = self.panels["motifs"]
        notes = dict(note.split(": ") for note in panel.notes())
        drawn = [group for group in tree.parse("motifs.svg").getroot().iter(figures.NS + "g") if group.get("class") == "triad"]
        self.assertTrue(0 < len(notes) == len(drawn) < 13, notes)
        # Columns of nothing are left out.
        self.assertEqual(set(notes), {name for name, t in census.items() if t["edges"].count(" ") and (t["count"] or t["mean"])})
        for (name, said), picture in zip(notes.items(), drawn):
            self.assertTrue(said.startswith(f"{census[name]['count']}, rewired {census[name]['mean']:.4g}, "), (said, census[name]))
            edges = 3 if name in ("030T", "030C") else 2  # a line and a head each
            self.assertEqual([len(list(picture.iter(figures.NS + tag))) for tag in ("circle", "path")], [3, 2 * edges], name)

    def test_the_network_has_the_measures_of_each_unit(self):
        units = by_name(self.document("graph", "waves.h5", *TESTED, "--max-q", 0.05, "--measures")["network_units"])
        modules, strengths = (dict(note.split(": ") for note in panel.notes() if ": " in note) for panel in self.panels["network"])
        self.assertEqual(modules, {name: f"module {'nan' if of['module'] is None else of['module']}, degree {of['degree']}"
                                   + ", a hub" * of["hub"] for name, of in units.items()})
        self.assertEqual(strengths, {name: f"strength {of['strength']:.4g}" for name, of in units.items()})

    def test_a_network_can_be_drawn_by_another_measure(self):
        told, _ = self.draw("network", "waves.h5", "--delay", "4:6", "--measure", "betweenness")
        self.assertIn("right by betweenness", told["caption"])
        self.refuses(64, "did you mean betweenness", "plot", "network", "waves.h5", "-o", "x.svg", "--delay", "4:6", "--measure", "betweennes",
                     "--quiet")

    def test_a_map_has_densities_at_electrodes_alone(self):
        density = self.document("density", "waves.h5", "--quantity", "position")
        (xs, ys), values = density["grid"], density["density"]

        def at(x, y):
            """The density where a place lies, between the points of its grid."""
            across, up = (x - xs[0]) / (xs[1] - xs[0]), (y - ys[0]) / (ys[1] - ys[0])
            c, r = int(across), int(up)
            low, high = ((1 - across + c) * row[c] + (across - c) * row[c + 1] for row in values[r:r + 2])
            return (1 - up + r) * low + (up - r) * high

        for mark in marks(self.told["map"]):
            self.assertAlmostEqual(mark["values"][0] / (1e6 * at(mark["x"][0], mark["y"][0])), 1, delta=1e-6)
        places = self.panels["map"][0]
        self.assertEqual((len(places.elements("circle")), len(places.elements("image"))), (12, 1))  # the bar of colours

    def test_a_raster_marks_every_occurrence_of_a_chain(self):
        told, (panel,) = self.draw("raster", "waves.h5", "--episodes", CHAIN)
        self.assertEqual(texts(panel, "key"), ["A > B > C"])
        drawn, = marks(told, "chain")
        self.assertEqual(sum(y is None for y in drawn["y"]), self.mined["episodes"][-1]["count"])
        self.assertEqual(drawn["y"][:4], [0, 1, 2, None])

    def test_rates_have_the_network_bursts_of_any_method(self):
        isi_n = ("--network-method", "isi-n", "--network-spikes", 4, "--network-within", 4)
        told, _ = self.draw("rates", "waves.h5", *isi_n)
        bursts = self.document("bursts", "waves.h5", *isi_n)["network_bursts"]
        self.assertGreater(len(bursts), 5)
        self.assertIn(f"{len(bursts)} network bursts", told["caption"])
        self.assertIn("within 4 ms by ISI_N", told["caption"])

    def test_axes_of_time_have_the_recordings_clock_whatever_part_is_drawn(self):
        for kind in "raster", "rates", "chains":
            with self.subTest(kind=kind):
                told, _ = self.draw(kind, "waves.h5", "--from", 20, "--to", 50, *KINDS[kind])
                panel, = (panel for panel in told["panels"] if panel["x"]["label"] == "time, s")
                self.assertEqual((panel["x"]["from"], panel["x"]["to"]), (20, 50))
                times = [x for mark in panel["marks"] if mark["of"] in ("spikes", "rate", "occurrence") for x in mark["x"] if x is not None]
                self.assertTrue(times and all(20 <= x <= 50 for x in times))

    def test_what_has_nothing_to_draw_says_so(self):
        told, panels = self.draw("markers", "waves.h5", "--align", "ttl0,0,0.001ms", "--delay", "4:6")
        self.assertGreater(len(panels), 1)
        self.assertEqual([mark["note"] for i in range(1, len(panels)) for mark in marks(told, shape="words", panel=i)],
                         ["none here"] * (len(panels) - 1))
        self.assertIn("of 1 chain that stands out", told["caption"])
        told, _ = self.draw("array", "waves.h5", "--from", 1, "--to", 1.00001)
        self.assertIsNone(told["panels"][0]["colours"])
        self.assertEqual(len(marks(told)), 12)
        self.assertIn("12 electrodes of the array; none of them fired", told["caption"])

    def test_the_caption_of_a_column_says_above_and_below(self):
        told, _ = self.draw("chains", "waves.h5", "--delay", "4:6", "--width", "column")
        self.assertRegex(told["caption"], "Above: .*Below: ")
        self.assertNotIn("Left", told["caption"])

    def test_no_option_is_ignored_in_silence(self):
        for kind, option, value in (
                ("raster", "delay", "4:6"), ("tiling", "surrogates", 30), ("graph", "max-size", 5), ("graph", "measure", "degree"),
                ("graph", "network-method", "isi-n"), ("rates", "align", "ttl0,-5,5"), ("array", "delay", "4:6"), ("array", "min-count", 5),
                ("array", "min-rate", 1), ("array", "min-fraction", 0.1), ("array", "repeats", None), ("array", "min-distance", 10),
                ("array", "threads", 1), ("array", "max-size", 5), ("array", "surrogates", 30), ("array", "seed", 2),
                ("array", "episodes", "waves.txt"), ("array", "align", "ttl0,-5,5")):
            with self.subTest(kind=kind, option=option):
                self.refuses(64, f"--{option}: says nothing to the figure {kind}", "plot", kind, "waves.h5", "-o", "x.svg", f"--{option}",
                             *([] if value is None else [value]))
        self.refuses(64, "--min-count: is for what is looked for, and --episodes gives it", "plot", "chain", "waves.h5", "-o", "x.svg",
                     "--episodes", "A -(4,6]-> B", "--min-count", 5)

    def test_markers_that_are_not_there_are_refused(self):
        markers = ("plot", "markers", "waves.h5", "-o", "x.svg")
        self.refuses(64, "expected MARKER,A,B", *markers, "--align", "ttl0,50")
        self.refuses(64, "--align: is needed", *markers)
        self.refuses(65, "no marker is called 'light'; found 'ttl0'", *markers, "--align", "light,-5,5")


class Rasters(Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--preset", "sym26", "--seed", 5, "--duration", 30, "--quiet")

    def test_it_has_a_mark_for_every_spike(self):
        told, (panel,) = self.draw("raster", "sim.h5")
        self.assertEqual((told["kind"], told["file"], told["width_mm"]), ("raster", "raster.svg", 180))
        self.assertGreater(told["height_mm"], 20)
        info, spikes = self.document("info", "sim.h5"), panel.path("spikes")
        units = [round(sum(y for _, y in mark) / len(mark)) for mark in spikes]
        self.assertEqual([units.count(u["unit"]) for u in info["unit_detail"]], [u["spikes"] for u in info["unit_detail"]])
        self.assertEqual(len(spikes), info["spikes"])
        self.assertAlmostEqual(min(mark[0][0] for mark in spikes), info["start_s"], delta=0.01)

    def test_few_marks_are_lines(self):
        write("pause.csv", ["0,10.01", "20,30"])
        told, _ = self.draw_lines("raster", [f"a,{0.005 + k / 100}" for k in range(3000)], "--recorded", "0:30", "--epochs", "pause.csv")
        self.assertEqual({mark["shape"] for mark in marks(told)}, {"ticks"})

    def test_many_marks_are_an_image_that_loses_no_spike(self):
        told, _ = self.draw_lines("raster", [f"a,{0.0003 + k / 1000}\nb,{0.0006 + k / 1000}" for k in range(20001)])
        image, = marks(told)
        counts, width = image["values"], image["columns"]
        rows = [counts[i:i + width] for i in range(0, len(counts), width)]
        self.assertEqual(sum(count or 0 for count in counts), 40002)
        self.assertEqual(told["panels"][0]["y"]["names"], ["a", "b"])
        self.assertIsNone(told["panels"][0]["colours"])
        self.assertGreater(sum(count is not None for count in rows[0]), 2300)
        for row in rows[len(rows) // 2 - 1::len(rows) // 2]:  # between units
            self.assertEqual(set(row), {None})

    def test_times_that_numbers_do_not_tell_apart_count_from_the_beginning(self):
        x = self.draw_lines("raster", [f"a,{400000 + k / 10}" for k in range(300)])[0]["panels"][0]["x"]
        self.assertEqual((x["label"], x["from"], round(x["to"], 3)), ("time after 400000 s, s", 0, 29.9))

    def test_few_units_have_their_names(self):
        y = self.draw_lines("raster", ["A,0.001", "B,0.006", "A,0.101", "B,0.105", "A,0.301"])[0]["panels"][0]["y"]
        self.assertEqual((y["label"], y["names"]), ("unit", ["A", "B"]))

    def test_a_column_is_85_mm_wide(self):
        said = self.synfire("plot", "raster", "sim.h5", "--out", "column.svg", "--width", "column").stdout
        self.assertRegex(pathlib.Path("column.svg").read_text(), r'(?m)^<svg .*width="85mm"')
        self.assertRegex(said, "^Spikes of 26 units")

    def test_pdf_and_png_are_drawn_with_cairo(self):
        for ending, begin in ("pdf", b"%PDF-"), ("png", b"\x89PNG"):
            done = self.run_command("plot", "raster", "sim.h5", "-o", f"raster.{ending}")
            if "without Cairo" in done.stderr:
                self.skipTest("no Cairo")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(pathlib.Path(f"raster.{ending}").read_bytes()[:len(begin)], begin)

    def test_refusals(self):
        raster = ("plot", "raster", "sim.h5")
        self.refuses(64, "raster.gif: expected a file that ends in .svg, .pdf or .png", *raster, "-o", "raster.gif")
        self.refuses(64, "found 'rastr': did you mean raster?", "plot", "rastr", "sim.h5", "-o", "x.svg")
        self.refuses(64, "--out: is needed", *raster)
        self.refuses(64, "--width: found 'wide'", *raster, "-o", "x.svg", "--width", "wide")
        self.refuses(73, "cannot create", *raster, "-o", "nowhere/x.svg")
        self.refuses(66, "nowhere.h5", "plot", "raster", "nowhere.h5", "-o", "x.svg")
        self.refuses(64, "needs a value", *raster, "-o")
        self.refuses(65, "no spikes", *raster, "--from", 1, "--to", 1.00001, "-o", "x.svg")
        self.assertFalse(pathlib.Path("x.svg").exists())


class Intervals(Test):
    def test_without_a_density_the_histogram_is_as_wide_as_the_page(self):
        told, (panel,) = self.draw_lines("intervals", ["A,0.001", "B,0.006", "A,0.101", "B,0.105", "A,0.301"])
        self.assertEqual([mark["of"] for mark in marks(told)], ["counts"])
        self.assertIn("None is under 2 ms", told["caption"])
        self.assertIn("no unit has enough", told["caption"])
        self.assertGreater(panel.x.end - panel.x.start, 150)

    def test_there_is_a_line_at_2_ms_where_an_interval_is_so_short(self):
        told, _ = self.draw_lines("intervals", ["A,0.001", "A,0.002", "A,0.101"])
        self.assertEqual([mark["of"] for mark in marks(told)], ["counts", "refractory"])
        self.assertIn(" 1 is under 2 ms, which few neurons leave", told["caption"])

    def test_an_interval_of_0_is_under_2_ms_and_has_no_place(self):
        told, _ = self.draw_lines("intervals", ["A,0.001", "A,0.001", "A,0.101"])
        self.assertIn("1 is under 2 ms", told["caption"])
        self.assertIn("1 of these is 0", told["caption"])
        self.assertIn("50 % of inter-spike intervals are under 2 ms", self.synfire("info", "lines.csv").stdout)

    def test_densities_of_a_clock_that_grows_coarser_can_be_drawn(self):
        dice, lines = random.Random(6), []
        for unit in range(3):
            time = 0
            while time < 3000:
                time += dice.expovariate(8) if dice.random() < 0.7 else dice.uniform(0.01, 0.03)
                lines.append(f"u{unit},{time:.6g}")
        told, panels = self.draw_lines("intervals", ["unit,seconds", *lines])
        lengths = [len(mark["x"]) for i in range(len(panels)) for mark in marks(told, shape="line", panel=i)]
        self.assertEqual([0 < length <= 2000 for length in lengths], [True] * 3, lengths)


class Suited(Test):
    """What is drawn suits what there is."""

    def test_dots_that_lie_on_others_are_left_out_and_counted(self):
        self.synfire("simulate", "dense.h5", "--unit-count", 100, "--rate", 10, "--duration", 60, "--seed", 3, "--quiet")
        told, (panel,) = self.draw("edges", "dense.h5", "--delay", "0.5:5", "--min-count", 5, "--surrogates", 20)
        hidden, = map(int, re.findall(r"(\d+) dots that lie on others are left out", told["caption"]))
        self.assertIn("0 of 9900 stand", told["caption"])
        self.assertTrue(len(panel.notes()) == 9900 - hidden < 3000, hidden)

    def test_every_unit_of_a_long_chain_has_its_colour(self):
        chain = " -(4,6]-> ".join("ABCDEFGHI")
        self.synfire("simulate", "long.h5", "--unit-count", 12, "--rate", 5, "--duration", 60, "--chain-rate", 1, "--seed", 3, "--quiet",
                     "--chain", chain)
        _, panels = self.draw("chain", "long.h5", "--delay", "4:6", "--min-count", 20, "--max-size", 9)
        occurrences, = (panel for panel in panels if panel.name == "occurrences")
        self.assertEqual(texts(occurrences, "key"), list("ABCDEFGHI"))
        fills = [circle.get("fill") for circle in occurrences.elements("circle", "spike")]
        lines = [path.get("stroke") for path in occurrences.elements("path") if path.get("stroke-width") == "0.7"]
        self.assertEqual(len(set(fills)), 9)
        self.assertEqual(list(dict.fromkeys(fills)), lines)
        for panel in panels[1:]:
            self.assertIn("in all", " ".join(texts(panel, "key")))

    def test_two_edges_apart_are_no_motif(self):
        self.synfire("simulate", "apart.h5", "--unit-count", 8, "--rate", 8, "--duration", 60, "--chain", "A -(4,6]-> B",
                     "--chain", "C -(4,6]-> D", "--chain-rate", 2, "--seed", 3, "--quiet")
        self.refuses(65, "the 2 edges that stand out make no pattern of three units", "plot", "motifs", "apart.h5", "-o", "x.svg",
                     "--delay", "4:6", "--quiet")

    def test_rates_of_a_few_busy_units_are_coloured_by_their_logarithm(self):
        self.synfire("simulate", "heavy.h5", "--unit-count", 9, "--rate", 1, "--duration", 20, "--chain", "A -(4,6]-> B",
                     "--chain-rate", 20, "--seed", 3, "--quiet")
        told, _ = self.draw("array", "heavy.h5")
        colours = told["panels"][0]["colours"]
        self.assertTrue(colours["log"])
        self.assertTrue(colours["label"].endswith("(logarithmic)"), colours)
        self.assertTrue(max(dot["values"][0] for dot in marks(told)) == colours["to"] > 15, colours)

    def test_an_array_needs_positions(self):
        write("lines.csv", ["A,0.001", "B,0.006"])
        self.refuses(65, "no positions", "plot", "array", "lines.csv", "-o", "x.svg", "--quiet")

    def test_a_tiling_matrix_has_room_for_the_150_busiest_units(self):
        told, _ = self.draw_lines("tiling", [f"{1000 + unit},{0.1 * spike + 0.001 * unit:.4f}"
                                             for unit in range(200) for spike in range(7 + unit % 3)])  # many fire alike
        mark, = marks(told)
        self.assertEqual((mark["columns"], len(mark["values"])), (150, 150 * 150))
        self.assertIn("of the busiest 150 units", told["caption"])

    def test_cells_of_a_matrix_have_the_names_of_more_units_than_its_axes(self):
        self.synfire("simulate", "many.h5", "--unit-count", 50, "--rate", 10, "--duration", 20, "--seed", 2, "--quiet")
        panel, = self.draw("tiling", "many.h5")[0]["panels"]
        for axis in panel["x"], panel["y"]:
            self.assertEqual([len(axis["names"]), len(set(axis["names"]))], [50, 50])

    def test_braces_are_filled_in_for_one_recording_too(self):
        write("odd.csv", ["A,0.5"])
        self.synfire("plot", "raster", "odd.csv", "-o", "{}-raster.svg", "--quiet")
        self.assertGreater(pathlib.Path("odd-raster.svg").stat().st_size, 0)
        self.assertFalse(pathlib.Path("{}-raster.svg").exists())

    def test_bursts_that_paper_has_no_room_for_are_wider_than_they_last(self):
        self.synfire("simulate", "long.h5", "--unit-count", 6, "--rate", 1, "--duration", 3600, "--seed", 4, "--burst-rate", 0.02,
                     "--burst-spikes", 12, "--quiet")
        told, (panel,) = self.draw("rates", "long.h5", "--width", "column")
        lasts = [60 * (mark["x"][1] - mark["x"][0]) for mark in marks(told, "burst")]
        bars = [[x for x, _ in panel.points(e.get("d"))[0]] for e in panel.elements("path", "burst")]
        least = 60 * (panel.x.last - panel.x.first) * 0.12 / (panel.x.end - panel.x.start)
        self.assertTrue(len(lasts) == len(bars) > 50, len(bars))
        self.assertLess(max(lasts), least)
        for bar in bars:
            self.assertAlmostEqual(60 * (max(bar) - min(bar)) / least, 1, delta=0.1)
        seconds, number, width = map(float, re.search(r"([\d.]+) s in all\. (\d+) of them are drawn ([\d.]+) s wide", told["caption"]).groups())
        self.assertAlmostEqual(seconds / sum(lasts), 1, delta=0.01)
        self.assertEqual(number, len(lasts))
        self.assertAlmostEqual(width / least, 1, delta=0.01)
        told, _ = self.draw("rates", "long.h5", "--to", 60)
        self.assertIn("Orange: ", told["caption"])
        self.assertNotIn("wide to be seen", told["caption"])


class Pairs(Test):
    """215 pairs of units, each of which stands out."""

    @classmethod
    def prepare(cls):
        dice, lines = random.Random(5), ["unit,seconds"]
        for pair in range(215):
            for time in (dice.uniform(0, 600) for _ in range(40 + pair % 40)):
                lines += [f"u{pair},{time:.6f}", f"v{pair},{time + 0.005:.6f}"]
        write("pairs.csv", lines)

    def test_of_more_edges_than_are_seen_apart_the_strongest_are_drawn(self):
        told, _ = self.draw("graph", "pairs.csv", "--delay", "4:6", "--min-count", 20, "--surrogates", 20)
        self.assertEqual(len(marks(told, shape="arrow")), 200)
        self.assertIn("215 of 215", told["caption"])
        self.assertIn("Drawn are the 200 strongest. ", told["caption"])

    def test_one_edge_is_one_edge_in_one_module(self):
        told, _ = self.draw("network", "pairs.csv", "--units", "u0,v0", "--delay", "4:6", "--min-count", 20)
        self.assertRegex(told["caption"], r"^The network of the 1 edge that stands out \(q of 0.05 or less\): left by its 1 module "
                                          r"\(modularity 0\)")


if __name__ == "__main__":
    command.main()
