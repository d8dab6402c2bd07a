# SPDX-License-Identifier: Apache-2.0
"""Plexon files (.plx), written here by what Plexon's published header says: nothing of the reader is used."""
import struct

SPIKE, EVENT, CONTINUOUS = 1, 4, 5
STROBED, START, STOP = 257, 258, 259


class Plx:
    """A file that is written; times are ticks."""

    def __init__(self, version=106, rate_hz=40000, last=0.0, trodalness=1, comment="", waveform_hz=40000, encoding="utf-8"):
        self.version, self.rate_hz, self.last, self.trodalness, self.comment = version, rate_hz, last, trodalness, comment
        self.waveform_hz, self.encoding = waveform_hz, encoding
        self.channels, self.events, self.slow, self.blocks = {}, {}, {}, []
        self.timestamps = [[0] * 5 for _ in range(130)]

    def channel(self, number, name):
        self.channels[number] = name

    def event_channel(self, number, name):
        self.events[number] = name

    def slow_channel(self, number, name):
        self.slow[number] = name

    def block(self, kind, tick, channel, unit=0, words=()):
        self.blocks.append(struct.pack("<HHIHhHH", kind, tick >> 32, tick & 0xFFFFFFFF, channel, unit, 1 if words else 0,
                                       len(words)) + struct.pack(f"<{len(words)}h", *words))

    def spike(self, tick, channel, unit=0, points=32):
        if channel < 130 and 0 <= unit < 5:
            self.timestamps[channel][unit] += 1
        self.block(SPIKE, tick, channel, unit, [(tick + i) % 200 - 100 for i in range(points)])

    def event(self, tick, channel, value=0):
        self.block(EVENT, tick, channel, value - 65536 if value > 32767 else value)

    def signal(self, tick, channel, points=100):
        self.block(CONTINUOUS, tick, channel, 0, [i % 300 for i in range(points)])

    def bytes(self):
        since_103 = struct.pack("<BBBBHH", self.trodalness, 0, 12, 12, 3000, 5000) if self.version >= 103 else bytes(8)
        since_105 = struct.pack("<H", 1000) if self.version >= 105 else bytes(2)
        since_106 = struct.pack("<18s18s", b"OmniPlex 1.2", b"Sorter") if self.version >= 106 else bytes(36)
        head = (struct.pack("<4si128s", b"PLEX", self.version, self.comment.encode(self.encoding)) +
                struct.pack("<6i", self.rate_hz, len(self.channels), len(self.events), len(self.slow), 32, 8) +
                struct.pack("<8id", 2019, 7, 23, 14, 5, 6, 0, self.waveform_hz, self.last) +
                since_103 + since_105 + since_106 + bytes(10))
        assert len(head) == 256
        counts = struct.pack("<650i", *(n for row in self.timestamps for n in row))
        head += counts + counts + bytes(4 * 512)
        assert len(head) == 7504
        for number, name in self.channels.items():
            own = struct.pack("<32s32s", name.encode(self.encoding), b"SIG") + struct.pack("<9i", number, 10, number, 0, 10, 0, -50, 2, 1)
            head += own.ljust(1020, b"\0")
        for number, name in self.events.items():
            head += struct.pack("<32si", name.encode(self.encoding), number).ljust(296, b"\0")
        for number, name in self.slow.items():
            head += struct.pack("<32s6i", name.encode(self.encoding), number, 1000, 1, 1, 1000, 0).ljust(296, b"\0")
        return head + b"".join(self.blocks)

    def write(self, path):
        with open(path, "wb") as file:
            file.write(self.bytes())
