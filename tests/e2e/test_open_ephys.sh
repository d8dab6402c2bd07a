# SPDX-License-Identifier: Apache-2.0
# Open Ephys: `play` sends as its ZMQ Interface does, and a run takes all of it; so it does from a sender in Python that
# knows only JSON, struct and ZeroMQ; and heartbeats are answered.
. "$E2E/functions.sh"
. "$E2E/rig.sh"
need_python
"$SYNFIRE" simulate sim.h5 --unit-count 20 --rate 40 --duration 20 --marker-every 4 --seed 3 --quiet >/dev/null
read -r port _ <<<"$(free_ports 2)"
play_rig open-ephys "tcp://127.0.0.1:$port" sim.h5 "learn_s: 3" --speed 20
same_spikes sim.h5 30000

# A sender that is not ours: 3 electrodes, TTL, two messages lost, a start anew, a name beyond ASCII that cuts its header.
cat >sender.py <<'PY'
import json, struct, sys, threading, time, zmq
port, out = int(sys.argv[1]), sys.argv[2]
context = zmq.Context()
data, requests = context.socket(zmq.PUB), context.socket(zmq.REP)
data.setsockopt(zmq.SNDHWM, 0)
data.bind(f"tcp://127.0.0.1:{port}")
requests.bind(f"tcp://127.0.0.1:{port + 1}")
heartbeat = json.loads(requests.recv())  # the client is there
assert heartbeat["type"] == "heartbeat" and heartbeat["application"] == "synfire" and len(heartbeat["uuid"]) == 36
requests.send(b"heartbeat received")
number = 0

def send(envelope, header, payload, lose=False):
    global number
    number += 1
    text = json.dumps({"message_num": number, **header, "timestamp": int(time.time() * 1000)}, indent=2, ensure_ascii=False)
    text = text.replace("\n", "\r\n")
    if not lose:
        data.send_multipart([envelope + b"\0", text.encode()[:len(text)], payload])

def spike(name, sample, lose=False):
    send(b"EVENT", {"type": "spike", "spike": {
        "stream": "Rhythm", "source_node": 104, "electrode": name, "sample_num": sample, "num_channels": 1,
        "num_samples": 40, "sorted_id": 0, "threshold": [-50.0]}}, struct.pack("<40f", *[0] * 8, -61.5, *[0] * 31), lose)

def block(sample):
    for channel in range(2):
        send(b"DATA", {"type": "data", "content": {
            "stream": "Rhythm", "channel_num": channel, "channel_name": f"CH{channel + 1}", "num_samples": 640,
            "sample_num": sample, "sample_rate": 30000.0}, "data_size": 2560}, bytes(2560))

