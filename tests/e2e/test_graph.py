# SPDX-License-Identifier: Apache-2.0
"""synfire graph: planted links are the strongest edges of a simulated recording, every file format holds the same graph, searches of
the recording and of each file agree, verdicts and signs of edges, and wrong words are refused."""
import csv
import importlib.util
import math
import pathlib
import random
import re
import unittest
import xml.etree.ElementTree

import command

FILES = ("graphml", "mtx", "el", "h5")  # which are read too
PLANTED = {(0, 3, 4, 6), (3, 7, 4, 6), (0, 7, 8, 12)}
WORDS = ("--delay", "4:6,8:12", "--min-count", 40)
TESTED = ("--delay", "4:6,8:12", "--min-count", 12, "--significance", "segment-shift", "--surrogates", 100)
TILING = ("graph", "sim.h5", "--metric", "sttc", "--delay", "0:10", "--surrogates")
SIGNED = ("graph", "signs.csv", "--quiet", "--metric")
EDGE = ["from", "from_name", "to", "to_name", "delay_ms", "count", "expected", "weight", "ratio_interval", "asymmetry", "p", "q",
        "not_tested", "expected_given_rest", "one_electrode", "sign", "confidence", "score", "epochs", "epoch_counts", "epoch_coefficients"]
NUMBERS = ("--delay", "2:4", "--min-count", 100, "--quiet")


def ends(edge):
    return edge["from"], edge["to"]


def place(edge):
    return *ends(edge), *edge["delay_ms"]


def write(path, lines):
    pathlib.Path(path).write_text("".join(f"{line}\n" for line in lines))


class OfTheSimulation(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--unit-count", 10, "--rate", 5, "--duration", 120, "--chain", "#0 -(4,6]-> #3 -(4,6]-> #7",
                    "--chain-rate", 3, "--seed", 3)


