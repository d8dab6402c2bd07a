# SPDX-License-Identifier: Apache-2.0
# Each rig: `play` sends as it does and a run takes all of it, to the nearest sample; then so from a sender in Python that
# knows only struct, sockets and ZeroMQ, with what it loses counted.
. "$E2E/functions.sh"
. "$E2E/rig.sh"
need_python

"$SYNFIRE" simulate sim.h5 --unit-count 20 --rate 40 --duration 8 --marker-every 4 --seed 3 --quiet >/dev/null
read -r port _ <<<"$(free_ports 2)"

play_rig event-broadcaster "tcp://127.0.0.1:$port" sim.h5 "learn_s: 3" --speed 10
same_spikes sim.h5 30000
"$SYNFIRE_PYTHON" -c '
import h5py
edges = lambda path: [k for k in h5py.File(path)["markers/kind"][:] if k == 1]
assert len(edges("rig.h5")) == len(edges("sim.h5")), (edges("rig.h5"), edges("sim.h5"))'

play_rig maxwell "tcp://127.0.0.1:$port" sim.h5 "learn_s: 3" --speed 4
same_spikes sim.h5 20000 "f'ch{i}'"

play_rig intan "tcp://127.0.0.1:$port" sim.h5 "learn_s: 3" --speed 10
same_spikes sim.h5 30000 "f'A-{i:03}'"

# MaxLab's two layouts, positions by its .cfg, two frames lost, a server that starts again.
echo "7(4711)35.0/52.5;8(1200)17.5/0;9(77)0/0;" >array.cfg
foreign maxwell $port "electrodes: array.cfg" '{"gaps": 1, "gap_lost": 2, "restarts": 1}' <<'PY'
import struct, sys, time, zmq
context = zmq.Context()
socket = context.socket(zmq.XPUB)
socket.setsockopt(zmq.SNDHWM, 0)
socket.bind(f"tcp://127.0.0.1:{sys.argv[1]}")
assert socket.recv() == b"\1"  # it subscribes
spikes = 0
for version in (16, 24):
    for frame in range(20000 * (version == 16) + 5000, 20000 * (version == 16) + 15000):
        parts = [struct.pack("<Q", frame), bytes(4 * 1027)]
        events = b""
        for k in range(frame % 7 == 0 and 2):
            channel = 7 + (frame + k) % 3
            new, old = struct.pack("<QfHBx", frame - k, -30.5, channel, 0), struct.pack("<7xBQif", 0, frame - k, channel, -30.5)
            events += new if version == 16 else old
        if version == 16 and 8400 < frame - 20000 < 8403:
            continue
        spikes += len(events) // version
        socket.send_multipart(parts + ([events] if events else []))
        if frame % 2000 == 0:
            time.sleep(0.02)
print(spikes)
socket.close(-1)
context.term()
PY
"$SYNFIRE_PYTHON" -c '
import h5py
file = h5py.File("rig.h5")
assert [n.decode() for n in file["units/name"][:]] == ["4711", "1200", "77"]
assert list(file["units/x_um"][:]) == [35.0, 17.5, 0] and set(file["spikes/amplitude"][:]) == {-30.5}'

# Intan: a server that breaks off in the middle of a spike and is there again, and one byte that is damaged.
foreign intan $port "learn_s: 0.5" '{"malformed": 2, "out_of_range": 1}' <<'PY'
import socket, struct, sys, time
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
chunk = lambda name, sample, unit: struct.pack("<I5sIB", 0x3ae2710f, name, sample, unit)
spikes = 0
for begin in (0, 40000):
    peer, _ = server.accept()
    data = b""
    for k in range(1000):
        data += chunk(b"A-%03d" % (k % 3), begin + 30 * k, 0x40 if k % 2 else 1)
        spikes += 1
    if begin == 0:
        data += chunk(b"A-000", 30000, 1)[:9]
    else:
        data += b"\0" + chunk(b"A-000", begin + 30100, 0x80) + chunk(b"A-000", begin + 30200, 1)
        spikes += 1
    for at in range(0, len(data), 1000):
        peer.sendall(data[at:at + 1000])
        time.sleep(0.01)
    time.sleep(0.3)
    peer.close()
