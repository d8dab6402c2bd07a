#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what the triggers of a live run did as events of a BIDS data set (docs/closed-loop.md, "In a BIDS data set").

    examples/bids_events.py run.jsonl sub-01_task-loop [--first-sample-ns N]

run.jsonl: JSON lines of the run, with the topics trigger, decision and delivery. Writes sub-01_task-loop_events.tsv, a line for each
decision in the order of their onsets, and sub-01_task-loop_events.json, what its columns are.
"""
import argparse
import decimal
import json

COLUMNS = {
    "onset": "last spike of the occurrence, in seconds from the first sample",
    "duration": "not known here: that of the stimulus",
    "nibs_event_id": "name of the trigger, by which *_nibs.tsv says what the stimulus was; n/a where none was sent",
    "trial_type": "name of the trigger",
    "occurrence": "number of the occurrence in the run, from 1",
    "outcome": "what became of it",
    "reason": "why it was withheld",
    "wait_ms": "from when the last spike was due to the decision, in ms",
    "latency_ms": "from when the last spike was due until it was sent, in ms, by each receiver that got it",
    "spike_times": "spikes of the occurrence, in seconds from the first sample",
    "p": "of the newest stretch that the episode was tested in",
    "q": "corrected for all that the run tested",
}
OUTCOMES = {"sent": "the trigger was sent", "sham": "treated as if it were sent, and nothing was", "withheld": "not sent"}
SEVERAL = ("latency_ms", "spike_times")


def cell(value):
    if value is None or value == []:
        return "n/a"
    return "|".join(str(one) for one in value) if isinstance(value, list) else str(value)


def event(decision, trigger, deliveries, first_ns):
    def seconds(time_ns):
        return f"{decimal.Decimal(time_ns - first_ns).scaleb(-9):f}"

    sent = decision["outcome"] == "sent"
    return {"onset": seconds(decision["time_ns"]), "duration": None, "nibs_event_id": decision["name"] if sent else None,
            "trial_type": decision["name"], "occurrence": decision["occurrence"], "outcome": decision["outcome"],
            "reason": decision["reason"], "wait_ms": decision["wait_ms"],
            "latency_ms": [one["latency_ms"] for one in deliveries if one["outcome"] == "sent" and one["latency_ms"] is not None],
            "spike_times": [seconds(time) for time in trigger.get("spike_times_ns", [])], "p": trigger.get("p"), "q": trigger.get("q")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lines", help="JSON lines of the run")
    parser.add_argument("name", help="of the files, as sub-01_task-loop")
    parser.add_argument("--first-sample-ns", type=int, default=0, help="stream time of the recording's first sample (default 0)")
    options = parser.parse_args()
    told = {"trigger": [], "decision": [], "delivery": []}
    with open(options.lines, encoding="utf-8") as lines:
        for message in map(json.loads, lines):
            told.get(message["topic"], []).append(message)
    triggers = {message["seq"]: message for message in told["trigger"]}
    rows = [event(one, triggers.get(one["trigger_seq"], {}),
                  [sent for sent in told["delivery"] if one["trigger_seq"] is not None and sent["trigger_seq"] == one["trigger_seq"]],
                  options.first_sample_ns)
            for one in sorted(told["decision"], key=lambda one: one["time_ns"])]
    with open(f"{options.name}_events.tsv", "w", encoding="utf-8") as table:
        table.write("\t".join(COLUMNS) + "\n")
        for row in rows:
            table.write("\t".join(cell(row[column]) for column in COLUMNS) + "\n")
    about = {column: {"Description": text, **({"Delimiter": "|"} if column in SEVERAL else {})} for column, text in COLUMNS.items()}
    about["outcome"]["Levels"] = OUTCOMES
    with open(f"{options.name}_events.json", "w", encoding="utf-8") as file:
        json.dump(about, file, indent=2)
        file.write("\n")


main()
