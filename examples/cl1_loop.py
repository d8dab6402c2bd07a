#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inside the loop of a CL1: spikes go into the library, and the moment a chain completes a channel is stimulated.

    cl1_loop.py 'chain' CHANNEL     on a CL1, or with its simulator (cl-sdk), as cl1_loop.py '8 -(0,5]-> 9' 33
    cl1_loop.py --measure [TICKS]   how long a push, the watch and the answer take on this computer, without a CL1

Needs the Python package synfire. A loop at 25 kHz has 40 us a tick; a loop that asks for fewer has more.
"""
import gc
import os
import socket
import sys
import time

import numpy as np

import synfire
from synfire.recording import SPIKE

FRAME_NS = 40_000  # 25,000 frames a second
GROUND = (0, 4, 7, 56, 63)
CHANNELS = [channel for channel in range(64) if channel not in GROUND]


class Watch:
    """A chain that is watched for: `tick` takes the spikes of a tick, and says whether it has completed."""

    def __init__(self, chain):
        self.unit_of = {channel: unit for unit, channel in enumerate(CHANNELS)}
        self.run = synfire.live([str(channel) for channel in CHANNELS], watch=chain, topics=["trigger"], mine={"every": 0},
                                window={"length_s": 10, "hop_s": 10}, merge={"leap_s": 0})
        self.spikes = np.zeros(64, SPIKE)  # room that every tick uses again
        self.spikes["amplitude"] = np.nan
        self.times, self.units = self.spikes["time_ns"], self.spikes["unit"]

    def tick(self, events, until, patience_s=0.0):
        """`events`: (frame, channel) in time order; `until`: the frame that follows the tick. Waits at most patience_s."""
        count = 0
        for frame, channel in events:
            unit = self.unit_of.get(channel)
            if unit is not None and count < len(self.spikes):
                self.times[count], self.units[count] = frame * FRAME_NS, unit
                count += 1
        self.run.push(self.spikes[:count], until=until * FRAME_NS)
        end = time.perf_counter() + patience_s
        while True:
            if self.run.next(0) is not None:
                return True
            if time.perf_counter() >= end:
                return False


def rest_collector():
    """What is there stays, and nothing is looked for in the loop: a tick leaves no cycles."""
    gc.collect()
    gc.freeze()
    gc.disable()


def on_a_cl1(chain, channel):
    import cl

    with cl.open() as neurons:
        watch = Watch(chain)
        rest_collector()
        design = cl.StimDesign(160, -1.0, 160, 1.0)
        for tick in neurons.loop(ticks_per_second=1000):
            spikes = [(spike.timestamp, spike.channel) for spike in tick.analysis.spikes]
            if watch.tick(spikes, tick.analysis.stop_timestamp, patience_s=0.0002 if spikes else 0):
                neurons.stim(channel, design)


class Echo:
    """Another process that sends back what it gets: what this computer takes to hand something over, and to answer."""

    def __init__(self):
        self.here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.process = os.fork()
        if self.process == 0:
            self.here.close()
            while message := there.recv(64):
                there.send(message)
            os._exit(0)
        there.close()
        self.here.setblocking(False)

    def call(self):
        self.here.send(b"x")
        while True:
            try:
                return self.here.recv(64)
            except BlockingIOError:
                pass

    def close(self):
        self.here.close()
        os.waitpid(self.process, 0)


def measure(ticks):
    """Every tenth tick completes a chain; the time is from before the push to the call of the stim function. In the ticks between,
    an echo beside it: the same loop with a process that does nothing but answer, in the same moments."""
    echo = Echo()
    watch, answered, missed, quiet, echoed = Watch("8 -(0,1]-> 9"), [], 0, [], []
    stims = []
    frame = int(time.monotonic() * 25000)
    rest_collector()
    for i in range(ticks):
        frame += 25
        if i % 10 == 4:
            start = time.perf_counter_ns()
            echo.call()
            echoed.append(time.perf_counter_ns() - start)
        completes = i % 10 == 9
        events = [(frame - 10, 8), (frame, 9)] if completes else [(frame, 20)]
        start = time.perf_counter_ns()
        if watch.tick(events, frame + 1, patience_s=1 if completes else 0):
            stims.append(frame)
            taken = time.perf_counter_ns() - start
            if completes:
                answered.append(taken)
        elif completes:
            missed += 1
        else:
            quiet.append(time.perf_counter_ns() - start)
        time.sleep(0.0002)
    echo.close()
    for name, times in (("a tick without an answer", quiet), ("push, watch and answer", answered), ("an echo by another process", echoed)):
        p50, p99, p999 = np.percentile(np.array(times) / 1000, [50, 99, 99.9])
        print(f"{name}: {len(times)} times, p50 {p50:.1f} us, p99 {p99:.1f} us, p99.9 {p999:.1f} us")
    print(f"{len(stims)} chains answered, {missed} of them missed")


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "--measure":
        measure(int(sys.argv[2]) if len(sys.argv) > 2 else 50000)
    elif len(sys.argv) == 3:
        on_a_cl1(sys.argv[1], int(sys.argv[2]))
    else:
        sys.exit(__doc__)
