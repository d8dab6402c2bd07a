# SPDX-License-Identifier: Apache-2.0
"""What the tests in Python of this folder share: the command, run in a fresh folder, and what it prints as values.

  class Responses(command.Test):
      @classmethod
      def prepare(cls):                                     once, before the first test
          cls.synfire("simulate", "demo.h5", "--quiet")

      def test_a_window_has_a_length(self):                 a sentence, and a verdict of its own
          self.refuses(64, "--response: found '9:9'", "responses", "demo.h5", "--response", "9:9")

  if __name__ == "__main__":
      command.main()
"""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import schema

DATA = pathlib.Path(os.environ.get("SYNFIRE_DATA") or os.environ["SYNFIRE_BUILT_DATA"])
SOURCE = pathlib.Path(os.environ["SYNFIRE_SOURCE"])


def without_times(value):
    """A document less what differs from one command line to the next, and from run to run."""
    if isinstance(value, dict):
        return {key: without_times(part) for key, part in value.items() if key not in ("provenance", "seconds")}
    return [without_times(part) for part in value] if isinstance(value, list) else value


class Test(unittest.TestCase):
    """Its tests share a folder, which is the working directory."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.addClassCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        cls.prepare()

    @classmethod
    def prepare(cls):
        """What the tests of a class need; it changes nothing afterwards."""

    @staticmethod
    def run_command(*words, environment=None):
        """The command with these words, however it ends."""
        return subprocess.run([os.environ["SYNFIRE"], *map(str, words)], capture_output=True, text=True, check=False,
                              env={**os.environ, **(environment or {})})

    @classmethod
    def synfire(cls, *words, environment=None):
        """What the command prints, as `stdout` and `stderr`: it succeeds."""
        done = cls.run_command(*words, environment=environment)
        if done.returncode != 0:
            raise AssertionError(f"exit code {done.returncode}: synfire {' '.join(map(str, words))}\n{done.stderr}")
        return done

    @classmethod
    def document(cls, *words, environment=None):
        """Its JSON document, which is as its schema says."""
        return schema.held(schema.parse(cls.synfire(*words, "--json", environment=environment).stdout))

    @classmethod
    def rows(cls, *words):
        """The rows of its CSV, as dictionaries of texts."""
        return list(csv.DictReader(cls.synfire(*words, "--csv").stdout.splitlines()))

    def refuses(self, code, sentence, *words, environment=None):
        """The command exits with the code and says this in one line on stderr, and prints nothing but, with --json, the
        refusal as a document."""
        done = self.run_command(*words, environment=environment)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(sentence, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        if "--json" in words:
            schema.hold(schema.parse(done.stdout), schema.load("refusal.json"), "refusal.json")
        else:
            self.assertEqual(done.stdout, "")


def rows_of(path):
    """The rows of a CSV file."""
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def messages_of(path, topic):
    """Those of a topic in the JSON lines of a run."""
    with open(path) as file:
        return [message for message in map(json.loads, file) if message["topic"] == topic]


def main():
    """Runs all tests of the file; 77 where every one was skipped."""
    told = unittest.main(verbosity=2, exit=False).result
    if told.testsRun == 0:
        sys.exit("there is no test")
    sys.exit(77 if told.wasSuccessful() and len(told.skipped) == told.testsRun else not told.wasSuccessful())
