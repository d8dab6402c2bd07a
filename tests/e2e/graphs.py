#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the graph that a live run published, window by window, against `synfire graph` on the same slice.

graphs.py SYNFIRE RECORDING JSONL MOST OPTION...

JSONL are the run's JSON lines; the options are those of `synfire graph` that say what the run looks for (--delay, --repeats).
At most MOST windows, the first and the last among them, are compared: the same edges with the same numbers, to the
last digit. Prints what was compared; exits 1 at the first difference.
"""
import json
import subprocess
import sys

from windows import exact_seconds


def numbers_of(metric, edge):
    """What a window alone says of an edge: of episodes p and q are those of stretches."""
    return tuple(edge[key] for key in ("count", "expected", "weight") + (("p", "q") if metric == "sttc" else ()))


def snapshots_of(path):
    """The messages with the graph that a subscriber holds after each."""
    graph, snapshots = {}, []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            message = json.loads(line)
            if message["topic"] != "graph":
                continue
            for change in message["changes"]:
                edge = (change["from"], change["to"], *change["delay_ms"])
                if change["removed"]:
                    del graph[edge]
                else:
                    graph[edge] = numbers_of(message["metric"], change)
            if len(graph) != message["edges"]:
                sys.exit(f"{len(graph)} edges are held, {message['edges']} published")
            snapshots.append((message, dict(graph)))
    return snapshots


def offline_graph(synfire, recording, message, options):
    how = ["--metric", "sttc"] if message["metric"] == "sttc" else ["--min-count", repr(message["threshold"])]
    command = [synfire, "graph", recording, "--json", "--quiet", *how, *options,
               "--from", exact_seconds(message["from_ns"]), "--to", exact_seconds(message["to_ns"])]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    found = json.loads(result.stdout)
    if message["metric"] == "sttc" and any(message[key] != found[key] for key in ("pairs_tested", "pairs_by_chance")):
        sys.exit(f"{message['pairs_tested']}, {message['pairs_by_chance']} published; offline {found['pairs_tested']}, "
                 f"{found['pairs_by_chance']}")
    return {(edge["from"], edge["to"], *edge["delay_ms"]): numbers_of(message["metric"], edge)
            for edge in found["edge_detail"]}


def main():
    synfire, recording, path, most, *options = sys.argv[1:]
    snapshots = snapshots_of(path)
    step = max(1, -(-(len(snapshots) - 1) // (int(most) - 1)))
    edges = 0
    for message, graph in snapshots[::step] + snapshots[-1:]:
        expected = offline_graph(synfire, recording, message, options)
        if graph != expected:
            differing = {edge for edge in graph.keys() | expected.keys() if graph.get(edge) != expected.get(edge)}
            shown = [(edge, graph.get(edge), expected.get(edge)) for edge in sorted(differing)[:3]]
            sys.exit(f"{recording} {message['from_ns']}..{message['to_ns']}: {len(graph)} edges published, "
                     f"{len(expected)} offline, {len(differing)} differ: {shown}")
        edges += len(graph)
    if edges == 0:
        sys.exit(f"{recording}: no edge was compared")
    print(f"{recording}: {len(snapshots)} windows, {edges} edges compared")


main()
