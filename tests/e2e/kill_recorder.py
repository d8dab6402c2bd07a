# SPDX-License-Identifier: Apache-2.0
"""kill_recorder.py SYNFIRE RECORDING TIMES [SEED]: records RECORDING as it is played in real time, kills the recorder
with SIGKILL at a random moment, recovers what is left, and holds it against RECORDING; so TIMES times.

What was recovered is a beginning of what was played, no spike missing or doubled, and has at least what the run told in its
newest status to have recorded. A line each: when it was killed, what the HDF5 file alone has, what was recovered, and two
bounds of how far behind the stream the newest recovered spike is: from the newest message of the run, and from the moment
at which the process was started, as if that took no time."""
import json
import os
import random
import signal
import subprocess
import sys
import time

import h5py
import numpy

synfire, recording, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
draw = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else None)
SINKS = ["sinks.0.type=hdf5", "sinks.0.path=run.h5", "sinks.0.overwrite=true", "sinks.1.type=jsonl",
         "sinks.1.path=run.jsonl", "sinks.1.overwrite=true", "window.length_s=1", "window.hop_s=0.1", "mine.every=0",
         "graph.enabled=false"]


def spikes(path):
    with h5py.File(path, "r") as file:
        return file["spikes/time_ns"][:], file["spikes/unit"][:]


def messages():
    with open("run.jsonl") as lines:
        return [json.loads(line) for line in lines if line.endswith("\n")]


def record_until_killed(seconds):
    started = time.monotonic()
    run = subprocess.Popen([synfire, "run", "empty.yaml", "--replay", recording, "--speed", "1", "--quiet"] +
                           [word for key in SINKS for word in ("--set", key)])
    while not os.path.exists("run.jsonl") or not messages():
        assert run.poll() is None, "the run ended by itself"
        time.sleep(0.01)
    time.sleep(seconds)
    assert run.poll() is None, "the run ended by itself"
    played = time.monotonic() - started
    run.send_signal(signal.SIGKILL)
    run.wait()
    return played


open("empty.yaml", "w").close()
all_times, all_units = spikes(recording)
worst = 0
print("killed after s, spikes in the file alone, recovered, s behind the newest message, s behind at most")
for _ in range(times):
    for name in ("run.h5", "run.h5.journal", "run.jsonl", "run-recovered.h5"):
        if os.path.exists(name):
            os.remove(name)
    seconds = draw.uniform(0.2, 4)
    played = record_until_killed(seconds)
    alone = subprocess.run([synfire, "info", "run.h5", "--json", "--quiet"], capture_output=True, text=True)
    alone = json.loads(alone.stdout).get("spikes", "unreadable") if alone.stdout else "unreadable"
    told = json.loads(subprocess.run([synfire, "recover", "run.h5", "--json"], check=True, capture_output=True).stdout)
    assert told["spikes_missing"] == told["damaged_bytes"] == told["records_lost"] == 0 and not told["ended"], told
    found_times, found_units = spikes("run-recovered.h5")
    assert len(found_times) == told["spikes"] > 0
    assert numpy.array_equal(found_times, all_times[:len(found_times)])
    assert numpy.array_equal(found_units, all_units[:len(found_units)])
    said = messages()
    recorded = max((m["sinks"][0]["spikes"] for m in said if m["topic"] == "status"), default=0)
    assert len(found_times) >= recorded, (len(found_times), recorded)
    begun = all_times[0] * 1e-9
    behind_message = max(m["time_ns"] for m in said) * 1e-9 - found_times[-1] * 1e-9
    behind = played + begun - found_times[-1] * 1e-9
    worst = max(worst, behind)
    print(f"{seconds:.3f}, {alone}, {len(found_times)}, {behind_message:.3f}, {behind:.3f}", flush=True)
print(f"{times} kills; no spike missing or doubled; the newest recovered spike at most {worst:.3f} s behind the stream")
