# SPDX-License-Identifier: Apache-2.0
"""Files of spikes and events as Blackrock and Ripple write them, by what their specifications say.

  nev.py make FOLDER        writes files of each version there, and truth.json: what is in them
  nev.py neo FOLDER         writes neo.json: what Neo finds in each
  nev.py check FOLDER       compares what `synfire convert` makes of each with truth.json, and neo.json where it is there
"""
import json
import os
import random
import struct
import subprocess
import sys

NOISE = 255


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


def nanoseconds(ticks, resolution):
    return (2 * ticks * 10**9 + resolution) // (2 * resolution)


def name_of(version, electrode):
    if version == (2, 1):
        return f"chan{electrode}" if electrode <= 128 else f"ainp{electrode - 128}"
    return f"elec1-{electrode}"


def make_version(version, resolution=30000, first=0, seed=1):
    """A file, and what is in it: spikes in the order of time, silent electrodes, markers."""
    draw = random.Random(seed * 100 + version[0] * 10 + version[1])
    file = File(version, resolution)
    electrodes = [1, 2, 17, 33, 96, 128, 130] + ([300, 1024] if version >= (2, 3) else [])
    silent = 64
    order = electrodes + [silent]
    draw.shuffle(order)
    for electrode in order:
        file.headers.append(wave(electrode, version))
    if version > (2, 1):
        for electrode in reversed(order):  # joined by number, whatever their order
            file.headers.append(label(electrode, name_of(version, electrode)))
            file.headers.append(header("NEUEVFLT", struct.pack("<HIIHIIH", electrode, 250000, 4, 1, 7500000, 3, 1)))
    file.headers += [header("ARRAYNME", text("4566-000123", 24)), header("ECOMMENT", text("culture 7, ", 24)), header("CCOMMENT", text("DIV 21", 24))]
    spikes, markers, time = [], [], first
    for i in range(1000):
        time += int(draw.expovariate(1 / (0.004 * resolution)))
        if i % 50 == 7:
            value, serial = draw.randrange(65536), draw.random() < 0.4
            file.digital(time, value, 129 if serial else 1)
            markers.append((nanoseconds(time, resolution), f"{'serial' if serial else 'digital'} {value}"))
        elif i % 50 == 9 and version >= (2, 3):
            file.remark(time, f"drug {i}", utf_16=i % 100 == 9)
            markers.append((nanoseconds(time, resolution), f"drug {i}"))
        elif i % 50 == 11 and version >= (2, 3):
            file.packet(time, draw.choice([0xFFFE, 0xFFFD, 0xFFFC, 0xFFFB]), b"\1\0\2\0\3\0")
        else:
            electrode, unit_class = draw.choice(electrodes), draw.choice([0, 0, 1, 2, 16, NOISE])
            file.spike(time, electrode, unit_class)
            spikes.append((nanoseconds(time, resolution), f"{name_of(version, electrode)}:{unit_class}"))
    truth = {"spikes": sorted(spikes), "silent": [f"{name_of(version, silent)}:0"], "markers": sorted(markers),
             "format": f"Blackrock NEV {version[0]}.{version[1]}"}
    return file, truth


def make_ripple():
    """512 electrodes, ports of the digital input beside each other, stimuli."""
    file, spikes, markers = File((2, 2), packet_bytes=112, application="Trellis v1.14"), [], []
    for electrode in (5, 300, 512):
        file.headers += [wave(electrode), label(electrode, f"elec {electrode}")]
    for i in range(900):
        file.spike(40 * i, (5, 300, 512)[i % 3], i % 2)
        spikes.append((nanoseconds(40 * i, 30000), f"elec {(5, 300, 512)[i % 3]}:{i % 2}"))
        if i % 100 == 50:
            file.packet(40 * i + 3, 5120 + 300, bytes(100))
            markers.append((nanoseconds(40 * i + 3, 30000), "stim elec 300"))
            file.packet(40 * i + 4, 0, struct.pack("<BB5h", 1, 0, 3, 0, 1, 0, 0))
            markers.append((nanoseconds(40 * i + 4, 30000), "digital 3"))
    return file, {"spikes": sorted(spikes), "silent": [], "markers": sorted(markers), "format": "Blackrock NEV 2.2"}


def make_sessions():
    """Three recordings in one file, each with times from 0 on, as after pauses."""
    file, sessions, draw = File((2, 3)), [], random.Random(7)
    file.headers = [wave(1), wave(2), label(1, name_of((2, 3), 1)), label(2, name_of((2, 3), 2))]
    for session in range(3):
        time, spikes = 0, []
        for i in range(300):
            time += int(draw.expovariate(1 / 600))
            electrode = draw.choice([1, 2])
            file.spike(time, electrode, 1)
            spikes.append((nanoseconds(time, 30000), f"{name_of((2, 3), electrode)}:1"))
        sessions.append(sorted(spikes))
    return file, sessions


def make(folder):
    truths = {}
    for name, (file, truth) in {
            "v21.nev": make_version((2, 1)), "v22.nev": make_version((2, 2)), "v23.nev": make_version((2, 3)),
            "v30.nev": make_version((3, 0)), "ptp.nev": make_version((3, 0), 10**9, 1_700_000_000_123_456_789, 2),
            "odd.nev": make_version((2, 3), 24414, 2**32 - 24414 * 60, 3), "ripple.nev": make_ripple()}.items():
        file.write(f"{folder}/{name}")
        truths[name] = truth
    file, sessions = make_sessions()
    file.write(f"{folder}/paused.nev")
    json.dump(truths, open(f"{folder}/truth.json", "w"))
    json.dump(sessions, open(f"{folder}/sessions.json", "w"))


