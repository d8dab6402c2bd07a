# SPDX-License-Identifier: Apache-2.0
"""synfire match: known counts, patterns by name, from files and from the command line, techniques, the census, counts beside those
of rewired graphs, and refusals."""
import pathlib
import unittest

import command

KARATE = command.SOURCE / "tests" / "data" / "karate.mtx"
GRAPHS = command.DATA / "subgraph"
WORM = GRAPHS / "celegans" / "celegans_chem.edges"
RING = GRAPHS / "toys" / "5_ring.graph"
CHAIN, CYCLE, LOOP = "A -> B; B -> C", "A -> B; B -> C; C -> A", "A -> B; B -> C; A -> C"
LOOPS = 14324  # of the worm, of which 2965 have no edge back
FILES = {
    "cycle.el": "0 1 5\n1 2 12\n2 0 3\n",
    "both.mtx": "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n",
    "edge.graph": "t 2 1\nv 0 0\nv 1 0\ne 0 1\n",
    "ring.graph": "t 5 5\nv 0 0\nv 1 0\nv 2 0\nv 3 0\nv 4 0\ne 0 1\ne 0 4\ne 1 2\ne 2 3\ne 3 4\n",
    "bad.motif": "A -> B\nA ->\n",
    "loop.motif": """\
# feed-forward loops without an edge back
ffl(x, y, z) { x -> y; y -> z; x -> z }
ffl(A, B, C)
C !> A
C !> B
B !> A
""",
}


class Test(command.Test):
    @classmethod
    def prepare(cls):
        for path, text in FILES.items():
            pathlib.Path(path).write_text(text)

    def count(self, *words):
        return self.document("match", *words)["count"]

    def assert_counts(self, *cases):
        for expected, *words in cases:
            with self.subTest(words=words):
                self.assertEqual(self.count(*words), expected)


class Patterns(Test):
    def test_of_a_cycle_with_weights(self):
        self.assert_counts((3, "cycle.el", CYCLE), (1, "cycle.el", CYCLE + "; A === B; B === C"),
                           (1, "cycle.el", "A -> B [weight > 4]; B -> C [weight >= 12]"),
                           (3, "cycle.el", "A -> B", "--semantics", "homomorphism"))
        self.assertRegex(self.synfire("motif", "cycle.el", "X -> Y [weight = 12]").stdout, "(?m)^1 embeddings")

    def test_directed_is_for_files_that_do_not_say(self):
        self.assert_counts((2, "both.mtx", "A -> B", "--directed"), (1, "edge.graph", "A -> B", "--directed"), (2, "edge.graph", "A -> B"))

    def test_a_club_has_45_triangles_each_found_six_times(self):
        self.assert_counts((270, KARATE, LOOP), (5, KARATE, LOOP, "--limit", 5),
                           (45, KARATE, CYCLE + "; A -> C; C -> B; B -> A", "--distinct"))

    def test_a_ring_is_found_in_itself(self):
        self.assert_counts((10, "ring.graph", "ring.graph"), (1, "ring.graph", "ring.graph", "--distinct"),
                           (10, "ring.graph", "ring.graph", "--engine", "gvsm"))

    def test_what_is_wrong_with_a_pattern_is_told_by_line_and_column(self):
        for code, place, pattern in ((65, "pattern:1:8", "A -> B C"), (65, "bad.motif:2:5", "bad.motif"), (66, "no-such.graph", "no-such.graph"),
                                     (64, "rate", "A -> B; A.rate > 1")):
            with self.subTest(pattern=pattern):
                self.refuses(code, place, "match", "cycle.el", pattern)

    def test_options_that_do_not_go_together_are_refused(self):
        gvsm = ("--engine", "gvsm")
        for sentence, *words in (
                ("--rewired", "--rewired", 20, "--limit", 2), ("--rewired", "--rewired", 1), ("for recordings", "--delay", "4:6"),
                ("one of isomorphism, induced, homomorphism", "--semantics", "epimorphism"),
                ("--induced", "--semantics", "homomorphism", "--induced"), ("expected auto, cpu, cuda", "--device", "abacus"),
                ("quantum", "--engine", "quantum"), ("features: goes with --engine gvsm", "--features", "order"),
                ("slots: goes with --engine gvsm", "--slots", 2), ("threshold: goes with --engine gvsm", "--threshold", 100),
                ("slots: goes with the feature pipeline", *gvsm, "--features", "order", "--slots", 2),
                ("threshold: goes with the feature stay", *gvsm, "--features", "none", "--threshold", 9), ("slots", *gvsm, "--slots", 4),
                ("found 'speed', expected one of blacklist, implication,", *gvsm, "--features", "order,speed")):
            with self.subTest(words=words):
                self.refuses(64, sentence, "match", "cycle.el", "A -> B", *words)
        self.refuses(64, "synfire: match: --distinct: does not go with census", "match", "cycle.el", "census", "--distinct")
        self.refuses(66, "no-such", "match", "no-such.el", "A -> B")


