# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C keeps what is done, and every form of a result says that it is cut."""
import csv
import pathlib

import command
import interrupt
import schema

SEARCH = ("mine", "busy.h5", "--delay", "1:100", "--min-count", 40, "--max-size", 12)
SEARCHING = r"\] +[0-9.e-]*[1-9][0-9.e-]* %.* left"  # so early a bar says how far it is, and that it will take long
FOREVER = ("--significance", "segment-shift", "--surrogates", 10**6)
SHIFTING = r"shifting trains \["


class Stop(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "busy.h5", "--unit-count", 30, "--rate", 40, "--duration", 60, "--seed", 3)

    def stopped(self, bar, *words):
        """What a command printed, and said, that got SIGINT when its bar said this."""
        done = interrupt.interrupt(bar, *words)
        self.assertEqual(done.returncode, 130, done.stderr)
        return done.stdout, done.stderr

    def part(self, bar, *words):
        """Its document, and what it said."""
        out, said = self.stopped(bar, *words, "--json")
        return schema.held(schema.parse(out)), said


class Mining(Stop):
    @classmethod
    def prepare(cls):
        super().prepare()
        cls.short = ("mine", "busy.h5", "--delay", "4:6", "--min-count", 20, "--max-size", 2)

    def test_a_search_keeps_the_levels_that_are_complete(self):
        out, said = self.part(SEARCHING, *SEARCH, "--top", 50)
        self.assertRegex(said, "(?m)^synfire: mine: stopped: of more than [12] units? these are not all episodes, and none is tested")
        self.assertEqual(out["stopped"], "searching")
        sizes = [level["size"] for level in out["levels"] if level["complete"]]
        self.assertEqual(sizes, list(range(1, len(sizes) + 1)))
        self.assertLess(len(sizes), 12)
        self.assertEqual({level["candidates"] for level in out["levels"][len(sizes) + 1:]} - {None}, set())
        self.assertIn("the search was stopped", out["methods"])

    def test_csv_says_so_before_its_head(self):
        first, second = self.stopped(SEARCHING, *SEARCH, "--top", 50, "--csv")[0].splitlines()[:2]
        self.assertRegex(first, "^# stopped: of more than")
        self.assertRegex(second, "^id,")

    def test_a_table_says_so_and_a_file_is_not_written(self):
        out, said = self.stopped(SEARCHING, *SEARCH, "--occurrences", "o.h5")
        self.assertRegex(out, "(?m)^stopped: of more than")
        self.assertIn("o.h5 is not written: stopped before", said)
        self.assertFalse(pathlib.Path("o.h5").exists())

    def test_a_test_that_is_stopped_leaves_all_episodes_untested(self):
        whole = self.document(*self.short)
        out, said = self.part(SHIFTING, *self.short, *FOREVER)
        self.assertIn("synfire: mine: stopped: all episodes are here, and none is tested", said)
        self.assertEqual((out["stopped"], whole["stopped"]), ("testing", None))
        self.assertEqual(sorted((e["id"], e["count"]) for e in out["episodes"]), sorted((e["id"], e["count"]) for e in whole["episodes"]))
        self.assertEqual({(e["p"], e["q"]) for e in out["episodes"]}, {(None, None)})
        self.assertTrue(all(level["complete"] for level in out["levels"]))


