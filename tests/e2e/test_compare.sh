# SPDX-License-Identifier: Apache-2.0
# Groups of recordings: a planted difference is found and none where there is none, numbers are those of graph and mine,
# what is done is not done again, wells and replicates are averaged, and what is wrong is refused or left out by name.
. "$E2E/functions.sh"

for i in 1 2 3 4 5; do
    $SYNFIRE simulate w$i.h5 --unit-count 6 --rate 5 --duration 60 --seed $i >/dev/null
    $SYNFIRE simulate m$i.h5 --unit-count 6 --rate 5 --duration 60 --seed 1$i --burst-rate 0.2 --burst-spikes 6 >/dev/null
done
{ echo 'file,condition,animal,dose'; for i in 1 2 3 4 5; do echo "w$i.h5,wild type,a$i,0"; echo "m$i.h5,\"KO, long\",b$i,1"; done; } >table.csv
fast="--without chains --surrogates 40 --min-count 10"

# ---- a difference, and none ----
$SYNFIRE compare table.csv --out made $fast --json --jobs 3 >out 2>err
check '
assert out["failed"] == 0 and out["replicate"] == "animal" and [c["name"] for c in out["conditions"]] == ["wild type", "KO, long"]
assert all(r["status"] == "done" and r["error"] is None for r in out["recordings"])
told, = out["contrasts"]
assert told["permutations"] == 252 and told["all_permutations"] and not told["paired"]
by = {m["measure"]: m for m in told["measures"]}
assert by["network_burst_rate"]["q"] == 2 / 252 and by["network_burst_rate"]["g"] > 2, by["network_burst_rate"]
assert by["network_burst_rate"]["difference_interval"][0] > 6 and "chains" not in by
assert all(m["p"] is None or m["p"] <= m["q"] for m in told["measures"])
# each replicate is one recording here: means are those of recordings.csv
import csv, statistics
rows = list(csv.DictReader(open("made/recordings.csv")))
assert len(rows) == 10 and rows[1]["condition"] == "KO, long" and rows[1]["dose"] == "1" and rows[0]["well"] == ""
for name, of in by.items():
    for side, condition in enumerate(("wild type", "KO, long")):
        values = [float(r[name]) for r in rows if r["condition"] == condition and r[name] != ""]
        assert len(values) == of["n"][side], name
        if values:
            assert abs(statistics.fmean(values) - of["mean"][side]) < 1e-9 * max(1, abs(of["mean"][side])), name
        # each measure of bursts stands beside that of chance, and what lies beyond is compared
        assert ("burst" in name) == (name + "_chance" in rows[0]), name
        chance = [float(r[name + "_chance"]) for r in rows if r["condition"] == condition and r[name] != ""] if "burst" in name else []
        assert ((of["chance"] or [None] * 2)[side] is None) == (not chance), name
        if chance:
            assert abs(statistics.fmean(chance) - of["chance"][side]) < 1e-9 * max(1, of["chance"][side]), name
    if "burst" in name and of["difference"] is not None:
        beyond = [m - c for m, c in zip(of["mean"], of["chance"])]
        assert abs(beyond[1] - beyond[0] - of["difference"]) < 1e-9, name
assert by["burst_share"]["chance"][0] > 0.5 * by["burst_share"]["mean"][0] and by["network_burst_rate"]["chance"][1] < 1
assert by["network_burst_rate"]["mean"][1] > 6 and by["network_burst_rate"]["mean"][0] < 1
# and rows a unit, a burst, an edge and a chain
units = list(csv.DictReader(open("made/units.csv")))
assert len(units) == 60 and sum(int(u["spikes"]) for u in units) == sum(int(r["spikes"]) for r in rows)
bursts = list(csv.DictReader(open("made/bursts.csv")))
network = [b for b in bursts if b["kind"] == "network"]
for r in rows:
    own = [b for b in network if b["file"] == r["file"]]
    assert abs(len(own) / (float(r["duration_s"]) / 60) - float(r["network_burst_rate"])) < 1e-9
