# SPDX-License-Identifier: Apache-2.0
"""NeuroExplorer files, written and read here by what is published of their headers: nothing of the reader is used.

  nex.py write FILE SPIKES    a file of so many spikes of 64 neurons, to measure with
  nex.py corpus FOLDER        small files of each kind, as first inputs of the fuzz target
  nex.py compare              files with every type of variable through the command, held against Neo where this Python
                              has it (.nex), and against the reader below (.nex5); exit code 77 where there is no Neo
"""
import json
import os
import struct
import subprocess
import sys

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


def read_nex5(path):
    """What a .nex5 file holds, by type: {name: timestamps}, {name: (starts, ends)}, ..., in ticks."""
    with open(path, "rb") as file:
        data = file.read()
    magic, version, _, rate, begin, count, meta_at, end = struct.unpack_from("<4si256sdqiQq", data, 0)
    assert magic == b"NEX5"
    found = {kind: {} for kind in range(7)}
    for i in range(count):
        kind, _, name, at, n, wide = struct.unpack_from("<ii64sQQi", data, 356 + 244 * i)
        _, fields, length = struct.unpack_from("<iii", data, 356 + 244 * i + 168)
        integers = struct.unpack_from("<i", data, 356 + 244 * i + 168)[0]
        name = name.split(b"\0")[0].decode()
        times = np.frombuffer(data, "<i8" if wide else "<i4", n, at).astype(np.int64)
        at += times.size * (8 if wide else 4)
        if kind == INTERVAL:
            found[kind][name] = (times, np.frombuffer(data, "<i8" if wide else "<i4", n, at).astype(np.int64))
        elif kind == MARKER:
            values = []
            for _ in range(fields):
                at += 64
                width = 4 if integers else length
                own = [data[at + width * k:at + width * (k + 1)] for k in range(n)]
                values.append([str(struct.unpack("<I", v)[0]) if integers else v.split(b"\0")[0].decode() for v in own])
                at += width * n
            found[kind][name] = (times, [" ".join(row) for row in zip(*values)])
        else:
            found[kind][name] = times
    entries = {}
    if meta_at:
        entries = {entry["name"]: entry for entry in json.loads(data[meta_at:].rstrip(b"\0"))["variables"]}
    return rate, (begin, end), found, entries


def read_by_neo(path):
    """The same of .nex by Neo."""
    from neo.rawio import NeuroExplorerRawIO
    raw = NeuroExplorerRawIO(path)
    raw.parse_header()
    rate = raw.global_header["freq"]
    found = {kind: {} for kind in range(7)}
    kinds = {}
    for i, header in enumerate(raw._entity_headers):
        kinds[str(i)] = header["type"]
    for i, unit in enumerate(raw.header["spike_channels"]):
        found[kinds[unit["id"]]][unit["name"]] = raw.get_spike_timestamps(0, 0, i).astype(np.int64)
    for i, channel in enumerate(raw.header["event_channels"]):
        times, durations, labels = raw.get_event_timestamps(0, 0, i)
        kind = kinds[channel["id"]]
        times = times.astype(np.int64)
        found[kind][channel["name"]] = ((times, times + durations) if kind == INTERVAL else
                                        (times, [str(label) for label in labels]) if kind == MARKER else times)
    return rate, (raw.global_header["tbeg"], raw.global_header["tend"]), found, {}


def fill(nex, random):
    """Every type of variable, with traps: waveforms of a neuron, of none, and tetrodes' with the same spikes."""
    a, b, c, d = (np.sort(random.integers(0, 4_000_000, n)) for n in (900, 500, 300, 40))
    nex.neuron("sig001a", a, wire=1, unit=1, x=10.0, y=20.0, numbers=True)
    nex.neuron("sig001U", b, wire=1, unit=0, x=10.0, y=20.0, numbers=True)
    nex.neuron("sig002a", c, wire=2, unit=1, x=30.0, y=20.0, numbers=True)
    nex.neuron("silent", [], wire=3, unit=2, x=30.0, y=5.0, numbers=True)
    nex.wave("sig001a_wf", a, wire=1, unit=1, numbers=True)
    nex.wave("other", c[::2], wire=2, unit=1, numbers=True)
    nex.wave("sig004a_wf", d, wire=4, unit=1, numbers=True)
    nex.wave("sig005a_wf", d, wire=5, unit=1, numbers=True)
    nex.event("light", np.arange(1000, 3_000_000, 400_000))
    nex.interval("AllFile", [0], [4_100_000])
    nex.interval("trial", [1000, 500_000], [2000, 600_000])
    nex.vector("pop", [0.5, 1.0])
    nex.continuous("FP01", 0, range(100))
    nex.marker("Strobed", [10, 20_000, 3_999_999], {"DIO": ["00001", "00042", "7"]})
    nex.marker("two", [11, 12], {"one": ["a", "b"], "other": ["c", "d"]})
    if nex.five:
        nex.marker("numbers", [13, 14], {"n": [4294967295, 7]})


