# SPDX-License-Identifier: Apache-2.0
"""One broken time stamp, clock or sequence number of a natural sender costs itself and nothing that follows; a clock that steps or
begins anew is followed. Every spike is in its right window or counted by its cause."""
import pathlib
import time

import command

command.need_modules()
import h5py
import wire
from wire import SECOND, YEAR

FRAMES, SPIKES, STEP = 100, 10, 10**6  # a spike a millisecond
MIDDLE = FRAMES // 2
COUNTS = ("late", "leaps", "undone", "steps", "epochs", "restarts", "gaps", "gap_lost", "malformed", "missing_spikes", "missing_markers",
          "markers", "markers_left_out", "held", "dropped", "out_of_range", "markers_late", "markers_dropped")


class Natural(wire.Sender):
    """A sender whose clock is its newest spike. It keeps what was meant, `good`: times and epochs. A trouble changes the frame
    that is about to be sent."""

    def __init__(self, endpoint):
        super().__init__(endpoint, run=7)
        self.now = self.epoch = self.sent = self.marked = 0
        self.good = []

    def send_frame(self, trouble):
        self.times, self.bad, self.marks = [self.now + i * STEP for i in range(SPIKES)], [], []
        self.clock = self.number = None
        self.now += SPIKES * STEP
        trouble(self)
        times = self.times + self.bad
        self.data(max(times) if self.clock is None else self.clock, [(at, i % 2) for i, at in enumerate(times)], self.marks, self.number)
        self.sent += len(times)
        self.marked += len(self.marks)
        self.good += [(at, self.epoch) for at in self.times]

    def send_bad_frame(self, at):
        self.data(at, [(at, 0)])
        self.sent += 1

    def lose_frames(self, count):
        """Which nobody gets; the sender counts their spikes."""
        self.sequence += count
        self.sent += count * SPIKES

    def step(self, by):
        self.times = [at + by for at in self.times]
        self.now += by

    def begin_anew(self, run):
        self.run, self.sequence, self.sent, self.epoch = run, 0, 0, 1
        self.hello()
        self.times, self.now = [i * STEP for i in range(SPIKES)], SPIKES * STEP


