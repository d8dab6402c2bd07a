# SPDX-License-Identifier: Apache-2.0
"""The same spikes through every layout that is read give the same episodes, with all that is told of them.

Each file is written here by what docs/formats.md says of the layout, and mined by the command. What it finds must be what it
finds in a list of the spikes: every episode with its count, its reverse, its bursts and its delays."""
import json
import os
import pickle
import zipfile

import axion
import command
import nev

command.need_modules()
import h5py
from nex import Nex
import numpy as np
from plx import Plx

# What follows from how a layout names its units, and from what time it says was recorded beside its spikes.
OF_LAYOUT = {"id", "units", "names", "episode", "expected", "strength", "ratio_interval", "needed", "folded_under", "one_electrode"}
UNITS = 12


def strings(items):
    return np.array(items, dtype=h5py.string_dtype())


class Spikes:
    """Of units 0 .. UNITS - 1, in order of time; times are whole milliseconds, which every clock here can say. No two are
    the same, as spikes of one time are in the order of their units, which layouts number in their own way."""

    def __init__(self, path):
        with h5py.File(path) as file:
            spikes = zip(file["spikes/time_ns"][:].tolist(), file["spikes/unit"][:].tolist())
            self.ms, self.unit = np.array(sorted({round(ns / 1e6) + 1000: unit for ns, unit in spikes}.items())).T
        self.count = len(self.ms)

    def at(self, rate_hz):
        return self.ms * rate_hz // 1000

    def train_ms(self, unit):
        return self.ms[self.unit == unit]


def write_csv(s, path):
    with open(path, "w") as file:
        for ms, unit in zip(s.ms, s.unit):
            print(f"{unit},{ms / 1000:.3f}", file=file)
    return [str(u) for u in range(UNITS)]


def write_csv_columns(s, path):
    with open(path, "w", encoding="utf-8") as file:
        print("time (µs);amplitude;channel", file=file)
        for ms, unit in zip(s.ms, s.unit):
            print(f"{ms * 1000};-{unit + 1},5;{unit}", file=file)
    return [str(u) for u in range(UNITS)]


def write_axion(s, path):
    names = [f"A1_{u % 4 + 1}{u // 4 + 1}" for u in range(UNITS)]
    with open(path, "w") as file:
        print("Investigator,,Time (s),Electrode,Amplitude(mV)", file=file)
        for i, (ms, unit) in enumerate(zip(s.ms, s.unit)):
            print(f"{'Recording Name,x' if i == 0 else ','},{ms / 1000},{names[unit]},0.02", file=file)
    return names


def write_axion_spk(s, path):
    file = axion.File("CytoView MEA 12")
    file.channels = file.channels[:UNITS]  # of the first well
    file.spikes = [(int(at) - 10, 10, int(unit)) for at, unit in zip(s.at(20000), s.unit)]
    file.rate_hz = 20000.0
    file.write(path)
    return [axion.name_of(channel)[1] for channel in file.channels]


def write_nwb_1(s, path):
    with h5py.File(path, "w") as file:
        file["nwb_version"] = "NWB-1.0.6"
        for u in range(UNITS):
            file[f"processing/shank/UnitTimes/unit_{u}/times"] = s.train_ms(u)[::-1] / 1000
    return [f"unit_{u}" for u in range(UNITS)]


def write_nwb_events(s, path):
    with h5py.File(path, "w") as file:
        file.attrs["nwb_version"] = "2.5.0"
        file.attrs["neurodata_type"] = "NWBFile"
        for u in range(UNITS):
            series = file.create_group(f"acquisition/node.electrode{u:02}")
            series.attrs["neurodata_type"] = "SpikeEventSeries"
            series["timestamps"] = s.train_ms(u) / 1000
            series["data"] = np.zeros((len(s.train_ms(u)), 1, 4), "i2")
    return [f"node.electrode{u:02}" for u in range(UNITS)]


MAPPING = [("channel", "i4"), ("electrode", "i4"), ("x", "f8"), ("y", "f8")]
MAXWELL_SPIKES = [("frameno", "i8"), ("channel", "i4"), ("amplitude", "f4")]


def maxwell_rows(s, rate_hz, first):
    mapping = np.array([(900 - u, 100 + u, 17.5 * u, 0) for u in range(UNITS)], MAPPING)
    rows = np.array([(first + at, 900 - unit, -3) for at, unit in zip(s.at(rate_hz), s.unit)], MAXWELL_SPIKES)
    return mapping, rows