class Counting(Stop):
    def test_windows_are_those_until_then(self):
        out, _ = self.part(r"counting windows \[.* [1-9][0-9]? %", "count", "busy.h5", "--episodes",
                           "#0 -(1,50]-> #1 -(1,50]-> #2 -(1,50]-> #3", "--window", 30, "--hop", 0.0001)
        self.assertEqual(out["stopped"], "telling")
        self.assertGreater(out["episodes"][0]["count"], 0)
        self.assertTrue(0 < len(out["windows"]) < 300000, len(out["windows"]))
        self.assertFalse(any(window["partial"] for window in out["windows"]))

    def test_a_test_that_is_stopped_leaves_the_count(self):
        out, _ = self.part(SHIFTING, "count", "busy.h5", "--episodes", "#0 -(4,6]-> #1", *FOREVER)
        self.assertEqual((out["stopped"], out["episodes"][0]["q"]), ("testing", None))
        self.assertGreater(out["episodes"][0]["count"], 0)

    def test_rules_are_held_against_the_shifts_there_were(self):
        pathlib.Path("labels.txt").write_text("".join(f"{2 * i},{2 * i + 2},{i % 2}\n" for i in range(30)))
        # There are no more shifts than windows: as many as take no machine less than the second after which a bar is drawn.
        out, _ = self.part(r"shifts \[", "rules", "busy.h5", "--labels", "labels.txt", "--window", 0.003, "--threads", 1, "--delay", "4:6",
                           "--min-count", 20, "--max-size", 2, "--shifts", 10**6, "--rule", "rule.json")
        self.assertFalse(pathlib.Path("rule.json").exists())
        self.assertEqual(out["stopped"], "testing")
        self.assertLess(out["chance"]["shifts"], 10**6)
        self.assertGreater(out["accuracy"], 0)


class Graphs(Stop):
    @classmethod
    def prepare(cls):
        super().prepare()
        cls.words = ("graph", "busy.h5", "--delay", "4:6", "--min-count", 20)
        cls.whole = cls.document(*cls.words, "--out", "whole.graphml")

    def test_a_test_that_is_stopped_leaves_all_edges_untested_and_no_file(self):
        out, said = self.part(SHIFTING, *self.words, *FOREVER, "--max-q", 0.05, "--out", "g.graphml")
        self.assertIn("g.graphml is not written: stopped before", said)
        self.assertIn("synfire: graph: stopped: all edges are here, and none is tested", said)
        self.assertFalse(pathlib.Path("g.graphml").exists())
        self.assertEqual((out["stopped"], self.whole["stopped"], out["edges_tested"]), ("testing", None, "untested"))
        self.assertEqual([(e["from"], e["to"], e["count"], e["q"]) for e in out["edge_detail"]],
                         [(e["from"], e["to"], e["count"], None) for e in self.whole["edge_detail"]])

    def test_a_table_says_how_many_surrogates_there_were(self):
        out, _ = self.stopped(r"surrogates \[", "graph", "busy.h5", "--metric", "sttc", "--surrogates", 10**6)
        self.assertRegex(out.splitlines()[1], "^stopped after [0-9]+ of 1000000 surrogates$")

    def test_of_searches_those_that_are_complete_are_kept_and_no_file(self):
        search = ("bfs", "--kronecker", "14:16:1", "--source", "#6")
        whole = self.document(*search)
        out, _ = self.part(r"searching \[", *search, "--repeat", 10**6, "--out", "levels")
        self.assertFalse(pathlib.Path("levels").exists())
        self.assertEqual((out["stopped"], whole["stopped"]), ("searching", None))
        self.assertEqual((out["level_sizes"], out["searches"][0]["no_paths"]), (whole["level_sizes"], whole["searches"][0]["no_paths"]))

    def test_matches_are_those_so_far(self):
        out, _ = self.part(r"matching \[", "match", "whole.graphml", "chain-8", "--limit", 10**14, "--count")
        self.assertEqual((out["stopped"], out["truncated"], out["rewired"]), ("searching", True, None))
        self.assertGreater(out["count"], 0)

    def test_csv_of_a_census_says_how_many_rewired_graphs_there_were(self):
        out, _ = self.stopped(r"rewired graphs \[", "match", "whole.graphml", "census", "--rewired", 10**6, "--csv")
        told, *rows = out.splitlines()
        self.assertRegex(told, "^# stopped after [0-9]+ of 1000000 rewired graphs$")
        self.assertTrue(list(csv.DictReader(rows)))

    def test_matches_are_beside_the_rewired_graphs_there_were(self):
        whole = self.document("match", "whole.graphml", "chain-3")
        out, _ = self.part(r"rewired graphs \[", "match", "whole.graphml", "chain-3", "--rewired", 10**6)
        self.assertEqual((out["stopped"], out["count"], out["embeddings"]), ("testing", whole["count"], whole["embeddings"]))
        self.assertTrue(0 < out["rewired"]["graphs"] < 10**6, out["rewired"])


if __name__ == "__main__":
    command.main()
