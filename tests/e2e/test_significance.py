# SPDX-License-Identifier: Apache-2.0
"""Verdicts of mine, count and graph: p and q by surrogates, who is given none, and what is said of it."""
import collections
import math
import pathlib
import random
import re

import command

ARRAY = ("demo.h5", "--delay", "4:6", "--min-count", 60)
SHIFTS = ("--significance", "segment-shift")
FEW = (*SHIFTS, "--surrogates", 20)
SURROGATES = 100
TESTED = (*ARRAY, *SHIFTS, "--surrogates", SURROGATES, "--seed", 5)
NAMED = ("count", "demo.h5", "--episodes", "named.txt")
BURSTS = ("simulate", "bursts.h5", "--unit-count", 24, "--rate", 4, "--duration", 300, "--burst-rate", 0.1, "--burst-spikes", 5,
          "--seed", 31, "--burst-sigma")
CHAINS = ("ABC", "DEFGHIJK")
UNTESTED = "NOT TESTED: `expected` is by rates, and ranks. Add --significance segment-shift --max-q 0.05"
WAVE = "recordings/Wong1993_P0.h5"


def write(path, lines):
    pathlib.Path(path).write_text("".join(f"{line}\n" for line in lines))


def in_order(names):
    """Whether they are consecutive in a planted chain."""
    return any("".join(names) in chain for chain in CHAINS)


def returns(episode):
    return len(set(episode["units"])) < len(episode["units"])


def standing(episodes, q=0.05):
    return [e for e in episodes if e["q"] is not None and e["q"] < q]


def doubtful(table):
    """The lines of its section of what is doubtful."""
    return table.partition("\nDoubtful\n")[2].partition("\n\n")[0].splitlines()


class OfTheDemo(command.Test):
    """A minute with two planted chains."""

    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "demo.h5", "--preset", "sym26")


