# SPDX-License-Identifier: Apache-2.0
"""What goes wrong in a live stream is counted by cause and published, the rest goes through, and one broken time stamp neither makes
what follows late nor fills the output with empty windows."""
import pathlib
import time

import command

command.need_modules()
import wire
from wire import SECOND, YEAR

SPIKES = 27
GOOD = 24
COUNTED = {"spikes": SPIKES, "gaps": 2, "gap_lost": 4, "out_of_range": 1, "leaps": 1, "late": 1, "malformed": 4, "restarts": 0,
           "dropped": 0}


def send(sender):
    sender.wait()
    sender.hello()
    time.sleep(0.5)
    sender.hello()
    for i in range(10):
        sender.data(i * SECOND, [(i * SECOND + 1, 0), (i * SECOND + 5000001, 1)])
    sender.sequence += 3  # lost
    sender.data(10 * SECOND, [(10 * SECOND, 0)])
    sender.data(10 * SECOND, [(10 * SECOND + 1, 0), (10 * SECOND + 2, 9)])  # no such unit
    sender.data(10 * SECOND, [(10 * SECOND + 3, 0), (10 * SECOND + 4 + YEAR, 1)])  # a broken time stamp
    sender.send(wire.HEARTBEAT, 11 * SECOND)
    sender.send(wire.HEARTBEAT, 11 * SECOND + YEAR)  # and a broken clock
    sender.sequence += 1
    sender.send(wire.HEARTBEAT, 12 * SECOND)
    sender.socket.send(b"nothing of the kind")  # foreign
    sender.send(wire.DATA, 13 * SECOND, wire.data([(13 * SECOND, 0)])[:-1])  # short
    sender.send(wire.DATA, 13 * SECOND, wire.data([(13 * SECOND, 0)]) + b"!")  # long
    sender.data(14 * SECOND, [(14 * SECOND, 0), (13 * SECOND, 1)])  # times go back within a frame
    sender.data(14 * SECOND, [(11 * SECOND, 0), (14 * SECOND, 1)])  # the first is late
    sender.end(15 * SECOND, SPIKES)
    sender.close()


class Broken(command.Test):
    @classmethod
    def prepare(cls):
        port, = command.free_ports(1)
        pathlib.Path("run.yaml").write_text(f"""\
sources: [{{type: zmq, endpoint: "tcp://127.0.0.1:{port}"}}]
window: {{length_s: 2, hop_s: 1}}
mine: {{every: 0}}
track: ["A -(4,6]-> B"]
sinks: [{{type: jsonl, path: run.jsonl, policy: block}}]
""")
        cls.live = cls.begin("run", "run", "run.yaml", "--json", "--quiet")
        send(wire.Sender(f"tcp://127.0.0.1:{port}"))
        cls.live.end()
        cls.status = command.messages_of("run.jsonl", "status")[-1]
        cls.source = cls.status["sources"][0]

    def test_what_is_whole_goes_through_and_the_rest_is_counted_by_cause(self):
        self.assertEqual(self.status["spikes"], GOOD)
        self.assertEqual({key: self.source[key] for key in COUNTED}, COUNTED)

    def test_the_summary_says_the_same_and_a_quiet_run_nothing_more(self):
        self.assertEqual(self.live.document()["status"]["sources"], self.status["sources"])
        self.assertEqual(self.live.err.read_text(), "")

    def test_windows_are_those_of_the_stream(self):
        # As all is sent at once, the clock steps ahead by 2 s near the end, and the window of that is left out; on a machine so slow
        # that a second passes meanwhile it does not.
        windows = command.messages_of("run.jsonl", "episodes")
        self.assertEqual(len(windows), 14 - (self.source["steps"] > 0))
        self.assertEqual([window["episodes"][0]["count"] for window in windows[:9]], [1] + 8 * [2])


if __name__ == "__main__":
    command.main()
