# SPDX-License-Identifier: Apache-2.0
"""Two runs that are told to write the same files: the second is refused and the first records all it was sent; what is finished is
kept beside a successor, or replaced where that is asked. Nothing that is read or recorded is written over."""
import contextlib
import fcntl
import os
import pathlib
import re
import signal
import socket

import command

WRITING = "another program is writing this file"
READ = {"epochs", "episodes", "graph", "labels", "list", "positions", "registered", "token", "from-state", "key", "clients", "server-key"}
WRITTEN = {"out", "occurrences", "plot", "rule", "save", "nwb"}
NEEDED = {"count": ("--episodes", "A -(4,6]-> B"), "bfs": ("--source", "A"), "density": ("--quantity", "isi", "--units", "A"),
          "aggregate": ("--quantity", "isi", "--units", "A"), "rules": ("--labels", "labels.csv", "--window", 1)}


def write(path, text):
    pathlib.Path(path).write_text(text)


class Test(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--preset", "sym26", "--duration", 30, "--seed", 5, "--quiet")
        cls.spikes = cls.spikes_of("sim.h5")
        for name, overwrite in ("replace", "true"), ("keep", "false"):
            write(f"{name}.yaml", f"""\
window: {{length_s: 2, hop_s: 1}}
sinks: [{{type: hdf5, path: run.h5, overwrite: {overwrite}}}, {{type: jsonl, path: run.jsonl, overwrite: {overwrite}}}]
""")

    @classmethod
    def spikes_of(cls, path):
        return cls.document("info", path)["spikes"]

    @classmethod
    def begin_and_halt(cls):
        """A run that holds its files for as long as others take to be refused."""
        run = cls.begin("first", "run", "replace.yaml", "--replay", "sim.h5", "--speed", 5, "--json", "--quiet")
        command.wait_until(lambda: pathlib.Path("run.jsonl").exists() and pathlib.Path("run.jsonl").stat().st_size > 0, "a message", run)
        run.send_signal(signal.SIGSTOP)
        return run

    def assert_whole(self, name):
        self.assertEqual(self.spikes_of(f"{name}.h5"), self.spikes)
        self.assertIs(command.messages_of(f"{name}.jsonl", "status")[-1]["last"], True)


class WhileOneWrites(Test):
    @classmethod
    def prepare(cls):
        super().prepare()
        cls.first = cls.begin_and_halt()

    def test_a_second_run_is_refused(self):
        self.refuses(73, f"run.h5: {WRITING}", "run", "replace.yaml", "--replay", "sim.h5", "--quiet")

    def test_what_is_refused_for_one_of_its_files_has_replaced_none_of_the_others(self):
        second = ("run", "replace.yaml", "--replay", "sim.h5", "--quiet", "--set", "sinks.0.path=other.h5")
        recording = pathlib.Path("sim.h5").read_bytes()
        pathlib.Path("other.h5").write_bytes(recording)
        self.refuses(73, f"run.jsonl: {WRITING}", *second)
        self.assertEqual(pathlib.Path("other.h5").read_bytes(), recording)
        pathlib.Path("other.h5").unlink()
        self.refuses(73, f"run.jsonl: {WRITING}", *second)
        self.assertEqual(list(pathlib.Path().glob("*other*")), [])

    def test_commands_do_not_replace_what_it_writes(self):
        for sentence, name, option, path in (("a recording, which is not replaced", "graph", "--out", "run.h5"),
                                             ("another program is writing", "mine", "--occurrences", "run.jsonl")):
            with self.subTest(name=name):
                done = self.run_command(name, "sim.h5", "--delay", "4:6", "--min-count", 20, option, path, "--quiet")
                self.assertEqual(done.returncode, 73, done.stderr)
                self.assertIn(sentence, done.stderr)


class TheFirst(Test):
    def test_records_all_it_was_sent_although_a_second_was_refused(self):
        first = self.begin_and_halt()
        self.refuses(73, f"run.h5: {WRITING}", "run", "replace.yaml", "--replay", "sim.h5", "--quiet")
        first.send_signal(signal.SIGCONT)
        first.end()
        self.assertEqual(first.err.read_text(), "")
        self.assert_whole("run")


class Rigs(command.Test):
    def test_they_are_waited_for_once_all_outputs_can_be_had(self):
        rig, = command.free_ports(1)  # here no rig is there at all
        pathlib.Path("token").touch(0o600)
        write("token", "0123456789abcdef0123456789abcdef\n")
        with contextlib.ExitStack() as held:
            listener = held.enter_context(socket.create_server(("127.0.0.1", 0)))
            fcntl.flock(held.enter_context(open("held.h5", "w")), fcntl.LOCK_EX)
            taken = f"127.0.0.1:{listener.getsockname()[1]}"
            for code, sentence, outputs in (
                    (69, "port", f'sinks: [{{type: zmq, endpoint: "tcp://{taken}"}}]'), (69, "listen", f'sinks: [{{type: web, endpoint: "{taken}"}}]'),
                    (69, "serial", f"sinks: [{{type: serial, path: {os.getcwd()}/no-line}}]"),
                    (73, "writing", "sinks: [{type: hdf5, path: held.h5, overwrite: true}]"),
                    (69, "bind", f'control: [{{endpoint: "tcp://{taken}", token_file: token}}]')):
                with self.subTest(outputs=outputs):
                    write("rig.yaml", f'sources: [{{type: open-ephys, endpoint: "tcp://127.0.0.1:{rig}", timeout_s: 300}}]\n{outputs}\n')
                    self.refuses(code, sentence, "run", "rig.yaml", "--quiet")
        self.assertEqual(set(os.listdir()), {"token", "rig.yaml", "held.h5"})


class Options(Test):
    """Every option of every command that takes a file reads it, or writes over no recording and nothing that is read."""

    @classmethod
    def prepare(cls):
        super().prepare()
        write("labels.csv", "0,10,a\n10,20,b\n")
        names = [name for name in re.findall("(?m)^  ([a-z]{1,11}) ", cls.synfire("--help").stdout) if name != "synfire"]
        cls.options = [(name, option) for name in names
                       for option in re.findall("(?m)^  --([a-z-]+) (?:FILE|G) ", cls.synfire(name, "--help").stdout)]

    def test_each_reads_or_writes(self):
        self.assertGreater(len(self.options), 20)
        self.assertEqual({option for _, option in self.options} - READ - WRITTEN, set())

    def test_none_writes_over_a_recording_or_what_is_read(self):
        spikes = "A,1\nB,2\nA,3\n"
        write("spikes.csv", spikes)
        written = [(name, option) for name, option in self.options if option in WRITTEN]
        self.assertGreaterEqual(len(written), 6)
        for name, option in written:
            with self.subTest(name=name, option=option):
                words = (name, *(["raster"] if name == "plot" else []), "sim.h5", *NEEDED.get(name, ()), f"--{option}")
                self.refuses(73, "spikes.csv: is there and is no result or simulation", *words, "spikes.csv")
                self.refuses(64, "would write over the input", *words, "./sim.h5")
        self.refuses(73, "spikes.csv: is there and is no result or simulation", "simulate", "spikes.csv")
        self.assertEqual(pathlib.Path("spikes.csv").read_text(), spikes)
        self.assertEqual(self.spikes_of("sim.h5"), self.spikes)

    def test_a_rule_does_not_write_over_its_labels(self):
        self.refuses(64, "labels.csv: --rule would write over the input", "rules", "sim.h5", *NEEDED["rules"], "--rule", "labels.csv")


class Finished(Test):
    def setUp(self):
        """A folder of its own, with a run that has ended."""
        pathlib.Path(self._testMethodName).mkdir()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self._testMethodName)
        self.synfire("run", "../replace.yaml", "--replay", "../sim.h5", "--speed", "max", "--quiet")
        self.assert_whole("run")

    def test_it_is_kept_and_three_runs_at_once_have_three_names(self):
        before = {path: pathlib.Path(path).read_bytes() for path in ("run.h5", "run.jsonl")}
        runs = [self.begin(f"../{i}", "run", "../keep.yaml", "--replay", "../sim.h5", "--speed", "max") for i in range(3)]
        for run in runs:
            run.end()
        self.assertEqual({path: pathlib.Path(path).read_bytes() for path in before}, before)
        said = "".join(run.err.read_text() for run in runs)
        for name in "run-2", "run-3", "run-4":
            self.assert_whole(name)
            self.assertIn(f"run.h5 is there already: what comes now goes to {name}.h5", said)
            self.assertRegex(pathlib.Path(f"{name}.jsonl").read_text().splitlines()[-1], '"hdf5 run-[234].h5"')
        self.assertEqual(set(os.listdir()), {f"{name}.{ending}" for name in ("run", "run-2", "run-3", "run-4") for ending in ("h5", "jsonl")})

    def test_it_is_replaced_where_that_is_asked_and_nothing_else_is_left(self):
        self.synfire("run", "../replace.yaml", "--replay", "../sim.h5", "--speed", "max", "--duration", 3, "--quiet")
        self.assertLess(self.spikes_of("run.h5"), self.spikes)
        self.assertEqual(set(os.listdir()), {"run.h5", "run.jsonl"})


if __name__ == "__main__":
    command.main()
