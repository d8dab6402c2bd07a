# SPDX-License-Identifier: Apache-2.0
"""The page of a recording: whole, by itself, with the numbers that the commands tell, and what is refused."""
import html
import html.parser
import json
import os
import pathlib
import re

import command
import figures

KINDS = {"raster", "array", "map", "rates", "intervals", "chains", "chain", "correlograms", "markers", "responses", "graph", "network", "edges",
         "matrix", "tiling", "motifs", "avalanches", "sequences", "drive"}
DRAWN = KINDS - {"sequences"}  # the recording has no network bursts
HALVES = {"array", "map", "matrix", "tiling", "edges", "motifs"}
TESTED = ("--delay", "4:6", "--significance", "segment-shift", "--surrogates", 200, "--quiet")
FEW = "few <b>'s.csv"


class Page(html.parser.HTMLParser):
    """Every element is closed, nothing is fetched, and there is no script."""

    def __init__(self, path):
        super().__init__()
        self.open, self.ids, self.text = [], [], ""
        self.source = pathlib.Path(path).read_text()
        self.feed(self.source)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        assert tag not in ("script", "link")
        for key, value in attrs:
            assert key not in ("href", "src") or value.startswith("data:"), value
            if key == "id":
                self.ids.append(value)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.text += data

    def brief(self):
        """The lines that come first, before any figure."""
        table = re.search(r'<h1>.*?</h1>\n<table class="brief">\n(.*?)</table>\n<h2>Figures</h2>', self.source, re.S)[1]
        return {head: html.unescape(words) for head, words in re.findall(r"<tr><th>(.*?)</th><td>(.*?)</td></tr>", table)}


def simulate(test):
    test.synfire("simulate", "sim.h5", "--unit-count", 12, "--rate", 8, "--duration", 60, "--chain", "A -(4,6]-> B -(4,6]-> C", "--chain-rate",
                 2, "--marker-every", 5, "--seed", 3, "--quiet")


