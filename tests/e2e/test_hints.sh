# SPDX-License-Identifier: Apache-2.0
# Where people go wrong: each mistake gets a sentence that says what was found and what to type.
. "$E2E/functions.sh"
"$SYNFIRE" simulate demo.h5 --preset sym26 --duration 20 --quiet >/dev/null
hint() { # hint WORDS COMMAND...: done, with one warning
    local words=$1
    shift
    "$@" >out 2>err
    [ "$(grep -c . err)" = 1 ] && grep -qF -- "$words" err || { echo "'$words' is not all that is said: $(cat err)"; return 1; }
    [ -s out ]
}

# Words.
expect 64 "there is no command 'mien': did you mean \`synfire mine\`?" "$SYNFIRE" mien demo.h5
expect 64 "there is no command 'demo.h5', but a file: \`synfire info demo.h5\`" "$SYNFIRE" demo.h5
expect 64 "did you mean \`synfire count\`" "$SYNFIRE" help cuont
expect 64 "did you mean \`synfire --version\`?" "$SYNFIRE" version
expect 64 "did you mean \`synfire mine\`?" "$SYNFIRE" help --mine
expect 64 "--dealy: is no option of this command: did you mean --delay?" "$SYNFIRE" mine demo.h5 --dealy 4:6
expect 64 "-delay: is no option of this command: did you mean --delay?" "$SYNFIRE" mine demo.h5 -delay 4:6
expect 64 "--json=yes: takes no value: type --json alone" "$SYNFIRE" mine demo.h5 --json=yes
"$SYNFIRE" help mine >page
"$SYNFIRE" mine --help | cmp - page
"$SYNFIRE" --help mine | cmp - page
"$SYNFIRE" help reach | grep -q '^usage: synfire bfs '
"$SYNFIRE" help | cmp - <("$SYNFIRE" --help)

# Whoever asked for JSON is refused in JSON, whatever the mistake.
expect 64 "did you mean \`synfire mine\`?" "$SYNFIRE" mien demo.h5 --json
expect 64 "did you mean \`synfire count\`" "$SYNFIRE" help cuont --json
expect 64 "there is no command '--json'" "$SYNFIRE" --json mine demo.h5
expect 64 "did you mean --delay?" "$SYNFIRE" mine demo.h5 --json --dealy 4:6
expect 64 "did you mean --delay?" "$SYNFIRE" mine demo.h5 --dealy 4:6 --json
expect 64 "--seed: needs a value" "$SYNFIRE" mine demo.h5 --json --seed

# Files that are something else.
"$SYNFIRE" graph demo.h5 --delay 4:6 --min-count 30 --out g.h5 --quiet >/dev/null
"$SYNFIRE" graph demo.h5 --delay 4:6 --min-count 30 --out g.graphml --quiet >/dev/null
"$SYNFIRE" mine demo.h5 --delay 4:6 --min-count 30 --occurrences o.h5 --quiet >/dev/null
for graph in g.h5 g.graphml; do
    expect 65 "$graph: is a graph, and \`synfire mine\` takes a recording" "$SYNFIRE" mine $graph
done
expect 65 "o.h5: holds occurrences of episodes" "$SYNFIRE" mine o.h5
printf 'A,1\nB,2\n' >two.csv
for recording in demo.h5 two.csv; do
    expect 64 "is a recording, expected a configuration; to run it: \`synfire run --replay $recording\`" "$SYNFIRE" run $recording
