# SPDX-License-Identifier: Apache-2.0
"""What stands on the page of a run (page_dom.js), held against the lines of the same run; the recording is sim.h5."""
import csv
import io
import json
import os
import re
import struct
import subprocess
import sys

import web_client
import web_protocol


def seen(words, *codes):
    """What the page shows at the end of a run with these options, and the run's lines."""
    run, port, _ = web_protocol.start(1, *words)
    page = web_client.Page(port)
    with open("frames", "wb") as file:
        try:
            while True:
                frame = page.message()
                file.write(struct.pack("<I", len(frame)) + frame)
        except (EOFError, ConnectionError):
            pass
    web_protocol.finish(run)
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run(["node", os.path.join(here, "page_dom.js"), os.path.join(here, "..", "..", "sinks", "page"), "frames", *codes],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), web_protocol.published()


def newest(lines, topic):
    return [line for line in lines if line["topic"] == topic][-1]


def q_text(item):
    if item["q"] is None:
        return "not tested"
    return "too early" if item["least_q"] > 0.05 else None


def check_saved(told):
    """The table is the rows as they stand, in CSV; the picture has what is drawn below a line of words."""
    name = "sim-" if "stream" not in told else told["stream"] + "-"
    table, picture = told["saved"]
    assert table["name"].startswith(f"{name}episodes-") and table["name"].endswith("s.csv"), table["name"]
    kind, text = table["href"].split("|", 1)
    rows = list(csv.reader(io.StringIO(text)))
    assert kind == "text/csv" and rows[0] == ["episode, delays in ms", "count", "by chance", "ratio", "q"], rows[0]
    plain = [[cell.replace("\u202f", "").replace("–", "") for cell in row] for row in told["episodes"]]
    assert rows[1:] == plain
    assert picture["name"].endswith("s.png") and picture["href"] == "image/png|800x426", picture


# The tour is there until it is ended, and not again; a beep is heard where the box asks for it, one at a time. An edge that is too early
# goes with those that are not tested. A run that is over has no first test to come, and is drawn as such. Windows may be behind the raster.
BY_HAND = ("by('tour').hidden", "by('tour-close').click(), [by('tour').hidden, hasToured()]", "by('tour-again').click(), by('tour').hidden",
           "takers.trigger(page.run.triggers[0]), sound",
           "by('triggers-beep').checked = true, askForBeeps(), takers.trigger(page.run.triggers[0]), takers.trigger(page.run.triggers[0]), sound.beeps",
           "sound.currentTime += 1, takers.trigger(page.run.triggers[0]), sound.beeps",
           "page.run.edges = [{q: 1, least_q: 1, weight: 1}, {q: 0.01, least_q: 0.001, weight: 1}, {q: NaN, least_q: NaN, weight: 1}], "
           "by('graph-q').value = 3, by('graph-untested').checked = true, shownEdges().length",
           "by('graph-untested').checked = false, shownEdges().map(edge => edge.q)",
           "testText({not_tested: 'waits for its first test'})", "testText({not_tested: 'not tested by the end'})", "testText({not_tested: 'observation gap'})",
           "page.run.status = {...page.run.status, last: false}, testText({not_tested: 'waits for its first test'})",
           "changed.episodes = false, takers.status({...page.run.status, last: true}), changed.episodes",
           "page.run.hello.column_s = 0.1, raster.next = 400, clockText({time_ns: 12.5e9, hop_ms: 1000, rate_hz: 7})",
           "raster.next = 130, clockText({time_ns: 12.5e9, hop_ms: 1000, rate_hz: 7})",
           "page.run.status = {...page.run.status, last: false, tests: 5}, foundText({episodes: [], counted: 9, chains: 0, list_age_s: 0})"
           ".split(', ').pop()", "stateText('stopped')[0]", "[lastedText([]), lastedText([1e9, 1.0055e9])]")
WANTED_BY_HAND = [False, [True, True], False, None, 1, 2, 3, [0.01], "not tested by the end", "not tested by the end", "not tested: observation gap",
                  "not tested: waits for its first test", True, "stream 40.0 s, analysed up to 12.5 s, 7 Hz", "stream 12.5 s, 7 Hz",
                  "no q of 0.05 or less so far", "■ stopped", ["–", "5.50"]]