class Report(command.Test):
    @classmethod
    def prepare(cls):
        simulate(cls)
        pathlib.Path(FEW).write_text("A,0.001\nB,0.006\nA,0.101\nB,0.105\nA,0.301\n")
        cls.told = cls.document("report", "sim.h5", "-o", "sim.html", "--delay", "4:6", "--align", "ttl0,-50ms,200ms", "--quiet")
        cls.said = cls.synfire("report", FEW, "-o", "few.html", "--quiet").stdout
        cls.info, cls.lines = cls.document("info", "sim.h5"), cls.synfire("info", "sim.h5").stdout.splitlines()
        cls.mine, cls.graph = cls.document("mine", "sim.h5", *TESTED), cls.document("graph", "sim.h5", *TESTED)
        cls.standing = [episode for episode in cls.mine["episodes"] if episode["q"] is not None and episode["q"] <= 0.05]
        cls.best, = (episode for episode in cls.standing if episode["folded_under"] is None)
        cls.page, cls.small = Page("sim.html"), Page("few.html")
        cls.pictures = {}
        for kind, svg in re.findall(r'<figure id="(\w+)"[^>]*>\n(<svg .*?\n</svg>)\n<figcaption>', cls.page.source, re.S):
            pathlib.Path(kind + ".svg").write_text(svg)
            cls.pictures[kind] = figures.panels(kind + ".svg")
        cls.figures = {one["kind"]: one for one in cls.told["figures"]}

    def test_what_was_written_is_told(self):
        self.assertEqual([self.told["recording"], self.told["file"]], ["sim.h5", "sim.html"])
        self.assertIn("wrote few.html\n", self.said)

    def test_each_figure_is_there_once_or_why_it_is_not(self):
        self.assertEqual(sorted(self.page.ids), sorted(KINDS))
        self.assertEqual(set(self.figures), KINDS)
        self.assertEqual(set(self.pictures), DRAWN)
        for kind, one in self.figures.items():
            if kind in DRAWN:
                self.assertIsNone(one["why_not"])
                self.assertIn(one["caption"].strip(), self.page.text)
            else:
                self.assertTrue(one["why_not"].startswith("fewer than two network bursts"))
                self.assertIn(one["why_not"], self.page.text)

    def test_numbers_of_figures_are_those_of_their_documents(self):
        for kind in DRAWN:
            figures.hold_numbers(self.figures[kind]["panels"], kind + ".svg")

    def test_lines_of_info_stand_in_it(self):
        for line in self.lines:
            self.assertIn(line.strip(), self.page.text)

    def test_responses_are_to_the_marker_that_comes_most_often(self):
        caption = self.figures["responses"]["caption"]  # 12 pulses of line 0, each with a text of its own
        self.assertTrue(caption.startswith("11 trials of 'ttl0': "), caption)
        self.assertIn("No marker comes more often. Markers of other names (--marker): 'stimulus 1' (1), 'stimulus 2' (1), ", caption)
        self.assertTrue(caption.endswith("'stimulus 8' (1), ... "), caption)

    @staticmethod
    def spelt(found):
        return f"{found['count']}, expected by rates {found['expected']:.4g}, q {found['q']:.3g}"

    def test_chains_are_those_that_mine_finds(self):
        self.assertEqual(set(self.pictures["chains"][0].notes()), {" > ".join(self.best["names"]) + ": count " + self.spelt(self.best)})

    def test_edges_are_those_that_graph_finds(self):
        self.assertEqual({note for note in self.pictures["graph"][0].notes() if " to " in note},
                         {f"{edge['from_name']} to {edge['to_name']}: count {self.spelt(edge)}" for edge in self.graph["edge_detail"]
                          if edge["q"] <= 0.05})

    def test_the_command_and_its_surrogates_are_named(self):
        self.assertIn("200 surrogates", self.page.text)
        self.assertIn("synfire report sim.h5 -o sim.html --delay 4:6 --align ttl0,-50ms,200ms --quiet --json", self.page.text)

    def test_five_lines_come_first(self):
        brief = self.page.brief()
        self.assertEqual(list(brief), ["Recorded", "Doubtful", "Found", "Not testable", "Made by"])
        self.assertTrue(brief["Recorded"].startswith(f"{self.info['spikes']} spikes of 12 units at 12 places, 60 s recorded; "
                                                     f"{self.info['network_bursts']} network"), brief)
        self.assertTrue(brief["Made by"].startswith("synfire report sim.h5 -o sim.html "), brief)

    def test_what_info_doubts_stands_among_them(self):
        doubts = [line[4:].strip() for line in self.synfire("info", FEW).stdout.splitlines() if line.startswith("  ! ")]
        self.assertGreater(len(doubts), 1)
        for doubt in doubts:
            self.assertIn(doubt, self.small.brief()["Doubtful"])

    def test_what_was_found_is_told_with_its_q(self):
        found, best, edges = self.page.brief()["Found"], self.best, sum(edge["q"] is not None and edge["q"] <= 0.05
                                                                        for edge in self.graph["edge_detail"])
        self.assertTrue(found.startswith(f"1 chain, {len(self.standing) - 1} significant parts with a q of 0.05 or less, "
                                         f"of {len(self.mine['episodes'])} that are"), found)
        self.assertIn(f"A > B > C (counted {best['count']} times, expected by rates {best['expected']:.3g}, q {best['q']:.2g})", found)
        self.assertIn(f"{edges} of {self.graph['edges']} frequent pairs {'is an edge' if edges == 1 else 'are edges'}", found)

    def test_what_could_not_be_tested_is_counted(self):
        untested = sum(episode["not_tested"] is not None for episode in self.mine["episodes"])
        told = self.page.brief()["Not testable"]
        self.assertEqual(told.startswith(f"{untested} of {len(self.mine['episodes'])} that are frequent: "), untested > 0, told)

    def test_the_provenance_is_folded_behind_methods(self):
        source = self.page.source
        folded = re.search(r"<details><summary>.*?</summary>\n<pre>(.*?)</pre>\n</details>", source, re.S)[1]
        self.assertTrue(json.loads(html.unescape(folded))["program"].startswith("synfire "))
        self.assertEqual(source.count(folded), 1)
        self.assertGreater(source.index("misleads in it"), source.rindex("</figure>"))
        self.assertLess(source.index("<h2>Methods"), source.index("<details>"))

    def test_figures_as_high_as_wide_stand_two_in_a_row(self):
        halves = {kind for kind in KINDS if f'<figure id="{kind}" class="half">' in self.page.source}
        self.assertEqual(halves, HALVES)
        for kind in DRAWN:
            self.assertIn(f'width="{85 if kind in halves else 180}mm"', pathlib.Path(kind + ".svg").read_text())

    def test_of_a_few_spikes_each_reason_is_given_once(self):
        self.assertEqual(self.small.brief()["Not testable"], "nothing is frequent, so nothing was tested")
        self.assertIn("its units have no positions on an array", self.small.text)
        self.assertNotIn("markers", self.small.ids)
        self.assertEqual(self.small.text.count("often enough to be a chain"), 1)
        for same in "chain: for the same reason as chains.", "network: for the same reason as graph.", "matrix: for the same reason as graph.":
            self.assertIn(same, self.small.text)
        self.assertNotIn("Sensitivity", self.small.source)

    def test_any_name_of_a_file_is_text(self):
        self.assertIn(FEW, self.small.text)
        self.assertIn("'few <b>'\\''s.csv'", self.small.text)

    def test_a_marker_that_is_chosen_is_that_of_responses(self):
        told = self.document("report", "sim.h5", "-o", "named.html", "--delay", "4:6", "--marker", "stimulus 3", "--response", "0:50", "--quiet")
        caption, = (one["caption"] for one in told["figures"] if one["kind"] == "responses")
        self.assertTrue(caption.startswith("1 trial of 'stimulus 3': "), caption)
        self.assertIn("(--marker): 'ttl0' (11), ", caption)
        self.assertNotIn("comes more often", caption)

    def test_a_marker_that_is_not_there_leaves_its_figure_out(self):
        done = self.synfire("report", "sim.h5", "-o", "other.html", "--delay", "4:6", "--align", "light,-5,5")
        self.assertIn("report: --align: no marker is called 'light'; found 'ttl0'", done.stderr)
        self.assertIn("no marker is called", pathlib.Path("other.html").read_text())

    def test_wrong_words_are_refused(self):
        self.refuses(64, "x.pdf: expected a page to write that ends in .html", "report", "sim.h5", "-o", "x.pdf")
        self.refuses(64, "--out: expected a page", "report", "sim.h5")
        self.refuses(66, "nowhere.h5", "report", "nowhere.h5", "-o", "x.html", "--json")
        self.refuses(64, "expected MARKER,A,B", "report", "sim.h5", "-o", "x.html", "--align", "light", "--quiet")
        self.refuses(73, "cannot create", "report", FEW, "-o", "nowhere/x.html", "--quiet")
        self.assertFalse(os.path.exists("x.html"))


