# SPDX-License-Identifier: Apache-2.0
# synfire bursts: known bursts of a small recording, every table, options and refusals; and a run whose bursts are those
# of the file.
. "$E2E/functions.sh"

# Ten bursts of two units together, five spikes each 10 ms apart, every 10 s; c fires alone once a second.
python3 - >few.csv <<'PY'
for b in range(10):
    for i in range(5):
        print(f"a,{10 * b + 2 + i * 0.010:.4f}")
        print(f"b,{10 * b + 2.001 + i * 0.010:.4f}")
for s in range(100):
    print(f"c,{s + 0.53:.4f}")
PY
$SYNFIRE bursts few.csv --recorded 0:100 --network-method isi-n --network-spikes 6 --network-within 40 --json >few.json 2>err
python3 - <<'PY'
import json
told = json.load(open("few.json"))
a, b, c = told["unit_detail"]
assert [u["bursts"] for u in (a, b, c)] == [10, 10, 0], told
assert a["burst_rate"] == 6 and a["burst_share"] == 1 and a["burst_spikes"] == 5, a
assert abs(a["burst_s"] - 0.04) < 1e-9 and abs(a["burst_hz"] - 100) < 1e-6 and abs(a["inter_burst_s"] - 9.96) < 1e-9, a
assert c["burst_s"] is None and c["inter_burst_s"] is None and a["core_ms"] is None, c
assert 0 < a["burst_share_chance"] < 1 and a["burst_share_chance"] < a["burst_share"], a
assert told["network_within_ms"] == 40 and len(told["network_bursts"]) == 10, told["network_bursts"]
first, second = told["network_bursts"][:2]
assert (first["start_s"], first["spikes"], first["units"]) == (2, 10, 2) and abs(first["participation"] - 2 / 3) < 1e-9, first
assert first["inter_burst_s"] is None and abs(second["inter_burst_s"] - 9.959) < 1e-6, second
summary = {m["measure"]: m for m in told["summary"]}
assert summary["burst_rate"]["value"] == 4 and summary["network_burst_rate"]["value"] == 6, summary
assert summary["network_burst_rate"]["chance"] < 6 and summary["bursting_units"]["value"] == 2 / 3, summary
assert len(told["bursts"]) == 30 and told["bursts"][0]["kind"] == "network", told["bursts"][0]
PY

# A threshold that parts waves from silence is named: bursts of 2 s with a spike each 50 to 250 ms, every 30 s.
python3 - >waves.csv <<'PY'
import random
random.seed(2)
for b in range(60):
    t = 30 * b + 5
    for i in range(60):
        t += random.uniform(0.05, 0.25)
        print(f"u{random.randrange(8)},{t:.4f}")
PY
$SYNFIRE bursts waves.csv --recorded 0:1800 --network-method isi-n --json >waves.json 2>err
grep -q "parts activity from silence" err
python3 -c "
import json
told = json.load(open('waves.json'))
assert told['network_from_silence'] and told['network_within_ms'] >= 1000 and len(told['network_bursts']) == 60, told['network_within_ms']
assert not json.load(open('few.json'))['network_from_silence']"
$SYNFIRE bursts waves.csv --recorded 0:1800 --network-method isi-n --network-within 3000 >told 2>err
must_fail grep -q "silence" err

# Every definition finds these; limits are told where a definition takes them from the train.
for method in max-interval logisi cma surprise; do
    $SYNFIRE bursts few.csv --recorded 0:100 --burst-method $method --units a,b --json 2>err | python3 -c "
import json, sys
units = json.load(sys.stdin)['unit_detail']
assert [u['bursts'] for u in units[:2]] == [10, 10], units
assert (units[0]['core_ms'] is not None) == ('$method' in ('logisi', 'cma')), units[0]"
done

# Where no unit is active nothing is told of all, and why is said.
$SYNFIRE bursts few.csv --recorded 0:100 --active 5 >told 2>err
grep -q "no unit fires at 5 Hz or more, so nothing is told of all and nothing beside chance; --active takes a lower rate" told
$SYNFIRE bursts few.csv --recorded 0:100 >told 2>err
must_fail grep -q "no unit fires" told

