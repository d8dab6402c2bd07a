# SPDX-License-Identifier: Apache-2.0
"""What the tests of this folder share: the command, run in a fresh folder, what it prints as values, and programs beside it.

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
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import schema

DATA = pathlib.Path(os.environ.get("SYNFIRE_DATA") or os.environ["SYNFIRE_BUILT_DATA"])
SOURCE = pathlib.Path(os.environ["SYNFIRE_SOURCE"])
BUILD = pathlib.Path(os.environ["SYNFIRE_BUILD"])
HERE = pathlib.Path(__file__).parent
SANITIZED = bool(os.environ.get("SYNFIRE_SANITIZE"))


def need(condition, why):
    """Skips the whole file, before it imports what it has not."""
    if not condition:
        print("skipped whole:", why)
        sys.exit(77)


def need_modules():
    """Skips the whole file where CMake found no Python with these modules; where it did, that one runs the file."""
    need(os.environ.get("SYNFIRE_PYTHON"), "no python3 with the modules h5py, msgpack and zmq")


def needs_data(*names):
    """Marks a test, or a class, that reads these files of the real data."""
    absent = [name for name in names if not (DATA / name).exists()]
    return unittest.skipIf(absent, f"no {', '.join(absent)} (SYNFIRE_DATA names its folder)")


def free_ports(count):
    """TCP ports of the loopback interface that nobody listens at."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [server.getsockname()[1] for server in sockets]
    finally:
        for server in sockets:
            server.close()


def wait_until(condition, what, program=None, seconds=300):
    """Waits until the condition holds, which takes long on a slow machine, or fails, as it does when the program has ended."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end or program is not None and program.poll() is not None and not condition():
            raise AssertionError(f"{what} does not come" + (f"\n{program.said()}" if program else ""))
        time.sleep(0.05)


def wait_for(words, path, program=None):
    """Waits until a line of the file has what the regular expression says; its text."""
    path, words = pathlib.Path(path), re.compile(words, re.MULTILINE)
    wait_until(lambda: path.exists() and words.search(path.read_text(errors="replace")), f"{words.pattern!r} in {path}", program)
    return path.read_text(errors="replace")


class Program(subprocess.Popen):
    """A program that runs beside the test: what it prints is in the files NAME.out and NAME.err. Its folder is a class's."""

    def __init__(self, name, *words, environment=None, **options):
        self.out, self.err = pathlib.Path(f"{name}.out").absolute(), pathlib.Path(f"{name}.err").absolute()
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            super().__init__(list(map(str, words)), stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                             env={**os.environ, **(environment or {})}, **options)

    def said(self):
        return f"{' '.join(self.args)}\n{self.out.read_text(errors='replace')[-2000:]}{self.err.read_text(errors='replace')[-2000:]}"

    def document(self):
        """The JSON document that it printed, which is as its schema says."""
        return schema.held(schema.parse(self.out.read_text()))

    def end(self, expected=0, seconds=300):
        """Waits for its end; the exit code is one of those expected."""
        self.wait(seconds)
        if self.returncode not in (expected if isinstance(expected, tuple) else (expected,)):
            raise AssertionError(f"exit code {self.returncode}: {self.said()}")

    def stop(self, expected=(0, 130), seconds=300):
        """Ends it as Ctrl-C does."""
        self.send_signal(signal.SIGINT)
        self.end(expected, seconds)

    def put_away(self):
        self.kill()
        self.wait()


def without_times(value):
    """A document less what differs from one command line to the next, and from run to run."""
    if isinstance(value, dict):
        return {key: without_times(part) for key, part in value.items() if key not in ("provenance", "seconds")}
    return [without_times(part) for part in value] if isinstance(value, list) else value


def difference(one, other, at=""):
    """Where two values begin to differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        pairs = {key: (one.get(key), other.get(key)) for key in [*one, *other]}
    else:
        pairs = dict(enumerate(zip(one, other))) if isinstance(one, (list, tuple)) and type(one) is type(other) else {}
    for key, (a, b) in pairs.items():
        if a != b:
            return difference(a, b, f"{at}[{key!r}]")
    return f"{at or 'all'}: found {one!r:.500}, expected {other!r:.500}"


class Test(unittest.TestCase):
    """Its tests share a folder, which is the working directory."""

    def __init__(self, *words):
        super().__init__(*words)
        for kind in dict, list, tuple:  # of long ones unittest's own comparison takes minutes to tell the difference
            self.addTypeEqualityFunc(kind, self.assert_alike)

    def assert_alike(self, one, other, msg=None):
        if one != other:
            self.fail(difference(one, other) + ("" if msg is None else f" : {msg}"))

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
        return subprocess.run([os.environ["SYNFIRE"], *map(str, words)], capture_output=True, encoding="utf-8", check=False,
                              env={**os.environ, **(environment or {})})

    @classmethod
    def synfire(cls, *words, environment=None):
        """What the command prints, as `stdout` and `stderr`: it succeeds."""
        done = cls.run_command(*words, environment=environment)
        if done.returncode != 0:
            raise AssertionError(f"exit code {done.returncode}: synfire {' '.join(map(str, words))}\n{done.stderr}")
        return done

    @classmethod
    def begin(cls, name, *words, **options):
        """A program beside the tests, which does not outlive them: the command, or the program that the first word is the
        path of, a script's by Python."""
        first = str(words[0])
        if first.endswith(".py"):
            words = (sys.executable, "-B", *words)
        elif "/" not in first:
            words = (os.environ["SYNFIRE"], *words)
        program = Program(name, *words, **options)
        cls.addClassCleanup(program.put_away)
        return program

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
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def messages_of(path, topic, whole=False):
    """Those of a topic in the JSON lines of a run; only whole lines, while it writes."""
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file if line.endswith("\n") or not whole]
    return [message for message in map(json.loads, lines) if message["topic"] == topic]


def main():
    """Runs all tests of the file; 77 where every one was skipped."""
    told = unittest.main(verbosity=2, exit=False).result
    if told.testsRun == 0:
        sys.exit("there is no test")
    sys.exit(77 if told.wasSuccessful() and len(told.skipped) == told.testsRun else not told.wasSuccessful())
