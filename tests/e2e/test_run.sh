# SPDX-License-Identifier: Apache-2.0
# synfire run and record: words, signals, outputs that cannot be, and what is left on disk.
. "$E2E/functions.sh"
read -r in_port out_port <<<"$(free_ports 2)"
"$SYNFIRE" simulate sim.h5 --preset sym26 --duration 20 --seed 2 --quiet >/dev/null

# Configurations that cannot be: the file, line, column and key, and exit code 78.
echo 'windows: {length_s: 5}' >bad.yaml
expect 78 "bad.yaml:1:1" "$SYNFIRE" run bad.yaml
echo 'window: {length_s: five}' >bad.yaml
expect 78 "bad.yaml:1:20: window.length_s" "$SYNFIRE" run bad.yaml
echo 'window: {length_s: 1, hop_s: 2}' >bad.yaml
expect 78 "bad.yaml:1:20: window.length_s" "$SYNFIRE" run bad.yaml --replay sim.h5
echo 'watch: ["A -(4,6]-> nobody"]' >bad.yaml
expect 78 "bad.yaml:1:9: watch.0" "$SYNFIRE" run bad.yaml --replay sim.h5
echo '{}' >empty.yaml
expect 78 "no sources" "$SYNFIRE" run empty.yaml
expect 64 "--replay and a recording" "$SYNFIRE" run
expect 64 "expected --replay" "$SYNFIRE" run empty.yaml --from 3
expect 64 "--speed" "$SYNFIRE" run --replay sim.h5 --speed fast
cp sim.h5 kept.h5
printf 'sources: [{type: replay, recording: sim.h5, speed: max}]\nsinks: [{type: jsonl, path: own.yaml, overwrite: true}]\n' >own.yaml
expect 78 "own.yaml is the configuration of this run" "$SYNFIRE" run own.yaml --quiet
grep -q '^sources' own.yaml
expect 78 "is the recording that is replayed" "$SYNFIRE" run --replay ./sim.h5 --quiet --speed max \
    --set sinks.0.type=hdf5 --set sinks.0.path=sim.h5 --set sinks.0.overwrite=true
expect 78 "is the recording that is replayed" "$SYNFIRE" record empty.yaml sim.h5 --quiet --overwrite \
    --set sources.0.type=replay --set sources.0.recording=sim.h5
for over in "graph sim.h5 --out sim.h5" "mine sim.h5 --occurrences ./sim.h5" "bfs sim.h5 --source A --out sim.h5" \
    "density sim.h5 --quantity isi --units A --plot sim.h5"; do
    expect 64 "would write over the input" "$SYNFIRE" $over
done
cmp sim.h5 kept.h5
expect 64 "--check: prints YAML" "$SYNFIRE" run --replay sim.h5 --check --json
expect 64 "--duration" "$SYNFIRE" run --replay sim.h5 --duration -1
expect 64 "--max-q: found '0', expected a number above 0 and at most 1" "$SYNFIRE" run --replay sim.h5 --max-q 0
expect 64 "--significance: found 'analytic'" "$SYNFIRE" run --replay sim.h5 --significance analytic
expect 78 "significance.max_p: found 0.1, expected 0 where significance.kind is off" "$SYNFIRE" run --replay sim.h5 \
    --significance off --max-p 0.1
expect 78 "window.size" "$SYNFIRE" run --replay sim.h5 --set window.size=3
expect 66 "nowhere.yaml" "$SYNFIRE" run nowhere.yaml
expect 66 "nowhere.h5" "$SYNFIRE" run --replay nowhere.h5
expect 66 "directory" "$SYNFIRE" run --replay .
expect 69 "synfire play" "$SYNFIRE" run empty.yaml --quiet --set sources.0.type=zmq \
    --set "sources.0.endpoint=tcp://127.0.0.1:$in_port" --set sources.0.timeout_s=0.3

# Outputs that cannot be.
jsonl="--set sinks.0.type=jsonl --set sinks.0.policy=block"
expect 73 "/nowhere/out.jsonl" "$SYNFIRE" run --replay sim.h5 --quiet $jsonl --set sinks.0.path=/nowhere/out.jsonl
touch there.jsonl
"$SYNFIRE" run --replay sim.h5 --speed max $jsonl --set sinks.0.path=there.jsonl >/dev/null 2>err
grep -q "there.jsonl is there already: what comes now goes to there-2.jsonl" err
grep -q ": jsonl writes to there-2.jsonl" err
[ ! -s there.jsonl ]
[ -s there-2.jsonl ]
mkfifo pipe.h5 # which nobody reads: refused, not waited for
expect 73 "pipe.h5: is a device or a pipe" timeout -k 1 60 "$SYNFIRE" run --replay sim.h5 --quiet \
    --set sinks.0.type=hdf5 --set sinks.0.path=pipe.h5
bounded="ulimit -v 2000000;"
[ -z "$SYNFIRE_SANITIZE" ] || bounded="" # which takes more addresses itself
for words in "run" "plan" "density" "info sim.h5 --epochs"; do # no end of it is looked for
    expect 66 "/dev/zero: is a device, expected a file" bash -c "$bounded $SYNFIRE $words /dev/zero"
done
code=0 # said when it happens, and once more as the reason of the exit code: the run itself goes on to its end
"$SYNFIRE" run --replay sim.h5 --speed max --quiet $jsonl --set sinks.0.path=/dev/full \
    --set sinks.0.overwrite=true 2>err || code=$?
