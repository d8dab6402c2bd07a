# SPDX-License-Identifier: Apache-2.0
"""A sender that would take all of a receiver's memory: says hello, then sends as fast as it can.

usage: hostile_sender.py PORT KIND FRAME_BYTES TOTAL_BYTES
KIND long: frames of that size that end nowhere legal; data: legal frames of spikes; endless: one message whose frames
never end. Speaks ZMTP 3.0 by itself, since ZeroMQ would not send such things."""
import socket
import struct
import sys
import time

kind, size, total = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
MORE, LONG, COMMAND = 1, 2, 4
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
server.settimeout(300)  # until the receiver has begun


def string(text):
    return struct.pack("<I", len(text)) + text.encode()


def wire(what, sequence, body, clock=0):
    return struct.pack("<4sHHQQq", b"SYNF", 1, what, 7, sequence, clock) + body


def frame(flags, body):
    return struct.pack(">BQ", flags | LONG, len(body)) + body


hello = wire(1, 0, struct.pack("<qIII", -2**63, 0, 1, 0) + string("hostile") +
             struct.pack("<ddiB", 0, 0, -1, 0) + string("A") + string(""))
count = (size - 40) // 16
spikes = struct.pack("<qIf", 0, 0, 0) * count
sent = connections = 0
while sent < total and connections < 5:
    try:
        peer, _ = server.accept()
    except TimeoutError:
        break
    connections += 1
    server.settimeout(30)
    peer.settimeout(3)  # one who takes nothing for so long is bounded
    try:
        peer.sendall(b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32))
        ready = b"\x05READY" + b"\x0bSocket-Type" + struct.pack(">I", 3) + b"PUB"
        peer.sendall(bytes([COMMAND, len(ready)]) + ready)
        time.sleep(0.3)  # it subscribes
        peer.sendall(frame(0, hello))
        sequence = 1
        while sent < total:
            if kind == "data":
                peer.sendall(frame(0, wire(2, sequence, struct.pack("<II", count, 0) + spikes)))
            else:
                peer.sendall(frame(MORE if kind == "endless" else 0, bytes(size)))
            sequence += 1
            sent += size
    except TimeoutError:
        break
    except OSError:
        pass
print(f"{sent >> 20} MiB taken in {connections} connections", flush=True)