class Edges(OfTheSimulation):
    @classmethod
    def prepare(cls):
        super().prepare()
        cls.graph = cls.document("graph", "sim.h5", *WORDS)
        cls.edges = cls.graph["edge_detail"]
        for ending in (*FILES, "dot", "json"):
            cls.synfire("graph", "sim.h5", *WORDS, "--out", f"g.{ending}")

    def test_fields_have_their_order_and_values(self):
        self.assertEqual((list(self.graph)[:3], self.graph["vertices"], self.graph["edges"]),
                         (["vertices", "edges", "edge_detail"], 10, len(self.edges)))
        self.assertEqual((self.graph["names"], self.graph["edges_tested"]), (list("ABCDEFGHIJ"), "untested"))
        for e in self.edges:
            self.assertEqual(list(e), EDGE)
            self.assertEqual([e["from_name"], e["to_name"]], [self.graph["names"][unit] for unit in ends(e)])
            self.assertAlmostEqual(e["weight"], e["count"] - e["expected"], delta=1e-9)
            self.assertIsNone(e["p"])

    def test_asymmetry_is_that_of_the_counts_both_ways(self):
        edges = self.document("graph", "sim.h5", *TESTED[:4])["edge_detail"]
        counts = {place(e): e["count"] for e in edges}
        for e in edges:
            back = counts.get((e["to"], e["from"], *e["delay_ms"]))
            self.assertEqual(e["asymmetry"] is None, back is None)
            if back is not None:
                self.assertAlmostEqual(e["asymmetry"], (e["count"] - back) / (e["count"] + back), delta=1e-9)

    def test_planted_links_are_the_strongest(self):
        self.assertEqual({place(e) for e in sorted(self.edges, key=lambda e: -e["weight"])[:3]}, PLANTED)

    def test_they_are_the_pairs_of_mine(self):
        mined = self.document("mine", "sim.h5", *WORDS, "--max-size", 2)["episodes"]
        self.assertEqual({place(e): (e["count"], e["expected"]) for e in self.edges},
                         {(*e["units"], *e["delays_ms"][0]): (e["count"], e["expected"]) for e in mined if len(e["units"]) == 2})

    def test_the_document_is_the_same_whatever_file_is_written(self):
        for ending in (*FILES, "dot"):
            out = self.document("graph", "sim.h5", *WORDS, "--out", f"again.{ending}")
            with self.subTest(ending=ending):
                self.assertEqual(command.without_times(out), command.without_times(self.graph))

    def test_as_a_file_it_is_the_same_byte_for_byte(self):
        printed = self.synfire("graph", "sim.h5", *WORDS, "--out", "again.json", "--json").stdout
        self.assertEqual(pathlib.Path("again.json").read_text(), printed)

    def test_graphviz_is_a_digraph_with_weights(self):
        text = pathlib.Path("g.dot").read_text()
        self.assertTrue(text.startswith("digraph"))
        self.assertEqual(text.count('"weight"='), len(self.edges))

    def test_what_is_only_written_is_not_read(self):
        self.refuses(65, "g.dot: is a Graphviz file, which is only written", "bfs", "g.dot", "--source", 0)
        self.refuses(65, "g.json: is a graph as JSON, which is only written", "match", "g.json", "chain-2")

    def test_a_search_of_each_file_is_that_of_the_recording_but_for_delays(self):
        def less(document):
            for search in document["searches"]:
                search["paths"] = [{**path, "delay_ms": None} for path in search["paths"]]
            return {key: document[key] for key in ("vertices", "edges", "source", "source_name", "reached", "depth", "level_sizes", "searches")}

        expected = self.document("bfs", "sim.h5", *WORDS, "--source", "#0")
        for ending in FILES:
            found = self.document("bfs", f"g.{ending}", "--source", "#0")
            with self.subTest(ending=ending):
                self.assertEqual([path["delay_ms"] for path in found["searches"][0]["paths"]], [None] * 2)
                self.assertEqual(less(found), less(expected))

    def test_reach_has_the_delays_of_its_paths(self):
        words = ("reach", "sim.h5", *WORDS, "--source", "#0")
        table = self.synfire(*words).stdout
        self.assertIn("level  vertices  delay ms  names", table)
        self.assertRegex(table, r"(?m)^ *1 .* \(4,12\] ")
        self.assertIn("level  vertices  names", self.synfire(*words, "--undirected").stdout)

    def test_a_small_expectation_is_not_0_beside_its_ratio(self):
        write("rare.csv", (f"{name},{minute * 60 + after}" for minute in range(10) for name, after in (("a", 0), ("b", 0.005))))
        table = self.synfire("graph", "rare.csv", "--delay", "4:6", "--min-count", 5).stdout
        self.assertIn("delays of (4,6] ms", table.splitlines())
        self.assertRegex(table, r"(?m)^a +b +10 +0\.00037 ")

    def test_no_edge_at_all_is_an_empty_graph_and_a_warning(self):
        words = ("graph", "sim.h5", "--min-count", 1e9)
        out = self.document(*words)
        self.assertEqual((out["edges"], out["edge_detail"]), (0, []))
        self.assertIn("no unit has 1000000000 spikes: the most that a pair counts is", self.synfire(*words, "--csv").stderr)

    def test_wrong_words_are_refused(self):
        for sentence, *words in (
                ("expected one of episodes, sttc", "graph", "sim.h5", "--metric", "te"),
                ("--delay: '0:0'", "graph", "sim.h5", "--metric", "sttc", "--delay", "0:0"),
                ("metric sttc", "graph", "sim.h5", "--surrogates", 5),
                ("goes with --metric sttc or --significance", "graph", "sim.h5", "--seed", 5),
                ("metric episodes", "graph", "sim.h5", "--metric", "sttc", "--min-count", 5),
                (".graphml", "graph", "sim.h5", "--out", "g.txt"),
                ("for recordings", "bfs", "g.mtx", "--source", 0, "--delay", "4:6"),
                ("source", "bfs", "sim.h5", "--delay", "4:6"),
                ("--source", "bfs", "sim.h5", "--delay", "4:6", "--source", "nobody"),
                ("--surrogates: goes with --metric sttc", "bfs", "sim.h5", "--delay", "4:6", "--source", "A", "--surrogates", 5),
                ("--seed: goes with --metric sttc, --significance or --rewired", "match", "sim.h5", "A -> B", "--seed", 5),
                ("--surrogates: goes with --metric sttc", "match", "sim.h5", "A -> B", "--rewired", 2, "--surrogates", 5),
                ("expected one of q, ratio, weight, count", "graph", "sim.h5", "--sort", "size")):
            with self.subTest(words=words):
                self.refuses(64, sentence, *words)
        self.refuses(65, "g.mtx: is a graph already", "graph", "g.mtx")
        self.refuses(66, "no-such", "graph", "no-such.h5")
        self.refuses(73, "no/such", "graph", "sim.h5", "--out", "no/such/g.dot")


