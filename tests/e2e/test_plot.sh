# SPDX-License-Identifier: Apache-2.0
# Figures: their formats, what is refused, and that their numbers are those of the commands.
. "$E2E/functions.sh"

$SYNFIRE simulate sim.h5 --preset sym26 --seed 5 --duration 30 --quiet >out
cp "$E2E/figures.py" .

# The raster has a mark for every spike.
$SYNFIRE plot raster sim.h5 -o raster.svg --json >out
check 'assert (out["kind"], out["file"], out["width_mm"]) == ("raster", "raster.svg", 180) and out["height_mm"] > 20'
$SYNFIRE info sim.h5 --json >out
python3 -B - <<'PY'
import json, figures
info = json.load(open("out"))
panel, = figures.panels("raster.svg")
marks = panel.path("spikes")
assert len(marks) == info["spikes"], (len(marks), info["spikes"])
units = [round(sum(y for _, y in mark) / len(mark)) for mark in marks]
assert [units.count(u["unit"]) for u in info["unit_detail"]] == [u["spikes"] for u in info["unit_detail"]]
assert abs(min(mark[0][0] for mark in marks) - info["start_s"]) < 0.01
PY

# More marks than a file of lines holds are an image, in which no spike is lost and the rows of units lie apart.
python3 - <<'PY' >dense.csv
for k in range(3000):
    print(f"a,{0.005 + k / 100}")
PY
printf '0,10.01\n20,30\n' >pause.csv
$SYNFIRE plot raster dense.csv -o dense.svg --recorded 0:30 --epochs pause.csv --quiet --json >out
check 'assert {m["shape"] for m in out["panels"][0]["marks"]} == {"ticks"}, "few marks are lines"'
python3 - <<'PY' >many.csv
for k in range(20001):
    print(f"a,{0.0003 + k / 1000}\nb,{0.0006 + k / 1000}")
PY
$SYNFIRE plot raster many.csv -o many.svg --quiet --json >out
check 'image, = out["panels"][0]["marks"]
counts = image["values"]; width = image["columns"]
rows = [counts[i:i + width] for i in range(0, len(counts), width)]
assert sum(c or 0 for c in counts) == 40002 and out["panels"][0]["y"]["names"] == ["a", "b"]
each = len(rows) // 2
assert all(c is None for row in rows[each - 1::each] for c in row) and sum(c is not None for c in rows[0]) > 2300
assert out["panels"][0]["colours"] is None'

# Every kind: what is drawn is what the command tells. Tested by as many surrogates as figures have.
$SYNFIRE simulate waves.h5 --unit-count 12 --rate 8 --duration 60 --chain "A -(4,6]-> B -(4,6]-> C" --chain-rate 2 \
    --marker-every 5 --seed 3 --quiet >out
test="--significance segment-shift --surrogates 200 --quiet --json"
for kind in chains chain correlograms graph network edges matrix tiling motifs; do
    $SYNFIRE plot $kind waves.h5 -o $kind.svg --delay 4:6 --quiet --json >$kind.told
done
for kind in array rates intervals map; do $SYNFIRE plot $kind waves.h5 -o $kind.svg --quiet --json >$kind.told; done
$SYNFIRE plot drive waves.h5 -o drive.svg --delay 1:10 --quiet --json >drive.told
grep -q 'ordered pairs stand out from most others with a confidence of 0.95 or more' drive.told
$SYNFIRE graph waves.h5 --metric regression --delay 1:10 --max-false 1 --quiet --json >drive.graph
$SYNFIRE plot markers waves.h5 -o markers.svg --align ttl0,-50ms,200ms --delay 4:6 --quiet --json >markers.told
$SYNFIRE plot raster waves.h5 -o raster.svg --quiet --json >raster.told
python3 -B - <<'PY'
import glob, json, figures
told = {path[:-5]: json.load(open(path)) for path in glob.glob("*.told")}
assert len(told) == 16
for kind in ("correlograms", "edges", "graph", "chains"):
    assert " 200 surrogates" in told[kind]["caption"], told[kind]["caption"]
