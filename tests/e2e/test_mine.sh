# SPDX-License-Identifier: Apache-2.0
# synfire mine and count: fields, exact counts, options, refusals.
. "$E2E/functions.sh"

# The worked example of the paper's definition: count 1.
printf 'unit,seconds\nA,0.001\nA,0.002\nB,0.005\nB,0.008\nA,0.010\nA,0.013\nC,0.015\nB,0.018\nC,0.020\n' >worked.csv
echo 'A -(5,10]-> B -(10,15]-> C' >worked.txt
$SYNFIRE count worked.csv --episodes worked.txt --json >out
check 'assert out["episodes"][0]["count"] == 1'

# A minute with planted chains: fields and their types, order, the planted chain on top.
$SYNFIRE simulate demo.h5 --preset sym26 >/dev/null 2>&1
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --max-size 8 --json >out
check '
assert list(out)[:10] == ["recording", "spikes", "units", "engine", "device", "seconds", "methods", "registered", "levels", "episodes"]
assert (out["recording"], out["units"], out["engine"], out["device"]) == ("demo.h5", 26, "interval", "cpu")
for level in out["levels"]:
    assert list(level) == ["size", "candidates", "culled", "frequent", "seconds", "complete"]
assert [l["size"] for l in out["levels"]] == [1, 2, 3, 4, 5, 6, 7, 8]
assert out["levels"][1]["candidates"] == 26 * 25
for e in out["episodes"]:
    assert list(e)[:8] == ["id", "size", "episode", "units", "names", "delays_ms", "count", "expected"]
    assert list(e)[8:11] == ["p", "q", "strength"] and e["expected_given_rest"] is None
    assert e["size"] == len(e["units"]) and e["episode"].split(" -(4,6]-> ") == e["names"]
    assert e["count"] >= 60 and e["p"] is None and e["delays_ms"] == [[4, 6]] * (len(e["units"]) - 1)
    assert 0.7 < e["expected"] / 55 < 1.4 or len(e["units"]) > 2
key = lambda e: (len(e["units"]), -e["count"], e["units"], e["delays_ms"])
assert out["episodes"] == sorted(out["episodes"], key=key)
assert sum(l["frequent"] for l in out["levels"][1:]) == len(out["episodes"])
assert out["episodes"][-1]["names"] == list("DEFGHIJK")
assert len({e["id"] for e in out["episodes"]}) == len(out["episodes"])'
cp out all

# Both engines, one and two threads: the same levels and episodes.
for how in "--engine reference" "--engine interval --threads 1" "--engine auto --device cpu --threads 2"; do
    # shellcheck disable=SC2086
    $SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --max-size 8 --json $how >out
    check '
all = json.load(open("all"))
assert out["episodes"] == all["episodes"]
assert [l["frequent"] for l in out["levels"]] == [l["frequent"] for l in all["levels"]]'
done

# Episodes found are episodes that count counts, as text and as JSON.
python3 - <<'PY'
import json
with open("text.txt", "w") as text, open("json.txt", "w") as lines:
    for e in json.load(open("all"))["episodes"]:
        names = e["names"]
        text.write(names[0] + "".join(f" -(4,6]-> {n}" for n in names[1:]) + "\n")
        lines.write(json.dumps({"units": e["units"], "delays_ms": e["delays_ms"]}) + "\n")
PY
for file in text.txt json.txt; do
    $SYNFIRE count demo.h5 --episodes $file --json >out
    check '
all = json.load(open("all"))["episodes"]
other = {"strength", "correlograms"}
assert [{f: v for f, v in e.items() if f not in other} for e in out["episodes"]] == [
    {f: v for f, v in e.items() if f not in other} for e in all]'
done

# What is told of each: the reverse pair, delays in the counted occurrences, what a longer one accounts for.
check '
all = json.load(open("all"))["episodes"]
by = {tuple(e["names"]): e for e in all}
ab, abc = by["A", "B"], by["A", "B", "C"]
back = by["B", "A"]["count"]
assert ab["reverse_count"] == back and abs(ab["asymmetry"] - (ab["count"] - back) / (ab["count"] + back)) < 1e-9
assert abc["reverse_count"] is None and ab["folded_under"] == abc["id"] and abc["folded_under"] is None
for e in all:
    assert len(e["links"]) == len(e["units"]) - 1
    for link in e["links"]:
        assert sum(link["histogram"]) == e["count"] and len(link["histogram"]) == 10
        assert 4 < link["least_ms"] <= link["lower_quarter_ms"] <= link["median_ms"] <= link["greatest_ms"] <= 6
