# SPDX-License-Identifier: Apache-2.0
# Several recordings at once: each as it is alone, in the order given, told apart; what is wrong with one keeps no other.
. "$E2E/functions.sh"
mkdir 'my data'
for i in 1 2 3; do
    $SYNFIRE simulate "my data/day $i.h5" --unit-count 6 --rate 8 --duration $((10 + 2 * i)) --seed $i \
        --chain 'A -(4,6]-> B -(4,6]-> C' --chain-rate 4 >/dev/null
done
printf 'a,1\nb\n' >bad.csv
printf 'a,0.1\nb,0.104\na,0.2\nb,0.205\n"c,""d",0.3\n' >small.csv
mine=(--delay 4:6 --min-count 2 --device cpu)

# JSON lines: each the document of the recording alone, in the order given, however many work at a time.
for i in 3 1 2; do $SYNFIRE mine "my data/day $i.h5" "${mine[@]}" --json; done | results >alone
for jobs in 1 3; do
    $SYNFIRE mine 'my data/day 3.h5' 'my data/day 1.h5' 'my data/day 2.h5' "${mine[@]}" --json --jobs $jobs >out 2>err
    results <out | cmp - alone
    # A line of progress each, and a command that makes each again.
    [ "$(wc -l <err)" = 3 ]
    grep -q "^synfire: mine: my data/day 1.h5: done after [0-9.e-]* s, [123] of 3$" err
    python3 - <<'END'
import json
commands = [json.loads(line)["provenance"]["command"] for line in open("out")]
assert commands[1] == "synfire mine 'my data/day 1.h5' --delay 4:6 --min-count 2 --device cpu --json", commands
END
done

# A list, alone and after others; from a file with the line ends of Windows and empty lines, and from standard input.
printf 'my data/day 1.h5\r\n\nmy data/day 2.h5\n' >list
$SYNFIRE mine 'my data/day 3.h5' --list list "${mine[@]}" --json --quiet 2>err | results | cmp - alone
[ ! -s err ]
$SYNFIRE info --list - --json --quiet <list | wc -l | grep -qx 2
printf 'my data/day 2.h5' >list
$SYNFIRE info --list=list --quiet | grep -q '^==> my data/day 2.h5 <==$'
: >list
expect 65 "list: no recording is named" "$SYNFIRE" info --list list
expect 66 "none: cannot open" "$SYNFIRE" info --list none --json
expect 64 "--jobs: found '0', expected a whole number from 1 to 4096" "$SYNFIRE" info small.csv --jobs 0
expect 64 "no recording is named" "$SYNFIRE" info --jobs 2
expect 64 "--csv: does not go with --json" "$SYNFIRE" info small.csv small.csv --csv --json

# Text: a heading before each; tables of CSV are one, with the recording before every row.
$SYNFIRE info small.csv 'my data/day 1.h5' 2>/dev/null >out
grep '^==>' out | tr '\n' ' ' | grep -qx '==> small.csv <== ==> my data/day 1.h5 <== '
$SYNFIRE info small.csv --jobs 1 --quiet | sed 1d | cmp - <($SYNFIRE info small.csv --quiet)
printf 'a,1\n' >'odd, name.csv'
$SYNFIRE info 'odd, name.csv' small.csv --csv --quiet >out
python3 - <<'END'
import csv
rows = list(csv.DictReader(open("out")))
assert [(r["recording"], r["name"], r["spikes"]) for r in rows] == [
    ("odd, name.csv", "a", "1"), ("small.csv", "a", "2"), ("small.csv", "b", "2"), ("small.csv", 'c,"d', "1")], rows
END

# One that is damaged is named, the others are done, and the exit code is that of the first that failed.
code=0; $SYNFIRE info bad.csv small.csv none.csv 'my data/day 1.h5' --json >out 2>err || code=$?
[ $code = 65 ]
grep -q '^synfire: info: bad.csv: line 2: expected' err
grep -q '^synfire: info: none.csv: cannot open' err
[ "$(tail -n 1 err)" = "synfire: info: 2 of 4 recordings failed: bad.csv, none.csv" ]
python3 - <<'END'
import json
lines = [json.loads(line) for line in open("out")]
assert [l["error"]["exit_code"] if "error" in l else l["spikes"] > 0 for l in lines] == [65, True, 66, True], lines
assert lines[0]["error"]["message"].startswith("line 2: expected"), lines[0]
END
code=0; $SYNFIRE info small.csv bad.csv >out 2>/dev/null || code=$?
[ $code = 65 ]
grep -q '^==> small.csv <==$' out
[ "$(grep -c '==>' out)" = 1 ]
# Each refuses options by itself; what needs no recording is refused once.
code=0; $SYNFIRE mine small.csv 'odd, name.csv' --delay x >out 2>err || code=$?
[ $code = 64 ]
[ "$(grep -c "^synfire: mine: .*: --delay: 'x' is not" err)" = 2 ]