for kind in ("correlograms", "edges", "matrix", "graph", "chains", "chain"):
    assert "expected by rates" in told[kind]["caption"], told[kind]["caption"]
for kind, one in told.items():
    assert len(one["caption"].split()) > 10, one["caption"]
    figures.hold_numbers(one["panels"], kind + ".svg")
PY
# Thousands of pairs are dots that a browser opens: those that lie on others are left out, and counted.
$SYNFIRE simulate dense.h5 --unit-count 100 --rate 10 --duration 60 --seed 3 --quiet >/dev/null
$SYNFIRE plot edges dense.h5 -o dense.svg --delay 0.5:5 --min-count 5 --surrogates 20 --quiet --json >dense.told
python3 - <<'PY'
import json, re, figures
told = json.load(open("dense.told"))
hidden, = map(int, re.findall(r"(\d+) dots that lie on others are left out", told["caption"]))
all_pairs, = map(int, re.findall(r"0 of (\d+) stand", told["caption"]))
panel, = figures.panels("dense.svg")
assert all_pairs == 9900 and len(panel.notes()) == all_pairs - hidden < 3000, (all_pairs, hidden, len(panel.notes()))
PY
# Axes of time have the recording's clock, whatever part is drawn and wherever it begins; where numbers would not tell times apart they
# count from its beginning.
$SYNFIRE mine waves.h5 --delay 4:6 --from 20 --to 50 $test --max-q 0.05 >part.mine
for kind in raster rates chains; do
    words=()
    [ $kind = chains ] && words=(--delay 4:6)
    $SYNFIRE plot $kind waves.h5 -o part.svg --from 20 --to 50 "${words[@]}" --quiet --json >out
    check 'times = [p["x"] for p in out["panels"] if p["x"]["label"] == "time, s"]
assert [(x["from"], x["to"]) for x in times] == [(20, 50)], times
marks = [m for p in out["panels"] if p["x"]["label"] == "time, s" for m in p["marks"] if m["of"] in ("spikes", "rate", "occurrence")]
assert marks and all(20 <= x <= 50 for m in marks for x in m["x"] if x is not None), marks'
done
python3 - <<'PY' >late.csv
for k in range(300):
    print(f"a,{400000 + k / 10}")
PY
$SYNFIRE plot raster late.csv -o late.svg --quiet --json >out
check 'x = out["panels"][0]["x"]
assert (x["label"], x["from"], round(x["to"], 3)) == ("time after 400000 s, s", 0, 29.9), x'
$SYNFIRE info waves.h5 --json >info.json
# shellcheck disable=SC2086
{
    $SYNFIRE mine waves.h5 --delay 4:6 $test >mine.json
    $SYNFIRE graph waves.h5 --delay 4:6 $test >graph.json
    $SYNFIRE graph waves.h5 --delay 4:6 $test --max-q 0.05 --measures >network.json
    $SYNFIRE match waves.h5 census --delay 4:6 --max-q 0.05 --rewired 100 $test >census.json
    $SYNFIRE count waves.h5 --episodes 'A -(4,6]-> B' --correlogram $test >count.json
}
$SYNFIRE plot correlograms waves.h5 -o pair.svg --episodes 'A -(4,6]-> B' --quiet >caption
grep -q "Grey line and band: what is expected by rates.* Dashed: the mean of 200 surrogates" caption
python3 -B - <<'PY'
import json, figures
read = lambda name: json.load(open(name + ".json"))
near = lambda a, b: all(abs(x - y) < 1e-3 * max(abs(y), 1) for x, y in zip(a, b, strict=True))
info, mine, graph, count = map(read, ("info", "mine", "graph", "count"))

