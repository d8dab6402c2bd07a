# SPDX-License-Identifier: Apache-2.0
"""Names that would command a terminal, at every place where something from outside is shown: names of units, files,
epochs, streams, keys and settings, metadata, markers. hostile_names.py SYNFIRE: each command on a terminal and on a pipe."""

import json
import os
import pty
import re
import subprocess
import sys

import h5py
import numpy

synfire = sys.argv[1]
HIDDEN = [*range(0x20), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)]
EVIL = b"\x1b[35mred\x1b]0;title\x07 \x08\x0d\x7f \xc2\x9b2J \xe2\x80\xae\xe2\x81\xa6\xd8\x9c\xe2\x80\x8f \xff\xc0\xaf\xe2\x80"
PLAIN = "Übergröße µV 日本"
# What the page of a run and the progress bar send themselves: the alternate screen, the cursor, home, erase.
OWN = re.compile(rb"\x1b\[(?:\?1049[hl]|\?25[hl]|(?:0|2|31|32)m|[HKJ])|\r\x1b\[K")


def on_terminal(command):
    """Everything that a terminal is sent, without what the line discipline adds."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm"
        os.execv(command[0], command)
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
    return OWN.sub(b"", shown.replace(b"\r\n", b"\n"))


def on_pipe(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL).stdout


def shows(words, *arguments, drawn=()):
    """The command shows these words, those drawn only on a terminal, and nothing that a terminal would obey."""
    for run in on_terminal, on_pipe:
        raw = run([os.fsencode(synfire), *(a if isinstance(a, bytes) else a.encode() for a in arguments)])
        shown = raw.decode()  # fails where it is no UTF-8
        bad = sorted({hex(ord(c)) for c in shown if ord(c) in HIDDEN and c != "\n"})
        assert not bad, (arguments, run.__name__, bad, raw)
        for word in [*words, *(drawn if run is on_terminal else [])]:
            assert word in shown, (arguments, run.__name__, word, raw)
    return shown


def write(name, data):
    with open(name, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    return name


evil = EVIL.decode(errors="surrogateescape")
shown_evil = "\\x1b[35mred\\x1b]0;title\\x07 \\x08\\x0d\\x7f \\u009b2J \\u202e\\u2066\\u061c\\u200f \\xff\\xc0\\xaf\\xe2\\x80"
name = EVIL.replace(b"\x0d", b"")  # a line of a CSV may end in it
shown_name = shown_evil.replace("\\x0d", "")

# Refusals: the line of a CSV, the name of the file, an argument, a key and a value of a configuration.
shows(["bad.csv: line 2: expected", "\\x1b[35mred"], "info", write("bad.csv", b"a,0.5\nb," + EVIL + b"\n"))
shows(["\\xff\\xfe"], "info", write("latin.csv", b"a,1\nb,\xff\xfe\n"))
shows(["cannot open", shown_evil], "info", EVIL + b".csv")
shows(["there is no command '" + shown_evil], EVIL)
shows(["\\x1b[35mred"], "info", write("one.csv", "a,1\n"), "--units", EVIL)
shows(["--set", "\\x1b[35mred"], "run", write("empty.yaml", ""), "--set", EVIL)
shows(["there is no key '\\x1b[35m\\u009b\\u202e' here"], "run", write("key.yaml", '"\\e[35m\\x9b\\u202e": 1\n'))
shows(["\\u009b2J"], "run", write("value.yaml", 'window: {length_s: "\\x9b2J"}\n'))

# Names of units, metadata, markers, epochs: info, mine, count, graph, match.
rows = []
for i in range(60):
    rows.append(name + b",%d.000" % i)
    rows.append(PLAIN.encode() + b",%d.003" % i)
recording = write("names.csv", b"unit,seconds\n" + b"\n".join(rows) + b"\n")
shows([PLAIN, shown_name[:20]], "info", recording)
shows([PLAIN, shown_name], "mine", recording, "--delay", "1:5", "--min-count", "10")
shows([PLAIN, shown_name], "mine", recording, "--delay", "1:5", "--min-count", "10", "--verbose")
shows([PLAIN, shown_name], "count", recording, "--episodes", write("pairs.txt", "#0 -(1,5]-> #1\n"))
shows([PLAIN, shown_name], "reach", recording, "--delay", "1:5", "--min-count", "10", "--source", "#0")
shows(["\\x1b[35mred"], "mine", recording, "--delay", "1:5", "--min-count", "10", "--epochs",
      write("epochs.csv", b"start,stop,label\n0,30," + name + b"\n30,60,later\n"))
for line in "names.graphml", "names.h5", "names.el":
    subprocess.run([synfire, "graph", recording, "--delay", "1:5", "--min-count", "10", "--out", line],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
shows([PLAIN], "bfs", "names.graphml", "--source", "#0")
shows(["\\x1b[35mred"], "bfs", "names.h5", "--source", "#0")
document = json.loads(shows([], "info", recording, "--json"))
found = [unit["name"] for unit in document["unit_detail"]]
assert PLAIN in found and any(n.startswith("\x1b[35mred\x1b]0;title\x07") and "\x9b2J \u202e\u2066" in n for n in found), found

subprocess.run([synfire, "simulate", "sim.h5", "--duration", "12", "--unit-count", "3"], check=True, stdout=subprocess.DEVNULL)
with h5py.File("sim.h5", "a") as file:
    file["metadata"].attrs["subject"] = numpy.bytes_(name)
    file["metadata"].attrs["place"] = PLAIN
    names = file["units/name"][:]
    names[0] = name[:names.dtype.itemsize or None] if names.dtype.kind == "S" else name
    file["units/name"][:] = names
shows([PLAIN, "\\u202e"], "info", "sim.h5")
shows([], "info", "sim.h5", "--verbose")

# A live run: the stream's name and the units' in the table and the log, and the same in JSON lines.
config = write("run.yaml", f'''stream: "\\e[35mlive\\x9b2J\\u202e{PLAIN}"
sources: [{{type: replay, recording: names.csv, speed: max}}]
window: {{length_s: 10, hop_s: 1}}
mine: {{delays_ms: "1:5", min_rate_hz: 0, min_count: 3, every: 1}}
sinks: [{{type: jsonl, path: out.jsonl, overwrite: true}}]
''')
shows(["\\x1b[35mlive\\u009b2J\\u202e" + PLAIN], "run", config, drawn=["\\x1b[35mred"])
shows([], "run", config, "--check")
with open("out.jsonl", encoding="utf-8") as file:
    for line in file:
        assert not any(ord(c) in HIDDEN for c in line[:-1]), line
        assert json.loads(line).get("stream", "") in ("", "\x1b[35mlive\x9b2J\u202e" + PLAIN), line
