# SPDX-License-Identifier: Apache-2.0
"""Plexon files of each version, by a writer of its own: spikes, units, markers and intervals are what was written, and what Neo
reads where it is installed; refusals."""
import importlib.util
import pathlib
import random
import unittest
import warnings

import command
import converted
from plx import START, STOP, STROBED, Plx

NAMES = {1: "Event001", 9: "Keyb\xe9ard1", STROBED: "Strobed", START: "Start", STOP: "Stop"}
LONG = 2**32 - 100000, 2**33 + 5, 2**31 - 100000  # 29.8, 59.7 and 14.9 hours at 40 kHz


def name_of(channel, unit):
    return f"sig{channel:03}" + ("U" if unit == 0 else ":invalid" if unit == -1 else chr(ord("a") + unit - 1))


def fill(file, draw, first=0, count=2000, gaps=()):
    """Spikes in the order of time, events, words, signals; what was recorded, with its gaps. Returns what is in it, in ticks."""
    channels = (1, 2, 17, 64, 128) + ((200,) if file.version >= 107 else ())
    for channel in channels:
        file.channel(channel, f"sig{channel:03}")
    file.channel(3, "sig003")
    for number, name in NAMES.items():
        file.event_channel(number, name)
    file.slow_channel(0, "AD01")
    file.slow_channel(5, "AD06")
    tick, spikes, markers, spans = first, {}, [], [[first, None]]
    file.event(tick, START)
    for i in range(count):
        tick += int(draw.expovariate(1 / (0.004 * file.rate_hz))) + 1
        if i in gaps:
            file.event(tick, STOP)
            spans[-1][1] = tick
            tick += 30 * file.rate_hz
            file.event(tick, START)
            spans.append([tick, None])
        if i % 50 == 7:
            value = draw.randrange(65536)
            file.event(tick, STROBED, value)
            markers.append((tick, STROBED, str(value)))
        elif i % 50 == 9:
            number = 9 if i % 100 == 9 else 1
            file.event(tick, number)
            markers.append((tick, number, None))
        elif i % 50 == 11:
            file.signal(tick, 0, points=draw.choice([1, 100, 5000]))
        else:
            channel, unit = draw.choice(channels), draw.choice([0, 0, 1, 2, 4, 26, -1])
            file.spike(tick, channel, unit, points=draw.choice([0, 32, 56]))
            spikes.setdefault((channel, unit), []).append(tick)
    file.event(tick + 5, STOP)
    spans[-1][1] = tick + 5
    file.last = float(tick + 5)
    return {"spikes": spikes, "markers": markers, "spans": spans}


def make_tetrode():
    """Each spike as a block of each of four wires, of which one sorted spike is missing on a wire of the second tetrode."""
    file, spikes = Plx(trodalness=4), {}
    for channel in range(1, 9):
        file.channel(channel, f"sig{channel:03}")
    for i in range(300):
        tick, base, unit = 400 * i, (1, 5)[i % 2], (0, 1, 1, 2)[i % 4]
        for channel in range(base, base + 4):
            if (i, channel) != (151, 7):
                file.spike(tick, channel, unit)
                if channel == base or (channel == 7 and unit == 2):
                    spikes.setdefault((channel, unit), []).append(tick)
    file.last = 400.0 * 300
    return file, spikes


def find_by_neo(path):
    """Ticks of each unit, and of each event channel with the labels, as Neo has them."""
    from neo.rawio import PlexonRawIO
    raw = PlexonRawIO(str(path))
    raw.parse_header()
    units = {}
    for i, (channel, unit) in enumerate(raw.internal_unit_ids):
        units[int(channel), -1 if unit == 65535 else int(unit)] = raw.get_spike_timestamps(0, 0, i, None, None).astype(int).tolist()
    events = {}
    for i, channel in enumerate(raw.header["event_channels"]):
        ticks, _, labels = raw.get_event_timestamps(0, 0, i, None, None)
        events[int(channel["id"])] = list(zip(ticks.astype(int).tolist(), map(str, labels)))
    return units, events


def first_inputs():
    """Small files of each kind for the fuzz target, which puts in the counts of the header as zeros."""
    draw = random.Random(5)
    for name, version, gaps in ("v100", 100, ()), ("v106", 106, (20, 40)):
        file = Plx(version, rate_hz=1000)
        fill(file, draw, count=60, gaps=gaps)
        yield name, file.bytes()
    file = Plx(trodalness=2, rate_hz=1000, last=50.0)
    for channel in range(1, 3):
        file.channel(channel, f"sig{channel:03}")
        file.spike(7, channel, 1, points=0)
        file.spike(9, channel, channel % 2, points=0)
    yield "stereotrode", file.bytes()
    file = Plx(rate_hz=1000)
    file.channel(1, "one")
    for tick in (5000, 9000, 70000, 20, 3000, 60000):  # a clock that runs back
        file.spike(tick, 1, 1, points=0)
    file.event(5, START)
    file.event(3, STOP)
    file.event(9, 7)
    yield "cut", file.bytes()[:-3]


