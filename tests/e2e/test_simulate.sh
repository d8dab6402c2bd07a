# SPDX-License-Identifier: Apache-2.0
# `synfire simulate`: the same seed gives the same data, presets can be changed, wrong options and outputs have their
# sentence and exit code, and nothing half-made is left behind.
. "$E2E/functions.sh"

data() { # the datasets, without the file's own times and addresses
    h5dump -d /spikes/time_ns -d /spikes/unit -d /spikes/amplitude -d /truth/occurrence_times_ns -d /truth/episodes \
        -d /markers/text "$1" | tail -n +2
}

$SYNFIRE simulate a.h5 --preset sym26 --marker-every 5 --duplicates 0.1 >out
grep -q "26 units" out
grep -q "A -(4,6]-> B -(4,6]-> C" out
$SYNFIRE simulate b.h5 --preset sym26 --marker-every 5 --duplicates 0.1 --json >b.json
$SYNFIRE simulate c.h5 --preset sym26 --marker-every 5 --duplicates 0.1 --seed 2 >out
data a.h5 >a.txt; data b.h5 >b.txt; data c.h5 >c.txt
cmp a.txt b.txt
must_fail cmp -s a.txt c.txt
python3 - <<'END'
import json
made = json.load(open("b.json"))
assert made["units"] == 26 and made["to_s"] == 60 and made["markers"] == 33, made
assert abs(made["spikes"] - 1.1 * 32500) < 1500, made
assert [chain["planted"] > 80 for chain in made["chains"]] == [True, True], made
END

# The printed settings make the same simulation again.
settings=$(python3 -c 'import json; print(json.load(open("b.json"))["settings"])')
eval "$SYNFIRE simulate d.h5 $settings" >out
data d.h5 >d.txt
cmp a.txt d.txt

# An option wins over the preset; a simulation may be replaced.
$SYNFIRE simulate a.h5 --preset sym26 --duration 10 --rate 5 --chain "X -(0,5]-> Y" --chain-rate 3 --json >a.json
grep -q '"to_s":10,' a.json
grep -q '"chains":\[{"episode":"X -(0,5\]-> Y"' a.json

expect() { # CODE WORDS options...: exit code, one sentence on stderr, nothing on stdout
    code=0
    $SYNFIRE simulate "${@:3}" >out 2>err || code=$?
    [ $code = "$1" ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -q -- "$2" err || {
        echo "simulate ${*:3}: exit $code, expected $1 and '$2'"; cat out err; exit 1; }
}
printf 'A,1\nB,2\n' >precious
expect 73 "a recording, which is not replaced" precious
grep -q "^B,2" precious
mkdir folder
expect 73 "a directory" folder
expect 73 "a device" /dev/null
expect 73 "cannot create" no/such/folder.h5
expect 64 "missing"
expect 64 "too many" new.h5 other.h5
expect 64 "--rate: found 'fast'" new.h5 --rate fast
expect 64 "--unit-count: found '0'" new.h5 --unit-count 0
expect 64 "expected sym26" new.h5 --preset sym27
expect 64 "column 12" new.h5 --chain "A -(4,6]-> nobody"
expect 64 "2 rates for 1 chains" new.h5 --chain "A -(4,6]-> B" --chain-rate 1 --chain-rate 2
expect 64 "under 1" new.h5 --rate 500
expect 64 "--duration: found '-1', expected a number of s from 1e-09" new.h5 --duration -1
[ ! -e new.h5 ]

# A file that cannot be finished is not left behind.
code=0
(trap '' XFSZ; ulimit -f 200; $SYNFIRE simulate full.h5 --rate 100) >out 2>err || code=$?
[ $code = 74 ]
grep -q "full.h5: cannot" err
[ ! -e full.h5 ]
$SYNFIRE simulate endless.h5 --unit-count 10000 --rate 100 --duration 100000 >out 2>err &
child=$!
until [ -s endless.h5 ]; do sleep 0.01; done
kill -INT $child
code=0; wait $child || code=$?
[ $code = 130 ]
[ ! -e endless.h5 ]
