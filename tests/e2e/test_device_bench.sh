# SPDX-License-Identifier: Apache-2.0
# Benchmarks on devices, with the tests' plugin where the installed program looks for its own: device 0 works, 1 is lost in its
# second job, 2 refuses, 3 does not start, 4 takes small jobs only, 5 loses windows.
. "$E2E/functions.sh"
[ -z "$SYNFIRE_SANITIZE" ] || skip "under a sanitizer the program and the plugin each bring their own checks"
install_with_plugin tree
SYNFIRE=$PWD/tree/bin/synfire

# A benchmark that is stopped prints the rows it has. (Not in the foreground timeout signals twice: leave at once.)
code=0
timeout --foreground --preserve-status -s INT 3 $SYNFIRE bench episodes sym26 --json >out 2>err || code=$?
[ $code = 130 ]
grep -q 'bench: stopped while' err
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
