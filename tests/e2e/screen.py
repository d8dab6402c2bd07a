# SPDX-License-Identifier: Apache-2.0
"""Runs a command on a terminal of its own, and looks at what it draws there."""
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time


class Screen:
    """What a program wrote on a terminal of so many columns and rows: `page`, the last of the alternate screen, and `after`, what came
    on the normal one; `text` has both. A line that reaches beyond the last column, a page that scrolls and a terminal that is not given
    back as it was fail."""

    def __init__(self, columns, rows, written, code):
        self.columns, self.rows, self.written, self.code = columns, rows, written, code
        self.alternate, self.cursor, self.screens, self.pages, self.colours, self.after = False, True, 0, 0, set(), ""
        self.grid, self.row, self.column = [[" "] * columns for _ in range(rows)], 0, 0
        for control, character in re.findall(r"\x1b(\[[0-9;?]*[A-Za-z])|(.)", written, re.S):
            if control:
                self.take_control(control)
            else:
                self.take_character(character)
        assert self.cursor and not self.alternate, "the terminal was not given back as it was"
        self.page = self.drawn()
        self.after = self.after.replace("\r", "")
        self.text = f"{self.page}\n{self.after}"

    def drawn(self):
        return "\n".join("".join(row).rstrip() for row in self.grid)

    def take_control(self, control):
        if control in ("[?1049h", "[?1049l"):
            self.alternate = control.endswith("h")
            self.screens += self.alternate
        elif control in ("[?25h", "[?25l"):
            self.cursor = control.endswith("h")
        elif control == "[H":
            self.row = self.column = 0
            self.pages += 1
        elif control in ("[K", "[J"):
            self.grid[self.row][self.column:] = [" "] * (self.columns - self.column)
            for row in range(self.row + 1, self.rows) if control == "[J" else ():
                self.grid[row] = [" "] * self.columns
        elif re.fullmatch(r"\[[0-9]+m", control):
            self.colours |= {control[1:-1]} - {"0"}
        else:
            raise AssertionError(f"an unknown control: {control!r}")

    def take_character(self, character):
        if not self.alternate:
            self.after += character
        elif character == "\r":
            self.column = 0
        elif character == "\n":
            self.row += 1
            assert self.row < self.rows, f"a page is higher than {self.rows} rows:\n{self.drawn()}"
        else:
            assert self.column < self.columns, f"a line is wider than {self.columns} columns:\n{self.drawn()}"
            self.grid[self.row][self.column] = character
            self.column += 1

    def line(self, words):
        """The first line ever drawn with these words."""
        found = re.search(rf"[^\n\x1b]*({words})[^\n\x1b]*", self.written)
        assert found, f"never seen: {words}\n{self.text}"
        return re.sub(r"^\[[0-9]*[Hm]", "", found[0])


def on(columns, rows, *words, until=None, interrupts=1, environment=None):
    """The screen of a command that ran to its end, or, once something was written that is as the regular expression `until` says, was
    interrupted so often."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    with subprocess.Popen(list(map(str, words)), stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                          env={**os.environ, **(environment or {})}) as child:
        os.close(slave)
        written, seen, end = b"", False, time.monotonic() + 300
        try:
            while piece := read(master):
                written += piece
                if until is not None and not seen and re.search(until.encode(), written):
                    seen = True
                    for _ in range(interrupts):
                        child.send_signal(signal.SIGINT)
                        time.sleep(0.002)
                assert seen or until is None or time.monotonic() < end, f"never seen: {until}\n{written.decode()}"
        except BaseException:
            child.kill()
            raise
        finally:
            os.close(master)
    return Screen(columns, rows, written.decode(), child.returncode)


def read(terminal):
    """What is written next; nothing at the end."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""
