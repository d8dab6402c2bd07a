# SPDX-License-Identifier: Apache-2.0
"""`run --check` is the beginning of a run: what it accepts opens as far as nobody has to be met, and what it refuses the run
refuses by the same sentence, at the same place and with the same exit code, before it waits for anybody. With every kind of
source and sink, of which each has at least one value that cannot be."""
import os
import pathlib
import re
import socket
import unittest

import command

# Of each source: what is wrong, and the key that is named. Endpoints that are none, files that are not there or damaged.
SOURCES = (
    ("replay", "recording: nowhere.h5", 66, "recording"),
    ("replay", "recording: damaged.csv", 65, "recording"),
    ("replay", "recording: sim.csv, speed: 0", 78, "speed"),
    ("replay", "recording: sim.csv, speed: fast", 78, "speed"),
    ("replay", "recording: sim.csv, columns: nonsense", 78, "columns"),
    ("replay", "recording: sim.csv, speed: max, pulses: ttl0", 78, "pulses"),
    ("zmq", "endpoint: foo", 78, "endpoint"),
    ("zmq", 'endpoint: "tcp://127.0.0.1"', 78, "endpoint"),
    ("zmq", 'endpoint: "tcp://127.0.0.1:99999"', 78, "endpoint"),
    ("zmq", 'endpoint: "tcp://*:7700"', 78, "endpoint"),
    ("zmq", f'endpoint: "ipc://{"x" * 120}"', 78, "endpoint"),
    ("zmq", f'endpoint: "tcp://{"x" * 260}:1"', 78, "endpoint"),
    ("zmq", "key: own.key_secret", 78, "server_key"),
    ("zmq", "key: nowhere, server_key: own.key", 78, "key"),
    ("zmq", "key: own.key, server_key: own.key", 78, "key"),
    ("zmq", "key: open.key_secret, server_key: own.key", 78, "key"),
    ("zmq", "key: own.key_secret, server_key: damaged.csv", 78, "server_key"),
    ("open-ephys", "endpoint: foo", 78, "endpoint"),
    ("open-ephys", "heartbeat: foo", 78, "heartbeat"),
    ("open-ephys", "electrodes: nowhere", 78, "electrodes"),
    ("open-ephys", "policy: block", 78, "policy"),
    ("event-broadcaster", "endpoint: foo", 78, "endpoint"),
    ("event-broadcaster", "electrodes: damaged.cfg", 78, "electrodes"),
    ("maxwell", "endpoint: foo", 78, "endpoint"),
    ("maxwell", "electrodes: nowhere", 78, "electrodes"),
    ("maxwell", "electrodes: damaged.cfg", 78, "electrodes"),
    ("maxwell", "layout: mxw32", 78, "layout"),
    ("intan", "endpoint: foo", 78, "endpoint"),
    ("intan", 'endpoint: "tcp://127.0.0.1:0"', 78, "endpoint"),
    ("intan", "policy: block", 78, "policy"),
    ("brand", "endpoint: foo", (69, 78), "endpoint"),  # 69: built without hiredis
    ("brand", "electrodes: nowhere", 78, "electrodes"),
    ("trodes", "endpoint: foo", 78, "endpoint"),
    ("trodes", "electrodes: nowhere", 78, "electrodes"),
    ("lsl", "endpoint: foo", 78, "endpoint"),
    ("lsl", "markers: foo", 78, "markers"),
    ("lsl", "electrodes: damaged.cfg", 78, "electrodes"),
    ("blackrock", "endpoint: foo", 78, "endpoint"),
    ("blackrock", 'endpoint: "tcp://127.0.0.1:51002"', 78, "endpoint"),
    ("blackrock", "ask: foo", 78, "ask"),
    ("blackrock", "device: foo", 78, "device"),
    ("blackrock", "electrodes: nowhere", 78, "electrodes"),
    ("cortical", "endpoint: foo", 78, "endpoint"),
    ("cortical", 'endpoint: "ws://127.0.0.1"', 78, "endpoint"),
    ("cortical", 'endpoint: "wss://127.0.0.1:1025"', 78, "endpoint"),
    ("cortical", 'data_streams: ",,"', 78, "data_streams"),
    ("cortical", "electrodes: nowhere", 78, "electrodes"),
)

