# SPDX-License-Identifier: Apache-2.0
"""NeuroExplorer files, written here by what is published of their headers: nothing of the reader is used."""
import json
import struct

import command

command.need_modules()
import numpy as np

NEURON, EVENT, INTERVAL, WAVEFORM, VECTOR, CONTINUOUS, MARKER = range(7)


class Nex:
    """A file that is written: of version 5 with timestamps of `width` bytes, else .nex."""

    def __init__(self, rate_hz, five=False, width=4, version=None, comment="", begin=0, end=0):
        self.rate_hz, self.five, self.width, self.comment, self.begin, self.end = rate_hz, five, width, comment, begin, end
        self.version = version or ((502 if width == 8 else 501) if five else 106)
        self.variables, self.meta = [], []

    def times(self, ticks):
        return np.asarray(ticks, "<i8" if self.width == 8 else "<i4").tobytes()

    def add(self, kind, name, data, count, wire=0, unit=0, x=0.0, y=0.0, numbers=False, rate=0.0, points=0, fields=0, length=0,
            integers=False):
        name = name if isinstance(name, bytes) else name.encode()
        if self.five:
            def header(at):
                return struct.pack("<ii64sQQiid32sddQdiiii60x", kind, 500, name, at, count, self.width == 8, 0, rate, b"mV",
                                   1.0, 0.0, points, 0.0, integers, fields, length, 0)
        else:
            def header(at):
                return struct.pack("<ii64siiiiiiddddiiidd52x", kind, 101 if numbers else 100, name, at, count, wire, unit,
                                   0, 0, x, y, rate, 1.0, points, fields, length, 0.0, 0.0)
        self.variables.append((header, data))
        self.meta.append({"name": name.decode("latin-1"), "unitNumber": unit,
                          "probe": {"wireNumber": wire, "position": {"x": x, "y": y}}})

    def neuron(self, name, ticks, **more):
        self.add(NEURON, name, self.times(ticks), len(ticks), **more)

    def event(self, name, ticks):
        self.add(EVENT, name, self.times(ticks), len(ticks))

    def interval(self, name, starts, ends):
        self.add(INTERVAL, name, self.times(starts) + self.times(ends), len(starts))

    def wave(self, name, ticks, points=4, **more):
        values = np.arange(len(ticks) * points, dtype="<i2")
        self.add(WAVEFORM, name, self.times(ticks) + values.tobytes(), len(ticks), points=points, rate=self.rate_hz, **more)

    def vector(self, name, weights):
        self.add(VECTOR, name, np.asarray(weights, "<f8").tobytes(), len(weights))

    def continuous(self, name, first, values):
        self.add(CONTINUOUS, name, self.times([first]) + struct.pack("<I", 0) + np.asarray(values, "<i2").tobytes(), 1,
                 points=len(values), rate=1000.0)

    def marker(self, name, ticks, fields, length=6):
        data = self.times(ticks)
        integers = self.five and all(isinstance(v, int) for values in fields.values() for v in values)
        for field, values in fields.items():
            data += struct.pack("<64s", field.encode())
            for value in values:
                data += struct.pack("<I", value) if integers else struct.pack(f"<{length}s", str(value).encode())
        self.add(MARKER, name, data, len(ticks), fields=len(fields), length=length, integers=integers)

    def bytes(self, meta=True):
        size, each = (356, 244) if self.five else (544, 208)
        at = size + each * len(self.variables)
        headers = data = b""
        for header, own in self.variables:
            headers += header(at + len(data))
            data += own
        text = json.dumps({"file": {}, "variables": self.meta[::-1]}).encode() if self.five and meta else b""
        if self.five:
            start = struct.pack("<4si256sdqiQq56x", b"NEX5", self.version, self.comment.encode(), self.rate_hz, self.begin,
                                len(self.variables), at + len(data) if text else 0, self.end)
        else:
            start = struct.pack("<4si256sdiiii256x", b"NEX1", self.version, self.comment.encode(), self.rate_hz, self.begin,
                                self.end, len(self.variables), 0)
        return start + headers + data + text

    def write(self, path, meta=True):
        with open(path, "wb") as file:
            file.write(self.bytes(meta))
