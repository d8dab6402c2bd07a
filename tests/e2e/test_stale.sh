# SPDX-License-Identifier: Apache-2.0
# A spike's age is that of the stream: whatever waited in the sender, in a socket, or while the run itself was stopped,
# triggers nothing, and disarms. How fast this machine is decides nothing here: what is late of itself is withheld too, and where
# no origin says when spikes were due, they may be later by as much as the most punctual ones before them.
. "$E2E/functions.sh"
need_python
read -r port osc proxy <<<"$(free_ports 3)"
endpoint=tcp://127.0.0.1:$port
trap 'kill -KILL $(jobs -p) 2>/dev/null || true' EXIT

cat >run.yaml <<YAML
sources: [{type: zmq, endpoint: "$endpoint"}]
window: {length_s: 1, hop_s: 0.5}
mine: {every: 0}
graph: {enabled: false}
triggers: [{name: pair, episode: "A -(0,10]-> B", max_age_ms: 100}]
sinks:
- {type: jsonl, path: run.jsonl, policy: block, overwrite: true}
- {type: hdf5, path: run.h5, policy: block, overwrite: true}
- {type: zmq, endpoint: "ipc://$PWD/told"}
- {type: osc, endpoint: "127.0.0.1:$osc"}
YAML

# A rig that sends more at once than a trigger's age: --check says so.
cat >intan.yaml <<YAML
sources: [{type: intan, endpoint: "tcp://127.0.0.1:$port"}]
triggers: [{name: pair, episode: '"A-000" -(0,10]-> "A-001"', max_age_ms: 42}]
sinks: [{type: jsonl, path: never.jsonl}]
YAML
"$SYNFIRE" run intan.yaml --check >resolved 2>err
grep -q 'sources.0: Intan RHX sends 42.7 ms at once, by its setting TCPNumberDataBlocksPerWrite .* triggers.0.max_age_ms (42)' err
"$SYNFIRE" run intan.yaml --check --set triggers.0.max_age_ms=43 >resolved 2>err
[ ! -s err ]

preload= through=$endpoint
start() { # SECONDS [options of the sender]
    rm -f zero run.jsonl err
    "$SYNFIRE_PYTHON" "$E2E/late_sender.py" "$endpoint" "$@" >zero &
    sender=$!
    LD_PRELOAD=$preload "$SYNFIRE" run run.yaml --set "sources.0.endpoint=$through" >table.run 2>err &
    run=$!
    until [ -s zero ]; do
        kill -0 "$sender" && kill -0 "$run"
        sleep 0.1
    done
}

# until_said WORDS FILE [COUNT]: waits for so many lines with these words, as long as the run goes on.
until_said() {
    until [ -e "$2" ] && [ "$(grep -c -- "$1" "$2")" -ge "${3:-1}" ]; do
        kill -0 "$run" 2>/dev/null || { echo "the run ended without '$1'"; cat err; return 1; }
        sleep 0.1
    done
}

# until_more_said WORDS FILE: the same for a line more than there are now.
until_more_said() {
    until_said "$1" "$2" $(($(grep -c -- "$1" "$2") + 1))
}

stop() {
    kill -INT "$run"
    wait "$run" || grep -q "the hop was left after 2 s" err || { cat err; return 1; } # which a slow machine may need
    kill -KILL "$sender"
    wait "$sender" 2>/dev/null || true
}

