# SPDX-License-Identifier: Apache-2.0
# Blackrock's systems: `play` sends as one and a run takes it, to the nearest tick; then so from a sender in Python of each
# protocol, with what it loses counted, a clock that is set to 0, several instruments, and datagrams of others.
. "$E2E/functions.sh"
. "$E2E/rig.sh"
need_python

read -r port own <<<"$(free_ports 2)"
"$SYNFIRE" simulate sim.h5 --unit-count 20 --rate 40 --duration 8 --marker-every 4 --seed 3 --quiet >/dev/null

# UDP makes no sender wait, and a busy computer may lose what it sends: then once more.
for attempt in $(seq 1 20); do
    configure_rig "type: blackrock, endpoint: \"udp://127.0.0.1:$port\", timeout_s: 60, learn_s: 3"
    "$SYNFIRE" run rig.yaml --json >rig.json 2>rig.err &
    run=$!
    trap 'kill $run 2>/dev/null || true' EXIT
    "$SYNFIRE" play sim.h5 --protocol blackrock --to "udp://127.0.0.1:$port" --speed 4 --json >play.json 2>play.err
    all=0
    "$SYNFIRE_PYTHON" - <<'PY' || all=$?
import json, sys, time
sent, end = json.load(open("play.json"))["spikes"], time.monotonic() + 60
while time.monotonic() < end: # until all have come, or some are said to be lost
    told = [line for line in open("rig.jsonl") if '"topic":"status"' in line and line.endswith("\n")][-1:]
    source = json.loads(told[0])["sources"][0] if told else {"spikes": 0, "gap_lost": 0}
    if source["spikes"] >= sent or source["gap_lost"] > 0:
        break
    time.sleep(0.1)
sys.exit(source["spikes"] < sent)
PY
    kill -INT $run
    wait $run || true
    [ $all != 0 ] || break
    echo "attempt $attempt: lost some"
done
grep -q "sending on udp://127.0.0.1:$port, waiting for 1 subscriber" play.err
same_spikes sim.h5 30000 "chr(65 + i) + ':0'"
"$SYNFIRE_PYTHON" -c '
import h5py
def markers(path):
    file = h5py.File(path)
    return [list(file[f"markers/{key}"][:]) for key in ("kind", "line", "state", "text")]
assert markers("rig.h5") == markers("sim.h5"), (markers("rig.h5"), markers("sim.h5"))'

# system PROTOCOL UNIT [ASK]: what the sender sent is what was recorded, each spike with its time, name and amplitude. A datagram
# of 41 packets never comes, another is counted and is no packet; a noise comes with each of the others. Nothing is sent to it unless ASK is where it is asked.
system() {
    local ask=${3:-off} asked=unasked
    [ "$ask" = off ] || asked=asked
    echo "$1 $2 $asked"
    LEAP_S=10 SCHEME=udp foreign blackrock "$port" "learn_s: 0.5, device: 127.0.0.1, ask: '$ask'" \
        '{"gaps": 2, "gap_lost": 42, "malformed": 1, "other_streams": 1, "out_of_range": 599, "epochs": 1}' <<PY
import subprocess, sys
sys.exit(subprocess.call([sys.executable, "-B", "$E2E/cerebus.py", sys.argv[1], "$1", "$2", "$own", "$asked"]))
PY
    grep -q "datagrams so far from elsewhere, the last from 127.0.0.2, are left out" rig.err
    "$SYNFIRE_PYTHON" - <<'PY'
import collections, h5py, json
expected = json.load(open("expected.json"))
file = h5py.File("rig.h5")
names = [n.decode() for n in file["units/name"][:]]

def ns(at):
    return at if expected["step"] > 1 else (at * 10**9 + 15000) // 30000

def since_first(rows):
    return collections.Counter((row[0] - rows[0][0], *row[1:]) for row in rows)

want = [since_first(sorted((ns(at), name, trough) for epoch, at, name, trough in expected["spikes"] if epoch == e)) for e in (0, 1)]
rows = sorted((int(t), names[u], int(a)) for t, u, a in zip(*(file[f"spikes/{key}"][:] for key in ("time_ns", "unit", "amplitude"))))
first = sum(want[0].values()) # the second epoch lies behind the first
got = [since_first(rows[:first]), since_first(rows[first:])]
assert got == want, [list((a - b).items())[:3] for a, b in zip(got, want)]
texts = [t.decode() or f"ttl{line} {state}" for t, line, state in zip(*(file[f"markers/{key}"][:] for key in ("text", "line", "state")))]
assert texts.count("synfire: the clock went back, joined on") == 1
assert [text for text in texts if not text.startswith("synfire: ")] == [" ".join(map(str, row[2:])) for row in expected["markers"]], texts
PY
}

system 3.11 ticks
system 3.11 ticks "udp://127.0.0.1:$own"
system 4.0 ticks
system 4.1 nanoseconds
system 4.2 ticks "udp://127.0.0.1:$own"

# Two systems that send to one port, while another program listens there too: both are told of. A buffer is asked for, and
# what was granted said.
rm -f listens heard
"$SYNFIRE_PYTHON" - "$port" <<'PY' &
import socket, struct, sys, time
port = int(sys.argv[1])
listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", port))
open("listens", "w")

def waiting(): # in each socket that listens there
    lines = [line.split() for line in open("/proc/net/udp").readlines()[1:]]
    return [int(fields[4].split(":")[1], 16) for fields in lines if fields[1].endswith(f":{port:04X}")]

while len(waiting()) < 2:
    time.sleep(0.05)
for k in (1, 2, 1):
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.bind((f"127.0.0.{k}", 0))
    sender.sendto(struct.pack("<QHHHBB", 0, 0x8000, 0, 0, 0, 0), ("127.0.0.1", port))
    while any(waiting()): # the run, which was started last, takes it once it has read those before
        time.sleep(0.05)
open("heard", "w")
PY
others=$!
run=
trap 'kill $others $run 2>/dev/null || true' EXIT
until [ -e listens ]; do sleep 0.05; done
"$SYNFIRE" run rig.yaml --set sources.0.device=any --verbose >out 2>err &
run=$!
until [ -e heard ]; do sleep 0.05; done
kill -INT $run
wait $run || true
grep -q "another program listens there: both hear what is broadcast" err
grep -q "datagrams come from 127.0.0.[12] and from 127.0.0.[12], and all are read: \`device\` takes those of one" err
grep -q "of 33554432 bytes of buffer were granted" err
expect 78 "sources.0.ask: found 'here', expected off, or udp://HOST:PORT" "$SYNFIRE" run rig.yaml --set sources.0.ask=here --quiet
expect 78 "sources.0.device: found 'here', expected any, or an address as 192.168.137.128" "$SYNFIRE" run rig.yaml --set sources.0.device=here --quiet
expect 69 "expected an address of this computer, the broadcast address of its network, or 0.0.0.0" "$SYNFIRE" run rig.yaml --set sources.0.endpoint=udp://192.0.2.1:51002 --quiet
expect 64 "udp://192.0.2.1:51002: sends to other machines: send to 127.0.0.1, or say --insecure" \
    "$SYNFIRE" play sim.h5 --protocol blackrock --to udp://192.0.2.1:51002 --quiet
