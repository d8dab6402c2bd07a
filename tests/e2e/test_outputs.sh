# SPDX-License-Identifier: Apache-2.0
# Two runs that are told to write the same files: the second is refused and the first records all it was sent; what is
# finished is kept beside a successor, or replaced where that is asked.
. "$E2E/functions.sh"
"$SYNFIRE" simulate sim.h5 --preset sym26 --duration 30 --seed 5 --quiet >/dev/null

config() { # OVERWRITE
    cat <<YAML
window: {length_s: 2, hop_s: 1}
sinks: [{type: hdf5, path: run.h5, overwrite: $1}, {type: jsonl, path: run.jsonl, overwrite: $1}]
YAML
}
config true >replace.yaml
config false >keep.yaml
spikes() { "$SYNFIRE" info "$1" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["spikes"])'; }

"$SYNFIRE" run replace.yaml --replay sim.h5 --speed 5 --json --quiet >first.json 2>first.err &
first=$!
until [ -s run.jsonl ]; do sleep 0.05; done
kill -STOP "$first" # it holds its files for as long as the others take to be refused
expect 73 "run.h5: another program is writing this file" "$SYNFIRE" run replace.yaml --replay sim.h5 --quiet
# ... and what is refused for one of its files has replaced none of the others.
cp sim.h5 other.h5
expect 73 "run.jsonl: another program is writing this file" \
    "$SYNFIRE" run replace.yaml --replay sim.h5 --quiet --set sinks.0.path=other.h5
cmp sim.h5 other.h5
rm other.h5
expect 73 "run.jsonl: another program is writing this file" \
    "$SYNFIRE" run replace.yaml --replay sim.h5 --quiet --set sinks.0.path=other.h5
for option in out occurrences; do
    case $option in
    out) words=(graph sim.h5 --delay 4:6 --min-count 20 --out run.h5) said="a recording, which is not replaced" ;;
    occurrences) words=(mine sim.h5 --delay 4:6 --min-count 20 --occurrences run.jsonl) said="another program is writing" ;;
    esac
    status=0
    "$SYNFIRE" "${words[@]}" --quiet >/dev/null 2>err || status=$?
    [ "$status" = 73 ] && grep -q "$said" err || { echo "${words[*]}: $status"; cat err; exit 1; }
done
kill -CONT "$first"
wait "$first"
[ ! -s first.err ] || { cat first.err; exit 1; }
[ "$(spikes run.h5)" = "$(spikes sim.h5)" ]
tail -n 1 run.jsonl | grep -q '"last":true'

# A rig is waited for, and its electrodes are learnt, only once all outputs can be had: here no rig is there at all.
read -r taken rig <<<"$(free_ports 2)"
(umask 077 && echo 0123456789abcdef0123456789abcdef >token)
python3 -c 'import fcntl, socket, sys, time
held = socket.create_server(("127.0.0.1", int(sys.argv[1])))
file = open("held.h5", "w")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(600)' "$taken" >held 2>/dev/null &
holder=$!
trap 'kill $holder' EXIT
until grep -q held held; do sleep 0.05; done
while read -r code words outputs; do
    cat >rig.yaml <<YAML
sources: [{type: open-ephys, endpoint: "tcp://127.0.0.1:$rig", timeout_s: 600}]
$outputs
YAML
    expect "$code" "$words" timeout 300 "$SYNFIRE" run rig.yaml --quiet
done <<LIST
69 port sinks: [{type: zmq, endpoint: "tcp://127.0.0.1:$taken"}]
69 listen sinks: [{type: web, endpoint: "127.0.0.1:$taken"}]
69 serial sinks: [{type: serial, path: $PWD/no-line}]
73 writing sinks: [{type: hdf5, path: held.h5, overwrite: true}]
69 bind control: [{endpoint: "tcp://127.0.0.1:$taken", token_file: token}]
LIST
trap - EXIT
kill $holder
[ "$(ls ./*held*)" = "$(printf "./held\n./held.h5")" ]
rm held held.h5 token rig.yaml

# Every option of every command that takes a file reads it, or writes over no recording and nothing that is read.
printf 'A,1\nB,2\nA,3\n' >spikes.csv
cp spikes.csv same.csv
printf '0,10,a\n10,20,b\n' >labels.csv
"$SYNFIRE" --help | sed -n 's/^  \([a-z]\{1,11\}\) .*/\1/p' | grep -v synfire | while read -r command; do
    "$SYNFIRE" "$command" --help | sed -nE "s/^  --([a-z-]+) (FILE|G) .*/$command \1/p"
done >options
[ "$(wc -l <options)" -gt 20 ]
written=0
while read -r command option; do
    case $command in
    count) words=(--episodes 'A -(4,6]-> B') ;;
    bfs) words=(--source A) ;;
    density) words=(--quantity isi --units A) ;;
    aggregate) words=(--quantity isi --units A) ;;
    rules) words=(--labels labels.csv --window 1) ;;
    *) words=() ;;
    esac
    case $option in
    epochs | episodes | graph | labels | list | positions | registered | token | from-state | key | clients | server-key) continue ;;
    out | occurrences | plot | rule | save | nwb) written=$((written + 1)) ;;
    *) echo "$command --$option: does it read or write?"; exit 1 ;;
    esac
    [ "$command" != plot ] || command="plot raster"
    # shellcheck disable=SC2086
    expect 73 "spikes.csv: is there and is no result or simulation" "$SYNFIRE" $command sim.h5 "${words[@]}" --"$option" spikes.csv
    cmp spikes.csv same.csv
    expect 64 "would write over the input" "$SYNFIRE" $command sim.h5 "${words[@]}" --"$option" ./sim.h5
done <options
[ $written -ge 6 ]
expect 64 "labels.csv: --rule would write over the input" "$SYNFIRE" rules sim.h5 --labels labels.csv --window 1 --rule labels.csv
expect 73 "spikes.csv: is there and is no result or simulation" "$SYNFIRE" simulate spikes.csv
cmp spikes.csv same.csv
rm spikes.csv same.csv labels.csv options

# Finished: kept, and the path is said; three runs at once have three names.
cp run.h5 first.h5
for i in 1 2 3; do
    "$SYNFIRE" run keep.yaml --replay sim.h5 --speed max >out.$i 2>err.$i &
done
wait
cmp run.h5 first.h5
for i in 2 3 4; do
    [ "$(spikes "run-$i.h5")" = "$(spikes sim.h5)" ]
    tail -n 1 "run-$i.jsonl" | grep -q '"last":true'
    grep -hq "run.h5 is there already: what comes now goes to run-$i.h5" err.*
    tail -n 1 "run-$i.jsonl" | grep -Eq '"hdf5 run-[234].h5"'
done
[ ! -e run-5.h5 ]

# And replaced, where nobody writes it.
"$SYNFIRE" run replace.yaml --replay sim.h5 --speed max --duration 3 --quiet
[ "$(spikes run.h5)" -lt "$(spikes sim.h5)" ]
# Nothing else is left: no file that was to replace another.
left=$(ls | grep -Ev '^(sim|first|run(-[234])?)\.h5$|^run(-[234])?\.jsonl$|^(out|err)(\..)?$|yaml$|^first\.(err|json)$' || true)
[ -z "$left" ] || { echo "left: $left"; exit 1; }
