# SPDX-License-Identifier: Apache-2.0
"""Sends SIGINT to a command when its progress bar says so, whatever the machine's pace.

    interrupt.py WORDS COMMAND...

Standard error is a terminal, on which WORDS (a regular expression) are waited for. What comes on standard output is in the
file `out` then, what came on standard error in `err`, and the exit code is the command's. A command that ends before, does
not say so for ten minutes, or does not end within two of the signal, ends with 99.
"""
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

words = re.compile(sys.argv[1].encode())
master, slave = pty.openpty()
with open("out", "wb") as out:
    child = subprocess.Popen(sys.argv[2:], stdout=out, stderr=slave, stdin=subprocess.DEVNULL)
os.close(slave)
said, sent, begun = b"", None, time.monotonic()
while True:
    if select.select([master], [], [], 0.05)[0]:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        said += piece
    if sent is None and words.search(said):
        child.send_signal(signal.SIGINT)
        sent = time.monotonic()
    if time.monotonic() > (begun + 600 if sent is None else sent + 120):
        child.kill()
        print("it does not stop", file=sys.stderr)
        sys.exit(99)
code = child.wait()
# what a bar wiped is no line
lines = [re.sub(rb".*\x1b\[K", b"", line) for line in said.replace(b"\r\n", b"\n").split(b"\n")]
with open("err", "wb") as err:
    err.write(b"\n".join(lines))
if sent is None:
    print(f"it ended with {code} before {sys.argv[1]!r} was seen:\n" + said.decode(errors="replace"), file=sys.stderr)
    sys.exit(99)
if os.environ.get("E2E_TIMES"):
    shares = re.findall(rb" (\d+) %", said)
    print(f"answered {time.monotonic() - sent:.2f} s after the signal; bar {b' '.join(shares[:20]).decode()}", file=sys.stderr)
sys.exit(code)
