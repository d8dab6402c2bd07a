# SPDX-License-Identifier: Apache-2.0
"""A run is asked for aggregates of the densities that it keeps: what it answers of a window is what `aggregate` says of that
stretch of the recording, in the protocol and by --from-state; states of runs are kept, and add up."""
import os

import command

command.need_modules()

import live

ISI = ("--range", "0.002:0.05")


def parsed(text):
    """An answer or a result, as its schema says."""
    return command.schema.held(command.schema.parse(text))


class LiveState(live.Controlled):
    @classmethod
    def prepare(cls):
        super().prepare()
        cls.synfire("simulate", "sim.h5", "--preset", "sym26", "--duration", 300, "--seed", 5, "--quiet")
        live.write_token("token")
        live.write("run.yaml", f"""\
sources: [{{type: replay, recording: sim.h5, speed: 2}}]
device: cpu
window: {{length_s: 400, hop_s: 0.5}}
mine: {{every: 0}}
significance: {{kind: "off"}}
graph: {{enabled: false}}
density: [{{quantity: isi, unit: "*"}}, {{quantity: rate, unit: A}}, {{quantity: delay, episode: "A -(0,20]-> B"}}, {{quantity: position}}]
control: [{{endpoint: "{cls.socket}", token_file: token, hold: true}}]
sinks: [{{type: jsonl, path: run.jsonl}}]
""")
        cls.ask = ("aggregate", "--from-state", cls.socket, "--token", "token")
        cls.live = cls.begin("run", "run", "run.yaml")
        command.wait_for("control listens at", "run.err", cls.live)
        cls.early = cls.run_command(*cls.ask, "--density", "isi A", "--range", "0:1")
        cls.control("start")
        cls.addClassCleanup(cls.stop_run)
        for words in ("rate A", "0:100"), ("isi A", "0:1"):  # the bandwidth is chosen from 50 intervals on
            command.wait_until(lambda: cls.run_command(*cls.ask, "--density", words[0], "--range", words[1]).returncode == 0,
                               f"an answer of {words}", cls.live)
        cls.first = cls.document(*cls.ask, "--density", "isi B", "--save", "b.h5", *ISI)

    @classmethod
    def stop_run(cls):
        """It goes on until here, whatever was asked, and ends well."""
        cls.control("stop")
        cls.live.end(0)
        command.wait_for('"last":true', "run.jsonl")

    def recorded(self, answer, op):
        """What the command says of the stretch of an answer, with its bandwidth."""
        return self.document("aggregate", "sim.h5", "--quantity", "isi", "--units", "A", "--log",
                             "--to", live.exact_seconds(answer["to_ns"]), "--bandwidth", repr(answer["h"]), *ISI, "--op", op)

    def test_before_the_start_there_is_no_data(self):
        self.assertEqual(self.early.returncode, 69)
        self.assertIn("not enough data: found 0 samples", self.early.stderr)

    def test_a_run_answers_as_the_command_of_the_same_stretch(self):
        for op in "count", "sum", "avg", "var":  # in the stream that goes on
            with self.subTest(op=op):
                answer = parsed(self.control("aggregate", "isi A", op, 0.002, 0.05))["aggregate"]
                self.assertEqual((answer["density"], answer["op"], answer["left_out"]), ("isi A", op, 0))
                out = self.recorded(answer, op)
                self.assertEqual(out["n"], answer["n"])
                self.assertGreaterEqual(out["n"], 50)
                if op == "var":  # the kurtosis is of samples, which the run does not keep: its bar is that of normal values
                    out["sampling_error"] = out["estimate"] * (2 / self.recorded(answer, "count")["estimate"]) ** 0.5
                for key, share in ("estimate", 2e-6), ("sampling_error", 2e-6), ("smoothing_error", 1e-3):
                    self.assertAlmostEqual(answer[key], out[key], delta=share * abs(out[key]))

    def test_the_mean_rate_of_a_unit_has_no_bounds(self):
        rate = parsed(self.control("aggregate", "rate A", "avg"))["aggregate"]
        self.assertEqual((rate["from"], rate["to"]), (None, None))
        self.assertTrue(5 < rate["estimate"] < 60, rate)

    def test_a_state_goes_over_the_socket(self):
        state = parsed(self.control("state", "isi B"))["state"]
        self.assertEqual((state["quantity"], state["name"], state["unit"]), ("isi", "B", 1))
        self.assertAlmostEqual(state["phi"][0], 1, delta=1e-6)

    def test_a_state_answers_beside_the_run(self):
        out = self.first
        self.assertEqual([out[key] for key in ("quantity", "name", "unit", "states", "exact", "saved")], ["isi", "B", 1, 1, None, "b.h5"])
        self.assertGreaterEqual(out["n"], 50)
        self.assertGreater(out["sampling_error"], 0)

    def test_a_state_that_is_kept_says_the_same(self):
        out = self.document("aggregate", "--from-state", "b.h5", *ISI)
        self.assertEqual((out["n"], out["estimate"]), (self.first["n"], self.first["estimate"]))

    def test_states_add_up_to_one(self):
        self.synfire(*self.ask, "--density", "isi A", "--save", "a.h5")
        done = self.synfire("aggregate", "--from-state", "a.h5", "b.h5", *ISI, "--save", "both.h5", "--json")
        self.assertEqual(done.stderr, "")
        out = parsed(done.stdout)
        self.assertEqual((out["states"], out["name"]), (2, None))
        self.assertGreater(out["n"], self.first["n"])
        self.assertGreater(out["estimate"], self.first["estimate"])
        out = self.document("aggregate", "--from-state", self.socket, "both.h5", "--token", "token", "--density", "isi C", *ISI)
        self.assertEqual((out["states"], out["name"]), (2, None))  # a run and a file together

    def test_what_the_run_does_not_keep_is_refused(self):
        self.refuses(69, "the run keeps none that is called 'isi nobody'", *self.ask, "--density", "isi nobody", "--range", "0:1")
        self.refuses(69, "positions are kept as counts", *self.ask, "--density", "position", "--range", "0:1")
        self.refuses(64, "is of samples: a state has none", *self.ask, "--density", "isi A", "--exact", "--range", "0:1")

    def test_what_is_needed_to_ask_a_run_is_said(self):
        asked = ("aggregate", "--from-state", self.socket, "--range", "0:1")
        self.refuses(64, "density: is needed to ask the run", *asked, "--token", "token")
        self.refuses(64, "token: is needed to ask the run", *asked, "--density", "isi A")
        self.refuses(64, "is of runs: no argument is a control socket", "aggregate", "--from-state", "b.h5", "--range", "0:1",
                     "--density", "isi A")
        self.refuses(64, "is of runs: with --from-state", "aggregate", "sim.h5", "--quantity", "isi", "--units", "A", "--range", "0:1",
                     "--density", "isi A")
        self.refuses(69, "no answer came within 0.1 s", "aggregate", "--from-state", f"ipc://{os.getcwd()}/nobody", "--token", "token",
                     "--density", "isi A", "--range", "0:1", "--wait", 0.1)

    def test_requests_that_cannot_be_are_refused(self):
        self.control_refuses(".*expected count, sum, avg or var", self.socket, "token", "aggregate", "isi A", "most")
        self.control_refuses(".*expected from < to", self.socket, "token", "aggregate", "isi A", "avg", 2, 1)


if __name__ == "__main__":
    command.main()
