# SPDX-License-Identifier: Apache-2.0
"""Runs a command on a terminal of its own and looks at what it draws there.

    screen.py COLUMNS ROWS WHEN SIGNALS COMMAND...

SIGNALS, sent after so many seconds, or (where WHEN is no number) once a page has a line with these words (a regular expression,
within three minutes; printed at the end as `seen: ...`): INT, INT* (again and again) or - (none). Prints the last page of the alternate
screen, then a line `left`, then what came on the normal screen, and exits as the command did. A line that reaches beyond the
last column, a page that scrolls and a terminal that is not given back as it was end with 99 and a sentence.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

columns, rows, when = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
is_time = re.fullmatch(r"[0-9.]+", when) is not None
signals = sys.argv[4].strip("-")


def fail(sentence):
    print(sentence)
    sys.exit(99)


def run():
    """All that the command writes, and its exit code."""
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.execvp(sys.argv[5], sys.argv[5:])
    left, written, due = signals, b"", time.monotonic() + (float(when) if is_time else 180)
    while True:
        if select.select([terminal], [], [], 0.05)[0]:
            try:
                piece = os.read(terminal, 65536)
            except OSError:
                break
            if not piece:
                break
            written += piece
        said = not is_time and re.search(when.encode(), written) is not None
        if left and (said or time.monotonic() >= due):
            for _ in range(100 if signals == "INT*" else 1):
                os.kill(child, signal.SIGINT)
                time.sleep(0.002)
            left = ""
    return written.decode(), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class Terminal:
    def __init__(self):
        self.alternate, self.cursor, self.entered, self.pages, self.colours = False, True, 0, 0, set()
        self.normal = ""
        self.clear()

    def clear(self):
        self.grid, self.row, self.column = [[" "] * columns for _ in range(rows)], 0, 0

    def control(self, code):
        if code in ("[?1049h", "[?1049l"):
            self.alternate = code.endswith("h")
            self.entered += self.alternate
        elif code in ("[?25h", "[?25l"):
            self.cursor = code.endswith("h")
        elif code == "[H":
            self.row = self.column = 0
            self.pages += 1
        elif code == "[K":
            self.grid[self.row][self.column :] = [" "] * (columns - self.column)
        elif code == "[J":
            self.grid[self.row][self.column :] = [" "] * (columns - self.column)
            for row in range(self.row + 1, rows):
                self.grid[row] = [" "] * columns
        elif re.fullmatch(r"\[[0-9]+m", code):
            self.colours.add(code[1:-1])
        else:
            fail(f"an unknown control: {code!r}")

    def character(self, c):
        if not self.alternate:
            self.normal += c
        elif c == "\r":
            self.column = 0
        elif c == "\n":
            self.row += 1
            if self.row == rows:
                fail(f"a page is higher than {rows} rows:\n" + self.text())
        else:
            if self.column == columns:
                fail(f"a line is wider than {columns} columns:\n" + self.text())
            self.grid[self.row][self.column] = c
            self.column += 1

    def text(self):
        return "\n".join("".join(row).rstrip() for row in self.grid)


written, code = run()
terminal = Terminal()
for control, character in re.findall(r"\x1b(\[[0-9;?]*[A-Za-z])|(.)", written, re.S):
    if control:
        terminal.control(control)
    else:
        terminal.character(character)
if terminal.alternate or not terminal.cursor:
    fail("the terminal was not given back as it was")
print(terminal.text())
print(f"left after {terminal.pages} pages on {terminal.entered} screens, colours: {' '.join(sorted(terminal.colours - {'0'}))}")
print(terminal.normal.replace("\r", ""))
if not is_time:
    seen = re.search(r"[^\n\x1b]*(" + when + r")[^\n\x1b]*", written)
    if seen is None:
        fail(f"never seen: {when}")
    print("seen: " + re.sub(r"^\[[0-9]*[Hm]", "", seen.group(0)))
sys.exit(code)
