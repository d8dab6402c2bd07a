# SPDX-License-Identifier: Apache-2.0
"""Names that would command a terminal, at every place where something from outside is shown: names of units, files, epochs,
streams, keys and settings, metadata; each command on a terminal and on a pipe."""
import json
import os
import pathlib
import pty
import re
import subprocess

import command

command.need_modules()
import h5py
import numpy as np

HIDDEN = [*range(0x20), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)]
EVIL = b"\x1b[35mred\x1b]0;title\x07 \x08\x0d\x7f \xc2\x9b2J \xe2\x80\xae\xe2\x81\xa6\xd8\x9c\xe2\x80\x8f \xff\xc0\xaf\xe2\x80"
SHOWN = "\\x1b[35mred\\x1b]0;title\\x07 \\x08\\x0d\\x7f \\u009b2J \\u202e\\u2066\\u061c\\u200f \\xff\\xc0\\xaf\\xe2\\x80"
NAME, SHOWN_NAME = EVIL.replace(b"\x0d", b""), SHOWN.replace("\\x0d", "")  # a line of a CSV may end in it
PLAIN = "Übergröße µV 日本"
RED = "\\x1b[35mred"
# What the page of a run and the progress bar send themselves: the alternate screen, the cursor, home, erase.
OWN = re.compile(rb"\x1b\[(?:\?1049[hl]|\?25[hl]|(?:0|2|31|32)m|[HKJ])|\r\x1b\[K")
EDGES = ("--delay", "1:5", "--min-count", 10)


def on_terminal(words):
    """Everything that a terminal is sent, without what the line discipline adds."""
    child, terminal = pty.fork()
    if child == 0:
        try:
            os.execve(words[0], words, {**os.environ, "TERM": "xterm"})
        finally:
            os._exit(127)
    shown = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            part = b""
        if not part:
            break
        shown += part
    os.waitpid(child, 0)
    os.close(terminal)
    return OWN.sub(b"", shown.replace(b"\r\n", b"\n"))


def on_pipe(words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False).stdout


def write(name, data):
    pathlib.Path(name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return name


class Names(command.Test):
    def shows(self, shown, *words, drawn=()):
        """The command shows this, what is drawn only on a terminal, and nothing that a terminal would obey; what it shows."""
        for run in on_terminal, on_pipe:
            raw = run([os.fsencode(word if isinstance(word, bytes) else str(word)) for word in (os.environ["SYNFIRE"], *words)])
            text = raw.decode()  # fails where it is no UTF-8
            with self.subTest(words=words, run=run.__name__):
                self.assertEqual(sorted({hex(ord(c)) for c in text if ord(c) in HIDDEN and c != "\n"}), [], raw)
                for part in [*shown, *(drawn if run is on_terminal else [])]:
                    self.assertIn(part, text)
        return text


class Refusals(Names):
    def test_a_line_of_a_csv(self):
        self.shows(["bad.csv: line 2: expected", RED], "info", write("bad.csv", b"a,0.5\nb," + EVIL + b"\n"))
        self.shows(["\\xff\\xfe"], "info", write("latin.csv", b"a,1\nb,\xff\xfe\n"))

    def test_a_file_a_command_and_arguments(self):
        self.shows(["cannot open", SHOWN], "info", EVIL + b".csv")
        self.shows([f"there is no command '{SHOWN}"], EVIL)
        self.shows([RED], "info", write("one.csv", "a,1\n"), "--units", EVIL)

    def test_settings_keys_and_values(self):
        self.shows(["--set", RED], "run", write("empty.yaml", ""), "--set", EVIL)
        self.shows(["there is no key '\\x1b[35m\\u009b\\u202e' here"], "run", write("key.yaml", '"\\e[35m\\x9b\\u202e": 1\n'))
        self.shows(["\\u009b2J"], "run", write("value.yaml", 'window: {length_s: "\\x9b2J"}\n'))


class Units(Names):
    @classmethod
    def prepare(cls):
        write("names.csv", b"unit,seconds\n" + b"".join(NAME + b",%d.000\n%s,%d.003\n" % (i, PLAIN.encode(), i) for i in range(60)))
        write("run.yaml", f'''stream: "\\e[35mlive\\x9b2J\\u202e{PLAIN}"
sources: [{{type: replay, recording: names.csv, speed: max}}]
window: {{length_s: 10, hop_s: 1}}
mine: {{delays_ms: "1:5", min_rate_hz: 0, min_count: 3, every: 1}}
sinks: [{{type: jsonl, path: out.jsonl, overwrite: true}}]
''')

    def test_tables_show_them_escaped(self):
        self.shows([PLAIN, SHOWN_NAME[:20]], "info", "names.csv")
        self.shows([PLAIN, SHOWN_NAME], "mine", "names.csv", *EDGES)
        self.shows([PLAIN, SHOWN_NAME], "mine", "names.csv", *EDGES, "--verbose")
        self.shows([PLAIN, SHOWN_NAME], "count", "names.csv", "--episodes", write("pairs.txt", "#0 -(1,5]-> #1\n"))
        self.shows([PLAIN, SHOWN_NAME], "reach", "names.csv", *EDGES, "--source", "#0")

    def test_so_do_labels_of_epochs(self):
        write("epochs.csv", b"start,stop,label\n0,30," + NAME + b"\n30,60,later\n")
        self.shows([RED], "mine", "names.csv", *EDGES, "--epochs", "epochs.csv")

    def test_so_do_files_of_graphs(self):
        for path in "names.graphml", "names.h5", "names.el":
            self.synfire("graph", "names.csv", *EDGES, "--out", path)
        self.shows([PLAIN], "bfs", "names.graphml", "--source", "#0")
        self.shows([RED], "bfs", "names.h5", "--source", "#0")

    def test_json_has_the_names_themselves(self):
        names = [unit["name"] for unit in json.loads(self.shows([], "info", "names.csv", "--json"))["unit_detail"]]
        self.assertIn(PLAIN, names)
        self.assertTrue([name for name in names if name.startswith("\x1b[35mred\x1b]0;title\x07") and "\x9b2J \u202e\u2066" in name], names)

    def test_a_recording_shows_its_metadata_escaped(self):
        self.synfire("simulate", "sim.h5", "--duration", 12, "--unit-count", 3)
        with h5py.File("sim.h5", "a") as file:
            file["metadata"].attrs["subject"] = np.bytes_(NAME)
            file["metadata"].attrs["place"] = PLAIN
            names = file["units/name"][:]
            names[0] = NAME[:names.dtype.itemsize or None] if names.dtype.kind == "S" else NAME
            file["units/name"][:] = names
        self.shows([PLAIN, "\\u202e"], "info", "sim.h5")
        self.shows([PLAIN, "\\u202e"], "info", "sim.h5", "--verbose")

    def test_a_run_shows_its_stream_and_units_escaped(self):
        self.shows(["\\x1b[35mlive\\u009b2J\\u202e" + PLAIN], "run", "run.yaml", drawn=[RED])
        self.shows([PLAIN], "run", "run.yaml", "--check")

    def test_and_writes_json_lines_without_what_a_terminal_obeys(self):
        self.synfire("run", "run.yaml", "--set", "sinks.0.path=lines.jsonl")
        lines = pathlib.Path("lines.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
        self.assertFalse([line for line in lines if any(ord(c) in HIDDEN for c in line)])
        self.assertEqual({json.loads(line).get("stream", "") for line in lines} - {""}, {"\x1b[35mlive\x9b2J\u202e" + PLAIN})


if __name__ == "__main__":
    command.main()