notes = dict(n.rsplit(": ", 1) for p in figures.panels("array.svg") for n in p.notes())
assert {n: float(r.split()[0]) for n, r in notes.items()} == {u["name"]: u["rate_hz"] for u in info["unit_detail"]}
rates, = figures.panels("rates.svg")
told, = (m for m in json.load(open("rates.told"))["panels"][0]["marks"] if m["of"] == "rate")
ends = [min(x, 60) for x in told["x"]]
spikes = sum(rate * (b - a) for rate, a, b in zip(told["y"], ends, ends[1:])) * info["units"]
assert abs(spikes - info["spikes"]) < 0.01, (spikes, info["spikes"])
histogram, = figures.panels("intervals.svg", "histogram")
assert abs(sum(histogram.steps("counts")) - sum(u["spikes"] - 1 for u in info["unit_detail"])) < 3
assert len(histogram.elements("path", "refractory")) == (histogram.x.first < 0.002)

spell = lambda e: f"{e['count']}, expected by rates {e['expected']:.4g}, q {e['q']:.3g}"
said = {n.split(": count ")[0]: n.split(": count ")[1] for n in figures.panels("chains.svg", "ratios")[0].notes()}
standing = [e for e in mine["episodes"] if e["q"] is not None and e["q"] <= 0.05]
folded = [e for e in standing if e["folded_under"] is not None]
best = {" > ".join(e["names"]): spell(e) for e in standing if e["folded_under"] is None}
assert best and folded and said == best, (said, best)
assert (mine["chains"], mine["significant_parts"]) == (len(best), len(folded))
assert "1 chain, 2 significant parts, which" in json.load(open("chains.told"))["caption"]
times, = figures.panels("chains.svg", "occurrences")
begins = sum(len(times.points(e.get("d"))) for e in times.elements("path", "occurrence"))
assert begins == sum(e["count"] for e in standing if e["folded_under"] is None)
edges = lambda tell: {f"{e['from_name']} to {e['to_name']}: count {spell(e)}" for e in graph["edge_detail"] if tell(e)}
drawn, = figures.panels("graph.svg")
assert {n for n in drawn.notes() if " to " in n} == edges(lambda e: e["q"] <= 0.05)
assert set(figures.panels("edges.svg")[0].notes()) == edges(lambda e: True)

drive = json.load(open("drive.graph"))
words = {1: "excites", -1: "inhibits"}
told = {f"{e['from_name']} {words[e['sign']]} {e['to_name']}: score {e['score']:.3g}, confidence {e['confidence']:.3g}": e["sign"]
        for e in drive["edge_detail"] if e["confidence"] >= 0.95 and e["not_tested"] is None}
drawn = [mark for mark in json.load(open("drive.told"))["panels"][0]["marks"] if mark["shape"] == "arrow"]
assert {m["note"] for m in drawn} == set(told) and any(note.startswith("A excites B") for note in told), told
cells = next(m for m in json.load(open("drive.told"))["panels"][1]["marks"] if "values" in m)["values"]
assert sum(c is not None for c in cells) == drive["pairs_compared"] == drive["edges"] == 132 and max(c or 0 for c in cells) == 10

correlogram = count["episodes"][0]["correlograms"][0]
panel, = figures.panels("pair.svg")
assert near(panel.steps("counts"), correlogram["counts"])
rates = correlogram["expected_counts"]
assert near(panel.steps("expected"), rates) and near(panel.steps("also"), correlogram["surrogates"]["mean"])
band = panel.steps("band")
assert near(band[:100], [x + 2 * x ** 0.5 for x in rates])
assert all(abs(low - max(x - 2 * x ** 0.5, 0)) < 0.2 for low, x in zip(band[100:], rates[::-1], strict=True))
# The peak is spread around its place in surrogates, and nowhere in the band, which is as wide there as elsewhere.
assert correlogram["surrogates"]["mean"][54] > 1.5 * correlogram["surrogates"]["mean"][5]
assert max(band[:100]) < 1.01 * min(band[:100]) and max(rates) < 1.01 * min(rates)
# What is expected of a chain is spread over its delays, not what was counted.
chain, = (e for e in mine["episodes"] if e["names"] == ["A", "B", "C"])
for panel in figures.panels("chain.svg")[1:]:
    assert abs(sum(panel.steps("expected")) - chain["expected"]) < 0.05 * chain["expected"], panel.steps("expected")
    assert abs(sum(panel.steps("counts")) - chain["count"]) < 1
