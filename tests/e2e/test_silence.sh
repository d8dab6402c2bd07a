# SPDX-License-Identifier: Apache-2.0
# Senders that die, hang, come back and never say END: status goes out by wall clock, every sink says how each source is,
# one that comes back at clock 0 is joined on, and the run ends by itself when nobody is left.
. "$E2E/functions.sh"
need_python
read -r port other_port out_port osc_port <<<"$(free_ports 4)"
endpoint=tcp://127.0.0.1:$port
trap 'kill -KILL $(jobs -p) 2>/dev/null || true' EXIT

send() { # ENDPOINT SECONDS [options]
    "$SYNFIRE_PYTHON" "$E2E/steady_sender.py" "$@" >>opened &
    sender=$!
}
configure() { # TIMEOUT_S
    rm -f run.jsonl
    cat >run.yaml <<YAML
sources: [{type: zmq, endpoint: "$endpoint", timeout_s: $1}]
window: {length_s: 1, hop_s: 0.5}
mine: {every: 0}
track: ["A -(4,6]-> B"]
graph: {enabled: false}
sinks:
- {type: jsonl, path: run.jsonl, policy: block, overwrite: true}
- {type: zmq, endpoint: "tcp://127.0.0.1:$out_port", policy: block, wait_subscribers: 1}
- {type: osc, endpoint: "127.0.0.1:$osc_port", policy: block}
- {type: hdf5, path: run.h5, policy: block, overwrite: true}
YAML
}
start_receiver() {
    "$SYNFIRE_PYTHON" "$E2E/receive.py" "tcp://127.0.0.1:$out_port" zmq.jsonl "$osc_port" osc.jsonl &
    receiver=$!
}
wait_open() { # SENDERS
    until [ "$(wc -l <opened)" = "$1" ]; do sleep 0.1; done
    rm opened
}
end_run() { # CODE: what it published has come
    local status=0
    wait "$run" || status=$?
    end_osc "$osc_port"
    wait "$receiver"
    [ "$status" = "$1" ] || { echo "exit code $status"; cat err; return 1; }
}

# It dies, and one like it takes its place at clock 0; then that dies too, and nobody comes.
configure 5
send "$endpoint" 1.5
wait_open 1
send "$endpoint" 1.5 --after stalled # it is started in time: that takes long on a busy machine
start_receiver
"$SYNFIRE" run run.yaml --quiet 2>err &
run=$!
wait_for '"state":"stalled"' run.jsonl
touch stalled
end_run 69
rm opened
grep -q "the sender is gone: nothing came for 10 s, its connection is closed and its stream has no end" err
"$SYNFIRE_PYTHON" - <<'PY'
import json
import h5py
messages = [json.loads(line) for line in open("run.jsonl")]
statuses = [m for m in messages if m["topic"] == "status"]
states = [s["sources"][0]["state"] for s in statuses]
def pass_through(*wanted):  # a busy machine may stall a sender once more
    left = iter(states)
    return all(state in left for state in wanted)

assert pass_through("live", "stalled", "live", "stalled", "lost") and states[-1] == "lost", states
last = statuses[-1]["sources"][0]
assert last["state"] == "lost" and last["restarts"] == last["epochs"] == 1 and last["late"] == 0, last
assert last["missing_spikes"] is None and last["shift_ns"] > 0, last
assert states.count("stalled") >= 2 and states.count("lost") >= 2, states
assert statuses[-1]["spikes"] == last["spikes"], statuses[-1]
windows = [m for m in messages if m["topic"] == "episodes"]
assert all(a["to_ns"] < b["to_ns"] for a, b in zip(windows, windows[1:])), "windows go on"
assert windows[-1]["to_s"] < 4, windows[-1]  # joined on: 3 s of stream, not 1.5 s twice
same = [json.loads(line) for line in open("zmq.jsonl")]
assert [s["sources"][0]["state"] for s in same if s["topic"] == "status"] == states
osc = [line.split() for line in open("osc.jsonl.sources")]
assert [o[1] for o in osc] == states, (osc, states)
with h5py.File("run.h5", "r") as file:
    assert [row["state"].decode() for row in file["results/sources"][:]] == states
PY

# It hangs, longer than the timeout, and goes on: a connected sender is waited for. Its END is followed.
configure 4
send "$endpoint" 4 --hang --end
wait_open 1
start_receiver
"$SYNFIRE" run run.yaml --quiet 2>err &
run=$!
until grep -q '^State:.T' "/proc/$sender/status"; do sleep 0.1; done
wait_for '"state":"lost"' run.jsonl
sleep 3
kill -CONT "$sender"
end_run 0
"$SYNFIRE_PYTHON" - <<'PY'
import json
statuses = [m for m in map(json.loads, open("run.jsonl")) if m["topic"] == "status"]
states = [s["sources"][0]["state"] for s in statuses]
left = iter(states)
assert all(state in left for state in ("live", "stalled", "lost", "live", "ended")), states
last = statuses[-1]["sources"][0]
assert last["gaps"] == last["late"] == last["leaps"] == last["epochs"] == 0, last
assert last["spikes"] == statuses[-1]["spikes"] > 300, last
PY

# It stays and says no more: only a duration ends the run, by wall clock.
configure 2
send "$endpoint" 1 --stay
wait_open 1
start_receiver
"$SYNFIRE" run run.yaml --quiet --duration 9 2>err &
run=$!
end_run 0
kill -KILL "$sender"
grep -q "its sender is still connected and is waited for" err
"$SYNFIRE_PYTHON" - <<'PY'
import json
statuses = [m for m in map(json.loads, open("run.jsonl")) if m["topic"] == "status"]
assert "lost" in [s["sources"][0]["state"] for s in statuses]
PY

# One of two dies: the other's stream goes on to its end, and the dead one is not waited for.
cat >run.yaml <<YAML
sources:
- {type: zmq, endpoint: "$endpoint", timeout_s: 4}
- {type: zmq, endpoint: "tcp://127.0.0.1:$other_port", timeout_s: 4}
window: {length_s: 1, hop_s: 0.5}
mine: {every: 0}
graph: {enabled: false}
sinks: [{type: jsonl, path: run.jsonl, policy: block, overwrite: true}]
YAML
send "$endpoint" 1
send "tcp://127.0.0.1:$other_port" 6 --end
wait_open 2
status=0
"$SYNFIRE" run run.yaml --quiet 2>err || status=$?
[ "$status" = 69 ] || { echo "exit code $status"; cat err; exit 1; }
"$SYNFIRE_PYTHON" - <<'PY'
import json
statuses = [m for m in map(json.loads, open("run.jsonl")) if m["topic"] == "status"]
last = statuses[-1]["sources"]
assert [source["state"] for source in last] == ["lost", "ended"], last
assert last[1]["late"] == 0 and statuses[-1]["spikes"] == last[0]["spikes"] + last[1]["spikes"], last
PY
