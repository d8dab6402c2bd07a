# SPDX-License-Identifier: Apache-2.0
"""synfire bfs: reach, depth, edges and levels of known graphs, which vertex is meant, paths, what the benchmarks count, and
refusals."""
import collections
import hashlib
import pathlib
import random
import shutil

import command

KARATE = command.SOURCE / "tests" / "data" / "karate.mtx"
CLUB = """\
graph | as | vertices | edges | source | reached | depth | traversed | level sizes | sha256 of the levels
karate.mtx | undirected | 34 | 156 | 0 | 34 | 3 | 156 | 1 16 9 8 | c64bcdddd1f2e64e
karate.mtx | undirected | 34 | 156 | 30 | 34 | 4 | 156 | 1 4 20 8 1 | 868cda3b6a5fa9aa
"""
NAMED = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="directed">
<node id="1"/><node id="0"/><node id="b"/><edge source="1" target="0"/><edge source="0" target="b"/></graph></graphml>
"""
TESTED = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="q" for="edge" attr.name="q" attr.type="double"/><key id="x" for="edge" attr.name="expected" attr.type="double"/>
<graph edgedefault="directed"><node id="a"/><node id="b"/><node id="c"/>
<edge source="a" target="b"><data key="q">0.01</data><data key="x">3</data></edge>
<edge source="b" target="c"><data key="q">{}</data><data key="x">3</data></edge></graph></graphml>
"""
PATTERN = "%%MatrixMarket matrix coordinate pattern general\n"
KRONECKER = ("bfs", "--kronecker", "12:16:1")


def write(path, text):
    pathlib.Path(path).write_text(text)


def without_times(document):
    return {key: value for key, value in command.without_times(document).items() if key not in ("teps", "edges_tested")}


class Test(command.Test):
    @classmethod
    def parsed(cls, *words):
        """document, but for its schema: paths to thousands of vertices take long to hold."""
        return command.schema.parse(cls.synfire(*words, "--json").stdout)

    def assert_near(self, found, expected):
        self.assertAlmostEqual(found / expected, 1, delta=1e-9)


class KnownGraphs(Test):
    def check(self, folder, rows):
        """Every row of its expected.txt."""
        lines = (folder / "expected.txt").read_text().splitlines()[1:]
        self.assertEqual(len(lines), rows)
        for line in lines:
            graph, kind, vertices, edges, source, reached, depth, traversed, _, digest = (word.strip() for word in line.split("|"))
            with self.subTest(graph=graph, source=source):
                found = self.parsed("bfs", folder / graph, f"--{kind}", "--source", source, "--repeat", 2, "--out", "levels")
                self.assertEqual([found[key] for key in ("vertices", "edges", "source", "reached", "depth")],
                                 [int(word) for word in (vertices, edges, source, reached, depth)])
                self.assertEqual((len(found["level_sizes"]), sum(found["level_sizes"])), (int(depth) + 1, int(reached)))
                self.assertGreater(found["seconds"], 0)
                self.assertEqual(round(found["teps"] * found["seconds"]), int(traversed))
                told = [row.split() for row in pathlib.Path("levels").read_text().splitlines()]
                self.assertEqual([int(row[0]) for row in told], list(range(int(vertices))))
                text = "".join(row[1] + "\n" for row in told)
                self.assertTrue(hashlib.sha256(text.encode()).hexdigest().startswith(digest))

    def test_a_club(self):
        shutil.copy(KARATE, ".")
        write("expected.txt", CLUB)
        self.check(pathlib.Path(), 2)

    @command.needs_data("bfs")
    def test_graphs_of_files(self):
        self.check(command.DATA / "bfs", 13)
        self.assertEqual(self.document("reach", command.DATA / "bfs" / "west0067.mtx", "--source", 0)["edges"], 292)

    @command.needs_data("bfs")
    def test_damaged_files_are_refused_at_their_line(self):
        for name in "mangled1.mtx:1", "mangled5.mtx:1", "mangled_format.mtx:1", "empty.mtx:4":
            with self.subTest(name=name):
                self.refuses(65, name, "bfs", command.DATA / "bfs" / name.split(":")[0], "--source", 0)


