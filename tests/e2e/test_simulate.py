# SPDX-License-Identifier: Apache-2.0
"""`synfire simulate`: the same seed gives the same data, presets can be changed, wrong options and outputs have their sentence
and exit code, and nothing half-made is left behind."""
import os
import pathlib
import resource
import shlex
import signal
import subprocess
import time

import command

DATASETS = ("/spikes/time_ns", "/spikes/unit", "/spikes/amplitude", "/truth/occurrence_times_ns", "/truth/episodes", "/markers/text")
MARKED = ("--preset", "sym26", "--marker-every", 5, "--duplicates", 0.1)


def data(path):
    """The datasets, without the file's own times and addresses."""
    words = [word for dataset in DATASETS for word in ("-d", dataset)]
    told = subprocess.run(["h5dump", *words, path], capture_output=True, text=True, check=True).stdout
    return told.partition("\n")[2]


class Simulate(command.Test):
    @classmethod
    def prepare(cls):
        cls.lines = cls.synfire("simulate", "a.h5", *MARKED).stdout
        cls.made = cls.document("simulate", "b.h5", *MARKED)

    def test_a_preset_is_told(self):
        self.assertIn("26 units", self.lines)
        self.assertIn("A -(4,6]-> B -(4,6]-> C", self.lines)
        self.assertEqual([self.made["units"], self.made["to_s"], self.made["markers"]], [26, 60, 33])
        self.assertAlmostEqual(self.made["spikes"], 1.1 * 32500, delta=1500)
        self.assertEqual([chain["planted"] > 80 for chain in self.made["chains"]], [True, True])

    def test_a_seed_decides_on_the_data(self):
        self.synfire("simulate", "other.h5", *MARKED, "--seed", 2)
        self.assertEqual(data("a.h5"), data("b.h5"))
        self.assertNotEqual(data("a.h5"), data("other.h5"))

    def test_the_settings_that_are_printed_make_it_again(self):
        self.synfire("simulate", "again.h5", *shlex.split(self.made["settings"]))
        self.assertEqual(data("again.h5"), data("b.h5"))

    def test_an_option_wins_over_the_preset_and_a_simulation_is_replaced(self):
        self.synfire("simulate", "replaced.h5", "--preset", "sym26")
        made = self.document("simulate", "replaced.h5", "--preset", "sym26", "--duration", 10, "--rate", 5, "--chain", "X -(0,5]-> Y",
                             "--chain-rate", 3)
        self.assertEqual(made["to_s"], 10)
        self.assertEqual([chain["episode"] for chain in made["chains"]], ["X -(0,5]-> Y"])

    def test_what_is_no_simulation_is_not_replaced(self):
        pathlib.Path("precious").write_text("A,1\nB,2\n")
        os.mkdir("folder")
        self.refuses(73, "a recording, which is not replaced", "simulate", "precious")
        self.assertEqual(pathlib.Path("precious").read_text(), "A,1\nB,2\n")
        self.refuses(73, "a directory", "simulate", "folder")
        self.refuses(73, "a device", "simulate", "/dev/null")
        self.refuses(73, "cannot create", "simulate", "no/such/folder.h5")

    def test_wrong_words_are_refused(self):
        for sentence, *words in (
                ("missing",),
                ("too many", "new.h5", "other.h5"),
                ("--rate: found 'fast'", "new.h5", "--rate", "fast"),
                ("--unit-count: found '0'", "new.h5", "--unit-count", 0),
                ("expected sym26", "new.h5", "--preset", "sym27"),
                ("column 12", "new.h5", "--chain", "A -(4,6]-> nobody"),
                ("2 rates for 1 chains", "new.h5", "--chain", "A -(4,6]-> B", "--chain-rate", 1, "--chain-rate", 2),
                ("under 1", "new.h5", "--rate", 500),
                ("--duration: found '-1', expected a number of s from 1e-09", "new.h5", "--duration", -1)):
            self.refuses(64, sentence, "simulate", *words)
        self.assertFalse(os.path.exists("new.h5"))

    def test_a_file_that_cannot_be_finished_is_not_left(self):
        def with_little_room():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (200 << 10, 200 << 10))

        done = subprocess.run([os.environ["SYNFIRE"], "simulate", "full.h5", "--rate", "100"], capture_output=True, text=True, check=False,
                              preexec_fn=with_little_room)
        self.assertEqual(done.returncode, 74, done.stderr)
        self.assertIn("full.h5: cannot", done.stderr)
        self.assertFalse(os.path.exists("full.h5"))

    def test_a_simulation_that_is_stopped_leaves_no_file(self):
        endless = subprocess.Popen([os.environ["SYNFIRE"], "simulate", "endless.h5", "--unit-count", "10000", "--rate", "100", "--duration",
                                    "100000"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not os.path.exists("endless.h5") or os.path.getsize("endless.h5") == 0:
            self.assertIsNone(endless.poll())
            time.sleep(0.01)
        endless.send_signal(signal.SIGINT)
        self.assertEqual(endless.wait(), 130)
        self.assertFalse(os.path.exists("endless.h5"))


if __name__ == "__main__":
    command.main()
