# SPDX-License-Identifier: Apache-2.0
# Two rigs that share TTL pulses, with clocks 50 ppm and minutes apart: what both saw is recorded at one time.
. "$E2E/functions.sh"
. "$E2E/rig.sh"
need_python
"$SYNFIRE" simulate first.h5 --unit-count 5 --rate 20 --duration 24 --marker-every 0.6 --seed 3 --quiet >/dev/null
cp first.h5 second.h5
"$SYNFIRE_PYTHON" - <<'PY'
import h5py
import numpy as np
random = np.random.default_rng(5)
first, second = h5py.File("first.h5", "r+"), h5py.File("second.h5", "r+")
edges = first["markers/kind"][:] == 1
times, state = first["markers/time_ns"][:], first["markers/state"][:]
shift = {}  # intervals differ; a pulse's end goes with it
for i in np.flatnonzero(edges):
    if state[i] == 1:
        moved = int(random.integers(0, 250_000_000))
    times[i] += moved
order = np.argsort(times, kind="stable")
for name in first["markers"]:
    if name != "time_ns" and isinstance(first["markers"][name], h5py.Dataset) and len(first["markers"][name]) == len(times):
        first["markers"][name][...] = first["markers"][name][:][order]
        second["markers"][name][...] = first["markers"][name][:]
first["markers/time_ns"][...] = times[order]
for name in ("markers/time_ns", "spikes/time_ns"):
    second[name][...] = np.rint(first[name][:] * (1 + 50e-6)).astype(np.int64)
PY
read -r one two <<<"$(free_ports 2)"
cat >rig.yaml <<YAML
sources:
- {type: event-broadcaster, endpoint: "tcp://127.0.0.1:$one", timeout_s: 60, learn_s: 1, pulses: ttl0}
- {type: event-broadcaster, endpoint: "tcp://127.0.0.1:$two", timeout_s: 60, learn_s: 1, pulses: ttl0}
merge: {lateness_ms: 50, stall_ms: 60000}
mine: {every: 0}
graph: {enabled: false}
sinks:
- {type: hdf5, path: rig.h5, overwrite: true, policy: block}
- {type: jsonl, path: rig.jsonl, overwrite: true}
YAML
echo 'sources: [{type: replay, recording: first.h5, speed: max, pulses: ttl0}]' >virtual.yaml
expect 78 "sources.0.pulses: found shared pulses, but this source is on a virtual clock" "$SYNFIRE" run virtual.yaml
"$SYNFIRE" play first.h5 --protocol event-broadcaster --to "tcp://127.0.0.1:$one" --json >play.json 2>play.err &
"$SYNFIRE" play second.h5 --protocol event-broadcaster --to "tcp://127.0.0.1:$two" --json >play2.json 2>play2.err &
"$SYNFIRE" run rig.yaml --json --duration 22 >rig.json 2>rig.err || { cat rig.err; exit 1; }
wait
"$SYNFIRE_PYTHON" - <<'PY'
import h5py, json
import numpy as np
sources = json.load(open("rig.json"))["status"]["sources"]
assert [s["pulses"] for s in sources] == ["reference", "locked"], sources
assert abs(sources[1]["drift_ppm"] + 50) < 10 and sources[1]["residual_us"] < 60, sources[1]
assert sources[1]["late"] == sources[1]["leaps"] == sources[1]["dropped"] == 0, sources[1]
file = h5py.File("rig.h5")
times, units = file["spikes/time_ns"][:], file["spikes/unit"][:]
count = len(file["units/name"]) // 2
worst = 0
for unit in range(count):
    a, b = times[units == unit], times[units == unit + count]
    assert len(a) > 200 and abs(len(a) - len(b)) <= 2, (len(a), len(b))
    size = min(len(a), len(b))
    worst = max(worst, np.abs(a[:size] - b[:size]).max())
assert worst < 100_000, worst
print("at most", worst / 1000, "us apart")
PY