class GraphML(OfTheSimulation):
    """It has places and tests of edges, too: as XML, and as networkx reads it."""
    SPACE = "{http://graphml.graphdrawing.org/xmlns}"

    @classmethod
    def prepare(cls):
        super().prepare()
        cls.graph = cls.document("graph", "sim.h5", *WORDS, *TESTED[4:], "--out", "tested.graphml")
        cls.edges = cls.graph["edge_detail"]

    def test_nodes_and_edges_are_those_of_the_document(self):
        root = xml.etree.ElementTree.parse("tested.graphml").getroot()
        self.assertEqual(root.tag, f"{self.SPACE}graphml")
        keys = {key.get("id"): (key.get("for"), key.get("attr.name"), key.get("attr.type")) for key in root.iter(f"{self.SPACE}key")}
        self.assertEqual({kind for _, _, kind in keys.values()}, {"double", "string"})

        def values(of):
            for element in root.iter(self.SPACE + of):
                found = [(*keys[data.get("key")], data.text) for data in element.iter(f"{self.SPACE}data")]
                self.assertEqual({there for there, *_ in found}, {of})
                yield element, {name: text if kind == "string" else float(text) for _, name, kind, text in found}

        nodes, edges = list(values("node")), list(values("edge"))
        self.assertEqual([node["name"] for _, node in nodes], self.graph["names"])
        self.assertTrue(all({"x_um", "y_um", "rate"} <= set(node) for _, node in nodes))
        order = [element.get("id") for element, _ in nodes]
        for (element, found), told in zip(edges, self.edges, strict=True):
            self.assertEqual((order.index(element.get("source")), order.index(element.get("target"))), ends(told))
            self.assertEqual([found["low_ms"], found["high_ms"]], told["delay_ms"])
            for name in "weight", "count", "expected", "expected_given_rest", "p", "q":
                self.assertEqual(found.get(name), told[name], name)
        self.assertTrue(any(e["q"] is not None for e in self.edges))

    @unittest.skipUnless(importlib.util.find_spec("networkx"), "no Python module networkx")
    def test_networkx_reads_it(self):
        import networkx
        read = networkx.read_graphml("tested.graphml")
        names = networkx.get_node_attributes(read, "name")
        self.assertTrue(read.is_directed())
        self.assertEqual((list(names.values()), len(networkx.get_node_attributes(read, "x_um"))), (self.graph["names"], 10))
        self.assertEqual(sorted((names[a], names[b], edge["low_ms"], edge["q"]) for a, b, edge in read.edges(data=True)),
                         sorted((e["from_name"], e["to_name"], e["delay_ms"][0], e["q"]) for e in self.edges))


class NamesThatAreNumbers(command.Test):
    """A word is a name and #3 an index, of the recording and of every file of its graph."""

    @classmethod
    def prepare(cls):
        write("numbers.csv", (f"{name},{0.5 * k + 0.003 * at:.3f}" for k in range(200) for at, name in enumerate((3, 1, 4, 2))))
        for ending in FILES:
            cls.synfire("graph", "numbers.csv", *NUMBERS, "--out", f"n.{ending}")
        cls.graphs = [("numbers.csv", *NUMBERS), *((f"n.{ending}",) for ending in FILES)]

    def test_searches_begin_where_they_are_told(self):
        for source, *expected in (("3", 2, "3", 4, [1, 1, 1, 1]), ("#3", 3, "4", 2, [1, 1]), ("2", 1, "2", 1, [1]),
                                  ("#2", 2, "3", 4, [1, 1, 1, 1])):
            for graph in self.graphs:
                found = self.document("bfs", *graph, "--source", source, "--quiet")
                with self.subTest(source=source, graph=graph):
                    self.assertEqual([found[key] for key in ("vertices", "edges", "source", "source_name", "reached", "level_sizes")],
                                     [4, 3, *expected])

    def test_one_search_may_begin_by_a_name_and_another_by_an_index(self):
        searches = self.document("bfs", *self.graphs[0], "--source", 3, "--source", "#3")["searches"]
        self.assertEqual([(s["source"], s["source_name"], s["reached"]) for s in searches], [(2, "3", 4), (3, "4", 2)])

    def test_a_name_that_nobody_has_is_no_index(self):
        self.refuses(64, "no unit is named '0'; the unit with that index is written #0", "bfs", *self.graphs[0], "--source", 0)
        for graph, in self.graphs[1:]:
            self.refuses(64, "no vertex is named '0'; the vertex with that index is written #0", "bfs", graph, "--source", 0)

    def test_matches_have_the_names(self):
        self.assertEqual(self.document("match", "n.mtx", "chain-2")["names"], [["1", "4"], ["3", "1"], ["4", "2"]])