class Reading(Test):
    @classmethod
    def prepare(cls):
        write("path.el", "0 1\n1 2\n")
        write("named.graphml", NAMED)

    def searched(self, graph, source, *options):
        found = self.document("bfs", graph, "--source", source, *options)
        return found["source"], found["source_name"], found["reached"]

    def test_matrix_market_that_is_wrong_is_refused_at_its_line(self):
        for place, text in (("header.mtx:1", "%%MatrixMarket matrix coordinate\n2 2 1\n1 2\n"), ("outside.mtx:3", PATTERN + "2 2 1\n1 3\n"),
                            ("short.mtx", PATTERN + "3 3 2\n1 2\n")):
            with self.subTest(place=place):
                path = place.split(":")[0]
                write(path, text)
                self.refuses(65, place, "bfs", path, "--source", 0)

    def test_matrix_market_goes_by_its_symmetry_and_reach_is_the_same_command(self):
        self.assertEqual(self.document("reach", KARATE, "--source", 0)["edges"], 156)

    def test_pairs_with_commas_are_edges_unless_an_option_says_otherwise(self):
        write("weighted.csv", "source,target,weight\n0,1,2\n1,2,0.5\n")
        said = self.synfire("bfs", "weighted.csv", "--source", 0, "--json")
        found = command.schema.held(command.schema.parse(said.stdout))
        self.assertEqual((found["vertices"], found["edges"], found["reached"]), (3, 2, 3))
        self.assertIn("weighted.csv: read as edges, FROM,TO; --columns unit,time_s reads it as a recording", said.stderr)
        write("pairs.csv", "0,1\n1,2\n2,3\n0,4\n")
        self.assertEqual(self.document("bfs", "pairs.csv", "--source", 0)["edges"], 4)
        said = self.synfire("match", "pairs.csv", "chain-3", "--json")
        self.assertEqual(command.schema.parse(said.stdout)["count"], 2)
        self.assertIn("read as edges", said.stderr)
        recorded = ("--delay", "500:3500", "--min-count", 1)
        self.assertEqual(self.document("bfs", "pairs.csv", "--source", 0, "--columns", "unit,time_s", *recorded)["vertices"], 3)
        self.assertEqual(self.document("graph", "pairs.csv", *recorded)["vertices"], 3)

    def test_an_edge_list_is_directed_unless_told(self):
        self.assertEqual(self.searched("path.el", 2), (2, None, 1))
        self.assertEqual(self.searched("path.el", 2, "--undirected"), (2, None, 3))

    def test_a_word_is_a_name_and_a_number_with_a_hash_an_index(self):
        self.assertEqual(self.searched("named.graphml", "b"), (2, "b", 1))
        self.assertEqual(self.searched("named.graphml", 0), (1, "0", 2))
        self.assertEqual(self.searched("named.graphml", "#0"), (0, "1", 3))
        self.assertEqual(self.searched("path.el", "#1"), self.searched("path.el", 1))

    def test_wide_numbers_are_names(self):
        write("wide.el", "720575940621039146 720575940621039145\n")
        self.assertEqual(self.searched("wide.el", "720575940621039146"), (1, "720575940621039146", 2))

    def test_people_read_how_far_and_how_fast(self):
        said = self.synfire("bfs", "named.graphml", "--source", "b")
        self.assertIn("from b: 1 vertices within 0 hops", said.stdout.splitlines())
        self.assertEqual(said.stderr, "")
        said = self.synfire("bfs", "named.graphml", "--source", "#0")
        self.assertRegex(said.stdout, "(?m)^from 1: 3 vertices")
        self.assertEqual(said.stderr, "")
        self.assertRegex(self.synfire("bfs", "path.el", "--source", "#1").stdout, "(?m)^from #1: 2 vertices")
        timed = r"(?m)^from b: 1 vertices within 0 hops, .* s on cpu, .* \(TEPS\)$"
        self.assertRegex(self.synfire("bfs", "named.graphml", "--source", "b", "--repeat", 2).stdout, timed)
        self.assertRegex(self.synfire("bfs", "--kronecker", "14:16:1", "--source", 5).stdout, r"(?m)^from .* s on .* \(TEPS\)$")
        self.assertRegex(self.synfire("bfs", KARATE, "--source", 0, "--source", 33).stdout, "(?m)^#33 *34 ")

    def test_a_graph_of_a_file_whose_edges_are_not_all_significant_says_so(self):
        for q, says in (0.5, True), (0.02, False):
            write("tested.graphml", TESTED.format(q))
            self.assertEqual("edges that chance explains among them" in self.synfire("bfs", "tested.graphml", "--source", "a").stdout, says)

    def test_vertices_that_are_not_there_are_refused(self):
        write("none.mtx", PATTERN + "0 0 0\n")
        for sentence, graph, *sources in (("--source: no vertex is named '2'; the vertex with that index is written #2", "named.graphml", 2),
                                          ("there are 3 vertices, #0 to #2", "named.graphml", "#3"),
                                          ("there are 34 vertices, #0 to #33", KARATE, 34),
                                          ("'b' cannot be a name: the vertices have none; write #2 for index 2", "path.el", "b"),
                                          ("no vertex has index #9", "path.el", 0, 9), ("no vertex has index #0: there are none", "none.mtx", 0)):
            with self.subTest(sentence=sentence):
                self.refuses(64, sentence, "bfs", graph, *(word for source in sources for word in ("--source", source)))

    def test_files_and_options_that_do_not_go_are_refused(self):
        self.refuses(66, "no-such", "bfs", "no-such.mtx", "--source", 0)
        self.refuses(73, "no/such", "bfs", KARATE, "--source", 0, "--out", "no/such/file")
        for sentence, *words in (("source", KARATE), ("excludes", KARATE, "--source", 0, "--directed", "--undirected"),
                                 ("both", KARATE, *KRONECKER[1:], "--source", 5), ("neither", "--source", 5),
                                 ("--out: goes with one --source", "path.el", "--source", 0, "--source", 1, "--out", "many.txt"),
                                 ("SCALE:EDGEFACTOR:SEED", "--kronecker", 12, "--source", 5),
                                 ("has the chances '0.5,0.3,0.2'", "--kronecker", "8:8:1:0.5,0.3,0.2", "--source", 5)):
            with self.subTest(sentence=sentence):
                self.refuses(64, sentence, "bfs", *words)


