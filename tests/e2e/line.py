# SPDX-License-Identifier: Apache-2.0
"""line.py SIGNALS COMMAND...: runs a command that raises a line by 1 and lowers it by 0 at the pseudo-terminal `line`,
sends the signals while it is up, and prints what was the last byte and how the command left. Where one of them stops
the command, the line is down while it is stopped; it goes on, and is ended by SIGINT."""
import os
import pty
import select
import signal
import subprocess
import sys
import time
import tty

master, slave = pty.openpty()
tty.setraw(slave)
if os.path.islink("line"):
    os.unlink("line")
os.symlink(os.ttyname(slave), "line")
signals = [getattr(signal, "SIG" + name) for name in sys.argv[1].split(",")]
run = subprocess.Popen(sys.argv[2:])
got, deadline, sent = b"", time.monotonic() + 120, False
while time.monotonic() < deadline:
    if select.select([master], [], [], 0.05)[0]:
        got += os.read(master, 100)
    elif run.poll() is not None:
        break
    if not sent and got.endswith(b"\1"):
        sent = True
        for number in signals:
            run.send_signal(number)
            time.sleep(0.02)
        if signals[0] in (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
            os.waitid(os.P_PID, run.pid, os.WSTOPPED)
            while select.select([master], [], [], 0)[0]:
                got += os.read(master, 100)
            assert got[-1] == 0, "the line is up while the command is stopped"
            run.send_signal(signal.SIGCONT)
            run.send_signal(signal.SIGINT)
if run.poll() is None:
    run.kill()
    sys.exit("the command does not end")
assert sent, got
print(got[-1], run.returncode)
