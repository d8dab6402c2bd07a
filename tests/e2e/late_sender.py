# SPDX-License-Identifier: Apache-2.0
"""A sender of docs/wire.md in real time: A every 50 ms and B 5 ms after it, in a frame of their own.

usage: late_sender.py ENDPOINT SECONDS [--hold AT FOR] [--write S] [--behind S] [--origin]: frames due from AT on are sent FOR seconds
later, all at once; or those of S seconds together; or each comes S seconds after its time. With --origin the hello tells the wall clock
at stream time 0, which is 0.5 s after somebody listens, so that they are ready, less --behind. Prints the monotonic clock (ns) of
that moment, which is never before what the origin says."""
import random
import struct
import sys
import time

import zmq

HELLO, DATA, END = 1, 2, 4
STEP = 50_000_000


def monotonic_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def option(name, count):
    at = sys.argv.index(name) + 1 if name in sys.argv else None
    return [float(text) for text in sys.argv[at:at + count]] if at else [0.0] * count


endpoint, seconds = sys.argv[1], float(sys.argv[2])
hold_at, hold_for = option("--hold", 2)
(write,) = option("--write", 1)
(behind,) = option("--behind", 1)
run, sequence = random.getrandbits(63) | 1, 0
socket = zmq.Context().socket(zmq.XPUB)  # which hears who subscribes
socket.setsockopt(zmq.LINGER, 10000)
socket.bind(endpoint)
socket.recv()


def wall_and_monotonic():  # the pair that was read in the shortest time
    pairs = []
    for _ in range(100):
        before = monotonic_ns()
        wall, after = time.time_ns(), monotonic_ns()
        pairs.append((after - before, wall, after))
    return min(pairs)[1:]


wall, zero = (now + 500_000_000 - int(behind * 1e9) for now in wall_and_monotonic())
origin = wall if "--origin" in sys.argv else -2**63
print(zero, flush=True)


def send(kind, clock, body=b""):
    global sequence
    socket.send(struct.pack("<4sHHQQq", b"SYNF", 1, kind, run, sequence, clock) + body)
    sequence += 1


def string(text):
    return struct.pack("<I", len(text)) + text.encode()


def wait_until(at):
    time.sleep(max(0, (zero + at - monotonic_ns()) * 1e-9))


units = b"".join(struct.pack("<ddiB", 0, 0, -1, 0) + string(name) + string("") for name in "AB")
clock = end = total = 0
while clock < seconds * 1e9:
    if total % 20 == 0:
        send(HELLO, end, struct.pack("<qIII", origin, 0, 2, 0) + string("late") + units)
    end = clock + 6_000_000
    held = hold_at * 1e9 <= clock < (hold_at + hold_for) * 1e9
    written = (clock // int(write * 1e9) + 1) * int(write * 1e9) if write else end
    wait_until(int((hold_at + hold_for) * 1e9) if held else written + int(behind * 1e9))
    spikes = [(clock, 0), (clock + 5_000_000, 1)]
    body = b"".join(struct.pack("<qIf", at, unit, -50) for at, unit in spikes)
    send(DATA, end, struct.pack("<II", 2, 0) + body)
    clock, total = clock + STEP, total + 2
send(END, clock, struct.pack("<QQ", total, 0))
