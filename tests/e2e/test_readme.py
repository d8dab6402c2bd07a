# SPDX-License-Identifier: Apache-2.0
"""README's command lines, as they stand: the demo from a clone whose build is this one, installing into a home folder, and
what it says of the installed command. A line that this test does not know fails it, as does one that README lost."""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import command
import installed
import pages

README = pages.read("README.md")
LINES = ["scripts/demo", "scripts/build", "cmake --install build/release --prefix ~/.local", "scripts/test"]
INLINE = {"cmake --build build/release --target uninstall", "man synfire", "synfire --help", "synfire COMMAND --help", "synfire run",
          "synfire run monitoring"}


class Readme(command.Test):
    @classmethod
    def prepare(cls):
        """A clone in which everything is there but building, which has been done."""
        clone = pathlib.Path("clone")
        for folder in clone / "scripts", clone / "build", pathlib.Path("home"):
            folder.mkdir(parents=True)
        shutil.copy(command.SOURCE / "scripts/demo", clone / "scripts")
        (clone / "scripts/build").write_text('#!/bin/sh\necho "$@" >>built\n')
        (clone / "scripts/build").chmod(0o755)
        (clone / "build/release").symlink_to(command.BUILD)
        (clone / "configs").symlink_to(command.SOURCE / "configs")
        cls.home = pathlib.Path("home").absolute()
        os.environ["HOME"] = str(cls.home)
        cls.said = [line.rstrip() for typed in LINES[:3] for line in pages.type_line(typed, os.environ, cwd=clone).stdout.splitlines()]
        cls.built = (clone / "built").read_text().splitlines()
        os.environ["PATH"] = f"{cls.home}/.local/bin:{os.environ['PATH']}"  # as README says

    def test_its_command_lines_are_those_that_are_tried_here(self):
        self.assertEqual([line for line in pages.indented(README) if re.match("scripts/|cmake |synfire ", line)], LINES)
        self.assertEqual(self.built[0], "release synfire_command")
        self.assertEqual(len(self.built), 2)
        for name in "build", "test":
            self.assertTrue(os.access(command.SOURCE / "scripts" / name, os.X_OK))

    def test_its_commands_in_the_text_are_those_that_are_tried_here(self):
        self.assertEqual(set(re.findall("`((?:synfire|cmake|man) [^`]*)`", " ".join(README.split()))), INLINE)

    def test_the_demo_ends_with_what_is_shown(self):
        shown = pages.indented(re.search(r"(?ms)^    planted chain.*?\n\n", README)[0])
        self.assertEqual(len(shown), 3)
        self.assertLessEqual(set(shown), set(self.said))

    def test_of_the_page_before_the_window_is_shown_as_it_is(self):
        # Thirty times real time leaves it as it is.
        self.assertIn("\n    demo  26 units  window 148.0-178.0 s  16053 spikes  535 Hz\n", README)
        heads = [line for line in self.said if line.startswith("demo  26 units  window ")]
        self.assertGreaterEqual(len(heads), 10)
        for head in heads:  # one that comes late is passed over
            if " 148.0-178.0 s" in head:
                self.assertIn("  16053 spikes  535 Hz", head)

    def test_of_the_page_before_the_counts_are_shown_as_they_are(self):
        shown = re.findall(r"(?m)^ +(\d+) +([0-9.]+) ", re.search(r"(?ms)^    count.*?^    \.\.\.", README)[0])
        self.assertEqual(len(shown), 2)
        for count, chance in shown:
            self.assertRegex("\n".join(self.said), rf"(?m)^ +{count} +{re.escape(chance)} ")

    def test_the_installed_command_works_in_an_empty_folder(self):
        pathlib.Path("empty").mkdir()
        self.assertEqual(shutil.which("synfire"), str(self.home / ".local/bin/synfire"))
        for line, said in ("synfire --help", "usage: synfire"), ("synfire run monitoring --check", "sources"):
            self.assertIn(said, pages.type_line(line, os.environ, cwd="empty").stdout)

    def test_its_pages_are_in_the_home_folder(self):
        for name in "man/man1/synfire.1", "doc/synfire/guide.md":
            self.assertTrue((self.home / ".local/share" / name).stat().st_size, name)

    @unittest.skipUnless(shutil.which("man"), "no man")
    def test_man_finds_its_page(self):
        self.assertEqual(subprocess.run(["man", "-w", "synfire"], capture_output=True, text=True, check=True).stdout.strip(),
                         str(self.home / ".local/share/man/man1/synfire.1"))

    def test_it_can_be_uninstalled(self):
        self.assertRegex(installed.done("cmake", "--build", command.BUILD, "--target", "help").stdout, "(?m)^uninstall")


if __name__ == "__main__":
    command.main()