class Generated(Test):
    @classmethod
    def prepare(cls):
        cls.found = cls.parsed(*KRONECKER, "--source", 6)

    def test_the_graph_and_its_levels_are_the_same_whichever_way_it_is_searched(self):
        self.assertGreater(self.found["reached"], 2000)
        for how in ("--direction", "auto"), ("--direction", "top-down"), ("--direction", "bottom-up"), ("--threads", 2, "--device", "cpu"):
            with self.subTest(how=how):
                self.assertEqual(without_times(self.parsed(*KRONECKER, "--source", 6, *how)), without_times(self.found))

    def test_the_techniques_of_the_paper_are_a_gpus(self):
        searched = (*KRONECKER, "--source", 6)
        self.refuses(64, "--features: goes with a GPU, as --device cuda", *searched, "--device", "cpu", "--features", "ts")
        done = self.run_command(*searched, "--features", "ts,wb", "--json")
        if done.returncode == 0:
            self.assertEqual({**without_times(command.schema.parse(done.stdout)), "device": "cpu"}, without_times(self.found))
        else:
            self.refuses(69, "--features: needs a GPU: ", *searched, "--features", "ts,wb", "--json")
            self.assertEqual(command.schema.parse(done.stdout)["error"]["place"], "--features")

    def test_several_sources_each_find_what_they_find_alone(self):
        many = self.parsed(*KRONECKER, "--source", 6, "--source", "#7", "--source", 6)
        alone = [self.found, self.parsed(*KRONECKER, "--source", 7), self.found]
        self.assertEqual([search["source"] for search in many["searches"]], [6, 7, 6])
        self.assertEqual(many["edges"], self.found["edges"])
        self.assertEqual(many["searches"], [search for one in alone for search in one["searches"]])

    def test_words_that_no_option_has_are_refused(self):
        for sentence, *words in (("found 'hx', expected one of ts, wb, hc, gamma, none", "--features", "ts,hx"),
                                 ("expected auto, cpu, cuda", "--device", "gpu"), ("sideways", "--direction", "sideways")):
            with self.subTest(sentence=sentence):
                self.refuses(64, sentence, *KRONECKER, "--source", 5, *words)


