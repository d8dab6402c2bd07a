# SPDX-License-Identifier: Apache-2.0
"""Files of AxIS, of plates of 6 to 96 wells and with both kinds of headers, as a reader in Python has them; refusals."""
import json
import pathlib
import random
import struct
import types
import zlib

import axion
import command
import converted


def read(path):
    """The rate, and spikes of every electrode in samples, by the loader's rules; of files as they are written here."""
    data = pathlib.Path(path).read_bytes()
    assert data[:8] == b"AxionBio" and zlib.crc32(data[:1018]) == struct.unpack_from("<I", data, 1018)[0]
    at, slots = struct.unpack_from("<q", data, 26)[0], struct.unpack_from("<123Q", data, 34)
    channels, sets = {}, []
    while slots is not None:
        rest, slots = slots, None
        for slot in rest:
            what, length = slot >> 56, slot & axion.TO_END
            length = len(data) - at if length == axion.TO_END else length
            if what == 0:
                break
            if what == axion.CHANNELS:
                for k in range(struct.unpack_from("<I", data, at + 4)[0]):
                    c = struct.unpack_from("<6B", data, at + 8 + 8 * k)
                    channels[c[4], c[5]] = axion.name_of(c)
            elif what == axion.SET:
                rate, _ = struct.unpack_from("<dd", data, at)
                first, _, samples, header = struct.unpack_from("<qIII", data, at + 44)
                sets.append([rate, first, None, header + 2 * samples])
            elif what == axion.COMBINED:
                rate, _, _, _, samples, _, header = struct.unpack_from("<ddIIIII", data, at + 8)
                place = at + 100 + (8 if struct.unpack_from("<H", data, at + 2)[0] >= 1 else 0)
                for _ in range(2):
                    place += 4 + struct.unpack_from("<i", data, place)[0]
                sets.append([rate, *struct.unpack_from("<qq", data, place), header + 2 * samples])
            elif what == axion.DATA:
                for found in sets:
                    if found[2] is None and found[1] == at:
                        found[2] = length
            at += length
        else:
            assert data[at:at + 8] == b"AxionBio" and zlib.crc32(data[at:at + 1016]) == struct.unpack_from("<I", data, at + 1016)[0]
            slots = struct.unpack_from("<126Q", data, at + 8)
            at += 1024
    trains = {name: [] for name in channels.values()}
    (rate, first, length, block), = sets
    for k in range(length // block):
        start, channel, chip, trigger = struct.unpack_from("<qBBi", data, first + k * block)
        if (chip, channel) in channels:
            trains[channels[chip, channel]].append(start + trigger)
    return rate, trains


def write_plate(plate, number):
    """A recording of 5 minutes in which one electrode is silent; what is in it."""
    chance = random.Random(number)
    file = axion.File(plate, number % 2 == 0, rate_hz=[12500.0, 20000.0, 12500.0, 10000.0, 12500.0, 30000.0][number],
                      header=30 + 2 * (number % 3))
    heard = [c for c in range(len(file.channels)) if c != number]
    times = sorted(chance.randrange(300 * int(file.rate_hz)) for _ in range(4000))
    file.spikes = [(time, chance.choice([10, 11]), chance.choice(heard)) for time in times]
    for k in range(200 if number % 2 else 3):  # more tags than a header has room for
        file.note(1000 * k, f"note {k}")
    file.to_end = not file.new
    path = f"plate{number}.spk"
    file.write(path)
    rate_hz, trains = read(path)
    wells = sorted({well for well, _ in trains}, key=lambda well: (well[0], int(well[1:])))
    return types.SimpleNamespace(path=path, rate_hz=rate_hz, wells=wells, notes=len(file.tags), trains={
        of: {name: samples for (well, name), samples in trains.items() if well == of} for of in wells})


def first_inputs():
    """Small files of each kind of header, for the fuzz target."""
    for name, new in ("new", True), ("old", False):
        file = axion.File("CytoView MEA 24", new)
        file.channels = file.channels[:3] + file.channels[16:18]
        file.spikes = [(100 * k, 10, k % 5) for k in range(1, 12)]
        file.samples, file.duration = 2, 4.0 if new else None
        file.notes = [axion.notes(b"me", b"first", b"words")]
        electrodes = file.tag(axion.ELECTRODES, struct.pack("<HH", 0, 0) + struct.pack("<III", 5, 0x1800001, 1) +
                              struct.pack("<6BH", 1, 1, 1, 1, 0, 0, 0))
        waveform = file.tag(axion.WAVEFORM, struct.pack("<HH", 0, 1) + struct.pack("<HHddHH", 3, 0, 0.1, 0.1, 5, 0) +
                            axion.text("block") + axion.text("ops"))
        file.tag(axion.STIMULUS, file.event(500) + struct.pack("<HH", 0, 0) + waveform + electrodes + struct.pack("<HH", 3, 0))
        file.tag(axion.WELL, bytes([1, 1, 0, 0, 3, 0, 0, 0]) + axion.text("TTX") + axion.text("fresh") + struct.pack("<db", 1e-6, 6) +
                 axion.text("M"))
        file.tag(axion.VALUE, axion.text("RecordingName") + axion.text("second"))
        file.note(250, "wash", 100)
        yield name, file.bytes()


class Axion(command.Test):
    @classmethod
    def prepare(cls):
        cls.plates = {plate: write_plate(plate, number) for number, plate in enumerate(axion.PLATES)}

    def test_every_spike_of_a_well_is_read_and_every_note(self):
        for number, (plate, of) in enumerate(self.plates.items()):
            for well in of.wells[number::7] + of.wells[-1:]:
                with self.subTest(plate=plate, well=well):
                    found = converted.read(of.path, "--stream", well)
                    self.assertEqual(found.trains, {name: sorted(converted.nearest_ns(sample, of.rate_hz) for sample in samples)
                                                    for name, samples in of.trains[well].items()})
                    self.assertEqual(len(found.markers), of.notes)

    def test_wells_are_offered_with_how_many_spikes_they_have(self):
        for plate, of in self.plates.items():
            with self.subTest(plate=plate):
                offered = [f"{well} ({sum(map(len, of.trains[well].values()))} spikes)" for well in of.wells[:32]]
                offered += [f"and {len(of.wells) - 32} more"] if len(of.wells) > 32 else []
                self.refuses(64, f"there are {len(of.wells)} wells; choose one with --stream: {', '.join(offered)}; '*' takes each",
                             "info", of.path)

    def test_each_well_may_be_taken_as_a_recording(self):
        told = list(map(json.loads, self.synfire("info", "plate0.spk", "--stream", "*", "--json").stdout.splitlines()))
        self.assertEqual(sum(well["spikes"] for well in told), 4000)
        self.assertEqual([well["unit_detail"][0]["name"][:2] for well in told], ["A1", "A2", "A3", "B1", "B2", "B3"])

    def test_what_holds_no_spikes_is_refused(self):
        raw = axion.File("CytoView MEA 24")
        raw.kind = 0
        raw.write("voltages.raw")
        self.refuses(65, "no spike times: this file of AxIS holds voltages; detect spikes in AxIS Navigator, and open the .spk file",
                     "info", "voltages.raw")
        pathlib.Path("cut.spk").write_bytes(pathlib.Path("plate0.spk").read_bytes()[:100000])
        self.refuses(65, "it was cut off or changed; copy it again from AxIS", "info", "cut.spk")
        pathlib.Path("old.spk").write_bytes(b"@\1\1\1\1\1\1\1")
        self.refuses(65, "it does not begin with AxionBio", "info", "old.spk")

    def test_a_file_is_not_replaced(self):
        self.refuses(73, "which is not replaced", "simulate", "plate0.spk", "--unit-count", 2, "--rate", 1, "--duration", 1)

    def test_first_inputs_of_the_fuzz_target_are_written_so(self):
        for name, data in first_inputs():
            self.assertEqual((command.SOURCE / "tests/fuzz/corpus/axion" / name).read_bytes(), data, name)


if __name__ == "__main__":
    command.main()
