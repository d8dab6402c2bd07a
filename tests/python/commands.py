# SPDX-License-Identifier: Apache-2.0
"""What the package gives is what the command prints with --json: commands.py RECORDING..."""
import json
import math
import os
import subprocess
import sys

import numpy as np

import synfire

COMMAND = os.environ["SYNFIRE"]
MANY = 300  # units: of recordings with more of them less time is looked at
DELAY = "0.5:20"
ENOUGH = 100  # episodes to compare
STREAMS = {"probeinterface_maxtwo_data.raw.h5": "well001/rec0000"}  # one of several in a file


def command(*arguments):
    """The document that the command prints; None where it refuses the data."""
    done = subprocess.run([COMMAND, *map(str, arguments), "--json", "--quiet"], capture_output=True, text=True)
    if done.returncode == 65:
        return None
    assert done.returncode == 0, (arguments, done.stderr)
    return json.loads(done.stdout)


def same(ours, theirs, what):
    """Fields that both have are equal; not known is None, and a number no less than the last digit."""
    if isinstance(theirs, dict):
        for key in theirs.keys() & ours.keys():
            same(ours[key], theirs[key], f"{what}.{key}")
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs), (what, len(ours), len(theirs))
        for i, (a, b) in enumerate(zip(ours, theirs)):
            same(a, b, f"{what}[{i}]")
    else:
        if isinstance(ours, (float, np.floating)) and not math.isfinite(ours):
            ours = None
        assert ours == theirs, (what, ours, theirs)


def plain(array):
    return np.asarray(array).tolist()


def look(path, stream):
    told = command("info", path, *(["--stream", stream] if stream else []))
    if told is None:
        try:
            synfire.load(path, stream=stream)
        except synfire.DataError as refused:
            print(f"  refused as by the command: {refused}")
            return None
        raise AssertionError(f"{path}: read, and the command refuses it")
    whole = synfire.load(path, stream=stream)
    overview = whole.overview()
    same({"format": whole.format, "spikes": whole.spike_count, "units": whole.unit_count, "duration_s": overview.duration_s,
          "kind": overview.kind, "markers": len(whole.markers), "metadata": whole.metadata,
          "dropped": sum(whole.dropped.values()), "duplicates": overview.repeats + overview.neighbour_repeats,
          "start_s": overview.first_ns / 1e9, "stop_s": overview.last_ns / 1e9, "network_bursts": len(overview.bursts),
          "geometry": {"electrodes": overview.electrodes, "x_um": list(overview.x_um), "y_um": list(overview.y_um)}
          if overview.electrodes else None,
          "unit_detail": [{"unit": i, "name": name, "spikes": spikes, "x_um": x, "y_um": y, "kind": kind}
                          for i, (name, spikes, (x, y), kind) in enumerate(
                              zip(whole.names, plain(overview.spikes), plain(whole.positions), whole.kinds))]},
         told, "info")
    return whole


def least(recording):
    """A threshold that some pairs meet."""
    for count in (200, 50, 20, 5):
        if len(synfire.mine(recording, DELAY, min_count=count, max_size=2, details=False)) >= ENOUGH:
            break
    return count


def mine(part, recording, count):
    options = [*part, "--delay", DELAY, "--min-count", count]
    found = synfire.mine(recording, DELAY, min_count=count, max_size=3)
    told = command("mine", *options, "--max-size", 3, "--sort", "standing")
    for ours, theirs in zip(found.records(), told["episodes"]):
        assert list(ours) == list(theirs)
    same({"spikes": recording.spike_count, "units": recording.unit_count, "engine": found.engine, "device": found.device,
          "methods": found.methods, "episodes": found.records(), "bursts": len(found.bursts), "significance": None,
          "levels": [{key: value for key, value in level.items() if key != "seconds"} for level in found.levels]},
         told, "mine")
    assert plain(found.counts) == [episode["count"] for episode in told["episodes"]]
    assert [str(one) for one in found] == [chain(episode) for episode in told["episodes"]]
    tested = synfire.mine(recording, DELAY, min_count=count, max_size=2, significance=synfire.Significance(surrogates=20), max_q=1)
    told = command("mine", *options, "--max-size", 2, "--sort", "standing", "--significance", "segment-shift", "--surrogates", 20, "--max-q", 1)
    same({"episodes": tested.records(), "significance": tested.significance}, told, "tested")
    again = synfire.test(synfire.mine(recording, DELAY, min_count=count, max_size=2), synfire.Significance(surrogates=20), max_q=1)
    assert again.records() == tested.records()
    print(f"  mined {len(found)}, tested {len(tested)}")


