# SPDX-License-Identifier: Apache-2.0
"""Files of Blackrock and Ripple, of each version, written by a writer of its own: spikes, units, markers and times are what was
written, and what Neo reads where it is installed."""
import importlib.util
import random
import struct
import types
import unittest
import warnings

import command
import converted
import nev

NOISE = 255


def name_of(version, electrode):
    if version == (2, 1):
        return f"chan{electrode}" if electrode <= 128 else f"ainp{electrode - 128}"
    return f"elec1-{electrode}"


class Made:
    """A file that is written, and what is in it: ticks of (electrode, class), and of the texts of markers."""

    def __init__(self, file, name=None):
        self.file, self.name = file, name or (lambda electrode: name_of(file.version, electrode))
        self.spikes, self.markers = {}, []

    def spike(self, tick, electrode, unit_class):
        self.file.spike(tick, electrode, unit_class)
        self.spikes.setdefault((electrode, unit_class), []).append(tick)

    def ns(self, ticks):
        return [converted.nearest_ns(tick, self.file.resolution) for tick in ticks]


def make_version(version, resolution=30000, first=0, seed=1):
    """Spikes in the order of time, a silent electrode, markers."""
    draw, file = random.Random(seed * 100 + version[0] * 10 + version[1]), nev.File(version, resolution)
    made, electrodes, silent = Made(file), [1, 2, 17, 33, 96, 128, 130] + ([300, 1024] if version >= (2, 3) else []), 64
    made.spikes[silent, 0] = []
    order = electrodes + [silent]
    draw.shuffle(order)
    file.headers += [nev.wave(electrode, version) for electrode in order]
    if version > (2, 1):
        for electrode in reversed(order):  # joined by number, whatever their order
            file.headers.append(nev.label(electrode, name_of(version, electrode)))
            file.headers.append(nev.header("NEUEVFLT", struct.pack("<HIIHIIH", electrode, 250000, 4, 1, 7500000, 3, 1)))
    file.headers += [nev.header("ARRAYNME", nev.text("4566-000123", 24)), nev.header("ECOMMENT", nev.text("culture 7, ", 24)),
                     nev.header("CCOMMENT", nev.text("DIV 21", 24))]
    time = first
    for i in range(1000):
        time += int(draw.expovariate(1 / (0.004 * resolution)))
        if i % 50 == 7:
            value, serial = draw.randrange(65536), draw.random() < 0.4
            file.digital(time, value, 129 if serial else 1)
            made.markers.append((time, f"{'serial' if serial else 'digital'} {value}"))
        elif i % 50 == 9 and version >= (2, 3):
            file.remark(time, f"drug {i}", utf_16=i % 100 == 9)
            made.markers.append((time, f"drug {i}"))
        elif i % 50 == 11 and version >= (2, 3):
            file.packet(time, draw.choice([0xFFFE, 0xFFFD, 0xFFFC, 0xFFFB]), b"\1\0\2\0\3\0")
        else:
            made.spike(time, draw.choice(electrodes), draw.choice([0, 0, 1, 2, 16, NOISE]))
    return made


def make_ripple():
    """512 electrodes, ports of the digital input beside each other, stimuli."""
    file = nev.File((2, 2), packet_bytes=112, application="Trellis v1.14")
    made, electrodes = Made(file, "elec {}".format), (5, 300, 512)
    for electrode in electrodes:
        file.headers += [nev.wave(electrode), nev.label(electrode, f"elec {electrode}")]
    for i in range(900):
        made.spike(40 * i, electrodes[i % 3], i % 2)
        if i % 100 == 50:
            file.packet(40 * i + 3, 5120 + 300, bytes(100))
            file.packet(40 * i + 4, 0, struct.pack("<BB5h", 1, 0, 3, 0, 1, 0, 0))
            made.markers += [(40 * i + 3, "stim elec 300"), (40 * i + 4, "digital 3")]
    return made


def make_sessions():
    """Three recordings in one file, each with times from 0 on, as after pauses."""
    file, sessions, draw = nev.File((2, 3)), [], random.Random(7)
    file.headers = [nev.wave(1), nev.wave(2), nev.label(1, "elec1-1"), nev.label(2, "elec1-2")]
    for _ in range(3):
        time, made = 0, Made(file)
        for _ in range(300):
            time += int(draw.expovariate(1 / 600))
            made.spike(time, draw.choice([1, 2]), 1)
        sessions.append(made)
    return sessions


