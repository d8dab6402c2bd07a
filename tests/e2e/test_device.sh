# SPDX-License-Identifier: Apache-2.0
# A user's view of devices, with the tests' plugin where the installed program looks for its own: device 0 works,
# 1 is lost in its second job, 2 refuses, 3 does not start, 4 takes small jobs only, 5 loses windows.
. "$E2E/functions.sh"
[ -z "$SYNFIRE_SANITIZE" ] || skip "under a sanitizer the program and the plugin each bring their own checks"
install_with_plugin tree none
tree/bin/synfire doctor >out || [ $? = 1 ]
grep -q 'gpu .*the CUDA plugin is not installed: install synfire-cuda; ' out
add_plugin tree
SYNFIRE=$PWD/tree/bin/synfire
$SYNFIRE simulate demo.h5 --preset sym26 --quiet >/dev/null
echo 'A -(4,6]-> B -(4,6]-> C' >chains.txt
mine="$SYNFIRE mine demo.h5 --delay 4:6 --min-count 100"
count="$SYNFIRE count demo.h5 --episodes chains.txt"

# Results say where they were made, and why not where it was asked; the results are those of the CPU.
$mine --device cpu --json >out
check 'assert out["device"] == "cpu" and out["device_note"] is None and out["device_memory"] == 0'
python3 -c 'import json; json.dump(json.load(open("out"))["episodes"], open("episodes", "w"))'
told() { # DEVICE, where, note, words of the warning
    $mine --device "$1" --json >out 2>err
    check "assert out['device'].startswith('$2') and '$3' in out['device_note'] and out['episodes'] == json.load(open('episodes'))"
    [ "$(grep -cF -- "$4" err)" = 1 ]
}
$mine --device test:0 --json >out 2>err
check "assert out['device'] == 'test:0' and out['device_note'] is None and out['episodes'] == json.load(open('episodes'))"
[ ! -s err ]
told test:2 cpu 'too large' 'mined on the CPU: the job is too large'
$mine --device test:all --json >out # too small to be divided
check "assert out['device'] == 'test:0' and out['device_note'] is None and out['episodes'] == json.load(open('episodes'))"
check 'assert out["device_memory"] == 1000'
$mine --device test:0 | grep -q 'engine interval on test:0'
$mine --device test:1 --significance segment-shift --surrogates 100 --json >out 2>err
check 'assert out["device"] == "test:1" and out["significance"]["device"] == "cpu" and "bus" in out["significance"]["device_note"]'
grep -q 'surrogates counted on the CPU: test:1 has failed' err
$count --device test:0 | grep -q '^counted on test:0$'
$count --device test:1 --window 20 --json >out 2>err
check 'assert out["engine"] == "interval" and out["device"] == "cpu" and "bus" in out["device_note"]'
check 'assert [w["counts"] for w in out["windows"]] == [[42], [44], [47]]'
# The memory that may be taken: by the environment, and for a run by its key.
SYNFIRE_DEVICE_MEMORY=512 $mine --device test:0 --json >out 2>err
check 'assert out["device"] == "cpu" and "more than the 512 bytes" in out["device_note"]'
$SYNFIRE run --replay demo.h5 --speed max --set sinks.0.type=jsonl --set sinks.0.path=- 2>err | tail -n 1 >out
check 'assert out["device"] == "test:0" and out["device_memory"] == 1000 and out["device_note"] is None'
expect 78 "found '8 GB', expected auto or a size" $SYNFIRE run --replay demo.h5 --set device_memory='8 GB'

expect 69 "test:3 has failed: it does not start" $mine --device test:3
expect 64 "the engine ptpe does not run on test:0" $mine --device test:0 --engine ptpe