class Mined(OfTheDemo):
    @classmethod
    def prepare(cls):
        super().prepare()
        cls.untested = cls.document("mine", *ARRAY)["episodes"]
        cls.all = cls.document("mine", *TESTED, "--device", "cpu", "--threads", 1)
        cls.episodes = cls.all["episodes"]
        cls.tested = [e for e in cls.episodes if e["not_tested"] is None]

    def test_threads_change_nothing(self):
        found = self.document("mine", *TESTED, "--device", "cpu", "--threads", 2)
        self.assertEqual(command.without_times(found), command.without_times(self.all))

    def test_planted_chains_stand_out_and_their_by_products_do_not(self):
        linked = standing(self.episodes)
        planted = [e for e in self.episodes if in_order(e["names"])]
        self.assertEqual(len(planted), 21)  # with all their parts of up to four units
        self.assertEqual([e for e in planted if e not in linked], [])
        self.assertLessEqual(len(linked), len(planted) + 1)

    def test_what_is_expected_given_the_rest_keeps_the_other_links(self):
        chain, = (e for e in self.episodes if e["names"] == list("ABC"))
        self.assertLess(chain["expected"], 3)
        self.assertGreater(chain["expected_given_rest"], 20)  # which keeps A -> B

    def test_a_test_leaves_what_is_expected_by_rates_as_it_was(self):
        for before, after in zip(self.untested, self.episodes, strict=True):
            for key in "id", "count", "expected", "ratio_interval":
                self.assertEqual(before[key], after[key])

    def test_reverses_of_links_have_no_p_and_q(self):
        left_out = [e for e in self.episodes if e not in self.tested]
        self.assertEqual({e["not_tested"] for e in left_out}, {"reverse of a link"})
        self.assertTrue(all(in_order(e["names"][::-1]) for e in left_out))
        for e in left_out:
            self.assertEqual([e[key] for key in ("p", "q", "p_first", "p_last", "expected_given_rest")], [None] * 5)

    def test_nor_have_chains_of_such_links_and_those_that_return(self):
        out = self.document("mine", "demo.h5", "--units", "A,B,C,D,E,F", "--delay", "4:6", "--min-count", 3, "--max-size", 3, *FEW)["episodes"]
        of = collections.defaultdict(list)
        for e in out:
            of[e["not_tested"]].append(e)
            self.assertEqual({e[key] is None for key in ("p", "q", "p_last", "expected_given_rest")}, {e["not_tested"] is not None})
        self.assertEqual(set(of), {None, "a unit returns", "reverse of a link", "a link cannot be tested"})
        self.assertEqual(of["a unit returns"], [e for e in out if returns(e)])
        self.assertEqual({"".join(e["names"]) for e in of["reverse of a link"]}, {"BA", "CB", "ED", "FE"})
        for e in of["a link cannot be tested"]:
            self.assertTrue(any(in_order((b, a)) for a, b in zip(e["names"], e["names"][1:])), e["names"])
            self.assertIsNone(e["p_links"])

    def test_p_is_the_worst_of_what_it_is_made_of(self):
        for e in self.tested:
            self.assertTrue(1 / (SURROGATES + 1) - 1e-9 <= e["p"] <= e["q"] <= 1, e)
            self.assertEqual(e["p"], max(e["p_last"], e["p_first"] or 0, e["p_links"] or 0))
            self.assertEqual([e["p_first"] is None, e["p_links"] is None], [len(e["units"]) == 2] * 2)
            self.assertIsNotNone(e["expected_given_rest"])
            self.assertTrue(0 < e["strength"] < 1, e)

    def test_a_chain_is_as_good_as_the_worst_of_its_links(self):
        pairs = {tuple(e["units"]): e for e in self.episodes if len(e["units"]) == 2}
        chains = [e for e in self.tested if len(e["units"]) > 2]
        self.assertGreater(len(chains), 10)
        for e in chains:
            links = [pairs[link] for link in zip(e["units"], e["units"][1:])]
            self.assertEqual(e["p_links"], max(link["p"] for link in links))
            self.assertGreaterEqual(e["q"], max(link["q"] for link in links))

    def test_the_sentence_for_a_paper_says_how(self):
        for words in ("synfire", "(4,6] ms", "count of 60", "26 units", f"{SURROGATES} surrogates", "seed 5", "18 ms either way", "blurs",
                      "1 s", "data "):
            self.assertIn(words, self.all["methods"])
        self.assertRegex(self.all["methods"], r"\A.*\.\Z")  # of one line

    def test_pairs_of_the_graph_have_the_same(self):
        edges = self.document("graph", *TESTED)["edge_detail"]
        pairs = {tuple(e["units"]): e for e in self.episodes if len(e["units"]) == 2}
        self.assertEqual({(e["from"], e["to"]) for e in edges}, set(pairs))
        self.assertEqual(len(edges), len(pairs))
        for e in edges:
            for key in "p", "count", "expected", "expected_given_rest", "ratio_interval":
                self.assertEqual(e[key], pairs[e["from"], e["to"]][key], key)
            self.assertAlmostEqual(e["weight"], e["count"] - e["expected"], delta=1e-6 * e["count"])

    def test_the_false_discovery_rate_may_be_held_instead(self):
        out = self.document("mine", *TESTED, "--fdr", "--device", "cpu")
        self.assertLess(min(e["q"] for e in out["episodes"] if e["q"] is not None), 1e-4)
        self.assertIn("Benjamini", out["methods"])
        how = out["significance"]
        self.assertTrue(0 < how.pop("low_share") < 0.1)
        self.assertEqual(how, {"kind": "segment-shift", "link": None, "surrogates": SURROGATES, "seed": 5, "width_ms": 18,
                               "segment_s": 1, "correction": "false-discovery rate", "splits": False, "not_tested": None, "sharpness": 0,
                               "blur_divisor": 54, "grouped_units": 0, "cautions": [], "device": "cpu", "device_note": None,
                               "power": [], "power_pairs": 0})  # which is of the maximum alone

    def test_the_analytic_test_has_none_of_what_surrogates_have(self):
        how = self.document("mine", *ARRAY, "--significance", "analytic")["significance"]
        self.assertEqual(how["kind"], "analytic")
        self.assertGreater(how["link"], 0)
        for key in "surrogates", "seed", "width_ms", "segment_s", "correction", "blur_divisor":
            self.assertIsNone(how[key], key)
        table = self.synfire("mine", *ARRAY, "--significance", "analytic").stdout
        self.assertRegex(table, "expected  *ratio  95 %  *p  q")
        self.assertIn("Sastry", table)

    def test_without_a_test_there_is_none_of_it(self):
        out = self.document("mine", *ARRAY)
        self.assertIsNone(out["significance"])
        self.assertTrue(all(e["p"] is e["q"] is e["not_tested"] is None for e in out["episodes"]))


