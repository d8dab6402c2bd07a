# SPDX-License-Identifier: Apache-2.0
"""A chain that is there while something is on is found and predicts it, also live; labels of another recording are predicted by
chance; markers of a real recording are read; and what is wrong is refused."""
import pathlib
import subprocess
import sys
import unittest

import command
import schema

LEARN = ("rules", "on.csv", "--labels", "labels.csv", "--window", 1, "--delay", "4:7")
RUN = ("run", "--replay", "on.csv", "--speed", "max", "--set", "window.length_s=1", "--set", "window.hop_s=0.5", "--set", "mine.every=0",
       "--set", "rules.0=on.rule", "--set", "sinks.0.type=jsonl")


def write_labelled(recording, labels, seed):
    """300 s of six units whose chain A > B > C is there while something is on."""
    subprocess.run([sys.executable, "-B", pathlib.Path(__file__).with_name("labelled.py"), recording, labels, str(seed), "300"], check=True)


class Learnt(command.Test):
    @classmethod
    def prepare(cls):
        write_labelled("on.csv", "labels.csv", 1)
        cls.told = cls.document(*LEARN, "--rule", "on.rule")

    def test_the_chain_that_was_planted_is_the_rule(self):
        episode = self.told["episode"]
        self.assertEqual([episode["names"], episode["delays_ms"]], [["A", "B", "C"], [[4, 7], [4, 7]]])
        self.assertEqual([set(self.told["labels"]), self.told["predicts"]], [{"on", "off"}, ["off", "on"]])
        self.assertEqual(len(self.told["thresholds"]), 1)

    def test_it_predicts_and_rates_do_not(self):
        self.assertGreater(self.told["accuracy"], 0.95)
        self.assertEqual(self.told["chance"]["p"], 0.01)
        self.assertLess(self.told["rate"]["accuracy"], 0.7)

    def test_windows_add_up(self):
        windows, confusion = self.told["windows"], self.told["confusion"]
        self.assertEqual(sum(map(sum, confusion)), windows["labelled"])
        self.assertEqual(sum(fold["windows"] for fold in self.told["folds"]), windows["labelled"])
        self.assertAlmostEqual(sum(row[i] for i, row in enumerate(confusion)) / windows["labelled"], self.told["accuracy"], delta=1e-12)
        self.assertEqual(windows["count"], sum(windows[of] for of in ("labelled", "mixed", "unlabelled", "unrecorded")))

    def test_every_block_of_time_chooses_it(self):
        self.assertEqual([fold["episode"] for fold in self.told["folds"]], [self.told["episode"]["id"]] * 10)

    def test_the_file_has_the_rule(self):
        rule = schema.parse(pathlib.Path("on.rule").read_text())
        self.assertEqual([rule["synfire"], rule["episode"], rule["window_s"]], ["rule", "A -(4,7]-> B -(4,7]-> C", 1])
        self.assertEqual([rule["thresholds"], rule["predicts"]], [self.told["thresholds"], self.told["predicts"]])

    def test_threads_change_nothing(self):
        again = self.document(*LEARN, "--rule", "again.rule", "--threads", 2)
        self.assertEqual(command.without_times(again), command.without_times(self.told))

    def test_windows_may_overlap_and_episodes_be_given(self):
        pathlib.Path("pair.txt").write_text("A -(4,7]-> B\n")
        told = self.document("rules", "on.csv", "--labels", "labels.csv", "--window", 0.5, "--hop", 0.25, "--episodes", "pair.txt", "--folds",
                             4, "--shifts", 19)
        self.assertEqual([told["episodes"], len(told["folds"]), told["chance"]["shifts"], told["chance"]["p"]], [1, 4, 19, 0.05])
        self.assertGreater(told["accuracy"], 0.8)
        self.assertLess(told["folds"][1]["from_s"], told["folds"][0]["to_s"])

    def test_lines_for_people_name_the_chain_and_chance(self):
        done = self.synfire(*LEARN)
        self.assertIn("A -(4,7]-> B -(4,7]-> C", done.stdout)
        self.assertIn("by chance: labels shifted in 26 segments, 95 % of 99 times up to", done.stdout)
        self.assertEqual(done.stderr, "synfire: rules: on.csv: the file does not say how long was recorded: rates are from first to last "
                                      "spike, 299.932 s; --recorded A:B says it\n")


