# SPDX-License-Identifier: Apache-2.0
"""The long run of bench/soak, made short: 23 kinds of trouble of a sender, of the way and of others, and all that was sent is
accounted for, nothing decided after a disarm was answered."""
import os
import pathlib
import subprocess
import sys

import command

command.need_modules()


class Soak(command.Test):
    def test_all_that_was_sent_is_accounted_for_whatever_the_trouble(self):
        done = subprocess.run([sys.executable, "-B", command.SOURCE / "bench/soak", os.environ["SYNFIRE"], "soak", "--minutes", "4",
                               "--minute", "2.5", "--rate", "50000", "--guessers", "20", "--subscriptions", "2000", "--short"],
                              capture_output=True, text=True, check=False)
        log = pathlib.Path("soak/log")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + (log.read_text(errors="replace") if log.exists() else ""))
        self.assertRegex(done.stdout, "(?m)^all that was sent is accounted for$")
        self.assertRegex(done.stdout, "(?m)^ *4 ")  # a line a minute


if __name__ == "__main__":
    command.main()