assert sum(b["kind"] == "unit" for b in bursts) == sum(int(u["bursts"]) for u in units)
tests = list(csv.DictReader(open("made/tests.csv")))
assert [t["measure"] for t in tests] == list(by) and [t["p"] for t in tests] == ["" if m["p"] is None else repr(m["p"]) for m in by.values()]
assert len(list(csv.DictReader(open("made/replicates.csv")))) == 10 and not list(csv.DictReader(open("made/chains.csv")))
'
[ "$(wc -l <err)" = 1 ]
grep -q 'from 1 Hz on Poisson trains have bursts too' err
for i in 1 2; do # the same bursts as info and mine tell
    $SYNFIRE info m$i.h5 --json >info.json
    $SYNFIRE mine m$i.h5 --delay 1:5 --min-count 10 --max-size 2 --json >mine.json
    check 'import csv
one, other = json.load(open("info.json")), json.load(open("mine.json"))
rows = [b for b in csv.DictReader(open("made/bursts.csv")) if b["file"] == "m'$i'.h5" and b["kind"] == "network"]
assert one["network_bursts"] == other["bursts"] == len(rows) > 3
mean = sum(float(b["stop_s"]) - float(b["start_s"]) for b in rows) / len(rows)
assert abs(one["network_burst_s"] - mean) < 1e-6
'
done
cmp out made/summary.json
[ "$(grep -o '<[^>]*class="replicate"' made/measures.svg | wc -l)" -ge 100 ]
PYTHONPATH=$E2E "${SYNFIRE_PYTHON:-python3}" -B -c '
import figures
panels = figures.panels("made/measures.svg")
# a dot at 0, 0.8 mm in radius, is whole; each recording lies over the dot of its replicate
assert panels and all(p.y.first < 0 and abs((0 - p.y.first) / (p.y.last - p.y.first) * (p.y.end - p.y.start)) > 0.8 for p in panels)
assert all([e.get("class") for e in p.group.iter() if e.get("class") in ("replicate", "recording")][-1] == "recording" for p in panels)
'
cp out first
cp made/measures.svg again.svg
# Beside each condition how many replicates it has; the mean has its interval, and a picture says how large an effect is.
# Nothing joins conditions that were not compared in pairs; on a shared scale the first condition has a mean of 1.
$SYNFIRE compare table.csv --out made $fast --shared-scale --plot shared.svg --json >out
PYTHONPATH=$E2E "${SYNFIRE_PYTHON:-python3}" -B -c '
import figures, json, re
told = json.load(open("first"))
panels = {p.name: p for p in figures.panels("again.svg")}
of = {m["measure"]: m for c in told["contrasts"] for m in c["measures"]}
paired = any(c["paired"] for c in told["contrasts"])
written = intervals = 0
for name, panel in panels.items():
    ticks = [e.text for e in panel.elements("text", "tick")]
    assert any(re.search(r"\(\d+\)$", t) for t in ticks), ticks
    said = [e.text for e in panel.elements("text", "words")]
    assert len(said) == (of[name]["g"] is not None), (name, said)
    written += len(said)
    assert all("g = " in s for s in said)
    assert paired or not panel.elements("path", "pair")
    levels = {round((a + b) / 2): y for (a, y), (b, _) in (panel.points(m.get("d"))[0] for m in panel.elements("path", "mean"))}
    for interval in panel.elements("path", "interval"):
        ends = panel.points(interval.get("d"))[0]
        level, height = levels[round(ends[0][0])], panel.y.last - panel.y.first
        assert abs((ends[0][1] + ends[-1][1]) / 2 - level) < 2e-3 * height, (name, ends, level)
        intervals += 1
assert written > 3 and intervals > 3
shared = figures.panels("shared.svg")
assert len(shared) > 3 and len({(p.y.first, p.y.last) for p in shared}) == 1
assert all(abs(p.points(p.elements("path", "mean")[0].get("d"))[0][0][1] - 1) < 0.02 for p in shared)
'
$SYNFIRE compare table.csv --out made $fast --json >out
cp made/measures.svg again.svg
{ echo 'file,condition,animal'; for i in 1 2 3 4 5; do echo "w$i.h5,$([ $((i % 2)) = 0 ] && echo x || echo y),a$i"; done; for i in 1 2 3 4; do echo "m$i.h5,$([ $((i % 2)) = 0 ] && echo x || echo y),b$i"; done; } >none.csv
$SYNFIRE compare none.csv --out none $fast --json >out
check '
told, = out["contrasts"]
assert min(m["q"] for m in told["measures"] if m["q"] is not None) > 0.05, told
'

