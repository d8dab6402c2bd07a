# SPDX-License-Identifier: Apache-2.0
"""A recording that begins ten hours later has the same results: mined, counted, in windows, live, as a graph, and its intervals."""
import json
import random

import command

SHIFT_NS = 36000 * 10**9
TIMED = {"seconds", "age_ms", "recording", "path", "seq", "stages", "run_s", "latency", "window_fill", "busy_ms", "p50_ms", "p99_ms", "max_ms",
         "ring_fill", "provenance"}  # differ from run to run
TIMES_S = {"from_s", "to_s", "start_s", "stop_s"}
TIMES_NS = {"time_ns", "from_ns", "to_ns", "spike_times_ns", "decided_ns"}


def write_spikes(path, shift_ns):
    draw = random.Random(11)
    spikes = [(draw.randrange(40 * 10**9), draw.choice("ABCDE")) for _ in range(4000)]
    for _ in range(100):  # a chain, so that something is found
        start = draw.randrange(39 * 10**9)
        spikes += [(start, "A"), (start + draw.randrange(4000001, 6000001), "B"), (start + 10 * 10**6, "C")]
    with open(path, "w") as out:
        for time_ns, unit in sorted(spikes):
            seconds, rest = divmod(time_ns + shift_ns, 10**9)
            out.write(f"{unit},{seconds}.{rest:09d}\n")


def as_early(value, shift_ns, key=None):
    """What was told, without what differs from run to run, and times as if the recording had begun at 0."""
    if isinstance(value, dict):
        return {name: as_early(part, shift_ns, name) for name, part in value.items() if name not in TIMED}
    if isinstance(value, list):
        return [as_early(part, shift_ns, key) for part in value]
    if key in TIMES_S:
        return round(value * 10**9) - shift_ns
    return value - shift_ns if key in TIMES_NS else value


class Shift(command.Test):
    @classmethod
    def prepare(cls):
        write_spikes("early.csv", 0)
        write_spikes("late.csv", SHIFT_NS)
        with open("episodes.txt", "w") as file:
            file.write("A -(4,6]-> B -(0,10]-> C\n#1 -(0,20]-> D\n")

    def same(self, command_name, *words):
        """The document of the early recording; that of the late one is the same."""
        early, late = (as_early(self.document(command_name, recording, *words), shift_ns)
                       for recording, shift_ns in (("early.csv", 0), ("late.csv", SHIFT_NS)))
        self.assertEqual(early, late)
        return early

    def test_mined(self):
        self.assertGreater(len(self.same("mine", "--delay", "0:5,5:10", "--min-count", 60)["episodes"]), 3)

    def test_counted_in_windows(self):
        told = self.same("count", "--episodes", "episodes.txt", "--window", 7.5, "--hop", 2, "--correlogram")
        self.assertGreater(len(told["windows"]), 10)

    def test_as_a_graph(self):
        self.same("graph", "--delay", "4:6", "--min-count", 60)

    def test_by_tiling_coefficients(self):
        self.same("graph", "--metric", "sttc", "--surrogates", 20)

    def test_bandwidth_of_intervals(self):
        self.same("bandwidth", "--quantity", "isi", "--units", "A")

    def test_live(self):
        told = {}
        for when, shift_ns in ("early", 0), ("late", SHIFT_NS):
            self.synfire("run", "--replay", f"{when}.csv", "--speed", "max", "--set", "mine.delays_ms=4:6", "--set", "window.length_s=5",
                         "--set", "watch.0=A -(4,6]-> B", "--set", "sinks.0.type=jsonl", "--set", f"sinks.0.path={when}.jsonl",
                         "--set", "sinks.0.policy=block", "--quiet")
            with open(f"{when}.jsonl") as file:
                told[when] = [as_early(json.loads(line), shift_ns) for line in file]
        for topic in "episodes", "trigger", "graph":
            early, late = ([message for message in told[when] if message["topic"] == topic] for when in ("early", "late"))
            self.assertGreater(len(early), 5, topic)
            self.assertEqual(early, late, topic)


if __name__ == "__main__":
    command.main()
