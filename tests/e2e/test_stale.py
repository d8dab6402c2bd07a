# SPDX-License-Identifier: Apache-2.0
"""A spike's age is that of the stream: whatever waited in the sender, in a socket, or while the run itself was stopped, triggers
nothing, and disarms. How fast this machine is decides nothing here: what is late of itself is withheld too, and where no origin says
when spikes were due, they may be later by as much as the most punctual ones before them."""
import contextlib
import os
import pathlib
import select
import signal
import socket
import struct
import threading
import time
import unittest

import command

command.need_modules()
import h5py

MAX_AGE_MS = 100
HOLD_S = 0.9


class Way(threading.Thread):
    """A network between two ports that passes nothing on once it is to hold, and after HOLD_S all of it at once. It takes what comes
    meanwhile, so that nobody who sends notices."""

    def __init__(self, port, to_port):
        super().__init__(daemon=True)
        self.listener, self.to_port, self.until = socket.create_server(("127.0.0.1", port)), to_port, 0
        self.start()

    def hold(self):
        self.until = time.monotonic() + HOLD_S

    def run(self):
        while True:
            with self.listener.accept()[0] as here, contextlib.suppress(OSError):  # nobody there yet: whoever came tries again
                with socket.create_connection(("127.0.0.1", self.to_port)) as there:
                    self.join_ends({here: there, there: here})

    def join_ends(self, other):
        waits = dict.fromkeys(other, b"")
        while True:
            for one in select.select(list(other), [], [], 0.002)[0]:
                part = one.recv(1 << 16)
                if not part:
                    return
                waits[other[one]] += part
            if time.monotonic() >= self.until:
                for one in other:
                    one.sendall(waits[one])
                    waits[one] = b""


