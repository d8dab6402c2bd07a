# SPDX-License-Identifier: Apache-2.0
"""A recording played into a run over a real socket: every window count that a ZeroMQ subscriber, an OSC receiver, the JSON lines and
the HDF5 file get equals the offline count of that window, and nothing is lost."""
import json
import socket

import command

command.need_modules()
import h5py

from live import exact_seconds, write

YAML = """\
stream: e2e
sources: [{{type: zmq, endpoint: "tcp://127.0.0.1:{source}", policy: block}}]
window: {{length_s: {length}, hop_s: {hop}}}
mine: {{every: 4, delays_ms: "{delays}", min_rate_hz: {rate}, max_size: 4, track_most: 60}}
track: ["#0 -(4,6]-> #1"]
watch: ["#0 -(4,6]-> #1 -(4,6]-> #2"]
density: [{{quantity: isi, unit: "#0"}}]
graph: {{reach: [{{from: "#0"}}]}}
sinks:
- {{type: jsonl, path: run.jsonl, overwrite: true, policy: block}}
- {{type: zmq, endpoint: "tcp://127.0.0.1:{zmq}", policy: block, wait_subscribers: 1}}
- {{type: osc, endpoint: "127.0.0.1:{osc}", policy: block}}
- {{type: hdf5, path: run.h5, overwrite: true, policy: block}}
"""


def hops_of(path):
    """The windows of a run by their hop."""
    return {message["hop"]: message for message in command.messages_of(path, "episodes")}


def counts_of(message):
    return [(episode["id"], episode["count"]) for episode in message["episodes"]]


class Played:
    """A recording, and how it is played and looked at."""

    speed, length, hop, delays, rate = "max", 300, 60, "0.5:20", 0.05

    @classmethod
    def prepare(cls):
        cls.find_recording()
        source, zmq, osc = command.free_ports(3)
        write("run.yaml", YAML.format(source=source, zmq=zmq, osc=osc, length=cls.length, hop=cls.hop, delays=cls.delays, rate=cls.rate))
        player = cls.begin("play", "play", cls.recording, "--to", f"tcp://127.0.0.1:{source}", "--speed", cls.speed, "--json")
        receiver = cls.begin("receive", command.HERE / "receive.py", f"tcp://127.0.0.1:{zmq}", "zmq.jsonl", osc, "osc.jsonl")
        cls.status = cls.document("run", "run.yaml")["status"]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ending:  # no more comes
            ending.sendto(b"/end\0\0\0\0,\0\0\0", ("127.0.0.1", osc))
        player.end()
        receiver.end()
        cls.played, cls.hops = player.document(), hops_of("run.jsonl")

    @classmethod
    def find_recording(cls):
        cls.recording = command.DATA / cls.recording

    def test_every_count_is_that_of_the_window_offline(self):
        self.assertEqual(sorted(self.hops), list(range(max(self.hops) + 1)))
        compared = 0
        for hop, message in self.hops.items():
            if not message["episodes"]:
                continue
            write("episodes.jsonl", "".join(json.dumps({"units": e["units"], "delays_ms": e["delays_ms"]}) + "\n"
                                            for e in message["episodes"]))
            found = self.document("count", self.recording, "--episodes", "episodes.jsonl", "--quiet",
                                  "--from", exact_seconds(message["from_ns"]), "--to", exact_seconds(message["to_ns"]))
            self.assertEqual(counts_of(message), counts_of(found), f"hop {hop}")
            compared += len(found["episodes"])
        self.assertGreater(compared, 0)

    def test_a_subscriber_gets_the_same(self):
        def told(hops):
            keys = ("from_ns", "to_ns", "spikes", "partial", "episodes", "seq")
            return {hop: [message[key] for key in keys] for hop, message in hops.items()}

        self.assertEqual(told(hops_of("zmq.jsonl")), told(self.hops))

    def test_what_arrives_by_osc_which_may_lose_packets_is_right(self):
        with open("osc.jsonl") as file:
            received = [json.loads(line) for line in file]
        self.assertGreater(len(received), 0)
        for heard in received:
            message = self.hops[heard["hop"]]
            self.assertEqual((heard["from_us"], heard["to_us"]), (message["from_ns"] // 1000, message["to_ns"] // 1000))
            self.assertLessEqual(set(heard["counts"].items()), set(counts_of(message)))

    def test_the_recorder_writes_the_same(self):
        with h5py.File("run.h5") as file:
            windows, counts = file["results/windows"][:], file["results/counts"][:]
            ids = [name.decode() for name in file["results/episodes"]["id"]]
        recorded = {}
        for seq, episode, count in zip(counts["seq"].tolist(), counts["episode"].tolist(), counts["count"].tolist()):
            recorded.setdefault(seq, []).append((ids[episode], count))
        self.assertEqual(sorted(windows["hop"].tolist()), sorted(self.hops))
        for row in windows:
            message = self.hops[row["hop"]]
            for key in "seq", "from_ns", "to_ns", "spikes":
                self.assertEqual(row[key], message[key], f"hop {row['hop']}")
            self.assertEqual(sorted(recorded.get(row["seq"], [])), sorted(counts_of(message)), f"hop {row['hop']}")

    def test_nothing_is_lost(self):
        source = self.status["sources"][0]
        self.assertEqual((self.status["spikes"], source["spikes"]), (self.played["spikes"], self.played["spikes"]))
        self.assertEqual([source[key] for key in ("gaps", "dropped", "late")], [0, 0, 0])

    def test_the_recording_reads_back_and_mines_to_the_same(self):
        was, came = ([self.document("info", path)[key] for key in ("spikes", "units", "start_s", "stop_s")]
                     for path in (self.recording, "run.h5"))
        self.assertEqual(came, was)
        was, came = ([(e["units"], e["count"]) for e in
                      self.document("mine", path, "--delay", self.delays, "--min-rate", self.rate, "--quiet")["episodes"]]
                     for path in (self.recording, "run.h5"))
        self.assertEqual(came, was)
        self.assertGreater(len(was), 0)


class AtFullSpeed(Played, command.Test):
    length, hop, delays, rate = 4, 0.5, "0:5,5:12", 4

    @classmethod
    def find_recording(cls):
        cls.recording = "sim.h5"
        cls.synfire("simulate", "sim.h5", "--preset", "sym26", "--duration", 20, "--seed", 5, "--quiet")


class AtAPace(AtFullSpeed):
    speed = 20


@command.needs_data("recordings/Demas2003_P9_CTRL_MY1_1A.h5")
class OfDemas2003(Played, command.Test):
    recording = "recordings/Demas2003_P9_CTRL_MY1_1A.h5"


@command.needs_data("recordings/Wong1993_P0.h5")
class OfWong1993(Played, command.Test):
    recording = "recordings/Wong1993_P0.h5"


@command.needs_data("recordings/Torborg2004_2001-10-22-0.h5")
class OfTorborg2004(Played, command.Test):
    recording = "recordings/Torborg2004_2001-10-22-0.h5"
    rate = 0.01  # at more nothing is frequent


if __name__ == "__main__":
    command.main()