triads = {t["name"]: t for t in read("census")["triads"]}
notes = figures.panels("motifs.svg")[0].notes()
# Columns of nothing are left out, each of the others has its triad drawn: three vertices, a line and head for each edge.
ways = {"021C": 2, "021D": 2, "021U": 2, "030T": 3, "030C": 3}
import xml.etree.ElementTree as tree
drawn = [g for g in tree.parse("motifs.svg").getroot().iter(figures.NS + "g") if g.get("class") == "triad"]
assert 0 < len(notes) == len(drawn) < 13
assert {n.split(": ")[0] for n in notes} == {t["name"] for t in read("census")["triads"] if t["edges"].count(" ") and (t["count"] or t["mean"])}
for note, picture in zip(notes, drawn):
    name, said = note.split(": ")
    assert len(list(picture.iter(figures.NS + "circle"))) == 3
    assert len(list(picture.iter(figures.NS + "path"))) == 2 * ways[name], (name, len(list(picture.iter(figures.NS + "path"))))
    of = triads[name]
    assert said.startswith(f"{of['count']}, rewired {of['mean']:.4g}, "), (note, of)
units = {u["name"]: u for u in read("network")["network_units"]}
modules, strengths = (panel.notes() for panel in figures.panels("network.svg"))
def told_of(notes): return dict(note.split(": ") for note in notes if ": " in note)
modules, strengths = told_of(modules), told_of(strengths)
assert set(modules) == set(strengths) == set(units)
for name, of in units.items():
    module = "nan" if of["module"] is None else of["module"]
    assert modules[name] == f"module {module}, degree {of['degree']}" + ", a hub" * of["hub"], (modules[name], of)
    assert strengths[name] == f"strength {of['strength']:.4g}", (strengths[name], of)
PY
# What paper shows: names at units, edges that are bent and as wide as strong, scales around what means nothing, a colour for
# each unit of a chain, densities at electrodes alone.
cat >seen.py <<'PY'
import figures, json, math
colours = lambda kind: json.load(open(kind + ".told"))["panels"][0]["colours"]
panel, = figures.panels("graph.svg")
assert {e.text for e in panel.elements("text", "words")} >= {"A", "B", "C"}
paths = panel.elements("path", "edge")
for path in paths:
    (first, *between, last), = panel.points(path.get("d"))
    assert len(between) > 5
    away = max(abs((last[0] - first[0]) * (y - first[1]) - (last[1] - first[1]) * (x - first[0])) for x, y in between)
    assert away > 0.04 * math.dist(first, last) ** 2, (away, first, last)
