# SPDX-License-Identifier: Apache-2.0
"""Results as tables of an NWB file say what is printed, refer to the units, are as the rules of NWB 2 have it, and leave what
was in the file as it was."""
import hashlib
import importlib.util
import pathlib
import shutil
import unittest

import command

command.need_modules()
import h5py
import numpy as np

MINE = ("--delay", "4:6", "--min-count", 20, "--max-size", 3)
TESTED = (*MINE, "--significance", "segment-shift", "--surrogates", 100)
TYPES = {"VectorData", "VectorIndex", "DynamicTableRegion", "ElementIdentifiers"}
REAL = "recordings/pynapple_A8604-211122.nwb"
SPECS = "recordings/pynwb_2.6.0_DynamicTableElectrodes.nwb"


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def texts(table):
    """Cells of text, None where they are empty."""
    return [cell or None for cell in table.asstr()[:]]


def numbers(values):
    return np.array([np.nan if value is None else value for value in values], float)


def rows_of(table, column):
    """A ragged column: the values of each row."""
    return np.split(table[column][:], table[f"{column}_index"][:-1])


def needs_module(name):
    return unittest.skipUnless(importlib.util.find_spec(name), f"no Python module {name}")


def in_words_of_hdmf(path, specs):
    """A copy in which types stand as hdmf's own classes read them, with the schema of another file."""
    shutil.copy(path, "plain.h5")
    with h5py.File("plain.h5", "r+") as file, h5py.File(specs) as schema:
        def rename(_, o):
            if "neurodata_type" in o.attrs:
                o.attrs["data_type"] = o.attrs["neurodata_type"]
                del o.attrs["neurodata_type"]

        def reword(_, o):
            if isinstance(o, h5py.Dataset):
                o[()] = text(o[()]).replace("neurodata_type", "data_type")

        rename(None, file)
        file.visititems(rename)
        if "specifications" in file:
            del file["specifications"]
        schema.copy("specifications", file)
        file["specifications"].visititems(reword)
        file.attrs[".specloc"] = file["specifications"].ref
    return "plain.h5"


class Tables(command.Test):
    def assert_object(self, o, seen):
        """An object of NWB with a number of its own; its type."""
        self.assertLessEqual({"namespace", "neurodata_type", "object_id"}, set(o.attrs), o.name)
        self.assertNotIn(o.attrs["object_id"], seen, o.name)
        seen.add(o.attrs["object_id"])
        return text(o.attrs["neurodata_type"])

    def assert_table(self, table, seen):
        """Rows of each column, from the outside in; ragged ones by their index, references by the table that they are of."""
        kind = self.assert_object(table, seen)
        self.assertIn(kind, ("DynamicTable", "TimeIntervals"))
        self.assertTrue(text(table.attrs["description"]))
        columns, rows = [text(name) for name in table.attrs["colnames"]], len(table["id"])
        self.assertEqual(list(table["id"][:]), list(range(rows)))
        self.assertEqual(set(table), {"id", *columns, *(f"{name}_index" for name in columns if f"{name}_index" in table)})
        for name in table:
            self.assertIn(self.assert_object(table[name], seen), TYPES)
            self.assertTrue(name == "id" or text(table[name].attrs["description"]))
        for name in columns:
            column, length = table[name], rows
            if f"{name}_index" in table:
                index = table[f"{name}_index"]
                self.assertEqual((table.file[index.attrs["target"]], len(index)), (column, rows))
                ends = index[:].astype(np.int64)
                self.assertTrue((np.diff(ends, prepend=0) >= 0).all())
                length = ends[-1] if rows else 0
            self.assertEqual(len(column), length, name)
            if text(column.attrs["neurodata_type"]) == "DynamicTableRegion":
                rows_there = len(table.file[column.attrs["table"]]["id"])
                self.assertTrue(((column[:] >= 0) & (column[:] < rows_there)).all(), name)
        if kind == "TimeIntervals":
            self.assertTrue((table["start_time"][:] <= table["stop_time"][:]).all())

    def assert_tables(self, path, *names):
        """The module has these tables, and they are as the schema of tables says."""
        with h5py.File(path) as file:
            module, seen = file["processing/synfire"], set()
            file.visititems(lambda name, o: name.startswith("processing/synfire")
                            or "object_id" in o.attrs and seen.add(o.attrs["object_id"]))
            self.assertEqual((self.assert_object(module, seen), set(module)), ("ProcessingModule", set(names)))
            self.assertTrue(text(module.attrs["description"]))
            for name in names:
                self.assert_table(module[name], seen)

    def assert_kept(self, path, copy):
        """Whatever the file has, its copy has the same."""
        with h5py.File(path) as one, h5py.File(copy) as other:
            def visit(name, o):
                self.assertIn(name, other)
                self.assertEqual(set(o.attrs), set(other[name].attrs), name)
                if isinstance(o, h5py.Dataset) and o.dtype.kind in "iuf":
                    np.testing.assert_array_equal(o[()], other[name][()], name)
            one.visititems(visit)

    def assert_valid(self, specs, path):
        """By hdmf's validator, pynwb's, with the schema that the file `specs` holds."""
        from hdmf.backends.hdf5 import HDF5IO
        from hdmf.build import BuildManager, TypeMap
        from hdmf.spec import NamespaceCatalog
        from hdmf.validate import ValidatorMap
        plain, catalog = in_words_of_hdmf(path, specs), NamespaceCatalog()
        HDF5IO.load_namespaces(catalog, plain)
        with HDF5IO(plain, manager=BuildManager(TypeMap(catalog)), mode="r") as io:
            errors = ValidatorMap(catalog.get_namespace("core")).validate(io.read_builder())
        self.assertEqual([str(error) for error in errors], [])

    def opened(self, path):
        """The tables of a file, open until the test ends."""
        file = h5py.File(path)
        self.addCleanup(file.close)
        return file["processing/synfire"]