def write_maxwell_old(s, path):
    first = 70000
    with h5py.File(path, "w") as file:
        file["version"] = strings(["20160704"])
        raw = np.zeros((1028, 2), "u2")
        raw[1026], raw[1027] = first & 0xFFFF, first >> 16
        raw[1026, 1] += 1
        file["sig"] = raw
        file["mapping"], file["proc0/spikeTimes"] = maxwell_rows(s, 20000, first)
    return [str(100 + u) for u in range(UNITS)]


def write_maxwell_new(s, path):
    with h5py.File(path, "w") as file:
        file["version"] = strings(["20190530"])
        store = file.create_group("data_store/data0000")
        store["settings/mapping"], store["spikes"] = maxwell_rows(s, 10000, 1000)
        store["settings/sampling"] = np.array([10000.0])
        store["groups/routed/frame_nos"] = np.array([1000, 1001, 400000], "u8")
        file["wells/well000/rec0000"] = h5py.SoftLink("/data_store/data0000")
    return [str(100 + u) for u in range(UNITS)]


def write_bxr_2(s, path):
    with h5py.File(path, "w") as file:
        file.attrs["Description"] = "BXR-File Level2"
        file["3BRecInfo/3BRecVars/SamplingRate"] = np.array([10000.0])
        file["3BRecInfo/3BRecVars/NRecFrames"] = np.array([s.at(10000)[-1] + 1])
        file["3BRecInfo/3BMeaChip/NCols"] = np.array([64], "u4")
        order = np.argsort(s.unit, kind="stable")  # channel by channel
        file["3BResults/3BChEvents/SpikeTimes"] = s.at(10000)[order]
        file["3BResults/3BChEvents/SpikeChIDs"] = (64 + s.unit[order]).astype("i4")
        file["3BResults/3BChEvents/SpikeUnits"] = np.zeros(s.count, "i4")
    return [f"Ch2.{u + 1}" for u in range(UNITS)]


def write_bxr_3(s, path):
    with h5py.File(path, "w") as file:
        file["ExperimentSettings"] = '{"TimeConverter": {"FrameRate": 20000.0}, "MeaPlate": {"Model": "CorePlate1W"}}'
        file["TOC"] = np.array([[0, s.at(20000)[-1] + 1]])
        file["Well_A1/SpikeTimes"] = s.at(20000)
        file["Well_A1/SpikeChIdxs"] = s.unit.astype("i4")
        file["Well_A1/SpikeUnits"] = np.zeros(s.count, "i4")
    return [f"Ch1.{u + 1}" for u in range(UNITS)]


def write_mcs(s, path):
    names = [f"{u // 4 + 2}{u % 4 + 2}" for u in range(UNITS)]
    with h5py.File(path, "w") as file:
        file.attrs["McsHdf5ProtocolType"] = np.bytes_("RawData")
        file.create_group("Data").attrs["MeaName"] = np.bytes_("60MEA200/30iR   ")
        at = file.create_group("Data/Recording_0/TimeStampStream/Stream_0")
        at.attrs["DataSubType"] = np.bytes_("NeuralSpike")
        kind = [("TimeStampEntityID", "i4"), ("Unit", h5py.string_dtype()), ("Exponent", "i4"),
                ("SourceChannelLabels", h5py.string_dtype())]
        at["InfoTimeStamp"] = np.array([(u, "s", -6, names[u]) for u in reversed(range(UNITS))], kind)
        for u in range(UNITS):
            at[f"TimeStampEntity_{u}"] = s.train_ms(u)[None, :] * 1000
    return names


def write_mcs_cmos(s, path):
    with h5py.File(path, "w") as file:
        file.attrs["ID.Type"] = "McsData"
        file["Spike Explorer/Unit/SpikeData"] = np.array(
            [(unit + 1, ms * 1000, 0) for ms, unit in zip(s.ms, s.unit)], [("SensorID", "i2"), ("Timestamp", "i8"), ("x1", "f4")])
    return [str(u + 1) for u in range(UNITS)]


def write_kwik(s, path):
    with h5py.File(path, "w") as file:
        file.attrs["kwik_version"] = 2
        at = file.create_group("channel_groups/0")
        at["spikes/time_samples"] = s.at(20000).astype("u8")
        at["spikes/clusters/main"] = (s.unit + 2).astype("i4")
        for u in range(UNITS):
            at.create_group(f"clusters/main/{u + 2}").attrs["cluster_group"] = 2
        file.create_group("recordings/0").attrs["sample_rate"] = 20000.0
    return [str(u + 2) for u in range(UNITS)]