class Listed(OfTheDemo):
    """What p and q leave, in which order, and how many are worth showing."""

    @classmethod
    def prepare(cls):
        super().prepare()
        cls.episodes = cls.document("mine", *TESTED)["episodes"]

    def kept(self, *words):
        return self.document("mine", *TESTED, *words)["episodes"]

    def within(self, p=math.inf, q=math.inf):
        return [e for e in self.episodes if e["p"] is not None and e["p"] <= p and e["q"] <= q]

    def test_p_and_q_are_held_to_what_is_asked(self):
        by_q, by_p, by_both = self.within(q=0.05), self.within(p=0.02), self.within(p=0.02, q=0.5)
        self.assertTrue(15 < len(by_q) <= len(by_both) < len(by_p) < len(self.episodes), (len(by_q), len(by_both), len(by_p)))
        self.assertEqual(self.kept("--max-q", 0.05), by_q)
        self.assertEqual(self.kept("--max-p", 0.02), by_p)
        self.assertEqual(self.kept("--max-p", 0.02, "--max-q", 0.5), by_both)

    def test_the_table_says_how_many_are_left(self):
        table = self.synfire("mine", *TESTED, "--max-q", 0.05).stdout
        self.assertIn("21 of 133 have p and q within --max-p and --max-q", table.splitlines())
        self.assertNotIn("NOT TESTED", table)

    def test_any_of_its_numbers_gives_the_order(self):
        def last(q):
            return math.inf if q is None else q

        keys = {"q": lambda e: (last(e["q"]), -e["ratio_interval"][0]), "ratio": lambda e: -e["ratio_interval"][0],
                "strength": lambda e: -e["strength"], "count": lambda e: -e["count"]}
        listed = {word: self.kept("--sort", word) for word in keys}
        for word, key in keys.items():
            ranks = [(len(e["units"]), key(e)) for e in listed[word]]  # printed numbers may tie
            with self.subTest(word=word):
                self.assertEqual(ranks, sorted(ranks))
                self.assertEqual({e["id"] for e in listed[word]}, {e["id"] for e in self.episodes})
        self.assertEqual(listed["count"], self.episodes)
        self.assertNotEqual(listed["ratio"], listed["count"])

    def test_the_interval_of_a_ratio_is_that_of_its_count(self):
        for e in self.episodes:
            low, high = (e["expected"] * end for end in e["ratio_interval"])
            self.assertTrue(low < e["count"] < high, e)
            self.assertAlmostEqual((high - low) / 2 / 1.96, math.sqrt(e["count"]), delta=1)

    def test_the_verdict_asks_for_ten_bursts_or_epochs_where_there_are_any(self):
        write("parts.csv", ["start,stop,label", *(f"{start},{start + 5},part" for start in range(0, 60, 5))])
        write("few.csv", ["start,stop,label", "0,20,rest", "20,35.5,light", "40,60,rest"])
        for epochs in (), ("--epochs", "parts.csv"), ("--epochs", "few.csv"):
            words = ("mine", *TESTED, "--max-size", 3, "--top", 15, "--sort", "q", *epochs)
            out = self.document(*words)
            line, = re.findall("(?m)^.*units over 0.1 Hz(.*)$", self.synfire(*words).stdout)
            worth = [e for e in standing(out["episodes"]) if e["count"] >= 20]
            wide = sum(max(e["bursts"], e["epochs"] or 0) >= 10 for e in worth)
            with self.subTest(epochs=epochs):
                self.assertEqual(out["bursts"], 0)
                self.assertGreater(len(worth), 3)
                self.assertEqual(wide > 3, epochs == ("--epochs", "parts.csv"))
                self.assertEqual(line, f"; of the {len(worth)} of them among the {len(out['episodes'])} shown, {wide} are in 10 bursts or "
                                       "epochs or more" if epochs else "")

    def test_a_table_has_what_is_worth_showing_beside_the_highest_counts_which_wide_intervals_have(self):
        words = ("mine", "demo.h5", "--delay", "4:6,6:30", "--min-count", 20, "--max-size", 2, *SHIFTS, "--surrogates", 60, "--fdr",
                 "--sort", "count")
        worth = [(i, e) for i, e in enumerate(self.document(*words)["episodes"]) if e["count"] >= 20 and standing([e])]
        rows = [line.split() for line in self.synfire(*words).stdout.splitlines() if "]-> " in line]
        narrow = [e["names"] for _, e in worth if e["delays_ms"] == [[4, 6]]]
        self.assertTrue(5 < len(narrow) <= len(worth) <= 20, (len(narrow), len(worth)))
        self.assertEqual(len(rows), 20 + sum(i >= 20 for i, _ in worth))
        self.assertEqual([[first, last] for first, link, last, *_ in rows if link == "-(4,6]->"], narrow)

    def test_wrong_words_are_refused(self):
        self.refuses(64, "--max-q: goes with --significance", "mine", "demo.h5", "--max-q", 0.05)
        self.refuses(64, "--max-q: needs surrogates", "mine", "demo.h5", "--significance", "analytic", "--max-q", 0.05)
        self.refuses(64, "expected one of count, q, ratio, strength, standing", "mine", "demo.h5", "--sort", "size")


