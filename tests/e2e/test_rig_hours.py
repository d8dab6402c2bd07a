# SPDX-License-Identifier: Apache-2.0
"""bench/rig-hours for a few seconds: each kind of rig, its captures again and again, all accounted for."""
import os
import subprocess
import sys

import command

command.need_modules()


@command.needs_data("cases/rigs/replay.py")
class RigHours(command.Test):
    def test_all_that_rigs_send_again_and_again_is_recorded(self):
        done = subprocess.run([sys.executable, "-B", command.SOURCE / "bench/rig-hours", os.environ["SYNFIRE"], command.DATA / "cases/rigs",
                               "rigs", "--rigs", "4", "--minutes", "0.1", "--speed", "8"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"rig-hours at 8 times real time: ([1-9][0-9]*) spikes sent, \1 recorded")


if __name__ == "__main__":
    command.main()