# No trigger left later than max_age_ms after it was due, by the sender's own clock, and what was later was known to be.
judge() { # what a source was behind at some time, s; whether the origin is known
    "$SYNFIRE_PYTHON" - "$@" <<'PY'
import json, sys
behind_s, has_origin = float(sys.argv[1]), sys.argv[2] == "--origin"
zero = int(open("zero").read())
said = [json.loads(line) for line in open("run.jsonl")]
decisions = [m for m in said if m["topic"] == "decision"]
# How late the two most punctual ones so far were without being seen to be: the stream can be no later than that in silence.
last = [0.0, 0.0] if has_origin else [float("inf"), float("inf")]
for m in decisions:
    age_ns = m["decided_ns"] - (zero + m["time_ns"])
    unseen_ns = age_ns - m["wait_ms"] * 1e6
    drift_ns = 1e-3 * (m["decided_ns"] - zero)  # more than the run allows two clocks
    assert unseen_ns <= last[1] + drift_ns, (m, unseen_ns, last)
    assert m["outcome"] != "sent" or m["wait_ms"] <= 100, m
    last = sorted(last + [unseen_ns])[:2]
disarms = ("too old", "source stalled")  # a machine so slow that nothing came for a second stalls
sent = [m["outcome"] == "sent" for m in decisions]
armed = sent.index(True) if True in sent else len(sent)  # behind what waited for the run
first = next((i for i, m in enumerate(decisions) if i > armed and m["reason"] in disarms), len(sent))
assert not any(sent[first:])
# Where it was armed only behind what was late, on a slow machine, nothing was left to disarm it.
assert first < len(sent) or not any(m["wait_ms"] > 100 for m in decisions[armed + 1:])
assert all(m["wait_ms"] > 100 for m in decisions[first:first + 1] if m["reason"] == "too old"), decisions[first]
behind = [m["sources"][0]["behind_s"] for m in said if m["topic"] == "status"]
assert max(b for b in behind if b is not None) >= behind_s, behind
print(len(decisions), "decisions,", sum(sent), "sent")
PY
}

start 20 --hold 3 0.9 # the sender
until_said '"topic":"decision"' run.jsonl 82
stop
judge 0 none

"$SYNFIRE_PYTHON" "$E2E/holding_proxy.py" "$proxy" "$port" 0.9 &
holding=$!
through=tcp://127.0.0.1:$proxy
start 20 # the network: what the sender wrote in time waits on the way
until_said '"topic":"decision"' run.jsonl 20
kill -USR1 $holding
until_more_said '"outcome":"withheld"' run.jsonl
stop
judge 0 none
kill $holding
through=$endpoint

for origin in none --origin; do # the run itself: a paused virtual machine, swap
    start 20 "$origin"
    until_said '"topic":"decision"' run.jsonl 20
    kill -STOP "$run"
    sleep 0.9
    kill -CONT "$run"
    until_more_said '"outcome":"withheld"' run.jsonl
    stop
    judge 0 "$origin"
done

if [ -z "$SYNFIRE_SANITIZE" ]; then # the machine was suspended, and the sender was not
    preload=$SYNFIRE_BUILD/tests/libsynfire_test_suspended.so
    start 20
    until_said '"topic":"decision"' run.jsonl 20
    kill -USR1 "$run"
    until_more_said '"outcome":"withheld"' run.jsonl
    until_said '"behind_s":\([7-9]\|[1-9][0-9]\)' run.jsonl
    stop
    judge 7.9 none
    preload=
fi

start 20 --behind 6 --origin # from the start on, as the origin says
until_said "its spikes come .* s after they were due" err
until_said '"topic":"decision"' run.jsonl
until_said '"topic":"status"' run.jsonl
"$SYNFIRE" top "ipc://$PWD/told" --once --wait 60 >table
grep -q "^$endpoint is [0-9.]* s behind" table
"$SYNFIRE" top "ipc://$PWD/told" --json --wait 60 >out
check "assert [r['behind_s'] > 5.9 for r in out['rows'] if r['kind'] == 'source'] == [True]"
"$SYNFIRE_PYTHON" - "$osc" <<'PY'
import socket, struct, sys
listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
listener.settimeout(60)
listener.bind(("127.0.0.1", int(sys.argv[1])))
while not (told := listener.recv(65536)).startswith(b"/synfire/source/behind\0"):
    pass
assert struct.unpack(">f", told[-4:])[0] > 5.9, told
PY
stop
judge 5.9 --origin
"$SYNFIRE_PYTHON" - <<'PY'
import h5py
behind = h5py.File("run.h5")["results/sources"]["behind_s"][:]
assert max(behind[behind > 0]) > 5.9, behind
PY

start 20 --write 0.4 # a rig that writes seldom
until_said "were older than max_age_ms (100) when they came: triggers on them do not stay armed" err
stop
judge 0 none