assert 4.5 < abc["links"][0]["median_ms"] < 5.5 and max(abc["links"][0]["histogram"]) > 2 * abc["count"] / 10'
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --max-size 8 >table
grep -q 'are folded, which count no more.*--verbose lists them' table
grep -qx '> is a delay of (4,6\] ms' table
[ "$(grep -c '^A > B  ' table)" = 0 ]
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --max-size 8 --verbose >table 2>/dev/null
grep -q '^A -(4,6]-> B  ' table

# What a test finds is folded as everything is, by one rule, and counted so: two chains, and all else their parts.
tested="--delay 4:6 --min-count 100 --max-size 8 --significance segment-shift --surrogates 200 --quiet"
# shellcheck disable=SC2086
{
    $SYNFIRE mine demo.h5 $tested >table
    $SYNFIRE mine demo.h5 $tested --json >out
    $SYNFIRE mine demo.h5 $tested --top 1 >first
}
check 'assert (out["chains"], out["significant_parts"]) == (2, 29), (out["chains"], out["significant_parts"])
standing = [e for e in out["episodes"] if e["q"] <= 0.05]
assert sorted(len(e["units"]) for e in standing if e["folded_under"] is None) == [3, 8] and len(standing) == 31'
for told in table first; do grep -qx '2 chains, 29 significant parts (q of 0.05 or less)' $told; done

# `standing`, the order of tables and CSV: a q of 0.05 or less, folded under no other, above chance, the longest, most above it.
cp out by_count
# shellcheck disable=SC2086
{
    $SYNFIRE mine demo.h5 $tested --csv >told.csv
    $SYNFIRE mine demo.h5 $tested --json --sort standing >out
}
check 'import csv, math
def key(e):
    above = (e["count"] - e["expected"]) / math.sqrt(max(e["expected"], 1))
    return (e["q"] is None or e["q"] > 0.05, e["folded_under"] is not None, above <= 0, -len(e["units"]), -above)
keys = [key(e) for e in out["episodes"]]
assert keys == sorted(keys) and len({key[:4] for key in keys}) > 6, keys
assert [row["id"] for row in csv.DictReader(open("told.csv"))] == [e["id"] for e in out["episodes"]]
by_count = json.load(open("by_count"))["episodes"]
assert sorted(out["episodes"], key=lambda e: e["id"]) == sorted(by_count, key=lambda e: e["id"]) and out["episodes"] != by_count'
[ "$(grep -Eo '^[A-K]( > [A-K])+' table | head -2 | tr '\n' ';')" = 'D > E > F > G > H > I > J > K;A > B > C;' ]
[ "$(grep -Ec '^[A-K] > ' table)" = 2 ]

# No table is wider than 80 characters, columns are left out in their order and named, numbers are whole: the same as with all.
grep -qx -- '--verbose adds needed, strength, median delays ms, 95 %, given rest' table
# shellcheck disable=SC2086
$SYNFIRE mine demo.h5 $tested --verbose >wide 2>/dev/null
check 'import re
rows = lambda name: [re.split("  +", line.strip()) for line in open(name) if re.match("episode |[A-K] (>|-)", line)]
narrow, (heads, *wide) = rows("table"), rows("wide")
wide = {row[0]: dict(zip(heads, row)) for row in wide}
assert len(narrow) == 3 and all(len(line) <= 81 for line in open("table") if re.match("episode |[A-K] > ", line))
for row in narrow[1:]:
    whole = wide[row[0].replace(" > ", " -(4,6]-> ")]
    assert row[1:] == [whole[head] for head in narrow[0][1:]], (row, whole)'
$SYNFIRE simulate chain.h5 --unit-count 30 --rate 4 --duration 30 --quiet --chain 'A -(4,6]-> B -(4,6]-> C -(4,6]-> D -(4,6]-> E -(4,6]-> F -(4,6]-> G -(4,6]-> H -(4,6]-> u26 -(4,6]-> u27 -(4,6]-> u28 -(4,6]-> u29' >out
$SYNFIRE mine chain.h5 --delay 4:6 --max-size 12 --min-count 15 --quiet >table
grep -Eq '^A > B > C > .* >  +[0-9]+  +[0-9.e-]+  +[0-9.e+]+$' table
grep -Eq '^  .*u29$' table

