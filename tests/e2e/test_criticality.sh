# SPDX-License-Identifier: Apache-2.0
# synfire criticality: a branching network of which a tenth is recorded, avalanches that are known, every table, options and
# refusals.
. "$E2E/functions.sh"

# A branching network with a drive, m = 0.98 a bin of 4 ms, of whose spikes a tenth is seen; 40 units share them.
python3 - >network.csv <<'PY'
import math, random
random.seed(3)
active, rate, m = 60.0, 60.0, 0.98
for t in range(60000):
    mean = m * active + (1 - m) * rate
    active = max(0, round(random.gauss(mean, math.sqrt(mean))))
    for _ in range(active):
        if random.random() < 0.1:
            print(f"u{random.randrange(40)},{t * 0.004 + random.random() * 0.0039:.6f}")
PY
$SYNFIRE criticality network.csv --recorded 0:240 --rounds 5 --json >network.json 2>err
python3 - <<'PY'
import json, math
told = json.load(open("network.json"))
m = {row["measure"]: row for row in told["criticality"]}
ratio = m["branching_ratio"]
assert abs(ratio["value"] / 0.98 - 1) < 0.01 and ratio["low"] < ratio["value"] < ratio["high"], ratio
assert m["branching_ratio_conventional"]["value"] < 0.8, m["branching_ratio_conventional"]
assert abs(m["timescale"]["value"] + 0.004 / math.log(ratio["value"])) < 1e-9, m["timescale"]
assert m["own_share"]["value"] < 0.3, m["own_share"]
assert told["lags"] == 500 and told["blocks"] == 50 and told["branching_bin_ms"] == 4, told["blocks"]
lags = told["autocorrelation"]
assert len(lags) == 500 and abs(lags[0]["lag_s"] - 0.004) < 1e-12 and lags[0]["error"] > 0, lags[0]
assert not [c for c in told["criticality_cautions"] if c["of"] == "branching_ratio"], told["criticality_cautions"]
assert m["avalanches"]["value"] == len(told["avalanches"]), m["avalanches"]
fit = {row["of"]: row for row in told["avalanche_fits"]}
assert fit["size"]["exponent"] == m["size_exponent"]["value"] and fit["size"]["avalanches"] == len(told["avalanches"]), fit
assert fit["duration"]["tail"] == sum(a["bins"] >= fit["duration"]["xmin"] for a in told["avalanches"]), fit
PY

# Known avalanches: three, in bins of 4 ms; those that a silent bin does not end on both sides are none.
printf '%s\n' a,0.001 a,0.009 b,0.010 a,0.013 a,0.021 b,0.029 b,0.0299 a,0.0301 b,0.0399 >three.csv
$SYNFIRE criticality three.csv --recorded 0:0.04 --avalanche-bin 4 --csv --table avalanches >three 2>err
diff - three <<'CSV'
start_s,stop_s,spikes,bins,units
0.008,0.016,3,2,2
0.02,0.024,1,1,1
0.028,0.032,3,1,2
CSV
grep -q "branching_ratio: 9 spikes are too few" err
grep -q "size: 3 avalanches are too few" err

# Trains that have nothing to do with each other have no branching ratio, and it says so.
python3 - >poisson.csv <<'PY'
import random
random.seed(4)
for u in range(10):
    t = 0
    while (t := t + random.expovariate(10)) < 100:
        print(f"u{u},{t:.6f}")
PY
$SYNFIRE criticality poisson.csv --recorded 0:100 --json >poisson.json 2>err
grep -q "the activity of a bin says nothing of the next ones" err
python3 -c "
import json
told = json.load(open('poisson.json'))
m = {row['measure']: row['value'] for row in told['criticality']}
assert m['branching_ratio'] is None and m['timescale'] is None, m
assert 'no-memory' in [c['caution'] for c in told['criticality_cautions']], told['criticality_cautions']
mean = told['avalanche_bin_ms']
assert 9 < mean < 11, mean"

for table in measures fits avalanches shapes autocorrelation cautions; do
    $SYNFIRE criticality poisson.csv --recorded 0:100 --csv --table $table >$table.csv 2>err
done
[ "$(wc -l <measures.csv)" = 11 ]
[ "$(wc -l <fits.csv)" = 3 ]
[ "$(wc -l <autocorrelation.csv)" = 501 ]
$SYNFIRE criticality poisson.csv --recorded 0:100 --rounds 0 --csv --table fits 2>err | python3 -c "
import csv, sys
rows = list(csv.DictReader(sys.stdin))
assert rows[0]['p'] == '' and rows[0]['low'] == '' and float(rows[0]['exponent']) > 1, rows"
$SYNFIRE criticality poisson.csv --recorded 0:100 2>err | grep -q "avalanches in bins of"

# compare has the same numbers, and plot draws them.
printf 'file,condition,recorded\nnetwork.csv,x,0:240\n' >table.csv
$SYNFIRE compare table.csv --out compared --without graph,chains --avalanche-bin 8 >/dev/null 2>err
$SYNFIRE criticality network.csv --recorded 0:240 --avalanche-bin 8 --rounds 0 --json >same.json 2>err
$SYNFIRE plot avalanches network.csv --recorded 0:240 --avalanche-bin 8 --rounds 0 -o avalanches.svg --json >plot.json 2>err
python3 - <<'PY'
import csv, json
told = json.load(open("same.json"))
m = {row["measure"]: row["value"] for row in told["criticality"]}
row = next(csv.DictReader(open("compared/recordings.csv")))
assert float(row["branching_ratio"]) == m["branching_ratio"], row
assert row["avalanche_size_exponent"] == ("" if m["size_exponent"] is None else str(m["size_exponent"])), row
assert row["avalanche_duration_exponent"] == ("" if m["duration_exponent"] is None else str(m["duration_exponent"])), row
drawn = json.load(open("plot.json"))
panel, = (p for p in drawn["panels"] if p["title"].startswith("Autocorrelation"))
line, = (mark for mark in panel["marks"] if mark["of"] == "slopes")
assert line["y"] == [lag["r"] for lag in told["autocorrelation"]], line["y"][:3]
assert f"branching ratio {m['branching_ratio']:.4g}" in drawn["caption"], drawn["caption"]
PY
expect 64 "--avalanche-bin: says nothing to the figure rates" $SYNFIRE plot rates network.csv -o x.svg --avalanche-bin 4

expect 64 "--table: is of --csv" $SYNFIRE criticality poisson.csv --table fits
expect 64 "--lags" $SYNFIRE criticality poisson.csv --lags 2
expect 64 "--avalanche-bin" $SYNFIRE criticality poisson.csv --avalanche-bin -1
expect 64 "more than 2^31" $SYNFIRE criticality poisson.csv --quiet --recorded 0:100 --branching-bin 0.00001
echo passed
