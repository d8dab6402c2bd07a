# SPDX-License-Identifier: Apache-2.0
# What the real software of rigs sent when its clock went back within merge.leap_s, replayed byte by byte: every spike comes
# through, as a new epoch that is told. Skipped, by name, where the captures are absent.
. "$E2E/functions.sh"
need_python
has_data cases/rigs/replay.py || exit 0
rigs=$SYNFIRE_DATA/cases/rigs

# replayed TYPE MODE FILE PORT KEYS SPIKES EPOCHS [options of replay.py]: the run's status has these counts, and nothing late.
replayed() {
    local type=$1 mode=$2 file=$3 port=$4 keys=$5 spikes=$6 epochs=$7
    shift 7
    cat >capture.yaml <<YAML
sources: [{type: $type, endpoint: "tcp://127.0.0.1:$port", timeout_s: 10, $keys}]
merge: {lateness_ms: 50}
window: {length_s: 1, hop_s: 1}
mine: {every: 0}
significance: {kind: 'off'}
graph: {enabled: false}
sinks: [{type: hdf5, path: capture.h5, overwrite: true, policy: block}]
YAML
    "$SYNFIRE_PYTHON" "$rigs/replay.py" "$mode" "$rigs/$file" "$port" "$@" >replay.out &
    local sender=$!
    "$SYNFIRE" run capture.yaml --json >capture.json 2>capture.err &
    local run=$!
    wait $sender
    sleep 1
    kill -INT $run
    wait $run || true
    "$SYNFIRE_PYTHON" - "$file" "$spikes" "$epochs" <<'PY'
import json, sys, h5py
source = json.load(open("capture.json"))["status"]["sources"][0]
recorded = len(h5py.File("capture.h5")["spikes/time_ns"])
got = {key: source[key] for key in ("spikes", "late", "leaps", "dropped", "out_of_range", "epochs")}
assert source["late"] == source["leaps"] == source["dropped"] == 0, got
assert recorded == int(sys.argv[2]) and source["epochs"] == int(sys.argv[3]), (sys.argv[1], recorded, got)
PY
}

read -r port <<<"$(free_ports 1)"
replayed intan intan intan-rhx-3.4.0-restart-6s.bin "$port" "learn_s: 5" 1199 1
# Live, and so fast that both rounds are in the backlog of a run that learns its electrodes or starts.
for gap_ms in 20 5 0; do
    replayed event-broadcaster zmq event-broadcaster-json.bin "$port" "learn_s: 1" 430 1 "$gap_ms" 2
done
# A TTL event of another stream comes first: the spikes are those of the stream that has some.
replayed event-broadcaster zmq event-broadcaster-json-ttl-of-other-stream-first.bin "$port" "learn_s: 1" 215 0 5
grep -q "is read, and '.*', which is sent as well, is not\|came before any spike" capture.err
