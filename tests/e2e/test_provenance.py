# SPDX-License-Identifier: Apache-2.0
"""Every result says what it is of and what made it: the same object in the JSON of every command, in graph files and occurrences, in
what a live run writes; and the sentence for a paper's methods tells the whole selection."""
import json
import os
import pathlib
import shlex
import unittest
import xml.etree.ElementTree as tree

import command

SELECTION = ("--units", "#0-#1,C,L", "--epochs", "epochs.csv", "--dedup", "0.4,100", "--from", "+5", "--to", 85)
MINED = ("--delay", "4:6", "--min-count", 20, "--quiet")
DELAYS = ("--quantity", "delay", "--episode", "A -(4,6]-> B", "--quiet")
GRAPH = ("graph", "sim.h5", *SELECTION, *MINED)
LIVE = ("sinks.0.type=hdf5", "sinks.0.path=run.h5", "sinks.1.type=jsonl", "sinks.1.path=run.jsonl", "graph.rewired=3", "graph.census=true",
        "graph.seed=8")


def write(path, text):
    pathlib.Path(path).write_text(text)


def line_of(path, begin):
    """What follows these words in the one line that begins with them."""
    line, = (line for line in pathlib.Path(path).read_text().splitlines() if line.startswith(begin))
    return line[len(begin):]


class Test(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--unit-count", 12, "--rate", 5, "--duration", 120, "--chain", "A -(4,6]-> B -(4,6]-> C",
                    "--chain-rate", 2, "--seed", 3, "--quiet")
        write("epochs.csv", "10,40,base\n60,90,light on\n")
        write("pair.txt", "A -(4,6]-> B\n")

    def hold(self, found, *command_line):
        """The provenance of a result of the selection, which this command made."""
        self.assertTrue(found["program"].startswith("synfire "), found)
        self.assertEqual(shlex.split(found["command"]), ["synfire", *map(str, command_line)])
        s = found["selection"]
        self.assertTrue(s["format"].startswith("synfire"), s)
        self.assertTrue(5 <= s["from_s"] < 6, s)
        expected = {
            "recording": "sim.h5", "stream": None, "preset": None, "units": [0, 1, 2, 11], "names": ["A", "B", "C", "L"], "unit_count": 4,
            "units_in_recording": 12, "to_s": 85, "epochs_file": "epochs.csv", "dedup": {"ms": 0.4, "um": 100}, "blank": None, "duration_s": 55,
            "epochs": [{"label": "base", "from_s": 10, "to_s": 40}, {"label": "light on", "from_s": 60, "to_s": 90}]}
        self.assertEqual({key: s[key] for key in expected}, expected)
        causes = {each["cause"]: each["spikes"] for each in s["left_out"]}
        for cause in "unit not selected", "outside the epochs", "outside --from and --to":
            self.assertGreater(causes[cause], 0, cause)
        self.assertEqual(s["spikes"] + sum(causes.values()), s["spikes_in_recording"])
        for words in (f"{s['spikes']} spikes of 4 of 12 units (A, B, C, L) in 55 s", s["data"], "at most 0.4 ms after",
                      "at most 100 um away", "inside 2 epochs (base 10 to 40 s, light on 60 to 90 s)", " to 85 s"):
            self.assertIn(words, s["words"])


