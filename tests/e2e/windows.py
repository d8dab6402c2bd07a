#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds every window count that a live run published against the offline count of that window.

windows.py SYNFIRE RECORDING JSONL [--zmq FILE] [--osc FILE] [--hdf5 FILE]

JSONL are the run's JSON lines. The others hold the same run as a ZeroMQ subscriber and an OSC receiver got it
(receive.py) and as the recorder wrote it; they must agree with it hop by hop. Of OSC, which may lose packets, what
arrived must be right. Prints what was compared; exits 1 at the first difference.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile


def hops_of(path):
    """The episodes messages of a run by hop."""
    with open(path, encoding="utf-8") as lines:
        messages = [json.loads(line) for line in lines]
    return {message["hop"]: message for message in messages if message["topic"] == "episodes"}


def exact_seconds(nanoseconds):
    return f"{nanoseconds // 10**9}.{nanoseconds % 10**9:09d}"


def counts_of(message):
    return [(episode["id"], episode["count"]) for episode in message["episodes"]]


def offline_counts(synfire, recording, message):
    """`synfire count` of the message's episodes on the message's window."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as episodes:
        for episode in message["episodes"]:
            episodes.write(json.dumps({"units": episode["units"], "delays_ms": episode["delays_ms"]}) + "\n")
        episodes.flush()
        command = [synfire, "count", recording, "--episodes", episodes.name, "--json", "--quiet",
                   "--from", exact_seconds(message["from_ns"]), "--to", exact_seconds(message["to_ns"])]
        result = subprocess.run(command, check=True, capture_output=True, text=True)
    return [(episode["id"], episode["count"]) for episode in json.loads(result.stdout)["episodes"]]


def check_offline(synfire, recording, hops):
    if not hops or sorted(hops) != list(range(max(hops) + 1)):
        sys.exit(f"hops are missing: {sorted(hops)}")
    compared = 0
    for hop, message in sorted(hops.items()):
        if not message["episodes"]:
            continue
        expected, found = offline_counts(synfire, recording, message), counts_of(message)
        if found != expected:
            sys.exit(f"hop {hop}: published {found}, offline {expected}")
        compared += len(found)
    if compared == 0:
        sys.exit("no counts were published")
    return compared


def check_zmq(path, hops):
    received = hops_of(path)
    if sorted(received) != sorted(hops):
        sys.exit(f"{path}: {len(received)} of {len(hops)} hops")
    for hop, message in received.items():
        for key in ("from_ns", "to_ns", "spikes", "partial", "episodes", "seq"):
            if message[key] != hops[hop][key]:
                sys.exit(f"{path}: hop {hop}: {key}")


def check_osc(path, hops):
    with open(path, encoding="utf-8") as lines:
        received = [json.loads(line) for line in lines]
    if not received:
        sys.exit(f"{path}: nothing arrived")
    for heard in received:
        message = hops[heard["hop"]]
        if (heard["from_us"], heard["to_us"]) != (message["from_ns"] // 1000, message["to_ns"] // 1000):
            sys.exit(f"{path}: hop {heard['hop']}: bounds")
        published = dict(counts_of(message))
        for episode, count in heard["counts"].items():
            if published[episode] != count:
                sys.exit(f"{path}: hop {heard['hop']}: {episode} counts {count}, published {published[episode]}")
    return len(received)


def table(path, name):
    """The rows of one of the recorder's tables: numbers, and texts in quotes."""
    dump = subprocess.run(["h5dump", "-y", "-w", "0", "-m", "%.17g", "-d", name, path], check=True,
                          capture_output=True, text=True).stdout
    data = dump[dump.index("DATA {"):]
    rows = re.findall(r"\{([^{}]*)\}", data[len("DATA {"):])
    return [[word.strip().strip('"') for word in row.replace("[", "").replace("]", "").split(",")] for row in rows]


def check_hdf5(path, hops):
    windows, counts = table(path, "/results/windows"), table(path, "/results/counts")
    ids = [row[1] for row in table(path, "/results/episodes")]
    recorded = {}
    for row in counts:
        seq, episode, count = (int(word) for word in row[:3])
        recorded.setdefault(seq, []).append((ids[episode], count))
    if len(windows) != len(hops):
        sys.exit(f"{path}: {len(windows)} of {len(hops)} windows")
    for row in windows:
        seq, hop, from_ns, to_ns, _, spikes = (int(word) for word in row[:6])
        message = hops[hop]
        if (seq, from_ns, to_ns, spikes) != tuple(message[key] for key in ("seq", "from_ns", "to_ns", "spikes")):
            sys.exit(f"{path}: hop {hop}: window")
        if sorted(recorded.get(seq, [])) != sorted(counts_of(message)):
            sys.exit(f"{path}: hop {hop}: counts")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("synfire")
    parser.add_argument("recording")
    parser.add_argument("jsonl")
    parser.add_argument("--zmq")
    parser.add_argument("--osc")
    parser.add_argument("--hdf5")
    wanted = parser.parse_args()
    hops = hops_of(wanted.jsonl)
    compared = check_offline(wanted.synfire, wanted.recording, hops)
    print(f"{compared} counts in {len(hops)} windows equal the offline counts")
    if wanted.zmq:
        check_zmq(wanted.zmq, hops)
        print("the ZeroMQ subscriber got the same")
    if wanted.osc:
        print(f"OSC: {check_osc(wanted.osc, hops)} of {len(hops)} hops arrived, all right")
    if wanted.hdf5:
        check_hdf5(wanted.hdf5, hops)
        print("the recorder wrote the same")


if __name__ == "__main__":
    main()