# Bursts: a chain planted in shared bursts lies in them.
$SYNFIRE simulate bursting.h5 --unit-count 12 --rate 2 --duration 120 --burst-rate 0.2 --chain 'A -(4,6]-> B' \
    --chain-rate 1 --quiet >/dev/null
$SYNFIRE mine bursting.h5 --delay 4:6 --min-count 60 --json >out
check '
assert 5 < out["bursts"] < 60
for e in out["episodes"]:
    assert 0 <= e["bursts"] <= min(out["bursts"], e["in_bursts"]) and e["in_bursts"] <= e["count"]
assert out["episodes"][0]["names"] == ["A", "B"] and 0 < out["episodes"][0]["bursts"]'

# Links within one electrode are told of: in a real recording, where positions tell them.
demas=$SYNFIRE_DATA/recordings/Demas2003_P9_CTRL_MY1_1A.h5
if has_data "recordings/${demas##*/}"; then
    $SYNFIRE mine "$demas" --delay 0.5:20 --min-count 200 --json >out
    check '
for e in out["episodes"]: # names are those of electrodes, and a letter
    assert e["one_electrode"] == any(a[:-1] == b[:-1] for a, b in zip(e["names"], e["names"][1:]) if a != b)
assert any(e["one_electrode"] for e in out["episodes"])'
    $SYNFIRE mine "$demas" --delay 0.5:20 --min-count 200 >links
    grep -q '^links between units of one electrode.*ch_66a - ch_66b' links
    $SYNFIRE graph "$demas" --delay 0.5:20 --min-count 300 >links
    grep -q '^links between units of one electrode.*ch_66a - ch_66b' links
fi

