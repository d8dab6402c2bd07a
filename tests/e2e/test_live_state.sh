# SPDX-License-Identifier: Apache-2.0
# A run is asked for aggregates of the densities that it keeps: what it answers of a window is what `aggregate` says of that
# stretch of the recording, in the protocol and by --from-state; states of runs are kept, and add up.
. "$E2E/functions.sh"
need_python

control() {
    "$SYNFIRE_PYTHON" -B "$E2E/../../examples/control.py" "ipc://$PWD/control" token "$@"
}

ask() {
    "$SYNFIRE" aggregate --from-state "ipc://$PWD/control" --token token "$@"
}

"$SYNFIRE" simulate sim.h5 --preset sym26 --duration 300 --seed 5 --quiet >/dev/null
(umask 077 && head -c 24 /dev/urandom | base64 >token)
cat >run.yaml <<YAML
sources: [{type: replay, recording: sim.h5, speed: 2}]
device: cpu
window: {length_s: 400, hop_s: 0.5}
mine: {every: 0}
significance: {kind: "off"}
graph: {enabled: false}
density: [{quantity: isi, unit: "*"}, {quantity: rate, unit: A}, {quantity: delay, episode: "A -(0,20]-> B"}, {quantity: position}]
control: [{endpoint: "ipc://$PWD/control", token_file: token, hold: true}]
sinks: [{type: jsonl, path: run.jsonl}]
YAML
"$SYNFIRE" run run.yaml >run.out 2>run.err &
run=$!
trap 'kill $run 2>/dev/null || true' EXIT
for _ in $(seq 600); do
    ! grep -q 'control listens at' run.err || break
    sleep 0.1
done
expect 69 'not enough data: found 0 samples' ask --density 'isi A' --range 0:1
control start
for _ in $(seq 600); do # the bandwidth is chosen from 50 intervals on
    ! ask --density 'rate A' --range 0:100 >/dev/null 2>err || ! ask --density 'isi A' --range 0:1 >/dev/null 2>err || break
    sleep 0.1
done

# As the command says of the same stretch with the same bandwidth, four times in the stream that goes on.
for op in count sum avg var; do
    control aggregate 'isi A' $op 0.002 0.05 >answer
    "$SYNFIRE_PYTHON" -B - "$SYNFIRE" "$E2E" $op <<'PY'
import json, subprocess, sys
sys.path.insert(0, sys.argv[2])
import schema
live = schema.read("answer")["aggregate"]
assert live["density"] == "isi A" and live["op"] == sys.argv[3] and live["left_out"] == 0, live
whole, rest = divmod(live["to_ns"], 10**9)
def recorded(op):
    return json.loads(subprocess.run(
        [sys.argv[1], "aggregate", "sim.h5", "--quantity", "isi", "--units", "A", "--log", "--to", f"{whole}.{rest:09d}",
         "--bandwidth", repr(live["h"]), "--range", "0.002:0.05", "--op", op, "--json"],
        check=True, capture_output=True).stdout)
out = recorded(sys.argv[3])
assert out["n"] == live["n"] >= 50, (out, live)
if live["op"] == "var": # the kurtosis is of samples, which the run does not keep: its bar is that of normal values
    out["sampling_error"] = out["estimate"] * (2 / recorded("count")["estimate"]) ** 0.5
for key in ("estimate", "sampling_error"):
    assert abs(out[key] - live[key]) <= 2e-6 * abs(out[key]), (key, out, live)
assert abs(out["smoothing_error"] - live["smoothing_error"]) <= 1e-3 * abs(out["smoothing_error"]), (out, live)
PY
done
control aggregate 'rate A' avg >answer
"$SYNFIRE_PYTHON" -B -c "
import sys
sys.path.insert(0, '$E2E')
import schema
rate = schema.read('answer')['aggregate']
assert rate['from'] is None and rate['to'] is None, rate
assert 5 < rate['estimate'] < 60, rate" # the mean rate of a unit

# The state goes over the socket; what it answers beside the run is what the run answers.
control state 'isi B' >state
"$SYNFIRE_PYTHON" -B -c "
import sys
sys.path.insert(0, '$E2E')
import schema
state = schema.read('state')['state']
assert state['quantity'] == 'isi' and state['name'] == 'B' and state['unit'] == 1, state
assert state['phi'][:2] == [1, 0] or abs(state['phi'][0] - 1) < 1e-6, state['phi'][:2]"
ask --density 'isi B' --save b.h5 --range 0.002:0.05 --json >out
check "
assert out['quantity'] == 'isi' and out['name'] == 'B' and out['unit'] == 1 and out['states'] == 1, out
assert out['n'] >= 50 and out['sampling_error'] > 0 and out['exact'] is None and out['saved'] == 'b.h5', out"
cp out first
ask --density 'isi A' --save a.h5 --json >out
"$SYNFIRE" aggregate --from-state a.h5 b.h5 --range 0.002:0.05 --save both.h5 --json >out 2>err
must_fail grep . err # they add up to one
check "
import json
first = json.load(open('first'))
assert out['states'] == 2 and out['name'] is None and out['n'] > first['n'], out
assert out['estimate'] > first['estimate'], (out, first)"
"$SYNFIRE" aggregate --from-state b.h5 --range 0.002:0.05 --json >out
check "
import json
first = json.load(open('first'))
assert out['n'] == first['n'] and out['estimate'] == first['estimate'], (out, first)"
ask both.h5 --density 'isi C' --range 0.002:0.05 --json >out # a run and a file together
check "assert out['states'] == 2 and out['name'] is None, out"

# What is refused, and that the run goes on.
expect 69 "the run keeps none that is called 'isi nobody'" ask --density 'isi nobody' --range 0:1
expect 69 'positions are kept as counts' ask --density position --range 0:1
expect 64 'is of samples: a state has none' ask --density 'isi A' --exact --range 0:1
expect 64 'density: is needed to ask the run' ask --range 0:1
expect 64 'token: is needed to ask the run' "$SYNFIRE" aggregate --from-state "ipc://$PWD/control" --density 'isi A' --range 0:1
expect 64 'is of runs: no argument is a control socket' "$SYNFIRE" aggregate --from-state a.h5 --range 0:1 --density 'isi A'
expect 64 'is of runs: with --from-state' "$SYNFIRE" aggregate sim.h5 --quantity isi --units A --range 0:1 --density 'isi A'
expect 69 'no answer came within 0.1 s' "$SYNFIRE" aggregate --from-state "ipc://$PWD/nobody" --token token --density 'isi A' --range 0:1 --wait 0.1
must_fail control aggregate 'isi A' most 2>refusal
grep -q 'expected count, sum, avg or var' refusal
must_fail control aggregate 'isi A' avg 2 1 2>refusal
grep -q 'expected from < to' refusal
control status >answer
control stop
wait $run
grep -q '"last":true' run.jsonl
