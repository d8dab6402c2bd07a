# SPDX-License-Identifier: Apache-2.0
"""A sender of docs/wire.md in real time, from clock 0 when somebody listens: A every 10 ms and B 5 ms after it.

usage: steady_sender.py ENDPOINT SECONDS [--after FILE] [--hang] [--end] [--stay]: it opens the endpoint when the file is
there, prints a line when it has, stops itself in the middle until SIGCONT, sends its END only where asked for, and stays
without a word, or is killed."""
import os
import random
import signal
import struct
import sys
import time

import zmq

HELLO, DATA, END = 1, 2, 4
endpoint, seconds = sys.argv[1], float(sys.argv[2])
run, sequence = random.getrandbits(63) | 1, 0
socket = zmq.Context().socket(zmq.XPUB)  # which hears who subscribes
socket.setsockopt(zmq.LINGER, 10000)
while "--after" in sys.argv and not os.path.exists(sys.argv[sys.argv.index("--after") + 1]):
    time.sleep(0.01)
socket.bind(endpoint)
print("open", flush=True)
socket.recv()


def send(kind, clock, body=b""):
    global sequence
    socket.send(struct.pack("<4sHHQQq", b"SYNF", 1, kind, run, sequence, clock) + body)
    sequence += 1


def string(text):
    return struct.pack("<I", len(text)) + text.encode()


units = b"".join(struct.pack("<ddiB", 0, 0, -1, 0) + string(name) + string("") for name in "AB")
clock = total = 0
hangs = "--hang" in sys.argv
begin = time.monotonic()
while clock < seconds * 1e9:
    if total % 20 == 0:
        send(HELLO, clock, struct.pack("<qIII", -2**63, 0, 2, 0) + string("steady") + units)
    spikes = [(clock, 0), (clock + 5000000, 1)]
    clock, total = clock + 10**7, total + 2
    send(DATA, clock, struct.pack("<II", 2, 0) + b"".join(struct.pack("<qIf", at, unit, -50) for at, unit in spikes))
    if hangs and clock > seconds * 0.5e9:
        hangs = False
        os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(max(0, begin + clock * 1e-9 - time.monotonic()))
if "--end" in sys.argv:
    send(END, clock, struct.pack("<QQ", total, 0))
elif "--stay" in sys.argv:
    signal.pause()
else:
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGKILL)