names = ["Electrode 1", "Électrode 2", "Stereotrode 1"]
until = time.monotonic() + 20
started = time.monotonic()
time.sleep(0.5)
spikes = 0
for run in range(2):
    number = 0
    for k in range(1000):
        sample = 640 * k + 12800
        lost = run == 1 and k in (500, 700)
        spike(names[k % 3], sample + 17, lose=lost)
        spikes += not lost
        if k % 100 == 50:
            send(b"EVENT", {"type": "event", "content": {"stream": "Rhythm", "source_node": 101, "type": 3, "sample_num": sample},
                            "data_size": 10}, struct.pack("<BBQ", 4, k // 100 % 2, 16))
        block(sample)  # after its spikes
    time.sleep(0.2)
json.dump({"spikes": spikes}, open(out, "w"))
requests.close(1000)
data.close(-1)
context.term()
PY
read -r port _ <<<"$(free_ports 2)"
configure_rig "type: open-ephys, endpoint: \"tcp://127.0.0.1:$port\", timeout_s: 60, learn_s: 1"
"$SYNFIRE_PYTHON" sender.py $port sent.json &
sender=$!
"$SYNFIRE" run rig.yaml --json >rig.json 2>rig.err &
run=$!
wait $sender
await_spikes 1998 $run
kill -INT $run
wait $run || true
"$SYNFIRE_PYTHON" - <<'PY'
import h5py, json
source = json.load(open("rig.json"))["status"]["sources"][0]
file = h5py.File("rig.h5")
got = file["spikes/time_ns"][:]
assert source["spikes"] == len(got) == json.load(open("sent.json"))["spikes"] == 1998, source
assert (source["gaps"], source["gap_lost"], source["restarts"], source["malformed"]) == (2, 2, 1, 0), source
assert source["late"] == source["dropped"] == source["out_of_range"] == 0, source
assert sorted(n.decode() for n in file["units/name"][:]) == ["Electrode 1", "Stereotrode 1", "Électrode 2"]
assert set(file["spikes/amplitude"][:]) == {-61.5}
assert got[0] == round((12800 + 17) / 30000 * 1e9), got[0]
ttl = [(line, state) for kind, line, state in zip(file["markers/kind"][:], file["markers/line"][:], file["markers/state"][:]) if kind == 1]
assert len(ttl) == 20 and set(ttl) == {(4, 0), (4, 1)}, ttl
PY

# Our player answers as the plugin does.
"$SYNFIRE" play sim.h5 --protocol open-ephys --to "tcp://127.0.0.1:$port" --json --subscribers 1 >play.json 2>play.err &
player=$!
"$SYNFIRE_PYTHON" - $port $player <<'PY'
import json, os, signal, sys, zmq
socket = zmq.Context().socket(zmq.REQ)
socket.setsockopt(zmq.RCVTIMEO, 60000)
socket.connect(f"tcp://127.0.0.1:{int(sys.argv[1]) + 1}")
for request, answer in ((json.dumps({"application": "test", "uuid": "1", "type": "heartbeat"}), "heartbeat received"),
                        (json.dumps({"type": "event", "event": {"type": 3}}), "message correctly parsed"),
                        ("nonsense", "JSON message could not be read")):
    socket.send_string(request)
    assert socket.recv_string() == answer
os.kill(int(sys.argv[2]), signal.SIGTERM)
PY
wait $player || [ $? = 143 ]

# What is missing is said.
expect 69 "within 0.2 s: start acquisition in the Open Ephys GUI, with the plugin ZMQ Interface" "$SYNFIRE" run rig.yaml \
    --quiet --set sources.0.timeout_s=0.2
"$SYNFIRE" play sim.h5 --to "tcp://127.0.0.1:$port" --loop --quiet >/dev/null 2>&1 & # another program
other=$!
patiently 65 "is no stream of Open Ephys' ZMQ Interface: no message of" "$SYNFIRE" run rig.yaml --quiet \
    --set sources.0.heartbeat=off
kill -INT $other
wait $other || true
# The Event Broadcaster did not get its port, since ZMQ Interface listens there for heartbeats.
"$SYNFIRE_PYTHON" -c 'import sys, time, zmq
heartbeats = zmq.Context().socket(zmq.REP)
heartbeats.bind(f"tcp://127.0.0.1:{sys.argv[1]}")
time.sleep(600)' $port &
other=$!
for timeout_s in 3 20 120; do
    code=0
    "$SYNFIRE" run event-broadcaster --quiet --set "sources.0.endpoint=tcp://127.0.0.1:$port" \
        --set sources.0.timeout_s=$timeout_s 2>err || code=$?
    [ $code = 65 ] && break
done
grep -q "publishes nothing by ZeroMQ: has another program, or another socket of the same one, this port?" err
grep -q "is no stream of Open Ephys' Event Broadcaster" err
kill $other
wait $other || true
expect 78 "electrodes" "$SYNFIRE" run rig.yaml --quiet --set sources.0.electrodes=nothing.json
echo "12(77)35.0/52.5;13(78" >array.cfg
expect 78 "after 1 electrodes found '13(78" "$SYNFIRE" run rig.yaml --quiet --set sources.0.electrodes=array.cfg