def write_herding_spikes(s, path):
    with h5py.File(path, "w") as file:
        file["times"] = s.at(10000)
        file["cluster_id"] = s.unit.astype("i4")
        file["centres"] = np.arange(2.0 * UNITS).reshape(UNITS, 2)
        file["Sampling"] = 10000.0
    return [str(u) for u in range(UNITS)]


def write_cortical(s, path):
    with h5py.File(path, "w") as file:
        table = [("timestamp", "i8"), ("channel", "u1"), ("samples", "f4", (75,))]
        rows = np.zeros(s.count, table)
        rows["timestamp"], rows["channel"] = s.at(25000), s.unit
        file["spikes"] = rows
        file.attrs["channel_count"] = UNITS
        file.attrs["frames_per_second"] = 25000
        file.attrs["start_timestamp"] = 123456
        file.attrs["file_format"] = np.bytes_(pickle.dumps({"stim_and_spike_timestamps_relative_to_start": True}, 0))
    return [str(u) for u in range(UNITS)]


def write_phy(s, path):
    os.mkdir(path)
    np.save(f"{path}/spike_times.npy", s.at(30000).astype("u8"))
    np.save(f"{path}/spike_clusters.npy", (s.unit * 3).astype("i4"))
    np.save(f"{path}/spike_templates.npy", s.unit.astype("u4"))
    with open(f"{path}/params.py", "w") as file:
        file.write("dat_path = 'x.dat'\nsample_rate = 30000.\n")
    return [str(3 * u) for u in range(UNITS)]


def write_spikeinterface(s, path):
    os.mkdir(path)
    np.save(f"{path}/spikes.npy", np.array(list(zip(s.at(10000), s.unit, np.zeros(s.count))), [
        ("sample_index", "i8"), ("unit_index", "i8"), ("segment_index", "i8")]))
    names = [f"u{u}" for u in range(UNITS)]
    with open(f"{path}/numpysorting_info.json", "w") as file:
        json.dump({"sampling_frequency": 10000.0, "unit_ids": names, "num_segments": 1}, file)
    return names


def write_npz(s, path):
    os.mkdir(path)
    names = np.array([f"u{u}" for u in range(UNITS)])
    np.savez(f"{path}/sorting_cached.npz", unit_ids=names, num_segment=np.array([1]),
             sampling_frequency=np.array([10000.0]), spike_indexes_seg0=s.at(10000), spike_labels_seg0=names[s.unit])
    assert zipfile.is_zipfile(f"{path}/sorting_cached.npz")
    return list(names)


def write_pynapple(s, path):
    with open(path, "wb") as file:
        np.savez_compressed(file, t=s.ms / 1000, index=s.unit.astype("i8"), keys=np.arange(UNITS), start=np.array([0.0]),
                            end=np.array([s.ms[-1] / 1000 + 0.01]), type=np.array(["TsGroup"]))
    return [str(u) for u in range(UNITS)]


def write_open_ephys(s, path):
    os.makedirs(f"{path}/spikes/one")
    np.save(f"{path}/spikes/one/sample_numbers.npy", s.at(30000))
    np.save(f"{path}/spikes/one/electrode_indices.npy", (s.unit + 1).astype("u2"))
    np.save(f"{path}/spikes/one/clusters.npy", np.zeros(s.count, "u2"))
    with open(f"{path}/structure.oebin", "w") as file:
        json.dump({"GUI version": "0.6.7", "events": [], "spikes": [
            {"name": "E", "stream_name": "probe", "folder": "one/", "sample_rate": 30000.0}]}, file)
    return None  # one folder of several electrodes: names are what the reader makes of them, in their order


def write_nex(s, path):
    names = [f"sig{u + 1:03}a" for u in range(UNITS)]
    file = Nex(40000.0, end=int(s.at(40000)[-1]) + 400)
    for u in range(UNITS):
        file.neuron(names[u], s.at(40000)[s.unit == u], wire=u + 1, unit=1, numbers=True)
        file.wave(names[u] + "_wf", s.at(40000)[s.unit == u], wire=u + 1, unit=1, numbers=True)
    file.write(path)
    return names


