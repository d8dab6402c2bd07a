# SPDX-License-Identifier: Apache-2.0
"""Every command explains itself in one form, its example works, and wrong words get one sentence and exit code 64."""
import pathlib
import re

import command
import pages

# record's needs a sender, which test_run has; nor is there a run for top, which test_control asks.
WITH_PARTNERS = {"record", "top"}


class Help(command.Test):
    @classmethod
    def prepare(cls):
        cls.all = cls.synfire("--help").stdout
        cls.commands = dict(re.findall(r"(?m)^  ([a-z]{1,11}) +([^ ].*)$", cls.all))
        del cls.commands["synfire"]  # a line of its examples
        cls.pages = {name: cls.synfire(name, "--help").stdout for name in cls.commands}

    def test_it_names_the_version(self):
        self.assertRegex(self.synfire("--version").stdout, r"\Asynfire [0-9]")

    def test_a_summary_begins_small_and_has_no_full_stop(self):
        self.assertGreaterEqual(len(self.commands), 12)
        for name, summary in self.commands.items():
            self.assertRegex(summary, r"\A[a-z0-9].*[^.]\Z", name)

    def test_two_blanks_keep_every_name_apart_from_its_summary(self):
        rows = [line for line in re.findall(r"(?m)^  [a-z]+ +[^ ].*$", self.all) if not line.startswith("  synfire ")]
        self.assertEqual(len(rows), len(self.commands))
        for row in rows:
            self.assertRegex(row, "^  [a-z]+  +[^ ]")

    def test_every_page_begins_with_the_usage_and_ends_with_an_example(self):
        for name, page in self.pages.items():
            with self.subTest(name=name):
                self.assertRegex(page, rf"(?m)^usage: synfire {name} ")
                *others, example = page.splitlines()
                self.assertRegex(example, rf"^  .*synfire {name}\b")
                self.assertEqual([line for line in others[1:] if len(line) > 100], [])

    def test_wrong_words_are_refused(self):
        for name in self.commands:
            with self.subTest(name=name):
                self.refuses(64, "no-such-option", name, "--no-such-option")
        self.refuses(64, "no command 'frobnicate'", "frobnicate")

    def test_every_example_works_on_what_the_first_makes(self):
        typing = pages.link_command()
        pathlib.Path("configs").symlink_to(command.SOURCE / "configs")

        def example(name):
            """Which takes not the time of a live one here, nor the port that people use."""
            lines = self.pages[name].partition("\nExample")[2].partition("\n")[2].strip()
            return lines.replace("--speed 10", "--speed max").replace("synfire play", "synfire play --to tcp://127.0.0.1:0")

        for name in (name for name in self.commands if name not in WITH_PARTNERS):  # in order: one may read what another made
            with self.subTest(name=name):
                pathlib.Path("demo.h5").unlink(missing_ok=True)
                pages.type_line(example("simulate"), typing)
                line = example(name)
                self.assertIn(f"synfire {name}", line)
                if name == "doctor":  # which may be right about this machine
                    line += " || [ $? = 1 ]"
                self.assertTrue(pages.type_line(line, typing).stdout)


if __name__ == "__main__":
    command.main()
