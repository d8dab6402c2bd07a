# SPDX-License-Identifier: Apache-2.0
"""The package itself: what it takes and gives, who keeps what alive, what is refused, what stops."""
import ctypes
import doctest
import gc
import hashlib
import importlib
import importlib.util
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest
import weakref

import numpy as np

import synfire
from synfire import _declarations as declared

SOURCE = pathlib.Path(os.environ["SYNFIRE_SOURCE"])


def needs(module):
    """Skips a case, by name, where a module that the package does without is absent."""
    return unittest.skipUnless(importlib.util.find_spec(module), f"no python3 module {module}")


def chains(seconds=100):
    """A -> B -> C, 5 ms apart, every second, and C at other times too."""
    at = np.arange(float(seconds))
    return synfire.Recording.from_trains({"A": at, "B": at + 0.005, "C": np.concatenate([at + 0.010, at * 0.7 + 0.3])})


def noise(units=40, spikes=4000, seconds=400.0):
    random = np.random.default_rng(1)
    return synfire.Recording.from_trains([random.uniform(0, seconds, spikes) for _ in range(units)])


class Examples(unittest.TestCase):
    def test_docstrings(self):
        for name in ("", ".recording", ".episodes", ".graphs", ".densities", ".streams"):
            told = doctest.testmod(importlib.import_module(f"synfire{name}"))
            self.assertEqual(told.failed, 0)
            self.assertGreater(told.attempted, 0)

    @needs("pandas")
    @needs("networkx")
    def test_criticality(self):
        random, active, times, units = np.random.default_rng(7), 60, [], []
        for step in range(30000):  # a branching network with a drive, a tenth of it seen
            active = random.poisson(0.95 * active + 0.05 * 60)
            seen = random.binomial(active, 0.1)
            times += list(0.004 * step + 0.0039 * random.random(seen))
            units += list(random.integers(0, 20, seen))
        recording = synfire.Recording.from_arrays(np.array(times), np.array(units, np.uint32))
        told = recording.criticality(rounds=5, lags=200, avalanche_bin=8)
        ratio = told.measures["branching_ratio"]
        self.assertLess(ratio["low"], ratio["value"])
        self.assertAlmostEqual(ratio["value"], 0.95, delta=0.01)
        self.assertEqual(len(told.records("autocorrelation")), 200)
        self.assertEqual(len(told.records("avalanches")), told.measures["avalanches"]["value"])
        self.assertTrue(all(a["stop_s"] - a["start_s"] > 0.0079 for a in told.records("avalanches")))
        self.assertIsNone(recording.criticality(rounds=0).records("avalanche_fits")[0]["p"])
        self.assertIn("no-memory", [row["caution"] for row in
                                    noise().criticality(rounds=0).records("criticality_cautions")])
        with self.assertRaisesRegex(synfire.UsageError, "lags"):
            recording.criticality(lags=2)

    def test_bursts(self):
        train = np.concatenate([2 + 10.0 * b + 0.01 * np.arange(5) for b in range(10)])
        recording = synfire.Recording.from_trains({"a": train, "b": train + 0.001, "c": np.arange(100) + 0.53}, recorded=(0, 100))
        told = synfire.bursts(recording, network_method="isi-n", network_spikes=6, network_within=40)
        a, _, c = told.records()
        self.assertEqual((a["bursts"], a["burst_share"], a["burst_spikes"], a["core_ms"]), (10, 1, 5, None))
        self.assertIsNone(c["burst_s"])
        self.assertEqual((len(told.records("network_bursts")), len(told.records("bursts"))), (10, 30))
        self.assertEqual(told.summary["network_burst_rate"]["value"], 6)
        self.assertEqual((told.fields["network_method"], told.fields["network_within_ms"]), ("isi-n", 40))
        self.assertEqual(len(told.to_frame("bursts")), 30)
        for wrong in (dict(burst_method="none"), dict(active=-1), dict(burst_begin=400)):
            with self.assertRaises(synfire.UsageError):
                synfire.bursts(recording, **wrong)

    def test_responses(self):
        random, at = np.random.default_rng(3), np.arange(1.0, 200)
        answer = at[random.random(len(at)) < 0.8] + 0.012
        recording = synfire.Recording.from_trains(
            {"a": answer, "b": answer + 0.005, "c": random.uniform(0, 200, 1000)}, recorded=(0, 201),
            markers=[(time, "light") for time in at])
        told = synfire.responses(recording, "light", response=(2, 40), bin=10, episodes="a -(4,6]-> b")
        a, b, c, chain = told.records()
        self.assertEqual((a["latency_ms"], b["latency_ms"], chain["kind"], chain["unit"]), (12, 17, "chain", None))
        self.assertEqual((a["spikes"], a["baseline_spikes"]), (len(answer), 0))
        self.assertIsNone(a["baseline_latency_ms"])
        self.assertLess(a["q"], 0.01)
        self.assertGreater(c["p"], 0.001)
        self.assertEqual((told.fields["from_ms"], told.fields["to_ms"]), (2, 40))
        self.assertEqual((told.fields["units_more"], len(told.records("trials"))), (2, 199))
        bins = [row for row in told.records("histogram") if row["name"] == "a"]
        self.assertEqual([row["from_ms"] for row in bins if row["spikes"]], [10])
        with self.assertRaises(synfire.DataError):
            synfire.responses(recording, "sound")
        with self.assertRaises(synfire.UsageError):
            synfire.responses(recording, "light", episodes=["a -(4,6]-> b", "a -(4,6]-> x"])

    def test_sequences(self):
        random, times, units = np.random.default_rng(5), [], []
        for burst in range(60):
            at = 5 + 10 * burst
            for unit in range(12):  # the first eight in order, all with other spikes
                spikes = list(random.uniform(0, 0.2, random.poisson(1)))
                if unit < 8:
                    spikes.append(0.03 + 0.006 * unit + random.normal(0, 0.001))
                times += [at + time for time in spikes]
                units += [unit] * len(spikes)
        recording = synfire.Recording.from_arrays(np.array(times), np.array(units), recorded=(0, 610))
        told = synfire.sequences(recording, network_method="isi-n", network_spikes=8, network_within=150, episodes=["e1 -(4,8]-> e2"])
        self.assertTrue(told.fields["sequence"])
        self.assertEqual(told.order, [f"e{unit + 1}" for unit in range(8)])
        self.assertEqual(len(told.records("burst_detail")), told.fields["bursts"])
        self.assertEqual(len(told.records("similarity")), told.fields["bursts"] * (told.fields["bursts"] - 1) // 2)
        self.assertTrue(told.records("chains")[0]["fixed"])
        self.assertEqual(len(told.records("latencies")), sum(row["units"] for row in told.records("burst_detail")))
        with self.assertRaises(synfire.UsageError):
            synfire.sequences(recording, backbone=2)

    def test_docs(self):
        told = doctest.testfile(str(SOURCE / "docs/python.md"), module_relative=False,
                                optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        self.assertEqual(told.failed, 0)
        self.assertGreater(told.attempted, 30)


class Memory(unittest.TestCase):
    def test_arrays_are_the_librarys_own(self):
        recording = chains()
        self.assertEqual(recording.spikes.ctypes.data,
                         ctypes.cast(recording._columns.spikes, ctypes.c_void_p).value)
        self.assertEqual(recording.times_ns.base.ctypes.data, recording.spikes.ctypes.data)
        found = synfire.mine(recording, (4, 6), min_count=50)
        self.assertEqual(found.counts.ctypes.data, ctypes.cast(found._columns.counts, ctypes.c_void_p).value)

    def test_arrays_cannot_be_written(self):
        for array in (chains().spikes, synfire.mine(chains(), (4, 6), min_count=50).counts):
            with self.assertRaises(ValueError):
                array[0] = array[0]
            with self.assertRaises(ValueError):
                array.flags.writeable = True

    def kept(self, result, take):
        """What `take` gives of the result keeps its memory, and nothing else does."""
        handle = weakref.ref(result._handle)
        array = take(result)
        copy = np.array(array)
        del result
        gc.collect()
        self.assertIsNotNone(handle())
        np.testing.assert_array_equal(np.asarray(array), copy)
        del array
        gc.collect()
        self.assertIsNone(handle())

    def test_arrays_keep_what_they_are_of(self):
        self.kept(chains(), lambda recording: recording.spikes[3:]["time_ns"])
        self.kept(synfire.mine(chains(), (4, 6), min_count=50), lambda found: found.raw["units"])
        self.kept(synfire.count(chains(), "A -(4,6]-> B", window=10), lambda counted: counted.window_counts)
        self.kept(synfire.count(chains(), "A -(4,6]-> B", correlograms=True), lambda counted: counted.correlograms[0][0].counts)
        self.kept(synfire.graph(chains(), (4, 6), min_count=50), lambda graph: graph.weights)
        self.kept(synfire.graph(chains(), (4, 6), min_count=50).search("A"), lambda search: search.levels)
        self.kept(synfire.match(synfire.graph(chains(), (4, 6), min_count=50), "chain-3"), lambda found: found.embeddings)
        self.kept(synfire.density(np.arange(100.0)), lambda density: density.values)

    def test_a_result_keeps_its_recording(self):
        found = synfire.mine(chains(), (4, 6), min_count=50)
        gc.collect()
        self.assertEqual(str(found[0]), "A -(4,6]-> B -(4,6]-> C")
        part = chains().part(0, 10)
        gc.collect()
        self.assertEqual(part.spike_count, 4 * 10 + 4)  # C fires more often

    def test_occurrences(self):
        [times] = synfire.count(chains(), "A -(4,6]-> B -(4,6]-> C").occurrences()
        self.assertEqual(times.shape, (100, 3))
        self.assertEqual(times[7].tolist(), [7_000_000_000, 7_005_000_000, 7_010_000_000])


class Recordings(unittest.TestCase):
    def test_times(self):
        of = synfire.Recording.from_arrays
        expected = [0, 5_000_000, 1_000_000_000]
        for given in ([0.0, 0.005, 1.0], np.array([0, 5_000_000, 1_000_000_000]),
                      np.array([0, 5, 1000], "timedelta64[ms]"), np.array([0, 0.005, 1.0], np.float32)):
            got = of(given, [0, 0, 0]).times_ns.tolist()
            self.assertTrue(np.allclose(got, expected, atol=1), got)
        self.assertEqual(of([0, 150, 30000], [0, 0, 0], rate=30000).times_ns.tolist(), expected)
        self.assertEqual(of([1], [0], rate=3).times_ns.tolist(), [333_333_333])
        self.assertEqual(of([2**40], [0], rate=24414.0625).times_ns.tolist(), [45035996273704960])
        order = of([2.0, 1.0], [0, 1])
        self.assertEqual(order.units.tolist(), [1, 0])

    def test_spikes_of_ones_own(self):
        spikes = np.zeros(2, synfire.SPIKE)
        spikes["time_ns"], spikes["unit"], spikes["amplitude"] = [5, 7], [1, 0], [-3.5, 2]
        made = synfire.Recording.from_arrays(spikes)
        np.testing.assert_array_equal(made.spikes, spikes)

    def test_units_by_name(self):
        of = synfire.Recording.from_arrays
        made = of([0.1, 0.2, 0.3], ["B", "A", "B"])
        self.assertEqual((list(made.names), made.units.tolist()), (["A", "B"], [1, 0, 1]))
        made = of([0.1, 0.2], np.array(["B", "A"]), names=["B", "C", "A"])
        self.assertEqual((list(made.names), made.units.tolist()), (["B", "C", "A"], [0, 2]))
        with self.assertRaisesRegex(synfire.UsageError, "found a spike of 'Z', which is not among the names"):
            of([0.1, 0.2], ["A", "Z"], names=["A"])
        with self.assertRaisesRegex(synfire.UsageError, "found 5, expected \\(low, high\\) in ms"):
            synfire.mine(made, delays=5)

    def test_all_that_is_said_of_it(self):
        made = synfire.Recording.from_arrays(
            [1.0, 2.0], [0, 1], names=["left", "right"], positions=[(0, 0), (200, 100)], kinds=["sorted", "noise"],
            electrodes=[4, 9], wells=["A1", "A2"], recorded=(0.5, 60), observed=[(0.5, 10), (20, 60)],
            markers=[(3, "light"), (4, 7, False)], metadata={"species": "mouse", "age": 9})
        self.assertEqual(made.names, ["left", "right"])
        self.assertEqual(made.positions.tolist(), [[0, 0], [200, 100]])
        self.assertEqual(made.kinds, ["sorted", "noise"])
        self.assertEqual((made.electrodes, made.wells), ([4, 9], ["A1", "A2"]))
        self.assertEqual(made.recorded_ns, (500_000_000, 60_000_000_000))
        self.assertEqual(made.duration_s, 49.5)
        self.assertEqual(made.observed["stop_ns"].tolist(), [10_000_000_000, 60_000_000_000])
        self.assertEqual(made.markers["text"].tolist(), [b"light", b""])
        self.assertEqual(made.markers[["kind", "line", "state"]].tolist(), [(2, 0, 0), (1, 7, 0)])
        self.assertEqual(made.metadata, {"species": "mouse", "age": "9"})
        self.assertEqual(made.train("right").tolist(), [2_000_000_000])
        self.assertEqual(made.find_unit("#1"), 1)

    def test_parts(self):
        whole = chains()
        self.assertEqual(whole.select(units=["A"]).spike_count, 100)
        self.assertEqual(whole.select(units=[0, 1], start="+10", stop=20.0).spike_count, 20)
        self.assertEqual(whole.select(epochs=[(0, 1), (50, 52, "light")], units="A").spike_count, 3)
        pathlib.Path("epochs.csv").write_text("0,1\n50,52,light\n")
        self.assertEqual(whole.select(epochs="epochs.csv", units="A").spike_count, 3)
        self.assertEqual(synfire.Recording.from_arrays([0.0, 0.0001, 1.0], [0, 0, 0]).select(dedup=(0.2, 0)).spike_count, 2)
        marked = synfire.Recording.from_arrays([1.0, 2.0], [0, 0], markers=[(2.001, "light")])
        self.assertEqual(marked.select(blank=("light", -2, 5)).spike_count, 1)

    def test_refused(self):
        of = synfire.Recording.from_arrays
        for refused in (lambda: of([1.0]), lambda: of([1.0], [0, 1]), lambda: of([1.0], [-1]), lambda: of([float("nan")], [0]),
                        lambda: of([1.0], [0], names=[]), lambda: of([1.0], [0], names=["a"], electrodes=[1, 2]),
                        lambda: of(["x"], [0]), lambda: of([1.0], [0], rate=100), lambda: of([1.0], [0], kinds="cell"),
                        lambda: chains().select(units=["Z"]), lambda: chains().find_unit(3), lambda: chains().select(start="soon")):
            with self.assertRaises(synfire.UsageError) as raised:
                refused()
            self.assertTrue(raised.exception.text)
        with self.assertRaises(synfire.NoInput) as raised:
            synfire.load("nothing.h5")
        self.assertEqual(raised.exception.place, "nothing.h5")
        self.assertIsInstance(raised.exception, OSError)
        pathlib.Path("text.csv").write_text("name,seconds\nA,x\n")
        with self.assertRaises(synfire.DataError):
            synfire.load("text.csv")

    def test_what_is_looked_at(self):
        """By either name of the function that reads: of a plate a well, when it was recorded, and kinds."""
        pathlib.Path("plate.csv").write_text(",,Time (s),Electrode\n,,0,A1_11\n,,50,B2_11\n,,100,A1_11\n")
        for load in synfire.load, synfire.Recording.load:
            self.assertEqual(load("plate.csv", stream="B2").wells, ["B2"])
            self.assertAlmostEqual(load("plate.csv", stream="B2").duration_s, 100, 6)
            self.assertEqual(load("plate.csv", stream="B2", recorded=(0, 300)).duration_s, 300)
            self.assertEqual(load("plate.csv", stream="A1", kind="mua").spike_count, 2)
            with self.assertRaisesRegex(synfire.UsageError, "there are 2 wells; choose one with stream=: A1"):
                load("plate.csv")
            with self.assertRaisesRegex(synfire.UsageError, "seconds: rate= is for those that count samples"):
                load("plate.csv", stream="A1", rate=1000)
            with self.assertRaisesRegex(synfire.UsageError, "no unit is of the kind noise"):
                load("plate.csv", stream="A1", kind=["noise"])

    @needs("pandas")
    def test_frames(self):
        frame = chains().to_frame()
        self.assertEqual(list(frame.columns), ["time_ns", "unit", "name", "amplitude"])
        self.assertEqual(frame.name.value_counts()["C"], 200)
        self.assertEqual(chains().units_to_frame().spikes.tolist(), [100, 100, 200])


class Sorting:
    """As BaseSorting of SpikeInterface 0.98 and later."""

    def __init__(self, trains, segments=1):
        self.trains, self.segments = trains, segments

    def get_num_segments(self):
        return self.segments

    def get_sampling_frequency(self):
        return 30000.0

    def get_unit_ids(self):
        return np.array(list(self.trains))

    def get_unit_spike_train(self, unit_id, segment_index=None):
        return self.trains[unit_id] + segment_index

    def has_recording(self):
        return True

    def get_num_samples(self, segment_index=None):
        return 90000


class OfOthers(unittest.TestCase):
    def test_sorting(self):
        sorting = Sorting({"u7": np.array([0, 30000]), "u9": np.array([150], np.int32)})
        made = synfire.Recording.from_sorting(sorting)
        self.assertEqual((made.names, made.kinds), (["u7", "u9"], ["sorted", "sorted"]))
        self.assertEqual(made.times_ns.tolist(), [0, 5_000_000, 1_000_000_000])
        self.assertEqual((made.duration_s, made.metadata), (3.0, {"sampling_rate": "30000"}))
        later = synfire.Recording.from_sorting(sorting, start=100.0, positions=[(1, 2), (3, 4)])
        self.assertEqual((later.times_ns[0], later.recorded_ns), (100_000_000_000, (100_000_000_000, 103_000_000_000)))
        self.assertEqual(later.positions.tolist(), [[1, 2], [3, 4]])
        several = Sorting(sorting.trains, 2)
        with self.assertRaises(synfire.UsageError):
            synfire.Recording.from_sorting(several)
        self.assertEqual(synfire.Recording.from_sorting(several, segment=1).times_ns[0], 33333)

    @needs("neo")
    def test_neo(self):
        import neo
        import quantities
        segment = neo.Segment()
        segment.spiketrains = [neo.SpikeTrain([500.0, 505.0] * quantities.ms, t_start=0, t_stop=2000, name="left"),
                               neo.SpikeTrain([0.51] * quantities.s, t_start=0 * quantities.s, t_stop=3 * quantities.s, id=4),
                               neo.SpikeTrain([] * quantities.s, t_stop=3)]
        segment.events = [neo.Event([1.0] * quantities.s, labels=["light"])]
        made = synfire.Recording.from_neo(segment)
        self.assertEqual(made.names, ["left", "4", "e3"])
        self.assertEqual(made.times_ns.tolist(), [500_000_000, 505_000_000, 510_000_000])
        self.assertEqual((made.recorded_ns, made.markers["text"].tolist()), ((0, 3_000_000_000), [b"light"]))
        self.assertEqual(synfire.Recording.from_neo(segment.spiketrains).unit_count, 3)

    @needs("networkx")
    def test_networkx(self):
        import networkx
        graph = synfire.graph(chains(), (4, 6), min_count=50)
        made = graph.to_networkx()
        self.assertEqual(sorted(made.edges), [("A", "B"), ("B", "C")])
        self.assertEqual(made.edges["A", "B"]["count"], 100)
        self.assertEqual(made.nodes["C"]["index"], 2)
        again = synfire.graph(made)
        self.assertEqual((again.names, [end.tolist() for end in again.edges()]), (["A", "B", "C"], [[0, 1], [1, 2]]))
        best = synfire.graph(chains(), "4:6,3:7", min_count=50).to_networkx() # of overlapping delays each pair has one
        self.assertEqual(sorted(best.edges), [("A", "B"), ("B", "C")])
        several = synfire.graph(chains(), "4:6,1004:1006", min_count=50)
        with self.assertRaises(synfire.UsageError):
            several.to_networkx()
        self.assertEqual(several.to_networkx(multigraph=True).number_of_edges(), 4)
        karate = synfire.graph(networkx.karate_club_graph())
        self.assertEqual((karate.vertex_count, karate.edge_count), (34, 2 * 78))
        self.assertEqual(karate.search(0).levels.tolist(),
                         [networkx.shortest_path_length(networkx.karate_club_graph(), 0)[i] for i in range(34)])
        kept = karate.to_networkx()
        self.assertEqual(kept.number_of_edges(), 78)

    @needs("pandas")
    def test_pandas(self):
        frame = synfire.mine(chains(), (4, 6), min_count=50).to_frame()
        self.assertEqual(frame["count"].tolist(), [100, 100, 100])
        self.assertEqual(frame.episode[0], "A -(4,6]-> B -(4,6]-> C")
        self.assertEqual(frame.units.tolist(), [(0, 1, 2), (0, 1), (1, 2)])
        # Types are those of the columns, whatever stands in them.
        none = synfire.mine(chains(), (4, 6), min_count=10**6).to_frame()
        self.assertEqual(len(none), 0)
        for told in (frame, none):
            self.assertEqual([str(told[name].dtype) for name in ("size", "count", "expected", "p", "one_electrode", "id")],
                             ["uint64", "uint64", "float64", "float64", "object", "object"])
        self.assertTrue(frame.p.isna().all() and frame.needed.isna().all() and frame.worth_showing.isna().all())
        self.assertEqual(str(synfire.graph(chains(), (4, 6), min_count=50).to_frame()["count"].dtype), "uint64")
        windows = synfire.count(chains(), ["A -(4,6]-> B", "B -(4,6]-> C"], window=30).windows_to_frame()
        self.assertEqual(windows["count"].tolist(), [30, 30, 30, 30, 30, 30, 10, 10])
        self.assertEqual(windows.partial.tolist(), [False] * 6 + [True] * 2)
        self.assertEqual(synfire.graph(chains(), (4, 6), min_count=50).to_frame().to_name.tolist(), ["B", "C"])


class Episodes(unittest.TestCase):
    def test_a_sequence(self):
        found = synfire.mine(chains(), (4, 6), min_count=50)
        self.assertEqual((len(found), found[0].names, [len(one) for one in found[1:]]), (3, ("A", "B", "C"), [2, 2]))
        by_count = synfire.mine(chains(), (4, 6), min_count=50, order="count")
        self.assertEqual([len(one) for one in by_count], [2, 2, 3])
        self.assertIn(synfire.Episode.parse(chains(), "A -(4,6]-> B"), list(found))
        with self.assertRaises(IndexError):
            found[3]

    def test_given_in_any_form(self):
        recording = chains()
        given = [recording.episode("A -(4,6]-> B"), "A -(4,6]-> B", {"units": [0, 1], "delays_ms": [(4, 6)]},
                 {"units": ["A", "B"], "delays_ms": [[4, 6]]}]
        counted = synfire.count(recording, given)
        self.assertEqual(counted.counts.tolist(), [100] * 4)
        self.assertEqual(len({one.id for one in counted}), 1)
        for wrong in ({"units": [0, 1], "delays_ms": [(6, 4)]}, {"units": [0, 1], "delays_ms": []}, {"units": [0] * 17,
                      "delays_ms": [(0, 1)] * 16}):
            with self.assertRaises(synfire.DataError):
                synfire.count(recording, wrong)

    def test_delays_and_thresholds(self):
        recording = chains()
        for delays in ((4, 6), [(4, 6)], "4:6"):
            self.assertEqual(len(synfire.mine(recording, delays, min_count=50)), 3)
        self.assertEqual(len(synfire.mine(recording, "4:6,9:11", min_count=50, max_size=2)), 3)
        self.assertAlmostEqual(synfire.mine(recording, (4, 6), min_rate=0.5).threshold, 0.5 * recording.duration_s)
        self.assertEqual(synfire.mine(recording, (4, 6), min_fraction=0.125).threshold, 50)
        self.assertEqual(len(synfire.mine(recording, (4, 6), min_count=50, closed=True)), 1)
        self.assertEqual(len(synfire.mine(recording, (4, 6), min_count=50, top=1)), 2)
        with self.assertRaises(ValueError):
            synfire.mine(recording, min_count=1, min_rate=1)
        for wrong in ("9", (6, 4), (0.5,)):
            with self.assertRaises((synfire.UsageError, TypeError, ValueError)):
                synfire.mine(recording, wrong)

    def test_epochs(self):
        found = synfire.mine(chains(), (4, 6), min_count=50, epochs=[(0, 10), (50, 53)])
        self.assertEqual(found.span_counts.tolist(), [[10] * 3, [3] * 3])

    def test_a_test_leaves_what_was_found(self):
        random = np.random.default_rng(2)
        at = random.uniform(0, 600, 900)
        recording = synfire.Recording.from_trains([at, at[:600] + 0.005, random.uniform(0, 600, 900)])
        found = synfire.mine(recording, (4, 6), min_count=5, max_size=2)
        counts, p = found.counts, found.p
        tested = synfire.test(found, synfire.Significance(surrogates=200, seed=3))
        self.assertTrue(np.isnan(p).all())
        np.testing.assert_array_equal(counts, tested.counts)
        link = [str(one) for one in tested].index("e1 -(4,6]-> e2")
        self.assertLess(tested.q[link], 0.05)
        self.assertEqual(np.argmin(tested.q), link)
        self.assertEqual(tested.significance["surrogates"], 200)
        self.assertIsNone(tested.not_tested[link])
        with self.assertWarnsRegex(DeprecationWarning, "Episodes.not_testable is called not_tested now"):
            self.assertEqual(tested.not_testable, tested.not_tested)
        self.assertIn("segment", tested.methods)
        self.assertEqual(len(synfire.test(found, max_q=0.05)), 1)

    def test_what_is_significant_is_folded(self):
        random = np.random.default_rng(4)
        at = random.uniform(0, 600, 700)
        recording = synfire.Recording.from_trains([at, at + 0.005, at + 0.010, random.uniform(0, 600, 900)])
        found = synfire.mine(recording, (4, 6), min_count=5, max_size=3,
                             significance=synfire.Significance(surrogates=200, seed=3), max_q=0.05)
        chains = [str(one) for one, parent in zip(found, found.parents) if parent is None]
        self.assertEqual(chains, ["e1 -(4,6]-> e2 -(4,6]-> e3"])
        self.assertEqual((found.chains, found.significant_parts), (1, 2))
        untested = synfire.mine(recording, (4, 6), min_count=5, max_size=3)
        self.assertEqual((untested.chains, untested.significant_parts), (0, 0))
        given = synfire.test(synfire.count(recording, "e1 -(4,6]-> e2"), synfire.Significance(surrogates=200))
        self.assertLess(given.q[0], 0.05)


class Progress(unittest.TestCase):
    def test_told_and_stopped(self):
        steps = []
        found = synfire.mine(noise(), (0.5, 20), min_count=5, max_size=2,
                             progress=lambda what, done, total: steps.append((what, done, total)))
        self.assertGreater(len(found), 0)
        self.assertTrue(steps and all(isinstance(what, str) and done <= total for what, done, total in steps))
        with self.assertRaises(synfire.Cancelled):
            synfire.mine(noise(), (0.5, 20), min_count=5, progress=lambda *_: False)
        with self.assertRaises(ZeroDivisionError):
            synfire.mine(noise(), (0.5, 20), min_count=5, progress=lambda *_: 1 // 0)

    def test_what_there_is_is_kept(self):
        def stop_late(what, _done, _total):
            return what != "growing episodes"

        found = synfire.mine(noise(), (0.5, 20), min_count=5, max_size=4, details=False, progress=stop_late, keep_stopped=True)
        self.assertEqual(found.stopped, "searching")
        self.assertTrue(found.levels[1]["complete"] and not found.levels[-1]["complete"])

    def interrupted(self, work):
        """Ctrl-C ends work that would take many minutes; how soon is told, and decides nothing."""
        sent = []

        def send():
            time.sleep(0.3)
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        before = signal.getsignal(signal.SIGINT)
        sender = threading.Thread(target=send)
        sender.start()
        with self.assertRaises(KeyboardInterrupt):
            work()
        print(f"ended {time.monotonic() - sent[0]:.3f} s after Ctrl-C", flush=True)
        sender.join()
        self.assertEqual(signal.getsignal(signal.SIGINT), before)

    def test_keyboard_interrupt(self):
        recording = noise(60, 20000, 2000.0)
        found = synfire.mine(recording, (0.5, 5), min_count=1, max_size=2, details=False)
        graph = synfire.Graph.kronecker(12, 16)
        samples = np.random.default_rng(1).normal(size=50_000)
        self.interrupted(lambda: synfire.mine(recording, (0.5, 50), min_count=20, max_size=8))
        self.interrupted(lambda: synfire.test(found, synfire.Significance(surrogates=1_000_000)))
        self.interrupted(lambda: synfire.graph(recording, metric="sttc", surrogates=1_000_000))
        self.interrupted(lambda: synfire.match(graph, "chain-8"))
        self.interrupted(lambda: synfire.bandwidth(samples, method="lscv", exact=True))
        with synfire.live(["A"]) as run:
            self.interrupted(lambda: list(run))

    def test_another_thread_goes_on(self):
        """The library runs without Python's lock: a thread of Python counts meanwhile."""
        counted, until = [0], threading.Event()

        def count():
            while not until.is_set():
                counted[0] += 1

        counter = threading.Thread(target=count)
        counter.start()
        try:
            seen = counted[0]
            synfire.mine(noise(), (0.5, 20), min_count=5, max_size=3, details=False)
            self.assertGreater(counted[0], seen)
        finally:
            until.set()
            counter.join()


class Graphs(unittest.TestCase):
    def test_made_of_arrays(self):
        graph = synfire.Graph.from_edges([0, 1, 2, 0], [1, 2, 0, 2], weights=[1, 2, 3, 4], names=["a", "b", "c"])
        self.assertEqual(graph.offsets.tolist(), [0, 2, 3, 4])
        self.assertEqual(graph.targets.tolist(), [1, 2, 2, 0])
        self.assertEqual([end.tolist() for end in graph.edges()], [[0, 0, 1, 2], [1, 2, 2, 0]])
        self.assertEqual(graph.find("c"), 2)
        self.assertEqual(graph.search("b").levels.tolist(), [2, 0, 1])
        self.assertEqual(graph.search("b").parents.tolist(), [2, 1, 1])
        self.assertEqual(graph.search([0, 1]).levels.tolist(), [[0, 1, 1], [2, 0, 1]])
        self.assertEqual([sizes.tolist() for sizes in graph.search([0, 1]).level_sizes], [[1, 2], [1, 1, 1]])
        self.assertEqual(graph.reach_all(1)[0].tolist(), [3, 2, 2])
        self.assertEqual(synfire.Graph.from_edges([0, 2], [1, 3]).components().tolist(), [0, 0, 2, 2])
        self.assertEqual(sum(graph.census().values()), 1)
        measures = graph.measures(rewired=5)
        self.assertEqual([unit["name"] for unit in measures.records()], ["a", "b", "c"])
        self.assertEqual([unit["strength"] for unit in measures.records()], [8, 3, 9])
        self.assertEqual(measures.network["edges"], 4)
        self.assertEqual(measures.network["rewired"], 5)
        self.assertEqual(graph.measures(threshold=2).network["edges"], 3)
        with self.assertRaises(synfire.DataError):
            synfire.Graph.from_edges([0], [5], vertex_count=2)
        with self.assertRaises(synfire.UsageError):
            synfire.Graph.from_edges([0, 1], [1])

    def test_files(self):
        graph = synfire.graph(chains(), (4, 6), min_count=50)
        graph.save("made.graphml")
        read = synfire.graph("made.graphml")
        self.assertEqual((read.names, read.edge_count), (["A", "B", "C"], 2))
        with self.assertRaises(synfire.UsageError):
            graph.save("made.xyz")

    def test_matches(self):
        graph = synfire.graph(chains(), (4, 6), min_count=50)
        found = synfire.match(graph, "chain-3")
        self.assertEqual((found.count, found.names), (1, [["A", "B", "C"]]))
        self.assertEqual(synfire.match(graph, "reciprocal-pair").embeddings.shape, (0, 2))
        whole = synfire.Graph.from_edges(*np.nonzero(1 - np.eye(5)))
        self.assertEqual(synfire.match(whole, "feed-forward-loop").count, 60)
        self.assertEqual(len(synfire.match(whole, "feed-forward-loop", keep=7).embeddings), 7)
        limited = synfire.match(whole, "feed-forward-loop", limit=7)
        self.assertTrue(limited.truncated and limited.count >= 7)
        spread = synfire.match(synfire.Graph.kronecker(6, 4), "feed-forward-loop", rewired=20).spread
        self.assertTrue(spread.graphs == 20 and spread.sd > 0)
        with self.assertRaises(synfire.DataError):
            synfire.match(whole, "no such pattern (")


class Densities(unittest.TestCase):
    def test_numbers(self):
        samples = np.random.default_rng(1).normal(size=2000)
        found = synfire.density(samples, "silverman", grid=(-6, 6, 601))
        self.assertAlmostEqual(np.trapz(found.values, found.x), 1, places=6)
        self.assertEqual((found.n, found.method), (2000, "silverman"))
        np.testing.assert_array_equal(found.samples, samples)
        self.assertEqual(synfire.density(samples, 0.3).h, 0.3)
        share = found.aggregate("count", -1, 1)
        self.assertEqual(share.exact, np.sum((samples > -1) & (samples < 1)))
        self.assertLess(abs(share.estimate / share.exact - 1), 0.05)
        curve = synfire.bandwidth(samples, method="lscv", curve=True).curve
        self.assertGreater(len(curve), 10)
        np.save("samples.npy", samples)
        self.assertEqual(synfire.bandwidth("samples.npy").h, synfire.bandwidth(samples).h)
        plane = synfire.density(np.column_stack([samples, samples[::-1]]), grid=((-5, 5, 80), (-5, 5, 90)))
        self.assertEqual(plane.values.shape, (90, 80))
        with self.assertRaises(synfire.DataError):
            synfire.bandwidth(np.arange(10.0))
        with self.assertRaises(synfire.UsageError):
            synfire.bandwidth(samples, method="guess")
        with self.assertRaises(synfire.UsageError):
            synfire.density(samples, -1)

    def test_units(self):
        recording = synfire.Recording.from_trains([np.random.default_rng(1).uniform(0, 100, 500), [1.0, 2.0]])
        first, second = synfire.density(recording, quantity="isi")
        self.assertEqual((first.name, first.unit, first.domain, second.error is None), ("e1", 0, "log", False))
        self.assertTrue(np.isnan(second.h) and second.values is None and first.values is not None)
        at = np.arange(100.0)
        jittered = synfire.Recording.from_trains([at, at + np.random.default_rng(2).uniform(0.004, 0.006, 100)])
        [delay] = synfire.bandwidth(jittered, quantity="delay", episode="e1 -(0,10]-> e2")
        self.assertTrue(delay.n == 100 and 1e-5 < delay.h < 1e-2)

    @needs("matplotlib")
    def test_plot(self):
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot
        axes = synfire.density(np.random.default_rng(1).normal(size=200)).plot()
        self.assertEqual(len(axes.lines), 1)
        found = synfire.mine(chains(), (4, 6), min_count=50)
        axes = found.plot(matplotlib.pyplot.figure().gca())
        whole = [i for i, parent in enumerate(found.parents) if parent is None]
        self.assertEqual([label.get_text() for label in axes.get_yticklabels()], [" > ".join(found[i].names) for i in whole])
        np.testing.assert_allclose(axes.lines[0].get_xdata(), found.counts[whole] / found.expected[whole])


class Registered(unittest.TestCase):
    def test_methods_have_the_digest(self):
        recording = chains(60)
        path = pathlib.Path("registered.txt")
        path.write_text("# before\n\nA -(4,6]-> B\n#0 -(4,6]-> C\n")
        given, digest = synfire.registered(path)
        self.assertEqual(given, ["A -(4,6]-> B", "#0 -(4,6]-> C"])
        self.assertEqual(digest, hashlib.sha256(path.read_bytes()).hexdigest())
        told = synfire.count(recording, given, digest, significance=synfire.Significance("joint-isi", surrogates=19))
        self.assertIn(f"registered in a file (SHA-256 {digest})", told.methods)
        self.assertEqual(told.significance["kind"], "joint-isi")
        with self.assertRaises(synfire.UsageError):
            synfire.count(recording, given, "deadbeef")


class Live(unittest.TestCase):
    WINDOW = {"length_s": 10, "hop_s": 5}

    def test_counts_are_those_of_count(self):
        recording = chains(60)
        chain = "A -(4,6]-> B -(4,6]-> C"
        with synfire.live(recording, track=chain, mine={"every": 0}, window=self.WINDOW, virtual_clock=True,
                          topics=["episodes", "graph"]) as run:
            messages = [message for message in run.feed(recording) if message.topic == "episodes" and not message["partial"]]
        self.assertGreater(len(messages), 8)
        for message in messages:
            counted = synfire.count(recording.part(message["from_s"], message["to_s"]), chain)
            self.assertEqual(message["episodes"][0]["count"], counted.counts[0])
            self.assertEqual(message["episodes"][0]["id"], counted[0].id)

    def test_as_the_command(self):
        subprocess.run([os.environ["SYNFIRE"], "simulate", "live.h5", "--preset", "sym26", "--duration", "20", "--quiet"],
                       check=True, stdout=subprocess.DEVNULL)
        pathlib.Path("out.jsonl").unlink(missing_ok=True)
        keys = {"mine.delays_ms": "4:6", "window.length_s": 10, "window.hop_s": 2, "sinks.0.type": "jsonl",
                "sinks.0.path": "out.jsonl"}
        subprocess.run([os.environ["SYNFIRE"], "run", "--replay", "live.h5", "--speed", "max", "--quiet",
                        *(word for key, value in keys.items() for word in ("--set", f"{key}={value}"))], check=True,
                       stdout=subprocess.DEVNULL)
        recording = synfire.load("live.h5")
        with synfire.live(recording, virtual_clock=True, window={"length_s": 10, "hop_s": 2}, mine={"delays_ms": "4:6"}) as run:
            ours = [dict(message) for message in run.feed(recording) if message.topic != "status"]
        theirs = [message for message in map(json.loads, pathlib.Path("out.jsonl").read_text().splitlines())
                  if message["topic"] != "status"]
        for message in ours + theirs:
            del message["age_ms"]
        key = lambda message: (message["topic"], message["seq"])  # noqa: E731
        self.assertTrue(sorted(ours, key=key) == sorted(theirs, key=key))
        self.assertGreater(sum(len(message.get("episodes", ())) for message in ours), 10)

    def test_a_tick_is_a_push_and_its_triggers(self):
        options = dict(watch="A -(4,6]-> B", mine={"every": 0}, topics=["trigger"], watch_at_once=True,
                       queue_policy="drop-oldest", merge={"leap_s": 0})
        told = []
        for by_tick in (False, True):
            with synfire.live(["A", "B"], **options) as run:
                room, found = run.room(2, triggers=1), []
                for k in range(50):
                    begin = (k + 1) * 10**9
                    room.times[:], room.units[:] = (begin, begin + 5 * 10**6), (0, 1)
                    if by_tick:
                        came = room.tick(2, begin + 10**7)
                        while not came:  # another thread of the run was at work
                            came = room.tick(0, begin + 10**7)
                        raw = room.triggers[0]
                    else:
                        room.push(2, begin + 10**7)
                        message = run.next(10)
                        raw, came = message.raw, 1
                    self.assertEqual(came, 1)
                    found.append((raw.seq, raw.time_ns, raw.trigger.id, list(raw.trigger.spike_times_ns)[:raw.trigger.size]))
                self.assertEqual(room.tick(0, 60 * 10**9), 0)
                told.append(found)
        self.assertEqual(told[0], told[1])
        self.assertEqual(told[1][49][3], [50 * 10**9, 50 * 10**9 + 5 * 10**6])

    def test_pushed_by_a_thread(self):
        recording = chains(60)
        run = synfire.live(recording, watch="A -(4,6]-> B", mine={"every": 0}, virtual_clock=True, topics=["trigger"],
                           sources=None)

        def push():
            for spike in np.array_split(recording.spikes, 50):
                run.push(spike, until=int(spike[-1]["time_ns"]))
            run.finish()

        pusher = threading.Thread(target=push)
        pusher.start()
        triggers = list(run)
        pusher.join()
        run.close()
        self.assertEqual(len(triggers), 60)
        self.assertEqual(triggers[7]["spike_times_ns"], [7_000_000_000, 7_005_000_000])  # read after the run's end

    def test_triggers_with_names(self):
        recording = chains(60)
        with synfire.live(recording, triggers=[{"name": "every", "episode": "A -(4,6]-> B"},
                                               {"name": "seldom", "episode": "B -(4,6]-> C", "refractory_ms": 9500}],
                          mine={"every": 0}, window=self.WINDOW, schedule="sequential", virtual_clock=True,
                          topics=["trigger"]) as run:
            sent = [message["name"] for message in run.feed(recording)]
        self.assertEqual((sent.count("every"), sent.count("seldom")), (60, 6))

    def test_a_small_ring_loses_nothing(self):
        recording = chains(60)
        with synfire.live(sources=[{"units": ["A", "B", "C"], "ring": 16, "virtual_clock": True}], queue=1,
                          track="A -(4,6]-> B", mine={"every": 0}, window=self.WINDOW, topics=["episodes"]) as run:
            for part in np.array_split(recording.spikes, 60):
                run.push(part, until=int(part[-1]["time_ns"]))
            run.end()
            run.finish()
            messages = list(run)
        self.assertEqual([message.seq for message in messages], list(range(1, len(messages) + 1)))
        self.assertEqual(messages[5]["episodes"][0]["count"], 10)

    def test_densities(self):
        recording = noise(2, 2000, 60.0)
        with synfire.live(recording, density=[{"quantity": "isi", "unit": "*", "grid": 64}], mine={"every": 0},
                          window=self.WINDOW, virtual_clock=True, topics=["density"]) as run:
            messages = list(run.feed(recording))
        self.assertEqual(messages[-1].array.shape, (64,))
        np.testing.assert_allclose(messages[-1].array, messages[-1]["values"])

    def test_refused(self):
        for options, place in ((dict(window={"lengths": 1}), "window.lengths"), (dict(windows=1), "windows"),
                               (dict(mine={"every": "x"}), "mine.every"), (dict(graph={"metric": "size"}), "graph.metric"),
                               (dict(watch=["A -> "]), "watch.0"), (dict(window={"hop_s": -1}), "window.hop_s"),
                               (dict(density=[{"units": "*"}]), "density.0.units"), (dict(topics=["all"]), "topics")):
            with self.assertRaises((synfire.UsageError, synfire.ConfigurationError)) as raised:
                synfire.live(["A"], **options).close()
            self.assertEqual(raised.exception.place, place)
        run = synfire.live(["A"])
        run.close()
        run.close()
        with self.assertRaises(synfire.UsageError):
            run.push([0.0], [0])
        self.assertIsNone(run.next())

    def test_not_closed(self):
        run = synfire.live(["A"], virtual_clock=True)
        run.push([0.0], [0])
        del run
        gc.collect()


class Libraries(unittest.TestCase):
    def python(self, line, **environment):
        return subprocess.run([sys.executable, "-B", "-c", line], capture_output=True, text=True,
                              env={**os.environ, **environment})

    def test_missing(self):
        told = self.python("import synfire", SYNFIRE_LIBRARY="/nowhere")
        self.assertIn("SYNFIRE_LIBRARY is /nowhere, and there is no libsynfire.so.", told.stderr)
        told = self.python("import synfire", SYNFIRE_LIBRARY="", PATH="/nowhere")
        if told.returncode != 0:  # else one is installed on this machine
            self.assertIn("install synfire, or let SYNFIRE_LIBRARY name the library's folder", told.stderr)

    def test_without_files(self):
        folder = pathlib.Path("core")
        folder.mkdir(exist_ok=True)
        name = ".".join(["libsynfire.so", *synfire.__version__.split(".")[:2]])  # another version may lie beside it
        shutil.copy(pathlib.Path(os.environ["SYNFIRE_LIBRARY"]) / name, folder / name)
        told = self.python("import synfire\nassert not synfire.has_files()\n"
                           "print(len(synfire.mine(synfire.Recording.from_arrays([0.0, 0.005], [0, 1]), min_count=1)))\n"
                           "try:\n    synfire.load('x.h5')\nexcept synfire.Unavailable as refused:\n    print(refused)",
                           SYNFIRE_LIBRARY=str(folder.resolve()))
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertIn("1\nsf_recording_open: this synfire has no files, which need libsynfire-io.so.", told.stdout)

    def test_every_failure_has_its_class(self):
        from synfire import errors
        for name, code in declared.ENUMS["sf_status"].items():
            if code < 0:
                raised = errors.of_status(code, "text", "place")
                self.assertEqual((raised.code, str(raised)), (code, "place: text"), name)


class Said(unittest.TextTestResult):
    """Skipped cases in the words that scripts/skipped reads."""

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        print(f"skipped: {reason}", flush=True)


if __name__ == "__main__":
    unittest.main(testRunner=unittest.TextTestRunner(resultclass=Said, verbosity=2))
