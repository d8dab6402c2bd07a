# SPDX-License-Identifier: Apache-2.0
# synfire mine and count: fields, exact counts, options, refusals.
. "$E2E/functions.sh"

# The worked example of the paper's definition: count 1.
printf 'A,0.001\nA,0.002\nB,0.005\nB,0.008\nA,0.010\nA,0.013\nC,0.015\nB,0.018\nC,0.020\n' >worked.csv
echo 'A -(5,10]-> B -(10,15]-> C' >worked.txt
$SYNFIRE count worked.csv --episodes worked.txt --json >out
check 'assert out["episodes"][0]["count"] == 1'

# A minute with planted chains: fields and their types, order, the planted chain on top.
$SYNFIRE simulate demo.h5 --preset sym26 >/dev/null 2>&1
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --max-size 8 --json >out
check '
assert list(out)[:9] == ["recording", "spikes", "units", "engine", "device", "seconds", "methods", "levels", "episodes"]
assert (out["recording"], out["units"], out["engine"], out["device"]) == ("demo.h5", 26, "interval", "cpu")
for level in out["levels"]:
    assert list(level) == ["size", "candidates", "culled", "frequent", "seconds", "complete"]
assert [l["size"] for l in out["levels"]] == [1, 2, 3, 4, 5, 6, 7, 8]
assert out["levels"][1]["candidates"] == 26 * 25
for e in out["episodes"]:
    assert list(e)[:9] == ["id", "units", "names", "delays_ms", "count", "expected", "p", "q", "strength"]
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
other = {"strength"}
assert [{f: v for f, v in e.items() if f != "correlograms"} for e in out["episodes"]] == [
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
[ "$(grep -c '^A -(4,6]-> B  ' table)" = 0 ]
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --max-size 8 --verbose >table 2>/dev/null
grep -q '^A -(4,6]-> B  ' table

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
grep -Eq '^[A-K] -.* [0-9]+, [0-9.]+/s +[0-9]+, [0-9.]+/s$' table
grep -q '^the last 2 columns: each of 3 epochs taken alone, summed by label$' table
check 'text = open("table").read().split("\n")
chain = {"%s -(4,6]-> %s" % tuple(e["names"]): e["epoch_counts"] for e in out["episodes"] if len(e["units"]) == 2}
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
$SYNFIRE mine demo.h5 --delay 10:60 --min-count 300 --max-size 2 --self --json >out
check 'assert out["levels"][1]["candidates"] == 26 * 26 and any(e["units"][0] == e["units"][1] for e in out["episodes"])'
$SYNFIRE mine demo.h5 --delay 0:4,4:6.5 --min-count 60 --json >out
check '
assert out["levels"][1]["candidates"] == 2 * 26 * 25
assert {tuple(d) for e in out["episodes"] for d in e["delays_ms"]} == {(0, 4), (4, 6.5)}'
$SYNFIRE mine demo.h5 --preset cortex --max-size 2 --min-count 100 --json >out 2>err
grep -q 'preset cortex' err
check 'assert out["levels"][1]["candidates"] == 3 * 26 * 25'
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 >out
grep -q '^D -(4,6\]-> E -(4,6\]-> F -(4,6\]-> G ' out && grep -q 'more: --top' out
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --csv >out
head -1 out | grep -qx 'id,size,episode,count,expected,p,q,strength,not_testable,ratio_low,ratio_high,needed'
check_lines=$(python3 -c 'import json; print(1 + sum(len(e["units"]) <= 4 for e in json.load(open("all"))["episodes"]))')
[ "$(wc -l <out)" = "$check_lines" ]
$SYNFIRE mine demo.h5 --delay 4:6 >out # a default threshold
grep -q "frequent from a count of 31.2635 (a fortieth of a mean unit's spikes)" out

# Neighbours on the array are 100 um apart: none of them is linked.
$SYNFIRE mine demo.h5 --delay 0:20 --min-count 1 --max-size 2 --min-distance 120 --json >out
$SYNFIRE info demo.h5 --json >info
check '
at = {u["index"]: (u["x_um"], u["y_um"]) for u in json.load(open("info"))["unit_detail"]}
far = lambda a, b: sum((p - q) ** 2 for p, q in zip(at[a], at[b])) >= 120 ** 2
assert out["levels"][1]["candidates"] == sum(a != b and far(a, b) for a in at for b in at)
assert all(far(*e["units"]) for e in out["episodes"])'

# Significance: p, q and the expectation by surrogates, the same for a seed on any number of threads; the planted
# chain stands out, its by-products do not; the sentence for a paper.
for threads in 1 2; do
    $SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --significance segment-shift --surrogates 200 --seed 5 \
        --device cpu --threads $threads --json >tested.$threads
done
cmp <(results <tested.1) <(results <tested.2)
cp tested.1 out
check '
tested = [e for e in out["episodes"] if e["q"] is not None]
linked = [e for e in tested if e["q"] < 0.05]
chains = ["ABC", "DEFGHIJK"]
in_order = lambda names: any("".join(names) in c for c in chains)
assert sum(in_order(e["names"]) for e in linked) == len([e for e in out["episodes"] if in_order(e["names"])]) >= 15
assert any(e["not_testable"] == "reverse of a link" for e in out["episodes"])
assert len(linked) <= sum(in_order(e["names"]) for e in linked) + 1
for e in out["episodes"]:
    assert 0 < e["strength"] < 1
    if len(set(e["units"])) < len(e["units"]):
        assert e["not_testable"] == "a unit returns" and e["p"] is e["q"] is e["p_first"] is e["p_last"] is None
        continue
    if e["not_testable"] == "reverse of a link":
        assert in_order(e["names"][::-1]) and e["p"] is e["q"] is e["p_first"] is e["p_last"] is None
        continue
    assert e["not_testable"] is None and 1 / 201 - 1e-9 <= e["p"] <= e["q"] <= 1
    assert e["p"] == max(e["p_last"], e["p_first"] or 0) and (e["p_first"] is None) == (len(e["units"]) == 2)
for word in ["synfire", "(4,6] ms", "count of 60", "26 units", "200 surrogates", "seed 5", "18 ms either way", "blurs", "1 s", "data "]:
    assert word in out["methods"], word
assert out["methods"].endswith(".") and "\n" not in out["methods"]'
# The verdict asks for ten bursts or epochs where there are any: the same, worked out from the JSON.
seq 0 5 55 | awk '{print $1 "," $1 + 5 ",part"}' | sed '1i start,stop,label' >parts.csv
for epochs in "" "--epochs parts.csv" "--epochs epochs.csv"; do
    tested="$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --max-size 3 --significance segment-shift \
        --surrogates 200 --seed 5 --top 15 --sort q $epochs"
    $tested --json >out
    $tested >table
    check '
tested = [e for e in out["episodes"] if e["q"] is not None]
worth = [e for e in tested if e["count"] >= 20 and e["q"] < 0.05]
wide = sum(max(e["bursts"], e["epochs"] or 0) >= 10 for e in worth)
line = [l for l in open("table") if "units over 0.1 Hz" in l]
assert len(line) == 1 and len(worth) > 3
if out["bursts"] > 0 or out["epochs"]:
    told = f"; of the {len(worth)} of them among the {len(out['"'episodes'"'])} shown, {wide} are in 10 bursts or epochs or more\n"
    assert line[0].endswith(told), (line, told)
    assert (wide > 3) == (len(out["epochs"] or []) >= 10 or out["bursts"] >= 10)
else:
    assert line[0].endswith("0.1 Hz\n")'
done
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --significance segment-shift --surrogates 200 --fdr --device cpu --json >out
check '
assert min(e["q"] for e in out["episodes"] if e["q"] is not None) < 1e-4 and "Benjamini" in out["methods"]
assert out["significance"].pop("power") == [] and out["significance"].pop("power_pairs") == 0 # by the maximum alone
assert out["significance"] == {"kind": "segment-shift", "link": None, "surrogates": 200, "seed": 1, "width_ms": 18, "segment_s": 1,
    "correction": "false-discovery rate", "not_testable": None, "sharpness": 0, "blur_divisor": 54, "device": "cpu",
    "device_note": None}
assert json.load(open("all"))["significance"] is None'
# A table without --top shows what is worth showing beside the highest counts, which wide intervals have.
tested="$SYNFIRE mine demo.h5 --delay 4:6,6:30 --min-count 20 --max-size 2 --significance segment-shift --surrogates 200 --fdr --sort count"
$tested --json >out
$tested >table
check '
rows = [l.split() for l in open("table") if "]-> " in l]
shown = [(r[0], r[2]) for r in rows if r[1] == "-(4,6]->"]
worth = [(i, e) for i, e in enumerate(out["episodes"]) if e["count"] >= 20 and e["q"] is not None and e["q"] < 0.05]
narrow = [tuple(e["names"]) for _, e in worth if e["delays_ms"] == [[4, 6]]]
assert 5 < len(worth) <= 20 and len(rows) == 20 + sum(i >= 20 for i, _ in worth) and 5 < len(narrow) and shown == narrow'
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --significance analytic >out
grep -q 'expected  count/expected  95 %  *strength  p  q  bursts' out && grep -q 'Sastry' out
$SYNFIRE mine demo.h5 --delay 0:20 --min-count 60 --max-size 2 --significance analytic --quiet >out 2>err
[ ! -s err ]
$SYNFIRE mine demo.h5 --delay 0:20 --min-count 60 --max-size 2 --significance analytic >out 2>err
grep -q 'p means nothing' err
# The filter by p and q, and what comes first.
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --significance segment-shift --surrogates 200 --json >tested
for words in "--max-q 0.05" "--max-p 0.02" "--max-p 0.02 --max-q 0.5" "--sort q" "--sort ratio" "--sort strength" "--sort count"; do
    # shellcheck disable=SC2086
    $SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --significance segment-shift --surrogates 200 $words --json >"tested $words"
done
python3 - <<'PY'
import json, math
read = lambda words: json.load(open(("tested " + words).strip()))["episodes"]
every = read("")
within = lambda value, most: value is not None and value <= most
assert 15 < len(read("--max-q 0.05")) < 30 < len(every)
assert read("--max-q 0.05") == [e for e in every if within(e["q"], 0.05)]
assert read("--max-p 0.02") == [e for e in every if within(e["p"], 0.02)]
assert read("--max-p 0.02 --max-q 0.5") == [e for e in every if within(e["p"], 0.02) and within(e["q"], 0.5)]
last = lambda value: math.inf if value is None else value
keys = {"q": lambda e: (last(e["q"]), -e["ratio_interval"][0]), "ratio": lambda e: -e["ratio_interval"][0],
        "strength": lambda e: -e["strength"], "count": lambda e: -e["count"]}
for word, key in keys.items():
    listed = read("--sort " + word)
    ranks = [(len(e["units"]), key(e)) for e in listed] # printed numbers may tie
    assert ranks == sorted(ranks) and {e["id"] for e in listed} == {e["id"] for e in every}, word
assert read("--sort ratio") != read("--sort count") == every
for e in every:
    low, high = (e["expected"] * end for end in e["ratio_interval"])
    assert low < e["count"] < high and abs((high - low) / 2 / 1.96 - e["count"] ** 0.5) < 1
PY
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --significance segment-shift --surrogates 200 --max-q 0.05 >out
grep -qx '21 of 133 have p and q within --max-p and --max-q' out && [ "$(grep -c 'NOT TESTED' out)" = 0 ]
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 >out
grep -qF 'NOT TESTED: `expected` is of constant rates, and ranks. Add --significance segment-shift --max-q 0.05' out
$SYNFIRE mine bursting.h5 --delay 4:6 --min-count 60 >out
bursts='NOT TESTED: the [0-9]+ bursts that units share here make nearly any count exceed what constant rates give'
told="^$bursts, and 95 % too narrow where they hold most spikes\\. Add"
grep -qE "$told" out
echo 'A -(4,6]-> B' >link.txt
$SYNFIRE count bursting.h5 --episodes link.txt >out
grep -qE "$told" out
$SYNFIRE graph bursting.h5 --delay 4:6 --min-count 60 >out
grep -qE "$told" out
$SYNFIRE bfs bursting.h5 --delay 4:6 --min-count 60 --source A >out # has no such intervals
grep -qE "^$bursts\\. Add" out
expect 64 "--max-q: goes with --significance" $SYNFIRE mine demo.h5 --max-q 0.05
expect 64 "--max-q: needs surrogates" $SYNFIRE mine demo.h5 --significance analytic --max-q 0.05
expect 64 "expected count, q, ratio or strength" $SYNFIRE mine demo.h5 --sort size
# Chains that were named before: tested alone, corrected for one another, and what they would have had to count.
printf '%s\n' 'A -(4,6]-> B -(4,6]-> C' 'A -(4,6]-> D' 'C -(4,6]-> A' 'A -(4,6]-> B -(4,6]-> A' 'A -(4,6]-> G' >named.txt
printf 'A -(4,6]-> G\n' >one.txt
for options in "" "--max-q 0.05" "--fdr"; do
    # shellcheck disable=SC2086
    $SYNFIRE count demo.h5 --episodes named.txt --significance segment-shift $options --json >"named $options"
done
$SYNFIRE count demo.h5 --episodes one.txt --significance segment-shift --json >one
$SYNFIRE count demo.h5 --episodes named.txt --significance segment-shift --max-q 0.05 --window 20 >table
cp "named " out
check '
chain, none, back, returning, lucky = out["episodes"]
assert chain["p"] <= 0.002 and chain["q"] < 0.01 and chain["expected"] > 20 and 30 < chain["needed"] < 60 and chain["p_first"]
assert none["q"] > 0.2 and back["q"] > 0.2 and returning["not_testable"] == "a unit returns" and returning["p"] is None
assert none["count"] < none["needed"] and chain["count"] >= chain["needed"]
alone = json.load(open("one"))["episodes"][0]
assert alone["q"] == alone["p"] <= lucky["q"] and lucky["p"] < 0.02 # as it was among 650 pairs, where q is 0.58
assert out["significance"]["surrogates"] == 1000 and "given episodes" in out["methods"] and "candidates given" in out["methods"]
kept = json.load(open("named --max-q 0.05"))["episodes"]
assert kept == [e for e in out["episodes"] if e["q"] is not None and e["q"] <= 0.05]
rate = json.load(open("named --fdr"))
assert rate["episodes"][0]["q"] < 1e-4 and rate["episodes"][0]["needed"] is None and "Benjamini" in rate["methods"]'
grep -q 'of 5 have p and q within' table && grep -q '^synfire .* counted 5 given episodes' table && grep -q '  p  .*q  needed' table
$SYNFIRE count demo.h5 --episodes named.txt >out
grep -qF 'NOT TESTED: `expected`' out
expect 64 "--max-q: goes with --significance" $SYNFIRE count demo.h5 --episodes named.txt --max-q 0.05
# What pairs would have had to count is true of those that counted it.
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 20 --max-size 2 --significance segment-shift --surrogates 200 --json >out
check '
quarters = out["significance"]["power"]
assert len(quarters) == 3 and all(1.2 < q["needed"] / q["expected"] < 2.5 for q in quarters)
assert [q["expected"] for q in quarters] == sorted(q["expected"] for q in quarters)
for e in out["episodes"]:
    assert (e["q"] is not None and e["count"] >= e["needed"]) == (e["q"] is not None and e["q"] < 0.05), e
assert any(e["q"] is not None for e in out["episodes"])'
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --significance segment-shift --surrogates 200 >out
grep -qE '^power: for a q below 0.05 a pair had to count [0-9]+ where [0-9.]+ are expected, .*all 650 pairs' out
# Of pairs that hardly fire nothing is told: not that they had to count 20 where 0 are expected.
python3 - <<'PY'
import random
random.seed(5)
with open("silent.csv", "w") as out:
    for unit in range(20):
        for _ in range(500 if unit < 6 else 12):
            out.write(f"u{unit},{random.random() * 100:.5f}\n")
PY
test_silent() { $SYNFIRE mine silent.csv --delay 0.5:6 --max-size 2 --significance segment-shift --surrogates 100 "$@"; }
test_silent --min-count 10 --json >out
check '
told = out["significance"]
assert 30 <= told["power_pairs"] < 60 and all(q["expected"] > 5 for q in told["power"]) and len(told["power"]) == 3, told'
test_silent --min-count 10 >out
grep -qE '^power: .* three quarters of the [345][0-9] of 380 pairs that chance gives a count or more\)$' out
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --significance jitter --surrogates 20 >out 2>err
grep -q 'bursts that units share' err && grep -q 'no p or q is below 0.048' err
$SYNFIRE mine demo.h5 --delay 4:30 --min-count 300 --max-size 2 --significance segment-shift --surrogates 99 >out 2>err
[ ! -s err ]
$SYNFIRE mine demo.h5 --delay 4:60 --min-count 300 --max-size 2 --significance segment-shift --surrogates 99 >out 2>err
[ ! -s err ]

# No verdict that surrogates cannot give. Delays longer than a segment holds: no p and q, in any output, and the reason.
$SYNFIRE mine demo.h5 --delay 4:70 --min-count 300 --max-size 2 --significance segment-shift --surrogates 99 >table 2>err
[ ! -s err ]
grep -q '^None of [0-9]* episodes could be tested: delays too long.* up to 50 ms can be tested: .*--delay; ' table
grep -q 'gave no verdict (delays too long)' table && grep -q ' -  delays too long ' table
grep -q 'with q below' table && exit 1
$SYNFIRE mine demo.h5 --delay 4:70 --min-count 300 --max-size 2 --significance segment-shift --csv >out 2>err
grep -q 'no episode could be tested: delays too long' err && [ "$(tail -n +2 out | grep -c ',,,[0-9.]*,delays too long,[0-9.]*,[0-9.]*,$')" = 650 ]
$SYNFIRE graph demo.h5 --delay 4:70 --min-count 300 --significance segment-shift --json >out 2>err
grep -q 'no episode could be tested: delays too long' err
check 'assert all(e["p"] is None and e["not_testable"] == "delays too long" for e in out["edge_detail"]) and out["edges"] == 650'
$SYNFIRE graph demo.h5 --delay 4:70 --min-count 300 --significance segment-shift --quiet >table
grep -q ' delays too long$' table

# Bursts that units share: sharp ones are not testable, smooth ones are, and info tells which.
for sigma in 10 20 100; do
    $SYNFIRE simulate bursts.h5 --unit-count 24 --rate 4 --duration 1800 --burst-rate 0.1 --burst-spikes 5 --burst-sigma $sigma --seed 31 \
        --quiet >/dev/null
    $SYNFIRE info bursts.h5 --json >info
    $SYNFIRE info bursts.h5 >text
    $SYNFIRE mine bursts.h5 --preset culture-60 --max-size 2 --significance segment-shift --surrogates 20 --json --quiet >out
    $SYNFIRE mine bursts.h5 --preset culture-60 --max-size 2 --significance segment-shift --surrogates 20 --quiet >table
    check '
sharp = '$sigma' < 20
info = {s["delay_ms"]: s for s in json.load(open("info"))["sharpness"]}
text, table = open("text").read(), open("table").read()
assert list(info) == [2, 5, 10, 20, 50] and all(s["width_ms"] in (1.5 * d, 3 * d) and s["pairs"] == 552 for d, s in info.items())
assert info[5]["testable"] and info[20]["testable"] == (not sharp) and (info[20]["sharpness"] > 0.5) == sharp
assert ("20 ms: %.2f%s;" % (info[20]["sharpness"], " !" if sharp else "")) in text
assert ("bursts are too sharp for --significance at delays up to" in text) == (not all(i["testable"] for i in info.values()))
test = out["significance"]
assert test["not_testable"] == ("bursts too sharp" if sharp else None) and (test["sharpness"] > 0.5) == sharp
assert len(out["episodes"]) > 1000
for e in out["episodes"]:
    assert (e["not_testable"] == "bursts too sharp") == sharp
    assert (e["not_testable"] is not None) == (e["q"] is None) == (e["p"] is None)
assert ("None of %d episodes could be tested: bursts too sharp" % len(out["episodes"]) in table) == sharp
assert ("with q below 0.05" in table) == (not sharp)
assert not sharp or "Delays up to %d ms can be tested" % max(d for d in info if d < 20 and info[d]["testable"]) in table'
done

# A real wave: chains that return have no q whatever the delays.
wave=$SYNFIRE_DATA/recordings/Wong1993_P0.h5
if has_data "recordings/${wave##*/}"; then
    $SYNFIRE mine "$wave" --preset retina-waves --min-count 20 --max-size 3 --significance segment-shift --surrogates 20 --json --quiet >out
    check '
returning = [e for e in out["episodes"] if len(set(e["units"])) < len(e["units"])]
assert len(returning) > 500 and all(e["not_testable"] == "a unit returns" and e["q"] is None for e in returning)
assert all(e["not_testable"] == "delays too long" and e["q"] is None for e in out["episodes"] if e not in returning)'
    $SYNFIRE mine "$wave" --delay 0.5:50 --min-count 20 --max-size 3 --significance segment-shift --surrogates 20 --json --quiet >out
    check '
returning = [e for e in out["episodes"] if len(set(e["units"])) < len(e["units"])]
assert returning and all(e["not_testable"] == "a unit returns" and e["q"] is None for e in returning)
assert all(e["not_testable"] == "reverse of a link" or e["q"] > 0 for e in out["episodes"] if e not in returning)'
fi
$SYNFIRE graph demo.h5 --delay 4:6 --min-count 60 --significance segment-shift --surrogates 200 --seed 5 --json >out
check '
pairs = {tuple(e["units"]): e for e in json.load(open("tested.1"))["episodes"] if len(e["units"]) == 2}
assert out["edges"] == len(pairs) > 100
for e in out["edge_detail"]:
    pair = pairs[e["from"], e["to"]]
    assert (e["p"], e["expected"], e["count"]) == (pair["p"], pair["expected"], pair["count"])'

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
[ "$(wc -l <slices)" = 7 ] && [ "$(grep -c True slices)" = 1 ] && tail -1 slices | grep -q True
head -1 slices | grep -q '^3.5 20.8 '
while read -r from to counts; do
    $SYNFIRE count demo.h5 --episodes some.txt --from "$from" --to "$to" --json >out
    check "assert [str(e['count']) for e in out['episodes']] == '$counts'.split()[:-1]"
done <slices
# A table of very many rows takes no longer than its rows.
timeout 60 $SYNFIRE count demo.h5 --episodes some.txt --window 5 --hop 0.005 >out
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
timeout --foreground --preserve-status -s INT 1 $SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --significance segment-shift \
    --surrogates 1000000 >out 2>err || code=$?
[ $code = 130 ] && grep -q '^stopped: all episodes are here, and none is tested$' out && grep -q '^synfire: mine: stopped: ' err

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
expect 64 "more than 0" $SYNFIRE mine demo.h5 --min-count 0
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
expect 64 "segment-shift, jitter, shift or analytic" $SYNFIRE mine demo.h5 --significance magic
expect 64 "makes none" $SYNFIRE mine demo.h5 --significance analytic --surrogates 5
expect 64 "does not go with --json" $SYNFIRE mine demo.h5 --json --csv
expect 64 "given twice" $SYNFIRE mine demo.h5 --delay 0:5,0:5
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
expect 64 "more than 0 s" $SYNFIRE count demo.h5 --episodes text.txt --window 0
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
