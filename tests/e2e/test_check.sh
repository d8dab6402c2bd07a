# SPDX-License-Identifier: Apache-2.0
# `run --check` is the run's own opening: what it accepts opens, and what a run refuses is refused by the same sentence,
# with a recording beside it and without.
. "$E2E/functions.sh"
"$SYNFIRE" simulate --duration 2 sim.csv --quiet >/dev/null

as_run() { # CODE LINE
    echo "$2" >run.yaml
    "$SYNFIRE" run run.yaml --replay sim.csv --speed max --quiet >/dev/null 2>ran && code=0 || code=$?
    [ $code = "$1" ] || { echo "run: $code: $2"; cat ran; return 1; }
    for with in "--replay sim.csv" ""; do
        "$SYNFIRE" run run.yaml --check --quiet $with >/dev/null 2>checked && code=0 || code=$?
        [ $code = "$1" ] && { [ $code = 0 ] || cmp -s ran checked; } || { echo "--check $with: $code: $2"; cat ran checked; return 1; }
    done
}

as_run 78 'mine: {max_size: 1}'
as_run 78 'mine: {engine: fastest}'
as_run 78 'watch: ["A -(0,"]'
as_run 78 'track: ["A -(0,5]-> B", "A -(0,5]-> B"]'
as_run 78 'triggers: [{name: a, episode: "A -(5,5]-> B"}]'
as_run 78 'features: {bin_ms: 10, units: [A, A]}'
as_run 78 'features: {bin_ms: 10, edges: ["A -(0,5]-> B -(0,5]-> C"]}'
as_run 78 'density: [{quantity: delay, episode: A}]'
as_run 78 'density: [{quantity: position, method: isj}]'
as_run 78 'graph: {patterns: [{pattern: "A ->"}]}'
as_run 0 'mine: {engine: reference, max_size: 2}'
as_run 0 'density: [{quantity: isi, unit: B}, {quantity: position, method: scott}]'
as_run 0 '{watch: ["A -(0,5]-> #3 -(0,5]-> \"B\""], triggers: [{name: a, episode: "C -(0,5]-> D"}], features: {bin_ms: 10, units: [E], episodes: [a]}}'
as_run 0 'graph: {reach: [{from: A, hops: 2}]}'

# Names can be wrong only where they are known.
echo 'watch: ["A -(0,5]-> nobody"]' >run.yaml
"$SYNFIRE" run run.yaml --check >/dev/null
expect 78 "watch.0: A -(0,5]-> nobody: column 12: no unit is named 'nobody'" "$SYNFIRE" run run.yaml --check --replay sim.csv

# Sinks, but for who else is bound or connects: several runs may stand in one file, and one of them runs.
refuses() { # CODE WORDS SINK
    echo "sinks: [$3]" >run.yaml
    expect "$1" "$2" "$SYNFIRE" run run.yaml --check
    expect "$1" "$2" "$SYNFIRE" run run.yaml --replay sim.csv --speed max --quiet
}
refuses 78 "bogus: is no ZeroMQ endpoint" '{type: zmq, endpoint: bogus}'
refuses 78 "is no ZeroMQ endpoint" '{type: zmq, endpoint: "tcp://127.0.0.1:99999"}'
refuses 78 "say \`insecure: true\`" '{type: zmq, endpoint: "tcp://*:7710"}'
refuses 78 "say \`insecure: true\`" '{type: web, endpoint: "0.0.0.0:7730"}'
refuses 78 "expected HOST:PORT" '{type: web, endpoint: "http://127.0.0.1:99999"}'
refuses 78 "is no OSC receiver" '{type: osc, endpoint: bogus}'
refuses 73 "nowhere/run.h5: cannot create: No such file or directory" '{type: hdf5, path: nowhere/run.h5}'
refuses 73 "nowhere/run.jsonl: cannot create: No such file or directory" '{type: jsonl, path: nowhere/run.jsonl}'
python3 - <<'PY'
import os, socket, subprocess
taken = socket.create_server(("127.0.0.1", 0))
open("run.yaml", "w").write('sinks: [{type: zmq, endpoint: "tcp://127.0.0.1:%d"}]' % taken.getsockname()[1])
subprocess.run([os.environ["SYNFIRE"], "run", "run.yaml", "--check", "--quiet"], check=True, stdout=subprocess.DEVNULL)
PY
