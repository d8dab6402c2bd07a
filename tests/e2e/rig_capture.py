#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a run recorded of a capture, held against what the capture's bytes say, read here without synfire.

rig_capture.py TYPE CAPTURE SPIKES EPOCHS REPEATS: capture.json is the run's summary, capture.h5 what it recorded.
"""
import json
import struct
import sys

import h5py

kind, path, spikes, epochs, repeats = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
RATE, BACK = 30000, 300  # samples a second; more than this is another epoch


def messages(data):
    at = 0
    while at < len(data):
        count, = struct.unpack_from("<I", data, at)
        at += 4
        parts = []
        for _ in range(count):
            size, = struct.unpack_from("<I", data, at)
            parts.append(data[at + 4 : at + 4 + size])
            at += 4 + size
        yield parts


def trough(samples):
    return min(samples) if min(samples) < 0 else max(samples)


def floats(data):
    return struct.unpack(f"<{len(data) // 4}f", data)


def neuron(electrode, sorted_id):
    return electrode if sorted_id == 0 else f"{electrode}:{sorted_id}"


def of_intan(data):
    chunks = [struct.unpack_from("<4x5sIB", data, at) for at in range(0, len(data) - 13, 14)]
    assert {mark for _, _, mark in chunks} == {1}  # no hoop was drawn
    return [(sample, name.decode(), None) for name, sample, _ in chunks]


def of_event_broadcaster(data):
    found = []
    for envelope, body in messages(data):
        if body[:1] == b"{":
            one = json.loads(body)
            if one["event_type"] == "spike":
                amplitude = -max(value for key, value in one.items() if key.startswith("amp"))
                found.append((one["sample_number"], neuron(one["electrode"], one["sorted_id"]), amplitude))
        elif body[0] == 2:
            channels = {1: 1, 2: 2, 3: 4}[body[1]]
            index, sample = struct.unpack_from("<Hq", body, 6)
            sorted_id, = struct.unpack_from("<H", body, 24)
            found.append((sample, neuron(f"Electrode {index + 1}", sorted_id), trough(floats(body[26 + 4 * channels :]))))
    return found


def others_of_event_broadcaster(data):
    """Events of other streams than that of the first spike."""
    told = []
    for envelope, body in messages(data):
        is_json = body[:1] == b"{"
        one = json.loads(body) if is_json else {}
        told.append((one["event_type"] == "spike", one["stream"]) if is_json else (body[0] == 2, struct.unpack_from("<H", body, 4)[0]))
    read = next(stream for is_spike, stream in told if is_spike)
    return sum(stream != read for _, stream in told)


def of_open_ephys(data):
    found = []
    for envelope, header, *payload in messages(data):
        text = header.decode("utf-8", "ignore").rstrip("\0")
        # names beyond ASCII: the plugin cuts the end of the header off
        one = json.JSONDecoder().raw_decode(text[text.index('"spike": {') + 9 :])[0] if '"spike": {' in text else None
        if one is not None:
            found.append((one["sample_num"], neuron(one["electrode"], one["sorted_id"]), trough(floats(payload[0]))))
    return found


def in_epochs(rows, back):
    parts = [[]]
    newest = None
    for row in rows:
        if newest is not None and row[0] < newest - back:
            parts.append([])
            newest = None
        newest = row[0] if newest is None else max(newest, row[0])
        parts[-1].append(row)
    return [sorted(part, key=lambda row: row[:2]) for part in parts]


readers = {"intan": of_intan, "event-broadcaster": of_event_broadcaster, "open-ephys": of_open_ephys}
said = in_epochs(readers[kind](open(path, "rb").read()) * repeats, BACK)
source = json.load(open("capture.json"))["status"]["sources"][0]
counts = {key: source[key] for key in ("spikes", "late", "leaps", "dropped", "out_of_range", "malformed", "epochs", "steps")}
with h5py.File("capture.h5") as file:
    names = [name.decode() for name in file["units/name"][:]]
    rows = list(zip(file["spikes/time_ns"][:].tolist(), (names[u] for u in file["spikes/unit"][:]),
                    file["spikes/amplitude"][:].tolist()))
others = others_of_event_broadcaster(open(path, "rb").read()) * repeats if kind == "event-broadcaster" else 0
assert source["other_streams"] == others, (source["other_streams"], others)
assert source["late"] == source["leaps"] == source["dropped"] == source["out_of_range"] == 0, counts
assert kind != "intan" or source["steps"] == 0, counts  # it was replayed in real time
assert sum(map(len, said)) == len(rows) == spikes and len(said) == epochs + 1 == source["epochs"] + 1, (len(rows), len(said), counts)
at = 0
for part in said:
    got = sorted(rows[at : at + len(part)], key=lambda row: row[:2])
    at += len(part)
    for (sample, name, amplitude), (time_ns, unit, value) in zip(part, got):
        apart = (time_ns - got[0][0]) - (sample - part[0][0]) * 10**9 / RATE
        assert name == unit and abs(apart) <= 1, (name, unit, sample, time_ns, apart)
        assert value != value if amplitude is None else abs(value - amplitude) <= 1e-4 * abs(amplitude), (amplitude, value)