def chain(episode):
    """An episode as the library writes it, where names need no quotes."""
    text = str(episode["names"][0])
    for name, (low, high) in zip(episode["names"][1:], episode["delays_ms"]):
        text += f" -({low:.9g},{high:.9g}]-> {name}"
    return text if all(str(name).replace("_", "a").isalnum() for name in episode["names"]) else QUOTED


class Anything:
    def __eq__(self, _):
        return True


QUOTED = Anything()


def count(part, recording, count):
    episodes = synfire.mine(recording, DELAY, min_count=count, max_size=2, top=5)
    if len(episodes) == 0:
        return
    with open("episodes.jsonl", "w") as file:
        for one in episodes:
            print(json.dumps({"units": one.units, "delays_ms": one.delays_ms}), file=file)
    told = command("count", *part, "--episodes", "episodes.jsonl", "--window", 30, "--hop", 20,
                   "--correlogram")
    start = recording._columns.selected.contents.from_ns / 1e9
    counted = synfire.count(recording, episodes, window=30, hop=20, start=start, stop=start + float(part[-1]), correlograms=True)
    same({"episodes": counted.records(),
          "windows": [{"from_s": span["start_ns"] / 1e9, "to_s": span["stop_ns"] / 1e9, "recorded_s": recorded,
                       "counts": plain(row) if recorded > 0 else [None] * len(row)}
                      for span, row, recorded in zip(counted.windows, counted.window_counts,
                                                     plain(counted.window_recorded_s))]}, told, "count")
    for ours, theirs in zip(counted.correlograms, told["episodes"]):
        same([{"units": [one.from_unit, one.to_unit], "bin_ms": one.bin_ms, "counts": plain(one.counts), "expected": one.mean,
               "expected_counts": plain(one.expected)} for one in ours], theirs["correlograms"], "correlogram")
    times = counted.occurrences()
    assert [len(rows) for rows in times] == plain(counted.counts)
    assert all((np.diff(rows, axis=1) > 0).all() for rows in times)


def connect(part, recording, count):
    told = command("graph", *part, "--delay", DELAY, "--min-count", count)
    by_episodes = synfire.graph(recording, DELAY, min_count=count)
    same({"vertices": by_episodes.vertex_count, "edges": by_episodes.link_count, "edges_tested": by_episodes.tested,
          "edge_detail": by_episodes.records()}, told, "graph")
    told = command("graph", *part, "--metric", "sttc", "--surrogates", 10)
    tiled = synfire.graph(recording, metric="sttc", surrogates=10)
    same({"vertices": tiled.vertex_count, "edges": tiled.link_count, "edge_detail": tiled.records()}, told, "sttc")
    told = command("graph", *part, "--metric", "regression", "--max-false", 1, "--surrogates", 3)
    drives = synfire.graph(recording, metric="regression", max_false=1, surrogates=3)
    same({"vertices": drives.vertex_count, "edges": drives.link_count, "edge_detail": drives.records(),
          "pairs_compared": drives.pairs_compared, "troughs_hidden": drives.troughs_hidden}, told, "regression")
    assert drives.is_signed and set(drives.sign.tolist()) <= {1, -1} and (drives.score * drives.sign >= 0).all()
    told = command("match", *part, "--delay", DELAY, "--min-count", count, "feed-forward-loop", "--limit", 100)
    found = synfire.match(by_episodes, "feed-forward-loop", limit=100)
    same({"count": found.count, "truncated": found.truncated, "embeddings": plain(found.embeddings), "names": found.names,
          "vertices": found.vertices, "order": plain(found.order), "blacklisted": found.blacklisted}, told, "match")
    told = command("match", *part, "--delay", DELAY, "--min-count", count, "census")
    same(by_episodes.census(), {one["name"]: one["count"] for one in told["triads"]}, "census")
    told = command("bfs", *part, "--delay", DELAY, "--min-count", count, "--source", "#0")
    search = by_episodes.search("#0")
    same({"reached": search.reached, "depth": search.depth, "level_sizes": plain(search.level_sizes)}, told, "bfs")
    print(f"  {by_episodes.edge_count} edges, {tiled.edge_count} by tiling, {found.count} loops")


