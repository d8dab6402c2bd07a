# SPDX-License-Identifier: Apache-2.0
"""Measures of networks: of a recording and of every file of its graph alike, as networkx has them, in every output; and
wrong words are refused."""
import importlib.util
import json
import os
import subprocess
import unittest

import command

MINE = ("--delay", "4:6", "--min-count", "3")
MEASURES = ("graph", "g.graphml", "--measures")
NETWORKS = os.path.join(os.path.dirname(__file__), "networks.py")


class Network(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--unit-count", 12, "--rate", 5, "--duration", 120, "--chain", "#0 -(4,6]-> #3 -(4,6]-> #7",
                    "--chain-rate", 3, "--seed", 3, "--quiet")
        cls.found = cls.document("graph", "sim.h5", *MINE, "--measures", "--out", "g.graphml")

    def test_a_network_without_rewired_graphs_has_no_small_worldness(self):
        network = self.found["network"]
        self.assertEqual(network["rewired"], 0)
        self.assertIsNone(network["small_world"])
        self.assertIsNone(network["clustering_z"])
        self.assertEqual(self.found["edges_tested"], "untested")

    def test_every_unit_has_a_row_with_its_name(self):
        units = self.found["network_units"]
        self.assertEqual(self.found["network"]["vertices"], 12)
        self.assertEqual([unit["name"] for unit in units], list("ABCDEFGHIJKL"))

    def test_a_long_name_begins_on_the_line_of_its_numbers(self):
        name = "  " + "a" * 70
        with open("long.csv", "w") as file:
            file.writelines(f'"{name}",{i / 10}\nb,{i / 10 + 0.005}\n' for i in range(1, 100))
        told = self.synfire("graph", "long.csv", *MINE, "--measures", "--quiet").stdout
        self.assertRegex(told, rf"(?m)^{name} +\d")

    def test_the_planted_chain_stands_out(self):
        units = self.found["network_units"]
        self.assertGreaterEqual(units[0]["out_degree"], 1)
        self.assertGreater(units[3]["betweenness"], 0)
        strong = sorted(units, key=lambda unit: -unit["strength"])[:3]
        self.assertEqual({unit["name"] for unit in strong}, {"A", "D", "H"})

    def test_the_file_of_the_graph_says_the_same(self):
        again = self.document(*MEASURES)
        self.assertEqual([again["network"], again["network_units"]], [self.found["network"], self.found["network_units"]])

    def test_a_seed_decides_on_modules_and_rewired_graphs(self):
        one, again, other = (command.without_times(self.document(*MEASURES, "--rewired", 10, "--seed", *more))
                             for more in ((5, "--threads", 1), (5, "--threads", 3), (6,)))
        self.assertEqual(one, again)
        self.assertNotEqual(one, other)

    def test_lines_for_people_name_small_worldness_and_clustering(self):
        lines = self.synfire(*MEASURES, "--rewired", 10).stdout
        self.assertRegex(lines, r"(?m)^small-worldness .* beside 10 graphs")
        self.assertRegex(lines, r"(?m)^clustering  *0")

    def test_csv_has_a_row_for_each_unit(self):
        rows = self.rows(*MEASURES)
        self.assertEqual(len(rows), 12)
        self.assertLessEqual({"strength", "betweenness_weighted", "module", "hub"}, set(rows[0]))

    def test_the_karate_club_has_four_modules_of_the_greatest_modularity(self):
        network = self.document("graph", command.SOURCE / "tests/data/karate.mtx", "--measures")["network"]
        self.assertAlmostEqual(network["modularity"], 0.4197896, delta=1e-6)  # Brandes et al. 2008
        self.assertEqual(network["modules"], 4)
        self.assertAlmostEqual(network["clustering"], 0.5706384782076823, delta=1e-12)
        self.assertAlmostEqual(network["path_length"], 2.408199643493761, delta=1e-12)
        self.assertIsNone(network["strength"])

    def test_only_the_strongest_edges_and_linked_units_can_be_kept(self):
        network = self.document(*MEASURES, "--edge-density", 0.05, "--linked")["network"]
        self.assertEqual((network["edges"], network["isolated"]), (7, 0))
        self.assertLess(network["vertices"], 12)
        self.assertGreater(network["edges_left_out"], 0)

    def test_a_network_without_edges_has_no_path(self):
        network = self.document(*MEASURES, "--threshold", 1e9)["network"]
        self.assertEqual((network["edges"], network["path_length"], network["modules"]), (0, None, 0))

    def test_wrong_words_are_refused(self):
        for code, sentence, words in (
                (64, "goes with --measures", ("graph", "sim.h5", "--rewired", 10)),
                (64, "is of edges, not of --measures", ("graph", "sim.h5", "--measures", "--sort", "ratio")),
                (64, "is for recordings", (*MEASURES, "--delay", "4:6")),
                (64, "is for recordings", (*MEASURES, "--out", "h.graphml")),
                (64, "edge-density", (*MEASURES, "--edge-density", 2)),
                (65, "--measures tells", ("graph", "g.graphml"))):
            with self.subTest(words=words):
                self.refuses(code, sentence, *words)

    @unittest.skipUnless(importlib.util.find_spec("networkx"), "no Python module networkx")
    def test_networkx_has_the_same_measures(self):
        for graph in ("40 150 1 undirected", "40 200 2 directed", "25 30 3 directed", "60 700 4 undirected"):
            with self.subTest(graph=graph):
                subprocess.run([command.sys.executable, "-B", NETWORKS, "draw", "drawn.graphml", *graph.split()], check=True)
                found = self.document("graph", "drawn.graphml", "--measures")
                subprocess.run([command.sys.executable, "-B", NETWORKS, "hold", "drawn.graphml"], input=json.dumps(found), text=True, check=True)


if __name__ == "__main__":
    command.main()
