# SPDX-License-Identifier: Apache-2.0
# synfire-mpi: any number of ranks prints and writes what synfire does; what one rank fails at ends the job.
. "$E2E/functions.sh"
[ -n "$SYNFIRE_MPI" ] || skip "no Open MPI: synfire-mpi was not built"
[ -z "$SYNFIRE_SANITIZE" ] || skip "sanitizers find what Open MPI does not free: test_ranks runs under them"
command -v mpirun >/dev/null || skip "no mpirun"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

ranks() { # ranks N WORDS...
    local count=$1
    shift
    timeout 200 mpirun -q --oversubscribe -n "$count" "$@" </dev/null
}

# What is printed, but for times and devices' names of their own, by 1, 2, 3, 5 and 8 ranks, or as many as $1 says.
same() {
    local counts=$1
    shift
    $SYNFIRE "$@" 2>expected_err | sed 's/"seconds":[^,}]*//g' >expected
    [ -s expected ]
    for count in $counts; do
        ranks "$count" "$SYNFIRE_MPI" "$@" 2>err | sed 's/"seconds":[^,}]*//g' >out
        cmp expected out || { echo "$count ranks: $*"; cat err; return 1; }
        cmp expected_err err || { echo "$count ranks: $*"; cat err; return 1; }
    done
}
all="1 2 3 5 8"

$SYNFIRE simulate demo.h5 --preset sym26 >/dev/null 2>&1
printf 'A -(4,6]-> B\nA -(4,6]-> B -(4,6]-> C\nB\nK -(0,400]-> J -(0,400]-> K\nA -(0,50]-> B -(0,50]-> A\n' >chains.txt
same "$all" count demo.h5 --episodes chains.txt
same "3" count demo.h5 --episodes chains.txt --json --window 7 --hop 2
same "3" count demo.h5 --episodes chains.txt --csv --engine ptpe
same "2" count demo.h5 --episodes chains.txt --json --correlogram --significance shift --surrogates 30
same "$all" mine demo.h5 --delay 4:6,0.5:4 --min-count 60 --max-size 8 --threads 2 --csv
same "3" mine demo.h5 --delay 4:6 --min-count 60 --threads 3 --json --significance segment-shift --surrogates 50
same "8" mine demo.h5 --delay 4:6 --min-count 100 --json --significance jitter --fdr --surrogates 5
same "3" mine demo.h5 --delay 4:6 --min-count 60 --engine hybrid --csv --from 10 --to 40 --units 'A,B,C,#5-#20'
same "$all" mine demo.h5 --delay 4:6,0.5:4 --min-count 60 --max-size 8 --csv --memory 130M
same "3" mine demo.h5 --delay 4:6 --csv --units 'A,B,C,#5-#20' --from +10 --to 40 --significance analytic --memory 130M
same "2 8" graph demo.h5 --delay 4:6 --min-count 60 --json
same "$all" graph demo.h5 --metric sttc --surrogates 25 --threads 3 --json
awk 'BEGIN { for (i = 0; i < 700; i++) { x = rand() + rand() + rand(); print x, x + rand() + rand() } }' >samples.txt
same "$all" density samples.txt --bandwidth lscv --grid 0:3:60,0:5:60 --json
same "3" density samples.txt --json --grid 0:3:30,0:5:40 --plot x.svg
same "$all" density demo.h5 --quantity isi --units B --json
same "2" density demo.h5 --quantity isi --units B --bandwidth isj --linear --csv
same "2" density demo.h5 --quantity delay --episode 'A -(4,6]-> B' --bandwidth lscv --csv

# Recordings are divided too, and what is wrong with one is told as of one process.
mkdir batch
for i in 1 2 3 4; do
    $SYNFIRE simulate "batch/$i.h5" --unit-count 5 --duration $((10 * i)) --seed "$i" --quiet >/dev/null
done
head -c 3000 batch/2.h5 >batch/5.h5
printf 'batch/%s.h5\n' 3 1 4 >batch/list
together() { # together RANKS WORDS...
    local count=$1
    shift
    status=0 && $SYNFIRE "$@" >expected 2>expected_err <batch/list || status=$?
    code=0 && timeout 200 mpirun -q --oversubscribe -n "$count" "$SYNFIRE_MPI" "$@" >out 2>err <batch/list || code=$?
    [ "$status" = "$code" ]
    cmp <(sed 's/"seconds":[^,}]*//g' expected) <(sed 's/"seconds":[^,}]*//g' out)
    cmp <(grep -v ' after .* s, ' expected_err | sort) <(grep -v ' after .* s, ' err | sort)
    [ "$(grep -c ' after .* s, ' expected_err)" = "$(grep -c ' after .* s, ' err)" ]
}
for count in $all; do
    together "$count" mine batch/1.h5 batch/5.h5 batch/2.h5 --list batch/list --delay 1:9 --min-count 5 --csv
    [ "$code" = 65 ]
    grep -q '1 of 6 recordings failed: batch/5.h5' err
    [ "$(grep -c done err)" = 5 ]
