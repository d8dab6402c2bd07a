# SPDX-License-Identifier: Apache-2.0
"""What mine writes is given to count, graph and run: by the names of units, which another recording has in another order;
without names by indices that are checked. What is wrong has its place."""
import json
import pathlib

import command

TESTED = ("--significance", "segment-shift", "--surrogates", 99)


def write(path, document):
    pathlib.Path(path).write_text(document if isinstance(document, str) else json.dumps(document))


def counts(document):
    """By names and delays, in the order of the file."""
    return [(e["names"], e["delays_ms"], e["count"]) for e in document["episodes"]]


def ends(edges):
    return [[e["from_name"], e["to_name"]] for e in edges["edge_detail"]]


class OfMine(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--preset", "sym26", "--seed", 5)
        cls.mined = cls.document("mine", "sim.h5", "--delay", "4:6,6:9", "--min-count", 60, "--max-size", 3)
        write("mined.json", cls.mined)

    def count(self, path):
        return command.without_times(self.document("count", "sim.h5", "--episodes", path))


class Counted(OfMine):
    @classmethod
    def prepare(cls):
        super().prepare()
        cls.counted = cls.document("count", "sim.h5", "--episodes", "mined.json")
        write("counted.json", cls.counted)
        cls.counted = command.without_times(cls.counted)
        cls.mirrored = [{**e, "units": [25 - unit for unit in e["units"]]} for e in cls.mined["episodes"]]

    def test_counts_are_those_that_were_mined(self):
        self.assertEqual(counts(self.counted), counts(self.mined))
        self.assertGreater(len(self.mined["episodes"]), 100)

    def test_a_document_may_have_many_lines_and_be_of_count(self):
        write("pretty.json", json.dumps(self.mined, indent=2))
        self.assertEqual(self.count("pretty.json"), self.counted)
        self.assertEqual(self.count("counted.json"), self.counted)

    def test_names_find_units_that_have_other_indices(self):
        write("elsewhere.json", {**self.mined, "episodes": self.mirrored})
        self.assertEqual(self.count("elsewhere.json"), self.counted)

    def test_without_names_units_are_those_of_the_indices(self):
        write("indices.json", {**self.mined, "episodes": [{**e, "names": None} for e in self.mirrored]})
        self.assertEqual([e["units"] for e in self.count("indices.json")["episodes"]], [e["units"] for e in self.mirrored])

    def test_what_is_wrong_has_its_place(self):
        def pair(**others):
            return {"episodes": [{"units": [0, 1], "delays_ms": [[0, 5]], **others}]}

        for sentence, document in (
                ("wrong.json: episodes[1]: column 1: no unit is named 'nobody'",
                 {"episodes": [{"units": [0], "names": ["A"]}, {"units": [1], "names": ["nobody"], "delays_ms": []}]}),
                ('wrong.json: episodes[0]: expected "delays_ms" to be an array of 1 pairs',
                 {"episodes": [{"units": [0, 1], "names": ["A", "B"]}]}),
                ('expected "names" to be the names of the 2 units', pair(names=["A"])),
                ('expected "names" to be the names of the 2 units', pair(names=["A", "B", "C"])),
                ('wrong.json:1: expected "names" to be the names', {"units": [0, 1], "names": ["A", 7], "delays_ms": [[0, 5]]}),
                ("no unit has index #26", {"episodes": [{"units": [26], "delays_ms": []}]}),
                ('expected "units" to be an array', {"episodes": [{"names": ["A"]}]}),
                ("delay interval is empty", pair(delays_ms=[[5, 5]])),
                ("holds no episode", {"episodes": []}),
                ("wrong.json:1: column", '{"episodes": [{"units": [0]}')):
            with self.subTest(document=document):
                write("wrong.json", document)
                self.refuses(65, sentence, "count", "sim.h5", "--episodes", "wrong.json")


class Graphs(OfMine):
    """A graph of the links of episodes, each once."""

    @classmethod
    def prepare(cls):
        super().prepare()
        cls.synfire("simulate", "linked.h5", "--unit-count", 8, "--rate", 10, "--duration", 120, "--chain", "A -(4,6]-> B -(4,6]-> C",
                    "--chain-rate", 2)
        write("chains.txt", "A -(4,6]-> B -(4,6]-> C\nD -(4,6]-> E\n")
        write("links.txt", "A -(4,6]-> B\nB -(4,6]-> C\nD -(4,6]-> E\n")

    def test_its_edges_are_the_links_with_the_counts_that_they_have(self):
        graph, episodes = self.document("graph", "sim.h5", "--episodes", "mined.json"), self.mined["episodes"]
        links = {(u, v, *delay) for e in episodes for u, v, delay in zip(e["units"], e["units"][1:], e["delays_ms"])}
        found = {(e["from"], e["to"], *e["delay_ms"]): e["count"] for e in graph["edge_detail"]}
        self.assertEqual((set(found), graph["edges"]), (links, len(links)))
        self.assertGreater(len(links), 100)
        pairs = {(*e["units"], *e["delays_ms"][0]): e["count"] for e in episodes if len(e["units"]) == 2}
        self.assertEqual({link: found[link] for link in pairs}, pairs)

    def test_an_episode_may_be_given_as_words(self):
        self.assertEqual(ends(self.document("graph", "sim.h5", "--episodes", "A -(4,6]-> B -(4,6]-> C")), [["A", "B"], ["B", "C"]])

    def test_given_links_are_tested_as_count_tests_them(self):
        graph = self.document("graph", "linked.h5", "--episodes", "chains.txt", *TESTED)
        count = self.document("count", "linked.h5", "--episodes", "links.txt", *TESTED)
        self.assertEqual(graph["edges_tested"], "tested")
        self.assertEqual(ends(graph), [e["names"] for e in count["episodes"]])
        for field in "count", "expected", "p", "q":
            self.assertEqual([e[field] for e in graph["edge_detail"]], [e[field] for e in count["episodes"]], field)

    def test_only_those_that_stand_may_be_kept(self):
        kept = self.document("graph", "linked.h5", "--episodes", "chains.txt", *TESTED, "--max-q", 0.05)
        self.assertEqual((kept["edges_tested"], kept["edges_found"], ends(kept)), ("significant", 3, [["A", "B"], ["B", "C"]]))

    def test_a_table_says_that_they_are_not_tested(self):
        self.assertRegex(self.synfire("graph", "linked.h5", "--episodes", "links.txt").stdout, "(?m)^NOT TESTED")

    def test_options_of_graphs_that_are_looked_for_do_not_go_with_them(self):
        self.refuses(64, "--surrogates: goes with", "graph", "linked.h5", "--episodes", "links.txt", "--surrogates", 99)
        self.refuses(64, "--min-count: is for edges that are looked for", "graph", "sim.h5", "--episodes", "mined.json", "--min-count", 3)
        self.refuses(64, "--episodes: goes with --metric episodes", "graph", "sim.h5", "--episodes", "mined.json", "--metric", "sttc")

    def test_the_file_is_not_written_over(self):
        self.refuses(64, "would write over the input", "graph", "sim.h5", "--episodes", "mined.json", "--out", "mined.json")


class Runs(OfMine):
    """A run watches them, and a configuration names the file among others."""

    @classmethod
    def prepare(cls):
        super().prepare()
        cls.few = [e for e in cls.mined["episodes"] if len(e["units"]) == 3][:4]
        write("few.json", {**cls.mined, "episodes": cls.few})
        write("watch.yaml", 'watch: ["D -(4,6]-> E", "@few.json", "#0"]\ntrack: ["@few.json"]\n')

    def watched(self, *words):
        """How many are watched, and those that triggers tell of."""
        settings = ("device=cpu", "mine.every=0", "graph.enabled=false", "sinks.0.type=jsonl", "sinks.0.policy=block",
                    "sinks.0.path=told.jsonl", "sinks.0.overwrite=true")
        self.synfire("run", *words, "--replay", "sim.h5", "--speed", "max", *(word for key in settings for word in ("--set", key)))
        return (max(message["watched"] for message in command.messages_of("told.jsonl", "status")),
                {message["id"] for message in command.messages_of("told.jsonl", "trigger")})

    def test_a_run_watches_those_of_a_file(self):
        self.assertEqual(self.watched("--episodes", "few.json"), (4, {e["id"] for e in self.few}))

    def test_a_configuration_names_files_among_others(self):
        self.assertEqual(self.watched("watch.yaml")[0], 6)

    def test_those_given_are_watched_beside_those_of_the_configuration(self):
        self.assertEqual(self.watched("watch.yaml", "--episodes", "E -(4,6]-> F")[0], 7)

    def test_a_configuration_that_is_shown_has_the_episodes_for_the_file(self):
        shown = self.synfire("run", "watch.yaml", "--check", "--replay", "sim.h5").stdout
        self.assertNotIn("@", shown)
        self.assertEqual(shown.count("-> "), 1 + 2 * 4 * 2)

    def test_a_file_that_is_absent_is_told_with_the_place_that_names_it(self):
        self.refuses(66, "absent.json", "run", "--replay", "sim.h5", "--episodes", "absent.json")
        write("absent.yaml", 'watch: ["@absent.json"]\n')
        self.refuses(78, "absent.yaml:1:9: watch.0: absent.json: ", "run", "absent.yaml", "--replay", "sim.h5")


if __name__ == "__main__":
    command.main()
