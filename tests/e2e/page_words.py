# SPDX-License-Identifier: Apache-2.0
"""What stands on the page of a run (page_dom.js), held against the lines of the same run; the recording is sim.h5."""
import csv
import io
import json
import os
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
# goes with those that are not tested.
BY_HAND = ("by('tour').hidden", "by('tour-close').click(), [by('tour').hidden, hasToured()]", "by('tour-again').click(), by('tour').hidden",
           "takers.trigger(page.run.triggers[0]), sound",
           "by('triggers-beep').checked = true, askForBeeps(), takers.trigger(page.run.triggers[0]), takers.trigger(page.run.triggers[0]), sound.beeps",
           "sound.currentTime += 1, takers.trigger(page.run.triggers[0]), sound.beeps",
           "page.run.edges = [{q: 1, least_q: 1, weight: 1}, {q: 0.01, least_q: 0.001, weight: 1}, {q: NaN, least_q: NaN, weight: 1}], "
           "by('graph-q').value = 3, by('graph-untested').checked = true, shownEdges().length",
           "by('graph-untested').checked = false, shownEdges().map(edge => edge.q)")
WANTED_BY_HAND = [False, [True, True], False, None, 1, 2, 3, [0.01]]


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


if __name__ == "__main__":
    globals()[sys.argv[1]]()
