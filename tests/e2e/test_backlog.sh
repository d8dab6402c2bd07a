# SPDX-License-Identifier: Apache-2.0
# A sender that is far ahead, and a small ring: what the transport holds waits for room in the ring, and nothing is lost.
. "$E2E/functions.sh"
need_python
port=$(free_ports 1)
"$SYNFIRE" simulate sim.h5 --preset sym26 --duration 40 --seed 5 --quiet >/dev/null
cat >run.yaml <<YAML
window: {length_s: 10, hop_s: 5}
graph: {enabled: false}
mine: {every: 0}
sources: [{type: zmq, endpoint: "tcp://127.0.0.1:$port", ring: 16, policy: drop-oldest}]
sinks: [{type: hdf5, path: run.h5}]
YAML
"$SYNFIRE" play sim.h5 --to "tcp://127.0.0.1:$port" --subscribers 1 --speed 20 --json >play.out 2>play.err &
sender=$!
"$SYNFIRE" run run.yaml --quiet 2>told || { cat told play.out play.err; exit 1; }
wait "$sender"
"$SYNFIRE_PYTHON" - <<'PY'
import h5py
sent, recorded = (h5py.File(path)["spikes/time_ns"].shape[0] for path in ("sim.h5", "run.h5"))
sources = h5py.File("run.h5")["results/sources"][:]
assert sent == recorded, (sent, recorded, sources[-1:])
PY