done
together 3 mine batch/2.h5 --list - --delay 1:9 --min-count 5 --json --occurrences 'batch/{}.csv'
[ "$code" = 0 ]
[ -s batch/4.csv ]
expect 64 'expected {} in it' ranks 3 "$SYNFIRE_MPI" mine batch/1.h5 batch/2.h5 --occurrences one.csv
expect 66 'nolist' ranks 2 "$SYNFIRE_MPI" mine --list nolist

# In pieces, several for each rank, as if all were held.
$SYNFIRE simulate long.h5 --unit-count 60 --rate 300 --duration 70 --chain '#0 -(1,3]-> #1 -(1,3]-> #2' --chain-rate 100 \
    --quiet >/dev/null
words=(mine long.h5 --delay 1:3 --min-count 13500 --max-size 3 --csv)
$SYNFIRE "${words[@]}" | counted >whole
[ "$(wc -l <whole)" -gt 1 ]
cmp whole <($SYNFIRE "${words[@]}" --memory 128M | counted)
cmp whole <(ranks 2 "$SYNFIRE_MPI" "${words[@]}" --memory 128M | counted)
if $SYNFIRE convert long.h5 long.nwb --quiet >/dev/null; then # train by train
    sed -i 's/long.h5/long.nwb/' whole
    cmp whole <($SYNFIRE "${words[@]/long.h5/long.nwb}" --memory 128M | counted)
    same "3" "${words[@]/long.h5/long.nwb}" --memory 130M
fi

# In pieces the fingerprint of the data, and all that needs no occurrences, is that of the whole.
if [ -n "$SYNFIRE_PYTHON" ]; then
    cat >told.py <<'PY'
import json, sys
document = json.load(sys.stdin)
unknown = 0
for episode in document["episodes"]:
    for name in ("bursts", "in_bursts", "links", "reverse_count", "asymmetry"):
        unknown += episode.pop(name) is None
bursts = document.pop("bursts")
unknown_all = (bursts is None) == (sys.argv[1] == "pieces")
document["provenance"].pop("command")
for part in [document] + document["levels"]:
    part.pop("seconds")
assert unknown_all and (sys.argv[1] == "whole" or unknown == 5 * len(document["episodes"]) > 300)
print(json.dumps(document, indent=1))
PY
    words=(mine demo.h5 --delay 4:6 --min-count 60 --max-size 3 --from 2 --json)
    $SYNFIRE "${words[@]}" | "$SYNFIRE_PYTHON" told.py whole >whole.json
    $SYNFIRE "${words[@]}" --memory 128M | "$SYNFIRE_PYTHON" told.py pieces | cmp whole.json
    ranks 3 "$SYNFIRE_MPI" "${words[@]}" --memory 128M | "$SYNFIRE_PYTHON" told.py pieces | cmp whole.json
fi
ranks 2 "$SYNFIRE_MPI" mine demo.h5 --delay 4:6 --min-count 60 --memory 128M >out
grep -q 'read in pieces' out
must_fail grep -q 'network bursts' out

# States of the recordings, which add up.
together 3 aggregate batch/1.h5 batch/2.h5 batch/3.h5 --quantity isi --units '#0' --range 0.01:0.1 --save 'batch/{}.state.h5'
$SYNFIRE aggregate --from-state batch/?.state.h5 --range 0.01:0.1 | grep -q ' samples)'
ranks 2 "$SYNFIRE_MPI" --help >out
grep -q '^usage: mpirun .* synfire-mpi ' out
[ "$(grep -c '^  aggregate' out)" = 1 ]
expect 64 'expected at least 128 MiB' ranks 2 "$SYNFIRE_MPI" mine long.h5 --memory 3M --csv
expect 64 'needs all spikes at once' ranks 2 "$SYNFIRE_MPI" mine long.h5 --memory 128M --csv --significance segment-shift
expect 64 'needs all spikes at once' ranks 2 "$SYNFIRE_MPI" mine long.h5 --memory 128M --csv --dedup 0.4,100
expect 64 'the engine interval counts' ranks 2 "$SYNFIRE_MPI" mine long.h5 --memory 128M --csv --engine mtpe
printf 'A,1.0\nB,2.0\n' >lines.csv
expect 64 'synfire convert' ranks 2 "$SYNFIRE_MPI" mine lines.csv --memory 128M --csv