def find_by_neo(path):
    """Ticks of each (electrode, class) in each segment, and of each kind of marker with the values, as Neo has them."""
    import numpy as np
    from neo.rawio import BlackrockRawIO
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reader = BlackrockRawIO(filename=path)
        reader.parse_header()
        found = types.SimpleNamespace(segments=[], events={"comments": []})
        spikes, segments = reader.nev_data["Spikes"]  # get_spike_timestamps leaves out the last of each of several segments
        for segment in range(reader.segment_count(0)):
            chosen = spikes[segments == segment]
            found.segments.append({(int(electrode), int(unit_class)): chosen["timestamp"][
                (chosen["packet_id"] == electrode) & (chosen["unit_class_nb"] == unit_class)].astype(np.uint64).tolist()
                for electrode, unit_class in reader.internal_unit_ids})
        for i, channel in enumerate(reader.header["event_channels"]):
            if channel["name"] == "comments":  # NumPy takes the last zero byte off what is UTF-16, and Neo cannot decode it
                found.events["comments"] = [int(tick) for tick in reader.nev_data["Comments"][0]["timestamp"]]
                continue
            times, _, labels = reader.get_event_timestamps(0, 0, i)
            found.events[str(channel["name"])] = [(int(tick), str(label)) for tick, label in zip(times, labels)]
    return found


class Blackrock(command.Test):
    @classmethod
    def prepare(cls):
        cls.files = {"v21.nev": make_version((2, 1)), "v22.nev": make_version((2, 2)), "v23.nev": make_version((2, 3)),
                     "v30.nev": make_version((3, 0)), "ptp.nev": make_version((3, 0), 10**9, 1_700_000_000_123_456_789, 2),
                     "odd.nev": make_version((2, 3), 24414, 2**32 - 24414 * 60, 3), "ripple.nev": make_ripple()}
        for path, made in cls.files.items():
            made.file.write(path)
            made.read = converted.read(path)
        cls.sessions = make_sessions()
        cls.sessions[0].file.write("paused.nev")

    def assert_trains(self, made, found):
        self.assertEqual(found.trains, {f"{made.name(electrode)}:{unit_class}": made.ns(ticks)
                                        for (electrode, unit_class), ticks in made.spikes.items()})

    def test_every_spike_is_read_to_the_tick(self):
        for path, made in self.files.items():
            with self.subTest(path=path):
                self.assert_trains(made, made.read)

    def test_units_have_the_kinds_of_their_classes(self):
        for path, made in self.files.items():
            with self.subTest(path=path):
                self.assertEqual(made.read.kinds, {f"{made.name(electrode)}:{unit_class}": {0: 2, NOISE: 3}.get(unit_class, 1)
                                                   for electrode, unit_class in made.spikes})

    def test_inputs_comments_and_stimuli_are_markers(self):
        for path, made in self.files.items():
            with self.subTest(path=path):
                ticks, texts = zip(*made.markers)
                self.assertEqual(made.read.markers, sorted(zip(made.ns(ticks), texts)))

    def test_info_says_which_version_it_is(self):
        for path, made in self.files.items():
            with self.subTest(path=path):
                self.assertEqual(self.document("info", path)["format"], "Blackrock NEV {}.{}".format(*made.file.version))

    def test_sessions_of_one_file_may_be_taken_alone(self):
        for i, made in enumerate(self.sessions, 1):
            with self.subTest(session=i):
                self.assert_trains(made, converted.read("paused.nev", "--stream", f"session{i}"))

    @unittest.skipUnless(importlib.util.find_spec("neo"), "no Python module neo")
    def test_neo_reads_the_same(self):
        for path, made in self.files.items():
            with self.subTest(path=path):
                found = find_by_neo(path)
                spikes = {of: ticks for of, ticks in made.spikes.items() if ticks and not (path == "ripple.nev" and of[0] > 255)}
                self.assertEqual(found.segments, [spikes])  # of version 2.2 Neo takes the first 255 electrodes
                for port, word in ("digital_input_port", "digital"), ("serial_input_port", "serial"):
                    own = [(tick, text.split(" ")[1]) for tick, text in made.markers if text.startswith(word)]
                    self.assertEqual(found.events[port], own, port)
                self.assertEqual(found.events["comments"], [tick for tick, text in made.markers if text.startswith("drug")])

    @unittest.skipUnless(importlib.util.find_spec("neo"), "no Python module neo")
    def test_neo_has_the_same_sessions(self):
        self.assertEqual(find_by_neo("paused.nev").segments, [made.spikes for made in self.sessions])


if __name__ == "__main__":
    command.main()