class Plexon(command.Test):
    @classmethod
    def prepare(cls):
        cls.files = {}
        for version in range(100, 108):
            file = Plx(version, rate_hz=40000 if version != 104 else 24414, comment="culture 7, \xb5",
                       encoding="latin-1" if version == 101 else "utf-8")
            cls.write(f"v{version}.plx", file, random.Random(version), first=0 if version != 105 else 77,
                      gaps=(700, 1300) if version > 105 else ())
        for first in LONG:
            cls.write(f"from{first}.plx", Plx(106), random.Random(first), first=first)
        tetrode, cls.spikes_of_tetrodes = make_tetrode()
        tetrode.write("tetrode.plx")

    @classmethod
    def write(cls, path, file, draw, **how):
        """A file, what is in it and what the command reads of it."""
        truth = fill(file, draw, **how)
        file.write(path)
        cls.files[path] = file, truth, converted.read(path)

    def assert_trains(self, found, spikes, rate_hz, silent=()):
        """Trains by their names, to the tick, with the kinds and electrodes of their units."""
        trains = {name_of(*of): [converted.nearest_ns(tick, rate_hz) for tick in ticks] for of, ticks in spikes.items()}
        self.assertEqual(found.trains, {**trains, **{name: [] for name in silent}})
        for channel, unit in spikes:
            name = name_of(channel, unit)
            self.assertEqual((found.kinds[name], found.electrodes[name]), (2 if unit == 0 else 3 if unit == -1 else 1, channel), name)

    def test_every_spike_is_read_to_the_tick(self):
        for path, (file, truth, found) in self.files.items():
            with self.subTest(path=path):
                self.assert_trains(found, truth["spikes"], file.rate_hz, silent=["sig003U"])

    def test_events_and_words_are_markers(self):
        for path, (file, truth, found) in self.files.items():
            with self.subTest(path=path):
                markers = [(converted.nearest_ns(tick, file.rate_hz), f"{NAMES[number]} {value}" if value else NAMES[number])
                           for tick, number, value in truth["markers"]]
                self.assertEqual(found.markers, sorted(markers))

    def test_what_was_recorded_is_between_starts_and_stops(self):
        for path, (file, truth, found) in self.files.items():
            with self.subTest(path=path):
                spans = [[converted.nearest_ns(start, file.rate_hz), converted.nearest_ns(stop, file.rate_hz) + 1]
                         for start, stop in truth["spans"]]
                self.assertEqual(found.observed, spans if len(spans) > 1 else [])
                self.assertEqual(found.span, (spans[0][0], spans[-1][1] - (len(spans) == 1)))

    def test_of_a_tetrode_one_wire_is_read(self):
        self.assert_trains(converted.read("tetrode.plx"), self.spikes_of_tetrodes, 40000)
        self.assertIn("wires: 11 trains are left out: their spikes are those of another wire of the tetrode",
                      self.synfire("info", "tetrode.plx").stdout)

    def test_info_says_what_the_file_is(self):
        for path, (file, *_) in self.files.items():
            with self.subTest(path=path):
                self.assertEqual(self.document("info", path)["format"], f"Plexon PLX {file.version}")
                told = self.synfire("info", path).stdout
                for words in "left_out: signals of 1 continuous channel", "2019-07-23T14:05:06", file.comment:
                    self.assertIn(words, told)

    @unittest.skipUnless(importlib.util.find_spec("neo"), "no Python module neo")
    def test_neo_reads_the_same(self):
        for path, (file, truth, _) in self.files.items():
            if path in ("v101.plx", f"from{LONG[0]}.plx", f"from{LONG[2]}.plx"):
                continue  # Neo reads UTF-8, and takes the lower 32 bits as a number with a sign
            with self.subTest(path=path), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                units, events = find_by_neo(path)
                self.assertEqual(units, truth["spikes"])
                for number in 1, 9, STROBED:
                    own = [(tick, value or "0") for tick, of, value in truth["markers"] if of == number]
                    self.assertEqual(events[number], own, number)
                self.assertEqual([tick for tick, _ in events[START]], [start for start, _ in truth["spans"]])
                self.assertEqual([tick for tick, _ in events[STOP]], [stop for _, stop in truth["spans"]])

    def test_a_file_that_was_cut_is_read_up_to_there(self):
        whole = pathlib.Path("v106.plx").read_bytes()
        pathlib.Path("cut.plx").write_bytes(whole[:100000])
        self.assertRegex(self.synfire("info", "cut.plx").stderr,
                         "recorded up to where the file was cut: the last [0-9]* bytes are no whole block and are left out")
        pathlib.Path("short.plx").write_bytes(whole[:9000])
        self.refuses(65, "it was cut off, or its header is wrong; export it from Plexon's programs again", "info", "short.plx")

    def test_a_layout_that_is_not_published_is_refused(self):
        pathlib.Path("closed.pl2").write_bytes(b"\1\2\3\4 closed")
        self.refuses(65, "its layout is not published; export it as .plx from Offline Sorter or PlexUtil, or as .nex5",
                     "info", "closed.pl2")

    def test_a_clock_of_half_the_rate_takes_twice_as_long(self):
        half, whole = (self.document("info", "v100.plx", *rate)["duration_s"] for rate in (("--rate", 20000), ()))
        self.assertEqual(half, 2 * whole)

    def test_a_file_is_not_replaced(self):
        self.refuses(73, "which is not replaced", "simulate", "v106.plx", "--unit-count", 2, "--rate", 1, "--duration", 1)

    def test_first_inputs_of_the_fuzz_target_are_written_so(self):
        for name, data in first_inputs():
            self.assertEqual((command.SOURCE / "tests/fuzz/corpus/plexon" / name).read_bytes(), data[:256] + data[7504:], name)


if __name__ == "__main__":
    command.main()
