# SPDX-License-Identifier: Apache-2.0
# What every command prints with --json is as docs/schema says, of a simulation and of files; so is every message.
. "$E2E/functions.sh"

schema() {
    python3 -B "$E2E/schema.py" "$@"
}

# holds COMMAND...: keeps its document, which is held against its schema at the end.
documents=0
holds() {
    documents=$((documents + 1))
    "$SYNFIRE" "$@" --json >"document-$documents.json" 2>err || { cat err; return 1; }
}

schema check

# The validator itself: each of these is refused.
python3 -B - "$E2E" <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
import schema
good = {"spikes": 3, "markers": 0, "seconds": 0.5, "late_max_ms": None,
        "provenance": {"program": "synfire 1", "command": "synfire play x", "seed": None, "selection": None}}
of = "play.json"
schema.hold(good, schema.load(of), of)
def refused(words, document, file=of):
    try:
        schema.hold(document, schema.load(file), file)
    except schema.Mismatch as reason:
        assert words in str(reason), reason
    else:
        raise AssertionError(f"{words}: taken")
refused("a field 'more'", {**good, "more": 1})
refused("no field 'seconds'", {key: good[key] for key in good if key != "seconds"})
refused("$.spikes: found '3'", {**good, "spikes": "3"})
refused("$.spikes: found True", {**good, "spikes": True})
refused("$.spikes: found 3.5", {**good, "spikes": 3.5})
refused("$.spikes: found -1", {**good, "spikes": -1})
refused("$.spikes: found None", {**good, "spikes": None})
refused("no field 'seed'", {**good, "provenance": {"program": "", "command": "", "selection": None}})
refused("found []", [])
for text in ('{"a": NaN}', '{"a": Infinity}', '{"a": 1, "a": 2}', '{"a": 1', "{'a': 1}"):
    try:
        schema.parse(text)
    except (ValueError, AssertionError):
        continue
    raise AssertionError(text)
PY

holds simulate sim.h5 --preset sym26 --seed 5 --marker-every 10
holds convert sim.h5 converted.nwb
printf '0,20,before\n20,40,during\n40,60,before\n' >epochs.csv
printf 'A -(4,6]-> B -(4,6]-> C\nD -(4,6]-> E\nZ\n' >chains.txt
printf '%s\n' A,0.001 B,0.006 A,0.101 B,0.105 A,0.301 >few.csv
printf 'A;0.5\nB\n' >two.txt
seq 0.001 0.01 2 >numbers.txt
seq 1 400 | awk '{ print sin($1), cos($1 * $1) }' >plane.txt
mine="--delay 4:6 --min-count 60"

for of in sim.h5 few.csv; do
    holds info $of
    holds mine $of $mine --occurrences all.h5
    holds match $of census
    holds graph $of --metric sttc --surrogates 0
done
holds info all.h5
holds recover sim.h5
holds criticality sim.h5 --rounds 5
holds criticality few.csv
holds bursts sim.h5
holds responses sim.h5 --marker ttl0 --response 5:50 --episodes chains.txt --blank ttl0,-1,5
holds bursts sim.h5 --burst-method logisi --network-method isi-n --network-within 20
holds info sim.h5 --units A,B --from 1 --to +30 --epochs epochs.csv --dedup 0.4,100 --blank ttl0,-1,5 --preset culture-60
holds describe
holds mine sim.h5 $mine --epochs epochs.csv --max-size 3
holds mine sim.h5 $mine --significance segment-shift --surrogates 20 --quiet --max-size 2
holds mine sim.h5 $mine --significance shift --surrogates 20 --fdr --quiet --max-size 2
holds mine sim.h5 $mine --significance analytic --max-size 2
holds mine few.csv --from 0.2 --to 0.3 --quiet
holds count sim.h5 --episodes chains.txt
holds count sim.h5 --episodes chains.txt --window 20 --hop 7 --correlogram --epochs epochs.csv
holds graph sim.h5 $mine --epochs epochs.csv
holds graph sim.h5 $mine --significance segment-shift --surrogates 20 --quiet
holds graph sim.h5 --metric sttc --surrogates 0 --epochs epochs.csv
$SYNFIRE graph sim.h5 $mine --out graph.json >/dev/null
$SYNFIRE graph sim.h5 $mine --out graph.graphml >/dev/null
$SYNFIRE graph sim.h5 $mine --out graph.mtx >/dev/null
for of in "sim.h5 $mine" graph.graphml graph.mtx; do
    holds bfs $of --source A
    holds bfs $of --source A --source B
    holds match $of 'A -> B; B -> C; A -> C'
    holds match $of chain-3 --count --rewired 5
    holds match $of census --rewired 5