class Chance(command.Test):
    @classmethod
    def prepare(cls):
        write_labelled("on.csv", "labels.csv", 1)

    def chance_of(self, labels):
        return self.document("rules", "on.csv", "--labels", labels, "--window", 1, "--delay", "4:7")["chance"]

    def test_labels_of_another_recording_are_predicted_by_chance(self):
        write_labelled("other.csv", "others.csv", 2)
        told = self.document("rules", "on.csv", "--labels", "others.csv", "--window", 1, "--delay", "4:7")
        self.assertLess(told["accuracy"], 0.65)
        self.assertGreater(told["chance"]["p"], 0.05)

    def test_labels_that_change_once_have_no_chance_level(self):
        pathlib.Path("halves.csv").write_text("0,150,first\n150,300,second\n")
        lines = self.synfire("rules", "on.csv", "--labels", "halves.csv", "--window", 1, "--delay", "4:7").stdout
        self.assertRegex(lines, "the labels change only 1 time: .*, so there is no chance level")
        self.assertNotIn("by chance", lines)
        self.assertEqual(self.chance_of("halves.csv"), {"shifts": 0, "segments": 0, "mean": None, "most": None, "p": None})

    def test_labels_that_turn_with_every_window_have_one(self):
        pathlib.Path("turns.csv").write_text("".join(f"{t},{t + 1},{('off', 'on')[t % 2]}\n" for t in range(300)))
        chance = self.chance_of("turns.csv")
        self.assertEqual(chance["shifts"], 99)
        self.assertGreater(chance["p"], 0.05)

    def test_a_trend_that_labels_and_spikes_share_predicts_nothing(self):
        trend = command.DATA / "cases/statistics/trend.h5"
        if not trend.exists():
            self.skipTest(f"no {trend}")
        chance = self.document("rules", trend, "--labels", trend.with_suffix(".csv"), "--window", 1, "--delay", "0.5:10", "--max-size", 3,
                               "--top", 30)["chance"]
        self.assertGreater(chance["p"], 0.05)
        self.assertEqual(chance["segments"], 30)


class Live(command.Test):
    """The rule says of each window what it was."""

    @classmethod
    def prepare(cls):
        write_labelled("on.csv", "labels.csv", 1)
        cls.synfire(*LEARN, "--rule", "on.rule")
        cls.synfire(*RUN, "--set", "sinks.0.path=live.jsonl", "--quiet")
        with open("labels.csv") as file:
            cls.labels = [(float(start), float(stop), label) for start, stop, label in (line.strip().split(",") for line in file)]
        told = command.messages_of("live.jsonl", "episodes")
        cls.partial = [message["rules"][0] for message in told if message["partial"]]
        cls.full = [message for message in told if not message["partial"]]

    def test_messages_are_as_their_schemas_say(self):
        self.assertGreater(schema.read_lines("live.jsonl")["episodes"], 300)

    def test_of_a_window_that_is_not_full_it_says_nothing(self):
        self.assertEqual({(rule["label"], rule["changed"]) for rule in self.partial}, {(None, False)})

    def test_labels_are_nearly_always_right(self):
        right = [message["rules"][0]["label"] == label for message in self.full for start, stop, label in self.labels
                 if start <= message["from_s"] and message["to_s"] <= stop]
        self.assertGreater(len(right), 300)
        self.assertGreater(sum(right), 0.97 * len(right))

    def test_a_change_is_told_with_what_was_before(self):
        before = None
        for message in self.full:
            rule, episode = message["rules"][0], message["episodes"][0]
            self.assertEqual([rule["rule"], rule["id"], rule["count"]], ["on.rule", episode["id"], episode["count"]])
            self.assertEqual(rule["changed"], before is not None and before != rule["label"])
            self.assertEqual(rule["before"], before if rule["changed"] else None)
            before = rule["label"]
        self.assertGreaterEqual(sum(message["rules"][0]["changed"] for message in self.full), len(self.labels) - 1)

    def test_a_trigger_is_sent_whenever_the_label_changes_and_only_then(self):
        self.synfire(*RUN, "--set", "sinks.0.path=sent.jsonl", "--set", "triggers.0.on=rule", "--set", "triggers.0.name=state", "--set",
                     "triggers.0.rule=on.rule")
        changed = [message["time_ns"] for message in command.messages_of("sent.jsonl", "episodes") if message["rules"][0]["changed"]]
        sent = command.messages_of("sent.jsonl", "trigger")
        self.assertGreater(len(changed), 2)
        self.assertEqual([trigger["time_ns"] for trigger in sent], changed)
        self.assertEqual({(trigger["name"], trigger["id"], tuple(trigger["spike_times_ns"])) for trigger in sent}, {("state", None, ())})
        self.assertEqual([decision["trigger_seq"] for decision in command.messages_of("sent.jsonl", "decision")],
                         [trigger["seq"] for trigger in sent])

    def refuses_to_run(self, sentence, *settings):
        self.refuses(78, sentence, *RUN, "--set", "sinks.0.path=refused.jsonl", *(word for setting in settings for word in ("--set", setting)))

    def test_a_trigger_by_what_the_rule_does_not_say_is_refused(self):
        trigger = "triggers.0.on=rule", "triggers.0.name=state", "triggers.0.rule=on.rule"
        self.refuses_to_run("found 'off.rule', expected the name of one of the rules, of which there are 1", *trigger[:2],
                            "triggers.0.rule=off.rule")
        self.refuses_to_run("found 'loud', which the rule never predicts", *trigger, "triggers.0.label=loud")
        self.refuses_to_run("expected 1: what a rule says of a window has no q", *trigger, "triggers.0.max_q=0.05")

    def test_a_damaged_rule_is_refused(self):
        text = pathlib.Path("on.rule").read_text()
        thresholds = text[text.index('"thresholds":'):text.index("]", text.index('"thresholds":')) + 1]
        for sentence, old, new in (
                ("was learnt in windows of 3 s, and those of this run have 1 s", '"window_s":1', '"window_s":3'),
                ("expected an array `thresholds`, one fewer than `predicts`", thresholds, '"thresholds":[]'),
                ("expected a text `episode`", '"episode"', '"chain"'),
                ("no unit is named 'Z'", '"A -', '"Z -'),
                ("of another version", '"version":1', '"version":2'),
                ("is no rule file: line 1", "{", "[")):
            self.assertIn(old, text)
            pathlib.Path("broken.rule").write_text(text.replace(old, new, 1))
            self.refuses_to_run(sentence, "rules.0=broken.rule")

    def test_what_is_no_rule_is_refused(self):
        self.refuses_to_run("rules.1: absent.rule: cannot open", "rules.1=absent.rule")
        self.refuses(78, "is no rule file", "run", "--check", "--replay", "on.csv", "--set", "window.length_s=1", "--set",
                     "rules.0=labels.csv")


