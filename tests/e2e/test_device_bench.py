# SPDX-License-Identifier: Apache-2.0
"""Benchmarks on devices, with the tests' plugin where the installed program looks for its own."""
import json
import os
import time
import unittest

import command
import installed

command.need(not command.SANITIZED, "under a sanitizer the program and the plugin each bring their own checks")


class Bench(command.Test):
    @classmethod
    def prepare(cls):
        installed.add_plugin(installed.install_without_plugin("tree"))

    def bench(self, *words, **environment):
        """The devices of the rows, in their order, and all that was printed."""
        done = self.synfire("bench", "episodes", *words, "--json", environment={"XDG_CACHE_HOME": os.path.abspath("cache"), **environment})
        rows = command.schema.held(command.schema.parse(done.stdout))
        return list(dict.fromkeys(row["device"] for row in rows)), rows, done.stderr

    def test_one_that_is_stopped_prints_the_rows_it_has(self):
        running = self.begin("bench", "bench", "episodes", "sym26", "--json")
        command.wait_until(lambda: time.clock_gettime(~running.pid << 3 | 2) > 3, "3 s of its processor time", running)  # of minutes
        running.stop(130)
        self.assertIn("bench: stopped while", running.err.read_text())
        self.assertEqual(json.loads(running.out.read_text())[0]["engine"], "interval")

    def test_words_that_do_not_go_together_are_refused(self):
        self.refuses(64, "--kronecker: is for other benchmarks than episodes", "bench", "episodes", "sym26", "--kronecker", "4:4:1")
        self.refuses(64, "--device: is for other benchmarks than match", "bench", "match", "hprd", "--device", "cpu")
        self.refuses(64, "'test:all' is for work that is divided", "bench", "episodes", "counts", "--device", "test:all")

    def test_the_cpu_alone_may_be_calibrated(self):
        self.assertEqual(self.bench("--calibrate", "--device", "cpu")[0], ["cpu"])

    def test_divided_among_all_every_number_of_devices_has_a_row(self):
        _, rows, _ = self.bench("sym26", "--device", "test:all", TEST_PLUGIN_DEVICES="wwww")
        self.assertEqual([row["device"] for row in rows], ["test:0", "test:all (2)", "test:all (4)"])

    def test_a_device_that_does_not_work_spoils_no_calibration(self):
        devices, _, said = self.bench("--calibrate")
        self.assertLessEqual({"cpu", "test:0", "test:5"}, set(devices))
        self.assertFalse({"test:2", "test:3"} & set(devices), devices)
        self.assertIn("too large", said)

    @unittest.skipUnless(os.environ.get("SYNFIRE_TEST_LONG"), "takes minutes: SYNFIRE_TEST_LONG=1 runs it")
    def test_a_device_that_does_not_work_spoils_no_benchmark(self):
        devices, rows, _ = self.bench("sym26")
        self.assertLessEqual({"cpu", "test:0"}, set(devices))
        self.assertFalse({"test:1", "test:2", "test:3"} & set(devices), devices)
        self.assertIn("test:3 does not work", rows[0]["machine"])


if __name__ == "__main__":
    command.main()
