# SPDX-License-Identifier: Apache-2.0
"""docs/worked-analyses.md, and the worked examples of other pages: lines run on the public recordings, and each line that is
shown is printed; lines with ... are left out."""
import pathlib
import re

import command
import pages


@command.needs_data("recordings")
class WorkedAnalyses(command.Test):
    @classmethod
    def prepare(cls):
        cls.typing = pages.link_command()
        pathlib.Path("recordings").symlink_to(command.DATA / "recordings")
        for path in pathlib.Path("recordings").glob("*.h5"):
            pathlib.Path(path.name).symlink_to(path)

    def hold(self, name, commands, lines):
        """The section of worked examples, or the whole of a page that is nothing else, has so many commands, and so many lines
        of output at least."""
        text = pages.read(f"docs/{name}.md")
        section = re.search(r"(?ms)^## A worked example.*?(?=^## [^A]|\Z)", text)
        text = section[0] if section else text
        typed = pages.typed(text)
        self.assertEqual(len(typed), commands)
        printed = {line.rstrip() for each in typed for line in pages.type_line(each, self.typing).stdout.splitlines()}
        shown = [line for line in pages.indented(text) if not line.startswith("$ ") and "..." not in line]
        self.assertGreaterEqual(len(shown), lines)
        self.assertEqual([line for line in shown if line not in printed], [])

    def test_worked_analyses(self):
        self.hold("worked-analyses", 5, 13)
        self.assertIn("<svg", pathlib.Path("isi.svg").read_text())

    def test_bursts(self):
        self.hold("bursts", 1, 1)

    def test_sequences(self):
        self.hold("sequences", 1, 7)

    def test_criticality(self):
        self.hold("criticality", 1, 4)

    def test_network(self):
        self.hold("network", 1, 8)

    def test_drive(self):
        self.hold("drive", 2, 6)

    def test_responses(self):
        self.hold("responses", 2, 1)


if __name__ == "__main__":
    command.main()
