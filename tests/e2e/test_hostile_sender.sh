# SPDX-License-Identifier: Apache-2.0
# Memory has bounds that a sender cannot move, however large its frames are, however many of them wait, and when a message
# never ends; and where descriptors run out there is a sentence, where libzmq would abort.
. "$E2E/functions.sh"
read -r port out_port <<<"$(free_ports 2)"
cat >run.yaml <<YAML
sources: [{type: zmq, endpoint: "tcp://127.0.0.1:$port", timeout_s: 10}]
mine: {every: 0}
sinks: [{type: zmq, endpoint: "tcp://127.0.0.1:$out_port", wait_subscribers: 1}]
YAML

# peak MIB KIND FRAME_BYTES TOTAL_BYTES: a run that takes nothing, since its subscriber never comes (or, with WAIT=0, all
# that comes), stays below MIB.
peak() {
    python3 "$E2E/hostile_sender.py" $port "$2" "$3" "$4" >sent &
    local sender=$!
    python3 - "$1" $sender <<'PY'
import os, resource, signal, subprocess, sys
run = subprocess.Popen([os.environ["SYNFIRE"], "run", "run.yaml", "--quiet", "--set", "sinks.0.wait_subscribers=" + os.environ.get("WAIT", "1")],
                       stderr=open("err", "w"))
while subprocess.run(["kill", "-0", sys.argv[2]], capture_output=True).returncode == 0 and run.poll() is None:
    try:
        run.wait(0.2)
    except subprocess.TimeoutExpired:
        pass
run.send_signal(signal.SIGINT)
try:
    code = run.wait(120)
except subprocess.TimeoutExpired:
    run.kill()
    raise
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
print(f"peak {peak} MiB, exit code {code}")
assert peak < int(sys.argv[1]), peak
assert code >= 0, code
PY
    wait $sender || true
    cat sent
}
if [ -z "$SYNFIRE_SANITIZE" ]; then # which take memory of their own
    WAIT=0 peak 200 long 100000000 3000000000
    grep -q "longer than 16 MiB" err
    grep -qv "in 1 connections" sent # it is heard again
    peak 700 data 16777216 2000000000
    peak 700 endless 1000000 1500000000
    grep -q "cut off: it sent 384 MiB that make no frame" err
fi

# Too few descriptors.
"$SYNFIRE" simulate sim.h5 --preset sym26 --duration 2 --quiet >/dev/null
few() {
    ulimit -n 24
    [ -n "$SYNFIRE_SANITIZE" ] || expect 69 "\`ulimit -n 64\`" "$SYNFIRE" run run.yaml --replay sim.h5 --quiet \
        --set sinks.1.type=hdf5 --set sinks.1.path=run.h5 --set sinks.2.type=jsonl --set sinks.2.path=run.jsonl
    ulimit -n 14
    expect 69 "open files and sockets, and of the 14 that are allowed" "$SYNFIRE" run run.yaml --quiet
    expect 69 "open files and sockets" "$SYNFIRE" record run.yaml out.h5 --quiet
    expect 69 "open files and sockets" "$SYNFIRE" play sim.h5 --to "tcp://127.0.0.1:$port" --quiet
}
( few )
[ ! -e run.h5 ]
[ ! -e out.h5 ]

# What other machines could reach is bound only where that is said.
for address in "*" 0.0.0.0 "[::]" 192.168.1.77; do
    expect 64 "say --insecure" "$SYNFIRE" play sim.h5 --to "tcp://$address:$port" --subscribers 0 --quiet
    expect 78 "say \`insecure: true\`" "$SYNFIRE" run --replay sim.h5 --quiet --set sinks.0.type=zmq \
        --set "sinks.0.endpoint=tcp://$address:$port"
done
"$SYNFIRE" play sim.h5 --to "tcp://*:$port" --insecure --subscribers 0 --speed max --quiet >/dev/null
"$SYNFIRE" run --replay sim.h5 --quiet --speed max --set sinks.0.type=zmq --set "sinks.0.endpoint=tcp://*:$port" \
    --set sinks.0.insecure=true >/dev/null
interface=$(ls /sys/class/net | grep -vx lo | head -n 1 || true)
if [ -n "$interface" ]; then
    "$SYNFIRE" play sim.h5 --to "tcp://$interface:$port" --subscribers 0 --speed max --quiet >/dev/null 2>err && exit 1
    grep -q "say --insecure" err
fi
"$SYNFIRE" play sim.h5 --to "tcp://lo:$port" --subscribers 0 --speed max --quiet >/dev/null