assert len({p.get("stroke-width") for p in paths}) == len(paths) > 1, [p.get("stroke-width") for p in paths]
matrix, tiling = colours("matrix"), colours("tiling")
assert matrix["log"] and abs(matrix["from"] * matrix["to"] - 1) < 1e-9 and tiling["from"] == -tiling["to"] < 0
assert "within 6 ms" in json.load(open("tiling.told"))["caption"]
chain = figures.panels("long.svg", "occurrences")[0]
key = [e.text for e in chain.elements("text", "key")]
assert key == [f"{name}" for name in "ABCDEFGHI"], key
fills = [e.get("fill") for e in chain.elements("circle", "spike")]
assert len(set(fills)) == 9
lines = [e.get("stroke") for e in chain.elements("path") if e.get("stroke-width") == "0.7"]
assert list(dict.fromkeys(fills)) == lines, (fills[:3], lines)
assert all("in all" in " ".join(e.text for e in p.elements("text", "key")) for p in figures.panels("long.svg")[1:])
places = figures.panels("map.svg")[0]
assert len(places.elements("circle")) == 12 and len(places.elements("image")) == 1, "only the bar of colours is an image"
density = json.load(open("density.json"))
def at(place):
    """The density where a place lies, between the points of its grid."""
    (xs, ys), values, (x, y) = density["grid"], density["density"], place
    across, up = (x - xs[0]) / (xs[1] - xs[0]), (y - ys[0]) / (ys[1] - ys[0])
    c, r = int(across), int(up)
    one = lambda row: (1 - across + c) * row[c] + (across - c) * row[c + 1]
    return (1 - up + r) * one(values[r]) + (up - r) * one(values[r + 1])
for mark in json.load(open("map.told"))["panels"][0]["marks"]:
    assert abs(mark["values"][0] - 1e6 * at((mark["x"][0], mark["y"][0]))) < 1e-6 * mark["values"][0], mark
column = figures.panels("column.svg")
assert len({p.x.start for p in column}) == 2 and all(p.x.end - p.x.start < 40 and p.y.start - p.y.end < 20 for p in column)
marked, = figures.panels("marked.svg")
assert [e.text for e in marked.elements("text", "key")] == ["A > B > C"]
told = [m for m in json.load(open("marked.told"))["panels"][0]["marks"] if m["of"] == "chain"]
assert len(told) == 1 and sum(y is None for y in told[0]["y"]) == json.load(open("mine.json"))["episodes"][-1]["count"]
assert told[0]["y"][:4] == [0, 1, 2, None], told[0]["y"][:4]
PY
$SYNFIRE simulate long.h5 --unit-count 12 --rate 5 --duration 60 --chain-rate 1 --seed 3 --quiet \
    --chain 'A -(4,6]-> B -(4,6]-> C -(4,6]-> D -(4,6]-> E -(4,6]-> F -(4,6]-> G -(4,6]-> H -(4,6]-> I' >out
$SYNFIRE plot chain long.h5 -o long.svg --delay 4:6 --min-count 20 --max-size 9 --quiet >out
$SYNFIRE density waves.h5 --quantity position --json >density.json
$SYNFIRE plot correlograms waves.h5 -o column.svg --delay 4:6 --width column --quiet >out
$SYNFIRE plot raster waves.h5 -o marked.svg --episodes 'A -(4,6]-> B -(4,6]-> C' --quiet --json >marked.told
python3 -B seen.py

# No option is ignored in silence.
expect 64 "--delay: says nothing to the figure raster" $SYNFIRE plot raster waves.h5 -o x.svg --delay 4:6
expect 64 "--surrogates: says nothing to the figure tiling" $SYNFIRE plot tiling waves.h5 -o x.svg --surrogates 30
expect 64 "--max-size: says nothing to the figure graph" $SYNFIRE plot graph waves.h5 -o x.svg --max-size 5
expect 64 "--measure: says nothing to the figure graph" $SYNFIRE plot graph waves.h5 -o x.svg --measure degree
expect 64 "--network-method: says nothing to the figure graph" $SYNFIRE plot graph waves.h5 -o x.svg --network-method isi-n
$SYNFIRE plot rates waves.h5 -o isi_n.svg --network-method isi-n --network-spikes 4 --network-within 4 --json >isi_n.told
$SYNFIRE bursts waves.h5 --network-method isi-n --network-spikes 4 --network-within 4 --json >isi_n.json
python3 -c '
import json
told, bursts = json.load(open("isi_n.told")), json.load(open("isi_n.json"))["network_bursts"]
assert f"{len(bursts)} network bursts" in told["caption"] and "within 4 ms by ISI_N" in told["caption"], told["caption"]
assert len(bursts) > 5, bursts'
expect 64 "--align: says nothing to the figure rates" $SYNFIRE plot rates waves.h5 -o x.svg --align ttl0,-5,5
expect 64 "--min-count: is for what is looked for, and --episodes gives it" \
    $SYNFIRE plot chain waves.h5 -o x.svg --episodes 'A -(4,6]-> B' --min-count 5