# Epochs, each as if it were all there is: as counts of the same selection are.
printf 'start,stop,label\n0,20,rest\n20,35.5,light\n40,60,rest\n' >epochs.csv
head -n 30 text.txt >some.txt
$SYNFIRE count demo.h5 --episodes some.txt --epochs epochs.csv --json >in_epochs
for span in "0 20" "20 35.5" "40 60"; do
    $SYNFIRE count demo.h5 --episodes some.txt --from ${span% *} --to ${span#* } --json >"alone ${span% *}"
done
python3 - <<'PY'
import json
all = json.load(open("in_epochs"))
assert [e["label"] for e in all["epochs"]] == ["rest", "light", "rest"]
assert [e["duration_s"] for e in all["epochs"]] == [20, 15.5, 20]
for k, start in enumerate((0, 20, 40)):
    alone = json.load(open(f"alone {start}"))["episodes"]
    assert [e["epoch_counts"][k] for e in all["episodes"]] == [e["count"] for e in alone]
for e in all["episodes"]:
    assert sum(e["epoch_counts"]) <= e["count"] and e["epochs"] == sum(c > 0 for c in e["epoch_counts"])
PY
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --epochs epochs.csv --json >out
check 'assert all(len(e["epoch_counts"]) == 3 and sum(e["epoch_counts"]) <= e["count"] for e in out["episodes"])'
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --epochs epochs.csv >table
grep -Eq '^episode .* parts +rest +light$' table
grep -Eq '^[A-K] > .* [0-9]+, [0-9.]+/s +[0-9]+, [0-9.]+/s$' table
grep -q '^the last 2 columns: each of 3 epochs taken alone, summed by label$' table
check 'text = open("table").read().split("\n")
chain = {"%s > %s" % tuple(e["names"]): e["epoch_counts"] for e in out["episodes"] if len(e["units"]) == 2}
rows = [line for line in text if line.split("  ")[0] in chain]
assert len(rows) > 2
for line in rows:
    rest, light = (cell.split(",") for cell in line.split("  ")[-2:] if cell)
    counts = chain[line.split("  ")[0]]
    assert int(rest[0]) == counts[0] + counts[2] and int(light[0]) == counts[1], line
    assert abs(float(light[1].strip()[:-2]) - counts[1] / 15.5) < 0.01, line'

$SYNFIRE graph demo.h5 --delay 4:6 --min-count 60 --epochs epochs.csv --json >graph
python3 - <<'PY'
import json
mined = {tuple(e["units"]): e["epoch_counts"] for e in json.load(open("out"))["episodes"] if len(e["units"]) == 2}
graph = json.load(open("graph"))
assert [e["label"] for e in graph["epochs"]] == ["rest", "light", "rest"] and graph["edges"] == len(mined)
assert all(e["epoch_counts"] == mined[e["from"], e["to"]] for e in graph["edge_detail"])
PY
$SYNFIRE graph demo.h5 --delay 4:6 --min-count 60 --epochs epochs.csv >table
grep -Eq '^from +to .* rest +light$' table
grep -q '^the last 2 columns: each of 3 epochs taken alone, summed by label$' table

# Occurrences as HDF5 say what they are and hold as many as were counted.
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --max-size 8 --quiet --occurrences occurrences.h5 >/dev/null
$SYNFIRE info occurrences.h5 --json >out
grep -q "\"provenance\":{\"program\"" out
check '
known = {e["id"]: e["count"] for e in json.load(open("all"))["episodes"]}
assert out["format"] == "synfire occurrences 1" and out["recording"] == "demo.h5"
assert out["occurrences"] == sum(e["count"] for e in out["episodes"]) > 1000
assert [known[e["id"]] for e in out["episodes"]] == [e["count"] for e in out["episodes"]]'
$SYNFIRE info occurrences.h5 >table
grep -q 'every spike time of each' table
expect 65 "holds occurrences of episodes" $SYNFIRE mine occurrences.h5

threshold_rounded() {
    sed -E 's/"threshold":(59\.99|60)[^,]*/"threshold":60/'
}

# Thresholds by rate and fraction; top, closed, self, several delays; tables and CSV.
spikes=$(python3 -c 'import json; print(json.load(open("all"))["spikes"])')
$SYNFIRE mine demo.h5 --delay 4:6 --min-rate 1 --max-size 8 --json | results | threshold_rounded >rate
$SYNFIRE mine demo.h5 --delay 4:6 --min-fraction "$(python3 -c "print(60 / $spikes)")" --max-size 8 --json |
    results | threshold_rounded >fraction
results <all | threshold_rounded | cmp - rate
cmp rate fraction
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --max-size 8 --top 2 --json >out
check 'assert [len(e["units"]) for e in out["episodes"]] == [s for s in range(2, 8) for _ in "12"] + [8]'
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --max-size 8 --closed --json >out
check '
all = json.load(open("all"))["episodes"]
assert len(out["episodes"]) < len(all) and all[-1] in out["episodes"]'
$SYNFIRE mine demo.h5 --delay 10:60 --min-count 300 --max-size 2 --self --json | results >former
$SYNFIRE mine demo.h5 --delay 10:60 --min-count 300 --max-size 2 --repeats --json >out
results <out | cmp - former
check 'assert out["levels"][1]["candidates"] == 26 * 26 and any(e["units"][0] == e["units"][1] for e in out["episodes"])'
$SYNFIRE mine demo.h5 --delay 0:4,4:6.5 --min-count 60 --json >out
check '
assert out["levels"][1]["candidates"] == 2 * 26 * 25
assert {tuple(d) for e in out["episodes"] for d in e["delays_ms"]} == {(0, 4), (4, 6.5)}'
# A delay that is searched: one interval for each pair of units, in chains and graphs alike, of spikes held or not.
$SYNFIRE mine demo.h5 --delay 0:8/2 --min-count 60 --max-size 3 --json >out
check '
pairs = {tuple(e["units"]): e["delays_ms"][0] for e in out["episodes"] if len(e["units"]) == 2}
chains = [e for e in out["episodes"] if len(e["units"]) == 3]
assert out["levels"][1]["candidates"] == 3 * 26 * 25 and len(pairs) == out["levels"][1]["frequent"]
assert pairs[0, 1] == pairs[1, 2] == [4, 8] and [0, 1, 2] in [e["units"] for e in chains] and [0, 8] in pairs.values()
assert all(pairs[tuple(e["units"][i:i + 2])] == e["delays_ms"][i] for e in chains for i in (0, 1))
assert "of intervals that overlap each pair has the one in which it stands out most" in out["methods"]
json.dump(sorted([*pair, *delay] for pair, delay in pairs.items()), open("pairs", "w"))'
$SYNFIRE graph demo.h5 --delay 0:8/2 --min-count 60 --json >out
check 'assert sorted([e["from"], e["to"], *e["delay_ms"]] for e in out["edge_detail"]) == json.load(open("pairs"))'
$SYNFIRE mine demo.h5 --delay 0:8/2 --min-count 60 --max-size 3 --csv | counted >held
$SYNFIRE mine demo.h5 --delay 0:8/2 --min-count 60 --max-size 3 --csv --memory 130M | counted | cmp held -
$SYNFIRE mine demo.h5 --units A,B,C --delay 4:6 --min-count 1 --max-size 2 --json >out
check 'assert [level["candidates"] for level in out["levels"]] == [3, 6], out["levels"]'
$SYNFIRE mine demo.h5 --preset cortex --max-size 2 --min-count 100 --json >out 2>err
grep -q 'preset cortex' err
check 'assert out["levels"][1]["candidates"] == 3 * 26 * 25'
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 >out
grep -q '^D > E > F > G ' out
grep -q 'more: --top' out
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --csv >out
head -1 out | grep -qx 'id,size,episode,count,expected,p,q,strength,not_tested,ratio_low,ratio_high,needed,expected_given_rest,p_first,p_last,p_links,worth_showing,bursts,in_bursts,reverse_count,asymmetry,one_electrode,folded_under,epochs'
check_lines=$(python3 -c 'import json; print(1 + sum(len(e["units"]) <= 4 for e in json.load(open("all"))["episodes"]))')
[ "$(wc -l <out)" = "$check_lines" ]
$SYNFIRE mine demo.h5 --delay 4:6 >out # a default threshold
grep -q "frequent from a count of 32 (a fortieth of a mean unit's spikes)" out

# Neighbours on the array are 100 um apart: none of them is linked.
$SYNFIRE mine demo.h5 --delay 0:20 --min-count 1 --max-size 2 --min-distance 120 --json >out
$SYNFIRE info demo.h5 --json >info
check '
at = {u["unit"]: (u["x_um"], u["y_um"]) for u in json.load(open("info"))["unit_detail"]}
far = lambda a, b: sum((p - q) ** 2 for p, q in zip(at[a], at[b])) >= 120 ** 2
assert out["levels"][1]["candidates"] == sum(a != b and far(a, b) for a in at for b in at)
assert all(far(*e["units"]) for e in out["episodes"])'

# Occurrences: as many lines as counts, delays inside their intervals, no overlap.
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --max-size 8 --json --occurrences occurrences.csv >out
check '
import csv
from decimal import Decimal
rows = {}
for row in csv.DictReader(open("occurrences.csv")):
    times = [Decimal(row[f"spike_{i}_s"]) for i in range(1, 9) if row[f"spike_{i}_s"]]
    assert all(Decimal("0.004") < b - a <= Decimal("0.006") for a, b in zip(times, times[1:]))
    rows.setdefault(row["id"], []).append(times)
    assert int(row["occurrence"]) == len(rows[row["id"]])
assert {e["id"]: e["count"] for e in out["episodes"]} == {k: len(v) for k, v in rows.items()}
assert all(a[-1] <= b[0] for v in rows.values() for a, b in zip(v, v[1:]))'

# Windows: each count is that of the slice alone; the window is no multiple of the hop; one partial at the end.
head -40 text.txt >some.txt
$SYNFIRE count demo.h5 --episodes some.txt --from 3.5 --window 17.3 --hop 7.1 --json >out
cp out windows
python3 - >slices <<'PY'
import json
for w in json.load(open("windows"))["windows"]:
    print(w["from_s"], w["to_s"], *w["counts"], w.get("partial", False))
PY
[ "$(wc -l <slices)" = 7 ]
[ "$(grep -c True slices)" = 1 ]
tail -1 slices | grep -q True
head -1 slices | grep -q '^3.5 20.8 '
while read -r from to counts; do
    $SYNFIRE count demo.h5 --episodes some.txt --from "$from" --to "$to" --json >out
    check "assert [str(e['count']) for e in out['episodes']] == '$counts'.split()[:-1]"
done <slices
# A table of very many rows takes no longer than its rows.
(ulimit -t 60 && $SYNFIRE count demo.h5 --episodes some.txt --window 5 --hop 0.005 >out) # of processor time
[ "$(wc -l <out)" -gt 11000 ]

$SYNFIRE count demo.h5 --episodes some.txt --window 20 --hop 20 >out
grep -q ' partial$' out

# The cross-correlogram counts what pairs there are.
$SYNFIRE count worked.csv --episodes worked.txt --correlogram --json >out
check '
first, second = out["episodes"][0]["correlograms"]
assert (first["units"], first["bin_ms"], first["from_ms"]) == ([0, 1], 1, -50) and len(first["counts"]) == 100
assert sum(first["counts"]) == 12 and sum(second["counts"]) == 6
lags = [b - a for a in (1, 2, 10, 13) for b in (5, 8, 18)]  # bin k holds k - 50 < lag <= k - 49
assert first["counts"] == [lags.count(k - 49) for k in range(100)]
assert abs(first["expected"] - 4 * 3 / 19) < 0.001'
$SYNFIRE count demo.h5 --episodes some.txt --correlogram >out
grep -q 'independent units at constant rates give' out

# Pictures: one for each link and correlogram, one for each episode's windows.
head -n 2 some.txt >two.txt
for what in "" --correlogram "--window 7" "--window 7 --correlogram"; do
    # shellcheck disable=SC2086
    $SYNFIRE count demo.h5 --episodes two.txt $what --plot two.svg >out
    python3 - "$what" <<'PY'
import sys, xml.etree.ElementTree as tree
ns = "{http://www.w3.org/2000/svg}"
pictures = [g for g in tree.parse("two.svg").getroot().iter(ns + "g") if g.get("class") == "panel"]
assert len(pictures) == (4 if sys.argv[1].count("--") == 2 else 2)
for picture in pictures:
    bars = next(p for p in picture.iter(ns + "path") if p.get("class") == "counts").get("d").count("V")
    assert bars in (8, 10, 100), bars
places = {tuple(picture.get("data-" + axis).split()[2] for axis in "xy") for picture in pictures}
assert len(places) == len(pictures)  # none lies on another
PY
done
expect 64 "--plot would write over the input" $SYNFIRE count demo.h5 --episodes two.txt --plot demo.h5
echo 'A -(4,6]-> A' >self.txt # is its own reverse: nothing to compare with
$SYNFIRE count demo.h5 --episodes self.txt --json >out
check 'assert out["episodes"][0]["reverse_count"] is None and out["episodes"][0]["asymmetry"] is None'
cp two.txt before.txt
expect 64 "--plot would write over the input" $SYNFIRE count demo.h5 --episodes two.txt --plot two.txt
cmp two.txt before.txt
# A long chain's name stays inside its picture.
echo 'D -(4,6]-> E -(4,6]-> F -(4,6]-> G -(4,6]-> H -(4,6]-> I -(4,6]-> J -(4,6]-> K' >long.txt
$SYNFIRE count demo.h5 --episodes long.txt --window 20 --plot long.svg >out
grep -q 'class="title" .*font-size="[0-9.]*".*D -(4,6]-&gt; .*-&gt; .*\.\.\.</text>' long.svg
expect 64 "long.gif: expected a file that ends in .svg, .pdf or .png" $SYNFIRE count demo.h5 --episodes long.txt --plot long.gif
expect 64 "expected 1 to 40" $SYNFIRE count demo.h5 --episodes text.txt --plot many.svg
expect 73 "cannot create" $SYNFIRE count demo.h5 --episodes two.txt --plot nowhere/x.svg

# Without a threshold a chain is found among few units and among many alike, and the output says by which rule.
$SYNFIRE simulate many.h5 --unit-count 800 --rate 2 --duration 600 --chain "A -(4,6]-> B -(4,6]-> C" --chain-rate 0.2 --seed 4 --quiet
$SYNFIRE mine many.h5 --json >out
check 'assert sorted(e["names"] for e in out["episodes"]) == [["A", "B"], ["A", "B", "C"], ["B", "C"]]
assert out["threshold_why"].startswith("a fortieth") and 20 < out["threshold"] < 35'
$SYNFIRE graph many.h5 >out
grep -q "^800 units, 2 edges; an edge is a pair from a count of [0-9.]* (a fortieth of a mean unit's spikes) on$" out
$SYNFIRE mine many.h5 --units '#0-#7' --from 0 --to 100 >out
grep -q "^delays .* frequent from a count of 20 (the least by default)" out
$SYNFIRE mine demo.h5 --delay 0.5:40 --json --max-size 3 --top 1 >out # where chance alone would make every chain of three
check 'assert out["threshold_why"].startswith("a quarter of the way") and out["levels"][1]["frequent"] == 650 and out["levels"][2]["frequent"] < 1000'

# Nothing frequent is no error, and says what to do.
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 5000 --json >out 2>err
check 'assert out["episodes"] == [] and out["levels"][0]["frequent"] == 0'
grep -q 'no unit has 5000 spikes: the most that a pair counts is [0-9]*; --min-count [0-9]* finds [0-9]* pairs' err
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 1000 --json >out 2>err
grep -q 'no pair of units reaches a count of 1000' err
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 999.25 >out 2>err # counts are whole
grep -q 'no pair of units reaches a count of 1000: the most' err

expect 64 "is after the recording" $SYNFIRE mine demo.h5 --from 90

# What two-pass ruled out is in the table.
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 70 --engine two-pass --json >out
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 70 --engine two-pass >table
grep -q 'engine two-pass on cpu' table
python3 - <<'PY'
import json
rows = [l.split() for l in open("table")]
head = rows.index(["size", "candidates", "culled", "frequent", "seconds"])
levels = json.load(open("out"))["levels"]
assert sum(l["culled"] for l in levels) > 0
for row, l in zip(rows[head + 1 :], levels):
    assert row[:4] == [str(l[k]) for k in ("size", "candidates", "culled", "frequent")]
PY

# Stopped, it says at what.
code=0
python3 -B "$E2E/interrupt.py" 'shifting trains \[' $SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --significance segment-shift \
    --surrogates 1000000 || code=$?
[ $code = 130 ]
grep -q '^stopped: all episodes are here, and none is tested$' out
grep -q '^synfire: mine: stopped: ' err

# Delays narrower than two ticks of the clock.
awk 'BEGIN { for (i = 0; i < 400; i++) printf "%s,%.3f\n", i % 3 ? "a" : "b", i / 100 }' >coarse.csv
$SYNFIRE mine coarse.csv --delay 0:10 --min-count 5 --json >out 2>err
grep -q 'narrower than two clock ticks of 10 ms' err

expect 64 "an argument is missing" $SYNFIRE mine
expect 66 "nowhere.h5" $SYNFIRE mine nowhere.h5
expect 64 "expected LO:HI" $SYNFIRE mine demo.h5 --delay 5
expect 64 "is negative" $SYNFIRE mine demo.h5 --delay -1:5
expect 64 "empty" $SYNFIRE mine demo.h5 --delay 5:5
expect 64 "does not go with --min-count" $SYNFIRE mine demo.h5 --min-count 5 --min-rate 1
expect 64 "expected a number above 0" $SYNFIRE mine demo.h5 --min-count 0
expect 64 "expected a number" $SYNFIRE mine demo.h5 --min-count many
expect 64 "from 2 to 16" $SYNFIRE mine demo.h5 --max-size 1
expect 64 "from 2 to 16" $SYNFIRE mine demo.h5 --max-size 17
expect 64 "auto, interval, reference" $SYNFIRE mine demo.h5 --engine fastest
expect 64 "one thread" $SYNFIRE mine demo.h5 --engine reference --threads 2
expect 64 "expected auto, cpu, cuda, cuda:N or cuda:all" $SYNFIRE mine demo.h5 --device gpu
expect 64 "SYNFIRE_DEVICE_MEMORY: found '8 GB', expected a size such as 8G or 512M" env SYNFIRE_DEVICE_MEMORY="8 GB" $SYNFIRE mine demo.h5
SYNFIRE_DEVICE_MEMORY=8G $SYNFIRE mine demo.h5 --device cpu --json >out
expect 69 "there is no device cuda:99" $SYNFIRE mine demo.h5 --device cuda:99
expect 64 "holds no positions" $SYNFIRE mine worked.csv --min-distance 100
expect 64 "goes with --significance" $SYNFIRE mine demo.h5 --surrogates 5
expect 64 "goes with --significance" $SYNFIRE graph demo.h5 --fdr
expect 64 "one of segment-shift, jitter, shift, analytic" $SYNFIRE mine demo.h5 --significance magic
expect 64 "makes none" $SYNFIRE mine demo.h5 --significance analytic --surrogates 5
expect 64 "does not go with --json" $SYNFIRE mine demo.h5 --json --csv
expect 64 "given twice" $SYNFIRE mine demo.h5 --delay 0:5,0:5
expect 64 "with /2, /4, /8 or /16 to search its parts" $SYNFIRE mine demo.h5 --delay 0:5/3
expect 73 "cannot create" $SYNFIRE mine demo.h5 --delay 4:6 --min-count 100 --occurrences nowhere/x.csv

expect 64 "--episodes: is needed" $SYNFIRE count demo.h5
expect 66 "nowhere.txt" $SYNFIRE count demo.h5 --episodes nowhere.txt
printf '\n \n' >blank.txt
expect 65 "holds no episode" $SYNFIRE count demo.h5 --episodes blank.txt
printf 'A -(0,5]-> B\nA -(0,5]-> Zebra\n' >unknown.txt
expect 65 "unknown.txt:2: column" $SYNFIRE count demo.h5 --episodes unknown.txt
printf '{"units":[0,99],"delays_ms":[[0,5]]}\n' >index.txt
expect 65 "index.txt:1: column 13: no unit has index #99" $SYNFIRE count demo.h5 --episodes index.txt
printf '{"units":[0,1],"delays_ms":[[0,5]]\n' >broken.txt
expect 65 "broken.txt:1: column" $SYNFIRE count demo.h5 --episodes broken.txt
printf '{"units":[0,1],"delays_ms":[[5]]}\n' >pair.txt
expect 65 "[low, high]" $SYNFIRE count demo.h5 --episodes pair.txt
printf '{"units":[0,1],"delays_ms":[]}\n' >none.txt
expect 65 "1 pairs" $SYNFIRE count demo.h5 --episodes none.txt
printf 'A -(0,5]-> B\n\0' >nul.txt
expect 65 "NUL" $SYNFIRE count demo.h5 --episodes nul.txt
expect 64 "give --window too" $SYNFIRE count demo.h5 --episodes text.txt --hop 5
expect 64 "--window: found '0', expected a number of s above 0" $SYNFIRE count demo.h5 --episodes text.txt --window 0
expect 64 "more than 10000000 windows" $SYNFIRE count demo.h5 --episodes text.txt --window 1 --hop 1e-9

# The benchmark, on a small stream in the place of the large one; the recording is absent and said to be.
mkdir -p data/episodes
awk 'BEGIN { srand(1); for (t = 0; t < 20; t += 0.01) printf "u%d,%.5f\n", int(rand() * 8), t + rand() / 200 }' \
    >data/episodes/sim-64-size20.csv
$SYNFIRE bench episodes sim-64-high retina --data data --threads 2 --json >out 2>err
grep -q 'Stafford2009.*is left out' err
check '
rows = [(r["engine"], r["threads"]) for r in out if r["device"] == "cpu"]
assert rows == [("interval", 1), ("interval", 2), ("reference", 1)] + [
    (name, 2) for name in ("ptpe", "mtpe", "hybrid", "two-pass")]
assert len({(r["candidates"], r["frequent"]) for r in out}) == 1 and out[0]["ratio"] == 1
assert all(r["bench"] == "episodes" and r["job"] == "sim-64-high" and r["seconds"] > 0 for r in out)'
expect 64 "has no part 'nothing'; it has: sym26" $SYNFIRE bench episodes nothing
$SYNFIRE bench episodes sim-64-high --data data --device cpu --threads 1 --json >out
check 'assert {r["device"] for r in out} == {"cpu"} and len(out) == 6'
expect 64 "there is no device 'gpu'" $SYNFIRE bench episodes sim-64-high --data data --device gpu

# The crossover of hybrid is measured once, and kept in the user's cache.
export XDG_CACHE_HOME=$PWD/cache
$SYNFIRE bench episodes --calibrate --threads 2 --json >first 2>err
grep -q "$PWD/cache/synfire/crossover-" err
$SYNFIRE bench episodes --calibrate --threads 2 --quiet --json >out
python3 - <<'PY'
import json
first, again = (json.load(open(f)) for f in ("first", "out"))
assert [r["size"] for r in first if r["device"] == "cpu"] == [2, 3, 4, 5, 6, 7, 8]
assert all(r["from"] == "measured now" and r["seconds"] > 0 and r["ptpe_from"] >= 1 for r in first)
assert all(r["from"] == "kept" for r in again)
assert [r["ptpe_from"] for r in first] == [r["ptpe_from"] for r in again]
PY
