# SPDX-License-Identifier: Apache-2.0
"""The page's own script in a document of the least it asks for (page_dom.js): what it says is what the run's messages say."""
import contextlib
import csv
import io
import json
import re
import shutil
import struct
import subprocess

import command
import paged
import web_client
from live import having

command.need(paged.BUILT, "built without libwebsockets")
command.need(shutil.which("node"), "no node on PATH")

STIMULI = having("responses.marker=ttl0", "responses.to_ms=50", "bursts.within_ms=20", "bursts.spikes=25", "graph.enabled=false",
                 "criticality.every_s=4", "criticality.length_s=20", "criticality.lags=50")

# One after the other, in the page as they left it.
TOUR = (  # is there until it is ended, and not again
    ("by('tour').hidden", False), ("by('tour-close').click(), [by('tour').hidden, hasToured()]", [True, True]),
    ("by('tour-again').click(), by('tour').hidden", False))
BEEPS = (  # are heard where the box asks for them, one at a time
    ("takers.trigger(page.run.triggers[0]), sound", None),
    ("by('triggers-beep').checked = true, askForBeeps(), takers.trigger(page.run.triggers[0]), takers.trigger(page.run.triggers[0]), "
     "sound.beeps", 1),
    ("sound.currentTime += 1, takers.trigger(page.run.triggers[0]), sound.beeps", 2))
EDGES = (  # that are too early go with those that are not tested
    ("page.run.edges = [{q: 1, least_q: 1, weight: 1}, {q: 0.01, least_q: 0.001, weight: 1}, {q: NaN, least_q: NaN, weight: 1}], "
     "by('graph-q').value = 3, by('graph-untested').checked = true, shownEdges().length", 3),
    ("by('graph-untested').checked = false, shownEdges().map(edge => edge.q)", [0.01]))
TESTS = (  # to come are none once a run is over, which is drawn as such
    ("testText({not_tested: 'waits for its first test'})", "not tested by the end"),
    ("testText({not_tested: 'not tested by the end'})", "not tested by the end"),
    ("testText({not_tested: 'observation gap'})", "not tested: observation gap"),
    ("page.run.status = {...page.run.status, last: false}, testText({not_tested: 'waits for its first test'})",
     "not tested: waits for its first test"),
    ("changed.episodes = false, takers.status({...page.run.status, last: true}), changed.episodes", True),
    ("page.run.status = {...page.run.status, last: false, tests: 5}, foundText({episodes: [], counted: 9, chains: 0, list_age_s: 0})"
     ".split(', ').pop()", "no q of 0.05 or less so far"))
TIMES = (  # windows may be behind the raster
    ("page.run.hello.column_s = 0.1, raster.next = 400, clockText({time_ns: 12.5e9, hop_ms: 1000, rate_hz: 7})",
     "stream 40.0 s, analysed up to 12.5 s, 7 Hz"),
    ("raster.next = 130, clockText({time_ns: 12.5e9, hop_ms: 1000, rate_hz: 7})", "stream 12.5 s, 7 Hz"),
    ("stateText('stopped')[0]", "■ stopped"), ("[lastedText([]), lastedText([1e9, 1.0055e9])]", ["–", "5.50"]))
BY_HAND = {"tour": TOUR, "beeps": BEEPS, "edges": EDGES, "tests": TESTS, "times": TIMES}

# What the histogram is of: all units, the unit that is chosen, the chain that is marked. Rows of trials are what came since the message
# before, of several trials where messages were left out.
SUBJECTS = ("subjectOf(page.run.response).bins", "choose(1), subjectOf(page.run.response)",
            "page.chosen = null, mark(page.run.response.chains[0].id), subjectOf(page.run.response).bins",
            "['responses', 'population'].map(name => by(`tab-${name}`).hidden)",
            "page.run.response = null, page.run.trials = [], [[1, [2, 0]], [2, [2, 3]], [4, [7, 4]]].forEach(([trials, bins]) => "
            "takeTrials({trials, units: [{bins}], chains: [], bins_exposed_ns: [1, 1]})), "
            "page.run.trials.map(trial => [trial.trials, trial.units[0]])")


def number(text):
    return float(text.replace("\u202f", "").replace("\u2212", "-")) if text != "–" else None


def q_text(item):
    """What stands in place of a q that is none."""
    if item["q"] is None:
        return "not tested"
    return "too early" if item["least_q"] > 0.05 else None


