# SPDX-License-Identifier: Apache-2.0
# `doctor RIG`: what it says of rigs that send, of one that refuses, one that is silent, one that closes at once, and of
# what is none of the protocol. Each server is up before doctor asks, and stays until doctor is through.
. "$E2E/functions.sh"

servers=()
trap 'kill "${servers[@]}" 2>/dev/null || true' EXIT

# asked CODE (a pattern) RIG ENDPOINT [options...]: doctor's document is in `out`.
asked() {
    local code=0 want=$1 rig=$2 endpoint=$3
    shift 3
    "$SYNFIRE" doctor "$rig" --endpoint "$endpoint" --json "$@" >out 2>err || code=$?
    [[ $code = $want ]] || { echo "$rig: exit code $code, expected $want"; cat out err; return 1; }
}

# server NAME: runs the Python on stdin; it writes its port into the file NAME once it listens.
server() {
    cat >"$1.py"
    python3 "$1.py" "$1" &
    servers+=($!)
    for _ in $(seq 1 200); do
        [ -s "$1" ] && return
        sleep 0.05
    done
    echo "$1 does not listen"
    return 1
}

of="checks = {c['name']: c for c in out['checks']}"

# Three rigs that send.
"$SYNFIRE" simulate sim.h5 --unit-count 8 --rate 40 --duration 20 --seed 3 --quiet >/dev/null
for rig in intan open-ephys maxwell; do
    read -r port _ <<<"$(free_ports 2)"
    "$SYNFIRE" play sim.h5 --protocol $rig --to "tcp://127.0.0.1:$port" --loop --quiet >/dev/null 2>&1 &
    servers+=($!)
    asked '[01]' $rig "tcp://127.0.0.1:$port" --listen 6
    check "
$of
assert all(c['ok'] for c in out['checks'] if c['name'] != 'pace'), out # of a player on a busy computer
assert checks['reach']['level'] == 'good' and 'it sends' in checks['reach']['detail'], out
assert checks['stream']['level'] == 'good' and ' 0 spikes' not in checks['stream']['detail'], out
assert checks['units']['detail'].startswith('8: '), out
assert checks['losses']['level'] == 'good' and ' 0 malformed' in checks['losses']['detail'], out
assert 'buffers' in checks, out"
    kill "${servers[-1]}"
done

# Nobody listens.
port=$(free_ports 1)
for rig in intan open-ephys; do
    asked 1 $rig "tcp://127.0.0.1:$port" --listen 0.5
    check "
$of
assert not out['ok'] and checks['reach']['level'] == 'bad' and 'refused' in checks['reach']['detail'], out
assert {'intan': 'Spike Output', 'open-ephys': 'ZMQ Interface'}['$rig'] in checks['reach']['advice'], out
assert 'stream' not in checks, out"
done

# It accepts, and is silent; nothing is sent to it.
server silent <<'PY'
import socket, sys, threading
server = socket.create_server(("127.0.0.1", 0))
open(sys.argv[1], "w").write(str(server.getsockname()[1]))
def hold(peer):
    while (data := peer.recv(100)):
        open("got", "ab").write(data)
while True:
    peer, _ = server.accept()
    open("accepted", "a").write("x")
    threading.Thread(target=hold, args=(peer,), daemon=True).start()
PY
asked 1 intan "tcp://127.0.0.1:$(cat silent)" --listen 0.5
check "
$of
assert checks['reach']['level'] == 'good' and 'connects' in checks['reach']['detail'], out
assert checks['stream']['level'] == 'bad' and 'silent' in checks['stream']['detail'], out
assert 'press Run in RHX' in checks['stream']['advice'], out"
[ ! -e got ]
[ "$(cat accepted)" = x ] # the source's connection and no other: such a rig may have room for one