class Stale(command.Test):
    @classmethod
    def prepare(cls):
        cls.port, cls.osc, cls.way = command.free_ports(3)
        cls.endpoint = f"tcp://127.0.0.1:{cls.port}"
        cls.told = f"ipc://{os.getcwd()}/told"
        pathlib.Path("run.yaml").write_text(f"""\
sources: [{{type: zmq, endpoint: "{cls.endpoint}"}}]
window: {{length_s: 1, hop_s: 0.5}}
mine: {{every: 0}}
graph: {{enabled: false}}
triggers: [{{name: pair, episode: "A -(0,10]-> B", max_age_ms: {MAX_AGE_MS}}}]
sinks:
- {{type: jsonl, path: run.jsonl, policy: block, overwrite: true}}
- {{type: hdf5, path: run.h5, policy: block, overwrite: true}}
- {{type: zmq, endpoint: "{cls.told}"}}
- {{type: osc, endpoint: "127.0.0.1:{cls.osc}"}}
""")

    @contextlib.contextmanager
    def running(self, *options, through=None, preload="", behind_s=0):
        """The run of what a late sender sends, which in the end was no later than it knew, and at some time so far behind."""
        pathlib.Path("run.jsonl").write_text("")
        sender = self.begin("sender", command.HERE / "late_sender.py", self.endpoint, 20, *options)
        run = self.begin("run", "run", "run.yaml", "--set", f"sources.0.endpoint=tcp://127.0.0.1:{through or self.port}",
                         environment={"LD_PRELOAD": preload})
        command.wait_for("^[0-9]+\n", sender.out, run)
        yield run
        run.stop((0, 130))
        if run.returncode == 130:
            self.assertIn("the hop was left after 2 s", run.err.read_text())  # which a slow machine may need
        sender.put_away()
        self.judge(int(sender.out.read_text()), behind_s, "--origin" in options)

    @staticmethod
    def decisions(outcome=""):
        return [decision for decision in command.messages_of("run.jsonl", "decision", whole=True) if outcome in decision["outcome"]]

    def await_decisions(self, count, run, outcome=""):
        command.wait_until(lambda: len(self.decisions(outcome)) >= count, f"{count} decisions {outcome}", run)

    def await_one_more_withheld(self, run):
        self.await_decisions(len(self.decisions("withheld")) + 1, run, "withheld")

    def judge(self, zero, behind_s, has_origin):
        """No trigger left later than its max_age_ms after it was due, by the sender's own clock, and what was later was known to be."""
        decisions = self.decisions()
        # How late the two most punctual ones so far were without being seen to be: the stream can be no later than that in silence.
        last = [0, 0] if has_origin else [float("inf"), float("inf")]
        for decision in decisions:
            since_zero_ns = decision["decided_ns"] - zero
            unseen_ns = since_zero_ns - decision["time_ns"] - decision["wait_ms"] * 1e6
            self.assertLessEqual(unseen_ns, last[1] + 1e-3 * since_zero_ns, decision)  # more than the run allows two clocks
            self.assertTrue(decision["outcome"] != "sent" or decision["wait_ms"] <= MAX_AGE_MS, decision)
            last = sorted(last + [unseen_ns])[:2]
        sent = [decision["outcome"] == "sent" for decision in decisions]
        armed = sent.index(True) if True in sent else len(sent)  # behind what waited for the run
        # A machine so slow that nothing came for a second stalls.
        first = next((i for i in range(armed + 1, len(sent)) if decisions[i]["reason"] in ("too old", "source stalled")), len(sent))
        self.assertFalse(any(sent[first:]))
        if first == len(sent):  # it was armed only behind what was late, on a slow machine, or nothing was
            self.assertFalse(any(decision["wait_ms"] > MAX_AGE_MS for decision in decisions[armed + 1:]))
        elif decisions[first]["reason"] == "too old":
            self.assertGreater(decisions[first]["wait_ms"], MAX_AGE_MS)
        behind = [status["sources"][0]["behind_s"] for status in command.messages_of("run.jsonl", "status")]
        self.assertGreaterEqual(max(each for each in behind if each is not None), behind_s)

    def test_what_waited_in_the_sender(self):
        with self.running("--hold", 3, HOLD_S) as run:
            self.await_decisions(82, run)
        self.assertTrue([decision for decision in self.decisions("withheld") if 3e9 <= decision["time_ns"] < 3.5e9])

    def test_what_waited_on_the_way(self):
        way = Way(self.way, self.port)
        with self.running(through=self.way) as run:
            self.await_decisions(20, run)
            way.hold()
            self.await_one_more_withheld(run)

    def test_what_waited_while_the_run_was_stopped(self):
        for options in (), ("--origin",):
            with self.subTest(options=options), self.running(*options) as run:
                self.await_decisions(20, run)
                run.send_signal(signal.SIGSTOP)  # as a paused virtual machine, or swap
                time.sleep(HOLD_S)
                run.send_signal(signal.SIGCONT)
                self.await_one_more_withheld(run)

    @unittest.skipIf(command.SANITIZED, "nothing is preloaded under a sanitizer")
    def test_what_was_sent_while_the_machine_was_suspended(self):
        with self.running(preload=str(command.BUILD / "tests/libsynfire_test_suspended.so"), behind_s=7.9) as run:
            self.await_decisions(20, run)
            run.send_signal(signal.SIGUSR1)
            self.await_one_more_withheld(run)
            command.wait_for(r'"behind_s":([7-9]|[1-9][0-9])', "run.jsonl", run)

    def test_what_is_behind_from_the_start_as_the_origin_says_is_told_everywhere(self):
        with self.running("--behind", 6, "--origin", behind_s=5.9) as run:
            command.wait_for("its spikes come .* s after they were due", run.err, run)
            self.await_decisions(1, run)
            self.assertRegex(self.synfire("top", self.told, "--once", "--wait", 60).stdout, rf"(?m)^{self.endpoint} is [0-9.]* s behind")
            rows = self.document("top", self.told, "--wait", 60)["rows"]
            self.assertEqual([row["behind_s"] > 5.9 for row in rows if row["kind"] == "source"], [True])
            self.assertGreater(struct.unpack(">f", self.message_of_osc(b"/synfire/source/behind\0")[-4:])[0], 5.9)
            command.wait_for('"topic":"status"', "run.jsonl", run)
        with h5py.File("run.h5") as file:
            behind = file["results/sources"]["behind_s"]
        self.assertGreater(max(behind[behind > 0]), 5.9)

    def message_of_osc(self, address):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
            listener.settimeout(60)
            listener.bind(("127.0.0.1", self.osc))
            while not (told := listener.recv(65536)).startswith(address):
                pass
        return told

    def test_a_rig_that_writes_seldom_leaves_no_trigger_armed(self):
        with self.running("--write", 0.4) as run:
            command.wait_for(r"were older than max_age_ms \(100\) when they came: triggers on them do not stay armed", run.err, run)

    def test_a_check_says_which_rig_sends_more_at_once_than_a_triggers_age(self):
        pathlib.Path("intan.yaml").write_text("""\
sources: [{type: intan, endpoint: "tcp://127.0.0.1:5002"}]
triggers: [{name: pair, episode: '"A-000" -(0,10]-> "A-001"', max_age_ms: 42}]
sinks: [{type: jsonl, path: never.jsonl}]
""")
        check = ("run", "intan.yaml", "--check")
        self.assertRegex(self.synfire(*check).stderr, r"sources\.0: Intan RHX sends 42\.7 ms at once, by its setting "
                                                      r"TCPNumberDataBlocksPerWrite .* triggers\.0\.max_age_ms \(42\)")
        self.assertEqual(self.synfire(*check, "--set", "triggers.0.max_age_ms=43").stderr, "")


if __name__ == "__main__":
    command.main()