for option in delay:4:6 min-count:5 min-rate:1 min-fraction:0.1 repeats: min-distance:10 threads:1 max-size:5 surrogates:30 seed:2 \
    episodes:waves.txt align:ttl0,-5,5; do
    expect 64 "--${option%%:*}: says nothing to the figure array" $SYNFIRE plot array waves.h5 -o x.svg "--${option%%:*}" \
        ${option#*:}
done
$SYNFIRE plot network waves.h5 -o betweenness.svg --delay 4:6 --measure betweenness --quiet >caption
grep -q "right by betweenness" caption
expect 64 "did you mean betweenness" $SYNFIRE plot network waves.h5 -o x.svg --delay 4:6 --measure betweennes --quiet
$SYNFIRE plot markers waves.h5 -o markers.svg --align ttl0,-50ms,200ms --delay 4:6 --quiet >caption
grep -q "^Around 1[0-9] markers" caption

# What is drawn suits what there is: a unit by its name where units are few, the histogram as wide as the page where no unit
# has a density, no line at 2 ms where no interval is so short, words in a panel without anything, a caption that says where.
printf '%s\n' A,0.001 B,0.006 A,0.101 B,0.105 A,0.301 >few.csv
$SYNFIRE plot raster few.csv -o few.svg --quiet --json >out
check 'y = out["panels"][0]["y"]; assert (y["label"], y["names"]) == ("unit", ["A", "B"]), y'
$SYNFIRE plot intervals few.csv -o few.svg --quiet --json >out
check 'panel, = out["panels"]; assert [m["of"] for m in panel["marks"]] == ["counts"], panel["marks"]'
check 'assert "None is under 2 ms" in out["caption"] and "no unit has enough" in out["caption"], out["caption"]'
python3 -B - <<'PY'
import figures
panel, = figures.panels("few.svg")
assert panel.x.end - panel.x.start > 150, panel.x.end - panel.x.start
PY
printf '%s\n' A,0.001 A,0.002 A,0.101 >short.csv
$SYNFIRE plot intervals short.csv -o short.svg --quiet --json >out
check 'assert [m["of"] for m in out["panels"][0]["marks"]] == ["counts", "refractory"] and " 1 is under 2 ms, which few neurons leave" in out["caption"], out'
# An interval of 0 is under 2 ms too, as `info` counts it, and the caption says that it has no place.
printf '%s\n' A,0.001 A,0.001 A,0.101 >twice.csv
$SYNFIRE plot intervals twice.csv -o twice.svg --quiet --json >out
check 'assert "1 is under 2 ms" in out["caption"] and "1 of these is 0" in out["caption"], out["caption"]'
$SYNFIRE info twice.csv | grep -q "50 % of inter-spike intervals are under 2 ms"
$SYNFIRE plot markers waves.h5 -o apart.svg --align ttl0,0,0.001ms --delay 4:6 --quiet --json >out
check 'assert [m["note"] for p in out["panels"][1:] for m in p["marks"] if m["shape"] == "words"] == ["none here"] * (len(out["panels"]) - 1)'
check 'assert len(out["panels"]) > 1 and "of 1 chain that stands out" in out["caption"], out["caption"]'
$SYNFIRE simulate apart.h5 --unit-count 8 --rate 8 --duration 60 --chain "A -(4,6]-> B" --chain "C -(4,6]-> D" \
    --chain-rate 2 --seed 3 --quiet >out
expect 65 "the 2 edges that stand out make no pattern of three units" $SYNFIRE plot motifs apart.h5 -o x.svg --delay 4:6 --quiet
$SYNFIRE plot array waves.h5 -o silent.svg --from 1 --to 1.00001 --quiet --json >out
check 'panel, = out["panels"]; assert panel["colours"] is None and len(panel["marks"]) == 12, panel'
check 'assert "12 electrodes of the array; none of them fired" in out["caption"], out["caption"]'
$SYNFIRE plot chains waves.h5 -o chains.svg --delay 4:6 --width column --quiet >caption
grep -q "Above: .*Below: " caption
if grep -q "Left" caption; then exit 1; fi

# Colours of rates: by their logarithm where a few units fire far more than the others; the bar says which.
$SYNFIRE simulate heavy.h5 --unit-count 9 --rate 1 --duration 20 --chain "A -(4,6]-> B" --chain-rate 20 --seed 3 --quiet >out
$SYNFIRE plot array heavy.h5 -o heavy.svg --quiet --json >out
check 'colours = out["panels"][0]["colours"]; assert colours["log"] and colours["label"].endswith("(logarithmic)")'
check 'dots = out["panels"][0]["marks"]; assert max(d["values"][0] for d in dots) == out["panels"][0]["colours"]["to"] > 15'
$SYNFIRE plot array waves.h5 -o array.svg --quiet --json >out
check 'assert out["panels"][0]["colours"]["log"] is False'
expect 64 "expected MARKER,A,B" $SYNFIRE plot markers waves.h5 -o x.svg --align ttl0,50
expect 64 "--align: is needed" $SYNFIRE plot markers waves.h5 -o x.svg
expect 65 "no marker is called 'light'; found 'ttl0'" $SYNFIRE plot markers waves.h5 -o x.svg --align light,-5,5
expect 65 "no positions" $SYNFIRE plot array few.csv -o x.svg --quiet

# A tiling matrix of more units than it has room for has the 150 busiest, also where many fire alike.
python3 -c 'print("\n".join(f"{1000 + unit},{0.1 * spike + 0.001 * unit:.4f}" for unit in range(200) for spike in range(7 + unit % 3)))' >alike.csv
$SYNFIRE plot tiling alike.csv -o alike.svg --quiet --json >out
check 'mark, = out["panels"][0]["marks"]; assert (mark["columns"], len(mark["values"])) == (150, 150 * 150), mark["columns"]'
check 'assert "of the busiest 150 units" in out["caption"], out["caption"]'

# Widths, formats and refusals.
$SYNFIRE plot raster sim.h5 --out column.svg --width column >caption
grep -q '^<svg .*width="85mm"' column.svg
grep -q "^Spikes of 26 units" caption
if $SYNFIRE plot raster sim.h5 -o raster.pdf >out 2>err; then
    $SYNFIRE plot raster sim.h5 -o raster.png >out
    head -c 5 raster.pdf | grep -q '%PDF-'
    head -c 4 raster.png | grep -q PNG
else
    grep -q "without Cairo" err
    echo "skipped: PDF and PNG: no Cairo"
fi
expect 64 "raster.gif: expected a file that ends in .svg, .pdf or .png" $SYNFIRE plot raster sim.h5 -o raster.gif
expect 64 "found 'rastr': did you mean raster?" $SYNFIRE plot rastr sim.h5 -o x.svg
expect 64 "--out: is needed" $SYNFIRE plot raster sim.h5
expect 64 "--width: found 'wide'" $SYNFIRE plot raster sim.h5 -o x.svg --width wide
expect 73 "cannot create" $SYNFIRE plot raster sim.h5 -o nowhere/x.svg
expect 66 "nowhere.h5" $SYNFIRE plot raster nowhere.h5 -o x.svg
expect 64 "needs a value" $SYNFIRE plot raster sim.h5 -o
expect 65 "no spikes" $SYNFIRE plot raster sim.h5 --from 1 --to 1.00001 -o x.svg
[ ! -e x.svg ]

# Bursts that the paper has no room for are drawn wider than they last: the caption says how many and how wide.
$SYNFIRE simulate long.h5 --unit-count 6 --rate 1 --duration 3600 --seed 4 --burst-rate 0.02 --burst-spikes 12 --quiet >/dev/null
$SYNFIRE plot rates long.h5 -o long.svg --width column --json >long.told
python3 -B - <<'PY'
import figures, json, re
told = json.load(open("long.told"))
lasts = [60 * (mark["x"][1] - mark["x"][0]) for mark in told["panels"][0]["marks"] if mark["of"] == "burst"]
panel, = figures.panels("long.svg")
drawn = [60 * (max(x) - min(x)) for x in ([x for x, _ in panel.points(e.get("d"))[0]] for e in panel.elements("path", "burst"))]
least = 60 * (panel.x.last - panel.x.first) * 0.12 / (panel.x.end - panel.x.start)
assert len(lasts) == len(drawn) > 50 and max(lasts) < least and all(abs(width - least) < 0.1 * least for width in drawn), (least, drawn)
found = re.search(r"([\d.]+) s in all\. (\d+) of them are drawn ([\d.]+) s wide", told["caption"])
assert abs(float(found[1]) - sum(lasts)) < 0.01 * sum(lasts) and int(found[2]) == len(lasts), told["caption"]
assert abs(float(found[3]) - least) < 0.01 * least, (told["caption"], least)
PY
$SYNFIRE plot rates long.h5 --to 60 -o short.svg >caption
grep -q "Orange: " caption
must_fail grep -q "wide to be seen" caption

# Six digits, so that the clock grows coarser: the densities of intervals have a bandwidth that can be drawn.
awk 'BEGIN { srand(6); print "unit,seconds"; for (u = 0; u < 3; u++) for (t = 0; t < 3000;) {
    t += rand() < 0.7 ? -0.125 * log(1 - rand()) : 0.01 + 0.02 * rand(); printf "u%d,%.6g\n", u, t } }' >coarse.csv