class Tiling(OfTheSimulation):
    """Spike-time tiling: an undirected graph of the pairs whose coefficient is high for shifted trains."""

    @classmethod
    def prepare(cls):
        super().prepare()
        cls.every = cls.document(*TILING, 0)
        cls.out = cls.document(*TILING, 100, "--threads", 2)
        cls.edges = cls.out["edge_detail"]

    def test_without_surrogates_all_pairs_are_edges_and_not_tested(self):
        every = self.every
        self.assertEqual((every["edges"], every["edges_tested"]), (45, "untested"))
        self.assertEqual((every["pairs_tested"], every["pairs_by_chance"]), (None, None))
        self.assertEqual({(e["p"], e["q"]) for e in every["edge_detail"]}, {(None, None)})
        self.assertTrue(all(e["from"] < e["to"] for e in every["edge_detail"]))

    def test_the_planted_pairs_come_out(self):
        best = sorted(self.edges, key=lambda e: -e["weight"])[:3]
        self.assertEqual({ends(e) for e in best}, {(0, 3), (3, 7), (0, 7)})
        self.assertEqual((self.out["edges_tested"], self.out["pairs_tested"]), ("tested", 45))
        self.assertAlmostEqual(self.out["pairs_by_chance"], 45 * 5 / 101, delta=1e-9)
        weights = {ends(e): e["weight"] for e in self.every["edge_detail"]}
        for e in self.edges:
            self.assertEqual((e["weight"], e["count"], e["expected"], e["delay_ms"]), (weights[ends(e)], None, None, [0, 10]))
            self.assertTrue(e["weight"] > 0 and 1 / 101 <= e["p"] <= 5 / 101 + 1e-12 and e["p"] - 1e-12 <= e["q"] <= 1, e)

    def test_threads_change_nothing_and_the_file_is_undirected(self):
        one = self.document(*TILING, 100, "--threads", 1, "--out", "one.graphml")
        self.assertEqual(command.without_times(one), command.without_times(self.out))
        self.assertIn('edgedefault="undirected"', pathlib.Path("one.graphml").read_text())

    def test_the_filter_is_that_of_episodes_of_the_recording_and_of_its_file(self):
        kept = self.document(*TILING, 100, "--max-q", 0.05)
        self.assertEqual(kept["edge_detail"], [e for e in self.edges if e["q"] <= 0.05])
        self.assertEqual({ends(e) for e in kept["edge_detail"]}, {(0, 3), (3, 7), (0, 7)})
        self.assertEqual((kept["edges_found"], kept["edges_tested"]), (self.out["edges"], "significant"))
        self.assertEqual((kept["pairs_tested"], kept["pairs_by_chance"]), (45, None))
        self.synfire(*TILING, 100, "--out", "filtered.graphml")
        self.assertEqual(self.document("bfs", "filtered.graphml", "--max-q", 0.05, "--source", "A")["reached"], 3)

    def test_the_heading_says_what_chance_passes(self):
        table = self.synfire(*TILING, 100).stdout
        self.assertRegex(table, "(?m)^10 units, .*; of 45 pairs tested chance passes about 2.23$")
        self.assertRegex(table, "(?m)^tested, with edges that chance explains")
        self.assertRegex(self.synfire(*TILING, 100, "--max-q", 0.05).stdout,
                         "(?m)^10 units, 3 edges of .*; of 45 pairs tested chance passes one or more in at most 0.05 of recordings$")
        self.assertRegex(self.synfire(*TILING, 0).stdout,
                         "(?m)^NOT TESTED: all pairs are edges. --surrogates 200 --max-q 0.05 tests them$")

    def test_surrogates_too_few_for_any_edge_are_told_of(self):
        table = self.synfire(*TILING, 18).stdout
        self.assertIn("18 surrogates give no p or q below 0.053, so no pair can be an edge: take 19", table)
        self.assertRegex(table, "(?m)^10 units, 0 edges")

    def test_trains_that_never_meet_are_no_edges_however_far_below_chance_shifted_ones_are(self):
        write("apart.csv", ("A,0.0", "A,50.0", "B,20.0", "B,80.0", "C,33.0", "C,100.0"))
        self.assertEqual(self.document("graph", "apart.csv", "--metric", "sttc", "--delay", "0:50")["edges"], 0)

    def test_p_alone_is_told_of(self):
        words = (*TILING, 100, "--max-p", 0.01)
        out = self.document(*words)
        self.assertTrue(0 < out["edges"] < out["edges_found"], out["edges"])
        self.assertEqual(out["edges_tested"], "tested")
        self.assertEqual(self.synfire(*words, "--csv").stderr.count("goes by p"), 1)


