# SPDX-License-Identifier: Apache-2.0
"""Open Ephys: `play` sends as its ZMQ Interface does, and a run takes all of it; so it does from a sender that knows only JSON,
struct and ZeroMQ; and heartbeats are answered."""
import contextlib
import json
import pathlib
import socket
import struct
import time

import command
import rig
import h5py
import zmq

NAMES = ["Electrode 1", "\u00c9lectrode 2", "Stereotrode 1"]
LOST = 500, 700
BLOCK = 640


def free_pair():
    """A port that nobody listens at, nor at the one behind it."""
    while True:
        port, = command.free_ports(1)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port + 1)):
            return port


class Interface:
    """The plugin ZMQ Interface: its data, and the port behind that, where it answers heartbeats."""

    def __init__(self, port):
        self.context, self.number = zmq.Context(), 0
        self.context.setsockopt(zmq.RCVTIMEO, 300_000)
        self.data, self.requests = self.context.socket(zmq.XPUB), self.context.socket(zmq.REP)
        self.data.setsockopt(zmq.SNDHWM, 0)
        self.data.bind(f"tcp://127.0.0.1:{port}")
        self.requests.bind(f"tcp://127.0.0.1:{port + 1}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.destroy(linger=60_000)

    def answer_heartbeat(self):
        heartbeat = json.loads(self.requests.recv())
        self.requests.send(b"heartbeat received")
        return heartbeat

    def send(self, envelope, header, payload, is_lost=False):
        self.number += 1
        text = json.dumps({"message_num": self.number, **header, "timestamp": int(time.time() * 1000)}, indent=2, ensure_ascii=False)
        text = text.replace("\n", "\r\n")
        if not is_lost:  # a name beyond ASCII cuts its header off
            self.data.send_multipart([envelope + b"\0", text.encode()[:len(text)], payload])

    def spike(self, name, sample, is_lost):
        self.send(b"EVENT", {"type": "spike", "spike": {
            "stream": "Rhythm", "source_node": 104, "electrode": name, "sample_num": sample, "num_channels": 1, "num_samples": 40,
            "sorted_id": 0, "threshold": [-50.0]}}, struct.pack("<40f", *[0] * 8, -61.5, *[0] * 31), is_lost)

    def line(self, sample, state):
        self.send(b"EVENT", {"type": "event", "content": {"stream": "Rhythm", "source_node": 101, "type": 3, "sample_num": sample},
                             "data_size": 10}, struct.pack("<BBQ", 4, state, 16))

    def block(self, sample):
        for channel in range(2):
            self.send(b"DATA", {"type": "data", "content": {
                "stream": "Rhythm", "channel_num": channel, "channel_name": f"CH{channel + 1}", "num_samples": BLOCK,
                "sample_num": sample, "sample_rate": 30000.0}, "data_size": 4 * BLOCK}, bytes(4 * BLOCK))

    def acquire(self, lost=()):
        """Spikes of three electrodes and a line, each before the block that it lies in; how many spikes there are."""
        self.number = 0
        for k in range(1000):
            sample = BLOCK * k + 12800
            self.spike(NAMES[k % 3], sample + 17, k in lost)
            if k % 100 == 50:
                self.line(sample, k // 100 % 2)
            self.block(sample)
        return 1000 - len(lost)


class OpenEphys(rig.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--unit-count", 20, "--rate", 40, "--duration", 20, "--marker-every", 4, "--seed", 3, "--quiet")

    def setUp(self):
        self.port = free_pair()
        self.endpoint = f"tcp://127.0.0.1:{self.port}"

    def test_a_run_takes_what_a_player_sends(self):
        self.assert_same("sim.h5", 30000, self.play("open-ephys", self.endpoint, "sim.h5", "learn_s: 3", "--speed", 20))

    def test_messages_are_lost_a_name_is_beyond_ascii_and_acquisition_is_begun_anew(self):
        asked = []

        def send(port):
            with Interface(port) as interface:
                asked.append(interface.answer_heartbeat())
                asked.append(interface.data.recv())  # it subscribes
                return interface.acquire() + interface.acquire(LOST)

        self.assert_taken("open-ephys", self.port, "learn_s: 1", send, gaps=2, gap_lost=2, restarts=1)
        heartbeat, subscription = asked
        self.assertEqual((heartbeat["type"], heartbeat["application"], len(heartbeat["uuid"])), ("heartbeat", "synfire", 36))
        self.assertEqual(subscription, b"\1")
        with h5py.File("rig.h5") as file:
            self.assertEqual({name.decode() for name in file["units/name"]}, set(NAMES))
            self.assertEqual(set(file["spikes/amplitude"]), {-61.5})
            self.assertEqual(file["spikes/time_ns"][0], round((12800 + 17) / 30000 * 1e9))
            markers = zip(*(file[f"markers/{key}"][:] for key in ("kind", "line", "state")))
        lines = [(line, state) for kind, line, state in markers if kind == 1]
        self.assertEqual((len(lines), set(lines)), (20, {(4, 0), (4, 1)}))

    def test_a_player_answers_as_the_plugin_does(self):
        self.begin("play", "play", "sim.h5", "--protocol", "open-ephys", "--to", self.endpoint, "--subscribers", 1)
        with zmq.Context() as context, context.socket(zmq.REQ) as client:
            client.setsockopt(zmq.LINGER, 0)
            client.setsockopt(zmq.RCVTIMEO, 300_000)
            client.connect(f"tcp://127.0.0.1:{self.port + 1}")
            for request, answer in ((json.dumps({"application": "test", "uuid": "1", "type": "heartbeat"}), "heartbeat received"),
                                    (json.dumps({"type": "event", "event": {"type": 3}}), "message correctly parsed"),
                                    ("nonsense", "JSON message could not be read")):
                client.send_string(request)
                self.assertEqual(client.recv_string(), answer)


class Missing(rig.Test):
    """What is missing is said."""

    def setUp(self):
        self.port, = command.free_ports(1)
        rig.configure(f'type: open-ephys, endpoint: "tcp://127.0.0.1:{self.port}", timeout_s: 60')

    def test_nobody_who_sends(self):
        self.refuses(69, "within 0.2 s: start acquisition in the Open Ephys GUI, with the plugin ZMQ Interface",
                     "run", "rig.yaml", "--quiet", "--set", "sources.0.timeout_s=0.2")

    def test_another_program_there(self):
        self.synfire("simulate", "sim.h5", "--preset", "sym26", "--duration", 2, "--quiet")
        other = self.begin("play", "play", "sim.h5", "--to", f"tcp://127.0.0.1:{self.port}", "--loop", "--quiet")
        self.refuses_patiently(65, "is no stream of Open Ephys' ZMQ Interface: no message of", "run", "rig.yaml", "--quiet",
                               "--set", "sources.0.heartbeat=off")
        other.stop()

    def test_a_port_where_heartbeats_are_answered_instead(self):  # ZMQ Interface listens where the Event Broadcaster should
        with zmq.Context() as context, context.socket(zmq.REP) as heartbeats:
            heartbeats.bind(f"tcp://127.0.0.1:{self.port}")
            for timeout_s in 3, 20, 120:
                done = self.run_command("run", "event-broadcaster", "--quiet", "--set", f"sources.0.timeout_s={timeout_s}",
                                        "--set", f"sources.0.endpoint=tcp://127.0.0.1:{self.port}")
                if done.returncode == 65:
                    break
        self.assertEqual(done.returncode, 65, done.stderr)
        self.assertIn("publishes nothing by ZeroMQ: has another program, or another socket of the same one, this port?", done.stderr)
        self.assertIn("is no stream of Open Ephys' Event Broadcaster", done.stderr)

    def test_a_file_of_electrodes_that_is_none(self):
        self.refuses(78, "electrodes", "run", "rig.yaml", "--quiet", "--set", "sources.0.electrodes=nothing.json")
        pathlib.Path("array.cfg").write_text("12(77)35.0/52.5;13(78\n")
        self.refuses(78, "after 1 electrodes found '13(78", "run", "rig.yaml", "--quiet", "--set", "sources.0.electrodes=array.cfg")


if __name__ == "__main__":
    command.main()
