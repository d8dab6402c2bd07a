# SPDX-License-Identifier: Apache-2.0
"""Writes a recording whose chain A -> B -> C is there while something is on, as CSV, and what was when.

    labelled.py RECORDING.csv LABELS.csv SEED SECONDS [--period S]

Six units fire at 8 Hz. In "on" three of 10 Hz more come 5 and 6 ms after each other, in "off" as many at any time, so
that rates are alike. Stretches last 3 to 9 s, or with --period all the same."""
import argparse
import random

parser = argparse.ArgumentParser()
parser.add_argument("recording")
parser.add_argument("labels")
parser.add_argument("seed", type=int)
parser.add_argument("seconds", type=float)
parser.add_argument("--period", type=float)
asked = parser.parse_args()
draw = random.Random(asked.seed)
stretches, at, on = [], 0.0, False
while at < asked.seconds:
    until = min(asked.seconds, at + (asked.period or draw.uniform(3, 9)))
    stretches.append((at, until, "on" if on else "off"))
    at, on = until, not on


def poisson(rate, start, stop):
    times = []
    while (start := start + draw.expovariate(rate)) < stop:
        times.append(start)
    return times


spikes = [(time, name) for name in "ABCDEF" for time in poisson(8, 0, asked.seconds)]
for start, stop, label in stretches:
    for time in poisson(10, start, stop - 0.02):
        times = [time, time + 0.005, time + 0.011]
        if label == "off":
            times = [draw.uniform(start, stop) for _ in times]
        spikes += zip(times, "ABC")
with open(asked.recording, "w") as out:
    out.write("name,seconds\n")
    for time, name in sorted(spikes):
        out.write(f"{name},{time:.6f}\n")
with open(asked.labels, "w") as out:
    for start, stop, label in stretches:
        out.write(f"{start:.6f},{stop:.6f},{label}\n")
