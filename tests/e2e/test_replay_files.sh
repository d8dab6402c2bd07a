# SPDX-License-Identifier: Apache-2.0
# A recording of few spikes, whose hops take microseconds, replayed as fast as possible into a file: it holds every hop.
. "$E2E/functions.sh"
need_python
"$SYNFIRE" simulate sim.h5 --unit-count 4 --rate 0.05 --duration 3000 --quiet >/dev/null
for type in jsonl hdf5; do # each alone: one that is waited for gives the other time
    "$SYNFIRE" run --replay sim.h5 --speed max --set device=cpu --set sinks.0.type=$type --set sinks.0.path=run.$type \
        --quiet --json >$type.json
done
"$SYNFIRE_PYTHON" - <<'PY'
import json
lines = [json.loads(line) for line in open("run.jsonl")]
hops = [line["hop"] for line in lines if line["topic"] == "episodes"]
assert len(hops) > 2900 and hops == list(range(hops[0], hops[0] + len(hops))), (len(hops), hops[:3])
for kind in "jsonl", "hdf5":
    (sink,) = json.load(open(kind + ".json"))["status"]["sinks"]
    assert sink["dropped"] == 0 and sink["published"] > 2900, sink
PY