class Doubted(OfTheDemo):
    """What p, q and what is expected are not worth is said where they are."""

    @classmethod
    def prepare(cls):
        super().prepare()
        cls.synfire("simulate", "bursting.h5", "--unit-count", 12, "--rate", 2, "--duration", 120, "--burst-rate", 0.2, "--chain",
                    "A -(4,6]-> B", "--chain-rate", 1)
        write("link.txt", ["A -(4,6]-> B"])
        cls.of_bursts = (("mine", "bursting.h5", "--delay", "4:6", "--min-count", 60),
                         ("graph", "bursting.h5", "--delay", "4:6", "--min-count", 60),
                         ("count", "bursting.h5", "--episodes", "link.txt"))

    def test_p_alone_is_no_verdict_on_what_was_selected(self):
        told = self.synfire("mine", *TESTED, "--max-p", 0.05, "--json").stderr
        self.assertRegex(told, "--max-p goes by p, .* nor for the threshold .* a share of 0.05 or more passes. --max-q corrects")
        both = self.synfire("graph", *TESTED, "--max-p", 0.05, "--max-q", 0.5)
        self.assertNotIn("goes by p", both.stdout + both.stderr)
        told = " ".join(self.synfire("mine", "--help").stdout.split())
        self.assertIn("of unlinked pairs among it more than a share of P passes", told)

    def test_all_of_it_stands_below_the_table_once(self):
        done = self.synfire("mine", *ARRAY, "--significance", "jitter", "--surrogates", 20, "--max-p", 0.05, "--quiet")
        self.assertEqual(done.stderr, "")
        by_p, by_jitter, by_surrogates = doubtful(done.stdout)
        self.assertTrue(by_p.startswith("  --max-p goes by p"), by_p)
        self.assertTrue(by_jitter.startswith("  jitter takes bursts that units share for links"), by_jitter)
        self.assertTrue(by_surrogates.startswith("  with 20 surrogates no p or q is below 0.048"), by_surrogates)

    def test_jitter_and_few_surrogates_are_told_of_without_quiet_too(self):
        table = self.synfire("mine", *ARRAY, "--significance", "jitter", "--surrogates", 20).stdout
        self.assertIn("bursts that units share", table)
        self.assertIn("no p or q is below 0.048", table)

    def test_edges_by_few_surrogates_are_told_of(self):
        done = self.synfire("graph", *ARRAY, *FEW, "--quiet")
        self.assertEqual(done.stderr, "")
        self.assertTrue(doubtful(done.stdout)[0].startswith("  with 20 surrogates no p or q is below 0.048"), done.stdout)

    def test_analytic_p_of_wide_delays_mean_nothing(self):
        done = self.synfire("mine", "demo.h5", "--delay", "0:20", "--min-count", 60, "--max-size", 2, "--significance", "analytic",
                            "--quiet")
        self.assertEqual(done.stderr, "")
        self.assertIn("p means nothing", "\n".join(doubtful(done.stdout)))

    def test_what_is_not_tested_says_so_and_what_to_add(self):
        self.assertIn(UNTESTED, self.synfire("mine", *ARRAY).stdout)

    def test_bursts_make_more_than_constant_rates_give(self):
        bursts = "(?m)^NOT TESTED: the [0-9]+ bursts that units share here make nearly any count exceed what constant rates give"
        for words in self.of_bursts:
            with self.subTest(command=words[0]):
                self.assertRegex(self.synfire(*words).stdout, rf"{bursts}, and 95 % too narrow where they hold most spikes\. Add")
        reached = self.synfire("bfs", *self.of_bursts[0][1:], "--source", "A").stdout
        self.assertRegex(reached, rf"{bursts}\. Add")  # bfs has no such intervals

    def test_a_test_keeps_bursts_in_what_is_expected_given_the_rest_alone(self):
        for words in self.of_bursts:
            table = self.synfire(*words, *SHIFTS, "--surrogates", 100, "--quiet").stdout
            with self.subTest(command=words[0]):
                self.assertRegex(table, "(?m)^`expected` is by rates: the [0-9]+ bursts .* where they hold most spikes. "
                                        "`given rest` keeps them$")
                self.assertRegex(table, "given rest +p ")