class Episodes(Tables):
    """A new file, then copies of it, each with one command's tables more."""

    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--preset", "sym26", "--seed", 5, "--duration", 20)
        cls.mined = cls.document("mine", "sim.h5", *TESTED, "--nwb", "one.nwb")
        cls.first = hashlib.sha256(pathlib.Path("one.nwb").read_bytes()).digest()
        cls.graph = cls.document("graph", "one.nwb", "--delay", "4:6", "--min-count", 20, "--nwb", "two.nwb")
        cls.densities = cls.synfire("density", "two.nwb", "--quantity", "isi", "--nwb", "three.nwb").stdout
        pathlib.Path("chain.txt").write_text("A -(4,6]-> B\n")
        cls.synfire("count", "three.nwb", "--episodes", "chain.txt", "--nwb", "four.nwb")
        cls.episodes = cls.mined["episodes"]

    def test_every_file_has_one_commands_tables_more(self):
        self.assert_tables("one.nwb", "episodes", "occurrences")
        self.assert_tables("four.nwb", "episodes", "occurrences", "edges", "densities", "episodes_2", "occurrences_2")

    def test_what_was_in_a_file_stays_as_it_was(self):
        self.assertEqual(hashlib.sha256(pathlib.Path("one.nwb").read_bytes()).digest(), self.first)
        self.assert_kept("one.nwb", "four.nwb")

    def test_numbers_of_episodes_are_those_printed(self):
        table, of = self.opened("four.nwb")["episodes"], self.episodes
        self.assertGreater(len(of), 20)
        self.assertLessEqual({2, 3}, {len(e["units"]) for e in of})
        told = {key for key, value in of[0].items() if isinstance(value, (bool, int, float)) or value is None and key != "not_tested"}
        self.assertLessEqual({"count", "needed", "p_links", "reverse_count", "worth_showing"}, told)
        for column in told - {"folded_under", "epoch_counts"}:
            np.testing.assert_array_equal(table[column][:].astype(float), numbers(e[column] for e in of), column)
        self.assertTrue(any(np.isnan(table["reverse_count"][:])))
        self.assertFalse({"links", "epoch_counts"} & set(table))

    def test_words_of_episodes_are_those_printed(self):
        table = self.opened("four.nwb")["episodes"]
        self.assertEqual(texts(table["folded_under"]), [e["folded_under"] for e in self.episodes])
        self.assertEqual(texts(table["episode_id"]), [e["id"] for e in self.episodes])
        self.assertTrue(table["p"].attrs["description"].endswith("NaN: not tested, or no verdict: `not_tested` says why"))
        self.assertIn(self.mined["methods"].split(".")[0], table.attrs["description"])

    def test_episodes_refer_to_their_units(self):
        module = self.opened("four.nwb")
        table, names = module["episodes"], module.file["units/unit_name"].asstr()[:]
        self.assertEqual([list(names[units]) for units in rows_of(table, "units")], [e["names"] for e in self.episodes])
        self.assertEqual([delays.tolist() for delays in rows_of(table, "delays_ms")], [e["delays_ms"] for e in self.episodes])

    def test_occurrences_are_spikes_of_their_units(self):
        module = self.opened("four.nwb")
        occurs, units = module["occurrences"], module.file["units"]
        self.assertEqual(np.bincount(occurs["episode"][:], minlength=len(self.episodes)).tolist(), module["episodes/count"][:].tolist())
        spikes = dict(zip(units["unit_name"].asstr()[:], map(set, rows_of(units, "spike_times"))))
        times = rows_of(occurs, "times")
        for of_row, episode in zip(times, occurs["episode"][:]):
            self.assertTrue(all(time in spikes[name] for name, time in zip(self.episodes[episode]["names"], of_row)))
        self.assertEqual([(of_row[0], of_row[-1]) for of_row in times], list(zip(occurs["start_time"][:], occurs["stop_time"][:])))

    def test_edges_are_those_printed(self):
        edges = self.opened("four.nwb")["edges"]
        self.assertEqual(list(zip(edges["from"][:], edges["to"][:], edges["count"][:])),
                         [(e["from"], e["to"], e["count"]) for e in self.graph["edge_detail"]])

    def test_densities_are_of_the_logarithm(self):
        self.assertRegex(self.densities, "(?m)^26 densities are in three.nwb")
        table = self.opened("four.nwb")["densities"]
        for x, y in zip(rows_of(table, "grid"), rows_of(table, "density")):
            self.assertAlmostEqual(np.sum(np.diff(np.log(x)) * (y[1:] + y[:-1]) / 2), 1, delta=0.01)

    def test_counts_of_given_episodes_have_tables_of_their_own(self):
        given = next(e for e in self.episodes if e["names"] == ["A", "B"])
        self.assertEqual(self.opened("four.nwb")["episodes_2/count"][0], given["count"])

    def test_the_tables_are_no_recordings(self):
        self.assertEqual(self.document("mine", "four.nwb", *TESTED)["episodes"], self.episodes)

    def test_a_result_without_rows_has_its_columns(self):
        pathlib.Path("epochs.csv").write_text("0,10,early\n")
        columns, nothing = [], ("--min-count", 10**6)
        for name, more in ("rows", ()), ("none", nothing), ("asked", (*nothing, "--epochs", "epochs.csv")):
            self.synfire("mine", "sim.h5", *MINE, *more, "--nwb", f"{name}.nwb")
            module = self.opened(f"{name}.nwb")
            columns.append({table: set(module[table]) for table in ("episodes", "occurrences")})
        rows, none, asked = columns
        self.assertEqual(rows, none)
        self.assertLessEqual({"units", "delays_ms_index"}, none["episodes"])
        self.assertIn("times", none["occurrences"])
        self.assertEqual(asked["episodes"] - none["episodes"], {"epoch_counts", "epoch_counts_index"})

    def test_nothing_is_replaced_and_a_failure_leaves_nothing(self):
        mine = ("mine", "sim.h5", *MINE)
        self.refuses(73, "which is not replaced", *mine, "--nwb", "two.nwb")
        self.refuses(73, "replaces none", "graph", "sim.h5", "--delay", "4:6", "--nwb", "chain.txt")
        self.refuses(64, "has no room for what single epochs have", "density", "sim.h5", "--quantity", "isi", "--epochs", "chain.txt",
                     "--nwb", "x.nwb")
        self.refuses(64, "goes without --nwb", *mine, "--csv", "--memory", "400M", "--nwb", "x.nwb")
        self.refuses(73, "cannot create", *mine, "--nwb", "none/x.nwb")
        self.assertFalse([*pathlib.Path().glob("*.part"), *pathlib.Path().glob("x.nwb*")])

    def test_several_recordings_have_a_file_each(self):
        self.synfire("convert", "sim.h5", "sim.nwb")
        shutil.copy("sim.h5", "other.h5")
        self.synfire("mine", "sim.nwb", "other.h5", *MINE, "--nwb", "of-{}.nwb", "--json", "--quiet")
        self.assert_tables("of-sim.nwb", "episodes", "occurrences")
        self.assert_tables("of-other.nwb", "episodes", "occurrences")

    @command.needs_data(SPECS)
    @needs_module("hdmf")
    def test_a_validator_finds_no_fault(self):
        self.assert_valid(command.DATA / SPECS, "four.nwb")


