# SPDX-License-Identifier: Apache-2.0
"""Senders that die, hang, come back and never say END: status goes out by wall clock, every sink says how each source is, one that
comes back at clock 0 is joined on, and the run ends by itself when nobody is left."""
import pathlib
import signal
import socket

import command

command.need_modules()
import h5py


class Silence(command.Test):
    def setUp(self):
        *ports, self.osc = command.free_ports(4)
        self.endpoint, self.other, self.out = (f"tcp://127.0.0.1:{port}" for port in ports)

    @staticmethod
    def configure(timeout_s, endpoints, sinks="", more=""):
        sources = "".join(f'- {{type: zmq, endpoint: "{endpoint}", timeout_s: {timeout_s}}}\n' for endpoint in endpoints)
        pathlib.Path("run.yaml").write_text(f"""\
sources:
{sources}window: {{length_s: 1, hop_s: 0.5}}
mine: {{every: 0}}
graph: {{enabled: false}}
{more}sinks:
- {{type: jsonl, path: run.jsonl, policy: block, overwrite: true}}
{sinks}""")
        pathlib.Path("run.jsonl").write_text("")

    def configure_heard(self, timeout_s):
        """One source, and every kind of sink."""
        self.configure(timeout_s, [self.endpoint], f"""\
- {{type: zmq, endpoint: "{self.out}", policy: block, wait_subscribers: 1}}
- {{type: osc, endpoint: "127.0.0.1:{self.osc}", policy: block}}
- {{type: hdf5, path: run.h5, policy: block, overwrite: true}}
""", 'track: ["A -(4,6]-> B"]\n')

    def send(self, *options, name="sender", endpoint=None):
        """A sender that is open, but for one that waits for a file."""
        sender = self.begin(name, command.HERE / "steady_sender.py", endpoint or self.endpoint, *options)
        if "--after" not in options:
            command.wait_for("^open\n", sender.out, sender)
        return sender

    def run_heard(self, *options):
        """A run, and who receives what it publishes."""
        receiver = self.begin("receiver", command.HERE / "receive.py", self.out, "zmq.jsonl", self.osc, "osc.jsonl")
        return self.begin("run", "run", "run.yaml", "--quiet", *options), receiver

    def end(self, run, receiver, code):
        run.end(code)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as teller:
            teller.sendto(b"/end\0\0\0\0,\0\0\0", ("127.0.0.1", self.osc))
        receiver.end()

    @staticmethod
    def statuses(path="run.jsonl"):
        return command.messages_of(path, "status", whole=True)

    def states(self, path="run.jsonl"):
        return [status["sources"][0]["state"] for status in self.statuses(path)]

    def assert_pass(self, *wanted):
        """It was so in turn; a busy machine may stall a sender once more."""
        left = iter(self.states())
        self.assertTrue(all(state in left for state in wanted), self.states())

    def test_one_dies_and_one_like_it_takes_its_place_and_dies_too(self):
        self.configure_heard(5)
        first = self.send(1.5, name="first")
        self.send(1.5, "--after", "stalled", name="second")  # it is started in time: that takes long on a busy machine
        run, receiver = self.run_heard()
        first.wait(300)
        command.wait_until(lambda: self.states()[-1:] in (["stalled"], ["lost"]), "a stall", run)
        pathlib.Path("stalled").touch()
        self.end(run, receiver, 69)
        self.assertIn("the sender is gone: nothing came for 10 s, its connection is closed and its stream has no end", run.err.read_text())
        self.assert_pass("live", "stalled", "live", "stalled", "lost")
        states, last = self.states(), self.statuses()[-1]
        source = last["sources"][0]
        self.assertEqual(states[-1], "lost")
        self.assertGreaterEqual(min(states.count("stalled"), states.count("lost")), 2, states)
        self.assertEqual([source[key] for key in ("restarts", "epochs", "late", "missing_spikes")], [1, 1, 0, None])
        self.assertGreater(source["shift_ns"], 0)
        self.assertEqual(last["spikes"], source["spikes"])
        with self.subTest("windows go on"):
            windows = command.messages_of("run.jsonl", "episodes")
            ends = [window["to_ns"] for window in windows]
            self.assertEqual(ends, sorted(set(ends)))
            self.assertLess(windows[-1]["to_s"], 4)  # joined on: 3 s of stream, not 1.5 s twice
        with self.subTest("every sink says so"):
            self.assertEqual(self.states("zmq.jsonl"), states)
            self.assertEqual([line.split()[1] for line in pathlib.Path("osc.jsonl.sources").read_text().splitlines()], states)
            with h5py.File("run.h5") as file:
                self.assertEqual([row["state"].decode() for row in file["results/sources"][:]], states)

    def test_one_that_hangs_and_is_connected_is_waited_for_and_its_end_is_followed(self):
        self.configure_heard(4)
        sender = self.send(4, "--hang", "--end")
        run, receiver = self.run_heard()
        command.wait_for("^State:.T", f"/proc/{sender.pid}/status", run)
        command.wait_until(lambda: self.states().count("lost") >= 3, "three times lost", run)
        sender.send_signal(signal.SIGCONT)
        self.end(run, receiver, 0)
        self.assert_pass("live", "stalled", "lost", "live", "ended")
        last = self.statuses()[-1]
        source = last["sources"][0]
        self.assertEqual([source[key] for key in ("gaps", "late", "leaps", "epochs")], [0, 0, 0, 0])
        self.assertEqual(source["spikes"], last["spikes"])
        self.assertGreater(last["spikes"], 300)

    def test_where_one_stays_and_says_no_more_a_duration_ends_the_run_by_wall_clock(self):
        self.configure_heard(2)
        self.send(1, "--stay")
        run, receiver = self.run_heard("--duration", 9)
        self.end(run, receiver, 0)
        self.assertIn("its sender is still connected and is waited for", run.err.read_text())
        self.assertIn("lost", self.states())

    def test_where_one_of_two_dies_the_stream_of_the_other_goes_on_to_its_end(self):
        self.configure(4, [self.endpoint, self.other])
        self.send(1, name="first")
        self.send(6, "--end", name="second", endpoint=self.other)
        self.begin("run", "run", "run.yaml", "--quiet").end(69)
        last = self.statuses()[-1]
        sources = last["sources"]
        self.assertEqual([source["state"] for source in sources], ["lost", "ended"])
        self.assertEqual(sources[1]["late"], 0)
        self.assertEqual(last["spikes"], sources[0]["spikes"] + sources[1]["spikes"])


if __name__ == "__main__":
    command.main()
