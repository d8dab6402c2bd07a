# SPDX-License-Identifier: Apache-2.0
# The page of a recording: whole, by itself, with the numbers that the commands tell, and what is refused.
. "$E2E/functions.sh"

cp "$E2E/figures.py" .
$SYNFIRE simulate sim.h5 --unit-count 12 --rate 8 --duration 60 --chain "A -(4,6]-> B -(4,6]-> C" --chain-rate 2 \
    --marker-every 5 --seed 3 --quiet >out
printf '%s\n' A,0.001 B,0.006 A,0.101 B,0.105 A,0.301 >"few <b>'s.csv"

$SYNFIRE report sim.h5 -o sim.html --delay 4:6 --align ttl0,-50ms,200ms --quiet --json >out
check 'assert (out["recording"], out["file"]) == ("sim.h5", "sim.html")'
mv out told.json
$SYNFIRE report "few <b>'s.csv" -o few.html --quiet >out
grep -q '^wrote few.html$' out
$SYNFIRE info sim.h5 >info.txt
$SYNFIRE info sim.h5 --json >info.json
$SYNFIRE mine sim.h5 --delay 4:6 --significance segment-shift --surrogates 200 --quiet --json >mine.json
$SYNFIRE graph sim.h5 --delay 4:6 --significance segment-shift --surrogates 200 --quiet --json >graph.json
python3 -B - <<'PY'
import html, html.parser, json, re
import figures

class Page(html.parser.HTMLParser):
    """Every element is closed, nothing is fetched, and there is no script."""
    VOID = {"meta"}
    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.text, self.texts = [], [], "", []
        self.feed(text)
        assert not self.open, self.open
    def handle_starttag(self, tag, attrs):
        assert tag != "script" and tag != "link"
        for key, value in attrs:
            assert key not in ("href", "src") or value.startswith("data:"), value
            if key == "id":
                self.ids.append(value)
        if tag not in self.VOID:
            self.open.append(tag)
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
    def handle_data(self, data):
        self.text += data

KINDS = ["raster", "array", "map", "rates", "intervals", "chains", "chain", "correlograms", "markers", "responses", "graph", "network", "edges",
         "matrix", "tiling", "motifs", "avalanches", "sequences", "drive"]
text = open("sim.html").read()
page = Page(text)
assert page.ids == KINDS or sorted(page.ids) == sorted(KINDS), page.ids
for line in open("info.txt"):
    assert line.strip() in page.text, line
pictures = {}
for kind, svg in re.findall(r'<figure id="(\w+)"[^>]*>\n(<svg .*?\n</svg>)\n<figcaption>', text, re.S):
    open(kind + ".svg", "w").write(svg)
    pictures[kind] = figures.panels(kind + ".svg")
DRAWN = set(KINDS) - {"sequences"}  # it has no network bursts
assert set(pictures) == DRAWN, DRAWN ^ set(pictures)
told = {one["kind"]: one for one in json.load(open("told.json"))["figures"]}
assert set(told) == set(KINDS)
caption = told["responses"]["caption"]  # 12 pulses of line 0, each with a text of its own
assert caption.startswith("11 trials of 'ttl0': "), caption
assert "No marker comes more often. Markers of other names (--marker): 'stimulus 1' (1), 'stimulus 2' (1), " in caption, caption
assert caption.endswith("'stimulus 8' (1), ... "), caption
for kind, one in told.items():
    if kind not in DRAWN:
        assert one["why_not"].startswith("fewer than two network bursts") and one["why_not"] in page.text, one
        continue
    assert one["why_not"] is None and one["caption"].strip() in page.text, kind
    figures.hold_numbers(one["panels"], kind + ".svg")
mine, graph = json.load(open("mine.json")), json.load(open("graph.json"))
spell = lambda e: f"{e['count']}, expected by rates {e['expected']:.4g}, q {e['q']:.3g}"
best = {" > ".join(e["names"]) + ": count " + spell(e) for e in mine["episodes"]
        if e["q"] is not None and e["q"] <= 0.05 and e["folded_under"] is None}
assert best and set(pictures["chains"][0].notes()) == best
assert {n for n in pictures["graph"][0].notes() if " to " in n} == {
    f"{e['from_name']} to {e['to_name']}: count {spell(e)}" for e in graph["edge_detail"] if e["q"] <= 0.05}
assert mine["methods"].split(".")[0] in page.text or "200 surrogates" in page.text
assert "synfire report sim.h5 -o sim.html --delay 4:6 --align ttl0,-50ms,200ms --quiet --json" in page.text
# Five lines come first, before any figure: what was recorded, what is doubtful, what was found with its q, what could not be
# tested, and the command; what info tells, methods and JSON come behind, JSON folded.
def brief(text):
    table = re.search(r'<h1>.*?</h1>\n<table class="brief">\n(.*?)</table>\n<h2>Figures</h2>', text, re.S)[1]
    rows = dict(re.findall(r"<tr><th>(.*?)</th><td>(.*?)</td></tr>", table))
    assert list(rows) == ["Recorded", "Doubtful", "Found", "Not testable", "Made by"], rows
    return {head: html.unescape(words) for head, words in rows.items()}
lines = brief(text)
info = json.load(open("info.json"))
assert lines["Recorded"].startswith(f"{info['spikes']} spikes of 12 units at 12 places, 60 s recorded; {info['network_bursts']} network")
for line in open("info.txt"):
    assert not line.startswith("  ! ") or line[4:].strip() in lines["Doubtful"], line