class Verdicts(OfTheSimulation):
    """One filter by what a test says, the same edges by whichever command and from whichever file."""

    @classmethod
    def prepare(cls):
        super().prepare()
        cls.out = cls.document("graph", "sim.h5", *TESTED, "--out", "tested.graphml")
        cls.table = cls.synfire("graph", "sim.h5", *TESTED, "--out", "tested.h5").stdout
        cls.kept = cls.document("graph", "sim.h5", *TESTED, "--max-q", 0.05)
        cls.kept_table = cls.synfire("graph", "sim.h5", *TESTED, "--max-q", 0.05, "--out", "kept.graphml").stdout
        cls.synfire("graph", "sim.h5", *WORDS, "--out", "untested.graphml")
        cls.tested = [e for e in cls.out["edge_detail"] if e["not_tested"] is None]

    def test_edges_have_p_and_q_or_why_not(self):
        self.assertEqual((self.out["edges_tested"], self.out["significance"]["surrogates"]), ("tested", 100))
        self.assertEqual({e["not_tested"] for e in self.out["edge_detail"]}, {None, "reverse of a link"})
        for e in self.tested:
            self.assertTrue(1 / 101 - 1e-9 <= e["p"] <= e["q"] <= 1, e)

    def test_those_within_q_or_p_may_be_taken_alone(self):
        self.assertEqual(self.kept["edge_detail"], [e for e in self.tested if e["q"] <= 0.05])
        self.assertLessEqual(PLANTED, {place(e) for e in self.kept["edge_detail"]})
        self.assertLess(self.kept["edges"], 8)
        self.assertEqual((self.kept["edges_tested"], self.kept["edges_found"]), ("significant", self.out["edges"]))
        by_p = self.document("graph", "sim.h5", *TESTED, "--max-p", 0.3)
        self.assertEqual(by_p["edge_detail"], [e for e in self.tested if e["p"] <= 0.3])
        self.assertTrue(self.kept["edges"] < by_p["edges"] < self.out["edges"])

    def test_searches_and_matches_of_recordings_and_files_are_of_the_same(self):
        pairs = len({ends(e) for e in self.kept["edge_detail"]})
        for graph in ("sim.h5", *TESTED), ("tested.graphml",), ("tested.h5",):
            reached = self.document("bfs", *graph, "--max-q", 0.05, "--source", "A")
            matched, counted = (self.document("match", *graph, "--max-q", 0.05, what) for what in ("chain-2", "census"))
            with self.subTest(graph=graph[0]):
                self.assertEqual((reached["reached"], matched["count"]), (3, pairs))
                self.assertGreater(sum(t["count"] * t["name"].count("1") for t in counted["triads"]), 0)
                self.assertEqual([found["edges_tested"] for found in (reached, matched, counted)], ["significant"] * 3)

    def test_tables_say_what_their_edges_are(self):
        self.assertIn("tested, with edges that chance explains among them", self.table)
        self.assertRegex(self.kept_table, "(?m)^10 units, .* edges of .*: the others have a larger p or q")
        self.assertEqual(self.synfire("graph", "sim.h5", *WORDS).stdout.splitlines()[1],
                         "NOT TESTED: `expected` is by rates, and ranks. Add --significance segment-shift --max-q 0.05")
        self.assertRegex(self.synfire("bfs", "untested.graphml", "--source", "A").stdout, "(?m)^NOT TESTED: make this graph")

    def test_what_has_no_edges_of_its_own_says_how_many_a_test_left_and_where_there_was_no_verdict(self):
        left = f"{self.kept['edges']} of {self.out['edges']} edges: the others have a larger p or q, or none"
        for what in ("bfs", "sim.h5", "--source", "A"), ("match", "sim.h5", "chain-2"), ("match", "sim.h5", "census"):
            with self.subTest(what=what):
                self.assertIn(left, self.synfire(*what, *TESTED, "--max-q", 0.05).stdout.splitlines())
                none = self.synfire(*what, "--delay", "4:70", *TESTED[2:], "--max-q", 0.05).stdout
                self.assertIn("NO VERDICT: delays too long", none.splitlines())
                self.assertNotIn("the others", none)

    def test_z_scores_say_of_which_edges_they_are(self):
        def compared(graph, what, *words):
            return self.synfire("match", f"{graph}.graphml", what, *words, "--rewired", 5).stdout

        self.assertNotRegex(compared("kept", "chain-3", "--count").lower(), "tested|chance")
        self.assertRegex(compared("tested", "chain-3", "--count"), r"(?m)z = .*\(of edges with chance among them: --max-q 0.05\)$")
        untested, census = compared("untested", "chain-3", "--count"), compared("untested", "census")
        self.assertRegex(untested, "(?m)standard deviation 0: no z$")
        self.assertRegex(untested, "(?m)^NOT TESTED: make this graph")
        self.assertRegex(census, r"(?m)^mean, sd and z of .*\(of edges that are NOT TESTED\)$")
        self.assertRegex(census, "(?m)^NOT TESTED")

    def test_what_p_alone_is_worth_is_told_once(self):
        for words in (("bfs", "tested.h5", "--source", "A"), ("match", "tested.h5", "chain-2"), ("graph", "sim.h5", *TESTED)):
            done = self.synfire(*words, "--max-p", 0.3)
            self.assertEqual((done.stdout + done.stderr).count("goes by p"), 1, words)

    def test_any_of_its_numbers_gives_the_order_of_the_table(self):
        keys = {"q": lambda e: (math.inf if e["q"] is None else e["q"], -e["ratio_interval"][0]),
                "ratio": lambda e: -e["ratio_interval"][0], "weight": lambda e: -e["weight"], "count": lambda e: -e["count"]}
        for word, key in keys.items():
            rows = re.findall(r"(?m)^(\S+) +(\S+) +(\(\S+\])  .*$", self.synfire("graph", "sim.h5", *TESTED, "--sort", word).stdout)
            at = {(e["from_name"], e["to_name"], "({:g},{:g}]".format(*e["delay_ms"])): key(e) for e in self.out["edge_detail"]}
            with self.subTest(word=word):
                self.assertEqual([at[row] for row in rows], sorted(at.values())[:20])  # printed numbers may tie

    def test_filters_of_what_has_no_p_and_q_are_refused(self):
        for sentence, *words in (
                ("--max-q: goes with --significance", "bfs", "sim.h5", "--delay", "4:6", "--source", "A", "--max-q", 0.05),
                ("--max-p: goes with --significance", "graph", "sim.h5", "--delay", "4:6", "--max-p", 0.05),
                ("--max-q: the edges of this graph have no q", "match", "untested.graphml", "chain-2", "--max-q", 0.05),
                ("--max-p: the edges of this graph have no p", "bfs", "untested.graphml", "--source", "A", "--max-p", 0.05),
                ("--max-q: needs surrogates", "graph", "sim.h5", "--delay", "4:6", "--significance", "analytic", "--max-q", 0.05),
                ("--max-q: needs surrogates", *TILING, 0, "--max-q", 0.05), ("--max-p: needs surrogates", *TILING, 0, "--max-p", 0.05),
                ("--max-q: found '0', expected a number above 0 and at most 1", "graph", "sim.h5", *TESTED, "--max-q", 0),
                ("--significance: is for recordings", "bfs", "untested.graphml", "--source", "A", "--significance", "segment-shift")):
            with self.subTest(words=words):
                self.refuses(64, sentence, *words)