class Refusals(command.Test):
    @classmethod
    def prepare(cls):
        write_labelled("on.csv", "labels.csv", 1)
        pathlib.Path("early.csv").write_text("0,10,on\n10,20,off\n")
        pathlib.Path("wrong.csv").write_text("5,1,on\n")

    def test_words(self):
        labelled = "--labels", "labels.csv"
        for sentence, *words in (
                ("--labels: is needed, or --markers", "--window", 1),
                ("labels are from the one or from the other", "--window", 1, *labelled, "--markers"),
                ("--window: is needed", *labelled),
                ("--window: found '0', expected a number of s above 0", *labelled, "--window", 0),
                ("--hop: found '-1', expected a number of s above 0", *labelled, "--window", 1, "--hop", -1),
                ("--line: is for markers", *labelled, "--window", 1, "--line", 1),
                ("--hold: is for markers", *labelled, "--window", 1, "--hold", 1),
                ("--folds", *labelled, "--window", 1, "--folds", 1)):
            self.refuses(64, sentence, "rules", "on.csv", *words)

    def test_data_in_which_nothing_can_be_learnt(self):
        self.refuses(65, "there are no markers in this recording", "rules", "on.csv", "--markers", "--window", 1)
        self.refuses(65, "none lies in one label", "rules", "on.csv", "--labels", "labels.csv", "--window", 20, "--delay", "4:7")
        self.refuses(65, "too few for 500 blocks", *LEARN, "--folds", 500)
        self.refuses(65, "no episode is frequent here", *LEARN, "--min-count", 1e6)
        self.refuses(65, "no label lies in what is looked at", "rules", "on.csv", "--labels", "early.csv", "--window", 1, "--delay", "4:7",
                     "--from", 100)

    def test_files(self):
        self.refuses(66, "absent.csv", "rules", "on.csv", "--labels", "absent.csv", "--window", 1)
        self.refuses(65, "wrong.csv: line 1", "rules", "on.csv", "--labels", "wrong.csv", "--window", 1)
        self.refuses(73, "nowhere", *LEARN, "--rule", "nowhere/x.rule")

    @unittest.skipUnless((command.DATA / "recordings/pynapple_A8604-211122.nwb").exists(), "no recordings/pynapple_A8604-211122.nwb")
    def test_markers_of_which_all_are_alike(self):
        self.refuses(65, "all 542 windows in a label are 'wake': nothing is to be told apart", "rules",
                     command.DATA / "recordings/pynapple_A8604-211122.nwb", "--markers", "--window", 2, "--delay", "0.5:20")


if __name__ == "__main__":
    command.main()