done
expect 64 "is a recording, expected a configuration" "$SYNFIRE" record demo.h5 out.h5
printf 'window:\n  hop_s: 1\n \tlength_s: 20\n' >tab.yaml
expect 78 "tab.yaml:3:2: a tab indents this line: YAML takes spaces only" "$SYNFIRE" run tab.yaml
"$SYNFIRE" count demo.h5 --episodes 'A -(4,6]-> B' --json >one
echo 'A -(4,6]-> B' >episodes.txt
"$SYNFIRE" count demo.h5 --episodes episodes.txt --json >two
[ "$(results <one)" = "$(results <two)" ]
expect 66 "is no file, and an episode has its delays in ms between units: A -(0,5]-> B" "$SYNFIRE" count demo.h5 --episodes 'A -> B'
expect 66 "is no file, and an episode has its delays" "$SYNFIRE" count demo.h5 --episodes 'A -(4,6)-> B'
expect 66 "monitorin: is no file: did you mean \`monitoring\`, a configuration that comes with synfire?" "$SYNFIRE" run monitorin
expect 66 "elsewhere: cannot open: No such file" "$SYNFIRE" run elsewhere
expect 66 "lab.yaml: cannot open: No such file" "$SYNFIRE" run lab.yaml
expect 65 "--episodes:1: column 1: no unit is named 'Ä'" "$SYNFIRE" count demo.h5 --episodes 'Ä -(4,6]-> B'

# Seconds for ms, and the reverse.
hint "(0.004,0.006] ms is less than a spike takes: for seconds type 4:6" \
    "$SYNFIRE" mine demo.h5 --delay 0.004:0.006 --csv --min-count 1 --max-size 2
hint "6000 ms is 6 s: for microseconds type 4:6" "$SYNFIRE" mine demo.h5 --delay 4000:6000 --csv --min-count 1 --max-size 2
hint "for seconds type 4:6" "$SYNFIRE" run --replay demo.h5 --speed max --set mine.delays_ms=0.004:0.006 --set mine.every=0 \
    --set graph.enabled=false --json
expect 64 "--from: 5000 s is after the recording, which is from 0 to 20 s: times are in seconds, and 5000 ms are 5 s" \
    "$SYNFIRE" mine demo.h5 --from 5000
expect 64 "--to: -1 s is before the recording" "$SYNFIRE" info demo.h5 --to -1
echo 3000,4000 >epochs.csv
expect 64 "--epochs: 3000 s is after the recording" "$SYNFIRE" mine demo.h5 --epochs epochs.csv
awk 'BEGIN { srand(2); for (i = 1; i < 900; i++) { t += 25 * rand() + 2; printf "%s,%.3f\n", substr("ABC", 1 + i % 3, 1), t } }' >ms.csv
sed '1i unit,seconds' ms.csv >headed.csv
hint "are under 0.2 s, and the recording takes 3." "$SYNFIRE" info headed.csv
sed '1i unit,ms' ms.csv >said.csv
hint "said.csv: read as units of column 1 'unit', times of column 2 'ms' in ms; --columns says it otherwise" \
    "$SYNFIRE" info said.csv
"$SYNFIRE" info said.csv --quiet | grep -qE '^  recorded +1[0-9]\.[0-9]+ s'
sed 's/\([^,]*\),\(.*\)/\2,\1/' ms.csv >swapped.csv
expect 65 "swapped.csv: line 2: expected a time from 0 to 4.6e9 seconds, found" "$SYNFIRE" info swapped.csv
sed -i 's/A/1/; s/B/2/; s/C/3/' swapped.csv
expect 65 "swapped.csv: 899 lines name 899 units, all of them numbers: these are times" "$SYNFIRE" info swapped.csv

# The same of everything else that has a unit.
hint "--window is in seconds, and 5000 s is longer than the 20 s that are looked at: 5000 ms are 5 s" \
    "$SYNFIRE" count demo.h5 --episodes 'A -(4,6]-> B' --window 5000
hint "(0.004,0.006] ms is less than a spike takes: for seconds type 4:6" "$SYNFIRE" count demo.h5 --episodes 'A -(0.004,0.006]-> B'
hint "--width is in ms, and 0.03 ms is less than a spike takes: for seconds type 30" \
    "$SYNFIRE" count demo.h5 --episodes 'A -(4,6]-> B' --significance segment-shift --surrogates 99 --width 0.03
