# SPDX-License-Identifier: Apache-2.0
"""Plexon files (.plx), written here by what Plexon's published header says: nothing of the reader is used.

  plx.py write FILE SPIKES    a file of so many spikes of 64 channels with waveforms, to measure with
  plx.py corpus FOLDER        small files of each kind, as first inputs of the fuzz target
  plx.py compare              files of each version through the command, held against what was written, and against
                              Neo where this Python has it; exit code 77 where it does not
"""
import json
import os
import random
import struct
import subprocess
import sys

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


def to_ns(tick, rate_hz):
    return (2 * tick * 10**9 + rate_hz) // (2 * rate_hz)


def name_of(channel, unit):
    return f"sig{channel:03}" + ("U" if unit == 0 else ":invalid" if unit == -1 else chr(ord("a") + unit - 1))


def fill(file, draw, first=0, count=2000, gaps=()):
    """Spikes in the order of time, events, words, signals; what was recorded, with its gaps. Returns what is in it."""
    channels = (1, 2, 17, 64, 128) + ((200,) if file.version >= 107 else ())
    for channel in channels:
        file.channel(channel, f"sig{channel:03}")
    file.channel(3, "sig003")
    for number, name in ((1, "Event001"), (9, "Keyb\xe9ard1"), (STROBED, "Strobed"), (START, "Start"), (STOP, "Stop")):
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
            markers.append((tick, STROBED, "Strobed", str(value)))
        elif i % 50 == 9:
            file.event(tick, 9 if i % 100 == 9 else 1)
            markers.append((tick, 9 if i % 100 == 9 else 1, "Keyb\xe9ard1" if i % 100 == 9 else "Event001", None))
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
    raw = PlexonRawIO(path)
    raw.parse_header()
    units = {tuple(map(int, pair)): raw.get_spike_timestamps(0, 0, i, None, None).astype(int).tolist()
             for i, pair in enumerate(raw.internal_unit_ids)}
    events = {}
    for i, channel in enumerate(raw.header["event_channels"]):
        ticks, _, labels = raw.get_event_timestamps(0, 0, i, None, None)
        events[int(channel["id"])] = list(zip(ticks.astype(int).tolist(), map(str, labels)))
    return units, events


def check_neo(path, truth):
    units, events = find_by_neo(path)
    units = {(channel, -1 if unit == 65535 else unit): ticks for (channel, unit), ticks in units.items()}
    assert units == truth["spikes"], path
    for number in (1, 9, STROBED):
        own = [(tick, value or "0") for tick, of, _, value in truth["markers"] if of == number]
        assert events[number] == own, (path, number)
    assert [tick for tick, _ in events[START]] == [start for start, _ in truth["spans"]], path
    assert [tick for tick, _ in events[STOP]] == [stop for _, stop in truth["spans"]], path


def command(*words):
    done = subprocess.run([os.environ["SYNFIRE"], *words], capture_output=True, text=True)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def read_by_command(path):
    import h5py
    command("convert", path, f"{path}.h5", "--quiet")
    with h5py.File(f"{path}.h5") as file:
        names = list(file["units/name"].asstr())
        kinds = dict(zip(names, file["units/kind"][:].tolist()))
        electrodes = dict(zip(names, file["units/electrode"][:].tolist()))
        trains = {name: file["spikes/time_ns"][:][file["spikes/unit"][:] == i].tolist() for i, name in enumerate(names)}
        markers = sorted((int(ns), text.decode().rstrip("\0")) for ns, text in zip(file["markers/time_ns"][:], file["markers/text"][:]))
        observed = file["observed"][:].tolist() if "observed" in file else []
        span = (int(file.attrs["start_ns"]), int(file.attrs["stop_ns"]))
    os.remove(f"{path}.h5")
    return kinds, electrodes, trains, markers, observed, span


def check_trains(path, spikes, rate_hz, silent):
    kinds, electrodes, trains, *rest = read_by_command(path)
    expected = {name_of(*unit): [to_ns(tick, rate_hz) for tick in ticks] for unit, ticks in spikes.items()}
    assert trains == {**expected, **{name: [] for name in silent}}, (path, sorted(trains), sorted(expected))
    for channel, unit in spikes:
        assert kinds[name_of(channel, unit)] == (2 if unit == 0 else 3 if unit == -1 else 1), (path, channel, unit)
        assert electrodes[name_of(channel, unit)] == channel
    return rest


