# SPDX-License-Identifier: Apache-2.0
# What the real software of rigs sent when its clock went back within merge.leap_s, replayed byte by byte: every spike comes
# through, as a new epoch that is told. Skipped, by name, where the captures are absent.
. "$E2E/functions.sh"
. "$E2E/rig.sh"
need_python
has_data cases/rigs/replay.py || exit 0
rigs=$SYNFIRE_DATA/cases/rigs

# replayed TYPE MODE FILE PORT KEYS SPIKES EPOCHS [options of replay.py]: the run's status has these counts, and nothing late;
# names, times and amplitudes are those that rig_capture.py reads in the same bytes.
replayed() {
    local type=$1 mode=$2 file=$3 port=$4 keys=$5 spikes=$6 epochs=$7
    shift 7
    cat >capture.yaml <<YAML
sources: [{type: $type, endpoint: "tcp://127.0.0.1:$port", timeout_s: 60, $keys}]
merge: {lateness_ms: 50}
window: {length_s: 1, hop_s: 1}
mine: {every: 0}
significance: {kind: 'off'}
graph: {enabled: false}
sinks:
- {type: hdf5, path: capture.h5, overwrite: true, policy: block}
- {type: jsonl, path: rig.jsonl, overwrite: true}
YAML
    : >rig.jsonl
    "$SYNFIRE_PYTHON" "$rigs/replay.py" "$mode" "$rigs/$file" "$port" "$@" >replay.out &
    local sender=$!
    "$SYNFIRE" run capture.yaml --json >capture.json 2>capture.err &
    local run=$!
    wait $sender
    await_spikes "$spikes" $run
    kill -INT $run
    wait $run || true
    "$SYNFIRE_PYTHON" -B "$E2E/rig_capture.py" "$type" "$rigs/$file" "$spikes" "$epochs" "${2:-1}"
}

read -r port <<<"$(free_ports 1)"
replayed intan intan intan-rhx-3.4.0-restart-6s.bin "$port" "learn_s: 5" 1199 1
replayed intan intan intan-rhx-3.4.0-restart-14s.bin "$port" "learn_s: 12" 1087 1 # longer than merge.leap_s, so more than a leap comes at once
# Live, and so fast that both rounds are in the backlog of a run that learns its electrodes or starts.
for gap_ms in 20 5 0; do
    replayed event-broadcaster zmq event-broadcaster-json.bin "$port" "learn_s: 1" 430 1 "$gap_ms" 2
done
replayed event-broadcaster zmq event-broadcaster-raw.bin "$port" "learn_s: 0.05, sample_rate_hz: 30000" 173 0
# Acquisition is begun again, and message numbers with it; the File Reader loops, and they go on; names beyond ASCII.
replayed open-ephys zmq open-ephys-zmq-two-acquisitions.bin "$port" "learn_s: 0.02, sample_rate_hz: 30000" 68 1
replayed open-ephys zmq open-ephys-zmq-file-reader-loop.bin "$port" "learn_s: 0.1, sample_rate_hz: 30000" 40 1
replayed open-ephys zmq open-ephys-zmq-nonascii.bin "$port" "learn_s: 0.04, sample_rate_hz: 30000" 76 0
# A TTL event of another stream comes first: the spikes are those of the stream that has some.
replayed event-broadcaster zmq event-broadcaster-json-ttl-of-other-stream-first.bin "$port" "learn_s: 1" 215 0 5
grep -q "is read, and '.*', which is sent as well, is not\|came before any spike" capture.err
"$SYNFIRE_PYTHON" - <<'PY'
import json
others = json.load(open("capture.json"))["status"]["sources"][0]["other_streams"]
assert others > 0, others
PY

# RHX at Disconnect and Connect, as it was seen: the accepted socket stays open and silent, and the port listens anew. The run
# goes over to the new connection, and its spikes, whose samples begin anew, are an epoch.
cat >disconnect.yaml <<'YAML'
sources: [{type: intan, endpoint: "tcp://127.0.0.1:25020", timeout_s: 60, learn_s: 1}]
window: {length_s: 1, hop_s: 1}
mine: {every: 0}
significance: {kind: 'off'}
graph: {enabled: false}
sinks:
- {type: hdf5, path: disconnect.h5, overwrite: true, policy: block}
- {type: jsonl, path: rig.jsonl, overwrite: true}
YAML
: >rig.jsonl
"$SYNFIRE_PYTHON" -u "$rigs/intan_disconnect.py" >disconnect.out &
sender=$!
"$SYNFIRE" run disconnect.yaml --json >disconnect.json 2>disconnect.err &
run=$!
wait $sender
await_spikes 600 $run
kill -INT $run 2>/dev/null || true
wait $run || true
grep -q "synfire connected again" disconnect.out
must_fail grep -q FAULT disconnect.out
grep -q "the connection was silent, and a new one is not: it is read from here on" disconnect.err
"$SYNFIRE_PYTHON" - <<'PY'
import h5py, json
import numpy as np
source = json.load(open("disconnect.json"))["status"]["sources"][0]
file = h5py.File("disconnect.h5")
times, names = file["spikes/time_ns"][:], [name.decode() for name in file["units/name"][:]]
assert names == ["A-000", "A-001", "A-002", "A-003"], names
assert len(times) == source["spikes"] == 600 and source["epochs"] == 1 and source["late"] == source["malformed"] == 0, source
steps = np.diff(times)
assert (np.delete(steps, 299) == 10_000_000).all() and steps[299] > 0, steps[295:305]  # 300 samples, on both sides of the step
PY