# ---- done once ----
$SYNFIRE compare table.csv --out made $fast --json --jobs 1 --threads 1 --plot again.svg >out
cmp again.svg made/measures.svg
check 'assert out["contrasts"] == json.load(open("first"))["contrasts"]
assert all(r["status"] == "kept" for r in out["recordings"])'
if $SYNFIRE compare table.csv --out made $fast --plot again.pdf >said 2>err; then
    $SYNFIRE compare table.csv --out made $fast --plot again.png >said
    [ "$(head -c 4 again.pdf)" = %PDF ]
    head -c 4 again.png | grep -q PNG
else
    grep -q "without Cairo" err
fi
expect 64 "again.gif: expected a file that ends in .svg, .pdf or .png" $SYNFIRE compare table.csv --out made $fast --plot again.gif
$SYNFIRE compare table.csv --out made $fast --test welch --measures rate_hz,isi_cv --json >out
check '
assert out["test"] == "welch" and all(r["status"] == "kept" for r in out["recordings"])
assert [m["measure"] for m in out["contrasts"][0]["measures"]] == ["rate_hz", "isi_cv"] and out["contrasts"][0]["permutations"] == 0
'
cp w1.h5 kept.h5
$SYNFIRE simulate w1.h5 --unit-count 6 --rate 5 --duration 60 --seed 21 >/dev/null # another content under the same name
$SYNFIRE compare table.csv --out made $fast --json >out
check 'assert [r["status"] for r in out["recordings"]] == ["done"] + ["kept"] * 9'
mv kept.h5 w1.h5
$SYNFIRE compare table.csv --out made $fast --active 6 --json >out
check 'assert {r["status"] for r in out["recordings"]} == {"done"}'

# ---- the numbers of graph and mine ----
chain='A -(4,6]-> B -(4,6]-> C'
for i in 1 2; do
    $SYNFIRE simulate c$i.h5 --unit-count 6 --rate 5 --duration 60 --seed 3$i --chain "$chain" --chain-rate 2 >/dev/null
done
mine="--delay 4:6 --min-count 10 --surrogates 100"
printf 'condition\tfile\nx\tc1.h5\ny\tc2.h5\n' >two.tsv
$SYNFIRE compare two.tsv --out two $mine --json >out 2>err
grep -q 'with so few replicates no permutation gives a p below' err || ! grep -q . err
$SYNFIRE graph c1.h5 $mine --significance segment-shift --max-q 0.05 --json >graph.json
$SYNFIRE graph c1.h5 $mine --significance segment-shift --max-q 0.05 --measures --rewired 20 --json >network.json
$SYNFIRE mine c1.h5 $mine --significance segment-shift --max-q 0.05 --json >mine.json
check '
import csv
graph, mine = json.load(open("graph.json")), json.load(open("mine.json"))
def rows(name): return [r for r in csv.DictReader(open("two/" + name)) if r["file"] == "c1.h5"]
edges = rows("edges.csv")
assert [(int(e["from"]), int(e["to"]), int(e["count"]), float(e["q"])) for e in edges] == [
    (e["from"], e["to"], e["count"], e["q"]) for e in graph["edge_detail"]] and len(edges) >= 2
chains, found = rows("chains.csv"), [e for e in mine["episodes"] if len(e["units"]) > 2]
assert [(c["id"], int(c["count"]), float(c["q"])) for c in chains] == [(e["id"], e["count"], e["q"]) for e in found]
assert "A -(4,6]-> B -(4,6]-> C" in [c["episode"] for c in chains]
row, = rows("recordings.csv")
assert float(row["chains"]) == len(chains) and float(row["edges"]) == len(edges)
assert abs(float(row["density"]) - len(edges) / 30) < 1e-12 and float(row["reciprocity"]) == 0
network = json.load(open("network.json"))["network"]
for name in ("path_length", "efficiency", "local_efficiency", "modularity", "participation", "small_world"):
    assert row[name] == ("" if network[name] is None else repr(network[name])) or float(row[name]) == network[name], name