# Files that are written: a name for each, and none over another or over what is read.
$SYNFIRE mine 'my data/day 1.h5' 'my data/day 2.h5' "${mine[@]}" --occurrences 'found {}.csv' --quiet >out
[ -s 'found day 1.csv' ]
[ -s 'found day 2.csv' ]
$SYNFIRE mine 'my data/day 2.h5' "${mine[@]}" --occurrences alone.csv >out
cmp alone.csv 'found day 2.csv'
expect 64 "--occurrences: found 'all.csv', expected {} in it" "$SYNFIRE" mine 'my data/day 1.h5' small.csv \
    "${mine[@]}" --occurrences all.csv
cp 'my data/day 1.h5' .
expect 64 "two recordings would write x-day 1.csv" "$SYNFIRE" mine 'my data/day 1.h5' 'day 1.h5' \
    "${mine[@]}" --occurrences 'x-{}.csv'
mv 'day 1.h5' 'x-day 3.h5'
expect 64 "would write over the input x-day 3.h5" "$SYNFIRE" graph 'my data/day 3.h5' 'x-day 3.h5' \
    "${mine[@]}" --out 'x-{}.h5'

# Wells of a plate: each is as it is alone, with a field or a column that names it, also among other recordings; those
# without spikes are passed over, and what is written has the well in its name.
python3 - <<'END'
rows = [(0.05 * i + 0.005 * k + 0.001 * w, f"{well}_{k + 1}{w + 1}")
        for w, well in enumerate(["A1", "A2", "B1"]) for i in range(60) for k in range(3)]
with open("plate.csv", "w") as out:
    out.write("Investigator,me,Time (s),Electrode,Amplitude(mV)\r\n")
    out.writelines(f",,{time:.4f},{electrode},0.1\r\n" for time, electrode in sorted(rows))
END
for well in A1 A2 B1; do $SYNFIRE mine plate.csv --stream $well "${mine[@]}" --json --quiet; done | results >alone
$SYNFIRE mine plate.csv --stream '*' "${mine[@]}" --json --quiet >out
results <out | cmp - alone
python3 - <<'END'
import json
lines = [json.loads(line) for line in open("out")]
assert [line["provenance"]["selection"]["stream"] for line in lines] == ["A1", "A2", "B1"]
assert all(line["episodes"] for line in lines) and "--stream A2" in lines[1]["provenance"]["command"]
END
$SYNFIRE mine plate.csv --stream 'A*' "${mine[@]}" --json --quiet | results | cmp - <(head -n 2 alone)
$SYNFIRE info plate.csv small.csv --stream '*' --csv 2>err >out
python3 - <<'END'
import csv
rows = list(csv.DictReader(open("out")))
assert list(rows[0])[:2] == ["recording", "stream"] and {r["recording"] for r in rows} == {"plate.csv", "small.csv"}
assert sorted({(r["recording"], r["stream"]) for r in rows}) == [
    ("plate.csv", "A1"), ("plate.csv", "A2"), ("plate.csv", "B1"), ("small.csv", "")], rows[0]
END
grep -q '^synfire: info: plate.csv: A2: done after' err
$SYNFIRE mine plate.csv --stream '*' "${mine[@]}" --occurrences 'of {}.csv' --quiet | grep -q '^==> plate.csv: B1 <==$'
[ -s 'of plate-A1.csv' ]
[ -s 'of plate-B1.csv' ]
$SYNFIRE plot raster plate.csv small.csv --stream '*' -o '{}.svg' --quiet >out
grep -q '>B1_' plate-B1.svg
grep -q '>A2_' plate-A2.svg
[ -s plate-A1.svg ]
[ -s small.svg ]
$SYNFIRE plot raster plate.csv --stream A2 -o alone.svg --quiet >out
cmp alone.svg plate-A2.svg
expect 64 "{}" "$SYNFIRE" plot raster plate.csv small.csv --stream '*' -o one.svg --quiet
$SYNFIRE plot raster plate.csv --stream B1 -o 'one {}.svg' --quiet >out # and where one is chosen
[ -s 'one plate-B1.svg' ]
$SYNFIRE report plate.csv --stream '*1' -o '{}.html' --quiet >out
grep -q 'plate.csv: A1' plate-A1.html
grep -q 'plate.csv: B1' plate-B1.html
[ ! -e plate-A2.html ]
expect 64 "none of the 0 of plate.csv that match 'C*' has spikes" "$SYNFIRE" info plate.csv --stream 'C*'
code=0; $SYNFIRE info none.csv --stream '*' 2>err || code=$?
[ $code = 66 ]
grep -q '^synfire: info: none.csv: cannot open' err
# By every command: each well is as it is alone.
while read -r -a words; do
    untimed='s/"teps":[^,}]*//'
    for well in A1 A2 B1; do $SYNFIRE "${words[0]}" plate.csv "${words[@]:1}" --stream $well --json --quiet; done |
        results | sed "$untimed" >alone
    $SYNFIRE "${words[0]}" plate.csv "${words[@]:1}" --stream '*' --json --quiet | results | sed "$untimed" | cmp - alone
    [ "$(wc -l <alone)" = 3 ]
    [ "${words[0]}" = match ] || [ "$(sort -u alone | wc -l)" = 3 ]
