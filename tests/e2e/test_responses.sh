# SPDX-License-Identifier: Apache-2.0
# synfire responses: planted responses of a simulation, every table, blanking, the figure, compare, and refusals.
. "$E2E/functions.sh"

$SYNFIRE simulate evoked.h5 --unit-count 8 --rate 5 --duration 120 --marker-every 1 --evoked 0.4 --evoked-after 12 --chain-rate 0 \
    --chain "A -(4,6]-> B" --chain "D -(15,25]-> E" --seed 3 --quiet >/dev/null
respond="$SYNFIRE responses evoked.h5 --marker ttl0 --response 0:50"
$respond --episodes "A -(4,6]-> B" --json >all.json 2>err
python3 - <<'PY'
import json
told = json.load(open("all.json"))
assert (told["markers"], told["trial_count"], told["exposed"], told["overlapping"]) == (119, 119, 1, 0), told["trial_count"]
assert told["regular"] and abs(told["interval_s"] - 1) < 1e-9 and told["longest_block"] == 8, told["interval_cv"]
rows = {r["name"]: r for r in told["responses"]}
chain = rows["A -(4,6]-> B"]
standing = {name for name, r in rows.items() if r["q"] is not None and r["q"] <= 0.05}
assert standing == {"A", "B", "D", "E", "A -(4,6]-> B"} and told["units_more"] == 4 and told["units_fewer"] == 0, standing
assert chain["kind"] == "chain" and chain["unit"] is None and 0.25 < chain["reliability"] < 0.55, chain
assert 11 < chain["latency_ms"] < 13 and 16 < rows["B"]["latency_ms"] < 18.5, (chain, rows["B"])
assert rows["A"]["baseline_reliability"] < rows["A"]["reliability"], rows["A"]
for r in rows.values():  # rates, spikes and what is evoked say the same
    assert abs(r["response_hz"] - r["spikes"] / (119 * 0.05)) < 1e-9 and abs(r["baseline_hz"] - r["baseline_spikes"] / (3 * 119 * 0.05)) < 1e-9, r
    assert abs(r["evoked"] - (r["response_hz"] - r["baseline_hz"]) * 0.05) < 1e-9, r
    bins = [b for b in told["histogram"] if b["name"] == r["name"]]
    assert bins[0]["from_ms"] == -150 and bins[-1]["to_ms"] == 100 and all(b["exposed_s"] == bins[0]["exposed_s"] for b in bins), bins[0]
    assert sum(b["spikes"] for b in bins if 0 <= b["from_ms"] < 50) == r["spikes"], r
    assert sum(b["spikes"] for b in bins if b["from_ms"] < 0) == r["baseline_spikes"], r
assert sum(t["spikes"] for t in told["trials"]) == sum(r["spikes"] for r in rows.values() if r["kind"] == "unit")
PY

# CSV has the same rows; the table for people begins with what responds.
[ "$($respond --csv 2>err | wc -l)" = 9 ]
[ "$($respond --csv --table trials 2>err | wc -l)" = 120 ]
[ "$($respond --csv --table histogram --around -20:30 --bin 10 2>err | wc -l)" = 41 ]
$respond >lines 2>err
grep -q "^119 trials of 'ttl0', one in 1 s; 0 to 50 ms after them 4 of 8 units fire more and 0 fire less than in 3 windows before" lines
grep -q "The markers are regular: a unit whose own rhythm is near 1 Hz" lines

# What is blanked is no exposure in any window of the trial, and rates stay.
$respond --blank ttl0,-1,5 --json >blanked.json 2>err
grep -q "the first 5 ms of the response window are blanked in every trial" err
python3 - <<'PY'
import json
whole, told = json.load(open("all.json")), json.load(open("blanked.json"))
assert abs(told["exposed"] - 44 / 50) < 1e-9, told["exposed"]
for r, w in zip(told["responses"], whole["responses"]):
    assert abs(r["response_hz"] - r["spikes"] / (119 * 0.044)) < 1e-9 and r["latency_ms"] >= 5, r
    assert r["spikes"] <= w["spikes"] and r["baseline_spikes"] <= w["baseline_spikes"], (r, w)
first = [b for b in told["histogram"] if b["unit"] == 0 and 0 <= b["from_ms"] < 10]
assert first[0]["exposed_s"] == 0 and first[0]["rate_hz"] is None and abs(first[1]["exposed_s"] - 0.595) < 1e-9, first
PY

# Trials that overlap, and too few of them, are told of.
$respond --baseline 30 2>err >lines
grep -q "117 of 118 trials begin their baseline before the response window of the trial before has ended" err
$respond --to 2.5 --baseline 1 2>err >lines
grep -q "2 trials are too few for a verdict: no p can be below 0.5" err