SINKS = (
    ("jsonl", "path: nowhere/run.jsonl", 73, "path"),
    ("jsonl", "path: folder", 73, "path"),
    ("jsonl", "path: run.yaml", 78, "path"),
    ("hdf5", "path: nowhere/run.h5", 73, "path"),
    ("hdf5", "path: damaged.csv/run.h5", 73, "path"),
    ("hdf5", "path: folder, overwrite: true", 73, "path"),
    ("zmq", "endpoint: foo", 78, "endpoint"),
    ("zmq", 'endpoint: "tcp://*:7710"', 78, "endpoint"),
    ("zmq", "clients: own.key", 78, "key"),
    ("zmq", "key: nowhere, clients: own.key", 78, "key"),
    ("zmq", "key: own.key_secret, clients: folder", 78, "clients"),
    ("osc", "endpoint: foo", 78, "endpoint"),
    ("osc", 'endpoint: "no.such.host.invalid:9000"', 78, "endpoint"),
    ("web", "endpoint: foo", 78, "endpoint"),
    ("web", 'endpoint: "0.0.0.0:7730"', 78, "endpoint"),
    ("serial", "path: /dev/null, baud: 12345", 78, "baud"),
    ("serial", "path: damaged.csv", 69, "path"),
    ("serial", "path: /dev/null, send: '{x}'", 78, "send"),
    ("serial", "path: /dev/null, then: '\\x'", 78, "then"),
    ("serial", "path: /dev/null, trigger: nobody", 78, "trigger"),
    ("command", "endpoint: foo", 78, "endpoint"),
    ("command", 'endpoint: "tcp://127.0.0.1:1", pulse_ms: 5', 78, "then"),
    ("command", 'endpoint: "tcp://127.0.0.1:1", via: http, target: "/a b"', 78, "target"),
    ("command", 'endpoint: "http://127.0.0.1:1", via: req', 78, "endpoint"),
    ("command", 'endpoint: "tcp://a b:1", via: req', 78, "endpoint"),
    ("lsl", "name: triggers", 78, "name"),
    ("lsl", "insecure: true, send: '{x}'", 78, "send"),
)

# Of all else: the line, and where it is refused.
OTHERS = (
    ("control: [{token_file: nowhere}]", 78, "control.0.token_file"),
    ("control: [{token_file: open.token}]", 78, "control.0.token_file"),
    ("control: [{token_file: short.token}]", 78, "control.0.token_file"),
    ("control: [{token_file: token, endpoint: foo}]", 78, "control.0.endpoint"),
    ('control: [{token_file: token, endpoint: "tcp://*:7740"}]', 78, "control.0.endpoint"),
    ("control: [{token_file: token, key: own.key_secret}]", 78, "control.0.clients"),
    ("control: [{token_file: token, key: nowhere, clients: own.key}]", 78, "control.0.key"),
    ("control: [{token_file: token, key: own.key_secret, clients: nowhere}]", 78, "control.0.clients"),
    ("rules: [nowhere]", 78, "rules.0"),
    ("rules: [damaged.csv]", 78, "rules.0"),
    ("realtime: {core: first}", 78, "realtime.core"),
    ("realtime: {core: 1024}", 78, "realtime.core"),
    ("device: gpu", 78, "device"),
    ("device_memory: much", 78, "device_memory"),
    ("criticality: {every_s: 0.05}", 78, "criticality.every_s"),
    ("features: {bin_ms: 0.5, units: ['*']}", 78, "features.bin_ms"),
    ("graph: {rewired: 1}", 78, "graph.rewired"),
    ("graph: {patterns: [{pattern: 'A ->'}]}", 78, "graph.patterns.0.pattern"),
    ("blank: [{marker: stim, from_ms: -1, to_ms: 1}]", 78, "blank.0.from_ms"),
    ("triggers: [{name: 'a b', episode: 'A -(0,5]-> B'}]", 78, "triggers.0.name"),
    ("triggers: [{name: a, episode: 'A -(5,5]-> B'}]", 78, "triggers.0.episode"),
    ("density: [{quantity: delay, episode: A}]", 78, "density.0"),
    ("mine: {max_size: 1}", 78, "mine.max_size"),
    ("schedule: none", 78, "schedule"),
)

# Names that a recording has not, which a live source may have.
NAMES = (
    ("track: ['A -(0,5]-> ZZ']", "track.0"),
    ("watch: ['ZZ -(0,5]-> A']", "watch.0"),
    ("density: [{quantity: isi, unit: ZZ}]", "density.0"),
    ("density: [{quantity: delay, episode: 'A -(0,5]-> ZZ'}]", "density.0"),
    ("triggers: [{name: a, episode: 'A -(0,5]-> ZZ'}]", "triggers.0.episode"),
    ("features: {bin_ms: 10, units: [ZZ]}", "features.units.0"),
    ("features: {bin_ms: 10, edges: ['A -(0,5]-> ZZ']}", "features.edges.0"),
    ("graph: {reach: [{from: ZZ}]}", "graph.reach.0.from"),
)

REPLAY = "sources: [{type: replay, recording: sim.csv, speed: max}]"