def check(path, file, truth):
    """What the command reads, to the tick, is what was written."""
    rate_hz = file.rate_hz
    markers, observed, span = check_trains(path, truth["spikes"], rate_hz, ["sig003U"])
    expected = sorted((to_ns(tick, rate_hz), name + (f" {value}" if value else "")) for tick, _, name, value in truth["markers"])
    assert markers == expected, path
    spans = [[to_ns(start, rate_hz), to_ns(stop, rate_hz) + 1] for start, stop in truth["spans"]]
    assert observed == (spans if len(spans) > 1 else []), (path, observed, spans)
    assert span == (spans[0][0], spans[-1][1] - (len(spans) == 1)), (path, span, spans)
    about = json.loads(command("info", path, "--json", "--quiet"))
    assert about["format"] == f"Plexon PLX {file.version}", about["format"]
    told = command("info", path)
    assert "left_out: signals of 1 continuous channel" in told and "2019-07-23T14:05:06" in told, told
    assert "culture 7, \xb5" in told or not file.comment, told
    print(f"{path}: {sum(map(len, truth['spikes'].values()))} spikes of {len(truth['spikes'])} units")


def compare():
    try:
        import neo.rawio  # noqa: F401
        has_neo = True
    except ImportError:
        has_neo = False
    for version in (100, 101, 102, 103, 104, 105, 106, 107):
        file = Plx(version, rate_hz=40000 if version != 104 else 24414, comment="culture 7, \xb5",
                   encoding="latin-1" if version == 101 else "utf-8")
        truth = fill(file, random.Random(version), first=0 if version != 105 else 77, gaps=(700, 1300) if version > 105 else ())
        file.write(f"v{version}.plx")
        check(f"v{version}.plx", file, truth)
        if has_neo and version != 101:  # Neo reads UTF-8
            check_neo(f"v{version}.plx", truth)
    for first in (2**32 - 100000, 2**33 + 5, 2**31 - 100000):  # 29.8, 59.7 and 14.9 hours at 40 kHz
        file = Plx(106)
        truth = fill(file, random.Random(first), first=first)
        file.write("long.plx")
        check("long.plx", file, truth)
        if has_neo and first == 2**33 + 5:  # Neo takes the lower 32 bits as a number with a sign
            check_neo("long.plx", truth)
    file, spikes = make_tetrode()
    file.write("tetrode.plx")
    check_trains("tetrode.plx", spikes, file.rate_hz, [])
    if not has_neo:
        sys.exit(77)


def write_corpus(folder):
    """Without the counts of the header, which the fuzz target puts in as zeros."""
    def put(name, file, cut=0):
        data = file.bytes()
        with open(os.path.join(folder, name), "wb") as out:
            out.write(data[:256] + data[7504:len(data) - cut])

    draw = random.Random(5)
    for name, version, gaps in (("v100", 100, ()), ("v106", 106, (20, 40))):
        file = Plx(version, rate_hz=1000)
        fill(file, draw, count=60, gaps=gaps)
        put(name, file)
    file = Plx(trodalness=2, rate_hz=1000, last=50.0)
    for channel in range(1, 3):
        file.channel(channel, f"sig{channel:03}")
        file.spike(7, channel, 1, points=0)
        file.spike(9, channel, channel % 2, points=0)
    put("stereotrode", file)
    file = Plx(rate_hz=1000)
    file.channel(1, "one")
    for tick in (5000, 9000, 70000, 20, 3000, 60000):  # a clock that runs back
        file.spike(tick, 1, 1, points=0)
    file.event(5, START)
    file.event(3, STOP)
    file.event(9, 7)
    put("cut", file, cut=3)


def write_many(path, count):
    file, draw = Plx(last=count * 10.0), random.Random(1)
    for channel in range(1, 65):
        file.channel(channel, f"sig{channel:03}")
    wave = struct.pack("<HH32h", 1, 32, *range(32))
    with open(path, "wb") as out:
        out.write(file.bytes())
        for start in range(0, count, 100000):
            out.write(b"".join(struct.pack("<HHIHh", SPIKE, 10 * i >> 32, 10 * i & 0xFFFFFFFF, draw.randrange(64) + 1,
                                           draw.randrange(3)) + wave for i in range(start, min(start + 100000, count))))


if __name__ == "__main__":
    {"compare": compare, "corpus": write_corpus, "write": lambda path, count: write_many(path, int(count))}[sys.argv[1]](*sys.argv[2:])
