#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds every window count that a live run published against the offline count of that window.

windows.py SYNFIRE RECORDING JSONL [MESSAGES ...]

JSONL are the run's JSON lines; each further file holds JSON lines of the same run as another receiver got them, and
must agree hop by hop. Prints how many counts were compared; exits 1 at the first that differs.
"""
import json
import subprocess
import sys
import tempfile


def hops_of(path):
    """The episodes messages of a run by hop."""
    found = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            message = json.loads(line)
            if message.get("topic", "episodes") == "episodes" and "episodes" in message:
                found[message["hop"]] = message
    return found


def exact_seconds(nanoseconds):
    return f"{nanoseconds // 10**9}.{nanoseconds % 10**9:09d}"


def offline_counts(synfire, recording, message):
    """`synfire count` of the message's episodes on the message's window."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as episodes:
        for episode in message["episodes"]:
            wanted = {"units": episode["units"], "delays_ms": episode["delays_ms"]}
            episodes.write(json.dumps(wanted) + "\n")
        episodes.flush()
        command = [synfire, "count", recording, "--episodes", episodes.name, "--json", "--quiet",
                   "--from", exact_seconds(message["from_ns"]), "--to", exact_seconds(message["to_ns"])]
        result = subprocess.run(command, check=True, capture_output=True, text=True)
    return [episode["count"] for episode in json.loads(result.stdout)["episodes"]]


def main():
    synfire, recording, first, *others = sys.argv[1:]
    hops = hops_of(first)
    if not hops:
        sys.exit("no episodes messages")
    if sorted(hops) != list(range(max(hops) + 1)):
        sys.exit(f"hops are missing: {sorted(set(range(max(hops) + 1)) - set(hops))}")
    compared = 0
    for hop, message in sorted(hops.items()):
        if not message["episodes"]:
            continue
        expected = offline_counts(synfire, recording, message)
        found = [episode["count"] for episode in message["episodes"]]
        if found != expected:
            sys.exit(f"hop {hop}: published {found}, offline {expected}")
        compared += len(found)
    for path in others:
        received = hops_of(path)
        for hop, message in received.items():
            same = {key: message[key] for key in ("from_ns", "to_ns", "spikes", "partial")}
            if any(hops[hop][key] != value for key, value in same.items()) or \
                    [e["count"] for e in message["episodes"]] != [e["count"] for e in hops[hop]["episodes"]]:
                sys.exit(f"{path}: hop {hop} differs")
        if sorted(received) != sorted(hops):
            sys.exit(f"{path}: {len(received)} of {len(hops)} hops")
    if compared == 0:
        sys.exit("no counts were published")
    print(f"{compared} counts in {len(hops)} windows, {len(others)} more receivers: all equal")


main()
