# SPDX-License-Identifier: Apache-2.0
"""A natural sender of docs/wire.md, whose clock is its newest spike, with one trouble; prints what a run must make of it,
as JSON: `good`, the spikes that were meant (time and epoch), and counters of the source.

usage: troubled_sender.py ENDPOINT TROUBLE"""
import json
import math
import struct
import sys
import time

import zmq

HELLO, DATA, END = 1, 2, 4
SECOND, YEAR = 10**9, 31557600 * 10**9
FRAMES, SPIKES, STEP = 100, 10, 10**6  # a spike a millisecond

endpoint, trouble = sys.argv[1:]
socket = zmq.Context().socket(zmq.XPUB)
socket.setsockopt(zmq.LINGER, 10000)
socket.setsockopt(zmq.RCVTIMEO, 300000)
socket.setsockopt(zmq.XPUB_VERBOSE, 1)
socket.bind(endpoint)
run, sequence = 7, 0


def send(kind, clock, body=b"", number=None):
    global sequence
    socket.send(struct.pack("<4sHHQQq", b"SYNF", 1, kind, run, sequence if number is None else number, clock) + body)
    sequence += 1


def string(text):
    return struct.pack("<I", len(text)) + text.encode()


def hello(number=None):
    units = b"".join(struct.pack("<ddiB", math.nan, math.nan, -1, 0) + string(name) + string("") for name in "AB")
    send(HELLO, 0, struct.pack("<qIII", -2**63, 0, 2, 0) + string("troubled") + units, number)


def data(times, clock=None, number=None, markers=()):
    body = struct.pack("<II", len(times), len(markers))
    body += b"".join(struct.pack("<qIf", at, i % 2, math.nan) for i, at in enumerate(times))
    body += b"".join(struct.pack("<qBBHI48s", at, 2, 0, 0, 0, b"go") for at in markers)
    send(DATA, max(times) if clock is None else clock, body, number)


good, sent, markers = [], 0, 0
expected = dict.fromkeys(("late", "leaps", "undone", "steps", "epochs", "restarts", "gaps", "gap_lost", "malformed",
                          "missing_spikes", "missing_markers", "markers", "markers_left_out", "held", "dropped",
                          "out_of_range", "markers_late", "markers_dropped"), 0)


def expect(**counts):
    expected.update(counts)


socket.recv()  # the run subscribes
if trouble == "first-number":
    hello(number=2**63)
    expect(malformed=0)
else:
    hello()
time.sleep(0.3)
now, epoch = 0, 0
for frame in range(FRAMES):
    times = [now + i * STEP for i in range(SPIKES)]
    now += SPIKES * STEP
    middle = frame == FRAMES // 2
    clock = number = None
    bad, marks = [], []
    if trouble == "stamp" and middle:
        bad = [now + YEAR]
        expect(leaps=1, undone=1)
    elif trouble == "two-stamps" and middle:
        bad = 2 * [now + YEAR]
        expect(leaps=2, undone=1)
    elif trouble == "two-frames" and middle:
        for _ in range(2):  # of nothing but the same broken time
            data([now + YEAR])
            sent += 1
        expect(leaps=2, undone=1)
    elif trouble == "half-an-hour" and middle:
        bad = [now + 1800 * SECOND]
        expect(leaps=1, undone=1)
    elif trouble == "clock" and middle:
        clock = 2**63 - 1
        expect(undone=1)
    elif trouble == "first-clock" and frame == 0:
        clock = 2**62
        expect(undone=1)
    elif trouble == "first-stamp" and frame == 0:
        bad = [2**61]
        expect(leaps=1)
    elif trouble == "number" and middle:
        number = 2**63
        expect(malformed=1)
    elif trouble == "gap" and middle:
        sequence += 3  # frames that nobody got; the sender counts their spikes
        sent += 30
        expect(gaps=1, gap_lost=3, missing_spikes=30)
    elif trouble == "step" and middle:
        times = [at + YEAR for at in times]
        now += YEAR
        expect(steps=1, markers=1)
    elif trouble == "restart" and middle:
        run, sequence, sent = 8, 0, 0
        hello()
        times = [i * STEP for i in range(SPIKES)]
        now, epoch = SPIKES * STEP, 1
        expect(restarts=1, epochs=1, markers=1)
    elif trouble == "same-run" and middle:
        sequence, sent = 0, 0  # a program that always says the same run began again
        hello()
        times = [i * STEP for i in range(SPIKES)]
        now, epoch = SPIKES * STEP, 1
        expect(restarts=1, epochs=1, markers=1, malformed=3, missing_spikes=20)
    elif trouble == "markers" and middle:
        marks = [now, now + YEAR]
        markers = 2
        expect(markers=1, markers_left_out=1, undone=1)
    data(times + bad, clock, number, marks)
    sent += len(times + bad)
    good += [(at, epoch) for at in times]
if trouble == "same-run":  # three frames are lost: its hello and two of data
    first = FRAMES // 2 * SPIKES
    good = good[:first] + good[first + 2 * SPIKES:]
send(END, now, struct.pack("<QQ", sent, markers))
json.dump({"good": good, "expected": expected, "sent_in_run": sent}, sys.stdout)