def whole_chains_come_in_their_order():
    told, lines = seen(["--set", "significance.length_s=2"], "by('save-table-episodes').click()", "by('save-picture-array').click()",
                       *BY_HAND)
    check_saved(told)
    window = newest(lines, "episodes")
    first = sorted(window["episodes"], key=lambda item: item["standing"])[:web_protocol.TOP]
    shown = [item for item in first if item["folded_under"] is None]
    rows = told["episodes"]
    assert len(rows) == len(shown) and 0 < len(shown) < len(window["episodes"]), (len(rows), len(shown))
    for row, item in zip(rows, shown):
        assert row[0].startswith(" → ".join(item["names"]) + " (") and row[1] == str(item["count"]), (row, item)
        assert q_text(item) in (None, row[4]), (row, item)
    assert {q_text(item) for item in shown} & {"too early"}, "none is too early: the test shows nothing"
    text = told["episodes-what"]
    chains, parts = window["chains"], window["significant_parts"]
    assert text.startswith(f"{chains} chain" if chains else f"{window['counted']} counted"), text
    assert ("significant part" in text) == (parts > 0), text
    early = sum(item["q"] is not None and item["least_q"] > 0.05 for item in first)
    assert f", {early} too early to say" in text, text
    assert told["gave"][2:] == WANTED_BY_HAND, told["gave"]
    triggers = [float(row[0]) for row in told["triggers"]]
    assert len(triggers) > 5 and triggers == sorted(triggers, reverse=True)


def nothing_is_told_as_what_it_is():
    told, lines = seen(["--set", "mine.every=0"])
    assert newest(lines, "status")["edges"] > 0 and told["episodes"] == []
    assert told["episodes-what"].startswith("no episodes are looked for (mine.every is 0)"), told["episodes-what"]
    told, lines = seen(["--set", "mine.every=1000", "--set", "graph.enabled=false"])
    assert told["episodes-what"].startswith("episodes were not looked for yet"), told["episodes-what"]
    assert told["graph-what"] == "no graph is drawn (graph.enabled is false)", told["graph-what"]
    told, lines = seen(["--max-q", "1e-12"])
    assert newest(lines, "episodes")["left_out"]["count"] > 0
    assert told["episodes-what"].startswith("nothing that is frequent has such a p or q so far"), told["episodes-what"]


def number(text):
    return float(text.replace("\u202f", "").replace("\u2212", "-")) if text != "–" else None


def near(text, value, digits=3):
    """What stands there has so many digits of the value."""
    shown = number(text)
    return shown is value if value is None or shown is None else abs(shown - value) <= abs(value) * 0.5001 * 10 ** (1 - digits)


def check_response_row(row, told, item):
    evoked = (item["spikes"] - item["baseline_spikes"] / told["baseline_windows"]) / told["trials"]
    wanted = [evoked, item["reliability"], item["baseline_reliability"], item["latency_ms"], item["jitter_ms"]]
    assert all(near(*told) for told in zip(row[1:], wanted, [3, 2, 2, 3, 3])), (row, wanted)


STIMULI = ("--set", "responses.marker=ttl0", "--set", "responses.to_ms=50", "--set", "bursts.within_ms=20", "--set", "bursts.spikes=25",
           "--set", "graph.enabled=false", "--set", "criticality.every_s=4", "--set", "criticality.length_s=20", "--set", "criticality.lags=50")


def check_responses(told, lines):
    trials = [line for line in lines if line["topic"] == "response"]
    last = trials[-1]
    assert last["trials"] == len(trials) > 20
    assert told["responses-what"].startswith(f"{last['trials']} trials of {last['markers']} markers, the last at "), told["responses-what"]
    assert f": {last['spikes']} spike" in told["responses-what"] and f" of {last['answers']} unit" in told["responses-what"]
    units = {item["name"]: item for item in last["units"]}
    evoked = [abs(number(row[1])) for row in told["responses"]]
    assert len(told["responses"]) == len(units) == 26 and evoked == sorted(evoked, reverse=True) and evoked[0] > 0.3, evoked
    for row in told["responses"]:
        check_response_row(row, last, units[row[0]])
    [chain], [row] = last["chains"], told["response-chains"]
    assert chain["name"] == "A -(4,6]-> B -(4,6]-> C" and chain["spikes"] > 10 and row[0] == "A –(4,6]→ B –(4,6]→ C", row
    check_response_row(row, last, chain)


