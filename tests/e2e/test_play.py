# SPDX-License-Identifier: Apache-2.0
"""`synfire play` over real sockets to a client that knows only docs/wire.md: everything arrives, at every speed; ports that are
taken, wrong options and signals have their sentence and exit code."""
import hashlib
import os
import re
import signal
import struct

import command

command.need_modules()
import h5py
import zmq

from live import write


class Frame:
    """Reads values of a frame one after the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values

    def text(self):
        length, = self.take("I")
        self.at += length
        return self.data[self.at - length:self.at].decode()


class Client:
    """Receives a stream as docs/wire.md describes it, with nothing of synfire's."""

    def __init__(self, endpoint):
        self.times, self.units, self.amplitudes = hashlib.sha256(), hashlib.sha256(), hashlib.sha256()
        self.spikes, self.markers, self.hellos, self.heartbeats, self.clock, self.total = 0, [], 0, 0, -2**63, None
        self.expected = None
        self.socket = zmq.Context.instance().socket(zmq.SUB)
        self.socket.setsockopt(zmq.SUBSCRIBE, b"")
        self.socket.setsockopt(zmq.RCVHWM, 0)
        self.socket.setsockopt(zmq.RCVTIMEO, 300000)
        self.socket.connect(endpoint)

    def receive(self, enough=None, at_enough=None):
        """Until the end of the stream; after so many spikes `at_enough` is called once."""
        while self.total is None:
            self.frame(Frame(self.socket.recv()))
            if enough is not None and self.spikes >= enough:
                at_enough()
                enough = None
        self.socket.close()
        return self

    def frame(self, frame):
        magic, version, kind, run, sequence, clock = frame.take("4sHHQQq")
        assert (magic, version) == (b"SYNF", 1) and not self.socket.getsockopt(zmq.RCVMORE)
        assert self.expected in (None, (run, sequence)), (run, sequence, self.expected)
        assert clock >= self.clock, (clock, self.clock)
        self.expected, self.clock = (run, sequence + 1), clock
        {1: self.hello, 2: self.data, 3: self.heartbeat, 4: self.end}[kind](frame)
        assert frame.at == len(frame.data), (kind, frame.at, len(frame.data))

    def hello(self, frame):
        self.hellos += 1
        self.origin, self.flags, unit_count, entry_count = frame.take("qIII")
        self.name, self.names = frame.text(), []
        for _ in range(unit_count):
            frame.take("ddiB")  # x, y, electrode, kind
            self.names.append(frame.text())
            frame.text()  # well
        self.metadata = {frame.text(): frame.text() for _ in range(entry_count)}

    def data(self, frame):
        spike_count, marker_count = frame.take("II")
        for _ in range(spike_count):
            for column, value in zip((self.times, self.units, self.amplitudes), frame.take("8s4s4s")):
                column.update(value)
        self.spikes += spike_count
        for _ in range(marker_count):
            time, _, _, _, _, text = frame.take("qBBHI48s")
            self.markers.append((time, text.rstrip(b"\0")))

    def heartbeat(self, _):
        self.heartbeats += 1

    def end(self, frame):
        self.total = frame.take("QQ")


class OfTheDemo(command.Test):
    @classmethod
    def prepare(cls):
        cls.endpoint = f"ipc://{os.getcwd()}/stream"
        cls.synfire("simulate", "demo.h5", "--unit-count", 30, "--rate", 50, "--duration", 20, "--start", -3, "--marker-every", 4,
                    "--burst-rate", 0.3)