class Named(OfTheDemo):
    """Chains that were named before are tested alone, and corrected for one another."""

    @classmethod
    def prepare(cls):
        super().prepare()
        write("named.txt", ["A -(4,6]-> B -(4,6]-> C", "A -(4,6]-> D", "C -(4,6]-> A", "A -(4,6]-> B -(4,6]-> A", "A -(4,6]-> G"])
        cls.out = cls.document(*NAMED, *SHIFTS)
        cls.chain, cls.none, cls.back, cls.returning, cls.lucky = cls.out["episodes"]

    def test_the_planted_chain_stands_and_the_others_do_not(self):
        self.assertLessEqual(self.chain["p"], 0.002)
        self.assertLess(self.chain["q"], 0.01)
        self.assertIsNotNone(self.chain["p_first"])
        self.assertGreater(self.chain["expected_given_rest"], 20)
        self.assertLess(self.chain["expected"], 3)
        self.assertAlmostEqual(self.chain["ratio_interval"][0], 45.4, delta=0.454)
        self.assertGreater(min(self.none["q"], self.back["q"]), 0.2)

    def test_one_that_returns_is_not_tested(self):
        self.assertEqual(self.returning["not_tested"], "a unit returns")
        self.assertEqual([self.returning[key] for key in ("p", "q", "expected_given_rest")], [None] * 3)

    def test_what_each_would_have_had_to_count_is_told(self):
        self.assertTrue(30 < self.chain["needed"] < 60, self.chain)
        self.assertGreaterEqual(self.chain["count"], self.chain["needed"])
        self.assertLess(self.none["count"], self.none["needed"])

    def test_q_corrects_for_those_that_were_named(self):
        write("one.txt", ["A -(4,6]-> G"])
        alone = self.document("count", "demo.h5", "--episodes", "one.txt", *SHIFTS)["episodes"][0]
        self.assertTrue(alone["p"] <= alone["q"] < alone["p"] + 1 / 1001, alone)  # p spreads whole counts, which the maxima are
        self.assertLessEqual(alone["q"], self.lucky["q"])
        self.assertLess(self.lucky["p"], 0.02)  # as it was among 650 pairs, where q is 0.58
        rate = self.document(*NAMED, *SHIFTS, "--fdr")
        self.assertLess(rate["episodes"][0]["q"], 1e-4)
        self.assertIsNone(rate["episodes"][0]["needed"])
        self.assertIn("Benjamini", rate["methods"])

    def test_how_it_was_done_is_told(self):
        self.assertEqual(self.out["significance"]["surrogates"], 1000)
        self.assertIn("given episodes", self.out["methods"])
        self.assertIn("candidates given", self.out["methods"])

    def test_those_that_stand_may_be_shown_alone(self):
        kept = self.document(*NAMED, *SHIFTS, "--max-q", 0.05)["episodes"]
        self.assertEqual(kept, [e for e in self.out["episodes"] if e["q"] is not None and e["q"] <= 0.05])
        table = self.synfire(*NAMED, *SHIFTS, "--max-q", 0.05, "--window", 20).stdout
        self.assertIn("of 5 have p and q within", table)
        self.assertRegex(table, "(?m)^synfire .* counted 5 given episodes")
        self.assertRegex(table, "  p  *q")

    def test_a_chain_stands_by_every_split_where_all_of_its_units_are_linked(self):
        write("chains.txt", ["A -(4,6]-> B -(4,6]-> C", "A -(4,6]-> B -(4,6]-> X", "A -(4,6]-> Q -(4,6]-> C"])
        words = ("count", "demo.h5", "--episodes", "chains.txt")
        out = self.document(*words, *SHIFTS, "--surrogates", 200, "--splits")
        planted, end, middle = out["episodes"]
        self.assertLess(planted["q"], 0.01)
        self.assertGreater(min(end["q"], middle["q"]), 0.05)
        self.assertEqual((planted["p_links"], planted["needed"]), (None, None))
        self.assertTrue(out["significance"]["splits"])
        self.assertIn("every split", out["methods"])
        self.refuses(64, "--splits: goes with --significance", *words, "--splits")
        self.refuses(64, "splits: are of chains of 3 to 5 units, and episode 2 has 2", *NAMED, *SHIFTS, "--splits")

    def test_without_a_test_they_are_counted_alone(self):
        self.assertIn("NOT TESTED: `expected`", self.synfire(*NAMED).stdout)
        self.refuses(64, "--max-q: goes with --significance", *NAMED, "--max-q", 0.05)


