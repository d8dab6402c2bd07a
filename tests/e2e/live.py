# SPDX-License-Identifier: Apache-2.0
"""What the tests of live runs share: settings as words of the command, a run's token, and what a file that is being written holds."""
import os
import pathlib
import subprocess
import sys

import command

EXAMPLES = command.SOURCE / "examples"


def having(*settings):
    """--set for each of these KEY=VALUE."""
    return [word for setting in settings for word in ("--set", setting)]


def write(path, text):
    pathlib.Path(path).write_text(text)


def write_token(path, token="0123456789abcdef0123456789"):
    """A file that only its owner reads, as a run asks for."""
    with open(path, "w", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(token + "\n")


def exact_seconds(nanoseconds):
    """As an option takes them."""
    return f"{nanoseconds // 10**9}.{nanoseconds % 10**9:09d}"


def spikes_of(path):
    """How many a recording has, one that is being written too; 0 where it cannot be read, or not yet."""
    done = command.Test.run_command("info", path, "--json", "--quiet", environment={"HDF5_USE_FILE_LOCKING": "FALSE"})
    return command.schema.parse(done.stdout)["spikes"] if done.returncode == 0 else 0


class Controlled(command.Test):
    """Its tests ask a run, which listens in their folder, with the example that is installed."""

    @classmethod
    def prepare(cls):
        cls.socket = f"ipc://{os.getcwd()}/control"

    @classmethod
    def run_control(cls, *words):
        """The example with these words, however it ends."""
        return subprocess.run([sys.executable, "-B", EXAMPLES / "control.py", *map(str, words)], capture_output=True, text=True,
                              check=False)

    @classmethod
    def control(cls, *words):
        """What the run answers."""
        done = cls.run_control(cls.socket, "token", *words)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return done.stdout

    def control_refuses(self, sentence, *words):
        """The example ends with 1 and a line of this kind, a regular expression."""
        done = self.run_control(*words)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, "(?m)^control.py: " + sentence)