print(spikes)
PY

# RHX has room for one client: while one is connected it does not listen, and after Disconnect and Connect it leaves that
# connection open and silent, and listens anew.
foreign intan $port "learn_s: 0.5" '{}' <<'PY'
import socket, struct, sys, time
def listen():
    listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    listener.settimeout(300)
    return listener
sent = 0
def send(peer):
    global sent
    for _ in range(100):
        peer.sendall(struct.pack("<I5sIB", 0x3ae2710f, b"A-%03d" % (sent % 4), sent * 300, 1))
        sent += 1
        time.sleep(0.01)
listener = listen()
first, _ = listener.accept()
listener.close()
send(first)
while "nothing else listens there" not in open("rig.err").read(): # silent until another connection is tried: the first goes on
    time.sleep(0.1)
send(first)
listener = listen()
second, _ = listener.accept()
send(second)
time.sleep(0.5)
print(sent)
PY
grep -q "the connection is silent, and nothing else listens there: where the rig was disconnected" rig.err
grep -q "the connection was silent, and a new one is not: it is read from here on" rig.err

# A server that accepts and closes does not fill the log: each second, fourth, eighth ... time is told of.
foreign intan $port "learn_s: 0.5" '{}' <<'PY'
import socket, struct, sys, time
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
for _ in range(9):
    server.accept()[0].close()
peer, _ = server.accept()
for k in range(200):
    peer.sendall(struct.pack("<I5sIB", 0x3ae2710f, b"A-%03d" % (k % 4), k * 300, 1))
    time.sleep(0.01)
print(200)
sys.stdout.flush()
time.sleep(2)
PY
grep "the connection ended" rig.err | sed 's/.*(\(.*\) so far).*/\1/' >told
[ "$(tr '\n' ' ' <told)" = "1 2 4 8 " ] || { cat rig.err; exit 1; }