# CSV has the same rows.
for table in units network bursts summary; do
    $SYNFIRE bursts few.csv --recorded 0:100 --network-method isi-n --network-spikes 6 --network-within 40 --csv --table $table >$table.csv 2>err
done
[ "$(wc -l <units.csv)" = 4 ]
[ "$(wc -l <network.csv)" = 11 ]
[ "$(wc -l <bursts.csv)" = 31 ]
grep -q "^network_inter_burst_s,9.95" summary.csv
$SYNFIRE bursts few.csv --recorded 0:100 2>err | grep -q "20 bursts of units by max-interval"

# compare goes by the same definitions.
printf 'file,condition,recorded\nfew.csv,x,0:100\n' >table.csv
$SYNFIRE compare table.csv --out compared --without graph,chains --burst-method logisi --network-method isi-n --network-spikes 6 \
    --network-within 40 >/dev/null 2>err
$SYNFIRE bursts few.csv --recorded 0:100 --burst-method logisi --network-method isi-n --network-spikes 6 --network-within 40 --json >same.json 2>err
python3 - <<'PY'
import csv, json
told = {m["measure"]: m for m in json.load(open("same.json"))["summary"]}
row = next(csv.DictReader(open("compared/recordings.csv")))
for measure in ("burst_rate", "burst_share", "network_burst_rate", "network_burst_units"):
    assert float(row[measure]) == told[measure]["value"], (measure, row[measure], told[measure])
    assert float(row[measure + "_chance"]) == told[measure]["chance"], measure
assert sum(r["kind"] == "network" for r in csv.DictReader(open("compared/bursts.csv"))) == 10
PY

expect 64 "--burst-begin: found 400 ms, expected no more than --burst-within, 300" $SYNFIRE bursts few.csv --burst-begin 400
expect 64 "--table: is of --csv" $SYNFIRE bursts few.csv --table units
expect 64 "--table: found 'x'" $SYNFIRE bursts few.csv --csv --table x
expect 64 "--burst-method: found 'isi'" $SYNFIRE bursts few.csv --burst-method isi
expect 64 "--network-spikes" $SYNFIRE bursts few.csv --network-spikes 1

# A run tells the same bursts, and triggers wait for their tenth spike and for their end.
cat >live.yaml <<'YAML'
sources: [{type: replay, recording: few.csv, speed: max}]
bursts: {spikes: 6, within_ms: 40}
triggers:
  - {on: burst, name: tenth, spike: 10}
  - {on: burst-end, name: over}
sinks: [{type: jsonl, path: live.jsonl, policy: block}]
YAML
$SYNFIRE run live.yaml --quiet
python3 - <<'PY'
import json
told = [json.loads(line) for line in open("live.jsonl")]
known = json.load(open("few.json"))["network_bursts"]
ends = [m for m in told if m["topic"] == "burst" and m["event"] == "end"]
begins = [m for m in told if m["topic"] == "burst" and m["event"] == "begin"]
assert [(m["first_ns"] / 1e9, m["last_ns"] / 1e9, m["spikes"], m["units"]) for m in ends] == [
    (b["start_s"], round(b["stop_s"] - 1e-9, 9), b["spikes"], b["units"]) for b in known], (ends, known)
assert all(m["spikes"] == 6 and m["time_ns"] == m["last_ns"] for m in begins) and len(begins) == 10, begins
sent = {name: [m["time_ns"] for m in told if m["topic"] == "trigger" and m["name"] == name] for name in ("tenth", "over")}
assert sent["tenth"] == [m["last_ns"] for m in ends], sent
assert sent["over"] == [m["time_ns"] for m in ends], sent
PY
expect 78 "triggers.0.on: it waits for network bursts: set bursts.within_ms" $SYNFIRE run live.yaml --quiet --set bursts.within_ms=0
echo passed