class Power(OfTheDemo):
    """What pairs would have had to count."""

    def test_it_is_true_of_those_that_counted_it(self):
        out = self.document("mine", "demo.h5", "--delay", "4:6", "--min-count", 20, "--max-size", 2, *SHIFTS, "--surrogates", 200)
        quarters = out["significance"]["power"]
        means = [quarter["expected_given_rest"] for quarter in quarters]
        self.assertEqual((len(means), means), (3, sorted(means)))
        for quarter in quarters:
            self.assertTrue(1.2 < quarter["needed"] / quarter["expected_given_rest"] < 2.5, quarter)
        tested = [e for e in out["episodes"] if e["q"] is not None]
        self.assertEqual([e for e in tested if e["count"] >= e["needed"]], standing(tested))
        self.assertTrue(0 < len(standing(tested)) < len(tested))

    def test_the_table_tells_it(self):
        self.assertRegex(self.synfire("mine", *TESTED).stdout, r"(?m)^power: the least count for a q below 0.05 is [0-9]+ at the lower "
                                                               r"quartile of surrogate counts \([0-9.]+\), .*; all 650 pairs$")

    def test_it_is_told_of_no_pairs_that_hardly_fire(self):
        """Not that they had to count 20 where 0 are expected."""
        draw = random.Random(5)
        write("silent.csv", [f"u{unit},{draw.random() * 100:.5f}" for unit in range(20) for _ in range(500 if unit < 6 else 12)])
        words = ("mine", "silent.csv", "--delay", "0.5:6", "--max-size", 2, "--min-count", 10, *SHIFTS, "--surrogates", 100)
        how = self.document(*words)["significance"]
        self.assertTrue(30 <= how["power_pairs"] < 60, how)
        self.assertEqual(len(how["power"]), 3)
        self.assertTrue(all(quarter["expected_given_rest"] > 5 for quarter in how["power"]), how)
        self.assertRegex(self.synfire(*words).stdout, rf"(?m)^power: .* at the upper quartile of .*; of 380 pairs, the {how['power_pairs']} "
                                                      "with a surrogate count of 1 or more$")