class Recordings(Test):
    """A recording stands for its connectivity graph; --engine stays that of matching."""

    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--unit-count", 10, "--rate", 5, "--duration", 120, "--chain", "#0 -(4,6]-> #3 -(4,6]-> #7",
                    "--chain-rate", 3, "--seed", 3, "--quiet")

    def test_it_is_as_its_graph_in_a_file(self):
        connected = ("--delay", "4:6,8:12", "--min-count", 40)
        self.synfire("graph", "sim.h5", *connected, "--out", "sim.graphml")
        for pattern in ("feed-forward-loop", "chain-3", "A -> B [weight > 100, delay <= 6]", "A -> B; A.rate > B.rate; A.x_um < B.x_um",
                        "census"):
            with self.subTest(pattern=pattern):
                of_file = self.document("match", "sim.graphml", pattern)
                self.assertEqual(command.without_times(self.document("match", "sim.h5", pattern, *connected)), command.without_times(of_file))
                self.assertGreater(sum(triad["count"] > 0 for triad in of_file["triads"]) if pattern == "census" else of_file["count"], 0)

    def test_the_engine_is_that_of_matching(self):
        self.assertGreater(self.count("sim.h5", "chain-3", "--delay", "4:6", "--min-count", 40, "--engine", "gvsm"), 0)

    def test_its_graph_can_be_of_tilings(self):
        self.assertGreater(self.count("sim.h5", "converging-2", "--metric", "sttc", "--surrogates", 20, "--seed", 2), 0)


