# SPDX-License-Identifier: Apache-2.0
"""What figures of a report hold for each spike: the recording's 16 bytes, and a few numbers beside them."""
import os
import subprocess
import unittest

import command

FEW, MANY = 1000000, 3000000


def most_memory(*words):
    """The most memory of the command, in bytes; the child that reads the file is another process."""
    with subprocess.Popen([os.environ["SYNFIRE"], *words, "--quiet"], stdout=subprocess.DEVNULL) as program:
        _, status, used = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
    if program.returncode != 0:
        raise AssertionError(f"exit code {program.returncode}: synfire {' '.join(words)}")
    return used.ru_maxrss * 1024


@unittest.skipIf(os.environ.get("SYNFIRE_SANITIZE"), "a sanitizer holds memory of its own")
class Memory(command.Test):
    @classmethod
    def prepare(cls):
        for spikes in FEW, MANY:
            cls.synfire("simulate", f"{spikes}.h5", "--unit-count", 100, "--rate", 100, "--duration", spikes // 10000,
                        "--seed", 5, "--quiet")

    def holds(self, most, kind):
        few, many = (most_memory("plot", kind, f"{spikes}.h5", "--out", "figure.svg") for spikes in (FEW, MANY))
        self.assertLessEqual((many - few) / (MANY - FEW), most, "bytes a spike")

    def test_a_map_lists_no_spike_with_its_kernel(self):
        self.holds(60, "map")

    def test_intervals_are_held_once(self):
        self.holds(42, "intervals")

    def test_tiling_copies_no_recording_whose_units_it_all_shows(self):
        self.holds(64, "tiling")


if __name__ == "__main__":
    command.main()
