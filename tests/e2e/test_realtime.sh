# SPDX-License-Identifier: Apache-2.0
# The watch path of a real run, under a guard that ends the program when it allocates, locks, opens or writes, and where
# memory can be locked also when it has a page fault. Rights that are refused are told, and the run goes on.
. "$E2E/functions.sh"
[ -z "$SYNFIRE_SANITIZE" ] || skip "nothing is preloaded under a sanitizer"

"$SYNFIRE" simulate sim.h5 --preset sym26 --duration 60 --seed 5 --quiet >/dev/null
cat >run.yaml <<YAML
sources: [{type: replay, recording: sim.h5, speed: 8}]
device: cpu
window: {length_s: 4, hop_s: 1}
mine: {every: 2, delays_ms: "4:6"}
watch: ["A -(4,6]-> B -(4,6]-> C"]
triggers:
- {name: pair, episode: "A -(4,6]-> B", max_age_ms: 0, delay_ms: 3, refractory_ms: 20, blank_ms: 1}
dedup: {ms: 0.4, um: 100}
features: {bin_ms: 20, units: ["*"]}
sinks:
- {type: jsonl, path: run.jsonl, overwrite: true}
- {type: hdf5, path: run.h5, overwrite: true}
YAML
guarded() {
    rm -f told
    SYNFIRE_TEST_TOLD=$PWD/told LD_PRELOAD=$SYNFIRE_BUILD/tests/libsynfire_test_guard.so "$SYNFIRE" run run.yaml "$@" \
        >out 2>err || { cat err; return 1; }
}
guarded --quiet
grep -Eq '^[1-9][0-9]+ waits' told
grep -q '"outcome":"sent"' run.jsonl
cat told

# With all rights that can be had. As root they are there, in most containers too; else the ladder is walked down.
realtime="--set realtime.priority=50 --set realtime.core=0 --set realtime.lock_memory=true"
if "$SYNFIRE" doctor --folder . | grep -q '^  locked-memory'; then
    SYNFIRE_TEST_FAULTS=1 SYNFIRE_TEST_SETTLED=100 guarded $realtime --verbose
    cat told
    grep -q '^[0-9]* waits, 0 faults$' told
    "$SYNFIRE" doctor --folder . | grep -q '^  real-time' && grep -q 'watching: real-time priority 50' err
else
    echo "no memory can be locked here: page faults are not looked at"
fi

# Nothing of it may be had, or there is no such core: a sentence each, and the run ends well.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    setpriv --bounding-set -all --inh-caps -all --no-new-privs \
        bash -c "ulimit -r 0 -l 64; cd '$PWD' && '$SYNFIRE' run run.yaml $realtime --set sinks.0.path=other.jsonl \
        --set sinks.1.path=other.h5" >out 2>err || { cat err; exit 1; }
    grep -q 'watching: no real-time priority: Operation not permitted; it goes on without' err
    grep -q 'memory is not locked: .*; it goes on without' err
fi
"$SYNFIRE" run run.yaml --set realtime.core=1000 >out 2>err
grep -q 'watching: not kept on core 1000: this process may not use it; it goes on any' err
expect 78 "found 'first', expected any, or a number" "$SYNFIRE" run run.yaml --set realtime.core=first