class Paths(Test):
    """The path to what is asked for, of a graph of any size; why there is none otherwise."""

    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "chain.h5", "--preset", "sym26", "--quiet")
        cls.reach = ("reach", "chain.h5", "--delay", "4:6", "--min-count", 100)

    def test_of_a_recording_they_have_names_and_delays(self):
        said = self.synfire(*self.reach, "--source", "D", "--target", "G", "--target", "A").stdout.splitlines()
        self.assertIn("D -> E -> F -> G: 3 hops, after (12,18] ms", said)
        self.assertIn("no path leads to A", said)

    def test_csv_has_a_row_for_each_vertex_on_the_way(self):
        rows = self.rows(*self.reach, "--source", "D", "--source", "F", "--target", "G")
        self.assertEqual(" ".join(",".join(row[key] for key in ("source_name", "name", "parent_name")) for row in rows),
                         "D,D, D,E,D D,F,E D,G,F F,F, F,G,F")

    def test_a_target_that_is_not_there_is_refused(self):
        self.refuses(64, "--target: no unit is named 'Ä'", *self.reach, "--source", "D", "--target", "Ä")

    def test_a_large_graph_has_those_that_are_asked_for(self):
        found = self.document("bfs", "--kronecker", "14:16:1", "--source", "#6", "--target", "#2", "--target", "#6")
        search, = found["searches"]
        to_2, to_6 = search["paths"]
        self.assertGreater(found["vertices"], 10000)
        self.assertIsNone(search["no_paths"])
        self.assertEqual((to_2["vertex"], to_2["path"][0], to_2["path"][-1], len(to_2["path"])), (2, 6, 2, to_2["level"] + 1))
        self.assertEqual((to_6["vertex"], to_6["path"], to_6["level"]), (6, [6], 0))
        search, = self.document("bfs", "--kronecker", "14:16:1", "--source", "#6")["searches"]
        self.assertIsNone(search["paths"])
        self.assertIn("--target", search["no_paths"])


class Benchmarks(Test):
    def bench(self, *words):
        return self.document("bench", "bfs", *words)

    def test_every_way_to_search_has_its_row(self):
        rows = self.bench("--kronecker", "8:8:1", "--threads", 2)
        self.assertEqual([row["search"] for row in rows], ["queue", "top-down", "bottom-up", *["auto", "auto, sorted lists"] * 2])
        for row in rows:
            self.assertEqual((row["bench"], row["device"], bool(row["machine"])), ("bfs", "cpu", True))
            self.assertTrue(0 < row["graph500_teps"] < row["teps"], row)  # a drawn edge counts once, one of the graph twice

    def test_a_graph_of_a_file_is_counted_as_graph500_does(self):
        # 5 edges of the component with a loop and two repeats, of which 2 are left, 4 with a direction.
        component = "0 1\n1 0\n0 1\n1 1\n1 2\n"
        write("listed.el", component)
        rows = self.bench("--graph", "listed.el", "--threads", 1)
        self.assertTrue(rows)
        for row in rows:
            self.assert_near(row["graph500_teps"] / row["teps"], 5 / 4)
            # All sources reach the same edges: the median of their rates is that of their times.
            self.assert_near(row["median_teps"] * row["median_ms"] * 1e-3, 4)
        write("listed.el", component + "5 6\n")  # another component
        for row in self.bench("--graph", "listed.el", "--threads", 1):
            self.assertEqual((row["vertices"], row["edges"], row["teps"] > 0), (7, 6, True))

    def test_scaling_is_strong_and_weak(self):
        rows = self.bench("scaling", "--kronecker", "9:8:1", "--threads", 2)
        self.assertEqual([(row["scaling"], row["threads"], row["vertices"]) for row in rows],
                         [("strong", 1, 512), ("strong", 2, 512), ("weak", 1, 512), ("weak", 2, 1024)])
        for row in rows:
            self.assertAlmostEqual(row["speedup"] / row["threads"], row["efficiency"], delta=1e-9)
            self.assertGreater(row["teps"], 0)
        self.assertEqual((rows[0]["speedup"], rows[2]["speedup"]), (1, 1))

    def test_levels_are_those_of_each_search(self):
        rows = self.bench("--kronecker", "8:8:1", "--threads", 2, "--levels")
        starts = [i for i, row in enumerate(rows) if row["level"] == 0]
        self.assertEqual(len(starts), 6)
        for first, last in zip(starts, [*starts[1:], len(rows)]):
            levels = rows[first:last]
            self.assertEqual([row["level"] for row in levels], list(range(len(levels))))
            self.assertEqual((levels[0]["found"], levels[0]["direction"]), (1, "top-down"))
            self.assertLessEqual(sum(row["us"] for row in levels), levels[0]["search_us"])
            self.assertLessEqual({row["direction"] for row in levels[1:]}, {"top-down", "bottom-up"})

    def test_what_does_not_go_is_refused(self):
        for sentence, *words in (("with chances 20:16:1:0.45,0.15,0.15", "--kronecker", 8), ("bfs has no part 'gamma'; it has: ways, rules, scaling", "gamma"),
                                 ("graph: does not go with --kronecker", "--graph", KARATE, "--kronecker", "8:8:1"),
                                 ("device: goes with the part ways: rules is the CPU's", "rules", "--device", "cuda:all")):
            with self.subTest(sentence=sentence):
                self.refuses(64, sentence, "bench", "bfs", *words)