@command.needs_data(REAL)
class RealData(Tables):
    @classmethod
    def prepare(cls):
        cls.real = command.DATA / REAL
        cls.synfire("mine", cls.real, "--delay", "1:10", "--min-count", 100, "--max-size", 3, "--nwb", "real.nwb")
        cls.synfire("graph", "real.nwb", "--metric", "sttc", "--surrogates", 20, "--nwb", "both.nwb")

    def test_the_tables_are_beside_what_the_file_has(self):
        self.assert_tables("both.nwb", "episodes", "occurrences", "edges")
        self.assert_kept(self.real, "both.nwb")

    @needs_module("hdmf")
    def test_a_validator_finds_no_fault(self):
        self.assert_valid(self.real, "both.nwb")

    @needs_module("pynwb")
    def test_pynwb_reads_the_tables(self):
        import pynwb
        with pynwb.NWBHDF5IO("both.nwb", "r") as io:
            self.assertFalse(pynwb.validate(io=io))
            table = io.read().processing["synfire"]["episodes"]
            self.assertEqual(len(table.to_dataframe()), len(table["count"]))


class OtherResults(Tables):
    """Bursts, responses, sequences and criticality: every table that --json has."""

    @classmethod
    def prepare(cls):
        network = ("--network-method", "isi-n", "--network-spikes", 20, "--network-within", 40)
        pathlib.Path("chain.txt").write_text("A -(4,6]-> B\n")
        cls.synfire("simulate", "lively.h5", "--preset", "sym26", "--seed", 3, "--duration", 60, "--burst-rate", 0.4,
                    "--marker-every", 0.5)
        responses = cls.document("responses", "lively.h5", "--marker", "ttl0", "--episodes", "chain.txt", "--nwb", "five.nwb")
        bursts = cls.document("bursts", "five.nwb", *network, "--nwb", "six.nwb")  # shares by chance are 1, and no more
        sequences = cls.document("sequences", "six.nwb", *network, "--to", 5, "--surrogates", 50, "--episodes", "chain.txt",
                                 "--nwb", "seven.nwb")
        criticality = cls.document("criticality", "seven.nwb", "--rounds", 2, "--nwb", "eight.nwb")
        cls.count = sequences["bursts"]
        cls.told = {
            "burst_units": bursts["unit_detail"], "network_bursts": bursts["network_bursts"], "bursts": bursts["bursts"],
            "burst_summary": bursts["summary"], "responses": responses["responses"], "response_histogram": responses["histogram"],
            "response_trials": responses["trials"], "sequence_units": sequences["unit_detail"],
            "sequence_bursts": sequences["burst_detail"], "sequence_latencies": sequences["latencies"],
            "burst_similarity": sequences["similarity"], "sequence_chains": sequences["chains"],
            **{name: rows for name, rows in criticality.items() if isinstance(rows, list)}}

    def test_each_has_its_tables(self):
        self.assert_tables("eight.nwb", "burst_units", "network_bursts", "bursts", "burst_summary", "responses", "response_histogram",
                           "response_trials", "sequence_units", "sequence_bursts", "sequence_latencies", "burst_similarity",
                           "sequence_chains", "sequence", "criticality", "avalanche_fits", "avalanches", "avalanche_shapes",
                           "autocorrelation", "criticality_cautions")
        self.assert_kept("five.nwb", "eight.nwb")

    def test_every_cell_is_what_is_printed(self):
        module = self.opened("eight.nwb")
        for name, rows in self.told.items():
            self.assertEqual(len(module[name]["id"]), len(rows), name)
            for column in rows[0] if rows else ():
                values, found = [row[column] for row in rows], module[name]["sequence_chain_id" if column == "id" else column]
                with self.subTest(table=name, column=column):
                    if any(isinstance(value, str) for value in values):
                        self.assertEqual(texts(found), [value or None for value in values])
                    else:
                        np.testing.assert_array_equal(found[:].astype(float), numbers(values))
        self.assertEqual(module["sequence/bursts"][0], self.count)
        self.assertEqual(len(self.told["responses"]), 27)
        self.assertGreater(len(self.told["network_bursts"]), 5)
        self.assertGreater(len(self.told["burst_similarity"]), 10)

    def test_a_unit_that_may_be_none_is_a_number_and_else_a_reference(self):
        module = self.opened("eight.nwb")
        self.assertTrue(np.isnan(module["bursts/unit"][0]) and np.isnan(module["responses/unit"][-1]))
        self.assertEqual(module["burst_units/unit"].attrs["neurodata_type"], "DynamicTableRegion")
        self.assertIn("by max-interval", module["burst_units"].attrs["description"])

    def test_a_file_that_is_there_is_not_replaced(self):
        self.refuses(73, "which is not replaced", "bursts", "lively.h5", "--nwb", "five.nwb")


if __name__ == "__main__":
    command.main()