class Commands(Test):
    def told(self, *words):
        """The document of a command, whose provenance is right."""
        found = self.document(*words)
        self.hold(found["provenance"], *words, "--json")
        return found

    def selection(self, *words):
        found = self.document(*words)
        return found, found["provenance"]["selection"]

    def test_every_command_tells_it_and_the_seed_where_one_was_used(self):
        for seed, name, *words in (
                (None, "info", "--quiet"), (None, "mine", *MINED), (None, "count", "--episodes", "pair.txt", "--quiet"), (None, "graph", *MINED),
                (9, "mine", *MINED, "--significance", "segment-shift", "--surrogates", 20, "--seed", 9, "--max-size", 2),
                (1, "graph", "--metric", "sttc", "--surrogates", 20, "--quiet"), (None, "bfs", *MINED, "--source", "A"),
                (None, "bandwidth", "--quantity", "isi", "--quiet"), (None, "density", *DELAYS),
                (None, "aggregate", *DELAYS, "--range", "0:0.01")):
            with self.subTest(name=name, words=words):
                self.assertEqual(self.told(name, "sim.h5", *SELECTION, *words)["provenance"]["seed"], seed)
        for seed, pattern, *words in (None, "chain-2"), (4, "census", "--rewired", 5, "--seed", 4):
            with self.subTest(pattern=pattern):
                self.assertEqual(self.told("match", "sim.h5", pattern, *SELECTION, *MINED, *words)["provenance"]["seed"], seed)

    def test_methods_tell_the_whole_selection(self):
        found, selection = self.selection("mine", "sim.h5", *SELECTION, *MINED)
        self.assertIn(selection["words"], found["methods"])
        self.assertNotIn("12 units", found["methods"].replace("4 of 12 units", ""))
        table = self.synfire("mine", "sim.h5", *SELECTION, *MINED).stdout
        self.assertRegex(table, "(?m)^sim.h5: 4 of 12 units, ")
        self.assertRegex(table, r"(?m)mined episodes .* spikes of 4 of 12 units \(A, B, C, L\) in 55 s .* 2 epochs .* to 85 s; no test was made\.$")

    def test_of_a_recording_that_is_taken_whole_it_is_null(self):
        write("few.csv", "v,1.5\nw,2\nv,3\n")
        _, s = self.selection("info", "few.csv")
        self.assertEqual([s[key] for key in ("units", "unit_count", "from_s", "epochs", "dedup")], [None, 2, None, None, None])
        self.assertRegex(s["words"], r"^3 spikes of 2 units in 1\.5.*\)$")

    def test_it_tells_what_was_blanked(self):
        self.synfire("simulate", "marked.h5", "--unit-count", 4, "--rate", 5, "--duration", 60, "--marker-every", 10, "--quiet")
        _, s = self.selection("info", "marked.h5", "--blank", "ttl0,-1,5", "--from", 20)
        self.assertEqual((s["blank"], s["from_s"], s["to_s"]), ({"marker": "ttl0", "from_ms": -1, "to_ms": 5}, 20, None))
        self.assertRegex(s["words"], "without -1 to 5 ms around each marker ttl0.*, from 20 s on$")

    def test_it_tells_what_a_preset_set(self):
        found, s = self.selection("mine", "sim.h5", *MINED, "--preset", "hd-mea", "--min-distance", 50)
        self.assertEqual((s["preset"], s["dedup"], s["min_distance_um"]), ("hd-mea", {"ms": 0.4, "um": 100}, 50))
        self.assertIn("with the defaults of the preset hd-mea", found["methods"])
        self.assertIn("pairs of units closer than 50 um left out", found["methods"])

    def test_what_is_made_instead_of_read_has_a_command_and_a_seed_alone(self):
        made, _ = self.selection("simulate", "made.h5", "--duration", 1, "--seed", 5)
        self.assertEqual([made["provenance"][key] for key in ("command", "seed", "selection")],
                         ["synfire simulate made.h5 --duration 1 --seed 5 --json", 5, None])

    def test_files_of_graphs_have_it_in_their_own_way(self):
        for ending in "mtx", "el", "graphml", "json", "dot":
            self.synfire(*GRAPH, "--out", f"g.{ending}")
        in_xml, = (data.text for data in tree.parse("g.graphml").iter() if data.get("key") == "provenance")
        in_dot = line_of("g.dot", '  graph [provenance="').removesuffix('"];').replace('\\"', '"').replace("\\\\", "\\")
        for ending, text in (("mtx", line_of("g.mtx", "% provenance ")), ("el", line_of("g.el", "# provenance ")), ("graphml", in_xml),
                             ("json", json.dumps(command.schema.read("g.json")["provenance"])), ("dot", in_dot)):
            with self.subTest(ending=ending):
                self.hold(json.loads(text), *GRAPH, "--out", f"g.{ending}")


class Run(Test):
    """What a live run writes, and other files of HDF5."""

    @classmethod
    def prepare(cls):
        super().prepare()
        cls.synfire("run", "--replay", "sim.h5", *SELECTION, "--speed", "max", "--quiet", *(word for key in LIVE for word in ("--set", key)))

    def test_its_status_has_command_and_selection(self):
        status = command.messages_of("run.jsonl", "status")[-1]
        self.assertEqual(shlex.split(status["command"])[:4], ["synfire", "run", "--replay", "sim.h5"])
        self.assertIn("4 of 12 units", status["selection"])

    @unittest.skipUnless(os.environ.get("SYNFIRE_PYTHON"), "no python3 with the module h5py")
    def test_hdf5_has_it_as_an_attribute(self):
        import h5py  # of the one test that needs it

        def read(path):
            with h5py.File(path) as file:
                return json.loads(file.attrs["provenance"])

        occurrences = ("mine", *GRAPH[1:], "--occurrences", "o.h5")
        self.synfire(*GRAPH, "--out", "g.h5")
        self.synfire(*occurrences)
        self.hold(read("g.h5"), *GRAPH, "--out", "g.h5")
        self.hold(read("o.h5"), *occurrences)
        run = read("run.h5")
        self.hold(run, *shlex.split(run["command"])[1:])
        self.assertEqual(run["seed"], 8)


if __name__ == "__main__":
    command.main()
