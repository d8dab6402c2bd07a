# SPDX-License-Identifier: Apache-2.0
"""NeuroExplorer files of every type of variable: .nex as Neo has them, .nex5 as a reader in Python has them; refusals."""
import importlib.util
import json
import pathlib
import struct
import types
import unittest
import warnings

import command
import converted
from nex import EVENT, INTERVAL, MARKER, NEURON, WAVEFORM, Nex
import numpy as np


def read_nex5(path):
    """What a .nex5 file holds, by type: {name: timestamps}, {name: (starts, ends)}, ..., in ticks; entries of its metadata."""
    data = pathlib.Path(path).read_bytes()
    magic, _, _, rate_hz, _, count, meta_at, _ = struct.unpack_from("<4si256sdqiQq", data, 0)
    assert magic == b"NEX5"
    found = {kind: {} for kind in range(7)}
    for i in range(count):
        kind, _, name, at, n, wide = struct.unpack_from("<ii64sQQi", data, 356 + 244 * i)
        integers, fields, length = struct.unpack_from("<iii", data, 356 + 244 * i + 168)
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
    entries = json.loads(data[meta_at:].rstrip(b"\0"))["variables"]
    return types.SimpleNamespace(rate_hz=rate_hz, entries={entry["name"]: entry for entry in entries}, of=found)


def read_by_neo(path):
    """The same of .nex by Neo, which has no metadata."""
    from neo.rawio import NeuroExplorerRawIO
    raw = NeuroExplorerRawIO(path)
    raw.parse_header()
    found = {kind: {} for kind in range(7)}
    kinds = {str(i): header["type"] for i, header in enumerate(raw._entity_headers)}
    for i, unit in enumerate(raw.header["spike_channels"]):
        found[kinds[unit["id"]]][str(unit["name"])] = raw.get_spike_timestamps(0, 0, i).astype(np.int64)
    for i, channel in enumerate(raw.header["event_channels"]):
        times, durations, labels = raw.get_event_timestamps(0, 0, i)
        kind, times = kinds[channel["id"]], times.astype(np.int64)
        found[kind][str(channel["name"])] = ((times, times + durations) if kind == INTERVAL else
                                             (times, [str(label) for label in labels]) if kind == MARKER else times)
    return types.SimpleNamespace(rate_hz=raw.global_header["freq"], entries={}, of=found)


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


def first_inputs():
    """Small files of each kind, for the fuzz target."""
    for name, nex in (("nex", Nex(1000.0, comment="a", end=5000)), ("nex5", Nex(1000.0, True, end=5000)),
                      ("nex5_wide", Nex(1000.0, True, 8))):
        nex.neuron("sig001a", range(100, 1000, 90), wire=1, unit=1, x=1.0, numbers=True)
        nex.neuron("sig001U", [700, 300, 800], wire=1, numbers=True)
        nex.wave("sig001a_wf", range(100, 1000, 90), points=1)
        nex.wave("w", [5, -6])
        nex.event("e", [1, 2])
        nex.interval("AllFile", [0, 900], [800, 2000])
        nex.interval("i", [5], [6])
        nex.continuous("FP", 0, [1, 2])
        nex.marker("m", [7, 8], {"f": [1, 2] if nex.width == 8 else ["a", "b"]}, 2)
        yield name, nex.bytes()