assert network["path_length"] > 1 and network["modularity"] is not None
'
$SYNFIRE compare two.tsv --out two --metric sttc --delay 4:6 --min-count 10 --surrogates 20 --json >out 2>/dev/null
$SYNFIRE graph c1.h5 --metric sttc --delay 4:6 --surrogates 20 --max-q 0.05 --json >graph.json
check '
import csv
edges = [r for r in csv.DictReader(open("two/edges.csv")) if r["file"] == "c1.h5"]
assert [float(e["weight"]) for e in edges] == [e["weight"] for e in json.load(open("graph.json"))["edge_detail"]] and edges
assert all(r["reciprocity"] == "" for r in csv.DictReader(open("two/recordings.csv")))
'

# ---- replicates: recordings of one animal are averaged, and one that is in both conditions makes a pair ----
{ echo 'file,condition,animal'; for i in 1 2 3; do echo "w$i.h5,before,a$i"; echo "m$i.h5,after,a$i"; done; echo 'm4.h5,after,a3'; echo 'm5.h5,after,a9'; } >pairs.csv
$SYNFIRE compare pairs.csv --out made $fast --json >out 2>err
grep -q 'before and after have replicates in common, and are compared in pairs, others left out' err
check '
import csv
told, = out["contrasts"]
assert told["paired"] and told["left_out"] == 1 and told["permutations"] == 8
rate, = (m for m in told["measures"] if m["measure"] == "rate_hz")
assert rate["n"] == [3, 3]
rates = {r["file"]: float(r["rate_hz"]) for r in csv.DictReader(open("made/recordings.csv"))}
animal = {r["animal"]: float(r["rate_hz"]) for r in csv.DictReader(open("made/replicates.csv")) if r["condition"] == "after"}
assert abs(animal["a3"] - (rates["m3.h5"] + rates["m4.h5"]) / 2) < 1e-12
expected = (rates["m1.h5"] + rates["m2.h5"] + animal["a3"] - rates["w1.h5"] - rates["w2.h5"] - rates["w3.h5"]) / 3
assert abs(rate["difference"] - expected) < 1e-9
'

# ---- blocks: dealt within, and one without the other condition is left out ----
{ echo 'file,condition,animal,batch'; for i in 1 2 3; do echo "w$i.h5,wild type,a$i,$((i % 2))"; echo "m$i.h5,ko,b$i,$((i % 2))"; done; echo 'w4.h5,wild type,a4,9'; } >blocks.csv
$SYNFIRE compare blocks.csv --out made $fast --block batch --json >out 2>err
grep -q 'wild type and ko: 1 replicates are left out, of a batch without any of the other' err
check '
told, = out["contrasts"]
assert out["block"] == "batch" and told["blocks"] == 2 and told["left_out"] == 1 and told["permutations"] == 12
assert told["measures"][0]["n"] == [3, 3] and told["measures"][0]["least_p"] == 2 / 12
assert told["measures"][0]["difference_interval"] is None
of = {(c["name"], r["name"]): r for c in out["conditions"] for r in c["replicates"]}
assert of["wild type", "a4"]["block"] == "9" and "chance" in of["ko", "b1"]
rates = {name: r["rate_hz"] for (_, name), r in of.items()}
within = (rates["b1"] + rates["b3"] - rates["a1"] - rates["a3"]) / 2, rates["b2"] - rates["a2"]
assert abs(told["measures"][0]["difference"] - (within[0] * 1 + within[1] * 0.5) / 1.5) < 1e-9
'
head -1 made/replicates.csv | grep -q '^condition,animal,batch,rate_hz'
# a replicate has one name within a block: the same name in another is another
{ echo 'file,condition,animal,batch'; for i in 1 2 3; do echo "w$i.h5,before,a,$i"; echo "m$i.h5,after,a,$i"; done; } >blocks.csv
$SYNFIRE compare blocks.csv --out made $fast --block batch --json >out 2>err
check 'told, = out["contrasts"]
assert told["paired"] and told["blocks"] is None and told["measures"][0]["n"] == [3, 3] and told["permutations"] == 8'