class OfARun(paged.Test):
    @classmethod
    def seen(cls, *words, codes=()):
        """What the page shows at the end of a run with these options, and the run's lines."""
        run, port, _ = cls.start(1, *words)
        with contextlib.closing(web_client.Page(port)) as page, open("frames", "wb") as file:
            with contextlib.suppress(EOFError, ConnectionError):
                while True:
                    frame = page.message()
                    file.write(struct.pack("<I", len(frame)) + frame)
        run.end(0)
        done = subprocess.run(["node", command.HERE / "page_dom.js", command.SOURCE / "sinks" / "page", "frames", *codes],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return json.loads(done.stdout), paged.lines_of_run()


class Words(OfARun):
    @classmethod
    def prepare(cls):
        super().prepare()
        codes = [code for steps in BY_HAND.values() for code, _ in steps]
        cls.told, cls.lines = cls.seen(*having("significance.length_s=2"), codes=("by('save-table-episodes').click()",
                                                                                 "by('save-picture-array').click()", *codes))
        cls.window = paged.newest(cls.lines, "episodes")
        cls.first = sorted(cls.window["episodes"], key=lambda item: item["standing"])[:paged.TOP]

    def test_whole_chains_come_in_their_order(self):
        shown, rows = [item for item in self.first if item["folded_under"] is None], self.told["episodes"]
        self.assertTrue(0 < len(shown) < len(self.window["episodes"]))
        self.assertEqual([(row[0].split(" (")[0], row[1]) for row in rows],
                         [(" → ".join(item["names"]), str(item["count"])) for item in shown])
        for row, item in zip(rows, shown):
            self.assertIn(q_text(item), (None, row[4]))
        self.assertIn("too early", [q_text(item) for item in shown])  # else this shows nothing

    def test_chains_and_what_is_too_early_are_counted(self):
        text, chains, parts = self.told["episodes-what"], self.window["chains"], self.window["significant_parts"]
        self.assertTrue(text.startswith(f"{chains} chain" if chains else f"{self.window['counted']} counted"), text)
        self.assertEqual("significant part" in text, parts > 0)
        early = sum(item["q"] is not None and item["least_q"] > 0.05 for item in self.first)
        self.assertIn(f", {early} too early to say", text)

    def test_the_newest_trigger_is_on_top(self):
        triggers = [float(row[0]) for row in self.told["triggers"]]
        self.assertGreater(len(triggers), 5)
        self.assertEqual(triggers, sorted(triggers, reverse=True))

    def test_a_table_is_saved_as_its_rows_stand(self):
        table, picture = self.told["saved"]
        self.assertTrue(table["name"].startswith(f"{self.told.get('stream', 'sim')}-episodes-"), table["name"])
        self.assertRegex(table["name"], r"s\.csv$")
        kind, text = table["href"].split("|", 1)
        head, *rows = csv.reader(io.StringIO(text))
        self.assertEqual((kind, head), ("text/csv", ["episode, delays in ms", "count", "by chance", "ratio", "q"]))
        self.assertEqual(rows, [[cell.replace("\u202f", "").replace("–", "") for cell in row] for row in self.told["episodes"]])
        self.assertRegex(picture["name"], r"s\.png$")
        self.assertEqual(picture["href"], "image/png|800x426")  # what is drawn, below a line of words

    def test_its_parts_say_what_they_are_given(self):
        gave = iter(self.told["gave"][2:])
        for part, steps in BY_HAND.items():
            for code, expected in steps:
                with self.subTest(part=part, code=code):
                    self.assertEqual(next(gave), expected)


class Nothing(OfARun):
    """What is not there is told as what it is."""

    def test_no_episodes_are_looked_for(self):
        told, lines = self.seen(*having("mine.every=0"))
        self.assertGreater(paged.newest(lines, "status")["edges"], 0)
        self.assertEqual(told["episodes"], [])
        self.assertRegex(told["episodes-what"], r"^no episodes are looked for \(mine.every is 0\)")

    def test_they_were_not_looked_for_yet_and_no_graph_is_drawn(self):
        told, _ = self.seen(*having("mine.every=1000", "graph.enabled=false"))
        self.assertRegex(told["episodes-what"], "^episodes were not looked for yet")
        self.assertEqual(told["graph-what"], "no graph is drawn (graph.enabled is false)")

    def test_none_is_within_the_limits(self):
        told, lines = self.seen("--max-q", "1e-12")
        self.assertGreater(paged.newest(lines, "episodes")["left_out"]["count"], 0)
        self.assertRegex(told["episodes-what"], "^nothing that is frequent has such a p or q so far")


class Stimulated(OfARun):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--preset", "sym26", "--duration", 20, "--seed", 2, "--marker-every", 0.7, "--evoked", 0.8,
                    "--burst-rate", 0.5, "--burst-sigma", 15, "--quiet")
        cls.told, cls.lines = cls.seen(*STIMULI, codes=SUBJECTS)
        cls.trials = [line for line in cls.lines if line["topic"] == "response"]
        cls.last = cls.trials[-1]

    def assert_near(self, text, value, digits=3):
        """What stands there has so many digits of the value."""
        shown = number(text)
        if shown is None or value is None:
            self.assertIs(shown, value)
        else:
            self.assertAlmostEqual(shown, value, delta=abs(value) * 0.5001 * 10 ** (1 - digits))

    def assert_row(self, row, item):
        """Of a unit or chain that responds."""
        evoked = (item["spikes"] - item["baseline_spikes"] / self.last["baseline_windows"]) / self.last["trials"]
        values = [evoked, item["reliability"], item["baseline_reliability"], item["latency_ms"], item["jitter_ms"]]
        for text, value, digits in zip(row[1:], values, (3, 2, 2, 3, 3)):
            self.assert_near(text, value, digits)

    def test_responses_are_those_of_the_lines(self):
        last, what, rows = self.last, self.told["responses-what"], self.told["responses"]
        self.assertEqual(last["trials"], len(self.trials))
        self.assertGreater(len(self.trials), 20)
        self.assertTrue(what.startswith(f"{last['trials']} trials of {last['markers']} markers, the last at "), what)
        self.assertIn(f": {last['spikes']} spike", what)
        self.assertIn(f" of {last['answers']} unit", what)
        units = {item["name"]: item for item in last["units"]}
        self.assertEqual((len(rows), len(units), {row[0] for row in rows}), (26, 26, set(units)))
        evoked = [abs(number(row[1])) for row in rows]
        self.assertEqual(evoked, sorted(evoked, reverse=True))
        self.assertGreater(evoked[0], 0.3)
        for row in rows:
            self.assert_row(row, units[row[0]])
        [chain], [row] = last["chains"], self.told["response-chains"]
        self.assertEqual((chain["name"], row[0]), ("A -(4,6]-> B -(4,6]-> C", "A –(4,6]→ B –(4,6]→ C"))
        self.assertGreater(chain["spikes"], 10)
        self.assert_row(row, chain)

    def test_the_histogram_is_of_all_or_of_what_was_chosen(self):
        units = self.last["units"]
        everyone, chosen, chain, _, rows = self.told["gave"]
        self.assertEqual(everyone, [sum(bins) for bins in zip(*(item["bins"] for item in units))])
        self.assertGreater(sum(everyone), 1000)
        self.assertEqual((chosen["name"], chosen["bins"]), (units[1]["name"], units[1]["bins"]))
        self.assertEqual(chain, self.last["chains"][0]["bins"])
        self.assertNotEqual(chain, units[0]["bins"])
        self.assertEqual(rows, [[1, [0, 3]], [2, [5, 1]]])

    def test_bursts_are_those_of_the_lines(self):
        bursts = {line["burst"]: line for line in self.lines if line["topic"] == "burst"}
        self.assertGreater(len(bursts), 4)
        self.assertTrue(self.told["population-what"].startswith(f"{len(bursts)} network bursts so far (25 spikes within 20 ms); "))
        self.assertEqual([row[0] for row in self.told["bursts"]], [str(burst) for burst in sorted(bursts, reverse=True)])
        for row in self.told["bursts"]:
            line = bursts[int(row[0])]
            self.assertEqual((row[3:], line["event"]), ([str(line["spikes"]), str(line["units"])], "end"))
            self.assert_near(row[2], (line["last_ns"] - line["first_ns"]) * 1e-6)

    def test_criticality_is_that_of_the_lines(self):
        ratios = [line for line in self.lines if line["topic"] == "criticality"]
        last, told = ratios[-1], self.told
        self.assertIn(len(ratios), (4, 5))
        self.assertIsNotNone(last["branching_low"])
        said = r"branching ratio (\S+) \((\S+) to (\S+)\) at (\S+) s, each 4 s of the last 20 s, in bins of 4 ms"
        self.assertRegex(told["criticality-what"], f"^{said}$")
        numbers = re.match(said, told["criticality-what"]).groups()
        for text, key in zip(numbers, ("branching_ratio", "branching_low", "branching_high", "to_s")):
            self.assertAlmostEqual(float(text), last[key], delta=1e-3)
        self.assertEqual(told["criticality-doubt"], "\n".join(f"{c['caution']}: {c['text']}" for c in last["cautions"]))
        self.assertEqual(len(told["criticality"]), len(ratios))
        for row, line in zip(told["criticality"], reversed(ratios)):
            for text, key, digits in (row[3], "branching_ratio", 4), (row[4], "branching_low", 4), (row[6], "timescale_s", 3):
                self.assert_near(text, line[key], digits)
            self.assertEqual(row[7], ", ".join(c["caution"] for c in line["cautions"]))

    def test_views_are_there_where_they_have_something(self):
        self.assertEqual(self.told["gave"][3], [False, False])
        told, _ = self.seen(*having("graph.enabled=false"), codes=(
            "['responses', 'population', 'criticality'].map(name => by(`tab-${name}`).hidden)", "isThere('population')"))
        self.assertEqual((told["gave"], told["responses"], told["bursts"]), ([[True, True, True], False], [], []))


if __name__ == "__main__":
    command.main()