class NeuroExplorer(command.Test):
    @classmethod
    def prepare(cls):
        random = np.random.default_rng(7)
        for path, nex in (("all4.nex5", Nex(40000.0, True, 4, comment="µ", end=4_100_000)),
                          ("all8.nex5", Nex(40000.0, True, 8, comment="µ", end=4_100_000)),
                          ("all.nex", Nex(40000.0, comment="comment", end=4_100_000))):
            fill(nex, random)
            nex.write(path)

    def assert_read(self, path, known):
        """What the command reads of the file is what another reader does."""
        def ns(ticks):
            return [converted.nearest_ns(tick, known.rate_hz) for tick in ticks]

        found, about = converted.read(path), self.document("info", path)
        details = {unit["name"]: unit for unit in about["unit_detail"]}
        trains = {**known.of[NEURON], "sig004a_wf": known.of[WAVEFORM]["sig004a_wf"]}
        self.assertEqual(found.names, list(trains))
        self.assertEqual(found.trains, {name: sorted(ns(ticks)) for name, ticks in trains.items()})
        self.assertEqual([details[name]["kind"] for name in found.names], ["sorted", "multi-unit", "sorted", "sorted", "sorted"])
        markers = [(at, name) for name, ticks in known.of[EVENT].items() for at in ns(ticks)]
        for name, (starts, ends) in known.of[INTERVAL].items():
            if name != "AllFile":
                markers += [(at, name) for at in ns(starts)] + [(at, f"{name} end") for at in ns(ends)]
        for name, (ticks, labels) in known.of[MARKER].items():
            markers += [(at, f"{name} {label}") for at, label in zip(ns(ticks), labels)]
        if not known.entries:  # Neo has the first field alone
            markers = [(at, {"two a": "two a c", "two b": "two b d"}.get(text, text)) for at, text in markers]
        self.assertEqual(found.markers, sorted(markers))
        starts, ends = known.of[INTERVAL]["AllFile"]
        self.assertEqual(about["duration_s"], (ends[0] - starts[0]) / known.rate_hz)
        for name in details.keys() & known.entries.keys():
            probe = known.entries[name]["probe"]
            self.assertEqual(found.electrodes[name], probe["wireNumber"], name)
            self.assertEqual(details[name]["x_um"], probe["position"]["x"] or None, name)  # 0, 0 is no place

    def test_nex5_is_read_as_by_its_published_headers(self):
        for path in "all4.nex5", "all8.nex5":
            with self.subTest(path=path):
                self.assert_read(path, read_nex5(path))

    @unittest.skipUnless(importlib.util.find_spec("neo"), "no Python module neo, which reads .nex")
    def test_nex_is_read_as_by_neo(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            known = read_by_neo("all.nex")
        self.assert_read("all.nex", known)

    def test_what_is_left_out_is_told(self):
        told = self.synfire("info", "all.nex").stdout
        self.assertIn("waveforms: 3 variables are left out: their spikes are those of others", told)
        self.assertIn("left_out: 1 continuous variable (FP01); 1 population vector (pop)", told)

    def test_info_says_what_the_file_is(self):
        about = self.document("info", "all.nex")
        self.assertEqual((about["format"], about["unit_detail"][1]["kind"]), ("NeuroExplorer .nex, version 106", "multi-unit"))

    def test_a_clock_of_half_the_rate_takes_twice_as_long(self):
        self.assertEqual([self.document("info", "all.nex", *rate)["duration_s"] for rate in ((), ("--rate", 20000))], [102.5, 205])

    def test_a_file_that_was_cut_is_refused(self):
        whole = pathlib.Path("all.nex").read_bytes()
        for length, sentence in ((900, "it was cut off"),
                                 (6000, "it was cut off, or its header is wrong; export it from NeuroExplorer again")):
            pathlib.Path("cut.nex").write_bytes(whole[:length])
            self.refuses(65, sentence, "info", "cut.nex")

    def test_there_are_no_sessions_and_no_file_is_replaced(self):
        self.refuses(64, "there are no sessions to choose", "info", "all.nex", "--stream", "session1")
        self.refuses(73, "which is not replaced", "simulate", "all.nex", "--unit-count", 2, "--rate", 1, "--duration", 1)

    def test_first_inputs_of_the_fuzz_target_are_written_so(self):
        for name, data in first_inputs():
            self.assertEqual((command.SOURCE / "tests/fuzz/corpus/nex" / name).read_bytes(), data, name)


if __name__ == "__main__":
    command.main()
