# SPDX-License-Identifier: Apache-2.0
# The same spikes through every layout that is written give the same episodes, counts and chances; what a layout has no
# place for is told; a recording that is there stays.
. "$E2E/functions.sh"
$SYNFIRE simulate sim.h5 --preset sym26 --seed 5 --duration 20 --marker-every 10 >/dev/null
mine="--delay 4:6 --min-count 20 --max-size 4"
$SYNFIRE mine sim.h5 $mine --json >expected.json
for layout in synfire nwb carmen csv; do
    "$SYNFIRE" convert sim.h5 "as.$layout" --layout "$layout" >told
    "$SYNFIRE" mine "as.$layout" $mine --json >mined.json
    python3 - "$layout" <<'END'
import json, sys
expected, found = json.load(open("expected.json")), json.load(open("mined.json"))
assert len(expected["episodes"]) > 10 and len(expected["episodes"]) == len(found["episodes"])
for one, other in zip(expected["episodes"], found["episodes"]):
    if sys.argv[1] == "csv": # has no recorded time but that of its spikes, so what chance gives is another by a little
        one, other = ({key: episode[key] for key in ("names", "delays_ms", "count")} for episode in (one, other))
    assert one == other, (sys.argv[1], one, other)
END
done
grep -q "3 markers" told # the last was CSV
$SYNFIRE convert sim.h5 by-name.nwb >told
grep -q "by-name.nwb: nwb, 26 units" told
expect 73 "a recording, which is not replaced" "$SYNFIRE" convert sim.h5 by-name.nwb
expect 64 "its name does not say a layout" "$SYNFIRE" convert sim.h5 out.dat
expect 64 "found 'phy', expected synfire" "$SYNFIRE" convert sim.h5 out.h5 --layout phy
expect 64 "is the recording itself" "$SYNFIRE" convert sim.h5 sim.h5
$SYNFIRE convert sim.h5 part.csv --units A,B --from 1 --to 2 >/dev/null
[ "$(cut -d, -f1 part.csv | sort -u | tr '\n' ' ')" = '"A" "B" unit ' ]

# Several recordings go each into its own file, told in a line each; one damaged ends no other.
cp sim.h5 other.h5
printf 'nothing\n' >broken.h5
printf 'other.h5\nbroken.h5\n' >list
status=0
$SYNFIRE convert sim.h5 --list list 'all-{}.nwb' --json --quiet >lines 2>/dev/null || status=$?
[ $status != 0 ]
[ -e all-sim.nwb ]
[ -e all-other.nwb ]
[ ! -e all-broken.nwb ]
python3 - <<'END'
import json
lines = [json.loads(line) for line in open("lines")]
assert len(lines) == 3 and [line.get("file") for line in lines] == ["all-sim.nwb", "all-other.nwb", None], lines
END
expect 64 "expected {} in it" "$SYNFIRE" convert sim.h5 other.h5 same.nwb
# Names that a spreadsheet would compute: inert in CSV, and themselves again when read.
printf '%s\n' unit,seconds "=cmd|' /C calc'!A0,0.1" "@x,0.2" "'=y,0.3" "-5,0.4" "''z,0.5" >names.csv
$SYNFIRE convert names.csv inert.csv >/dev/null
$SYNFIRE convert inert.csv again.csv >/dev/null
cmp inert.csv again.csv
[ "$(tail -n +2 inert.csv | cut -d, -f1 | tr '\n' ' ')" = "\"'=cmd|' /C calc'!A0\" \"'@x\" \"'=y\" \"-5\" \"''z\" " ]
[ "$($SYNFIRE info names.csv --csv)" = "$($SYNFIRE info inert.csv --csv)" ]