class CheckOpens(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "--duration", "2", "sim.csv", "--quiet")
        cls.synfire("keys", "own")
        pathlib.Path("open.key_secret").write_text(pathlib.Path("own.key_secret").read_text())
        for name, text, mode in (("open.key_secret", None, 0o644), ("damaged.csv", "what is this\n", 0o644),
                                 ("damaged.cfg", "0(1)x\n", 0o644), ("open.token", "a secret of some length\n", 0o644),
                                 ("short.token", "a\n", 0o600), ("token", "a secret of some length\n", 0o600)):
            if text is not None:
                pathlib.Path(name).write_text(text)
            os.chmod(name, mode)
        os.mkdir("folder")

    def both(self, *lines):
        """What --check and the run say of this file: the same, with the same exit code."""
        pathlib.Path("run.yaml").write_text("".join(f"{line}\n" for line in lines))
        before = sorted(os.listdir())
        checked = self.run_command("run", "run.yaml", "--check", "--quiet")
        self.assertEqual(sorted(os.listdir()), before)
        ran = self.run_command("run", "run.yaml", "--quiet")
        self.assertEqual((checked.returncode, checked.stderr), (ran.returncode, ran.stderr))
        return checked

    def refused(self, code, place, line, *lines):
        """The line is refused by both, in one sentence that has its place in the file."""
        done = self.both(*lines, line)
        self.assertIn(done.returncode, code if isinstance(code, tuple) else (code,), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        if done.returncode == code or not isinstance(code, tuple):
            self.assertRegex(done.stderr, rf"^synfire: run: run.yaml:{len(lines) + 1}:\d+: {re.escape(place)}: ")

    def kinds(self, what):
        """The kinds that there are, as a refusal names them."""
        pathlib.Path("run.yaml").write_text(f"{what}: [{{type: none-of-them}}]\n")
        said = self.run_command("run", "run.yaml", "--check").stderr
        return set(re.search(r"expected one of (.*)$", said, re.MULTILINE)[1].split(", "))

    def test_every_source_is_refused_as_the_run_refuses_it(self):
        self.assertEqual({kind for kind, *_ in SOURCES}, self.kinds("sources"))
        for kind, wrong, code, key in SOURCES:
            with self.subTest(kind=kind, wrong=wrong):
                patience = "" if kind == "replay" else "timeout_s: 0.1, "
                self.refused(code, f"sources.0.{key}", f"sources: [{{type: {kind}, {patience}{wrong}}}]")

    def test_every_sink_is_refused_as_the_run_refuses_it(self):
        self.assertEqual({kind for kind, *_ in SINKS}, self.kinds("sinks"))
        for kind, wrong, code, key in SINKS:
            with self.subTest(kind=kind, wrong=wrong):
                self.refused(code, f"sinks.0.{key}", f"sinks: [{{type: {kind}, {wrong}}}]", REPLAY)

    def test_all_else_is_refused_as_the_run_refuses_it(self):
        for line, code, place in OTHERS:
            with self.subTest(line=line):
                self.refused(code, place, line, REPLAY)

    def test_all_is_refused_before_a_source_is_waited_for(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            waited_for = f'sources: [{{type: zmq, endpoint: "tcp://127.0.0.1:{silent.getsockname()[1]}", timeout_s: 0.5}}]'
            for line, code, place in OTHERS:
                with self.subTest(line=line):
                    self.refused(code, place, line, waited_for)

    def test_names_that_the_recording_has_not_are_refused(self):
        for line, place in NAMES:
            with self.subTest(line=line):
                self.refused(78, place, line, REPLAY)
                pathlib.Path("run.yaml").write_text(f"{line}\nsources: [{{type: zmq}}]\n")
                self.synfire("run", "run.yaml", "--check")

    def test_a_recording_beside_a_live_source_is_read(self):
        self.refused(66, "sources.1.recording", "- {type: replay, recording: nowhere.h5}", "sources:", "- {type: zmq}")

    def test_what_is_taken_runs(self):
        for line in ("mine: {engine: reference, max_size: 2}", "control: [{token_file: token, endpoint: 'ipc://told'}]",
                     "sinks: [{type: zmq, endpoint: 'ipc://out', key: own.key_secret, clients: own.key}]",
                     "sinks: [{type: jsonl, path: run.jsonl, overwrite: true}, {type: hdf5, path: run.h5, overwrite: true}]",
                     "realtime: {core: any}", "criticality: {every_s: 0.1}", "graph: {rewired: 0}"):
            with self.subTest(line=line):
                pathlib.Path("run.yaml").write_text(f"{REPLAY}\n{line}\n")
                before = sorted(os.listdir())
                self.synfire("run", "run.yaml", "--check", "--quiet")
                self.assertEqual(sorted(os.listdir()), before)
                self.synfire("run", "run.yaml", "--quiet")

    def test_configurations_that_come_with_it_need_no_rig(self):
        given = {"reference": ("--set", "sources.0.recording=sim.csv", "--set", "sinks.7.insecure=true"),
                 "replay": ("--set", "sources.0.recording=sim.csv")}
        for path in sorted((command.SOURCE / "configs").glob("*.yaml")):
            with self.subTest(path=path.name):
                self.synfire("run", path.stem, "--check", "--quiet", *given.get(path.stem, ()))


if __name__ == "__main__":
    command.main()
