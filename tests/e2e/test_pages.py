# SPDX-License-Identifier: Apache-2.0
"""The manual pages format without a warning, and the command lines of the documentation run as they stand."""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import command
import pages

# Players, recorders and who asks a run need a partner, which the tests of streams give them.
WITH_PARTNERS = re.compile("synfire (play|record|top|doctor --loop|run [^-]|aggregate --from-state tcp:)")


def lines_of(path):
    """The command lines of a page that need no partner."""
    lines = re.findall("(?m)^    ((?:synfire|echo) .*)", path.read_text())
    return [line for line in lines if not WITH_PARTNERS.match(line)]


class Pages(command.Test):
    @unittest.skipUnless(shutil.which("man"), "no man")
    def test_manual_pages_format_without_a_warning(self):
        folder = pathlib.Path("share/man/man1")
        folder.mkdir(parents=True)
        self.synfire("--manual", folder)
        done = subprocess.run(["man", "-M", "share/man", "--warnings=all", "-a", *sorted(page.stem for page in folder.iterdir())],
                              capture_output=True, text=True, check=True, env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "100"})
        self.assertEqual(done.stderr, "")
        self.assertIn("simulate [options] OUT.h5", done.stdout)

    def test_command_lines_run_as_they_stand_page_by_page_on_the_recording_of_the_demo(self):
        typing = pages.link_command()
        self.synfire("simulate", "demo.h5", "--preset", "sym26", "--quiet")
        self.synfire("simulate", "long.h5", "--preset", "sym26", "--duration", 240, "--quiet")
        tried = 0
        for path in sorted((command.SOURCE / "docs").glob("*.md")):
            folder = pathlib.Path(path.stem)
            folder.mkdir()
            for recording in "demo.h5", "long.h5":
                shutil.copy(recording, folder)
            for line in lines_of(path):
                with self.subTest(page=path.name, line=line):
                    tried += 1
                    printed = pages.type_line(line, typing, cwd=folder).stdout
                    self.assertTrue(printed or re.search(r">.*\.txt$", line))
        self.assertGreater(tried, 30)


if __name__ == "__main__":
    command.main()
