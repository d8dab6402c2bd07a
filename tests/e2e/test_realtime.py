# SPDX-License-Identifier: Apache-2.0
"""The watch path of a real run, under a guard that ends the program when it allocates, locks, opens or writes, and where memory can be
locked also when it has a page fault. Rights that are refused are told, and the run goes on."""
import os
import pathlib
import resource
import shutil
import unittest

import command

command.need(not command.SANITIZED, "nothing is preloaded under a sanitizer")

from live import having, write

YAML = """\
sources: [{type: replay, recording: ../sim.h5, speed: 8}]
device: cpu
window: {length_s: 4, hop_s: 1}
mine: {every: 2, delays_ms: "4:6"}
watch: ["A -(4,6]-> B -(4,6]-> C"]
triggers:
- {name: pair, episode: "A -(4,6]-> B", max_age_ms: 0, delay_ms: 3, refractory_ms: 20, blank_ms: 1}
dedup: {ms: 0.4, um: 100}
features: {bin_ms: 20, units: ["*"]}
sinks: [{type: jsonl, path: run.jsonl}, {type: hdf5, path: run.h5}]
"""
REALTIME = having("realtime.priority=50", "realtime.core=0", "realtime.lock_memory=true")
WITHOUT_RIGHTS = ("setpriv", "--bounding-set", "-all", "--inh-caps", "-all", "--no-new-privs")


def without_limits():
    """No priority, and hardly a locked page."""
    resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536))


class Realtime(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--preset", "sym26", "--duration", 60, "--seed", 5, "--quiet")

    def run_in(self, folder, *words, before=(), **options):
        """What a run in this folder says on its standard error; it ends well."""
        pathlib.Path(folder).mkdir()
        write(f"{folder}/run.yaml", YAML)
        command_ = [*before, os.environ["SYNFIRE"], "run", "run.yaml", *words]
        run = self.begin(folder, shutil.which(command_[0]), *command_[1:], cwd=folder, **options)
        run.end(0)
        return run.err.read_text()

    def guarded(self, folder, *words, **environment):
        """The same under the guard: what the run says, and what the guard."""
        guard = {"SYNFIRE_TEST_TOLD": f"{os.getcwd()}/{folder}/told",
                 "LD_PRELOAD": str(command.BUILD / "tests" / "libsynfire_test_guard.so")}
        said = self.run_in(folder, *words, environment={**guard, **environment})
        return said, pathlib.Path(folder, "told").read_text()

    def test_what_takes_its_time_is_not_on_the_watch_path(self):
        _, told = self.guarded("guarded", "--quiet")
        self.assertRegex(told, "(?m)^[1-9][0-9]+ waits")
        sent = [m for m in command.messages_of("guarded/run.jsonl", "decision") if m["outcome"] == "sent"]
        self.assertGreater(len(sent), 0)

    def test_locked_memory_has_no_page_faults(self):
        doctor = self.run_command("doctor", "--folder", ".").stdout
        if "\n  locked-memory" not in doctor:  # as root it can be, in most containers too
            self.skipTest("no memory can be locked here: page faults are not looked at")
        said, told = self.guarded("locked", *REALTIME, "--verbose", SYNFIRE_TEST_FAULTS="1", SYNFIRE_TEST_SETTLED="100")
        self.assertRegex(told, "(?m)^[1-9][0-9]+ waits, 0 faults$")
        if "\n  real-time" in doctor:
            self.assertIn("watching: real-time priority 50", said)

    @unittest.skipUnless(os.getuid() == 0 and shutil.which("setpriv"), "only root gives rights away, by setpriv")
    def test_rights_that_are_refused_are_told_and_the_run_ends_well(self):
        said = self.run_in("refused", *REALTIME, "--duration", 8, before=WITHOUT_RIGHTS, preexec_fn=without_limits)
        self.assertIn("watching: no real-time priority: Operation not permitted; it goes on without", said)
        self.assertRegex(said, "memory is not locked: .*; it goes on without")

    def test_a_core_that_is_not_there_is_told_and_the_run_ends_well(self):
        said = self.run_in("core", *having("realtime.core=1000"), "--duration", 8)
        self.assertIn("watching: not kept on core 1000: this process may not use it; it goes on any", said)

    def test_a_core_is_a_number(self):
        write("run.yaml", YAML)
        self.refuses(78, "found 'first', expected any, or a number", "run", "run.yaml", *having("realtime.core=first"))


if __name__ == "__main__":
    command.main()