@command.needs_data("subgraph")
class RealGraphs(Test):
    def test_queries_of_a_protein_network(self):
        known = dict(line.split(":") for line in (GRAPHS / "hprd" / "expected.txt").read_text().split())
        for query in 1, 2, 8, 26, 38:
            with self.subTest(query=query):
                name = f"query_dense_16_{query}"
                self.assertEqual(self.count(GRAPHS / "hprd" / "HPRD.graph", GRAPHS / "hprd" / "query" / f"{name}.graph"), int(known[name]))

    def test_loops_of_a_worm_are_the_same_however_they_are_counted(self):
        self.assert_counts((LOOPS, WORM, LOOP, "--count"), (LOOPS, WORM, "feed-forward-loop", "--count"),
                           (LOOPS, WORM, LOOP, "--count", "--device", "cpu"), (LOOPS, WORM, LOOP, "--count", "--engine", "gvsm"),
                           (LOOPS, WORM, LOOP, "--count", "--engine", "gvsm", "--features", "none"),
                           (LOOPS, WORM, LOOP, "--count", "--engine", "gvsm", "--slots", 1, "--threshold", 1000),
                           (2965, WORM, LOOP, "--induced", "--count", "--threads", 2), (2965, WORM, "030T", "--distinct"),
                           (2965, WORM, "loop.motif"), (672, WORM, "reciprocal-pair", "--count"))

    def test_what_twins_save_is_saved_by_them_alone(self):
        for features, saves in ("none", False), ("twins", True):
            said = self.synfire("match", WORM, LOOP, "--count", "--engine", "gvsm", "--features", features, "--explain")
            self.assertEqual("share the branch of a twin" in said.stdout, saves)

    def test_the_device_is_explained(self):
        said = self.synfire("match", WORM, LOOP, "--device", "cpu", "--count", "--explain")
        self.assertIn("on cpu: as asked for", said.stdout.splitlines())

    def test_a_ring_is_found_in_itself(self):
        self.assert_counts((10, RING, RING), (1, RING, RING, "--distinct"), (5, RING, RING, "--limit", 5))

    def test_a_limit_lists_as_many_as_it_allows_and_the_same_first_ones(self):
        said = self.synfire("match", WORM, LOOP, "--json", "--explain")
        self.assertIn("after pruning", said.stderr)
        first = command.schema.held(command.schema.parse(said.stdout))
        self.assertEqual(list(first)[:6], ["count", "truncated", "seconds", "order", "blacklisted", "embeddings"])
        self.assertEqual((first["count"], first["truncated"], first["listed"], first["names"]), (LOOPS, False, 1000, None))
        self.assertEqual(sorted(first["order"]), [0, 1, 2])
        self.assertEqual({len(set(row)) for row in first["embeddings"]}, {3})
        for limit in 5, 5000, 20000:
            with self.subTest(limit=limit):
                found, expected = self.document("match", WORM, LOOP, "--limit", limit), min(limit, LOOPS)
                rows = found["embeddings"]
                self.assertEqual([found["count"], found["listed"], len(rows), len(set(map(tuple, rows)))], [expected] * 4)
                self.assertEqual(found["truncated"], limit < LOOPS)
                self.assertEqual(rows[:1000], first["embeddings"][:limit])

    def test_people_read_how_many_are_listed(self):
        self.assertRegex(self.synfire("match", WORM, LOOP).stdout, f"(?m)^1000 of {LOOPS} embeddings are listed: --limit N lists N")
        self.assertRegex(self.synfire("match", WORM, LOOP, "--limit", 10**12).stdout, f"(?m)^{LOOPS} embeddings")
        self.assertRegex(self.synfire("match", WORM, "census", "--rewired", 5).stdout, "(?m)^300 *A<->B B<->C A<->C  *273 ")

    def loops_of(self, triads):
        """How many feed-forward loops there are in triads, by the loops in each."""
        loops = {"030T": 1, "120D": 2, "120U": 2, "120C": 1, "210": 3, "300": 6}
        return sum(triads[name] * count for name, count in loops.items())

    def test_the_census_has_every_triple_and_the_loops(self):
        triads = {triad["name"]: triad["count"] for triad in self.document("match", WORM, "census")["triads"]}
        self.assertEqual((len(triads), sum(triads.values())), (16, 419 * 418 * 417 // 6))
        self.assertEqual(self.loops_of(triads), LOOPS)

    def test_rewired_graphs_are_the_same_for_a_pattern_and_the_census_on_any_number_of_threads(self):
        rewired = ("--rewired", 20, "--seed", 3)
        one, two = (self.document("match", WORM, "census", *rewired, "--threads", threads) for threads in (1, 2))
        self.assertEqual(one["triads"], two["triads"])
        self.assertEqual(one["rewired"]["graphs"], 20)
        loops = self.document("match", WORM, "feed-forward-loop", "--count", *rewired)["rewired"]
        self.assertAlmostEqual(self.loops_of({triad["name"]: triad["mean"] for triad in one["triads"]}) / loops["mean"], 1, delta=1e-6)
        self.assertAlmostEqual(loops["z"], (LOOPS - loops["mean"]) / loops["sd"], delta=1e-9)
        self.assertGreater(loops["z"], 50)


class Orders(Test):
    @unittest.skipIf(command.SANITIZED, "sanitizers take minutes for it")
    def test_the_best_of_all_numberings_is_no_worse_than_what_gvsm_chooses(self):
        *rows, every = self.document("bench", "match", "orders")
        self.assertEqual((len(rows), every["work"], every["numberings"]), (24, "all patterns", 24 * 120))
        for row in rows:
            self.assertEqual(row["numberings"], 120)
            self.assertTrue(0 < row["tried_best"] <= row["tried_worst"] and row["embeddings"] > 0, row)  # all find the same
            self.assertEqual(row["chosen_is_best"], row["tried_chosen"] <= row["tried_best"])
            self.assertEqual(row["within_a_tenth"], row["tried_chosen"] <= 1.1 * row["tried_best"])
            self.assertAlmostEqual(row["worst_over_best"], row["tried_worst"] / row["tried_best"], delta=1e-9)
        for key in ("tried_chosen", "tried_best", "tried_worst", "embeddings"):
            self.assertEqual(every[key], sum(row[key] for row in rows))
        self.assertGreater(every["tried_worst"], every["tried_best"])
        self.assertAlmostEqual(every["chosen_is_best"], sum(row["chosen_is_best"] for row in rows) / 24, delta=1e-9)


if __name__ == "__main__":
    command.main()