def write_nex5(s, path):
    file = Nex(100000.0, True, 8, end=int(s.at(100000)[-1]) + 1000)
    for u in range(UNITS):
        file.wave(f"SPK{u + 1:02}a_wf", s.at(100000)[s.unit == u], wire=u + 1, unit=1)
    file.write(path)
    return [f"SPK{u + 1:02}a_wf" for u in range(UNITS)]


def write_plexon(s, path):
    file = Plx(106, last=float(s.at(40000)[-1]) + 400)
    for u in range(UNITS):
        file.channel(u + 1, f"sig{u + 1:03}")
    for tick, unit in zip(s.at(40000), s.unit):
        file.spike(int(tick), int(unit) + 1, 1)
    file.write(path)
    return [f"sig{u + 1:03}a" for u in range(UNITS)]


def write_blackrock(s, path):
    file = nev.File((2, 3))
    file.headers = [nev.wave(u + 1) for u in range(UNITS)] + [nev.label(u + 1, f"elec{u + 1}") for u in range(UNITS)]
    for ms, unit in zip(s.at(30000), s.unit):
        file.spike(int(ms), int(unit) + 1, 1)
    file.write(path)
    return [f"elec{u + 1}:1" for u in range(UNITS)]


def convert_to(layout):
    def write(s, path):
        command.Test.synfire("convert", "layout0", path, "--layout", layout)
        return [str(u) for u in range(UNITS)]
    return write


LAYOUTS = {
    "CSV": write_csv, "CSV, other columns": write_csv_columns, "Axion": write_axion, "Axion .spk": write_axion_spk, "NWB 1": write_nwb_1,
    "NWB 2, spike events": write_nwb_events, "MaxWell, old": write_maxwell_old, "MaxWell, new": write_maxwell_new,
    "3Brain BXR 2": write_bxr_2, "3Brain BXR 3": write_bxr_3, "MCS DataManager": write_mcs, "MCS CMOS-MEA": write_mcs_cmos,
    "Kwik": write_kwik, "HerdingSpikes 2": write_herding_spikes, "Cortical Labs": write_cortical, "Phy": write_phy,
    "SpikeInterface": write_spikeinterface, "SpikeInterface, NumPy": write_npz, "pynapple": write_pynapple,
    "Open Ephys binary": write_open_ephys, "Blackrock": write_blackrock, "Plexon": write_plexon, "NeuroExplorer .nex": write_nex,
    "NeuroExplorer .nex5": write_nex5, "synfire": convert_to("synfire"), "NWB 2": convert_to("nwb"), "CARMEN": convert_to("carmen")}


class Layouts(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--unit-count", UNITS, "--rate", 12, "--duration", 25,
                    "--chain", "#0 -(4,6]-> #5 -(4,6]-> #2", "--chain-rate", 5)
        cls.spikes = Spikes("sim.h5")
        cls.files = {layout: (f"layout{i}", write(cls.spikes, f"layout{i}")) for i, (layout, write) in enumerate(LAYOUTS.items())}
        cls.expected = cls.look(*cls.files["CSV"])

    @classmethod
    def look(cls, path, names):
        """Every episode that is found, by the numbers of its units here."""
        told = cls.document("mine", path, "--delay", "3:7", "--min-count", 15, "--max-size", 3)
        names = names or [unit["name"] for unit in cls.document("info", path)["unit_detail"]]
        numbers = {name: u for u, name in enumerate(names)}
        episodes = {(tuple(numbers[name] for name in episode["names"]), json.dumps(episode["delays_ms"])):
                    {key: value for key, value in episode.items() if key not in OF_LAYOUT} for episode in told["episodes"]}
        return {"episodes": episodes, **{key: told[key] for key in ("spikes", "units", "bursts", "threshold")}}

    def test_the_list_has_episodes_of_all_units(self):
        self.assertEqual(set(self.spikes.unit), set(range(UNITS)))
        self.assertEqual((self.expected["spikes"], self.expected["units"]), (self.spikes.count, UNITS))
        self.assertGreater(len(self.expected["episodes"]), 50)
        self.assertEqual(max(len(units) for units, _ in self.expected["episodes"]), 3)

    def test_every_layout_has_the_same(self):
        for layout, file in self.files.items():
            with self.subTest(layout=layout):
                self.assertEqual(self.look(*file), self.expected)

    def test_none_is_taken_for_another(self):
        formats = {self.document("info", path)["format"] for path, _ in self.files.values()}
        self.assertGreaterEqual(len(formats), len(LAYOUTS) - 1)  # lists of spikes are one


if __name__ == "__main__":
    command.main()