class Rules(Test):
    """What rules of switching read, beside the same counted here from the definition, source by source."""

    @classmethod
    def prepare(cls):
        dice, vertices, hubs = random.Random(7), 1400, 40
        edges = [(dice.randrange(vertices), dice.randrange(vertices)) for _ in range(1500)]
        edges += [(dice.randrange(hubs), dice.randrange(vertices)) for _ in range(1500)]
        write("rules.el", "".join(f"{a} {b}\n" for a, b in edges))
        around = collections.defaultdict(set)
        for a, b in edges:
            if a != b:
                around[a].add(b)
                around[b].add(a)
        cls.around = {v: sorted(around[v]) for v in range(1 + max(around))}
        cls.total = sum(map(len, around.values()))
        tau = sorted(map(len, cls.around.values()), reverse=True)[1024]
        cls.hubs = {v for v, others in cls.around.items() if len(others) > tau}

    def search(self, source):
        """The level of every vertex that is reached."""
        levels, frontier = {source: 0}, [source]
        while frontier:
            found = []
            for v in frontier:
                for w in self.around[v]:
                    if w not in levels:
                        levels[w] = levels[v] + 1
                        found.append(w)
            frontier = found
        return levels

    def bottom_up(self, levels, level):
        """How many neighbours it looks at from this level on, and how many of its vertices a hub ends."""
        reads = saved = 0
        for v, others in self.around.items():
            if levels.get(v, level + 1) > level:
                parent = next((i for i, w in enumerate(others) if levels.get(w) == level), None)
                reads += len(others) if parent is None else parent + 1
                saved += parent is not None and others[parent] in self.hubs
        return reads, saved

    def costs(self, levels):
        """What is read, bottom up of it, and what hubs save, by the level of the switch."""
        depth = max(levels.values())
        down = [sum(len(self.around[v]) for v in levels if levels[v] == level) for level in range(depth + 1)]
        up = [self.bottom_up(levels, level) for level in range(depth + 1)]
        return [(sum(down[:switch]) + sum(reads for reads, _ in up[switch:]), sum(reads for reads, _ in up[switch:]),
                 sum(saved for _, saved in up[switch:])) for switch in range(depth + 2)]

    def test_each_rule_reads_what_its_definition_says(self):
        seen = {}
        for row in self.document("bench", "bfs", "rules", "--graph", "rules.el", "--levels"):
            if row["source"] not in seen:
                levels = self.search(row["source"])
                seen[row["source"]] = levels, self.costs(levels)
            levels, costs = seen[row["source"]]
            never = len(costs) - 1
            at = [[v for v in levels if levels[v] == level] for level in range(never)]
            hubs = [len(self.hubs & set(level)) for level in at]
            edges = [sum(len(self.around[v]) for v in level) for level in at]
            if row["rule"] == "the best level":
                self.assertEqual(row["reads"], min(reads for reads, *_ in costs))
                continue
            switch = never
            if row["rule"].startswith("gamma"):
                switch = next((i for i in range(never) if 10 * hubs[i] > 3 * len(self.hubs)), never)
                self.assertAlmostEqual(row["gamma_most"], max(hubs) / len(self.hubs), delta=1e-9)
            elif row["rule"].startswith("alpha"):
                switch = next((i for i in range(never) if edges[i] > (self.total - sum(edges[:i])) // 14), never)
            self.assertEqual((row["switch_level"], row["reads"], row["bottom_up_reads"], row["hub_saved"]), (switch, *costs[switch]), row)
        self.assertGreater(len(seen), 30)

    def test_of_all_sources_together_each_rule_is_held_against_the_best(self):
        rows = self.document("bench", "bfs", "rules", "--graph", "rules.el")
        self.assertEqual([row["rule"] for row in rows], ["gamma over 30 %", "alpha 14", "the best level", "never"])
        for row in rows:
            self.assertGreaterEqual(row["over_best"], 1)
            self.assertEqual((row["hubs"], row["edges"]), (len(self.hubs), self.total))
            self.assertEqual(row["rule"] == "never", row["switched"] == 0)


if __name__ == "__main__":
    command.main()
