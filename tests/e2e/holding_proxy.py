# SPDX-License-Identifier: Apache-2.0
"""holding_proxy.py PORT TO_PORT SECONDS: a network between the two that, at SIGUSR1, passes nothing on for so long and then
all of it at once. It takes what comes meanwhile, so that nobody who sends notices."""
import select
import signal
import socket
import sys
import time

port, to_port, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
until = 0.0


def hold(*_):
    global until
    until = time.monotonic() + seconds


signal.signal(signal.SIGUSR1, hold)
listener = socket.create_server(("127.0.0.1", port))
while True:
    here, _ = listener.accept()
    try:
        there = socket.create_connection(("127.0.0.1", to_port))
    except ConnectionError:  # nobody there yet: whoever came tries again
        here.close()
        continue
    other, waits = {here: there, there: here}, {here: b"", there: b""}
    while other:
        for one in select.select(list(other), [], [], 0.002)[0]:
            try:
                part = one.recv(1 << 16)
            except ConnectionError:
                part = b""
            if not part:
                other = {}
                break
            waits[other[one]] += part
        if time.monotonic() < until:
            continue
        for one in other:
            one.sendall(waits[one])
            waits[one] = b""
    here.close()
    there.close()
