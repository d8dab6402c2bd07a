# SPDX-License-Identifier: Apache-2.0
"""`run --check` is the run's own opening: what it accepts opens, and what a run refuses is refused by the same sentence, with a
recording beside it and without."""
import pathlib
import socket

import command

REPLAY = ("--replay", "sim.csv")
RUN = ("run", "run.yaml", *REPLAY, "--speed", "max", "--quiet")
CHECK = ("run", "run.yaml", "--check", "--quiet")


def configure(text):
    pathlib.Path("run.yaml").write_text(text + "\n")


class Check(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "--duration", 2, "sim.csv")

    def test_what_a_run_refuses_is_refused_by_the_same_sentence(self):
        for text in (
                'mine: {max_size: 1}', 'mine: {engine: fastest}', 'watch: ["A -(0,"]', 'track: ["A -(0,5]-> B", "A -(0,5]-> B"]',
                'triggers: [{name: a, episode: "A -(5,5]-> B"}]', 'features: {bin_ms: 10, units: [A, A]}',
                'features: {bin_ms: 10, edges: ["A -(0,5]-> B -(0,5]-> C"]}', 'density: [{quantity: delay, episode: A}]',
                'density: [{quantity: position, method: isj}]', 'graph: {patterns: [{pattern: "A ->"}]}'):
            with self.subTest(text=text):
                configure(text)
                said = self.run_command(*RUN)
                self.assertEqual(said.returncode, 78, said.stderr)
                for beside in REPLAY, ():
                    checked = self.run_command(*CHECK, *beside)
                    self.assertEqual((checked.returncode, checked.stderr), (78, said.stderr))

    def test_what_it_accepts_opens(self):
        for text in (
                'mine: {engine: reference, max_size: 2}', 'density: [{quantity: isi, unit: B}, {quantity: position, method: scott}]',
                '{watch: ["A -(0,5]-> #3 -(0,5]-> \\"B\\""], triggers: [{name: a, episode: "C -(0,5]-> D"}], '
                'features: {bin_ms: 10, units: [E], episodes: [a]}}',
                'graph: {reach: [{from: A, hops: 2}]}'):
            with self.subTest(text=text):
                configure(text)
                for words in RUN, (*CHECK, *REPLAY), CHECK:
                    self.synfire(*words)

    def test_names_can_be_wrong_only_where_they_are_known(self):
        configure('watch: ["A -(0,5]-> nobody"]')
        self.synfire("run", "run.yaml", "--check")
        self.refuses(78, "watch.0: A -(0,5]-> nobody: column 12: no unit is named 'nobody'", "run", "run.yaml", "--check", *REPLAY)

    def test_sinks_that_cannot_open_are_refused(self):
        for code, sentence, sink in (
                (78, "bogus: is no ZeroMQ endpoint", '{type: zmq, endpoint: bogus}'),
                (78, "is no ZeroMQ endpoint", '{type: zmq, endpoint: "tcp://127.0.0.1:99999"}'),
                (78, "say `insecure: true`", '{type: zmq, endpoint: "tcp://*:7710"}'),
                (78, "say `insecure: true`", '{type: web, endpoint: "0.0.0.0:7730"}'),
                (78, "expected HOST:PORT", '{type: web, endpoint: "http://127.0.0.1:99999"}'),
                (78, "is no OSC receiver", '{type: osc, endpoint: bogus}'),
                (73, "nowhere/run.h5: cannot create: No such file or directory", '{type: hdf5, path: nowhere/run.h5}'),
                (73, "nowhere/run.jsonl: cannot create: No such file or directory", '{type: jsonl, path: nowhere/run.jsonl}')):
            with self.subTest(sink=sink):
                configure(f"sinks: [{sink}]")
                self.refuses(code, sentence, "run", "run.yaml", "--check")
                self.refuses(code, sentence, *RUN)

    def test_an_endpoint_may_be_bound_already(self):  # several runs may stand in one file, and one of them runs
        with socket.create_server(("127.0.0.1", 0)) as taken:
            configure(f'sinks: [{{type: zmq, endpoint: "tcp://127.0.0.1:{taken.getsockname()[1]}"}}]')
            self.synfire(*CHECK)
            self.refuses(69, "the port is in use by another program", *RUN)


if __name__ == "__main__":
    command.main()