class LongDelays(OfTheDemo):
    """Where a segment holds no shifts that are longer than the delay there is no verdict."""

    @staticmethod
    def words(delay):
        return "demo.h5", "--delay", delay, "--min-count", 300, *FEW

    def test_delays_of_up_to_60_ms_have_one(self):
        for delay in "4:30", "4:60":
            done = self.synfire("mine", *self.words(delay), "--max-size", 2)
            with self.subTest(delay=delay):
                self.assertRegex(done.stdout, "of 650 episodes count 20 or more, with q below 0.05")
                self.assertNotIn("could be tested", done.stdout + done.stderr)

    def test_the_table_says_why_there_is_none(self):
        done = self.synfire("mine", *self.words("4:70"), "--max-size", 2, "--quiet")
        self.assertEqual(done.stderr, "")
        self.assertRegex(done.stdout, "(?m)^None of 650 episodes could be tested: delays too long.*; for waves see graph --metric sttc")
        self.assertIn("gave no verdict (delays too long)", done.stdout)
        self.assertRegex(done.stdout, "(?m) delays too long( |$)")
        self.assertNotIn("with q below", done.stdout)

    def test_nor_has_csv_any(self):
        words = ("mine", *self.words("4:70"), "--max-size", 2)
        rows = self.rows(*words)
        self.assertEqual(len(rows), 650)
        for row in rows:
            self.assertEqual({row[name] for name in ("p", "q", "needed", "expected_given_rest", "p_first", "p_last", "p_links")}, {""})
            self.assertEqual((row["not_tested"], row["worth_showing"]), ("delays too long", "0"))
        self.assertIn("no episode could be tested: delays too long", self.synfire(*words, "--csv").stderr)

    def test_nor_has_the_graph(self):
        out = self.document("graph", *self.words("4:70"))
        self.assertIn("no episode could be tested: delays too long", self.synfire("graph", *self.words("4:70"), "--csv").stderr)
        self.assertEqual(out["edges"], 650)
        self.assertEqual({(e["p"], e["q"], e["not_tested"]) for e in out["edge_detail"]}, {(None, None, "delays too long")})
        self.assertRegex(self.synfire("graph", *self.words("4:70"), "--quiet").stdout, "(?m) delays too long$")


