#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inside the loop of a CL1: spikes go into the library, and the moment a chain completes a channel is stimulated.

    cl1_loop.py 'chain' CHANNEL     on a CL1, or with its simulator (cl-sdk), as cl1_loop.py '8 -(0,5]-> 9' 33
    cl1_loop.py --measure [TICKS]   how long a push, the watch and the answer take on this computer, without a CL1

Needs the Python package synfire. A loop at 25 kHz has 40 us a tick; a loop that asks for fewer has more.
"""
import gc
import sys
import time

import numpy as np

import synfire

TEXT = 2  # the kind of a marker: one with a text
FRAME_NS = 40_000  # 25,000 frames a second
BLANK_MS = 1.0  # after a stimulus, what its artefact looks like
GROUND = (0, 4, 7, 56, 63)
CHANNELS = [channel for channel in range(64) if channel not in GROUND]


class Watch:
    """A chain that is watched for: `tick` takes the spikes of a tick, and says whether it has completed."""

    def __init__(self, chain):
        self.unit_of = {channel: unit for unit, channel in enumerate(CHANNELS)}
        self.run = synfire.live([str(channel) for channel in CHANNELS], watch=chain, topics=["trigger"], mine={"every": 0},
                                window={"length_s": 10, "hop_s": 10}, merge={"leap_s": 0},
                                blank=[{"marker": "stim", "to_ms": BLANK_MS}],
                                watch_at_once=True, queue_policy="drop-oldest")  # a push watches by itself: no thread is woken
        self.room = self.run.room(64)  # which every tick uses again
        self.times, self.units = self.room.times, self.room.units
        self.stims = np.zeros(64, synfire.MARKER)
        self.stims["kind"], self.stims["text"] = TEXT, b"stim"

    def fill(self, events, stims):
        count = 0
        for frame, channel in events:
            unit = self.unit_of.get(channel)
            if unit is not None and count < len(self.times):
                self.times[count], self.units[count] = frame * FRAME_NS, unit
                count += 1
        if stims:
            stims = stims[:len(self.stims)]
            self.stims["time_ns"][:len(stims)] = [frame * FRAME_NS for frame in stims]
            self.run.mark(self.stims[:len(stims)])
        return count

    def tick(self, events, until, patience_s=0.0, stims=()):
        """`events`: (frame, channel) in time order; `until`: the frame that follows the tick; `stims`: frames of stimuli. Where
        another thread of the run was just at work the answer is that one's: waits for it for at most patience_s."""
        if self.room.tick(self.fill(events, stims), until * FRAME_NS):
            return True
        return patience_s > 0 and self.run.next(patience_s) is not None

    def tick_by_two_calls(self, events, until, patience_s=0.0, stims=()):
        """The same by a push and then a message; --measure times it beside the other."""
        self.room.push(self.fill(events, stims), until * FRAME_NS)
        if self.run.next(0) is not None:
            return True
        return patience_s > 0 and self.run.next(patience_s) is not None


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
            stims = [stim.timestamp for stim in tick.analysis.stims]
            if watch.tick(spikes, tick.analysis.stop_timestamp, 0.0002 if spikes else 0, stims):
                neurons.stim(channel, design)


def work(rounds):
    """Some work of Python's own, which takes longer where the computer takes the processor away."""
    total = 0
    for i in range(rounds):
        total += i
    return total


def rounds_that_take(ns):
    def taken(rounds):
        start = time.perf_counter_ns()
        work(rounds)
        return time.perf_counter_ns() - start

    return max(1, round(1000 * ns / min(taken(1000) for _ in range(50))))


def measure(ticks):
    """Ticks at 25 kHz, in rounds of 0.2 s. Every tenth completes a chain, and is answered by one call and by two in turn; the time is
    from before the push to the call of the stim function. In the next tick the stimulus feeds back: its artefact looks like the
    chain, and must not be answered. In the ticks between, beside it: as long a piece of work without synfire, in the same moments,
    which tells what this computer adds by itself."""
    watch, answered, by_two, missed, quiet, alone = Watch("8 -(0,1]-> 9"), [], [], 0, [], []
    stims = []
    frame = int(time.monotonic() * 25000)
    rest_collector()
    rounds = 1
    due = time.perf_counter_ns()
    for i in range(ticks):
        frame += 25  # so that no chain goes on from the one before
        if i % 5000 == 0:  # others have their turn, and a real-time scheduler its rest
            time.sleep(0.1)
            due = time.perf_counter_ns()
        while time.perf_counter_ns() < due:
            pass
        due = max(due + FRAME_NS, time.perf_counter_ns())
        if i % 10 == 4:
            if len(answered) == 100 and rounds == 1:
                rounds = rounds_that_take(sorted(answered)[50])
            start = time.perf_counter_ns()
            work(rounds)
            if rounds > 1:
                alone.append(time.perf_counter_ns() - start)
        completes, stimulated = i % 10 == 9, i % 10 == 0 and bool(stims)
        events = [(frame - 10, 8), (frame, 9)] if completes or stimulated else [(frame, 20)]
        calls_twice = i // 10 % 2 == 1
        tick = watch.tick_by_two_calls if calls_twice else watch.tick
        start = time.perf_counter_ns()
        if tick(events, frame + 1, 1 if completes else 0, [frame - 12] if stimulated else ()):
            stims.append(frame)
            taken = time.perf_counter_ns() - start
            if completes:
                (by_two if calls_twice else answered).append(taken)
        elif completes:
            missed += 1
        elif not stimulated and not calls_twice:
            quiet.append(time.perf_counter_ns() - start)
    for name, times in (("a tick without an answer", quiet), ("push, watch and answer", answered),
                        ("the same by two calls", by_two), ("as much work without synfire", alone)):
        if times:
            p50, p99, p999 = np.percentile(np.array(times) / 1000, [50, 99, 99.9])
            print(f"{name}: {len(times)} times, p50 {p50:.1f} us, p99 {p99:.1f} us, p99.9 {p999:.1f} us")
    print(f"{len(answered) + len(by_two)} chains answered, {missed} missed; {len(stims) - len(answered) - len(by_two)} artefacts of stimuli answered")


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "--measure":
        measure(int(sys.argv[2]) if len(sys.argv) > 2 else 50000)
    elif len(sys.argv) == 3:
        on_a_cl1(sys.argv[1], int(sys.argv[2]))
    else:
        sys.exit(__doc__)
