# SPDX-License-Identifier: Apache-2.0
"""examples/bids_events.py: what triggers did as events of a BIDS data set, held against the messages of the run."""
import csv
import json
import subprocess
import sys

import command

RUN = """
window: {length_s: 2, hop_s: 1}
mine: {delays_ms: 4:6}
triggers:
- {name: pair, episode: "A -(4,6]-> B", armed: true, max_age_ms: 0, refractory_ms: 300, sham: 0.5}
- {name: never, episode: "B -(4,6]-> C", armed: false, max_age_ms: 0}
sinks:
- {type: jsonl, path: run.jsonl, topics: [trigger, decision, delivery]}
- {type: osc, endpoint: "osc.udp://127.0.0.1:9"}
"""


def seconds(time_ns, first_ns):
    return f"{(time_ns - first_ns) / 1e9:.9f}"


class Events(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--unit-count", 8, "--rate", 5, "--duration", 10, "--chain", "A -(4,6]-> B -(4,6]-> C",
                    "--chain-rate", 3, "--quiet")
        with open("run.yaml", "w", encoding="utf-8") as file:
            file.write(RUN)
        cls.synfire("run", "run.yaml", "--replay", "sim.h5", "--speed", "max")
        subprocess.run([sys.executable, "-B", command.SOURCE / "examples/bids_events.py", "run.jsonl", "sub-01_task-loop",
                        "--first-sample-ns", "250000000"], check=True)
        with open("run.jsonl", encoding="utf-8") as lines:
            cls.told = [json.loads(line) for line in lines]
        with open("sub-01_task-loop_events.tsv", encoding="utf-8", newline="") as table:
            cls.rows_written = list(csv.DictReader(table, delimiter="\t"))

    def of(self, topic):
        return [message for message in self.told if message["topic"] == topic]

    def test_every_decision_is_an_event_and_no_other(self):
        decisions = sorted(self.of("decision"), key=lambda one: one["time_ns"])
        self.assertEqual({one["outcome"] for one in decisions}, {"sent", "sham", "withheld"})
        wanted = [(seconds(one["time_ns"], 250000000), one["name"], str(one["occurrence"]), one["outcome"], one["reason"] or "n/a")
                  for one in decisions]
        self.assertEqual([(row["onset"], row["trial_type"], row["occurrence"], row["outcome"], row["reason"])
                          for row in self.rows_written], wanted)

    def test_what_was_sent_refers_to_its_stimulus_and_has_its_spikes(self):
        triggers = {message["seq"]: message for message in self.of("trigger")}
        sent = [one for one in sorted(self.of("decision"), key=lambda one: one["time_ns"]) if one["outcome"] == "sent"]
        rows = [row for row in self.rows_written if row["outcome"] == "sent"]
        self.assertGreater(len(sent), 2)
        for decision, row in zip(sent, rows):
            spikes = triggers[decision["trigger_seq"]]["spike_times_ns"]
            self.assertEqual(row["nibs_event_id"], decision["name"])
            self.assertEqual(row["spike_times"], "|".join(seconds(time, 250000000) for time in spikes))
        self.assertEqual({row["nibs_event_id"] for row in self.rows_written if row["outcome"] != "sent"}, {"n/a"})

    def test_every_delivery_has_its_latency(self):
        sent = [one for one in self.of("delivery") if one["outcome"] == "sent" and one["latency_ms"] is not None]
        told = [value for row in self.rows_written for value in row["latency_ms"].split("|") if value != "n/a"]
        self.assertEqual(sorted(told), sorted(str(one["latency_ms"]) for one in sent))

    def test_the_sidecar_describes_each_column(self):
        with open("sub-01_task-loop_events.json", encoding="utf-8") as file:
            about = json.load(file)
        self.assertEqual(list(about), list(self.rows_written[0]))
        self.assertEqual(about["spike_times"]["Delimiter"], "|")
        self.assertEqual(list(about["outcome"]["Levels"]), ["sent", "sham", "withheld"])


if __name__ == "__main__":
    command.main()
