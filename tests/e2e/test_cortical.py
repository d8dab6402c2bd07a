# SPDX-License-Identifier: Apache-2.0
"""Recordings of Cortical Labs' CL1 that PyTables wrote, as the vendor's cl-sdk does, as PyTables has them; refusals."""
import pathlib
import random

import command
import converted

try:
    import tables
except ImportError:
    command.need(False, "no Python module tables, which writes files of a CL1")
import h5py
import numpy as np

RELATIVE = "stim_and_spike_timestamps_relative_to_start"
# Of each file the start of the device, the rate, and whether file_format says that timestamps count from the recording's start:
# where it says nothing, or no, they count from the device's.
CASES = ((123456, 25000, True), (0, 25000, True), (987654321012, 25000, False), (987654321012, 25000, None), (1000, 7702, True),
         (5, 30000, False))


class Spike(tables.IsDescription):
    timestamp = tables.Int64Col(pos=0)
    channel = tables.UInt8Col(pos=1)
    samples = tables.Float32Col(shape=(75,))


class Stim(tables.IsDescription):
    timestamp = tables.Int64Col(pos=0)
    channel = tables.UInt8Col(pos=1)


class Entry(tables.IsDescription):
    timestamp = tables.Int64Col(pos=0)
    start_index = tables.UInt64Col(pos=1)
    end_index = tables.UInt64Col(pos=2)


def fill(file, where, name, kind, columns):
    table = file.create_table(where, name, kind, expectedrows=10_000_000)
    rows = np.zeros(len(columns["timestamp"]), table.dtype)
    for column, values in columns.items():
        rows[column] = values
    table.append(rows)
    table.cols.timestamp.create_index()


def write(path, start, rate, relative, seed, spikes=3000):
    frames, chance, first = random.Random(seed).randrange(50000, 5000000), np.random.default_rng(seed), 0 if relative else start
    with tables.open_file(path, "w") as file:
        root = file.root._v_attrs
        for name, value in {"application": {"who": "me", "n": 3}, "channel_count": 64, "sampling_frequency": rate,
                            "frames_per_second": rate, "uV_per_sample_unit": 0.195, "start_timestamp": start,
                            "end_timestamp": start + frames, "duration_frames": frames, "duration_seconds": frames / rate,
                            "project_id": "project", "created_utc": "2026-06-11T00:00:00+00:00", "ended_utc": "",
                            "file_format": {"version": "SDK", **({} if relative is None else {RELATIVE: relative})}}.items():
            root[name] = value
        fill(file, "/", "spikes", Spike, {"timestamp": first + np.sort(chance.integers(0, frames, spikes)),
                                          "channel": chance.choice([1, 2, 3, 8, 9, 33, 62], spikes)})
        stims = np.sort(chance.integers(0, frames, 40)).repeat(2)
        fill(file, "/", "stims", Stim, {"timestamp": first + stims, "channel": np.tile([5, 6], 40)})
        file.create_earray("/", "samples", tables.Int16Atom(), (0, 64), chunkshape=(256, 64)).append(np.zeros((1000, 64), "i2"))
        for name, count in (("score", 250), ("empty", 0)):
            group = file.create_group("/data_stream", name, createparents=True)
            group._v_attrs["name"], group._v_attrs["application"] = name, {"of": name}
            at = np.arange(count)
            fill(file, group, "index", Entry, {"timestamp": first + 2000 * at, "start_index": at, "end_index": at + 1})
            file.create_earray(group, "data", tables.UInt8Atom(), (0,), chunkshape=(2**15,)).append(np.zeros(count, "u1"))


def read(path, rate, relative):
    """Spikes of each channel, markers, and how long was recorded, as PyTables has them."""
    with tables.open_file(path) as file:
        first = 0 if relative else int(file.root._v_attrs.start_timestamp)

        def times(table):
            return [converted.nearest_ns(frame - first, rate) for frame in table.col("timestamp")]

        trains = {}
        for ns, channel in zip(times(file.root.spikes), map(str, file.root.spikes.col("channel"))):
            trains.setdefault(channel, []).append(ns)
        stims = list(zip(times(file.root.stims), file.root.stims.col("channel")))
        markers = [(ns, f"stim {channel}") for ns, channel in stims] + [(ns, "stim") for ns in {ns for ns, _ in stims}]
        for group in file.root.data_stream._f_iter_nodes("Group"):
            markers += [(ns, group._v_name) for ns in times(group.index)]
        return trains, sorted(markers), converted.nearest_ns(file.root._v_attrs.duration_frames, rate)


class Cortical(command.Test):
    @classmethod
    def prepare(cls):
        for i, case in enumerate(CASES):
            write(f"cl1_{i}.h5", *case, seed=i)

    def test_every_spike_and_marker_is_as_pytables_has_it(self):
        for i, (start, rate, relative) in enumerate(CASES):
            with self.subTest(start=start, rate=rate, relative=relative):
                found = converted.read(f"cl1_{i}.h5")
                self.assertEqual(({name: train for name, train in found.trains.items() if train}, found.markers, found.span[1]),
                                 read(f"cl1_{i}.h5", rate, relative))

    def test_stimuli_may_be_blanked(self):
        about = self.document("info", "cl1_0.h5", "--blank", "stim,-1,5")
        self.assertEqual(about["markers"], 370)
        self.assertLess(about["spikes"], 3000)

    def test_what_was_damaged_or_holds_no_spikes_is_refused(self):
        pathlib.Path("cut.h5").write_bytes(pathlib.Path("cl1_0.h5").read_bytes()[:100000])
        self.refuses(65, "this HDF5 file is damaged", "info", "cut.h5")
        write("none.h5", 0, 25000, True, seed=1)
        with h5py.File("none.h5", "a") as file:
            del file["spikes"]
        self.refuses(65, "was made without the table /spikes", "info", "none.h5")


if __name__ == "__main__":
    command.main()
