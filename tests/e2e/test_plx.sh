# SPDX-License-Identifier: Apache-2.0
# Plexon files of each version, by a writer of its own: spikes, units, markers and intervals are what was written, and what
# Neo reads where it is installed; refusals.
. "$E2E/functions.sh"
need_python
"$SYNFIRE_PYTHON" -B -W ignore "$E2E/plx.py" compare || { [ $? = 77 ] && echo "Neo is not installed: what it reads is not compared"; }

$SYNFIRE info tetrode.plx >told 2>&1
grep -q "wires: 11 trains are left out: their spikes are those of another wire of the tetrode" told
head -c 100000 v106.plx >cut.plx
$SYNFIRE info cut.plx >told 2>&1
grep -q "recorded up to where the file was cut: the last [0-9]* bytes are no whole block and are left out" told
head -c 9000 v106.plx >cut.plx
expect 65 "it was cut off, or its header is wrong; export it from Plexon's programs again" "$SYNFIRE" info cut.plx
printf '\1\2\3\4 closed' >closed.pl2
expect 65 "its layout is not published; export it as .plx from Offline Sorter or PlexUtil, or as .nex5" "$SYNFIRE" info closed.pl2
$SYNFIRE info v100.plx --rate 20000 --json --quiet >out # a clock of half the rate
$SYNFIRE info v100.plx --json --quiet >whole
"$SYNFIRE_PYTHON" -c 'import json; assert json.load(open("out"))["duration_s"] == 2 * json.load(open("whole"))["duration_s"]'
expect 73 "which is not replaced" "$SYNFIRE" simulate v106.plx --unit-count 2 --rate 1 --duration 1
