# SPDX-License-Identifier: Apache-2.0
"""Each rig: `play` sends as it does and a run takes all of it, to the nearest sample; then so from a sender that knows only
struct, sockets, ZeroMQ and Redis, with what it loses counted."""
import collections
import contextlib
import json
import pathlib
import re
import shutil
import socket
import struct
import time
import unittest

import command
import rig
import h5py
import msgpack
import zmq

with contextlib.suppress(ImportError):
    import redis


def free_port():
    port, = command.free_ports(1)
    return port


@contextlib.contextmanager
def published(port):
    """A ZeroMQ socket to which a run has subscribed; all that was sent has left it at the end."""
    context = zmq.Context()
    publisher = context.socket(zmq.XPUB)
    publisher.setsockopt(zmq.SNDHWM, 0)
    publisher.setsockopt(zmq.RCVTIMEO, 300_000)
    publisher.bind(f"tcp://127.0.0.1:{port}")
    try:
        assert publisher.recv() == b"\1"
        yield publisher
    finally:
        context.destroy(linger=60_000)


def listening(port):
    listener = socket.create_server(("127.0.0.1", port))
    listener.settimeout(300)
    return listener


def spike_of_intan(name, sample, mark=1):
    return struct.pack("<I5sIB", 0x3AE2710F, name, sample, mark)


def send_spikes_of_intan(peer, first, count):
    for k in range(first, first + count):
        peer.sendall(spike_of_intan(b"A-%03d" % (k % 4), 300 * k))
        time.sleep(0.01)
    return count


class Played(rig.Test):
    """A recording, as the player sends it."""

    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--unit-count", 20, "--rate", 40, "--duration", 8, "--marker-every", 4, "--seed", 3, "--quiet")

    def played(self, protocol, *options):
        return self.play(protocol, f"tcp://127.0.0.1:{free_port()}", "sim.h5", "learn_s: 3", *options)

    def test_the_event_broadcaster_sends_spikes_and_lines(self):
        self.assert_same("sim.h5", 30000, self.played("event-broadcaster", "--speed", 10))
        self.assertEqual(rig.edges("rig.h5"), rig.edges("sim.h5"))

    def test_maxwell_calls_units_by_their_channels(self):
        self.assert_same("sim.h5", 20000, self.played("maxwell", "--speed", 4), lambda i: f"ch{i}")

    def test_intan_calls_units_by_port_and_channel(self):
        self.assert_same("sim.h5", 30000, self.played("intan", "--speed", 10), lambda i: f"A-{i:03}")

    def test_trodes_calls_units_by_their_ntrodes(self):
        self.assert_same("sim.h5", 30000, self.played("trodes", "--speed", 10), lambda i: f"nt{i}")