# The figure has the numbers of the table, of the chain and of three units with the least p.
$SYNFIRE plot responses evoked.h5 -o responses.svg --marker ttl0 --response 0:50 --episodes "A -(4,6]-> B" --json >figure.json 2>err
grep -q "Shown are the 3 of 8 units with the least p" figure.json
python3 - <<'PY'
import json
told, panels = json.load(open("all.json")), json.load(open("figure.json"))["panels"]
rasters, rates = [p for p in panels if p["name"] == "trials"], [p for p in panels if p["name"] == "histogram"]
assert len(rasters) == 4 and len(rates) == 4, [p["name"] for p in panels]
assert rasters[0]["title"] == "A -(4,6]-> B", rasters[0]["title"]
for raster, rate in zip(rasters, rates):
    bins = [b for b in told["histogram"] if b["name"] == raster["title"]]
    marks = [m for m in raster["marks"] if m["of"] == "spikes"][0]
    assert len(marks["x"]) == sum(b["spikes"] for b in bins), raster["title"]
    steps = [m for m in rate["marks"] if m["of"] == "rate"][0]
    assert all(abs(v - b["rate_hz"]) < 1e-9 for v, b in zip(steps["y"], bins)), raster["title"]
PY
expect 64 "--marker: says nothing to the figure rates" $SYNFIRE plot rates evoked.h5 -o x.svg --marker ttl0
expect 64 "--marker: is needed" $SYNFIRE plot responses evoked.h5 -o x.svg
$SYNFIRE report evoked.h5 -o page.html --marker ttl0 --response 0:50 --quiet >/dev/null
grep -q '<figure id="responses"' page.html

# compare takes the same.
printf 'file,condition\nevoked.h5,x\n' >table.csv
$SYNFIRE compare table.csv --out compared --without graph,chains --marker ttl0 --response 0:50 >/dev/null 2>err
python3 - <<'PY'
import csv, json
told = [r for r in json.load(open("all.json"))["responses"] if r["kind"] == "unit"]
row = next(csv.DictReader(open("compared/recordings.csv")))
assert float(row["responding_units"]) == 0.5, row["responding_units"]
def mean(of): return sum(of) / len(of)
assert abs(float(row["evoked_spikes"]) - mean([r["evoked"] for r in told])) < 1e-9, row
assert abs(float(row["reliability"]) - mean([r["reliability"] for r in told])) < 1e-9, row
assert abs(float(row["reliability_chance"]) - mean([r["baseline_reliability"] for r in told])) < 1e-9, row
assert abs(float(row["response_latency_ms"]) - mean([r["latency_ms"] for r in told if r["q"] <= 0.05])) < 1e-9, row
rows = list(csv.DictReader(open("compared/responses.csv")))
assert [float(r["q"]) for r in rows] == [r["q"] for r in told] and rows[0]["condition"] == "x", rows[0]
PY

# A run tells the same of the same trials.
cat >live.yaml <<'YAML'
sources: [{type: replay, recording: evoked.h5, speed: max}]
responses: {marker: ttl0, to_ms: 50}
sinks: [{type: jsonl, path: live.jsonl, policy: block}]
YAML
$SYNFIRE run live.yaml --quiet
python3 - <<'PY'
import json
offline = json.load(open("all.json"))
told = [m for m in map(json.loads, open("live.jsonl")) if m["topic"] == "response"]
assert len(told) == 119 and [m["trials"] for m in told] == list(range(1, 120)), len(told)
assert [(m["marker_ns"] / 1e9, m["spikes"], m["baseline_spikes"], m["answers"]) for m in told] == [
    (t["time_s"], t["spikes"], t["baseline_spikes"], t["answers"]) for t in offline["trials"]]
for u, r in zip(told[-1]["units"], offline["responses"]):
    assert all(u[key] == r[key] for key in ("unit", "name", "spikes", "baseline_spikes", "reliability", "latency_ms", "jitter_ms")), (u, r)
    assert u["bins"] == [b["spikes"] for b in offline["histogram"] if b["unit"] == u["unit"]], u
PY
expect 78 "responses.to_ms: found 50, expected more than responses.from_ms, 60" $SYNFIRE run live.yaml --quiet --set responses.from_ms=60
expect 78 "responses.bin_ms: found 0.01, which makes 25000 bins" $SYNFIRE run live.yaml --quiet --set responses.bin_ms=0.01

expect 64 "--marker: is needed" $SYNFIRE responses evoked.h5
expect 65 "no marker is called 'light'; found 'ttl0', 'stimulus 1'" $SYNFIRE responses evoked.h5 --marker light
expect 65 "no window around any of 119 markers 'ttl0' was recorded" $SYNFIRE responses evoked.h5 --marker ttl0 --blank ttl0,-1000,1000
expect 64 "--response: found '50:0'" $SYNFIRE responses evoked.h5 --marker ttl0 --response 50:0
expect 64 "--response: found '-5:50'" $SYNFIRE responses evoked.h5 --marker ttl0 --response=-5:50
expect 64 "--bin: makes 250000 bins" $SYNFIRE responses evoked.h5 --marker ttl0 --response 0:50 --bin 0.001
expect 64 "--table: is of --csv" $SYNFIRE responses evoked.h5 --marker ttl0 --table trials
expect 64 "--response: goes with --marker" $SYNFIRE compare table.csv --out other --response 0:50
expect 64 "'reliability' is of responses: give --marker" $SYNFIRE compare table.csv --out other --measures reliability
echo passed
