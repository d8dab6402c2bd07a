# SPDX-License-Identifier: Apache-2.0
"""A sender in real time, from clock 0 when somebody listens: A every 10 ms and B 5 ms after it, for SECONDS. It says when it is open,
and in the end it is killed."""
import argparse
import os
import pathlib
import signal
import time

import wire

options = argparse.ArgumentParser(description=__doc__)
options.add_argument("endpoint")
options.add_argument("seconds", type=float)
options.add_argument("--after", type=pathlib.Path, help="it opens when this file is there")
options.add_argument("--hang", action="store_true", help="it stops itself in the middle until SIGCONT")
options.add_argument("--end", action="store_true", help="it sends its END, and ends")
options.add_argument("--stay", action="store_true", help="it stays without a word")
asked = options.parse_args()

while asked.after and not asked.after.exists():
    time.sleep(0.01)
sender = wire.Sender(asked.endpoint)
print("open", flush=True)
sender.wait()
clock = total = 0
begin = time.monotonic()
while clock < asked.seconds * wire.SECOND:
    if total % 20 == 0:
        sender.hello(clock)
    spikes = [(clock, 0), (clock + 5_000_000, 1)]
    clock, total = clock + 10_000_000, total + 2
    sender.data(clock, spikes)
    if asked.hang and clock > asked.seconds * wire.SECOND / 2:
        asked.hang = False
        os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(max(0, begin + clock / wire.SECOND - time.monotonic()))
if asked.end:
    sender.end(clock, total)
elif asked.stay:
    signal.pause()
else:
    time.sleep(0.2)  # what it sent leaves it
    os.kill(os.getpid(), signal.SIGKILL)
