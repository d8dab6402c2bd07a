# SPDX-License-Identifier: Apache-2.0
"""The branching ratio of a run: that of `synfire criticality` of the same part, at every outlet, played fast or on a virtual clock."""
import command

EVERY, LENGTH = 10, 30
LIVE = """sources: [{{type: replay, recording: culture.h5, speed: {speed}}}]
window: {{length_s: 10, hop_s: 5}}
mine: {{every: 0}}
graph: {{enabled: false}}
significance: {{kind: off}}
criticality: {{every_s: 10, length_s: 30, lags: 300}}
sinks: [{{type: jsonl, path: {path}, policy: block, overwrite: true}}]
"""
SAME = {"branching_ratio": ("branching_ratio", "value"), "branching_low": ("branching_ratio", "low"),
        "branching_high": ("branching_ratio", "high"), "branching_ratio_conventional": ("branching_ratio_conventional", "value"),
        "timescale_s": ("timescale", "value"), "timescale_low_s": ("timescale", "low"), "timescale_high_s": ("timescale", "high"),
        "own_share": ("own_share", "value")}


class LiveCriticality(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "culture.h5", "--unit-count", 20, "--rate", 2, "--duration", 71, "--burst-rate", 0.8, "--burst-sigma", 40,
                    "--seed", 5, "--quiet")
        for path, speed in (("max.jsonl", "max"), ("fast.jsonl", "50")):
            with open(f"{speed}.yaml", "w") as file:
                file.write(LIVE.format(speed=speed, path=path))
        cls.told = cls.synfire("run", "max.yaml")
        cls.messages = command.messages_of("max.jsonl", "criticality")

    def test_each_ten_seconds_there_is_one_of_the_last_thirty(self):
        first_ns = self.messages[0]["to_ns"] - EVERY * 10**9
        self.assertEqual([m["to_ns"] - first_ns for m in self.messages], [EVERY * 10**9 * (i + 1) for i in range(7)])
        self.assertEqual([(m["to_ns"] - m["from_ns"]) / 10**9 for m in self.messages], [EVERY, 2 * EVERY] + [LENGTH] * 5)
        self.assertEqual([m["partial"] for m in self.messages], [True, True] + [False] * 5)
        self.assertEqual([m["time_ns"] for m in self.messages], [m["to_ns"] for m in self.messages])

    def test_each_is_what_the_command_says_of_that_part(self):
        for message in self.messages:
            found = self.document("criticality", "culture.h5", "--from", f"{message['from_ns']}e-9", "--to", f"{message['to_ns']}e-9", "--lags", 300,
                                  "--rounds", 0)
            measures = {measure["measure"]: measure for measure in found["criticality"]}
            with self.subTest(to_s=message["to_s"]):
                for key, (measure, column) in SAME.items():
                    self.assertEqual(message[key], measures[measure][column], key)
                self.assertEqual((message["spikes"], message["duration_s"], message["lags"], message["blocks"]),
                                 (found["spikes"], found["duration_s"], found["lags"], found["blocks"]))
                self.assertEqual([(c["caution"], c["text"]) for c in message["cautions"]],
                                 [(c["caution"], c["text"]) for c in found["criticality_cautions"] if c["of"] == "branching_ratio"])

    def test_some_have_an_interval_and_some_a_caution(self):
        self.assertTrue(any(m["branching_low"] is not None and m["branching_low"] < m["branching_ratio"] < m["branching_high"]
                            for m in self.messages))
        self.assertIn("short", [c["caution"] for c in self.messages[0]["cautions"]])
        self.assertIsNone(self.messages[0]["branching_low"])

    def test_a_recording_that_is_played_waits_for_each(self):
        self.synfire("run", "50.yaml", "--quiet")
        clock = ("age_ms", "seq")
        played = command.messages_of("fast.jsonl", "criticality")
        self.assertEqual([{k: v for k, v in m.items() if k not in clock} for m in played],
                         [{k: v for k, v in m.items() if k not in clock} for m in self.messages])

    def test_the_status_has_the_newest(self):
        status, newest = command.messages_of("max.jsonl", "status")[-1], self.messages[-1]
        for key in ("branching_ratio", "branching_low", "branching_high"):
            self.assertEqual(status[key], newest[key], key)
        self.assertEqual(status["branching_at_s"], newest["to_s"])
        self.assertEqual(status["branching_cautions"], ", ".join(c["caution"] for c in newest["cautions"]) or None)
        self.assertEqual(status["branching_missed"], 0)

    def test_the_terminal_says_it(self):
        newest = self.messages[-1]
        line = next(line for line in self.told.stdout.splitlines() if line.startswith("branching ratio"))
        self.assertTrue(line.startswith(f"branching ratio {newest['branching_ratio']:.4g} ({newest['branching_low']:.4g} to "
                                        f"{newest['branching_high']:.4g}) at {newest['to_s']:.1f} s"), line)
        words = ", ".join(c["caution"] for c in newest["cautions"])
        self.assertEqual(f", doubtful for {words}" in line, words != "")

    def test_without_it_nothing_is_said(self):
        told = self.synfire("run", "max.yaml", "--set", "criticality.every_s=0", "--set", "sinks.0.path=off.jsonl")
        self.assertNotIn("branching", told.stdout)
        self.assertEqual(command.messages_of("off.jsonl", "criticality"), [])

    def test_wrong_words_are_refused(self):
        for sentence, key in (
                ("criticality.every_s: found '0.05', expected a number from 0.1 to 86400, or 0: off", "every_s=0.05"),
                ("criticality.every_s", "every_s=-1"),
                ("criticality.every_s", "every_s=nan"),
                ("criticality.length_s: found 4 s, expected at least 4.8: four times the longest lag, 300 bins of 4 ms", "length_s=4"),
                ("criticality.length_s", "length_s=1e9"),
                ("criticality.lags", "lags=2"),
                ("criticality.lags", "lags=1000000"),
                ("criticality.bin_ms", "bin_ms=0"),
                ("there is no key", "window_s=5")):
            with self.subTest(key=key):
                self.refuses(78, sentence, "run", "max.yaml", "--check", "--set", f"criticality.{key}")


if __name__ == "__main__":
    command.main()
