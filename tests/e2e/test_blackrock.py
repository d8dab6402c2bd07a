# SPDX-License-Identifier: Apache-2.0
"""Blackrock's systems: `play` sends as one and a run takes it, to the nearest tick; then so from a system in Python of each protocol,
by what is known of its packets, with what it loses counted, a clock that is set to 0, several instruments, and datagrams of others."""
import collections
import contextlib
import pathlib
import random
import socket
import struct
import time

import command
import rig
import h5py

TICKS, NANOSECONDS = 1, 10**9 // 30000  # what a clock counts in each sample
CONFIGURATION = 0x8000


def waiting(port):
    """Bytes that wait in each socket that listens at the port."""
    lines = [line.split() for line in pathlib.Path("/proc/net/udp").read_text().splitlines()[1:]]
    return [int(fields[4].split(":")[1], 16) for fields in lines if fields[1].endswith(f":{port:04X}")]


def datagrams(address, port=0):
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.bind((address, port))
    return sender


class System:
    """Sends twice 3 s of its time. It keeps the spikes and markers that it sent, less those of one datagram that never comes; another
    is counted and is no packet, and a noise comes with each. What its channels are called it says when it is asked at a port of its own;
    else it says so by itself, and nothing may come there. It waits until the run has read what was sent, so that a busy computer loses
    nothing."""

    def __init__(self, port, protocol, step, own, is_asked):
        self.port, self.protocol, self.step, self.is_asked = port, protocol, step, is_asked
        self.is_late = protocol in ("4.1", "4.2")
        self.instruments = [0] if protocol == "3.11" else [0, 0, 1]
        self.chance = random.Random(f"{protocol} {step}")
        self.to, self.other = datagrams("127.0.0.1", own), datagrams("127.0.0.2")
        self.sent = self.number = self.noise = 0
        self.spikes, self.markers = [], []

    def packet(self, at, channel, kind, payload=b"", instrument=0):
        words, rest = divmod(len(payload), 4)
        assert rest == 0
        if self.protocol == "3.11":
            return struct.pack("<IHBB", at & 0xFFFFFFFF, channel, kind, words) + payload
        if self.protocol == "4.0":
            return struct.pack("<QHBHBH", at, channel, kind, words, instrument, 0) + payload
        return struct.pack("<QHHHBB", at, channel, kind, words, instrument, 0) + payload

    def spike(self, at, channel, unit, samples, instrument=0):
        head = struct.pack("<3f2h", 0.5, self.chance.random(), 0, max(samples), min(samples))
        return self.packet(at, channel, unit, head + struct.pack(f"<{len(samples)}h", *samples), instrument)

    def channel(self, number, label, can, inputs, instrument=0):
        body = bytearray(664 if self.is_late else 660)
        struct.pack_into("<I", body, 0, number)
        struct.pack_into("<I", body, 16, can)
        struct.pack_into("<I", body, 24, inputs)
        struct.pack_into("<16s", body, 168, label)
        return self.packet(1, CONFIGURATION, 0x40 + number % 16, bytes(body), instrument)

    def comment(self, at, text):
        head = struct.pack("<4BI", 0, 0, 0, 0, 0) if self.protocol == "3.11" else struct.pack("<4BQI", 0, 0, 0, 0, at, 0)
        return self.packet(at, CONFIGURATION, 0x31, head + text.ljust(128, b"\0"))

    def processor(self):
        name = b"Neural Signal Processor" if self.step == TICKS else b"Gemini Hub 2"
        major, minor = map(int, self.protocol.split("."))
        return self.packet(1, CONFIGURATION, 0x21, struct.pack("<2I64s9I2H", 1, 0, name, *[1] * 9, minor, major))

    def put(self, *packets, is_lost=False):
        self.sent += len(packets)
        if not is_lost:
            while sum(waiting(self.port)) > 30000:
                time.sleep(0.001)
            self.to.sendto(b"".join(packets), ("127.0.0.1", self.port))

    def put_count(self, at):
        self.number += 1
        body = struct.pack("<I", self.sent + 2) + (struct.pack("<I", self.number) if self.is_late else b"")
        self.put(self.packet(at, CONFIGURATION, 0), self.packet(at, CONFIGURATION, 1, body))
        self.sent = 0

    def put_names(self):
        self.put(self.processor())
        for number in range(1, 6):
            for instrument in set(self.instruments):
                self.put(self.channel(number, b"elec%d" % (10 * number), 0x107, 0, instrument))
        self.put(self.channel(279, b"digin", 0x403, 0x1400))

    def spikes_of(self, tick, epoch, is_lost):
        for _ in range(3):
            number, unit, instrument = 1 + self.chance.randrange(6), self.chance.choice([0, 0, 1, 5]), self.chance.choice(self.instruments)
            samples = [self.chance.randrange(-300, 200) for _ in range(self.chance.choice([2, 30, 48, 128]))]
            at, trough = (tick - self.chance.randrange(20)) * self.step, min(samples)
            name = f"{f'elec{10 * number}' if number < 6 else 'chan6'}{'/1' if instrument else ''}:{unit}"
            if not is_lost:
                self.spikes.append((epoch, at, name, trough if trough < 0 else max(samples)))
            yield self.spike(at, number, unit, samples, instrument)

    def markers_of(self, at, beat):
        self.markers += [f"ttl0 {beat // 50 % 2}", "digin 513", f"trial {beat}"]
        return [self.packet(at, 279, 0, struct.pack("<3I", beat // 50 % 2, 1, 1)), self.packet(at, 279, 0, struct.pack("<3I", 513, 0, 2)),
                self.comment(at, b"trial %d" % beat)]

    def put_seconds(self, begin, epoch):
        for beat in range(300):
            packets, is_lost = [], (beat, epoch) == (200, 1)
            first = (begin + beat * 300) * self.step
            for tick in range(begin + beat * 300, begin + beat * 300 + 300, 30):
                packets += [self.packet(tick * self.step, 0, 5, bytes(2 * 128)), *self.spikes_of(tick, epoch, is_lost)]
            packets.append(self.spike(first, 1, 255, [5, -5]))
            self.noise += not is_lost
            if beat % 50 == 20:
                packets += self.markers_of(first, beat)
            self.put(*packets, is_lost=is_lost)
            if (beat, epoch) == (100, 0):
                self.put(b"\xff" * 40)  # counted as sent, and no packet
                self.other.sendto(b"".join(packets), ("127.0.0.1", self.port))  # somebody else's
            self.put_count(first)

    def put_all(self):
        command.wait_until(lambda: waiting(self.port), "a run that listens")
        begin = 3_000_000_000 if self.step == TICKS else 5_400_000_000
        self.put(self.packet((begin - 300) * self.step, CONFIGURATION, 0))
        if self.is_asked:  # in each of the two forms that there are
            self.to.settimeout(300)
            questions = [self.to.recv(2000) for _ in range(2)]
            assert sorted(map(len, questions)) == [8, 16] and self.packet(1, CONFIGURATION, 0x88) in questions, questions
        self.put_names()
        self.put_seconds(begin, 0)
        self.put_seconds(300, 1)  # its clock was set to 0

    def was_told(self):
        """Whether something came that it has not read."""
        self.to.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            return bool(self.to.recv(2000))
        return False

    def close(self):
        self.to.close()
        self.other.close()


def told_of_source():
    """The run's newest account of its source."""
    told = command.messages_of("rig.jsonl", "status", whole=True)
    return told[-1]["sources"][0] if told else {"spikes": 0, "gap_lost": 0}


def since_first(rows):
    """How often each row is there, its time since that of the first."""
    rows = sorted(rows)
    return collections.Counter((at - rows[0][0], *rest) for at, *rest in rows)


class Played(rig.Test):
    def attempt(self, port):
        """The run's account of what was played, or None where some is lost: UDP makes no sender wait, and a busy computer may lose it."""
        rig.configure(f'type: blackrock, endpoint: "udp://127.0.0.1:{port}", timeout_s: 60, learn_s: 3')
        run = self.begin("rig", "run", "rig.yaml", "--json")
        player = self.begin("play", "play", "sim.h5", "--protocol", "blackrock", "--to", f"udp://127.0.0.1:{port}", "--speed", 4, "--json")
        player.end()
        sent = player.document()["spikes"]
        with contextlib.suppress(AssertionError):
            command.wait_until(lambda: told_of_source()["spikes"] >= sent or told_of_source()["gap_lost"] > 0, "all", run, seconds=60)
        run.stop()
        source = run.document()["status"]["sources"][0]
        return source if source["spikes"] >= sent else None

    def test_a_run_takes_what_a_player_sends(self):
        def markers(path):
            with h5py.File(path) as file:
                return [list(file[f"markers/{key}"]) for key in ("kind", "line", "state", "text")]

        self.synfire("simulate", "sim.h5", "--unit-count", 20, "--rate", 40, "--duration", 8, "--marker-every", 4, "--seed", 3, "--quiet")
        port, = command.free_ports(1)
        source = next(filter(None, (self.attempt(port) for _ in range(20))))
        self.assertIn(f"sending on udp://127.0.0.1:{port}, waiting for 1 subscriber", pathlib.Path("play.err").read_text())
        self.assert_same("sim.h5", 30000, source, lambda i: f"{chr(65 + i)}:0")
        self.assertEqual(markers("rig.h5"), markers("sim.h5"))


class Sent(rig.Test):
    def assert_system(self, protocol, step, is_asked=False):
        """What it sent is what was recorded, each spike with its time, name and amplitude; nothing is sent to it unless it is asked."""
        port, own = command.free_ports(2)
        system = System(port, protocol, step, own, is_asked)
        self.addCleanup(system.close)

        def send(_):
            system.put_all()
            command.wait_until(lambda: told_of_source()["spikes"] >= len(system.spikes) + system.noise, "all that was sent")
            return len(system.spikes)

        ask = f"udp://127.0.0.1:{own}" if is_asked else "off"
        self.assert_taken("blackrock", port, f"learn_s: 0.5, device: 127.0.0.1, ask: '{ask}'", send, "udp", 10,
                          gaps=2, gap_lost=42, malformed=1, other_streams=1, out_of_range=599, epochs=1)
        self.assertFalse(system.was_told() and not is_asked)
        self.assertIn("datagrams so far from elsewhere, the last from 127.0.0.2, are left out", pathlib.Path("rig.err").read_text())
        with h5py.File("rig.h5") as file:
            names = [name.decode() for name in file["units/name"]]
            rows = sorted((int(at), names[unit], int(trough)) for at, unit, trough in
                          zip(*(file[f"spikes/{key}"][:] for key in ("time_ns", "unit", "amplitude"))))
            texts = [text.decode() or f"ttl{line} {state}" for text, line, state in
                     zip(*(file[f"markers/{key}"][:] for key in ("text", "line", "state")))]
        for epoch in 0, 1:  # the second lies behind the first
            sent = [(at if step > 1 else (at * 10**9 + 15000) // 30000, *rest) for e, at, *rest in system.spikes if e == epoch]
            came, rows = rows[:len(sent)], rows[len(sent):]
            self.assertEqual(list((since_first(came) - since_first(sent)).items())[:3], [])
        self.assertEqual(texts.count("synfire: the clock went back, joined on"), 1)
        self.assertEqual([text for text in texts if not text.startswith("synfire: ")], system.markers)

    def test_protocol_3_11_by_itself_and_asked(self):
        self.assert_system("3.11", TICKS)
        self.assert_system("3.11", TICKS, is_asked=True)

    def test_protocol_4_0(self):
        self.assert_system("4.0", TICKS)

    def test_protocol_4_1_whose_clock_counts_nanoseconds(self):
        self.assert_system("4.1", NANOSECONDS)

    def test_protocol_4_2_asked(self):
        self.assert_system("4.2", TICKS, is_asked=True)


class Shared(rig.Test):
    def setUp(self):
        self.port, = command.free_ports(1)
        rig.configure(f'type: blackrock, endpoint: "udp://127.0.0.1:{self.port}", timeout_s: 60, learn_s: 0.5')

    def test_two_systems_and_another_program_at_one_port_are_told_of_and_so_is_the_buffer(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            other.bind(("127.0.0.1", self.port))
            run = self.begin("rig", "run", "rig.yaml", "--verbose")
            command.wait_until(lambda: len(waiting(self.port)) == 2, "a run that listens", run)
            for address in "127.0.0.1", "127.0.0.2", "127.0.0.1":
                with datagrams(address) as system:
                    system.sendto(struct.pack("<QHHHBB", 0, CONFIGURATION, 0, 0, 0, 0), ("127.0.0.1", self.port))
                # The run, which was started last, takes it once it has read those before.
                command.wait_until(lambda: not any(waiting(self.port)), "a run that reads", run)
            run.stop()
        told = run.err.read_text()
        self.assertIn("another program listens there: both hear what is broadcast", told)
        self.assertRegex(told, "datagrams come from 127.0.0.[12] and from 127.0.0.[12], and all are read: `device` takes those of one")
        self.assertIn("of 33554432 bytes of buffer were granted", told)

    def test_what_is_no_address_is_refused(self):
        for code, key, value, sentence in (
                (78, "ask", "here", "sources.0.ask: found 'here', expected off, or udp://HOST:PORT"),
                (78, "device", "here", "sources.0.device: found 'here', expected any, or an address as 192.168.137.128"),
                (69, "endpoint", "udp://192.0.2.1:51002",
                 "expected an address of this computer, the broadcast address of its network, or 0.0.0.0")):
            self.refuses(code, sentence, "run", "rig.yaml", "--set", f"sources.0.{key}={value}", "--quiet")
        self.synfire("simulate", "sim.h5", "--preset", "sym26", "--duration", 2, "--quiet")
        self.refuses(64, "udp://192.0.2.1:51002: sends to other machines: send to 127.0.0.1, or say --insecure",
                     "play", "sim.h5", "--protocol", "blackrock", "--to", "udp://192.0.2.1:51002", "--quiet")


if __name__ == "__main__":
    command.main()