# ---- two factors: at each age the groups are compared, and effects of either and of both are tested ----
{ echo 'file,condition,animal,age'; for i in 1 2 3 4; do echo "w$i.h5,wild type,a$i,$((9 + i / 3 * 3))"; echo "m$i.h5,ko,b$i,$((9 + i / 3 * 3))"; done; } >factors.csv
$SYNFIRE compare factors.csv --out two $fast --factor age --measures rate_hz,network_burst_rate,isi_cv --permutations 500 --json >out 2>err
grep -q 'wild type at 9 and ko at 9: with so few replicates no permutation gives a p below 0.33' err
check '
import csv, statistics
assert out["factor"] == "age" and [(c["name"], c["level"]) for c in out["conditions"]] == [
    ("wild type", "9"), ("ko", "9"), ("wild type", "12"), ("ko", "12")]
assert [(t["first"], t["second"], t["level"]) for t in out["contrasts"]] == [("wild type", "ko", "9"), ("wild type", "ko", "12")]
assert all(m["level"] == t["level"] for t in out["contrasts"] for m in t["measures"])
rows = list(csv.DictReader(open("two/replicates.csv")))
assert list(rows[0])[:3] == ["condition", "age", "animal"] and len(rows) == 8
effects = {(e["effect"], e["measure"]): e for e in out["effects"]}
assert len(effects) == len(out["effects"]) == 9
signs = {"condition": (-0.5, 0.5, -0.5, 0.5), "age": (-0.5, -0.5, 0.5, 0.5), "condition x age": (1, -1, -1, 1)}
for (effect, measure), e in effects.items(): # by means and variances of the conditions alone
    cells = [[float(r[measure]) - float(r.get(measure + "_chance") or 0) for r in rows if (r["condition"], r["age"]) == cell]
             for cell in (("wild type", "9"), ("ko", "9"), ("wild type", "12"), ("ko", "12"))]
    difference = sum(s * statistics.fmean(c) for s, c in zip(signs[effect], cells))
    error = sum(s * s * statistics.variance(c) / len(c) for s, c in zip(signs[effect], cells))
    assert abs(e["difference"] - difference) < 1e-9 and abs(e["statistic"] - difference ** 2 / error) < 1e-6 * e["statistic"], e
    assert e["n"] == 8 and e["degrees"] == 1 and not e["within"] and e["least_p"] <= e["p"] <= e["q"] <= 1
    assert e["epsilon_squared"] < e["eta_squared"] < 1
assert min(effects, key=lambda key: effects[key]["p"] - effects[key]["eta_squared"]) == ("condition", "network_burst_rate")
told = list(csv.DictReader(open("two/effects.csv")))
assert [t["p"] for t in told] == [repr(e["p"]) for e in out["effects"]] and [t["effect"] for t in told] == [e["effect"] for e in out["effects"]]
assert "Freedman and Lane" in out["methods"] and "over 3 effects" in out["methods"]
'
cp out first
PYTHONPATH=$E2E "${SYNFIRE_PYTHON:-python3}" -B -c '
import figures, json
effects = json.load(open("first"))["effects"]
panels = figures.panels("two/measures.svg")
assert len(panels) == 3
for panel in panels:
    words = [e.text for e in panel.elements("text", "words")]
    q = ["%.2g" % e["q"] for e in effects if e["measure"] == panel.name]
    assert words == [f"q: condition {q[0]}, age {q[1]},", f"both {q[2]}", "age 9", "age 12"], (words, q)
    # conditions side by side at each age, of one colour at both, and nothing that joins ages
    assert not panel.elements("path", "pair")
    assert len(panel.elements("path", "mean")) == 4
    assert len({e.get("fill") for e in panel.group.iter() if e.get("class") == "replicate"}) == 2
'
$SYNFIRE compare factors.csv --out two $fast --factor age --control ko --measures rate_hz --permutations 500 >text 2>/dev/null
grep -q '^ko and wild type at 9$' text
grep -q '^condition ko, age 12: 2 replicates, 2 rows$' text
grep -q '^measure  *condition  *q  *age  *q  *condition x age  *q$' text
# one name at both ages is one replicate, which is compared with itself
sed 's/,a3,/,a1,/; s/,a4,/,a2,/; s/,b3,/,b1,/; s/,b4,/,b2,/' factors.csv >repeated.csv
$SYNFIRE compare repeated.csv --out two $fast --factor age --measures rate_hz --permutations 500 --json >out 2>err
grep -q 'age is tested within replicates, since some have several values of age' err
check 'assert [(e["effect"], e["within"], e["n"]) for e in out["effects"]] == [
    ("condition", False, 4), ("age", True, 8), ("condition x age", True, 8)]'