standing = [e for e in mine["episodes"] if e["q"] is not None and e["q"] <= 0.05]
best, = (e for e in standing if e["folded_under"] is None)
untested = [e for e in mine["episodes"] if e["not_tested"] is not None]
assert lines["Found"].startswith(f"1 chain, {len(standing) - 1} significant parts with a q of 0.05 or less, of {len(mine['episodes'])} that are")
assert f"A > B > C (counted {best['count']} times, expected by rates {best['expected']:.3g}, q {best['q']:.2g})" in lines["Found"]
edges = sum(e["q"] is not None and e["q"] <= 0.05 for e in graph["edge_detail"])
assert f"{edges} of {graph['edges']} frequent pairs {'is an edge' if edges == 1 else 'are edges'}" in lines["Found"]
assert lines["Not testable"].startswith(f"{len(untested)} of {len(mine['episodes'])} that are frequent: ") == (len(untested) > 0), lines
assert lines["Made by"].startswith("synfire report sim.h5 -o sim.html ")
folded = re.search(r"<details><summary>.*?</summary>\n<pre>(.*?)</pre>\n</details>", text, re.S)[1]
assert json.loads(html.unescape(folded))["program"].startswith("synfire ") and text.count(folded) == 1
assert text.index("misleads in it") > text.rindex("</figure>") and text.index("<h2>Methods") < text.index("<details>")
# Figures about as high as wide stand two in a row, so that no page is half empty.
halves = {kind for kind in KINDS if f'<figure id="{kind}" class="half">' in text}
assert halves == {"array", "map", "matrix", "tiling", "edges", "motifs"}
assert all(f'width="{85 if kind in halves else 180}mm"' in open(kind + ".svg").read() for kind in DRAWN)
assert brief(open("few.html").read())["Not testable"] == "nothing is frequent, so nothing was tested"
small = Page(open("few.html").read())
assert "few <b>'s.csv" in small.text and "its units have no positions on an array" in small.text
assert "'few <b>'\\''s.csv'" in small.text
assert "markers" not in small.ids
assert small.text.count("often enough to be a chain") == 1 and "chain: for the same reason as chains." in small.text
assert "network: for the same reason as graph." in small.text and "matrix: for the same reason as graph." in small.text
PY
# The chain with other widths and delays: what count says of each.
$SYNFIRE report sim.h5 -o wide.html --delay 4.5:8 --quiet --json >wide.json
for delays in 4.5,8 5.375,7.125 2.75,9.75 2.75,6.25 6.25,9.75; do
    $SYNFIRE count sim.h5 --episodes "A -($delays]-> B -($delays]-> C" --significance segment-shift --surrogates 200 --json >"count-$delays.json"
done
python3 -B - <<'PY'
import json
rows = json.load(open("wide.json"))["sensitivity"]
assert [row["change"] for row in rows] == ["nothing changed", "half the width of the test", "twice the width of the test", "half the delay interval",
                                           "twice the delay interval", "delays half an interval earlier", "delays half an interval later"]
width = rows[0]["width_ms"]
assert [row["width_ms"] for row in rows] == [width, width / 2, 2 * width, width, width, width, width]
assert {row["chains"] for row in rows} == {1}
for at, delays in ((0, "4.5,8"), (3, "5.375,7.125"), (4, "2.75,9.75"), (5, "2.75,6.25"), (6, "6.25,9.75")):
    counted, = json.load(open(f"count-{delays}.json"))["episodes"]
    assert rows[at]["significant"] == (counted["q"] <= 0.05), (delays, counted)
assert [row["significant"] for row in rows[3:]] == [0, 1, 1, 0] and rows[0]["significant"] == 1, rows
page = open("wide.html").read()
assert f"<p>Of 1 significant chain that is no part of another, counted and tested by itself with the same surrogates, 1 has a q of 0.05 or less; with half the width of the test: {rows[1]['significant']}, " in page
assert "Sensitivity" not in open("few.html").read()
PY
expect 64 "x.pdf: expected a page to write that ends in .html" $SYNFIRE report sim.h5 -o x.pdf
expect 64 "--out: expected a page" $SYNFIRE report sim.h5
expect 66 "nowhere.h5" $SYNFIRE report nowhere.h5 -o x.html --json
$SYNFIRE report sim.h5 -o named.html --delay 4:6 --marker "stimulus 3" --response 0:50 --quiet --json >out
check 'caption = [one["caption"] for one in out["figures"] if one["kind"] == "responses"][0]
assert caption.startswith("1 trial of \"stimulus 3\": ".replace(chr(34), chr(39))), caption
assert "(--marker): " + chr(39) + "ttl0" + chr(39) + " (11), " in caption and "comes more often" not in caption, caption'
$SYNFIRE report sim.h5 -o other.html --delay 4:6 --align light,-5,5 2>err >out
grep -q "report: --align: no marker is called 'light'; found 'ttl0'" err
grep -q "no marker is called" other.html
expect 64 "expected MARKER,A,B" $SYNFIRE report sim.h5 -o x.html --align light --quiet
expect 73 "cannot create" $SYNFIRE report "few <b>'s.csv" -o nowhere/x.html --quiet
[ ! -e x.html ]