class Sent(rig.Test):
    """What comes of senders that are not ours."""

    def test_maxlab_has_two_layouts_loses_frames_and_starts_again(self):
        def events(version, frame):
            for k in range(2 if frame % 7 == 0 else 0):
                channel = 7 + (frame + k) % 3
                yield (struct.pack("<QfHBx", frame - k, -30.5, channel, 0) if version == 16 else
                       struct.pack("<7xBQif", 0, frame - k, channel, -30.5))

        def send(port):
            spikes = 0
            with published(port) as publisher:
                for version, first in (16, 25000), (24, 5000):
                    for frame in range(first, first + 10000):
                        if frame not in (28401, 28402):
                            sent = list(events(version, frame))
                            spikes += len(sent)
                            publisher.send_multipart([struct.pack("<Q", frame), bytes(4 * 1027)] + ([b"".join(sent)] if sent else []))
                        if frame % 2000 == 0:
                            time.sleep(0.02)
            return spikes

        pathlib.Path("array.cfg").write_text("7(4711)35.0/52.5;8(1200)17.5/0;9(77)0/0;\n")
        self.assert_taken("maxwell", free_port(), "electrodes: array.cfg", send, gaps=1, gap_lost=2, restarts=1)
        with h5py.File("rig.h5") as file:
            self.assertEqual([name.decode() for name in file["units/name"]], ["4711", "1200", "77"])
            self.assertEqual(list(file["units/x_um"]), [35.0, 17.5, 0])
            self.assertEqual(set(file["spikes/amplitude"]), {-30.5})

    def test_intan_breaks_off_within_a_spike_and_is_there_again_with_a_damaged_byte(self):
        def send(port):
            with listening(port) as listener:
                for first in 0, 40000:
                    data = b"".join(spike_of_intan(b"A-%03d" % (k % 3), first + 30 * k, 0x40 if k % 2 else 1) for k in range(1000))
                    if first == 0:
                        data += spike_of_intan(b"A-000", 30000)[:9]
                    else:
                        data += b"\0" + spike_of_intan(b"A-000", first + 30100, 0x80) + spike_of_intan(b"A-000", first + 30200)
                    with listener.accept()[0] as peer:
                        for at in range(0, len(data), 1000):
                            peer.sendall(data[at:at + 1000])
                            time.sleep(0.01)
            return 2001

        self.assert_taken("intan", free_port(), "learn_s: 0.5", send, malformed=2, out_of_range=1)

    def test_rhx_has_room_for_one_client_and_listens_anew_beside_a_silent_connection(self):
        kept = "the connection is silent, and nothing else listens there: where the rig was disconnected"
        left = "the connection was silent, and a new one is not: it is read from here on"

        def send(port):
            with listening(port) as listener:
                first, _ = listener.accept()
            with first:
                sent = send_spikes_of_intan(first, 0, 100)
                command.wait_for(kept, "rig.err")  # another connection was tried, and this one goes on
                sent += send_spikes_of_intan(first, sent, 100)
                with listening(port) as listener, listener.accept()[0] as second:
                    sent += send_spikes_of_intan(second, sent, 100)
                    command.wait_for(left, "rig.err")
            return sent

        self.assert_taken("intan", free_port(), "learn_s: 0.5", send)

    def test_each_first_second_fourth_and_eighth_end_of_a_connection_is_told(self):
        def send(port):
            with listening(port) as listener:
                for _ in range(9):
                    listener.accept()[0].close()
                with listener.accept()[0] as peer:
                    return send_spikes_of_intan(peer, 0, 200)

        self.assert_taken("intan", free_port(), "learn_s: 0.5", send)
        told = re.findall(r"the connection ended.*\((.*) so far\)", pathlib.Path("rig.err").read_text())
        self.assertEqual(told, ["1", "2", "4", "8"])

    def test_the_event_broadcaster_in_its_raw_form_goes_by_time_stamps_and_one_stream(self):
        def base(kind, sub, stream, index, t):
            return struct.pack("<BBHHHqd", kind, sub, 104, stream, index, int(t * 30000), t)

        def send(port):
            with published(port) as publisher:
                for k in range(1000):
                    t = 5 + k * 0.001
                    publisher.send_multipart([b"\1\0", base(2, 1, 7, k % 4, t) + struct.pack("<H5f", 0, -50, 0, 10, -70, 5)])
                    if k % 50 == 30:
                        publisher.send_multipart([b"\0\0", base(1, 3, 7, 0, t) + struct.pack("<BBQ", 1, k // 50 % 2, 2)])
                    if k % 100 == 99:
                        publisher.send_multipart([b"\1\0", base(2, 1, 8, 0, t) + struct.pack("<H2f", 0, -50, 1)])
                publisher.send_multipart([b"\1\0", b"\2\1"])
            return 1000

        self.assert_taken("event-broadcaster", free_port(), 'stream: "7", learn_s: 0.5', send, malformed=1, other_streams=10)
        self.assertEqual(rig.edges("rig.h5"), 20)
        with h5py.File("rig.h5") as file:
            self.assertEqual(len(file["markers/kind"]), 20)
            self.assertEqual(file["spikes/time_ns"][0], 5_000_000_000)
            self.assertEqual(set(file["spikes/amplitude"]), {-70})

    def test_trodes_answers_where_its_spikes_are_once_it_knows(self):
        asked = []

        def send(port):
            context = zmq.Context()
            announcer, reply = context.socket(zmq.PUB), context.socket(zmq.REP)
            announcer.bind(f"tcp://127.0.0.1:{port}")
            place, data = reply.bind_to_random_port("tcp://127.0.0.1"), free_port()
            answers = ["", f"tcp://127.0.0.1:{data}"]
            until = time.monotonic() + 300
            while answers and time.monotonic() < until:
                announcer.send(msgpack.packb({"replyEndpoint": f"tcp://127.0.0.1:{place}"}))
                if reply.poll(100):
                    asked.append(msgpack.unpackb(reply.recv()))
                    reply.send(msgpack.packb(answers.pop(0)))
            with published(data) as publisher:
                for k in range(2000):
                    publisher.send(msgpack.packb({"localTimestamp": 30 * k, "nTrodeId": k % 5, "cluster": k % 2,
                                                  "other": [1.5, None, {"a": b"x"}]}))
                publisher.send(msgpack.packb([1, 2]))
            context.destroy(linger=1000)
            return 2000

        self.assert_taken("trodes", free_port(), "learn_s: 0.5", send, malformed=1)
        self.assertEqual(asked, 2 * [{"tag": "get", "name": "source.spikes", "endpoint": ""}])


@unittest.skipUnless(shutil.which("redis-server"), "no redis-server")
@unittest.skipUnless("hiredis" in command.Test.synfire("--version").stdout, "built without hiredis")
class Brand(rig.Test):
    """Through a Redis server that is not ours."""

    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--unit-count", 20, "--rate", 40, "--duration", 8, "--marker-every", 4, "--seed", 3, "--quiet")
        cls.port = free_port()
        server = cls.begin("redis", shutil.which("redis-server"), "--port", cls.port, "--bind", "127.0.0.1", "--save", "",
                           "--appendonly", "no", "--dir", ".")
        command.wait_for("Ready to accept", "redis.out", server)
        cls.endpoint = f"redis://127.0.0.1:{cls.port}"

    def test_spikes_come_by_their_bins(self):
        def bins(path, name):
            with h5py.File(path) as file:
                names = [given.decode() for given in file["units/name"]]
                return collections.Counter((int(time_ns) // 10**6, name(unit, names))
                                           for time_ns, unit in zip(file["spikes/time_ns"][:], file["spikes/unit"][:].tolist()))

        source = self.play("brand", self.endpoint, "sim.h5", "policy: drop-oldest", "--speed", 4)
        self.assertEqual(bins("rig.h5", lambda unit, names: names[unit]), bins("sim.h5", lambda unit, names: f"ch{unit}"))
        self.assertEqual([source[count] for count in ("malformed", "late", "dropped")], [0, 0, 0])

    @unittest.skipUnless("redis" in globals(), "no module redis")
    def test_each_entry_says_of_which_sample_it_is_in_both_of_the_ways_that_nodes_have(self):
        server = redis.Redis(port=self.port)
        server.delete("thresholdExtraction")
        self.play("brand", self.endpoint, "sim.h5", "policy: drop-oldest", "--speed", 4)
        entries = [fields for _, fields in server.xrange("thresholdExtraction")]
        samples = [struct.unpack("<I", fields[b"timestamps"])[0] for fields in entries]
        self.assertGreater(len(entries), 1000)
        self.assertEqual({b - a for a, b in zip(samples, samples[1:])}, {30})
        self.assertEqual([json.loads(fields[b"sync"]) for fields in entries], [{"nsp_idx_1": sample} for sample in samples])

    @unittest.skipUnless("redis" in globals(), "no module redis")
    def test_what_is_there_already_is_of_the_past(self):
        server = redis.Redis(port=self.port)

        def put(ts, counts):
            server.xadd("crossings_7", {"sync": "{}", "counts": struct.pack("<4h", *counts), "ts": struct.pack("<Q", ts)}, maxlen=5000)

        def send(_):
            command.wait_until(lambda: server.info("clients")["blocked_clients"] > 0, "a run that waits")
            rows = [(k % 3 == 0, 0, 2 * (k % 5 == 0), k % 7 == 0) for k in range(3000)]
            for k, counts in enumerate(rows):
                put(10**9 + k * 10**6, counts)
            server.xadd("crossings_7", {"sync": "{}", "ts": struct.pack("<Q", 10**10)})
            return sum(map(sum, rows))

        put(1, (9, 9, 9, 9))
        self.assert_taken("brand", self.port, "stream: crossings_7, field: counts", send, scheme="redis", malformed=1)


if __name__ == "__main__":
    command.main()