[ $code = 74 ]
[ "$(grep -c "/dev/full: No space left" err)" = 2 ]
python3 -c "
import socket, sys, time
s = socket.socket(); s.bind(('127.0.0.1', $out_port)); s.listen(); print('bound', flush=True); time.sleep(60)" >bound &
holder=$!
until grep -q bound bound; do sleep 0.05; done
expect 69 "$out_port" "$SYNFIRE" run --replay sim.h5 --quiet --set sinks.0.type=zmq \
    --set "sinks.0.endpoint=tcp://127.0.0.1:$out_port"
kill $holder

# The resolved configuration loads to itself.
"$SYNFIRE" run --replay sim.h5 --set window.length_s=4 --check >resolved.yaml
"$SYNFIRE" run resolved.yaml --check | cmp - resolved.yaml
expect 78 "graph.patterns.0.pattern: pattern:1:5: found the end" "$SYNFIRE" run --check \
    --set "graph.patterns.0.pattern=A ->" resolved.yaml

# SIGINT and SIGTERM drain and close in order: the closing status is there, and the exit code is 0.
for signal in INT TERM; do
    "$SYNFIRE" run --replay sim.h5 --quiet $jsonl --set sinks.0.path=$signal.jsonl \
        --set window.length_s=1 --set window.hop_s=0.2 &
    runner=$!
    until [ -s $signal.jsonl ]; do sleep 0.1; done
    kill -$signal $runner
    wait $runner
    tail -n 1 $signal.jsonl | grep -q '"topic":"status".*"last":true'
done

# A second SIGINT leaves at once, threads and all: here while the first one's drain waits for a reader that takes nothing.
mkfifo stuck.jsonl
exec 7<>stuck.jsonl
TSAN_OPTIONS="${TSAN_OPTIONS:-}:report_thread_leaks=0" \
    "$SYNFIRE" run --replay sim.h5 --speed max --quiet $jsonl --set sinks.0.path=stuck.jsonl \
    --set sinks.0.overwrite=true --set window.length_s=0.1 --set window.hop_s=0.05 &
runner=$!
read -r -n 1 -u 7 # it runs, and listens to signals
kill -INT $runner
sleep 0.3
kill -0 $runner
while kill -INT $runner 2>/dev/null; do sleep 0.1; done # two at once are one to a process that has not looked yet
code=0; wait $runner || code=$?
[ $code = 130 ]
exec 7>&-

# One JSON document, and the live lines where no terminal is.
"$SYNFIRE" run --replay sim.h5 --speed max --json --quiet | python3 -c '
import json, sys
summary = json.load(sys.stdin)
assert summary["status"]["last"] and summary["status"]["spikes"] > 5000
assert summary["episodes"]["partial"] is False'
"$SYNFIRE" run --replay sim.h5 --speed max --set mine.delays_ms=4:6 --set mine.max_size=8 >table 2>/dev/null
grep -q "A > B > C .*whole" table

# By either schedule every sink is told the same, but for what a clock on the wall decides.
for schedule in derived sequential; do
    "$SYNFIRE" run --replay sim.h5 --speed max --schedule $schedule --quiet --set mine.delays_ms=4:6 \
        --set graph.census=true --set density.0.quantity=isi --set density.0.unit='*' \
        --set sinks.0.type=jsonl --set sinks.0.path=$schedule.jsonl --set sinks.0.policy=block
done
python3 - <<'PY'
import json, re
clock = re.compile(r"age_ms|discovery_ms|test_ms|test_share|stages|sources|sinks|run_s|latency|window_fill|provenance|command")
def told(path):
    with open(path) as lines:
        messages = [json.loads(line) for line in lines]
    return [{k: v for k, v in m.items() if not clock.fullmatch(k) and (k, m["topic"]) != ("spikes", "status")}
            for m in messages]
derived, sequential = told("derived.jsonl"), told("sequential.jsonl")
assert derived == sequential and len(derived) > 100, len(derived)
PY
"$SYNFIRE" run --replay sim.h5 --schedule sequential --check | grep -qx 'schedule: sequential'

# A recorder that is killed leaves a file that reads up to its last flush.
"$SYNFIRE" play sim.h5 --to "tcp://127.0.0.1:$in_port" --speed 1 --quiet &
player=$!
"$SYNFIRE" record empty.yaml session.h5 --quiet --set sources.0.type=zmq \
    --set "sources.0.endpoint=tcp://127.0.0.1:$in_port" &
recorder=$!
spikes() { "$SYNFIRE" info "$1" --json --quiet | python3 -c 'import json, sys; print(json.load(sys.stdin)["spikes"])'; }
flushed() { HDF5_USE_FILE_LOCKING=FALSE spikes session.h5 2>/dev/null || echo 0; }
until [ "$(flushed)" -gt 1000 ]; do sleep 0.2; done
kill -KILL $recorder
code=0; wait $recorder 2>/dev/null || code=$?
kill -INT $player
wait $player || true
[ "$(spikes session.h5)" -gt 1000 ]
before=$(spikes session.h5)
"$SYNFIRE" record empty.yaml session.h5 --quiet --set sources.0.type=replay \
    --set sources.0.recording=sim.h5 --set sources.0.speed=max
[ "$(spikes session.h5)" = "$before" ]
[ "$(spikes session-2.h5)" = "$(spikes sim.h5)" ]
"$SYNFIRE" record empty.yaml session.h5 --quiet --overwrite --set sources.0.type=replay \
    --set sources.0.recording=sim.h5 --set sources.0.speed=max
[ "$(spikes session.h5)" = "$(spikes sim.h5)" ]
