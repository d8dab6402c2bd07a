# SPDX-License-Identifier: Apache-2.0
"""A sender as docs/wire.md describes it whose frames go wrong in known ways; prints what a run must count, as JSON.

usage: broken_sender.py ENDPOINT"""
import json
import math
import struct
import sys
import time

import zmq

HELLO, DATA, HEARTBEAT, END = 1, 2, 3, 4
SECOND = 10**9
YEAR = 31557600 * SECOND

socket = zmq.Context().socket(zmq.XPUB)
socket.setsockopt(zmq.LINGER, 10000)
socket.setsockopt(zmq.RCVTIMEO, 300000)
socket.setsockopt(zmq.XPUB_VERBOSE, 1)
socket.bind(sys.argv[1])
sequence = 0


def send(kind, clock, body=b"", version=1, lost=0):
    """Sends a frame after having lost so many before it."""
    global sequence
    sequence += lost
    socket.send(struct.pack("<4sHHQQq", b"SYNF", version, kind, 7, sequence, clock) + body)
    sequence += 1


def data(*spikes):
    rows = b"".join(struct.pack("<qIf", time_ns, unit, math.nan) for time_ns, unit in spikes)
    return struct.pack("<II", len(spikes), 0) + rows


def string(text):
    return struct.pack("<I", len(text)) + text.encode()


def hello():
    units = b"".join(struct.pack("<ddiB", math.nan, math.nan, -1, 0) + string(name) + string("") for name in "AB")
    send(HELLO, 0, struct.pack("<qIII", -2**63, 0, 2, 0) + string("broken") + units)


socket.recv()  # the run subscribes
hello()
time.sleep(0.5)
hello()
for i in range(10):
    send(DATA, i * SECOND, data((i * SECOND + 1, 0), (i * SECOND + 5000001, 1)))
send(DATA, 10 * SECOND, data((10 * SECOND, 0)), lost=3)
send(DATA, 10 * SECOND, data((10 * SECOND + 1, 0), (10 * SECOND + 2, 9)))  # no such unit
send(DATA, 10 * SECOND, data((10 * SECOND + 3, 0), (10 * SECOND + 4 + YEAR, 1)))  # a broken time stamp
send(HEARTBEAT, 11 * SECOND)
send(HEARTBEAT, 11 * SECOND + YEAR)  # and a broken clock
send(HEARTBEAT, 12 * SECOND, lost=1)
socket.send(b"nothing of the kind")  # foreign
send(DATA, 13 * SECOND, data((13 * SECOND, 0))[:-1])  # short
send(DATA, 13 * SECOND, data((13 * SECOND, 0)) + b"!")  # long
send(DATA, 14 * SECOND, data((14 * SECOND, 0), (13 * SECOND, 1)))  # times go back within a frame
send(DATA, 14 * SECOND, data((11 * SECOND, 0), (14 * SECOND, 1)))  # the first is late
send(END, 15 * SECOND, struct.pack("<QQ", 27, 0))
json.dump({"spikes": 27, "good": 24, "gaps": 2, "gap_lost": 4, "out_of_range": 1, "leaps": 1, "late": 1,
           "malformed": 4, "restarts": 0, "dropped": 0}, sys.stdout)