# a combination that nothing is of: the others are compared, and no effect is tested
grep -v '^m[34]' factors.csv >holes.csv
$SYNFIRE compare holes.csv --out two $fast --factor age --measures rate_hz --permutations 500 --json >out 2>err
grep -q 'condition x age is not tested: each combination of condition and age needs two replicates' err
check 'assert [t["level"] for t in out["contrasts"]] == ["9"] and all(e["p"] is None for e in out["effects"])'

# ---- wells ----
if [ -n "$SYNFIRE_PYTHON" ]; then
    "$SYNFIRE_PYTHON" - <<'PY'
import h5py
for source in ("w1.h5", "m1.h5"):
    with h5py.File(source, "r") as old, h5py.File("wells-" + source, "w") as new:
        for name, value in old.attrs.items():
            new.attrs[name] = value
        for name in old:
            old.copy(name, new)
        wells = new["units/well"]
        wells[...] = [b"A", b"A", b"C", b"C", b"B", b"B"] # of one letter each, as the empty ones
PY
    printf 'file,condition,culture,well\nwells-w1.h5,x,c1,\nwells-m1.h5,x,c2,A\nwells-m1.h5,y,c3,B\n' >wells.csv
    $SYNFIRE compare wells.csv --out wells $fast --json >out 2>/dev/null
    check '
import csv
rows = list(csv.DictReader(open("wells/recordings.csv")))
assert [(r["file"], r["well"]) for r in rows] == [("wells-w1.h5", w) for w in ("A", "C", "B")] + [
    ("wells-m1.h5", "A"), ("wells-m1.h5", "B")], rows
assert all(r["units"] == "2" for r in rows) and [r["wells"] for r in out["recordings"]] == [3, 1, 1]
units = [u for u in csv.DictReader(open("wells/units.csv")) if u["file"] == "wells-w1.h5"]
assert [(u["unit"], u["well"]) for u in units] == [(str(i), w) for i, w in enumerate("AACCBB")]
first, = (r for r in csv.DictReader(open("wells/replicates.csv")) if r["culture"] == "c1")
assert abs(float(first["rate_hz"]) - sum(float(r["rate_hz"]) for r in rows[:3]) / 3) < 1e-12
'
    printf 'file,condition,well\nwells-w1.h5,x,C7\n' >wells.csv
    expect 65 "there is no well 'C7' in wells-w1.h5" $SYNFIRE compare wells.csv --out wells $fast
fi

# ---- what cannot be analysed is left out and named ----
head -c 3000 w2.h5 >cut.h5
{ cat table.csv; echo 'gone.h5,wild type,a8,0'; echo 'cut.h5,wild type,a9,0'; } >partly.csv
status=0
$SYNFIRE compare partly.csv --out made $fast --json >out 2>err || status=$?
[ $status = 65 ]
grep -q 'left out: gone.h5: cannot open' err
grep -q 'left out: cut.h5: ' err
grep -q '2 of 12 recordings could not be analysed' err
check '
assert out["failed"] == 2 and [r["status"] for r in out["recordings"]] == ["kept"] * 10 + ["failed"] * 2
assert out["contrasts"][0]["measures"][0]["n"] == [5, 5] and "cannot open" in out["recordings"][10]["error"]
'
printf 'file,condition\ngone.h5,x\n' >gone.csv
expect 66 'gone.h5: cannot open' $SYNFIRE compare gone.csv --out made $fast

