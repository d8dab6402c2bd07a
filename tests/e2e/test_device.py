# SPDX-License-Identifier: Apache-2.0
"""A user's view of devices, with the tests' plugin where the installed program looks for its own."""
import json
import pathlib

import command
import installed

command.need(not command.SANITIZED, "under a sanitizer the program and the plugin each bring their own checks")

MINE = ("mine", "demo.h5", "--delay", "4:6", "--min-count", 100)
COUNT = ("count", "demo.h5", "--episodes", "chains.txt")


class WithoutPlugin(command.Test):
    @classmethod
    def prepare(cls):
        installed.install_without_plugin("tree")

    def test_doctor_says_what_to_install(self):
        done = self.run_command("doctor")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertRegex(done.stdout, "gpu .*the CUDA plugin is not installed: install synfire-cuda; ")


class Device(command.Test):
    """Results say where they were made, and why not where it was asked; they are those of the CPU."""

    @classmethod
    def prepare(cls):
        installed.add_plugin(installed.install_without_plugin("tree"))
        cls.synfire("simulate", "demo.h5", "--preset", "sym26", "--quiet")
        pathlib.Path("chains.txt").write_text("A -(4,6]-> B -(4,6]-> C\n")
        cls.on_cpu = cls.document(*MINE, "--device", "cpu")

    def made(self, device, *words, environment=None):
        """What is mined on the device, which is what the CPU finds, and what is said."""
        done = self.synfire(*MINE, "--device", device, "--json", *words, environment=environment)
        out = command.schema.held(command.schema.parse(done.stdout))
        self.assertEqual(out["episodes"], self.on_cpu["episodes"])
        return out, done.stderr

    def test_the_cpu_needs_no_note_and_no_memory_of_a_device(self):
        self.assertTrue(self.on_cpu["episodes"])
        self.assertEqual([self.on_cpu[key] for key in ("device", "device_note", "device_memory")], ["cpu", None, 0])

    def test_one_that_works_is_named(self):
        out, said = self.made("test:0")
        self.assertEqual((out["device"], out["device_note"], said), ("test:0", None, ""))
        self.assertIn("engine interval on test:0", self.synfire(*MINE, "--device", "test:0").stdout)
        self.assertRegex(self.synfire(*COUNT, "--device", "test:0").stdout, "(?m)^counted on test:0$")

    def test_work_that_is_too_small_to_be_divided_is_done_by_one_of_all(self):
        out, _ = self.made("test:all")
        self.assertEqual([out[key] for key in ("device", "device_note", "device_memory")], ["test:0", None, 1000])

    def test_one_that_refuses_a_job_is_warned_of(self):
        out, said = self.made("test:2")
        self.assertEqual(out["device"], "cpu")
        self.assertIn("too large", out["device_note"])
        self.assertEqual(said.count("mined on the CPU: the job is too large"), 1)

    def test_one_that_is_lost_with_the_surrogates_has_mined(self):
        done = self.synfire(*MINE, "--device", "test:1", "--significance", "segment-shift", "--surrogates", 100, "--json")
        out = command.schema.held(command.schema.parse(done.stdout))
        self.assertEqual((out["device"], out["significance"]["device"]), ("test:1", "cpu"))
        self.assertIn("bus", out["significance"]["device_note"])
        self.assertIn("surrogates counted on the CPU: test:1 has failed", done.stderr)

    def test_one_that_is_lost_while_it_counts_leaves_it_to_the_cpu(self):
        out = self.document(*COUNT, "--device", "test:1", "--window", 20)
        self.assertEqual((out["engine"], out["device"]), ("interval", "cpu"))
        self.assertIn("bus", out["device_note"])
        self.assertEqual([window["counts"] for window in out["windows"]], [[42], [44], [47]])

    def test_the_memory_that_may_be_taken_is_in_the_environment(self):
        out, _ = self.made("test:0", environment={"SYNFIRE_DEVICE_MEMORY": "512"})
        self.assertEqual(out["device"], "cpu")
        self.assertIn("more than the 512 bytes", out["device_note"])

    def test_a_run_takes_the_device_and_has_a_key_for_its_memory(self):
        run = ("run", "--replay", "demo.h5")
        lines = self.synfire(*run, "--speed", "max", "--set", "sinks.0.type=jsonl", "--set", "sinks.0.path=-").stdout.splitlines()
        out = json.loads(lines[-1])
        self.assertEqual([out[key] for key in ("device", "device_memory", "device_note")], ["test:0", 1000, None])
        self.refuses(78, "found '8 GB', expected auto or a size", *run, "--set", "device_memory=8 GB")

    def test_one_that_does_not_start_or_cannot_do_it_is_refused(self):
        self.refuses(69, "test:3 has failed: it does not start", *MINE, "--device", "test:3")
        self.refuses(64, "the engine ptpe does not run on test:0", *MINE, "--device", "test:0", "--engine", "ptpe")


if __name__ == "__main__":
    command.main()
