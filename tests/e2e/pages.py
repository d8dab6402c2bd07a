# SPDX-License-Identifier: Apache-2.0
"""What the tests of the documentation share: which lines its pages show, and typing those that are commands as they stand."""
import os
import pathlib
import re
import subprocess

import command


def read(path):
    """A page of the repository, in which a line that ends with a backslash goes on."""
    return re.sub(r"\\\n *", "", (command.SOURCE / path).read_text())


def indented(text):
    """The lines that are shown as they are typed or printed, less their indentation and the blanks at their ends."""
    return [line[4:].rstrip() for line in text.splitlines() if line.startswith("    ") and line.strip()]


def typed(text):
    """Those of them that are typed behind a prompt."""
    return [line[2:] for line in indented(text) if line.startswith("$ ")]


def beside(tree):
    """The environment of one whose `synfire` is that of this tree."""
    return {**os.environ, "PATH": f"{tree}/bin:{os.environ['PATH']}"}


def link_command():
    """The environment of one whose `synfire` is the tests' command, by a link in the folder."""
    pathlib.Path("bin").mkdir()
    pathlib.Path("bin/synfire").symlink_to(os.environ["SYNFIRE"])
    return beside(os.getcwd())


def type_line(line, environment, **options):
    """What a line prints that is typed into a shell, as `stdout` and `stderr`: it succeeds."""
    done = subprocess.run(["bash", "-c", line], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env=environment,
                          **options)
    if done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}: {line}\n{done.stdout}{done.stderr}")
    return done