def bandwidths(part, recording, _count):
    found = good = []
    for quantity in ("isi", "rate"):
        told = command("bandwidth", *part, "--quantity", quantity)
        if told is None:
            continue
        found = synfire.bandwidth(recording, quantity=quantity)
        same([{"unit": one.unit, "name": one.name, "n": one.n, "d": one.d, "h": one.h, "h_relative": one.h_relative,
               "h0": one.h0, "objective": one.objective, "error": one.error, "method": one.method,
               "minima": [{"h": h, "objective": score} for h, score in one.minima]} for one in found],
             told["results"], quantity)
        good = [one for one in found if one.error is None]
        if quantity == "isi" and good:
            unit = max(good, key=lambda one: one.n).unit
            told = command("density", *part, "--quantity", "isi", "--units", f"#{unit}", "--grid", 200)
            [one] = synfire.density(recording.select(units=[unit]), quantity="isi", grid=200)
            same({"h": one.h, "grid": plain(one.x), "density": plain(one.values), "outside": one.outside}, told, "density")
    print(f"  {len(good)} of {len(found)} bandwidths")


DOCUMENT_ALONE = {"recording", "provenance"}  # of the command, and not of the recording


def alike(ours, theirs, what):
    """All fields and tables of a document are there, with the same rows, columns, order and nulls."""
    told = {**ours.fields, **ours.tables}
    assert set(told) == set(theirs) - DOCUMENT_ALONE, (what, set(told) ^ set(theirs))
    for key, value in told.items():
        assert value == theirs[key], (what, key)
    for table in ours.tables:
        assert [list(row) for row in ours.records(table)] == [list(row) for row in theirs[table]], (what, table)


def analyses(part, recording, count):
    chosen = synfire.mine(recording, DELAY, min_count=count, max_size=2, top=2)
    with open("analysed.txt", "w") as file:
        print(*chosen, sep="\n", file=file)
    given = ["--episodes", "analysed.txt"] if len(chosen) else []
    episodes = list(chosen) or None
    bursting = synfire.bursts(recording, burst_method="cma", network_share=0.1, seed=3)
    alike(bursting, command("bursts", *part, "--burst-method", "cma", "--network-share", 0.1, "--seed", 3), "bursts")
    ordered = synfire.sequences(recording, order_by="rate-peak", network_share=0.1, window=5, surrogates=50, episodes=episodes)
    alike(ordered, command("sequences", *part, "--order-by", "rate-peak", "--network-share", 0.1, "--window", 5, "--surrogates", 50, *given), "sequences")
    if len(recording.markers):
        marker = recording.markers[0]
        name = marker["text"].decode() if marker["kind"] == 2 else f"ttl{marker['line']}"
        told = command("responses", *part, "--marker", name, "--response", "5:60", "--permutations", 200, *given)
        if told is not None:
            answered = synfire.responses(recording, name, response=(5, 60), permutations=200, episodes=episodes)
            alike(answered, told, "responses")
            assert len(answered.records("histogram")) > len(answered.records())
    print(f"  {bursting}, {ordered}")


def main():
    read = 0
    for path in sys.argv[1:]:
        print(path, flush=True)
        stream = STREAMS.get(os.path.basename(path))
        whole = look(path, stream)
        if whole is None:
            continue
        read += 1
        seconds = 30 if whole.unit_count > MANY else 60
        recording = synfire.load(path, start="+0", stop=f"+{seconds}", stream=stream)
        part = [path, "--from", "+0", "--to", f"+{seconds}", *(["--stream", stream] if stream else [])]
        count_from = least(recording)
        for compare in (mine, count, connect, bandwidths, analyses):
            compare(part, recording, count_from)
    print(f"{read} of {len(sys.argv) - 1} recordings give the same")
    return 0 if read else 1


if __name__ == "__main__":
    sys.exit(main())