"$SYNFIRE" info demo.h5 --dedup 0.0004,100 >out 2>err
grep -qF -- "--dedup is in ms, and 0.0004 ms is less than a spike takes: for seconds type 0.4" err
"$SYNFIRE" simulate --unit-count 3 --duration 2 --chain 'A -(0.004,0.006]-> B' wrong.h5 2>err >/dev/null
grep -q "for seconds type 4:6" err
"$SYNFIRE" info demo.h5 --blank light,-0.001,0.005 >out 2>err || true
grep -q -- "--blank is in ms, and 0.006 ms" err
code=0
printf '0,5000,rest\n5000,10000,task\n' >ms-labels.csv
"$SYNFIRE" rules demo.h5 --labels ms-labels.csv --window 1000 --delay 4:6 --min-count 20 >out 2>err || code=$?
[ $code = 65 ]
grep -q "1000 ms are 1 s" err
printf '0,5000\n5000,10000\n10000,15000\n' >ms-epochs.csv
expect 64 "--epochs: they end at 15000 s, and the recording is from 0 to 20 s: times are in seconds, and these lie in it as ms" \
    "$SYNFIRE" info demo.h5 --epochs ms-epochs.csv
printf '0,5\n10,15\n30,40\n' >longer.csv
"$SYNFIRE" info demo.h5 --epochs longer.csv >out # epochs of a longer experiment are no mistake

# As spreadsheets write numbers: one recording and one list of epochs, three times.
"$SYNFIRE" mine said.csv --delay 0.5:20 --json | results >commas
{ echo 'unit;ms'; sed 's/,/;/; s/\./,/' ms.csv; } >semicolons.csv
{ printf 'unit\tms\n'; sed 's/,/\t/; s/\./,/' ms.csv; } >tabs.csv
for other in semicolons tabs; do
    "$SYNFIRE" mine $other.csv --delay 0.5:20 --json | results | sed "s/$other.csv/said.csv/" | cmp - commas
done
printf '0,5.5,rest\n6,9,stimulus\n' >commas.txt
printf '0;5,5;rest\n6;9;stimulus\n' >semicolons.txt
printf 'from\tto\tlabel\n0\t5,5\trest\n6\t9\tstimulus\n' >tabs.txt
for epochs in semicolons tabs; do
    "$SYNFIRE" count demo.h5 --episodes episodes.txt --epochs $epochs.txt --json | results >$epochs.json
    "$SYNFIRE" count demo.h5 --episodes episodes.txt --epochs commas.txt --json | results | cmp - $epochs.json
done

# A reader that has enough is no failure, and nothing is said; a full disk is one.
for i in 1 2 3; do
    "$SYNFIRE" mine demo.h5 --delay 0.5:50 --min-count 1 --max-size 3 --csv --quiet 2>err | head -1 >out
    [ ! -s err ]
    [ "$(wc -l <out)" = 1 ]
done
# A live run ends when nobody reads it any more, unless it records: then it goes on.
lines=(--set sinks.0.type=jsonl --set sinks.0.path=-)
for sink in yes no; do
    [ $sink = yes ] || lines=()
    "$SYNFIRE" run --replay demo.h5 --speed 0.05 --set window.length_s=0.1 --set window.hop_s=0.05 "${lines[@]}" 2>err | head -1 >out
    [ "$(wc -l <out)" = 1 ] && ! grep -qi "pipe\|cannot write\|failed" err || { cat err; exit 1; }
done
"$SYNFIRE" run --replay demo.h5 --speed max --set sinks.0.type=jsonl --set sinks.0.path=- --set sinks.1.type=hdf5 \
    --set sinks.1.path=kept.h5 --set sinks.1.policy=block 2>err | head -1 >out
! grep -qi "pipe\|cannot write\|failed" err || { cat err; exit 1; }
[ "$("$SYNFIRE" info kept.h5 --json | sed 's/.*"spikes":\([0-9]*\).*/\1/')" = "$("$SYNFIRE" info demo.h5 --json | sed 's/.*"spikes":\([0-9]*\).*/\1/')" ]
code=0
"$SYNFIRE" info demo.h5 >/dev/full 2>err || code=$?
[ $code = 74 ]
grep -q "standard output: cannot write: No space left on device" err