def find_by_neo(path):
    import numpy as np
    from neo.rawio import BlackrockRawIO
    reader = BlackrockRawIO(filename=path)
    reader.parse_header()
    found = {"segments": [], "events": {}}
    spikes, segments = reader.nev_data["Spikes"]  # get_spike_timestamps leaves out the last of each of several segments
    for segment in range(reader.segment_count(0)):
        chosen = spikes[segments == segment]
        found["segments"].append({f"{electrode}:{unit_class}": chosen["timestamp"][(chosen["packet_id"] == electrode) & (
            chosen["unit_class_nb"] == unit_class)].astype(np.uint64).tolist() for electrode, unit_class in reader.internal_unit_ids})
    for i, channel in enumerate(reader.header["event_channels"]):
        if channel["name"] == "comments":  # NumPy takes the last zero byte off what is UTF-16, and Neo cannot decode it
            found["events"]["comments"] = [[int(t), ""] for t in reader.nev_data["Comments"][0]["timestamp"]]
            continue
        times, _, labels = reader.get_event_timestamps(0, 0, i)
        found["events"][str(channel["name"])] = [[int(t), str(of)] for t, of in zip(times, labels)]
    return found


def read_by_neo(folder):
    found = {name: find_by_neo(f"{folder}/{name}") for name in sorted(os.listdir(folder)) if name.endswith(".nev")}
    json.dump(found, open(f"{folder}/neo.json", "w"))


def check_neo(name, neo, truth, version, resolution):
    spikes = {}
    for ns, unit in truth["spikes"]:
        spikes.setdefault(unit, []).append(ns)
    assert len(neo["segments"]) == 1, name
    for unit, ticks in neo["segments"][0].items():
        electrode, unit_class = map(int, unit.split(":"))
        own = f"elec {electrode}:{unit_class}" if name == "ripple.nev" else f"{name_of(version, electrode)}:{unit_class}"
        assert [nanoseconds(t, resolution) for t in ticks] == spikes.pop(own), (name, own)
    if name == "ripple.nev":  # Neo takes the first 255 electrodes of this version
        spikes = {unit: times for unit, times in spikes.items() if unit.startswith("elec 5:")}
    assert not spikes, (name, list(spikes))
    for port, word in (("digital_input_port", "digital"), ("serial_input_port", "serial")):
        own = [[ns, said.split(" ")[1]] for ns, said in truth["markers"] if said.split(" ")[0] == word]
        assert [[nanoseconds(t, resolution), value] for t, value in neo["events"][port]] == own, (name, port)
    own = [ns for ns, said in truth["markers"] if said.startswith("drug")]
    assert [nanoseconds(t, resolution) for t, _ in neo["events"].get("comments", [])] == own, name


def read_converted(path, *options):
    import h5py
    subprocess.run([os.environ["SYNFIRE"], "convert", path, f"{path}.h5", "--quiet", *options], check=True, stdout=subprocess.DEVNULL)
    with h5py.File(f"{path}.h5") as file:
        units = list(file["units/name"].asstr())
        kinds = dict(zip(units, file["units/kind"][:].tolist()))
        spikes = [[ns, units[u]] for ns, u in zip(file["spikes/time_ns"][:].tolist(), file["spikes/unit"][:])]
        markers = [[ns, word.decode().rstrip("\0")] for ns, word in zip(file["markers/time_ns"][:].tolist(), file["markers/text"][:])]
    os.remove(f"{path}.h5")
    return kinds, sorted(spikes), sorted(markers)


def check_sessions(folder, neo):
    """Each session alone is what was written, and a segment of Neo's."""
    sessions = json.load(open(f"{folder}/sessions.json"))
    for i, spikes in enumerate(sessions):
        assert read_converted(f"{folder}/paused.nev", "--stream", f"session{i + 1}")[1] == spikes, i
        if neo is not None:
            assert len(neo["segments"]) == len(sessions)
            found = [[nanoseconds(t, 30000), f"{name_of((2, 3), int(unit.split(':')[0]))}:1"]
                     for unit, ticks in neo["segments"][i].items() for t in ticks]
            assert sorted(found) == spikes, i
    print(f"paused.nev: {len(sessions)} sessions{', as Neo has them' if neo is not None else ''}")


def check(folder):
    truths = json.load(open(f"{folder}/truth.json"))
    neo = json.load(open(f"{folder}/neo.json")) if os.path.exists(f"{folder}/neo.json") else {}
    for name, truth in truths.items():
        path = f"{folder}/{name}"
        kinds, spikes, markers = read_converted(path)
        info = json.loads(subprocess.run([os.environ["SYNFIRE"], "info", path, "--json", "--quiet"], check=True, capture_output=True).stdout)
        assert info["format"] == truth["format"], info["format"]
        assert spikes == [list(spike) for spike in truth["spikes"]], name
        assert markers == [list(marker) for marker in truth["markers"]], name
        assert set(kinds) == {unit for _, unit in truth["spikes"]} | set(truth["silent"]), name
        for unit, kind in kinds.items():
            unit_class = int(unit.rpartition(":")[2])
            assert kind == (2 if unit_class == 0 else 3 if unit_class == NOISE else 1), (unit, kind)
        if name in neo:
            version = tuple(map(int, truth["format"].split(" ")[-1].split(".")))
            resolution = {"ptp.nev": 10**9, "odd.nev": 24414}.get(name, 30000)
            check_neo(name, neo[name], truth, version, resolution)
        print(f"{name}: {len(spikes)} spikes of {len(kinds)} units{', as Neo has them' if name in neo else ''}")
    check_sessions(folder, neo.get("paused.nev"))


if __name__ == "__main__":
    {"make": make, "neo": read_by_neo, "check": check}[sys.argv[1]](sys.argv[2])
