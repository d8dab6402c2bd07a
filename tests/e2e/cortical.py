# SPDX-License-Identifier: Apache-2.0
"""Recordings of a CL1, written and read here by PyTables as the vendor's cl-sdk does: nothing of the reader is used.

  cortical.py write FILE SPIKES    a file of so many spikes, to measure with
  cortical.py compare              files of either origin of timestamps through the command, held against PyTables; exit
                                   code 77 where this Python has none
"""
import os
import random
import subprocess
import sys
from fractions import Fraction

try:
    import tables
except ImportError:
    sys.exit(77)
import h5py
import numpy as np

RELATIVE = "stim_and_spike_timestamps_relative_to_start"


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


def write(path, spikes, start=123456, frames=500000, rate=25000, relative=True, seed=1):
    """relative: as file_format says it; None where it says nothing, and timestamps count from the start of the device."""
    chance, first = np.random.default_rng(seed), 0 if relative else start
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


def expected(path, rate, relative):
    with tables.open_file(path) as file:
        first = 0 if relative else int(file.root._v_attrs.start_timestamp)

        def times(table):
            return [round(Fraction(int(frame) - first) * 10**9 / rate) for frame in table.col("timestamp")]

        spikes = sorted(zip(times(file.root.spikes), map(int, file.root.spikes.col("channel"))))
        stims = list(zip(times(file.root.stims), map(int, file.root.stims.col("channel"))))
        markers = [(ns, f"stim {channel}") for ns, channel in stims] + [(ns, "stim") for ns in {ns for ns, _ in stims}]
        for group in file.root.data_stream._f_iter_nodes("Group"):
            markers += [(ns, group._v_name) for ns in times(group.index)] if "index" in group else []
        return spikes, sorted(markers), round(Fraction(int(file.root._v_attrs.duration_frames)) * 10**9 / rate)


def found(path):
    subprocess.run([os.environ["SYNFIRE"], "convert", path, "one.h5", "--quiet"], check=True, stdout=subprocess.DEVNULL)
    with h5py.File("one.h5") as out:
        names = [int(name) for name in out["units/name"][:]]
        spikes = sorted((int(ns), names[unit]) for ns, unit in zip(out["spikes/time_ns"][:], out["spikes/unit"][:]))
        markers = sorted((int(ns), text.decode()) for ns, text in zip(out["markers/time_ns"][:], out["markers/text"][:]))
        result = spikes, markers, int(out.attrs["stop_ns"])
    os.remove("one.h5")
    return result


def compare():
    cases = [(123456, 25000, True), (0, 25000, True), (987654321012, 25000, False), (987654321012, 25000, None), (1000, 7702, True),
             (5, 30000, False)]
    for i, (start, rate, relative) in enumerate(cases):
        path = f"cl1_{i}.h5"
        write(path, 3000, start, random.Random(i).randrange(50000, 5000000), rate, relative, i)
        assert found(path) == expected(path, rate, relative), cases[i]
    print(f"{len(cases)} files: every spike and marker as PyTables has them")


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[2], int(sys.argv[3]), frames=25000 * 600)
    else:
        compare()