# A rig that sends by ZeroMQ would have greeted; one that is there and sends nothing does.
asked 1 open-ephys "tcp://127.0.0.1:$(cat silent)" --listen 0.5
check "
$of
assert checks['reach']['level'] == 'bad' and 'does not speak ZeroMQ' in checks['reach']['detail'], out"
port=$(free_ports 1)
"$SYNFIRE" play sim.h5 --protocol maxwell --to "tcp://127.0.0.1:$port" --subscribers 9 --quiet >/dev/null 2>&1 &
servers+=($!)
for _ in $(seq 1 200); do
    (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    sleep 0.05
done
asked 1 maxwell "tcp://127.0.0.1:$port" --listen 0.5
check "
$of
assert checks['reach']['level'] == 'good' and 'ZeroMQ answers' in checks['reach']['detail'], out
assert checks['stream']['level'] == 'bad' and 'routing in MaxLab Live' in checks['stream']['advice'], out"
asked 1 intan tcp://nosuch.invalid:5002 --listen 0.1
check "
$of
assert checks['reach']['level'] == 'bad' and 'correct the endpoint' in checks['reach']['advice'], out"

# RHX is asked for its rate where that is wanted.
server commands <<'PY'
import socket, sys
server = socket.create_server(("127.0.0.1", 0))
open(sys.argv[1], "w").write(str(server.getsockname()[1]))
for answer in (b"Return: SampleRateHertz 20000", b"Return: SampleRateHertz 30000", b"\xff" * 100000):
    peer, _ = server.accept()
    assert peer.recv(100) == b"get sampleratehertz"
    try:
        peer.sendall(answer)
    except OSError:
        pass
    peer.close()
PY
for level in bad good advice; do
    asked 1 intan "tcp://127.0.0.1:$(cat silent)" --listen 0.1 --ask "tcp://127.0.0.1:$(cat commands)"
    check "
$of
assert checks['rate']['level'] == '$level', out
assert '$level' != 'bad' or checks['rate']['advice'] == 'set sample_rate_hz: 20000', out"
done

# It accepts and closes at once.
server closing <<'PY'
import socket, sys
server = socket.create_server(("127.0.0.1", 0))
open(sys.argv[1], "w").write(str(server.getsockname()[1]))
while True:
    server.accept()[0].close()
PY
for rig in intan event-broadcaster; do
    asked 1 $rig "tcp://127.0.0.1:$(cat closing)" --listen 0.5
    check "
$of
assert checks['reach']['level'] == 'bad' and 'closes at once' in checks['reach']['detail'], out
assert 'other client' in checks['reach']['advice'] and 'stream' not in checks, out"
done

# Something else sends there, without an end.
server other <<'PY'
import socket, sys
server = socket.create_server(("127.0.0.1", 0))
open(sys.argv[1], "w").write(str(server.getsockname()[1]))
while True:
    peer, _ = server.accept()
    try:
        while True:
            peer.sendall(b"HTTP/1.1 " * 7000)
    except OSError:
        pass
PY
asked 1 intan "tcp://127.0.0.1:$(cat other)" --listen 0.5
check "
$of
assert checks['stream']['level'] == 'bad' and 'is no stream of Intan RHX' in checks['stream']['detail'], out"

# A rate that is not the rig's: the clock passes at another pace.
port=$(free_ports 1)
"$SYNFIRE" play sim.h5 --protocol intan --to "tcp://127.0.0.1:$port" --loop --quiet >/dev/null 2>&1 &
servers+=($!)
asked 1 intan "tcp://127.0.0.1:$port" --listen 6 --set sources.0.sample_rate_hz=60000
check "
$of
assert checks['pace']['level'] == 'bad' and 'sample_rate_hz' in checks['pace']['advice'], out"

# UDP: a port that another program shares is told.
server shared <<'PY'
import socket, sys, time
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind(("127.0.0.1", 0))
open(sys.argv[1], "w").write(str(server.getsockname()[1]))
time.sleep(600)
PY
asked 1 blackrock "udp://127.0.0.1:$(cat shared)" --listen 0.5
check "
$of
assert checks['sharing']['level'] == 'advice' and 'another program' in checks['sharing']['detail'], out
assert checks['stream']['level'] == 'bad' and 'Central' in checks['stream']['advice'], out
assert 'of 33554432 bytes' in checks['buffer']['detail'], out"

# As people read it.
code=0
"$SYNFIRE" doctor intan --endpoint "tcp://127.0.0.1:$port" --listen 0.1 --set sources.0.timeout_s=1 >text || code=$?
grep -q '^! *stream\|^  stream\|^? stream' text

expect 64 "is no rig: expected one of" "$SYNFIRE" doctor nonsense
expect 64 "is for --loop" "$SYNFIRE" doctor intan --pulses 3
expect 64 "is for a rig" "$SYNFIRE" doctor --listen 3
expect 64 "is for intan" "$SYNFIRE" doctor maxwell --ask tcp://127.0.0.1:5000
expect 64 "does not go with a rig" "$SYNFIRE" doctor intan --folder .
expect 78 "there is no key" "$SYNFIRE" doctor intan --set sources.0.nothing=1