$SYNFIRE plot intervals coarse.csv -o coarse.svg --quiet --json >out
check 'assert [0 < len(m["x"]) <= 2000 for p in out["panels"] for m in p["marks"] if m["shape"] == "line"] == [True] * 3, out["caption"]'

# Of more edges than are seen apart the strongest, and one edge is one edge in one module.
awk 'BEGIN { srand(5); print "unit,seconds"; for (i = 0; i < 215; i++) for (k = 0; k < 40 + i % 40; k++) {
    t = 600 * rand(); printf "u%d,%.6f\nv%d,%.6f\n", i, t, i, t + 0.005 } }' >pairs.csv
$SYNFIRE plot graph pairs.csv -o pairs.svg --delay 4:6 --min-count 20 --quiet --json >out
check '
drawn = [m["values"][0] for m in out["panels"][0]["marks"] if m["shape"] == "arrow"]
assert len(drawn) == 200 and "215 of 215" in out["caption"] and "Drawn are the 200 strongest. " in out["caption"], (len(drawn), out["caption"])'
$SYNFIRE plot network pairs.csv -o one.svg --units u0,v0 --delay 4:6 --min-count 20 --quiet >caption
grep -q "^The network of the 1 edge that stands out (q of 0.05 or less): left by its 1 module (modularity 0)" caption

# Whose value is where, of more units than have room for their names; {} is filled in for one recording, too.
$SYNFIRE simulate many.h5 --unit-count 50 --rate 10 --duration 20 --seed 2 --quiet >/dev/null
$SYNFIRE plot tiling many.h5 -o '{}-tiling.svg' --quiet --json >out
[ -s many-tiling.svg ]
[ ! -e '{}-tiling.svg' ]
check 'assert all(len(axis["names"]) == 50 == len(set(axis["names"])) for axis in (out["panels"][0]["x"], out["panels"][0]["y"]))'
