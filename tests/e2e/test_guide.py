# SPDX-License-Identifier: Apache-2.0
"""The guide works for one who has only installed: every line that begins with $ in an empty folder, in order, and a second
time; its tables without times are those it prints, in their order; and the two terminals find what was planted."""
import os
import pathlib
import re
import shlex
import shutil

import command
import installed
import pages

GUIDE = pages.read("docs/guide.md")
# Prompts, elisions, times, and what is no output.
NOT_RESULTS = re.compile(r"\$ |.*\.\.\.$|synfire|.*seconds$|.*engine interval|^ +\d+ +\d+ +\d+ +[0-9.e-]+$")


class Guide(command.Test):
    @classmethod
    def prepare(cls):
        tree = installed.install("home/.local")
        installed.use(tree)
        cls.typing = pages.beside(tree)
        pathlib.Path("walk").mkdir()
        os.chdir("walk")
        for _ in "first", "again":
            cls.printed = [line.rstrip() for typed in pages.typed(GUIDE)
                           for line in pages.type_line(typed, cls.typing).stdout.splitlines()]

    def test_what_is_typed_is_the_installed_command(self):
        self.assertEqual(shutil.which("synfire", path=self.typing["PATH"]), os.environ["SYNFIRE"])
        self.assertGreaterEqual(len(pages.typed(GUIDE)), 9)

    def test_it_can_be_uninstalled(self):
        self.assertRegex(installed.done("cmake", "--build", command.BUILD, "--target", "help").stdout, "(?m)^uninstall")

    def test_what_is_shown_of_results_is_printed_in_that_order(self):
        shown = [line for line in pages.indented(GUIDE) if not NOT_RESULTS.match(line)]
        self.assertGreater(len(shown), 20)
        printed = iter(self.printed)
        for line in shown:
            self.assertIn(line, printed)  # each is looked for behind the one before it

    def test_one_terminal_and_another_find_what_was_planted_and_little_else_twice(self):
        [play] = re.findall(r"(?m)^    synfire (play .*)", GUIDE)
        [run] = re.findall(r"(?m)^    synfire (run monitoring .*)", GUIDE)
        spikes, results = (f"tcp://127.0.0.1:{port}" for port in command.free_ports(2))
        for recorded in "culture.h5", "culture-2.h5":
            with self.subTest(recorded=recorded):
                running = self.begin("run", *shlex.split(run), "--json", "--set", f"sources.0.endpoint={spikes}",
                                     "--set", f"sinks.0.endpoint={results}")
                self.synfire(*shlex.split(play), "--speed", 10, "--to", spikes)
                running.end()
                found = [episode["units"] for episode in running.document()["episodes"]["episodes"]]
                self.assertIn([0, 1, 2], found)
                self.assertLess(len(found), 40)
                self.assertEqual(self.document("info", recorded)["spikes"], self.document("info", "long.h5")["spikes"])


if __name__ == "__main__":
    command.main()