for file in Demas2003_P9_CTRL_MY1_1A.h5; do
    has_data "recordings/$file" || continue
    same "3" mine "$SYNFIRE_DATA/recordings/$file" --delay 0.5:20 --min-count 300 --json
    same "5" graph "$SYNFIRE_DATA/recordings/$file" --metric sttc --surrogates 10 --csv
    same "2" density "$SYNFIRE_DATA/recordings/$file" --quantity position --json --grid 0:2000:50,0:2000:50
done

# Files are written once, and are the same.
mkdir one several
for words in "mine demo.h5 --delay 4:6 --min-count 60 --quiet --occurrences FOLDER/x.csv" \
    "graph demo.h5 --delay 4:6 --min-count 60 --quiet --out FOLDER/x.graphml" \
    "count demo.h5 --episodes chains.txt --quiet --plot FOLDER/x.svg"; do
    # shellcheck disable=SC2086
    $SYNFIRE ${words/FOLDER/one} >/dev/null
    # shellcheck disable=SC2086
    ranks 3 "$SYNFIRE_MPI" ${words/FOLDER/several} >/dev/null
done
for name in x.csv x.graphml x.svg; do
    cmp <(sed 's/one\/x/x/g' "one/$name") <(sed 's/several\/x/x/g' "several/$name")
done
ranks 3 "$SYNFIRE_MPI" mine demo.h5 --delay 4:6 --min-count 60 --quiet --occurrences several/x.h5 >/dev/null
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --quiet --occurrences one/x.h5 >/dev/null
cmp <($SYNFIRE info one/x.h5 --json | results | sed 's/one//g') <($SYNFIRE info several/x.h5 --json | results | sed 's/several//g')

# What any rank fails at: one sentence, its exit code, nothing printed, no file.
expect 66 'nowhere.h5: cannot open' ranks 3 "$SYNFIRE_MPI" mine nowhere.h5
expect 64 'the delay interval is empty' ranks 2 "$SYNFIRE_MPI" mine demo.h5 --delay 6:4
expect 64 "there is no command 'info'" ranks 2 "$SYNFIRE_MPI" info demo.h5
expect 73 'nofolder' ranks 2 "$SYNFIRE_MPI" mine demo.h5 --delay 4:6 --min-count 60 --occurrences nofolder/x.csv
$SYNFIRE simulate wrong.h5 --unit-count 3 --duration 20 >/dev/null 2>&1
if [ -n "$SYNFIRE_PYTHON" ]; then # which only the second of three parts holds
    "$SYNFIRE_PYTHON" - <<'PY'
import h5py
with h5py.File("wrong.h5", "r+") as file:
    units = file["/spikes/unit"]
    row = len(units) // 2
    units[row] = 7
    print(f"spike {row} is of unit #7 and there are 3 units", file=open("words", "w"))
PY
    expect 65 "$(cat words)" ranks 3 "$SYNFIRE_MPI" mine wrong.h5
    expect 65 "$(cat words)" $SYNFIRE mine wrong.h5
    expect 65 "$(cat words)" ranks 3 "$SYNFIRE_MPI" mine wrong.h5 --memory 128M --csv
fi
mkdir damaged
head -c 20000 demo.h5 >damaged/demo.h5
cp chains.txt damaged
cat >two_is_wrong <<'SH'
#!/bin/sh
[ "$OMPI_COMM_WORLD_RANK" = 2 ] && cd damaged
exec "$SYNFIRE_MPI" "$@"
SH
cat >two_dies <<'SH'
#!/bin/sh
[ "$OMPI_COMM_WORLD_RANK" = 2 ] && kill -9 $$
exec "$SYNFIRE_MPI" "$@"
SH
chmod +x two_is_wrong two_dies
expect 65 'demo.h5: this HDF5 file is damaged' ranks 4 ./two_is_wrong count demo.h5 --episodes chains.txt
expect 65 'demo.h5: this HDF5 file is damaged' ranks 3 ./two_is_wrong mine demo.h5 --delay 4:6 --json --occurrences x.csv
expect 65 'demo.h5: this HDF5 file is damaged' ranks 3 ./two_is_wrong mine demo.h5 --delay 4:6 --csv --memory 128M
[ ! -e x.csv ]
[ ! -e damaged/x.csv ]
status=0
ranks 3 ./two_dies mine demo.h5 --delay 4:6 --occurrences x.csv >out 2>err || status=$?
[ "$status" != 0 ]
[ ! -s out ]
[ ! -e x.csv ]

# Ctrl-C.
mpirun -q --oversubscribe -n 2 "$SYNFIRE_MPI" mine demo.h5 --delay 0.5:50 --min-count 5 --max-size 16 --occurrences x.csv \
    >out 2>err </dev/null &
job=$!
sleep 1.5
kill -INT $job
status=0
wait $job || status=$?
[ "$status" != 0 ]
[ ! -s out ]
[ ! -e x.csv ]
[ "$(grep -c '^synfire: ' err)" -le 1 ] # none where it had not begun yet
