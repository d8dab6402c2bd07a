# SPDX-License-Identifier: Apache-2.0
# A user's view of devices, with the tests' plugin where the installed program looks for its own: device 0 works,
# 1 is lost in its second job, 2 refuses, 3 does not start, 4 takes small jobs only, 5 loses windows.
. "$E2E/functions.sh"
[ -z "$SYNFIRE_SANITIZE" ] || skip "under a sanitizer the program and the plugin each bring their own checks"
install_into tree
rm -f tree/lib*/synfire/libsynfire-cuda.so tree/lib/*/synfire/libsynfire-cuda.so
tree/bin/synfire doctor >out || [ $? = 1 ]
grep -q 'gpu .*the CUDA plugin is not installed: install synfire-cuda; ' out
mkdir -p tree/lib/synfire
cp "$SYNFIRE_BUILD/tests/libsynfire_test_backend.so" tree/lib/synfire/libsynfire-cuda.so
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
check 'assert out["device"] == "test:0" and out["device_memory"] == 1000 and out["device_note"] == ""'
expect 78 "found '8 GB', expected auto or a size" $SYNFIRE run --replay demo.h5 --set device_memory='8 GB'

expect 69 "test:3 has failed: it does not start" $mine --device test:3
expect 64 "the engine ptpe does not run on test:0" $mine --device test:0 --engine ptpe

# A benchmark that is stopped prints the rows it has. (Not in the foreground timeout signals twice: leave at once.)
code=0
timeout --foreground --preserve-status -s INT 3 $SYNFIRE bench episodes sym26 --json >out 2>err || code=$?
[ $code = 130 ] && grep -q 'bench: stopped while' err
python3 -c 'import json; assert json.load(open("out"))[0]["engine"] == "interval"'
expect 64 "--kronecker: is for other benchmarks than episodes" $SYNFIRE bench episodes sym26 --kronecker 4:4:1
expect 64 "--device: is for other benchmarks than match" $SYNFIRE bench match hprd --device cpu
expect 64 "'test:all' is for work that is divided" $SYNFIRE bench episodes counts --device test:all
XDG_CACHE_HOME=$PWD/cache $SYNFIRE bench episodes --calibrate --device cpu --json >out 2>err
python3 -c '
import json
assert {r["device"] for r in json.load(open("out"))} == {"cpu"}'

# Divided among all, every number of devices finds the same.
TEST_PLUGIN_DEVICES=wwww $SYNFIRE bench episodes sym26 --device test:all --json >out 2>err
python3 -c '
import json
devices = [r["device"] for r in json.load(open("out"))]
assert devices == ["test:0", "test:all (2)", "test:all (4)"], devices'

# A device that does not work spoils no benchmark.
XDG_CACHE_HOME=$PWD/cache $SYNFIRE bench episodes --calibrate --json >out 2>err
python3 -c '
import json
devices = {r["device"] for r in json.load(open("out"))}
assert {"cpu", "test:0", "test:5"} <= devices and not {"test:2", "test:3"} & devices, devices'
grep -q "too large" err
if [ -z "${SYNFIRE_TEST_LONG:-}" ]; then
    echo "skipped: takes minutes: SYNFIRE_TEST_LONG=1 runs it"
    exit 0
fi
$SYNFIRE bench episodes sym26 --json >out 2>err
python3 -c '
import json
rows = json.load(open("out"))
devices = {r["device"] for r in rows}
assert {"cpu", "test:0"} <= devices and not {"test:1", "test:2", "test:3"} & devices, devices
assert "test:3 does not work" in rows[0]["machine"], rows[0]["machine"]'
