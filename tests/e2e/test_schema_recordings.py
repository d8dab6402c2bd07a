# SPDX-License-Identifier: Apache-2.0
"""What commands print with --json of real recordings, whole and in part, is as docs/schema says."""
import command
import schema

MINE = ("--delay", "0.5:20", "--min-count", 50)
TESTED = ("--significance", "segment-shift", "--surrogates", 20)
JOBS = (("mine", *MINE, "--max-size", 3, "--top", 100),
        ("mine", *MINE, "--max-size", 2, "--top", 100, *TESTED, "--quiet"),
        ("graph", "--metric", "sttc", "--surrogates", 20, "--quiet"),
        ("graph", *MINE, "--quiet"),
        ("bfs", *MINE, "--source", "#0", "--quiet"),
        ("match", *MINE, "feed-forward-loop", "--limit", 100, "--quiet"),
        ("match", *MINE, "census", "--quiet"),
        ("bandwidth", "--quantity", "isi", "--quiet"),
        ("bandwidth", "--quantity", "rate", "--quiet"))


@command.needs_data("recordings")
class Recordings(command.Test):
    def held(self, *words):
        """Whether it has something to tell of a recording, which is a result of a command then; it may refuse it."""
        done = self.run_command(*words, "--json")
        self.assertIn(done.returncode, (0, 65), done.stderr)
        if done.returncode == 0:
            self.assertIsNotNone(schema.schema_of(schema.held(schema.parse(done.stdout))))
        return done.returncode == 0

    def test_documents_of_all_commands_are_as_their_schemas_say(self):
        count = 0
        for path in sorted((command.DATA / "recordings").iterdir()):
            recording = (path, *(["--stream", "well001/rec0000"] if "maxtwo" in path.name else []))  # of twelve
            if not self.held("info", *recording):
                continue
            count += 1
            for name, *options in JOBS:
                with self.subTest(recording=path.name, name=name, options=options):
                    count += self.held(name, *recording, "--from", "+0", "--to", "+60", *options)
        self.assertGreaterEqual(count, 60)


if __name__ == "__main__":
    command.main()
