# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C at a moment that a progress bar tells, whatever the machine's pace."""
import os
import pty
import re
import select
import signal
import subprocess
import tempfile
import time


def interrupt(bar, *words):
    """Runs the command with its standard error on a terminal, and sends SIGINT when what comes there has the regular
    expression `bar`. The command as it ended: what it printed, and said in lines, as a bar that was wiped is none. One that
    ends before, does not say so for ten minutes, or does not end within two of the signal, is an error."""
    master, slave = pty.openpty()
    said, sent, begun = b"", None, time.monotonic()
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([os.environ["SYNFIRE"], *map(str, words)], stdout=out, stderr=slave, stdin=subprocess.DEVNULL)
        os.close(slave)
        try:
            while True:
                if select.select([master], [], [], 0.05)[0]:
                    try:
                        piece = os.read(master, 65536)
                    except OSError:  # the other end is closed
                        break
                    if not piece:
                        break
                    said += piece
                if sent is None and re.search(bar.encode(), said):
                    child.send_signal(signal.SIGINT)
                    sent = time.monotonic()
                if time.monotonic() > (begun + 600 if sent is None else sent + 120):
                    raise AssertionError(f"it does not stop:\n{said.decode(errors='replace')}")
            child.wait(120)
        finally:
            child.kill()
            child.wait()
            os.close(master)
        if sent is None:
            raise AssertionError(f"it ended with {child.returncode} before {bar!r} was seen:\n{said.decode(errors='replace')}")
        out.seek(0)
        lines = "\n".join(re.sub(r".*\x1b\[K", "", line) for line in said.decode().replace("\r\n", "\n").split("\n"))
        return subprocess.CompletedProcess(child.args, child.returncode, out.read().decode(), lines)