class Stamps(command.Test):
    def setUp(self):
        port, = command.free_ports(1)
        self.endpoint = f"tcp://127.0.0.1:{port}"
        pathlib.Path("run.yaml").write_text(f"""\
sources: [{{type: zmq, endpoint: "{self.endpoint}"}}]
window: {{length_s: 0.05, hop_s: 0.05, silence_s: 10}}
mine: {{every: 0}}
graph: {{enabled: false}}
sinks:
- {{type: jsonl, path: run.jsonl, policy: block, overwrite: true}}
- {{type: hdf5, path: run.h5, policy: block, overwrite: true}}
""")

    def assert_taken(self, trouble=lambda sender: None, at=MIDDLE, hello=None, unread=0, told=None, **expected):
        """What comes of a sender with a trouble at this frame, or whose hello has this number, is all in its place, less so many
        frames that are not read; `expected` of the counts are not 0; a marker tells of it."""
        run = self.begin("run", "run", "run.yaml", "--quiet")
        sender = Natural(self.endpoint)
        sender.wait()
        sender.hello(number=hello)
        time.sleep(0.3)
        for frame in range(FRAMES):
            sender.send_frame(trouble if frame == at else lambda sender: None)
        sender.end(sender.now, sender.sent, sender.marked)
        sender.close()
        run.end()
        good = sender.good[:at * SPIKES] + sender.good[(at + unread) * SPIKES:]
        status = command.messages_of("run.jsonl", "status")[-1]
        source = status["sources"][0]
        self.assertEqual({key: source[key] for key in COUNTS}, {**dict.fromkeys(COUNTS, 0), **expected})
        self.assertEqual((source["state"], status["window_dropped"], status["spikes"]), ("ended", 0, len(good)))
        self.assertEqual(source["spikes"], status["spikes"] + source["late"] + source["leaps"])
        if source["restarts"] == 0:
            self.assertEqual(source["spikes"] + source["missing_spikes"], sender.sent)
        self.assert_windows([at + (source["shift_ns"] if epoch else 0) for at, epoch in good], source)
        with h5py.File("run.h5") as file:
            row = file["results/sources"][-1]
            markers = [text.decode() for text in file["markers/text"]] if "markers" in file else []
        self.assertEqual((row["state"], row["leaps"], row["missing_spikes"]), (b"ended", source["leaps"], source["missing_spikes"]))
        said = [text for text in markers if text.startswith("synfire: ")]
        self.assertEqual([text for text in said if told and told in text] != [], told is not None, said)

    def assert_windows(self, times, source):
        self.assertEqual((source["shift_ns"] != 0, source["shift_ns"] % 10**6), (source["epochs"] > 0, 0))
        self.assertTrue(max(times) - min(times) < 2 * SECOND or source["steps"])
        windows = [(window["from_ns"], window["to_ns"], window["spikes"]) for window in command.messages_of("run.jsonl", "episodes")]
        for begin, end, count in windows:
            self.assertEqual(count, sum(begin <= at < end for at in times), (begin, end))
        self.assertEqual(sum(count for _, _, count in windows), len(times))

    def test_without_trouble_all_is_0(self):
        self.assert_taken()

    def test_a_broken_stamp_costs_itself(self):
        self.assert_taken(lambda sender: sender.bad.append(sender.now + YEAR), leaps=1, undone=1)

    def test_two_broken_stamps_in_a_frame_cost_themselves(self):
        self.assert_taken(lambda sender: sender.bad.extend(2 * [sender.now + YEAR]), leaps=2, undone=1)

    def test_two_frames_of_nothing_but_the_same_broken_stamp_cost_themselves(self):
        def trouble(sender):
            for _ in range(2):
                sender.send_bad_frame(sender.now + YEAR)

        self.assert_taken(trouble, leaps=2, undone=1)

    def test_a_stamp_half_an_hour_ahead_costs_itself(self):
        self.assert_taken(lambda sender: sender.bad.append(sender.now + 1800 * SECOND), leaps=1, undone=1)

    def test_a_broken_first_stamp_costs_itself(self):
        self.assert_taken(lambda sender: sender.bad.append(2**61), at=0, leaps=1)

    def test_a_broken_clock_costs_itself(self):
        self.assert_taken(lambda sender: setattr(sender, "clock", 2**63 - 1), undone=1)

    def test_a_broken_first_clock_costs_itself(self):
        self.assert_taken(lambda sender: setattr(sender, "clock", 2**62), at=0, undone=1)

    def test_a_broken_sequence_number_costs_itself(self):
        self.assert_taken(lambda sender: setattr(sender, "number", 2**63), malformed=1)

    def test_a_broken_first_sequence_number_costs_itself(self):
        self.assert_taken(hello=2**63)

    def test_a_gap_costs_what_lay_in_it(self):
        self.assert_taken(lambda sender: sender.lose_frames(3), gaps=1, gap_lost=3, missing_spikes=30)

    def test_a_clock_that_steps_is_followed(self):
        self.assert_taken(lambda sender: sender.step(YEAR), told="stepped ahead", steps=1, markers=1)

    def test_a_program_that_begins_anew_is_followed(self):
        self.assert_taken(lambda sender: sender.begin_anew(8), told="began anew", restarts=1, epochs=1, markers=1)

    def test_one_that_says_the_same_run_loses_its_hello_and_two_frames(self):
        self.assert_taken(lambda sender: sender.begin_anew(7), unread=2, told="began anew", restarts=1, epochs=1, markers=1, malformed=3,
                          missing_spikes=20)

    def test_a_broken_stamp_of_a_marker_costs_itself(self):
        self.assert_taken(lambda sender: sender.marks.extend([sender.now, sender.now + YEAR]), markers=1, markers_left_out=1, undone=1)


if __name__ == "__main__":
    command.main()
