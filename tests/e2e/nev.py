# SPDX-License-Identifier: Apache-2.0
"""Files of spikes and events, written here by what the specifications of Blackrock and Ripple say."""
import struct


def text(string, size):
    return string.encode("latin-1")[:size].ljust(size, b"\0")


def header(code, packed):
    return text(code, 8) + packed.ljust(24, b"\0")


def label(electrode, name):
    return header("NEUEVLBL", struct.pack("<H", electrode) + text(name, 16))


def wave(electrode, version=(2, 3), sorted_units=0):
    packed = struct.pack("<HBBHHhhBB", electrode, 1 + (electrode - 1) // 32, 1 + (electrode - 1) % 32, 250, 0, 0, -200, sorted_units, 2)
    return header("NEUEVWAV", packed + (struct.pack("<H", 48) if version >= (2, 3) else b""))


class File:
    """A file of one version. Times are ticks."""

    def __init__(self, version, resolution=30000, packet_bytes=104, application="Central", comment=""):
        self.version, self.resolution, self.packet_bytes = version, resolution, packet_bytes
        self.application, self.comment = application, comment
        self.headers, self.packets = [], []

    def packet(self, time, number, body):
        head = struct.pack("<QH" if self.version >= (3, 0) else "<IH", time, number)
        assert len(head) + len(body) <= self.packet_bytes
        self.packets.append((head + body).ljust(self.packet_bytes, b"\0"))

    def spike(self, time, electrode, unit_class):
        room = self.packet_bytes - (12 if self.version >= (3, 0) else 8)
        self.packet(time, electrode, struct.pack("<BB", unit_class, 0) + bytes((7 * time + i) % 256 for i in range(room)))

    def digital(self, time, value, reason=1):
        self.packet(time, 0, struct.pack("<BBH", reason, 0, value))

    def remark(self, time, words, utf_16=False):
        self.packet(time, 0xFFFF, struct.pack("<BBI", int(utf_16), 0, 255) + words.encode("utf-16-le" if utf_16 else "latin-1"))

    def data(self):
        magic = b"BREVENTS" if self.version >= (3, 0) else b"NEURALEV"
        size = 336 + 32 * len(self.headers)
        return (magic + struct.pack("<BBHIIII", *self.version, 1, size, self.packet_bytes, self.resolution, 30000) +
                struct.pack("<8H", 2021, 3, 2, 9, 14, 5, 6, 789) + text(self.application, 32) + text(self.comment, 256) +
                struct.pack("<I", len(self.headers)) + b"".join(self.headers) + b"".join(self.packets))

    def write(self, path):
        with open(path, "wb") as file:
            file.write(self.data())