class Signs(command.Test):
    """Of eight units one excites another and one inhibits another: every output has it."""
    NARROW = "the delay (1,15] ms is narrower than two clock ticks of 10 ms"

    @classmethod
    def prepare(cls):
        draw = random.Random(5)
        spikes, silent = [], 0
        for ms in range(200000):
            for unit in "abcdefgh":
                if unit == "d" and ms < silent or draw.random() >= 0.0125:
                    continue
                spikes.append((ms + draw.random(), unit))
                if unit == "a" and draw.random() < 0.15:
                    spikes.append((ms + 4, "b"))
                if unit == "c":
                    silent = ms + 10
        write("signs.csv", (f"{unit},{ms / 1000:.6f}" for ms, unit in sorted(spikes)))
        write("coarse.csv", (f"{'a' if i % 3 else 'b'},{i / 100:.3f}" for i in range(400)))

    def test_surrogates_give_p_and_q(self):
        out = self.document(*SIGNED, "regression", "--surrogates", 20, "--out", "signs.graphml")
        self.assertEqual((out["pairs_compared"], out["troughs_hidden"], out["edges_tested"]), (56, 0, "tested"))
        signs = {(e["from_name"], e["to_name"]): e for e in out["edge_detail"]}
        self.assertEqual((signs["a", "b"]["sign"], signs["c", "d"]["sign"]), (1, -1))
        self.assertLessEqual(len(signs), 4)
        for e in signs.values():
            self.assertGreaterEqual(e["confidence"], 0.95)
            self.assertTrue(e["score"] * e["sign"] > 0 and e["weight"] * e["sign"] > 0, e)
        for e in signs["a", "b"], signs["c", "d"]:
            self.assertEqual((e["p"], e["q"]), (1 / 21, 1 / 21))
            self.assertIn(e["delay_ms"][0], (1, 3, 7))
        self.assertRegex(pathlib.Path("signs.graphml").read_text(), '<data key="[^"]*">-1</data>')

    def test_the_table_says_which_inhibit_and_that_confidence_is_no_test(self):
        table = self.synfire(*SIGNED, "regression").stdout
        self.assertRegex(table, "8 units, [0-9]* edges, [0-9]* of which inhibits?; of 56 ordered pairs all have spikes enough for a trough "
                                "to be seen")
        self.assertIn("NOT TESTED: confidence holds edges against most pairs", table)
        self.assertRegex(table, "(?m)^c *d *inhibits ")

    def test_by_every_metric_all_pairs_have_a_score_and_the_planted_one_the_best(self):
        for metric in "excess", "tspe", "transfer-entropy", "directed-sttc":
            lines = self.synfire(*SIGNED, metric, "--max-false", 1, "--delay", "1:12", "--csv").stdout.splitlines()
            rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
            best = max(rows, key=lambda row: float(row["score"]))
            with self.subTest(metric=metric):
                self.assertEqual((len(rows), best["from_name"], best["to_name"], best["sign"]), (56, "a", "b", "1"))

    def test_patterns_may_ask_for_a_sign(self):
        found = self.document("match", "signs.csv", "A -> B [sign < 0]", "--metric", "regression")
        self.assertGreaterEqual(found["count"], 1)

    def test_delays_narrower_than_two_ticks_are_told(self):
        words = ("graph", "coarse.csv", "--metric", "regression", "--quiet")
        self.assertIn(self.NARROW, self.synfire(*words).stdout)
        drawn = self.run_command("plot", "drive", "coarse.csv", "-o", "coarse.svg")  # an edge, or none to draw
        self.assertIn(self.NARROW, drawn.stderr)
        self.assertNotIn("clock ticks", self.synfire(*words, "--delay", "5:35").stdout)

    def test_wrong_words_are_refused(self):
        for sentence, *words in (
                ("--max-false: goes with a --metric of edges that have a sign", "graph", "signs.csv", "--quiet", "--max-false", 0.1),
                ("--min-count: goes with --metric episodes", *SIGNED, "tspe", "--min-count", 5),
                ("found 2 intervals, expected one", *SIGNED, "tspe", "--delay", "1:5,5:9"),
                ("expected a millisecond or more from 0 to 50 ms", *SIGNED, "tspe", "--delay", "1:60"),
                ("needs surrogates, and none are made", *SIGNED, "tspe", "--max-q", 0.05)):
            with self.subTest(words=words):
                self.refuses(64, sentence, *words)


if __name__ == "__main__":
    command.main()