done
holds plot raster sim.h5 -o raster.svg
holds plot correlograms sim.h5 -o pairs.svg --delay 4:6 --surrogates 20 --quiet
holds report sim.h5 -o sim.html --delay 4:6 --surrogates 20 --quiet
holds bfs --kronecker 6:8:1 --source 3
holds bandwidth sim.h5 --quantity isi
holds bandwidth sim.h5 --quantity isi --units A --epochs epochs.csv
holds bandwidth sim.h5 --quantity rate --units A,B --epochs epochs.csv --method silverman
holds bandwidth sim.h5 --quantity delay --episode 'A -(4,6]-> B -(4,6]-> C' --method lscv --curve
holds bandwidth sim.h5 --quantity position --method scott
holds bandwidth numbers.txt --method plugin
holds bandwidth plane.txt --method lscv-paper
holds density numbers.txt
holds density plane.txt --grid -2:2:20,-2:2:20
holds density sim.h5 --quantity isi --units A --epochs epochs.csv --grid 500
holds aggregate numbers.txt --range 0.5:1 --op avg --exact
holds aggregate numbers.txt --range 0.5:1
holds aggregate numbers.txt --save numbers.h5
holds aggregate --from-state numbers.h5 numbers.h5 --range 0.5:1 --op var
holds plan "$SYNFIRE_SOURCE/configs/plans/1r.yaml"
holds plan --virtual-clock
holds play sim.h5 --speed max --subscribers 0 --quiet --to "tcp://127.0.0.1:$(free_ports 1)"
holds bench bfs --kronecker 8:8:1
"$SYNFIRE" doctor --json >out || [ $? = 1 ] # as this machine is
check "
assert out['ok'] == all(c['level'] != 'bad' for c in out['checks']) and len(out['checks']) >= 14, out
assert all((c['advice'] is None) == (c['level'] == 'good') for c in out['checks'])"
code=0; "$SYNFIRE" doctor --folder /no/such/folder --json >out || code=$?
[ $code = 1 ]
check "assert not out['ok'] and not out['checks'][-1]['ok'] and 'No such file' in out['checks'][-1]['detail']"

# Pulses that go nowhere do not come back.
port=$(free_ports 1)
"$SYNFIRE" play sim.h5 --loop --quiet --to "tcp://127.0.0.1:$port" >/dev/null &
player=$!
cat >loop.yaml <<YAML
sources: [{type: zmq, endpoint: "tcp://127.0.0.1:$port", timeout_s: 60}]
sinks: [{type: osc, endpoint: "127.0.0.1:9"}]
YAML
code=0; "$SYNFIRE" doctor --loop loop.yaml --pulses 2 --apart 1 --wait 5 --answer ttl9 --json >out || code=$?
kill $player
[ $code = 1 ]
check "
loop = out['loop']
assert not out['ok'] and out['checks'] == [] and loop['median_ms'] is None and loop['marker'] == 'ttl9', out
assert loop['pulses'] == 2 == loop['lost'] + loop['failed'] and loop['trips_ms'] == [], loop"

# refused CODE PLACE WORDS COMMAND...: a program is told in JSON what a person reads on stderr.
refused() {
    local code=$1 place=$2 words=$3
    shift 3
    expect "$code" "$words" "$SYNFIRE" "$@" --json
    check "
error = out['error']
assert error['exit_code'] == $code and error['place'] == $place, error
assert '$words' in error['message'] or '$words'.endswith(error['message']), error
assert 'synfire: ' in open('err').read() and error['message'] in open('err').read()"
}
refused 66 "'absent.h5'" "No such file" info absent.h5
refused 65 "'two.txt'" "line 2: expected" info two.txt
refused 64 "'--delay'" "is not a delay interval" mine sim.h5 --delay six
refused 64 "'--colour'" "is no option of this command" info sim.h5 --colour
refused 64 None "an argument is missing" graph
refused 64 "'--pulses'" "is for --loop" doctor --pulses 3
refused 64 "'--folder'" "does not go with --loop" doctor --loop --folder .
refused 64 "'--csv'" "does not go with --json" mine sim.h5 --csv
refused 78 "'--set mine.nothing'" "there is no key" run --replay sim.h5 --set mine.nothing=1

# Messages of a run that asks for all there is.
cat >all.yaml <<'YAML'
sources:
  - {type: replay, recording: sim.h5, speed: max}
device: cpu
window: {length_s: 10, hop_s: 5}
mine: {delays_ms: "4:6", every: 1, max_size: 3}
watch: ["A -(4,6]-> B -(4,6]-> C"]
triggers: [{name: reward, episode: "A -(4,6]-> B", refractory_ms: 100}, {on: trigger, name: control, follows: reward}]
track: ["A -(4,6]-> B"]
bursts: {within_ms: 15}
responses: {marker: ttl0, to_ms: 50}
criticality: {every_s: 5, length_s: 8, lags: 100}
features: {bin_ms: 100, units: ["*"], episodes: ["*"], edges: ["B -(4,6]-> C"]}
graph:
  reach: [{from: A, hops: 3}]
  reach_all: 2
  components: true
  patterns: [{pattern: chain-3, limit: 3}]
  census: true
  rewired: 3
density:
  - {quantity: isi, unit: "*"}
  - {quantity: delay, episode: "A -(4,6]-> B"}
  - {quantity: rate, unit: A}
  - {quantity: position, method: scott, grid: 8}
sinks:
  - {type: jsonl, path: run.jsonl, policy: block}
  - {type: osc, endpoint: "127.0.0.1:7729"}
YAML
holds run all.yaml --quiet
schema lines run.jsonl >topics
for topic in burst criticality decision delivery density episodes features features_names graph response status trigger; do
    grep -q "$topic [1-9]" topics || { cat topics; exit 1; }
done
holds run all.yaml --quiet --max-q 0.5 --max-p 0.5 --set graph.metric=sttc --set graph.surrogates=0 --set sinks.0.overwrite=true
schema lines run.jsonl >topics
schema document-*.json graph.json
