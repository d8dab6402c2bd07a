# SPDX-License-Identifier: Apache-2.0
"""A sender of docs/wire.md, by struct and ZeroMQ alone."""
import math
import random
import struct

HELLO, DATA, HEARTBEAT, END = 1, 2, 3, 4
SECOND = 10**9
YEAR = 31557600 * SECOND
NONE = -2**63


def frame(kind, run, sequence, clock, body=b""):
    return struct.pack("<4sHHQQq", b"SYNF", 1, kind, run, sequence, clock) + body


def string(text):
    return struct.pack("<I", len(text)) + text.encode()


def hello(units="AB", origin=NONE):
    table = b"".join(struct.pack("<ddiB", math.nan, math.nan, -1, 0) + string(name) + string("") for name in units)
    return struct.pack("<qIII", origin, 0, len(units), 0) + string("sender") + table


def data(spikes, markers=()):
    """Of spikes, times and units, and the times of markers."""
    return (struct.pack("<II", len(spikes), len(markers)) + b"".join(struct.pack("<qIf", at, unit, math.nan) for at, unit in spikes) +
            b"".join(struct.pack("<qBBHI48s", at, 2, 0, 0, 0, b"go") for at in markers))


class Sender:
    """Counts its frames."""

    def __init__(self, endpoint, run=None):
        import zmq  # what sends bytes of its own does without
        self.socket = zmq.Context().socket(zmq.XPUB)
        self.socket.setsockopt(zmq.LINGER, 10_000)
        self.socket.setsockopt(zmq.RCVTIMEO, 300_000)
        self.socket.setsockopt(zmq.XPUB_VERBOSE, 1)
        self.run, self.sequence = run or random.getrandbits(63) | 1, 0
        self.socket.bind(endpoint)

    def wait(self):
        """Until a run has subscribed."""
        self.socket.recv()

    def send(self, kind, clock, body=b"", number=None):
        self.socket.send(frame(kind, self.run, self.sequence if number is None else number, clock, body))
        self.sequence += 1

    def hello(self, clock=0, number=None, **said):
        self.send(HELLO, clock, hello(**said), number)

    def data(self, clock, spikes, markers=(), number=None):
        self.send(DATA, clock, data(spikes, markers), number)

    def end(self, clock, spikes, markers=0):
        self.send(END, clock, struct.pack("<QQ", spikes, markers))

    def close(self):
        """All that was sent has left it."""
        self.socket.context.destroy()