# The Event Broadcaster in its raw form, by time stamps; another stream is left out.
foreign event-broadcaster $port 'stream: "7", learn_s: 0.5' '{"malformed": 1, "other_streams": 10}' <<'PY'
import struct, sys, time, zmq
context = zmq.Context()
socket = context.socket(zmq.XPUB)
socket.setsockopt(zmq.SNDHWM, 0)
socket.bind(f"tcp://127.0.0.1:{sys.argv[1]}")
assert socket.recv() == b"\1"  # it subscribes
base = lambda kind, sub, stream, index, t: struct.pack("<BBHHHqd", kind, sub, 104, stream, index, int(t * 30000), t)
for k in range(1000):
    t = 5 + k * 0.001
    socket.send_multipart([b"\1\0", base(2, 1, 7, k % 4, t) + struct.pack("<H", 0) + struct.pack("<5f", -50, 0, 10, -70, 5)])
    if k % 50 == 30:
        socket.send_multipart([b"\0\0", base(1, 3, 7, 0, t) + struct.pack("<BBQ", 1, k // 50 % 2, 2)])
    if k % 100 == 99:
        socket.send_multipart([b"\1\0", base(2, 1, 8, 0, t) + struct.pack("<H2f", 0, -50, 1)])
socket.send_multipart([b"\1\0", b"\2\1"])
print(1000)
socket.close(-1)
context.term()
PY
"$SYNFIRE_PYTHON" -c '
import h5py
file = h5py.File("rig.h5")
assert len(file["markers/kind"][:]) == 20 and file["spikes/time_ns"][0] == 5_000_000_000
assert set(file["spikes/amplitude"][:]) == {-70}'

# Trodes: the player's service, and one in Python.
play_rig trodes "tcp://127.0.0.1:$port" sim.h5 "learn_s: 3" --speed 10
same_spikes sim.h5 30000 "f'nt{i}'"
foreign trodes $port "learn_s: 0.5" '{"malformed": 1}' <<'PY'
import msgpack, sys, time, zmq
context = zmq.Context()
announcer, reply, data = context.socket(zmq.PUB), context.socket(zmq.REP), context.socket(zmq.XPUB)
data.setsockopt(zmq.SNDHWM, 0)
announcer.bind(f"tcp://127.0.0.1:{sys.argv[1]}")
asked, spikes = reply.bind_to_random_port("tcp://127.0.0.1"), data.bind_to_random_port("tcp://127.0.0.1")
answers = ["", f"tcp://127.0.0.1:{spikes}"]  # not there yet; then it is
while answers:
    announcer.send(msgpack.packb({"replyEndpoint": f"tcp://127.0.0.1:{asked}"}))
    if reply.poll(100):
        question = msgpack.unpackb(reply.recv())
        assert question == {"tag": "get", "name": "source.spikes", "endpoint": ""}, question
        reply.send(msgpack.packb(answers.pop(0)))
assert data.recv() == b"\1"  # it subscribes
for k in range(2000):
    data.send(msgpack.packb({"localTimestamp": 30 * k, "nTrodeId": k % 5, "cluster": k % 2, "other": [1.5, None, {"a": b"x"}]}))
data.send(msgpack.packb([1, 2]))
print(2000)
reply.close(1000)
announcer.close(0)
data.close(-1)
context.term()
PY

# BRAND, through a Redis server that is not ours.
command -v redis-server >/dev/null || { echo "skipped: brand: no redis-server"; exit 0; }
"$SYNFIRE" --version | grep -q hiredis || { echo "skipped: brand: built without hiredis"; exit 0; }
redis-server --port $port --bind 127.0.0.1 --save "" --appendonly no --dir "$PWD" >redis.log 2>&1 &
redis=$!
trap 'kill $redis' EXIT
until grep -q "Ready to accept" redis.log; do sleep 0.05; done
play_rig brand "redis://127.0.0.1:$port" sim.h5 "policy: drop-oldest" --speed 4
"$SYNFIRE_PYTHON" - <<'PY'
import collections, h5py, json
source = json.load(open("rig.json"))["status"]["sources"][0]
def bins(path, name):
    file = h5py.File(path)
    return collections.Counter((int(t) // 10**6, name(int(u), file)) for t, u in zip(file["spikes/time_ns"][:], file["spikes/unit"][:]))
was = bins("sim.h5", lambda u, file: f"ch{u}")
got = bins("rig.h5", lambda u, file: file["units/name"][u].decode())
assert was == got and source["malformed"] == source["late"] == source["dropped"] == 0, (len(was), len(got), source)
PY
"$SYNFIRE_PYTHON" -c "import redis" 2>/dev/null || { echo "skipped: brand by python3-redis: no such module"; exit 0; }
"$SYNFIRE_PYTHON" - $port <<'PY'
import json, redis, struct, sys # each entry says of which sample it is in both of the ways that BRAND's nodes have
entries = [fields for _, fields in redis.Redis(port=int(sys.argv[1])).xrange("thresholdExtraction")]
samples = [struct.unpack("<I", fields[b"timestamps"])[0] for fields in entries]
assert len(entries) > 1000 and [b - a for a, b in zip(samples, samples[1:])] == [30] * (len(samples) - 1), samples[:5]
assert [json.loads(fields[b"sync"]) for fields in entries] == [{"nsp_idx_1": sample} for sample in samples], entries[:2]
PY
"$SYNFIRE_PYTHON" -c '
import redis, struct, sys # what is there already is of the past
redis.Redis(port=int(sys.argv[1])).xadd("crossings_7", {"ts": struct.pack("<Q", 1), "counts": struct.pack("<4h", 9, 9, 9, 9)})' $port
SCHEME=redis foreign brand $port "stream: crossings_7, field: counts" '{"malformed": 1}' <<'PY'
import redis, struct, sys, time
server = redis.Redis(port=int(sys.argv[1]))
while int(server.info("clients")["blocked_clients"]) == 0:
    time.sleep(0.05)
spikes = 0
for k in range(3000):
    counts = [k % 3 == 0, 0, 2 * (k % 5 == 0), k % 7 == 0]
    spikes += sum(counts)
    server.xadd("crossings_7", {"sync": "{}", "counts": struct.pack("<4h", *counts), "ts": struct.pack("<Q", 10**9 + k * 10**6)}, maxlen=5000)
server.xadd("crossings_7", {"sync": "{}", "ts": struct.pack("<Q", 10**10)})
print(spikes)
PY
