# SPDX-License-Identifier: Apache-2.0
"""What columns are is said once, and what is printed from it stands where others read it."""
import os
import pathlib
import re
import shutil

import command
import installed

DESCRIBE = ("scripts/describe", os.environ["SYNFIRE"])


class Describe(command.Test):
    @classmethod
    def prepare(cls):
        for folder in "configs", "docs", "scripts":
            shutil.copytree(command.SOURCE / folder, folder)
        cls.all = cls.synfire("describe").stdout
        cls.names = re.findall(r"(?m)^([a-z_-]+): ", cls.all)

    def assert_stale(self, said, words, instead, *paths):
        """Files in which something else stands are named, and written anew."""
        for path in map(pathlib.Path, paths):
            text = path.read_text()
            self.assertIn(words, text)
            path.write_text(text.replace(words, instead))
        self.assertIn(f"{said}: not what the program describes", installed.python(*DESCRIBE, code=1).stderr)
        installed.python("scripts/describe", "--update", os.environ["SYNFIRE"])
        for path in paths:
            self.assertEqual(pathlib.Path(path).read_bytes(), (command.SOURCE / path).read_bytes(), path)

    def test_pages_and_schemas_say_what_the_program_describes(self):
        installed.done(command.SOURCE / "scripts/describe", os.environ["SYNFIRE"])

    def test_a_column_that_is_said_anew_is_stale_in_the_page(self):
        self.assert_stale("docs/formats.md", "p corrected for all that was searched", "p, corrected", "docs/formats.md")

    def test_a_column_of_messages_is_stale_in_its_schema_too(self):
        self.assert_stale("docs/schema/message-status.json, docs/messages.md", "spikes that found the ring full", "spikes lost",
                          "docs/messages.md", "docs/schema/message-status.json")

    def test_a_key_of_another_default_is_stale_in_the_reference(self):
        self.assert_stale("configs/reference.yaml", "  hop_s: 1 ", "  hop_s: 2 ", "configs/reference.yaml")

    def test_a_table_alone_has_its_own_columns(self):
        edges = self.synfire("describe", "edges").stdout
        self.assertRegex(edges, "(?m)^expected_given_rest  real ")
        self.assertNotIn("folded_under", edges)
        self.assertIn("folded_under", self.synfire("describe", "episodes").stdout)
        self.refuses(64, "found 'nothing', expected one of episodes, edges, ", "describe", "nothing")

    def test_all_is_each_by_itself(self):
        self.assertIn("units", self.names)
        self.assertEqual(sum(name.startswith("message-") for name in self.names), 12)
        self.assertEqual("\n".join(self.synfire("describe", name).stdout for name in self.names), self.all)

    def test_commands_without_a_table_of_their_own_say_where_their_columns_are(self):
        page = (command.SOURCE / "docs/formats.md").read_text()
        for name in "info", "bfs", "match", "bandwidth", "aggregate":
            self.assertRegex(page, f"`{name}`.*columns-of-results")


if __name__ == "__main__":
    command.main()