class SharedBursts(command.Test):
    """Sharp ones are not testable, smooth ones are, and info tells which."""
    LIMIT = 0.17
    MINE = ("mine", "bursts.h5", *FEW, "--max-size", 2, "--quiet")

    def look(self, sigma):
        """What info and mine say of bursts as sharp as this: documents and texts of both."""
        self.synfire(*BURSTS, sigma)
        info, mine = ("info", "bursts.h5"), (*self.MINE, "--preset", "culture-60")
        return self.document(*info), self.synfire(*info).stdout, self.document(*mine), self.synfire(*mine).stdout

    def assert_told(self, sigma, sharp):
        info, text, out, table = self.look(sigma)
        of = {each["delay_high_ms"]: each for each in info["sharpness"]}
        self.assertEqual(list(of), [2, 5, 10, 20, 50])
        for delay, each in of.items():
            self.assertIn(each["width_ms"], (1.5 * delay, 3 * delay))
            self.assertTrue(500 < each["pairs"] <= 552, each)
        at_20, how, episodes = of[20], out["significance"], out["episodes"]
        self.assertEqual([at_20["testable"], at_20["sharpness"] > self.LIMIT, at_20["low_share"] > 0.1], [not sharp, sharp, sharp])
        self.assertEqual(at_20["grouped_units"], 0)
        self.assertIn(f"20 ms: {at_20['sharpness']:.2f}{' !' if sharp else ''};", text)
        self.assertEqual("bursts are too sharp for --significance at delays up to" in text,
                         not all(each["testable"] for each in of.values()))
        self.assertEqual((how["not_tested"], how["sharpness"] > self.LIMIT), ("bursts too sharp" if sharp else None, sharp))
        self.assertGreater(len(episodes), 1000)
        for e in episodes:
            self.assertEqual(e["not_tested"] == "bursts too sharp", sharp)
            self.assertEqual({e["not_tested"] is not None, e["q"] is None, e["p"] is None}, {e["not_tested"] is not None})
        self.assertEqual(f"None of {len(episodes)} episodes could be tested: bursts too sharp" in table, sharp)
        self.assertEqual("with q below 0.05" in table, not sharp)
        self.assertNotIn("can be tested", table + text)

    def test_sharp_ones_have_no_verdict(self):
        self.assert_told(4, True)

    def test_smooth_ones_have_one(self):
        for sigma in 20, 100:
            with self.subTest(sigma=sigma):
                self.assert_told(sigma, False)

    def test_units_that_were_left_out_are_looked_at_too(self):
        self.synfire(*BURSTS, 4)
        out = self.document(*self.MINE, "--units", "A,B", "--delay", "0.5:20", "--min-count", 5)
        self.assertEqual(out["significance"]["not_tested"], "bursts too sharp")
        self.assertEqual({e["p"] for e in out["episodes"]}, {None})

    def test_of_two_units_alone_nothing_is_known_and_they_are_tested(self):
        draw = random.Random(8)
        with open("two.csv", "w") as file:
            for i in range(4000):
                at = draw.uniform(0, 1000)
                file.write(f"A,{at:.5f}\nB,{at + 0.005 if i % 10 == 0 else draw.uniform(0, 1000):.5f}\n")
        write("two.txt", ["A -(4,6]-> B"])
        words = ("count", "two.csv", "--episodes", "two.txt", *SHIFTS)
        out = self.document(*words)
        self.assertLess(out["episodes"][0]["p"], 0.002)
        self.assertEqual([out["significance"][key] for key in ("sharpness", "low_share", "cautions")],
                         [None, None, ["too few pairs to tell how sharp bursts are"]])
        self.assertIn("too few pairs of units", self.synfire(*words, "--csv").stderr)
        self.assertIn("too few pairs to tell", self.synfire("info", "two.csv").stdout)


@command.needs_data(WAVE)
class Wave(command.Test):
    """Of a real wave chains that return have no q whatever the delays."""

    def mined(self, *words):
        out = self.document("mine", command.DATA / WAVE, *words, "--min-count", 20, "--max-size", 3, *FEW)["episodes"]
        returning = [e for e in out if returns(e)]
        self.assertEqual({(e["not_tested"], e["q"]) for e in returning}, {("a unit returns", None)})
        return returning, [e for e in out if not returns(e)]

    def test_nor_have_others_where_delays_are_too_long(self):
        returning, others = self.mined("--preset", "retina-waves")
        self.assertGreater(len(returning), 500)
        self.assertEqual({(e["not_tested"], e["q"]) for e in others}, {("delays too long", None)})

    def test_others_have_one_where_they_are_not(self):
        for e in self.mined("--delay", "0.5:50")[1]:
            self.assertTrue(e["not_tested"] == "reverse of a link" or e["q"] > 0, e)


if __name__ == "__main__":
    command.main()