class Played(OfTheDemo):
    def played(self, *options):
        """What came, and the player's account."""
        player = self.begin("play", "play", "demo.h5", "--to", self.endpoint, "--json", *options)
        came = Client(self.endpoint).receive()
        player.end()
        return came, player.document()

    def assert_all_came(self, came, played):
        with h5py.File("demo.h5") as file:
            spikes = {name: file["spikes"][name][:] for name in ("time_ns", "unit", "amplitude")}
            markers = list(zip(file["markers/time_ns"][:].tolist(), file["markers/text"][:].tolist()))
            names = [name.decode() for name in file["units/name"][:]]
        count = len(spikes["time_ns"])
        self.assertGreater(count, 25000)
        self.assertEqual((came.spikes, played["spikes"], came.total), (count, count, (count, 12)))
        self.assertEqual([column.hexdigest() for column in (came.times, came.units, came.amplitudes)],
                         [hashlib.sha256(column.tobytes()).hexdigest() for column in spikes.values()])
        self.assertEqual(len(markers), 12)
        self.assertEqual(came.markers, markers)
        self.assertEqual((came.names, came.name, came.clock), (names, "demo.h5", 17_000_000_000))
        self.assertIn("--unit-count 30", came.metadata["simulation"])

    def test_everything_arrives_as_fast_as_it_can(self):
        came, played = self.played("--speed", "max")
        self.assert_all_came(came, played)
        self.assertEqual((came.flags, came.heartbeats, played["late_max_ms"]), (3, 0, None))

    def test_everything_arrives_at_a_pace(self):
        came, played = self.played("--speed", 15)
        self.assert_all_came(came, played)
        self.assertEqual(came.flags, 5)
        self.assertGreaterEqual(played["late_max_ms"], 0)
        self.assertGreaterEqual(came.hellos, 2)
        self.assertGreater(played["seconds"], 20 / 15)

    def test_a_time_in_to_ends_the_selection_and_an_endpoint_is_where_to_send(self):
        came, _ = self.played("--speed", "max", "--from", 0, "--to", 1)
        self.assertLessEqual(came.clock, 10**9)
        self.assertTrue(0 < came.spikes < 3500, came.spikes)

    def test_a_loop_goes_on_until_a_signal_which_ends_the_stream_in_order(self):
        player = self.begin("loop", "play", "demo.h5", "--to", self.endpoint, "--speed", 200, "--loop", "--json")
        came = Client(self.endpoint).receive(150000, lambda: player.send_signal(signal.SIGINT))
        player.end(130)
        self.assertGreaterEqual(came.spikes, 150000)
        self.assertEqual((player.document()["spikes"], came.total[0]), (came.spikes, came.spikes))
        self.assertGreater(came.clock, 60_000_000_000)

    def test_the_sender_that_the_description_prints_is_understood(self):
        text, = re.findall("(?ms)^```python\n(.*?)^```", (command.SOURCE / "docs" / "wire.md").read_text())
        for there, here in ("tcp://127.0.0.1:7700", self.endpoint), ("100_000", "300"), ("sleep(0.01)", "sleep(0.003)"):
            self.assertIn(there, text)
            text = text.replace(there, here)
        write("sender.py", text)
        sender = self.begin("sender", "./sender.py")
        came = Client(self.endpoint).receive()
        sender.end()
        self.assertEqual((came.name, came.names, came.total[0], came.clock), ("two cells", ["A", "B"], 594, 2_970_000_000))
        self.assertTrue(0 < came.spikes <= 594, came.spikes)


class Refused(OfTheDemo):
    def test_a_recording_that_is_not_there_is_named(self):
        self.refuses(64, "missing", "play")
        self.refuses(66, "nothing.h5", "play", "nothing.h5")

    def test_options_that_cannot_be_are_told(self):
        for sentence, *words in (("--speed: found 'fast'", "--speed", "fast"), ("--speed: found '0'", "--speed", 0),
                                 ("no ZeroMQ endpoint", "--to", "nowhere://"), ("--to: found 'later'", "--to", "later")):
            with self.subTest(words=words):
                self.refuses(64, sentence, "play", "demo.h5", *words)

    def test_help_names_all_protocols_that_there_are(self):
        self.refuses(64, "expected synfire", "play", "demo.h5", "--protocol", "morse")
        said = self.run_command("play", "demo.h5", "--protocol", "morse").stderr.split("expected ")[1].strip()
        named, = re.findall(r"(?m)^ *--protocol ([a-z|-]*)$", self.synfire("play", "--help").stdout)
        self.assertEqual(named.split("|"), re.split(", | or ", said))

    def test_a_port_in_use_is_named_and_a_signal_ends_the_wait_for_a_listener(self):
        first = self.begin("first", "play", "demo.h5", "--to", "tcp://127.0.0.1:*")
        told = command.wait_for("waiting", "first.err", first)
        taken, = re.findall("sending on (tcp[^,]*),", told)
        self.refuses(69, "in use", "play", "demo.h5", "--to", taken)
        first.send_signal(signal.SIGTERM)
        first.end(143)


if __name__ == "__main__":
    command.main()