def check_bursts(told, lines):
    bursts = {line["burst"]: line for line in lines if line["topic"] == "burst"}
    assert len(bursts) > 4 and told["population-what"].startswith(f"{len(bursts)} network bursts so far (25 spikes within 20 ms); "), \
        told["population-what"]
    assert [row[0] for row in told["bursts"]] == [str(number) for number in sorted(bursts, reverse=True)]
    for row in told["bursts"]:
        line = bursts[int(row[0])]
        assert row[3:] == [str(line["spikes"]), str(line["units"])] and line["event"] == "end", (row, line)
        assert near(row[2], (line["last_ns"] - line["first_ns"]) * 1e-6), (row, line)


def check_criticality(told, lines):
    ratios = [line for line in lines if line["topic"] == "criticality"]
    last = ratios[-1]
    assert len(ratios) in (4, 5) and last["branching_low"] is not None
    found = re.fullmatch(r"branching ratio (\S+) \((\S+) to (\S+)\) at (\S+) s, each 4 s of the last 20 s, in bins of 4 ms", told["criticality-what"])
    assert found, told["criticality-what"]
    wanted = (last["branching_ratio"], last["branching_low"], last["branching_high"], last["to_s"])
    assert all(abs(float(text) - value) < 1e-3 for text, value in zip(found.groups(), wanted)), (found.groups(), wanted)
    assert told["criticality-doubt"] == "\n".join(f"{c['caution']}: {c['text']}" for c in last["cautions"]), told["criticality-doubt"]
    assert len(told["criticality"]) == len(ratios)
    for row, line in zip(told["criticality"], reversed(ratios)):
        assert near(row[3], line["branching_ratio"], 4) and near(row[4], line["branching_low"], 4) and near(row[6], line["timescale_s"]), (row, line)
        assert row[7] == ", ".join(c["caution"] for c in line["cautions"]), (row, line)


# What the histogram is of: all units, the unit that is chosen, the chain that is marked. Rows of trials are what came since the message
# before, of several trials where messages were left out.
SUBJECTS = ("subjectOf(page.run.response).bins", "choose(1), subjectOf(page.run.response)", "page.chosen = null, mark(page.run.response.chains[0].id), "
            "subjectOf(page.run.response).bins", "[by('tab-responses').hidden, by('tab-population').hidden]",
            "page.run.response = null, page.run.trials = [], [[1, [2, 0]], [2, [2, 3]], [4, [7, 4]]].forEach(([trials, bins]) => "
            "takeTrials({trials, units: [{bins}], chains: [], bins_exposed_ns: [1, 1]})), page.run.trials.map(trial => [trial.trials, trial.units[0]])")


def responses_and_bursts_are_those_of_the_lines():
    told, lines = seen(STIMULI, *SUBJECTS)
    check_responses(told, lines)
    check_bursts(told, lines)
    check_criticality(told, lines)
    trials = [line for line in lines if line["topic"] == "response"]
    units = trials[-1]["units"]
    everyone, chosen, chain, hidden, rows = told["gave"]
    assert everyone == [sum(bins) for bins in zip(*(item["bins"] for item in units))] and sum(everyone) > 1000
    assert chosen["name"] == units[1]["name"] and chosen["bins"] == units[1]["bins"]
    assert chain == trials[-1]["chains"][0]["bins"] != units[0]["bins"]
    assert rows == [[1, [0, 3]], [2, [5, 1]]], rows
    assert hidden == [False, False]
    told, _ = seen(["--set", "graph.enabled=false"], "[by('tab-responses').hidden, by('tab-population').hidden, by('tab-criticality').hidden, isThere('population')]")
    assert told["gave"] == [[True, True, True, False]] and told["responses"] == told["bursts"] == []


if __name__ == "__main__":
    globals()[sys.argv[1]]()