# ---- an analysis that is killed, and a run that is stopped: one that waits for a pipe takes as long as we like ----
mkfifo pipe.h5
{ cat table.csv; echo 'pipe.h5,wild type,a9,0'; } >slow.csv
$SYNFIRE compare slow.csv --out slow $fast --json --jobs 1 >out 2>err &
running=$!
exec 9>pipe.h5 # goes on when its analysis has opened it too, which then reads what never comes
kill -KILL $(cat /proc/$running/task/$running/children) # one at a time: the others have ended
status=0
wait $running || status=$?
exec 9>&-
[ $status = 65 ]
grep -q 'pipe.h5: its analysis was ended by signal 9' err
check 'assert out["failed"] == 1 and [r["status"] for r in out["recordings"]] == ["done"] * 10 + ["failed"]'
$SYNFIRE compare slow.csv --out slow $fast --json --jobs 2 >out 2>err &
running=$!
exec 9>pipe.h5
kill -TERM $running
status=0
wait $running || status=$?
exec 9>&-
[ $status = 143 ]
grep -q 'stopped: .* recordings are done, and the same command goes on' err
rm pipe.h5

# ---- what is no table, and what is no option ----
table_refused() { # WORDS TEXT
    printf "$2" >bad.csv
    expect 65 "$1" $SYNFIRE compare bad.csv --out bad
}
table_refused "has no column 'file'" 'path,condition\na,b\n'
table_refused "has no column 'condition', and --by names no other; its columns are file, dose" 'file,dose\nw1.h5,1\n'
table_refused "bad.csv:3: names no file" 'file,condition\nw1.h5,x\n,y\n'
table_refused "bad.csv:2: has nothing in the column 'condition'" 'file,condition\nw1.h5,\n'
printf 'file,condition,age\nw1.h5,x,9\nm1.h5,y,\n' >bad.csv
expect 65 "bad.csv:3: has nothing in the column 'age'" $SYNFIRE compare bad.csv --out bad --factor age
printf 'file,condition,age\nw1.h5,x,9\nm1.h5,y,9\n' >bad.csv
expect 64 "--factor: found 'age', which has one value alone" $SYNFIRE compare bad.csv --out bad --factor age
table_refused "column 'rate_hz' has the name of a column of the results" 'file,condition,rate_hz\nw1.h5,x,1\n'
table_refused 'has no rows' 'file,condition\n'
expect 66 'absent.csv: cannot open' $SYNFIRE compare absent.csv --out bad
refused() { expect 64 "$1" $SYNFIRE compare table.csv "${@:2}"; }
refused '--out: is missing'
refused "--by: found 'sex', expected a column of the table: file, condition, animal, dose" --out bad --by sex
refused "--block: found 'litter', expected a column of the table" --out bad --block litter
refused "--block: found 'condition', whose values are what is compared" --out bad --block condition
refused "--block: found 'dose', whose values are what is compared" --out bad --factor dose --block dose
refused "--factor: found 'sex', expected a column of the table" --out bad --factor sex
refused "--factor: found 'condition', which is the first factor" --out bad --factor condition
refused "--factor: found 'animal', which says what a replicate is" --out bad --factor animal
refused '--factor: goes with --test permutation' --out bad --factor dose --test welch
refused "--control: found 'x', which no recording is of" --out made $fast --control x
refused "found 'rates_hz': did you mean rate_hz?" --out bad --measures rates_hz
refused "'chains' is of what --without leaves out" --out bad --without chains --measures rate_hz,chains
refused "'chains' is of what --without leaves out" --out bad --without chains,graph --measures rate_hz,chains
refused "'rate_hz' is there twice" --out bad --measures rate_hz,rate_hz
refused "--without: found 'edges'" --out bad --without edges
refused '--bursts: found' --out bad --bursts 300,170,200,10,3
refused 'the analytic test gives no q' --out bad --significance analytic
refused "--test: found 'anova', expected one of permutation, mann-whitney, welch" --out bad --test anova
refused 'does not go with --test welch' --out bad --test welch --permutations 100
refused '--delay' --out bad --delay 5
[ ! -e bad ]
$SYNFIRE compare table.csv --out made $fast --by dose --control 1 >text 2>err
grep -q '^1 and 0$' text
# What is doubtful stands below the tables, whose columns stay in line where a name is longer than the first of them.
grep -A 1 '^Doubtful$' text | grep -q '^  units fire at up to .* from 1 Hz on Poisson trains have bursts too'
must_fail grep -q 'Poisson trains' err
grep -q '^avalanche_duration_ ' text
awk '/^measure / { width = length($0) } /^$|^--verbose/ { width = 0 } width && !/^  / && (length($0) != width || width > 80) { exit 1 }' text
