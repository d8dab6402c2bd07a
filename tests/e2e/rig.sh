# SPDX-License-Identifier: Apache-2.0
# What the tests of rigs share; `. "$E2E/rig.sh"` after functions.sh: a recording is played as a rig sends it into a run
# that writes it down, and nothing is lost that is not counted.

# configure_rig 'KEYS of the source' ['KEYS of merge']: rig.yaml, by which a run writes down what comes, in rig.h5 and
# rig.jsonl, and mines nothing.
configure_rig() {
    cat >rig.yaml <<YAML
sources: [{$1}]
merge: {${2-lateness_ms: 50, leap_s: 0}}
mine: {every: 0}
graph: {enabled: false}
sinks:
- {type: hdf5, path: rig.h5, overwrite: true, policy: block}
- {type: jsonl, path: rig.jsonl, overwrite: true}
YAML
    : >rig.jsonl
}

# play_rig PROTOCOL ENDPOINT RECORDING 'KEYS of the source' [options of play...]: rig.h5 is what came, rig.json the run's
# summary, play.json what was sent. The run is stopped once all has come: rigs send no end.
play_rig() {
    local protocol=$1 endpoint=$2 recording=$3 keys=$4
    shift 4
    configure_rig "type: $protocol, endpoint: \"$endpoint\", timeout_s: 60, $keys"
    rm -f play.json rig.json
    "$SYNFIRE" play "$recording" --protocol "$protocol" --to "$endpoint" --json "$@" >play.json 2>play.err &
    local player=$!
    "$SYNFIRE" run rig.yaml --json >rig.json 2>rig.err &
    local run=$!
    wait $player || { cat play.err rig.err; return 1; }
    await_spikes "$(python3 -c 'import json; print(json.load(open("play.json"))["spikes"])')" $run
    kill -INT $run 2>/dev/null || true
    local code=0
    wait $run || code=$?
    [ $code = 130 ] || [ $code = 0 ] || { echo "run: exit code $code"; cat rig.err; return 1; }
}

# await_spikes COUNT RUN: until so many have come, or the run has ended, for minutes on a slow machine.
await_spikes() {
    for _ in $(seq 1 1800); do
        python3 - "$1" <<'PY' && return 0
import json, sys
last = [line for line in open("rig.jsonl") if '"topic":"status"' in line][-1:]
sys.exit(0 if last and json.loads(last[0])["sources"][0]["spikes"] >= int(sys.argv[1]) else 1)
PY
        kill -0 "$2" 2>/dev/null || return 0
        sleep 0.1
    done
}

# patiently CODE WORDS COMMAND...: expect, of what a run says once `timeout_s` is over: 2 s, or more on a slow machine.
patiently() {
    local timeout_s
    for timeout_s in 2 20; do
        expect "$@" --set sources.0.timeout_s=$timeout_s >unexpected && return
    done
    expect "$@" --set sources.0.timeout_s=120
}

# same_spikes RECORDING RATE [NAMES]: what came is what was recorded, to the nearest sample, and the account has no loss.
# NAMES is what the rig calls the units, a Python expression of their index i.
same_spikes() {
    "$SYNFIRE_PYTHON" - "$@" <<'PY'
import json, sys
import h5py
import numpy as np
rate = float(sys.argv[2])
def read(path):
    file = h5py.File(path)
    names = [n.decode() for n in file["units/name"][:]]
    return file["spikes/time_ns"][:], [names[u] for u in file["spikes/unit"][:]], file
was, was_units, original = read(sys.argv[1])
got, got_units, file = read("rig.h5")
if len(sys.argv) > 3:
    names = [n.decode() for n in original["units/name"][:]]
    was_units = [eval(sys.argv[3], {"i": names.index(u)}) for u in was_units]
source = json.load(open("rig.json"))["status"]["sources"][0]
account = {key: source[key] for key in ("spikes", "late", "dropped", "out_of_range", "malformed", "gaps", "leaps", "held")}
assert json.load(open("play.json"))["spikes"] == len(was), (len(was), account)
assert len(got) == len(was), (len(got), len(was), account)
assert source["gaps"] == source["malformed"] == source["restarts"] == 0, account
sample = lambda ns: np.rint((np.asarray(ns) * int(rate) + 5 * 10**8) // 10**9 * (1e9 / rate)).astype(np.int64)
want = sorted(zip(sample(was).tolist(), was_units))
have = sorted(zip(np.asarray(got).tolist(), got_units))
off = [(a, b) for a, b in zip(want, have) if abs(a[0] - b[0]) > 1 or a[1] != b[1]]
assert not off, off[:5]
PY
}

# foreign TYPE PORT 'KEYS' EXPECTED <sender.py: a run takes what the sender says it sent; EXPECTED is of its account.
foreign() {
    cat >sender.py
    configure_rig "type: $1, endpoint: \"${SCHEME:-tcp}://127.0.0.1:$2\", timeout_s: 60, $3" "lateness_ms: 50, leap_s: ${LEAP_S:-0}"
    "$SYNFIRE" run rig.yaml --json >rig.json 2>rig.err &
    local run=$!
    "$SYNFIRE_PYTHON" sender.py "$2" >sent
    await_spikes "$(cat sent)" $run
    kill -INT $run
    wait $run || true
    "$SYNFIRE_PYTHON" - "$(cat sent)" "$4" <<'PY'
import h5py, json, sys
source = json.load(open("rig.json"))["status"]["sources"][0]
assert source["spikes"] - source["out_of_range"] == int(sys.argv[1]) == len(h5py.File("rig.h5")["spikes/time_ns"]), source
want = {key: 0 for key in ("gaps", "gap_lost", "other_streams", "restarts", "malformed", "out_of_range", "late", "dropped", "leaps")}
want.update(json.loads(sys.argv[2]))
assert {key: source[key] for key in want} == want, source
PY
}
