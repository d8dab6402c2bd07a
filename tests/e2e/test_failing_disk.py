# SPDX-License-Identifier: Apache-2.0
"""A recording that cannot go on: its folder is removed, its disk full or failing. The run goes on to its end, every other sink hears
of it while it runs, the exit code says so, and what was on the disk before reads back."""
import os
import pathlib
import resource
import shutil
import subprocess
import unittest

import command
from live import spikes_of, write

YAML = """\
window: {length_s: 2, hop_s: 0.5}
mine: {every: 0}
graph: {enabled: false} # whose messages alone would fill the file that may not grow
sinks: [{type: hdf5, path: out/run.h5, policy: block, reserve_mb: 0}, {type: jsonl, path: run.jsonl, policy: block}]
"""
# A disk of its own, which only the run has; what was on it is kept.
MOUNT = ("unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=4m none out || exit 99; "$@"; code=$?; cp -r out kept; exit $code', "run")
MAY_MOUNT = shutil.which("unshare") is not None and subprocess.run(
    ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/tmp"], capture_output=True, check=False).returncode == 0


class FailingDisk(command.Test):
    """The runs are beside each other; in `prepare` each disk fails once a flush has been seen there."""

    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--preset", "sym26", "--duration", 60, "--seed", 5, "--quiet")
        cls.spikes = spikes_of("sim.h5")
        cls.runs, cls.flushed = {}, {}
        cls.begin_run("removed")
        cls.begin_run("limited")
        if MAY_MOUNT:
            cls.begin_run("full", *MOUNT)
        if not command.SANITIZED:
            cls.begin_run("failing", environment={"LD_PRELOAD": str(command.BUILD / "tests" / "libsynfire_test_disk.so"),
                                                  "FAILING_FILES": "out/run.h5", "FAILING_ONCE": "once"})
        cls.await_flush("removed")
        shutil.rmtree("removed/out")
        cls.await_flush("limited")  # not beyond what the JSON lines never reach
        resource.prlimit(cls.runs["limited"].pid, resource.RLIMIT_FSIZE, (819200, 819200))
        if MAY_MOUNT:
            own = pathlib.Path(f"/proc/{cls.runs['full'].pid}/root{pathlib.Path('full/out').absolute()}")
            cls.await_flush("full", own)
            fill(own / "rest")
        if not command.SANITIZED:
            cls.await_flush("failing")
            write("failing/once", "")

    @classmethod
    def begin_run(cls, name, *before, **options):
        pathlib.Path(name, "out").mkdir(parents=True)
        write(f"{name}/run.yaml", YAML)
        words = (*before, os.environ["SYNFIRE"], "run", "run.yaml", "--replay", "../sim.h5", "--speed", 2)
        cls.runs[name] = cls.begin(name, shutil.which(words[0]), *words[1:], cwd=name, **options)

    @classmethod
    def await_flush(cls, name, folder=None):
        path = pathlib.Path(folder or f"{name}/out", "run.h5")
        command.wait_until(lambda: spikes_of(path) > 1000, f"a flush to {path}", cls.runs[name])
        cls.flushed[name] = spikes_of(path)

    def assert_told(self, name, words):
        """By the run at its end, and to the other sink while it went on."""
        run = self.runs[name]
        run.end(74)
        told = run.err.read_text()
        self.assertRegex(told, f"sink hdf5 run.h5: .*{words}")
        self.assertRegex(told, rf"(?m)^synfire: run: .*out/run.h5(\.journal)?: .*{words}")
        self.assertRegex(run.out.read_text(), f"run.h5 FAILED: .*{words}")
        statuses = command.messages_of(f"{name}/run.jsonl", "status")
        self.assertEqual([m["seq"] for m in statuses], list(range(1, len(statuses) + 1)))
        failed = [m for m in statuses if m["sinks"][0]["state"] == "failed" and words in (m["sinks"][0]["note"] or "")]
        self.assertEqual({m["sinks"][0]["name"] for m in failed}, {"hdf5 run.h5"})
        self.assertIs(failed[0]["last"], False)
        last = statuses[-1]
        recorder, lines = last["sinks"]
        self.assertEqual((last["last"], last["spikes"]), (True, self.spikes))
        # What is on its way to the recorder when the last status is made is in neither number.
        self.assertLessEqual(recorder["spikes"] + recorder["spikes_lost"], self.spikes)
        self.assertGreater(recorder["spikes_lost"], 0)
        self.assertEqual((recorder["state"], lines["state"], lines["note"]), ("failed", "ok", None))

    def assert_reads_back(self, name, path):
        self.assertGreaterEqual(self.document("info", path, "--quiet")["spikes"], self.flushed[name])

    def test_a_folder_that_is_removed(self):
        self.assert_told("removed", "removed")

    def test_a_file_that_may_not_grow(self):
        self.assert_told("limited", "File too large")
        self.assert_reads_back("limited", "limited/out/run.h5")

    @unittest.skipUnless(MAY_MOUNT, "no tmpfs may be mounted here, so none gets full")
    def test_a_disk_that_is_full(self):
        self.assert_told("full", "No space left")
        self.assert_reads_back("full", "full/kept/run.h5")

    @unittest.skipIf(command.SANITIZED, "nothing is preloaded under a sanitizer, so no disk fails")
    def test_a_disk_that_fails(self):
        self.assert_told("failing", "Input/output error")
        self.assert_reads_back("failing", "failing/out/run.h5")


def fill(path):
    """Writes until the disk is full."""
    with open(path, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass


if __name__ == "__main__":
    command.main()
