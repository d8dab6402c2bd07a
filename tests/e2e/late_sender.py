# SPDX-License-Identifier: Apache-2.0
"""A sender in real time: A every 50 ms and B 5 ms after it, in a frame of their own, for SECONDS. It prints the monotonic clock
(ns) at stream time 0, which is 0.5 s after somebody listens, so that they are ready, less --behind, and never before what an origin
says."""
import argparse
import time

import wire

STEP = 50_000_000


def monotonic_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def wall_and_monotonic():
    """The pair that was read in the shortest time."""
    pairs = []
    for _ in range(100):
        before = monotonic_ns()
        wall, after = time.time_ns(), monotonic_ns()
        pairs.append((after - before, wall, after))
    return min(pairs)[1:]


options = argparse.ArgumentParser(description=__doc__)
options.add_argument("endpoint")
options.add_argument("seconds", type=float)
options.add_argument("--hold", nargs=2, type=float, default=(0, 0), help="frames due from AT on are sent FOR seconds later, all at once")
options.add_argument("--write", type=float, default=0, help="frames of so many seconds are sent together")
options.add_argument("--behind", type=float, default=0, help="each comes so many seconds after its time")
options.add_argument("--origin", action="store_true", help="hellos tell the wall clock at stream time 0")
asked = options.parse_args()
hold_at, hold_until, write, behind = (int(seconds * wire.SECOND) for seconds in (asked.hold[0], sum(asked.hold), asked.write, asked.behind))

sender = wire.Sender(asked.endpoint)
sender.wait()
wall, zero = (now + wire.SECOND // 2 - behind for now in wall_and_monotonic())
print(zero, flush=True)
clock = end = total = 0
while clock < asked.seconds * wire.SECOND:
    if total % 20 == 0:
        sender.hello(end, origin=wall if asked.origin else wire.NONE)
    end = clock + 6_000_000
    written = (clock // write + 1) * write if write else end
    due = hold_until if hold_at <= clock < hold_until else written + behind
    time.sleep(max(0, (zero + due - monotonic_ns()) * 1e-9))
    sender.data(end, [(clock, 0), (clock + 5_000_000, 1)])
    clock, total = clock + STEP, total + 2
sender.end(clock, total)
