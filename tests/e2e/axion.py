# SPDX-License-Identifier: Apache-2.0
"""Files of AxIS, written here by what the vendor's AxionFileLoader publishes: nothing of the reader is used."""
import random
import struct
import zlib

NOTES, CHANNELS, SET, DATA, EXTENSION, TAG, COMBINED, SKIP = 1, 2, 3, 4, 5, 6, 7, 255
WELL, USER_NOTE, SYSTEM_NOTE, STIMULUS, ELECTRODES, WAVEFORM, LEDS, VALUE = 1, 2, 3, 5, 6, 7, 9, 11
TO_END = (1 << 56) - 1
# Type: rows and columns of wells, columns and rows of electrodes in each.
PLATES = {"CytoView MEA 6": (0x1800003, 2, 3, 8, 8), "CytoView MEA 12": (0x3000001, 3, 4, 8, 8),
          "CytoView MEA 24": (0x1800001, 4, 6, 4, 4), "CytoView MEA 48": (0x3000004, 6, 8, 4, 4),
          "CytoView MEA 96": (0x3000009, 8, 12, 3, 3), "Netri DuaLink Pro": (0x3000011, 4, 4, 11, 5)}


def date(*parts):
    return struct.pack("<7H", *(parts or (2026, 11, 28, 9, 30, 15, 250)))


def text(string):
    data = string if isinstance(string, bytes) else string.encode()
    return struct.pack("<i", len(data)) + data


def summed(data):
    return data + struct.pack("<I", zlib.crc32(data))


def channels_of(plate):
    """(well column, well row, column, row, chip, channel) of every electrode; channels are not in their order."""
    _, rows, columns, wide, high = PLATES[plate]
    places = [(wc, wr, c, r) for wr in range(1, rows + 1) for wc in range(1, columns + 1)
              for c in range(1, wide + 1) for r in range(1, high + 1)
              if not (plate.endswith("96") and c == 2 and r == 2)]
    return [place + (i * 7 % len(places) // 64, i * 7 % len(places) % 64) for i, place in enumerate(places)]


class File:
    """A file that is written: `new` as AxIS has written since the combined header."""

    def __init__(self, plate, new=True, minor=3, rate_hz=12500.0, samples=38, header=30):
        self.plate, self.new, self.minor, self.rate_hz, self.samples, self.header = plate, new, minor, rate_hz, samples, header
        self.channels = channels_of(plate)
        self.spikes = []  # start, trigger, channel of the list
        self.duration, self.tags, self.notes, self.more = None, [], [], []
        self.to_end = self.tail = self.kind = None
        self.ids = None

    def record(self, start, trigger, chip, channel):
        return struct.pack("<qBBidd", start, channel, chip, trigger, 4.5e-6, 6.0) + bytes(self.header - 30) + \
            struct.pack(f"<{self.samples}h", *(i % 7 - 3 for i in range(self.samples)))

    def tag(self, kind, data, guid=None, revision=0):
        guid = guid or random.Random(len(self.tags)).randbytes(16)
        self.tags.append(struct.pack("<H", kind) + date() + guid + struct.pack("<I", revision) + data)
        return guid

    def event(self, sample, length=0, rate_hz=None):
        return struct.pack("<dqq", rate_hz or self.rate_hz, sample, length)

    def note(self, sample, words, length=0, kind=USER_NOTE, **more):
        self.tag(kind, self.event(sample, length) + bytes(4) + text(words), **more)

    def bytes(self):
        kind = 1 if self.kind is None else self.kind
        data = b"".join(self.record(s, t, *self.channels[c][4:]) if isinstance(c, int) else self.record(s, t, *c)
                        for s, t, c in self.spikes)
        entries = [(NOTES, note) for note in self.notes] + [(SKIP, b"\xee" * 5)] + self.more
        the_map = struct.pack("<II", PLATES[self.plate][0], len(self.channels)) + \
            b"".join(struct.pack("<6BH", *channel, 0) for channel in self.channels)
        if self.new:
            entries += [(CHANNELS, the_map), (COMBINED, None), (DATA, data)]
        else:
            entries += [(SET, None), (CHANNELS, the_map), (EXTENSION, struct.pack("<HHH", 1, 0, kind) + date() + date() +
                                                           b"spikes".ljust(50, b"\0") + b"detector\0"), (DATA, data)]
        tags = [(TAG, tag) for tag in self.tags]
        entries[-1:] = tags + entries[-1:] if self.to_end else entries[-1:] + tags  # nothing follows data without a length
        return self.join(entries, kind, len(data))

    def combined(self, kind, at, length):
        ids = self.ids if self.ids is not None else [c[4] << 8 | c[5] for c in self.channels]
        first = struct.pack("<HHHHddIIIII", 1, self.duration is not None, kind, 0, self.rate_hz, 1e-7, 1, 1, self.samples, 8,
                            self.header) + date() * 4
        if self.duration is not None:
            first += struct.pack("<d", self.duration)
        first += text("Spikes") + text("threshold 6") + struct.pack("<qq", at, length)
        return summed(first) + (summed(struct.pack(f"<I{len(ids)}H", len(ids), *ids) + text("Spikes")) if kind == 1 else b"")

    def join(self, entries, kind, length):
        def build(at):
            made = []
            for what, data in entries:
                if what == COMBINED:
                    data = self.combined(kind, at, length)
                elif what == SET:
                    data = struct.pack("<dd", self.rate_hz, 1e-7) + date() * 2 + struct.pack("<qIII", at, 1, self.samples, self.header)
                made.append((what, data))
            return made

        at = 0
        for _ in range(2):  # once to know where the data begin, once with that
            parts, position, lists, begin = [], 1024, [[]], 0
            for what, data in build(at):
                if len(lists[-1]) == (123 if len(lists) == 1 else 126):  # a header that is full: another one follows
                    parts.append(None)
                    lists.append([])
                    position += 1024
                begin = position if what == DATA else begin
                length_told = TO_END if what == DATA and self.to_end else len(data)
                lists[-1].append(what << 56 | length_told)
                parts.append(data)
                position += len(data)
            at = begin
        heads = []
        for i, entry_list in enumerate(lists):
            room = 123 if i == 0 else 126
            slots = struct.pack(f"<{room}Q", *(entry_list + [0] * (room - len(entry_list))))
            if i == 0:
                heads.append(summed(b"AxionBio" + struct.pack("<HHHQIq", kind, 1, self.minor, 0, 600, 1024) + slots).ljust(1024, b"\0"))
            else:
                heads.append(summed(b"AxionBio" + slots) + bytes(4))
        body = b"".join(heads.pop(1) if part is None else part for part in parts)
        return heads[0] + body + (self.tail or b"")

    def write(self, path):
        with open(path, "wb") as file:
            file.write(self.bytes())


def notes(investigator, recording, description, revision=0):
    return struct.pack("<50s50s500sI", investigator, recording, description, revision) + date()


def name_of(channel):
    wc, wr, c, r = channel[:4]
    return f"{chr(64 + wr)}{wc}", f"{chr(64 + wr)}{wc}_{c:x}{r:x}"
