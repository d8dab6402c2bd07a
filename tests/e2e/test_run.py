# SPDX-License-Identifier: Apache-2.0
"""synfire run and record: words, signals, outputs that cannot be, and what is left on disk."""
import contextlib
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import subprocess
import time

import command
from live import having, spikes_of, write

REPLAY = ("run", "--replay", "sim.h5")
JSONL = ("sinks.0.type=jsonl", "sinks.0.policy=block")
SHORT = having("window.length_s=1", "window.hop_s=0.2")
# what a clock on the wall decides
CLOCK = re.compile("age_ms|discovery_ms|test_ms|test_share|stages|sources|sinks|run_s|latency|window_fill|provenance|command")


def told(path):
    """All messages of a run, less what a clock on the wall decides."""
    with open(path) as file:
        messages = [command.schema.parse(line) for line in file]
    return [{key: value for key, value in m.items() if not CLOCK.fullmatch(key) and (key, m["topic"]) != ("spikes", "status")}
            for m in messages]


@contextlib.contextmanager
def limited_memory():
    """Commands get 2 GB of addresses, but for those of a sanitizer, which takes more itself."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if not command.SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (2_048_000_000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


class OfTheReplay(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--preset", "sym26", "--duration", 20, "--seed", 2, "--quiet")
        write("empty.yaml", "{}\n")


class Words(OfTheReplay):
    """Configurations and options that cannot be."""

    def test_a_configuration_is_refused_by_line_column_and_key(self):
        for text, place, *words in (("windows: {length_s: 5}", "bad.yaml:1:1"),
                                    ("window: {length_s: five}", "bad.yaml:1:20: window.length_s"),
                                    ("window: {length_s: 1, hop_s: 2}", "bad.yaml:1:20: window.length_s", "--replay", "sim.h5"),
                                    ('watch: ["A -(4,6]-> nobody"]', "bad.yaml:1:9: watch.0", "--replay", "sim.h5")):
            with self.subTest(text=text):
                write("bad.yaml", text)
                self.refuses(78, place, "run", "bad.yaml", *words)

    def test_options_that_do_not_go_together_are_refused(self):
        self.refuses(78, "no sources", "run", "empty.yaml")
        self.refuses(64, "--replay and a recording", "run")
        self.refuses(64, "expected --replay", "run", "empty.yaml", "--from", 3)
        self.refuses(64, "--check: prints YAML", *REPLAY, "--check", "--json")

    def test_values_that_cannot_be_are_refused(self):
        for code, sentence, *words in ((64, "--speed", "--speed", "fast"), (64, "--duration", "--duration", -1),
                                       (64, "--max-q: found '0', expected a number above 0 and at most 1", "--max-q", 0),
                                       (64, "--significance: found 'analytic'", "--significance", "analytic"),
                                       (78, "significance.max_p: found 0.1, expected 0 where significance.kind is off",
                                        "--significance", "off", "--max-p", 0.1),
                                       (78, "window.size", "--set", "window.size=3")):
            with self.subTest(words=words):
                self.refuses(code, sentence, *REPLAY, *words)

    def test_what_is_not_there_is_named(self):
        self.refuses(66, "nowhere.yaml", "run", "nowhere.yaml")
        self.refuses(66, "nowhere.h5", "run", "--replay", "nowhere.h5")
        self.refuses(66, "directory", "run", "--replay", ".")
        port, = command.free_ports(1)
        self.refuses(69, "synfire play", "run", "empty.yaml", "--quiet",
                     *having("sources.0.type=zmq", f"sources.0.endpoint=tcp://127.0.0.1:{port}", "sources.0.timeout_s=0.3"))

    def test_a_device_has_no_end_that_is_looked_for(self):
        for words in ("run",), ("plan",), ("density",), ("info", "sim.h5", "--epochs"):
            with self.subTest(words=words), limited_memory():
                self.refuses(66, "/dev/zero: is a device, expected a file", *words, "/dev/zero")

    def test_the_resolved_configuration_loads_to_itself(self):
        resolved = self.synfire(*REPLAY, "--set", "window.length_s=4", "--check").stdout
        write("resolved.yaml", resolved)
        self.assertRegex(resolved, r"(?m)^  length_s: 4$")
        self.assertEqual(self.synfire("run", "resolved.yaml", "--check").stdout, resolved)
        self.refuses(78, "graph.patterns.0.pattern: pattern:1:5: found the end", "run", "--check",
                     "--set", "graph.patterns.0.pattern=A ->", "resolved.yaml")


class Outputs(OfTheReplay):
    """Outputs that cannot be."""

    def test_nothing_is_written_over_what_is_read(self):
        kept = pathlib.Path("sim.h5").read_bytes()
        own = "sources: [{type: replay, recording: sim.h5, speed: max}]\nsinks: [{type: jsonl, path: own.yaml, overwrite: true}]\n"
        write("own.yaml", own)
        self.refuses(78, "own.yaml is the configuration of this run", "run", "own.yaml", "--quiet")
        self.assertEqual(pathlib.Path("own.yaml").read_text(), own)
        self.refuses(78, "is the recording that is replayed", "run", "--replay", "./sim.h5", "--quiet", "--speed", "max",
                     *having("sinks.0.type=hdf5", "sinks.0.path=sim.h5", "sinks.0.overwrite=true"))
        self.refuses(78, "is the recording that is replayed", "record", "empty.yaml", "sim.h5", "--quiet", "--overwrite",
                     *having("sources.0.type=replay", "sources.0.recording=sim.h5"))
        for words in ("graph sim.h5 --out sim.h5", "mine sim.h5 --occurrences ./sim.h5", "bfs sim.h5 --source A --out sim.h5",
                      "density sim.h5 --quantity isi --units A --plot sim.h5"):
            with self.subTest(words=words):
                self.refuses(64, "would write over the input", *words.split())
        self.assertEqual(pathlib.Path("sim.h5").read_bytes(), kept)

    def test_a_folder_that_is_not_there_is_named(self):
        self.refuses(73, "/nowhere/out.jsonl", *REPLAY, "--quiet", *having(*JSONL, "sinks.0.path=/nowhere/out.jsonl"))

    def test_a_file_that_is_there_is_left_as_it_is(self):
        write("there.jsonl", "")
        done = self.synfire(*REPLAY, "--speed", "max", *having(*JSONL, "sinks.0.path=there.jsonl"))
        self.assertIn("there.jsonl is there already: what comes now goes to there-2.jsonl", done.stderr)
        self.assertIn(": jsonl writes to there-2.jsonl", done.stderr)
        self.assertEqual(os.path.getsize("there.jsonl"), 0)
        self.assertGreater(os.path.getsize("there-2.jsonl"), 0)

    def test_a_pipe_that_nobody_reads_is_not_waited_for(self):
        os.mkfifo("pipe.h5")
        run = self.begin("pipe", *REPLAY, "--quiet", *having("sinks.0.type=hdf5", "sinks.0.path=pipe.h5"))
        run.end(73)
        self.assertIn("pipe.h5: is a device or a pipe", run.err.read_text())

    def test_a_full_disk_is_told_when_it_happens_and_as_the_reason_of_the_exit_code(self):
        done = self.run_command(*REPLAY, "--speed", "max", "--quiet", *having(*JSONL, "sinks.0.path=/dev/full", "sinks.0.overwrite=true"))
        self.assertEqual(done.returncode, 74, done.stderr)
        self.assertEqual(sum("/dev/full: No space left" in line for line in done.stderr.splitlines()), 2, done.stderr)

    def test_a_port_that_is_taken_is_named(self):
        with socket.create_server(("127.0.0.1", 0)) as holder:
            port = holder.getsockname()[1]
            self.refuses(69, str(port), *REPLAY, "--quiet", *having("sinks.0.type=zmq", f"sinks.0.endpoint=tcp://127.0.0.1:{port}"))


class Runs(OfTheReplay):
    """What runs print, and how they end."""

    def test_a_signal_drains_and_closes_in_order(self):
        for number in signal.SIGINT, signal.SIGTERM:
            with self.subTest(signal=number.name):
                lines = pathlib.Path(f"{number.name}.jsonl")
                run = self.begin(number.name, *REPLAY, "--quiet", *having(*JSONL, f"sinks.0.path={lines}"), *SHORT)
                command.wait_for("topic", lines, run)
                run.send_signal(number)
                run.end(0)
                last = command.schema.parse(lines.read_text().splitlines()[-1])
                self.assertEqual((last["topic"], last["last"]), ("status", True))

    def test_a_second_interrupt_ends_a_drain_that_a_reader_holds_up(self):
        os.mkfifo("stuck.jsonl")
        reader = os.open("stuck.jsonl", os.O_RDWR)
        self.addCleanup(os.close, reader)
        run = self.begin("stuck", *REPLAY, "--speed", "max", "--quiet",
                         *having(*JSONL, "sinks.0.path=stuck.jsonl", "sinks.0.overwrite=true", "window.length_s=0.1",
                                 "window.hop_s=0.05"),
                         environment={"TSAN_OPTIONS": os.environ.get("TSAN_OPTIONS", "") + ":report_thread_leaks=0"})
        os.read(reader, 1)  # it runs, and listens to signals
        run.send_signal(signal.SIGINT)
        time.sleep(0.3)
        self.assertIsNone(run.poll())
        while run.poll() is None:  # two at once are one to a process that has not looked yet
            run.send_signal(signal.SIGINT)
            time.sleep(0.1)
        run.end(130)

    def test_the_summary_is_one_document(self):
        done = self.synfire(*REPLAY, "--speed", "max", "--json", "--quiet")
        summary = command.schema.held(command.schema.parse(done.stdout))
        self.assertTrue(summary["status"]["last"])
        self.assertGreater(summary["status"]["spikes"], 5000)
        self.assertIs(summary["episodes"]["partial"], False)

    def test_the_table_has_the_planted_chain(self):
        table = self.synfire(*REPLAY, "--speed", "max", *having("mine.delays_ms=4:6", "mine.max_size=8")).stdout
        self.assertRegex(table, "A > B > C .*whole")

    def test_by_either_schedule_every_sink_is_told_the_same(self):
        for schedule in "derived", "sequential":
            self.synfire(*REPLAY, "--speed", "max", "--schedule", schedule, "--quiet",
                         *having("mine.delays_ms=4:6", "graph.census=true", "density.0.quantity=isi", "density.0.unit=*", *JSONL,
                                 f"sinks.0.path={schedule}.jsonl"))
        derived, sequential = told("derived.jsonl"), told("sequential.jsonl")
        self.assertGreater(len(derived), 100)
        self.assertTrue(derived == sequential, "they differ")
        self.assertIn("schedule: sequential\n", self.synfire(*REPLAY, "--schedule", "sequential", "--check").stdout)


class Recordings(OfTheReplay):
    """What record leaves on disk, of one that is killed as well."""

    @classmethod
    def prepare(cls):
        super().prepare()
        pathlib.Path("killed").mkdir()
        port, = command.free_ports(1)
        player = cls.begin("play", "play", "sim.h5", "--to", f"tcp://127.0.0.1:{port}", "--speed", 1, "--quiet")
        recorder = cls.begin("record", "record", "empty.yaml", "killed/session.h5", "--quiet",
                             *having("sources.0.type=zmq", f"sources.0.endpoint=tcp://127.0.0.1:{port}"))
        command.wait_until(lambda: spikes_of("killed/session.h5") > 1000, "a flush", recorder)
        recorder.put_away()
        player.stop((0, 130))

    def record(self, path, *words):
        self.synfire("record", "empty.yaml", path, "--quiet", *words,
                     *having("sources.0.type=replay", "sources.0.recording=sim.h5", "sources.0.speed=max"))

    def test_a_recorder_that_is_killed_leaves_what_it_flushed(self):
        self.assertGreater(self.document("info", "killed/session.h5", "--quiet")["spikes"], 1000)

    def test_a_recording_that_is_there_is_replaced_only_where_asked_for(self):
        shutil.copytree("killed", "again")
        before, whole = spikes_of("again/session.h5"), spikes_of("sim.h5")
        self.record("again/session.h5")
        self.assertEqual((spikes_of("again/session.h5"), spikes_of("again/session-2.h5")), (before, whole))
        self.record("again/session.h5", "--overwrite")
        self.assertEqual(spikes_of("again/session.h5"), whole)


if __name__ == "__main__":
    command.main()