def command(*words):
    done = subprocess.run([os.environ["SYNFIRE"], *words], capture_output=True, text=True)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def to_ns(ticks, rate):
    """Rounded to nearest, half up, in whole numbers."""
    return [(2 * int(t) * 10**9 + int(rate)) // (2 * int(rate)) for t in ticks]


def compare(path, known):
    """What the command reads of a file, held against what another reader does."""
    rate, (begin, end), found, entries = known
    if os.path.exists("read.h5"):
        os.remove("read.h5")
    command("convert", path, "read.h5", "--quiet")
    import h5py
    with h5py.File("read.h5") as file:
        names = [name.decode() for name in file["units/name"][()]]
        electrodes = dict(zip(names, file["units/electrode"][()].tolist()))
        times, units = file["spikes/time_ns"][()], file["spikes/unit"][()]
        markers = sorted((int(at), text.split(b"\0")[0].decode()) for at, text in zip(file["markers/time_ns"], file["markers/text"]))
    trains = {**found[NEURON], "sig004a_wf": found[WAVEFORM]["sig004a_wf"]}
    assert names == list(trains), names
    for i, name in enumerate(names):
        assert times[units == i].tolist() == sorted(to_ns(trains[name], rate)), name
    expected = [(at, name) for name, ticks in found[EVENT].items() for at in to_ns(ticks, rate)]
    for name, (starts, ends) in found[INTERVAL].items():
        if name != "AllFile":
            expected += [(at, name) for at in to_ns(starts, rate)] + [(at, name + " end") for at in to_ns(ends, rate)]
    for name, (ticks, labels) in found[MARKER].items():
        if name != "two" or entries:  # Neo has the first field alone
            expected += [(at, f"{name} {label}") for at, label in zip(to_ns(ticks, rate), labels)]
    expected = sorted(expected)
    assert [m for m in markers if entries or not m[1].startswith("two ")] == expected, (markers, expected)
    about = json.loads(command("info", path, "--json", "--quiet"))
    starts, ends = found[INTERVAL]["AllFile"]
    assert about["duration_s"] == (ends[0] - starts[0]) / rate, about["duration_s"]
    details = {unit["name"]: unit for unit in about["unit_detail"]}
    assert [details[name]["kind"] for name in names] == ["sorted", "multi-unit", "sorted", "sorted", "sorted"]
    for name, entry in entries.items():
        if name in details:
            assert electrodes[name] == entry["probe"]["wireNumber"], (name, electrodes)
            assert details[name]["x_um"] in (entry["probe"]["position"]["x"], None), details[name]
    print(f"{path}: {len(names)} units, {len(times)} spikes, {len(markers)} markers")


def main():
    what, *rest = sys.argv[1:]
    random = np.random.default_rng(7)
    if what == "write":
        count = int(rest[1]) // 64
        nex = Nex(40000.0, end=2_000_000_000)
        for i in range(64):
            nex.neuron(f"sig{i + 1:03}a", np.sort(random.integers(0, 2_000_000_000, count)), wire=i + 1, unit=1, numbers=True)
        nex.write(rest[0])
    elif what == "corpus":
        for name, nex in {"nex": Nex(1000.0, comment="a", end=5000), "nex5": Nex(1000.0, True, end=5000),
                          "nex5_wide": Nex(1000.0, True, 8)}.items():
            nex.neuron("sig001a", range(100, 1000, 90), wire=1, unit=1, x=1.0, numbers=True)
            nex.neuron("sig001U", [700, 300, 800], wire=1, numbers=True)
            nex.wave("sig001a_wf", range(100, 1000, 90), points=1)
            nex.wave("w", [5, -6])
            nex.event("e", [1, 2])
            nex.interval("AllFile", [0, 900], [800, 2000])
            nex.interval("i", [5], [6])
            nex.continuous("FP", 0, [1, 2])
            nex.marker("m", [7, 8], {"f": [1, 2] if nex.width == 8 else ["a", "b"]}, 2)
            nex.write(os.path.join(rest[0], name))
    else:
        for width in (4, 8):
            nex = Nex(40000.0, True, width, comment="µ", end=4_100_000)
            fill(nex, random)
            nex.write(f"all{width}.nex5")
            compare(f"all{width}.nex5", read_nex5(f"all{width}.nex5"))
        nex = Nex(40000.0, comment="comment", end=4_100_000)
        fill(nex, random)
        nex.write("all.nex")
        try:
            import neo.rawio  # noqa: F401
        except ImportError:
            sys.exit(77)
        compare("all.nex", read_by_neo("all.nex"))


if __name__ == "__main__":
    main()
