# SPDX-License-Identifier: Apache-2.0
"""Receives a synfire stream as docs/wire.md describes it, with nothing of synfire's, and prints what came as JSON.

usage: stream_client.py ENDPOINT [SPIKES PID]: after so many spikes the process gets SIGINT."""
import hashlib
import json
import os
import signal
import struct
import sys

import zmq


def main(endpoint, enough=None, process=None):
    socket = zmq.Context().socket(zmq.SUB)
    socket.setsockopt(zmq.SUBSCRIBE, b"")
    socket.setsockopt(zmq.RCVHWM, 0)
    socket.setsockopt(zmq.RCVTIMEO, 60000)
    socket.connect(endpoint)
    times, units, amplitudes = hashlib.sha256(), hashlib.sha256(), hashlib.sha256()
    spikes, markers, hellos, heartbeats, expected, last_clock = 0, [], 0, 0, None, -2**63
    while True:
        frame = socket.recv()
        magic, version, kind, run, sequence, clock = struct.unpack_from("<4sHHQQq", frame)
        assert (magic, version) == (b"SYNF", 1) and not socket.getsockopt(zmq.RCVMORE)
        assert expected is None or (run, sequence) == expected, (run, sequence, expected)
        assert clock >= last_clock, (clock, last_clock)
        expected, last_clock = (run, sequence + 1), clock
        if kind == 1:
            hellos += 1
            origin, flags, unit_count, entry_count = struct.unpack_from("<qIII", frame, 32)
            at = 52

            def string():
                nonlocal at
                (length,) = struct.unpack_from("<I", frame, at)
                at += 4 + length
                return frame[at - length:at].decode()

            name, table = string(), []
            for _ in range(unit_count):
                x, y, electrode, unit_kind = struct.unpack_from("<ddiB", frame, at)
                at += 21
                table.append({"name": string(), "well": string(), "x": x, "y": y, "electrode": electrode,
                              "kind": unit_kind})
            metadata = {string(): string() for _ in range(entry_count)}
            assert at == len(frame)
        elif kind == 2:
            spike_count, marker_count = struct.unpack_from("<II", frame, 32)
            assert len(frame) == 40 + 16 * spike_count + 64 * marker_count
            for i in range(spike_count):
                row = frame[40 + 16 * i:56 + 16 * i]
                times.update(row[:8])
                units.update(row[8:12])
                amplitudes.update(row[12:])
            spikes += spike_count
            if enough is not None and spikes >= int(enough):
                os.kill(int(process), signal.SIGINT)
                enough = None
            for i in range(marker_count):
                time, marker_kind, state, line, zero, text = struct.unpack_from(
                    "<qBBHI48s", frame, 40 + 16 * spike_count + 64 * i)
                markers.append([time, marker_kind, state, line, text.rstrip(b"\0").decode()])
        elif kind == 3:
            assert len(frame) == 32
            heartbeats += 1
        else:
            total = list(struct.unpack_from("<QQ", frame, 32))
            assert kind == 4 and len(frame) == 48
            break
    json.dump({"name": name, "origin": origin, "flags": flags, "units": table, "metadata": metadata, "hellos": hellos,
               "heartbeats": heartbeats, "spikes": spikes, "markers": markers, "total": total, "clock": last_clock,
               "times": times.hexdigest(), "unit_hash": units.hexdigest(), "amplitudes": amplitudes.hexdigest()},
              sys.stdout)


main(*sys.argv[1:])
