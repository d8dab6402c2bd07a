# SPDX-License-Identifier: Apache-2.0
"""A recording of few spikes, whose hops take microseconds, replayed as fast as possible into a file: it holds every hop."""
import command


class ReplayFiles(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--unit-count", 4, "--rate", 0.05, "--duration", 3000)
        cls.sinks = {kind: cls.sinks_of(kind) for kind in ("jsonl", "hdf5")}  # each alone: one that is waited for gives the other time

    @classmethod
    def sinks_of(cls, kind):
        return cls.document("run", "--replay", "sim.h5", "--speed", "max", "--set", "device=cpu", "--set", f"sinks.0.type={kind}",
                            "--set", f"sinks.0.path=run.{kind}")["status"]["sinks"]

    def test_no_file_loses_a_message(self):
        for kind, (sink,) in self.sinks.items():
            with self.subTest(kind=kind):
                self.assertEqual(sink["dropped"], 0)
                self.assertGreater(sink["published"], 2900)

    def test_json_lines_have_every_hop(self):
        hops = [message["hop"] for message in command.messages_of("run.jsonl", "episodes")]
        self.assertEqual(hops, list(range(hops[0], hops[0] + len(hops))))
        self.assertGreater(len(hops), 2900)


if __name__ == "__main__":
    command.main()