class Sensitivity(command.Test):
    """The chain with other widths and delays: what count says of each."""

    @classmethod
    def prepare(cls):
        simulate(cls)
        cls.rows = cls.document("report", "sim.h5", "-o", "wide.html", "--delay", "4.5:8", "--quiet")["sensitivity"]

    def test_each_change_is_named(self):
        self.assertEqual([row["change"] for row in self.rows],
                         ["nothing changed", "half the width of the test", "twice the width of the test", "half the delay interval",
                          "twice the delay interval", "delays half an interval earlier", "delays half an interval later"])
        width = self.rows[0]["width_ms"]
        self.assertEqual([row["width_ms"] for row in self.rows], [width, width / 2, 2 * width, width, width, width, width])
        self.assertEqual({row["chains"] for row in self.rows}, {1})

    def test_verdicts_are_those_of_count(self):
        for at, delays in (0, "4.5,8"), (3, "5.375,7.125"), (4, "2.75,9.75"), (5, "2.75,6.25"), (6, "6.25,9.75"):
            counted, = self.document("count", "sim.h5", "--episodes", f"A -({delays}]-> B -({delays}]-> C", "--significance", "segment-shift",
                                     "--surrogates", 200)["episodes"]
            self.assertEqual(self.rows[at]["significant"], int(counted["q"] <= 0.05), (delays, counted))

    def test_the_planted_delays_are_what_matters(self):
        self.assertEqual([row["significant"] for row in self.rows[3:]], [0, 1, 1, 0])
        self.assertEqual(self.rows[0]["significant"], 1)

    def test_the_page_says_it_in_a_sentence(self):
        self.assertIn("<p>Of 1 significant chain that is no part of another, counted and tested by itself with the same surrogates, 1 has a q of "
                      f"0.05 or less; with half the width of the test: {self.rows[1]['significant']}, ", pathlib.Path("wide.html").read_text())


if __name__ == "__main__":
    command.main()
