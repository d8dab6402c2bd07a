# SPDX-License-Identifier: Apache-2.0
"""Whatever ends or stops a run that has raised a stimulator's line lowers it: signals once and twice, a closed terminal, a crash,
Ctrl-Z. A hop that does not end is left, and what was recorded is whole."""
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
import tty
import unittest

import command

command.need_modules()


class Line:
    """The other end of the line, a pseudo-terminal, and all that came over it."""

    def __init__(self, path):
        self.end, self.held = pty.openpty()
        tty.setraw(self.held)
        path.unlink(missing_ok=True)
        path.symlink_to(os.ttyname(self.held))
        self.bytes = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.end)
        os.close(self.held)

    def last(self):
        while select.select([self.end], [], [], 0)[0]:
            self.bytes += os.read(self.end, 100)
        return self.bytes[-1:]


class Raised(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--preset", "sym26", "--duration", 600, "--seed", 5, "--quiet")
        pathlib.Path("run.yaml").write_text(r"""sources: [{type: replay, recording: sim.h5, speed: 1}]
device: cpu
window: {length_s: 1, hop_s: 0.5}
mine: {every: 0}
significance: {kind: "off"}
graph: {enabled: false}
triggers: [{name: pair, episode: "A -(4,6]-> B", arm_s: 600, max_age_ms: 0}]
sinks:
- {type: serial, path: line, send: '\x01', pulse_ms: 1000, then: '\x00'}
""")

    def assert_lowered(self, *signals, codes, stops=False):
        """The signals, sent while the line is up, leave it down, and the command ends with one of the codes; where they stop it, the
        line is down meanwhile, and it goes on until SIGINT."""
        with self.subTest(signals=signals), Line(pathlib.Path("line")) as line:
            run = self.begin("run", "run", "run.yaml", "--quiet")
            command.wait_until(lambda: line.last() == b"\1", "a line that is up", run)
            for number in signals:
                run.send_signal(number)
                time.sleep(0.02)
            if stops:
                command.wait_for(r"^State:\s*T", f"/proc/{run.pid}/status", run)
                self.assertEqual(line.last(), b"\0")
                run.send_signal(signal.SIGCONT)
                run.send_signal(signal.SIGINT)
            run.end(codes)
            self.assertEqual(line.last(), b"\0", line.bytes)

    def test_what_asks_a_run_to_end_lowers_the_line(self):
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            self.assert_lowered(number, codes=(0,))

    def test_who_insists_has_it_lowered_as_well(self):
        self.assert_lowered(signal.SIGINT, signal.SIGINT, codes=(130, 0))

    def test_what_kills_a_run_lowers_the_line_first(self):
        for number in signal.SIGQUIT, signal.SIGABRT, signal.SIGXCPU, signal.SIGALRM, signal.SIGUSR1, signal.SIGRTMIN:
            self.assert_lowered(number, codes=(-number,))

    def test_what_stops_a_run_lowers_the_line_meanwhile(self):
        for number in signal.SIGTSTP, signal.SIGTTIN:
            self.assert_lowered(number, codes=(0,), stops=True)

    @command.needs_data("cases/rigs/serial_left_high.py")
    @unittest.skipUnless(shutil.which("socat"), "no socat")
    def test_a_pulse_cut_by_signals_as_a_program_that_is_not_the_tests_own_sees_it(self):
        rigs = command.DATA / "cases/rigs"
        self.synfire("simulate", "demo.h5", "--preset", "sym26", "--quiet")
        shutil.copy(rigs / "serial_left_high.yaml", ".")
        sanitizer = ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), "handle_segv=0")))  # which would take the crash for itself
        told = subprocess.run([sys.executable, "-B", rigs / "serial_left_high.py"], env={**os.environ, "ASAN_OPTIONS": sanitizer},
                              capture_output=True, text=True, check=True).stdout
        self.assertEqual(len(re.findall(r"(?m), 1\), \(.*, 0\)\] signal at .* line low$", told)), 5, told)


class Stuck(command.Test):
    def test_a_hop_that_does_not_end_is_left_and_the_recording_is_whole(self):
        # A path of 16 units in a complete graph of 40 has more matches than anybody counts.
        self.synfire("simulate", "dense.h5", "--unit-count", 40, "--rate", 20, "--duration", 60, "--seed", 7, "--quiet")
        pathlib.Path("stuck.yaml").write_text("""\
sources: [{type: replay, recording: dense.h5, speed: max}]
device: cpu
window: {length_s: 10, hop_s: 1}
mine: {every: 0, delays_ms: "0.5:20", min_count: 1}
significance: {kind: "off"}
graph: {enabled: true, patterns: [{pattern: chain-16}]}
sinks:
- {type: hdf5, path: run.h5, overwrite: true}
""")
        journal, sizes = pathlib.Path("run.h5.journal"), [0]

        def is_stuck():
            """It has come far, and comes no further for a second."""
            sizes.append(journal.stat().st_size if journal.exists() else 0)
            return sizes[-1] > 20000 and len(set(sizes[-20:])) == 1

        run = self.begin("stuck", "run", "stuck.yaml")
        command.wait_until(is_stuck, "a hop that does not end", run)
        run.stop(130)
        self.assertIn("the hop was left after 2 s", run.err.read_text())
        self.assertFalse(journal.exists())
        self.assertGreater(self.document("info", "run.h5")["spikes"], 1000)


if __name__ == "__main__":
    command.main()