done <<'END'
graph --delay 4:6 --min-count 2
graph --metric sttc --surrogates 5
bandwidth --quantity isi
density --quantity isi --units #0
aggregate --quantity rate --window 0.04 --units #1 --range 5:35
bfs --delay 4:6 --min-count 2 --source #0
match --delay 4:6 --min-count 2 feed-forward-loop
END
$SYNFIRE density plate.csv --stream '*' --quantity isi --csv --quiet --grid 0.01:0.1:300 >out
[ "$(head -1 out)" = "recording,stream,unit,name,x,density_per_ln_s" ]
[ "$(cut -d, -f2,3 out | sort -u | wc -l)" = 10 ]
if has_data recordings/probeinterface_maxtwo_data.raw.h5; then
    maxtwo=$SYNFIRE_DATA/recordings/probeinterface_maxtwo_data.raw.h5
    for well in 0 1 2 3 4 5; do
        for part in 0 1; do $SYNFIRE info "$maxtwo" --stream well00$well/rec000$part --json --quiet; done
    done | results >alone
    $SYNFIRE info "$maxtwo" --stream '*' --json --quiet | results | cmp - alone
    [ "$(wc -l <alone)" = 12 ]
fi

# Every command that takes a recording: what is before its last arguments are recordings.
printf 'A -(4,6]-> B\n' >chains
$SYNFIRE match 'my data/day 1.h5' 'my data/day 2.h5' feed-forward-loop "${mine[@]}" --count --json --quiet >out
for i in 1 2; do $SYNFIRE match "my data/day $i.h5" feed-forward-loop "${mine[@]}" --count --json; done | results >alone
results <out | cmp - alone
expect 64 "an argument is missing: expected \`synfire match DATA... PATTERN" "$SYNFIRE" match --list chains
while read -r command options; do
    eval "$SYNFIRE $command 'my data/day 1.h5' small.csv $options --json --quiet" >out 2>err || :
    [ "$(wc -l <out)" = 2 ] || { echo "$command: $(cat out err)"; exit 1; }
done <<'END'
count --episodes chains
graph --delay 4:6
bfs --delay 4:6 --source '#0'
bandwidth --quantity isi --units '#0'
density --quantity isi --units '#0'
END
$SYNFIRE aggregate 'my data/day 1.h5' 'my data/day 2.h5' --quantity isi --units "#0" --range 0:1 --json --quiet |
    wc -l | grep -qx 2
expect 64 "is one argument too many" "$SYNFIRE" play small.csv small.csv

# Stopped: those at work end and no further one begins. A process that dies is one failure, with its line.
cat >slow.py <<'END'
import os, signal, subprocess, sys, time
program, how = sys.argv[1], sys.argv[2]
os.mkfifo("pipe")
run = subprocess.Popen([program, "info", "pipe", "small.csv", "small.csv", "--jobs", "1", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
children = f"/proc/{run.pid}/task/{run.pid}/children"
while not (child := open(children).read().split()):
    time.sleep(0.01)
time.sleep(0.1)  # until it waits for the pipe; where it does not yet, it ends all the same
os.kill(run.pid if how == "stop" else int(child[0]), signal.SIGTERM if how == "stop" else signal.SIGKILL)
if how == "stop":  # a pipe that nobody writes is opened by the reader only once there is a writer
    os.close(os.open("pipe", os.O_RDWR))
out, err = run.communicate(timeout=120)
os.unlink("pipe")
print(run.returncode, len(out.splitlines()), err.decode().splitlines()[-1])
END
python3 slow.py "$SYNFIRE" kill >out
grep -q '^70 3 synfire: info: 1 of 3 recordings failed: pipe$' out || { cat out; exit 1; }
python3 slow.py "$SYNFIRE" stop >out
grep -q '^143 [01] synfire: info: stopped after [01] of 3$' out || { cat out; exit 1; }
