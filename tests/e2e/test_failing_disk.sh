# SPDX-License-Identifier: Apache-2.0
# A recording that cannot go on: its folder is removed, its disk full or failing. The run goes on to its end, every other
# sink hears of it while it runs, the exit code says so, and what was on the disk before reads back.
. "$E2E/functions.sh"
"$SYNFIRE" simulate sim.h5 --preset sym26 --duration 60 --seed 5 --quiet >/dev/null
cat >run.yaml <<YAML
window: {length_s: 2, hop_s: 0.5}
mine: {every: 0}
graph: {enabled: false} # whose messages alone would fill the file that may not grow
sinks: [{type: hdf5, path: out/run.h5, policy: block, reserve_mb: 0}, {type: jsonl, path: run.jsonl, overwrite: true, policy: block}]
YAML

# fail_while_running WORDS READABLE COMMAND...: COMMAND, read by bash, makes the disk fail once a flush has been seen.
fail_while_running() {
    local words=$1 readable=$2
    shift 2
    rm -f run.jsonl failed once
    "$SYNFIRE" run run.yaml --replay sim.h5 --speed 2 >table 2>err &
    local run=$! code=0
    until flushed=$(spikes out/run.h5 2>/dev/null) && [ "$flushed" -gt 1000 ]; do
        kill -0 $run
        sleep 0.1
    done
    "$@"
    local since=$(date +%s%N)
    until grep -q '"name":"hdf5 run.h5","state":"failed","note":"[^"]*'"$words" run.jsonl; do
        kill -0 $run || { echo "ended, and nothing was said of '$words'"; cat err; return 1; }
        sleep 0.02
    done
    echo "$words: said after $((($(date +%s%N) - since) / 1000000)) ms"
    kill -0 $run # it goes on
    wait $run || code=$?
    [ $code = 74 ] || { echo "exit code $code"; cat err; return 1; }
    grep -q "sink hdf5 run.h5: .*$words" err && grep -q "^synfire: run: .*out/run.h5\(\.journal\)\?: .*$words" err || { cat err; return 1; }
    grep -q "run.h5 FAILED: .*$words" table
    python3 - "$(spikes sim.h5)" <<'PY'
import json, sys
statuses = [m for m in map(json.loads, open("run.jsonl")) if m["topic"] == "status"]
assert [m["seq"] for m in statuses] == list(range(1, len(statuses) + 1))
last, all_spikes = statuses[-1], int(sys.argv[1])
assert last["last"] and last["spikes"] == all_spikes, (last["spikes"], all_spikes)
recorder, lines = last["sinks"]
# What is on its way to the recorder when the last status is made is in neither number.
assert recorder["spikes"] + recorder["spikes_lost"] <= all_spikes and recorder["spikes_lost"] > 0, recorder
assert recorder["state"] == "failed" and lines["state"] == "ok" and lines["note"] is None, last["sinks"]
PY
    if [ "$readable" = readable ]; then
        [ "$(spikes out/run.h5)" -ge "$flushed" ]
        "$SYNFIRE" info out/run.h5 --quiet >/dev/null
    fi
    rm -rf out/run.h5
}
spikes() { HDF5_USE_FILE_LOCKING=FALSE "$SYNFIRE" info "$1" --json --quiet | python3 -c 'import json, sys; print(json.load(sys.stdin)["spikes"])'; }

if [ "${1:-}" = full ]; then
    mount -t tmpfs -o size=4m none out
    fill() { dd if=/dev/zero of=out/rest bs=4096 2>/dev/null || true; }
    fail_while_running "No space left" readable fill
    exit 0
fi

mkdir out
fail_while_running removed gone rm -rf out

mkdir -p out
if unshare -rm true 2>/dev/null && unshare -rm mount -t tmpfs none out 2>/dev/null; then
    unshare -rm bash -eu -o pipefail "$E2E/test_failing_disk.sh" full
else
    echo "skipped: no tmpfs may be mounted here, so none gets full"
fi

if [ -n "$SYNFIRE_SANITIZE" ]; then
    echo "skipped: nothing is preloaded under a sanitizer, so no disk fails"
else
    ( export LD_PRELOAD=$SYNFIRE_BUILD/tests/libsynfire_test_disk.so FAILING_FILES=out/run.h5 FAILING_ONCE=once
      fail_while_running "Input/output error" readable touch once )
fi

# A file that may not grow beyond what the JSON lines never reach.
limit() { prlimit --pid "$run" --fsize=819200; }
fail_while_running "File too large" readable limit
