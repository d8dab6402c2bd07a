#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A system of Blackrock's, by what is known of its packets, with struct and socket alone.

cerebus.py PORT PROTOCOL ticks|nanoseconds OWN_PORT asked|unasked: sends twice 3 s of its time to a run that listens at this port, and writes
expected.json: spikes and markers. What its channels are called it says when it is asked at its own port; unasked it says so
by itself, and nothing may come there. It waits until the run has read what was sent, so that a busy computer loses nothing,
and at last until rig.jsonl tells of all. Prints how many spikes there are but for noise.
"""
import json
import random
import socket
import struct
import sys
import time

PORT, PROTOCOL, UNIT = int(sys.argv[1]), sys.argv[2], sys.argv[3]
STEP = 1 if UNIT == "ticks" else 10**9 // 30000
IS_ASKED = sys.argv[5] == "asked"
to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
to.bind(("127.0.0.1", int(sys.argv[4])))
other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
other.bind(("127.0.0.2", 0))
INSTRUMENTS = [0, 0, 1] if PROTOCOL != "3.11" else [0]
chance = random.Random(PROTOCOL + UNIT)


def waiting():
    """Bytes that wait for whoever listens at the port; None: nobody does."""
    for line in open("/proc/net/udp").readlines()[1:]:
        fields = line.split()
        if fields[1].endswith(f":{PORT:04X}"):
            return int(fields[4].split(":")[1], 16)
    return None


def await_listener():
    deadline = time.monotonic() + 60
    while waiting() is None:
        assert time.monotonic() < deadline, "nobody listens"
        time.sleep(0.01)


def await_reader(spikes):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        told = [line for line in open("rig.jsonl") if '"topic":"status"' in line and line.endswith("\n")][-1:]
        if told and json.loads(told[0])["sources"][0]["spikes"] >= spikes:
            return
        time.sleep(0.1)


def packet(at, channel, kind, payload, instrument=0):
    assert len(payload) % 4 == 0
    words = len(payload) // 4
    if PROTOCOL == "3.11":
        return struct.pack("<IHBB", at & 0xFFFFFFFF, channel, kind, words) + payload
    if PROTOCOL == "4.0":
        return struct.pack("<QHBHBH", at, channel, kind, words, instrument, 0) + payload
    return struct.pack("<QHHHBB", at, channel, kind, words, instrument, 0) + payload


def spike(at, channel, unit, samples, instrument=0):
    return packet(at, channel, unit, struct.pack(f"<3f2h{len(samples)}h", 0.5, chance.random(), 0, max(samples), min(samples), *samples), instrument)


def channel(number, label, can, inputs, instrument=0):
    body = bytearray(664 if PROTOCOL in ("4.1", "4.2") else 660)
    struct.pack_into("<I", body, 0, number)
    struct.pack_into("<I", body, 16, can)
    struct.pack_into("<I", body, 24, inputs)
    struct.pack_into("<16s", body, 168, label)
    return packet(1, 0x8000, 0x40 + number % 16, bytes(body), instrument)


def comment(at, text):
    head = struct.pack("<4BI", 0, 0, 0, 0, 0) if PROTOCOL == "3.11" else struct.pack("<4BQI", 0, 0, 0, 0, at, 0)
    return packet(at, 0x8000, 0x31, head + text.ljust(128, b"\0"))


def processor():
    ident = b"Gemini Hub 2" if UNIT != "ticks" else b"Neural Signal Processor"
    major, minor = map(int, PROTOCOL.split("."))
    return packet(1, 0x8000, 0x21, struct.pack("<2I64s9I2H", 1, 0, ident, *[1] * 9, minor, major))


class System:
    sent = number = noise = 0
    spikes, markers = [], []

    def put(self, packets, drop=False):
        data = b"".join(packets)
        self.sent += len(packets)
        if drop:
            return
        while (waiting() or 0) > 30000:
            time.sleep(0.001)
        to.sendto(data, ("127.0.0.1", PORT))

    def monitor(self, at):
        self.number += 1
        body = struct.pack("<I", self.sent + 2) + (struct.pack("<I", self.number) if PROTOCOL in ("4.1", "4.2") else b"")
        self.put([packet(at, 0x8000, 0, b""), packet(at, 0x8000, 1, body)])
        self.sent = 0


def run(system, begin, epoch):
    for beat in range(300):
        packets, is_lost = [], beat == 200 and epoch == 1
        for k in range(10):
            tick = begin + beat * 300 + k * 30
            packets.append(packet(tick * STEP, 0, 5, bytes(2 * 128)))
            for _ in range(3):
                number, unit, instrument = 1 + chance.randrange(6), chance.choice([0, 0, 1, 5]), chance.choice(INSTRUMENTS)
                samples = [chance.randrange(-300, 200) for _ in range(chance.choice([2, 30, 48, 128]))]
                at = (tick - chance.randrange(20)) * STEP
                packets.append(spike(at, number, unit, samples, instrument))
                label = f"elec{10 * number}" if number < 6 else "chan6"
                name = f"{label}{'/1' if instrument else ''}:{unit}"
                if not is_lost:
                    trough = min(samples)
                    system.spikes.append([epoch, at, name, trough if trough < 0 else max(samples)])
        packets.append(spike((begin + beat * 300) * STEP, 1, 255, [5, -5]))
        system.noise += not is_lost
        if beat % 50 == 20:
            at = (begin + beat * 300) * STEP
            packets.append(packet(at, 279, 0, struct.pack("<3I", beat // 50 % 2, 1, 1)))
            packets.append(packet(at, 279, 0, struct.pack("<3I", 513, 0, 2)))
            packets.append(comment(at, b"trial %d" % beat))
            system.markers += [[epoch, at, "ttl0", beat // 50 % 2], [epoch, at, "digin 513"], [epoch, at, "trial %d" % beat]]
        system.put(packets, drop=is_lost)
        if beat == 100 and epoch == 0:
            system.put([b"\xff" * 40])  # counted as sent, and no packet
            other.sendto(b"".join(packets), ("127.0.0.1", PORT))  # somebody else's
        system.monitor((begin + beat * 300) * STEP)


await_listener()
system = System()
BEGIN = 3_000_000_000 if UNIT == "ticks" else 5_400_000_000
system.put([packet((BEGIN - 300) * STEP, 0x8000, 0, b"")])
if IS_ASKED:  # in each of the two forms that there are
    to.settimeout(60)
    questions = [to.recv(2000) for _ in range(2)]
    assert sorted(map(len, questions)) == [8, 16] and packet(1, 0x8000, 0x88, b"") in questions, questions
system.put([processor()])
for number in range(1, 6):
    for instrument in set(INSTRUMENTS):
        system.put([channel(number, b"elec%d" % (10 * number), 0x107, 0, instrument)])
system.put([channel(279, b"digin", 0x403, 0x1400)])
run(system, BEGIN, 0)
run(system, 300, 1)  # its clock was set to 0
json.dump({"spikes": system.spikes, "markers": system.markers, "step": STEP}, open("expected.json", "w"))
await_reader(len(system.spikes) + system.noise)
to.settimeout(0.01)
try:
    assert to.recv(2000) and IS_ASKED, "something is sent to the system"
except TimeoutError:
    pass
print(len(system.spikes))
