# SPDX-License-Identifier: Apache-2.0
# NeuroExplorer files of every type of variable: .nex as Neo has them, .nex5 as a reader in Python has them; refusals.
. "$E2E/functions.sh"
need_python
"$SYNFIRE_PYTHON" -B "$E2E/nex.py" compare || { [ $? = 77 ] && echo "skipped: no Python module neo, which reads .nex"; }

$SYNFIRE info all.nex >told 2>&1
grep -q "waveforms: 3 variables are left out: their spikes are those of others" told
grep -q "left_out: 1 continuous variable (FP01); 1 population vector (pop)" told
$SYNFIRE info all.nex --json --quiet >out
check 'assert out["format"] == "NeuroExplorer .nex, version 106" and out["unit_detail"][1]["kind"] == "multi-unit"'

head -c 900 all.nex >cut.nex
expect 65 "it was cut off" "$SYNFIRE" info cut.nex
head -c 6000 all.nex >cut.nex
expect 65 "it was cut off, or its header is wrong; export it from NeuroExplorer again" "$SYNFIRE" info cut.nex
expect 64 "there are no sessions to choose" "$SYNFIRE" info all.nex --stream session1
$SYNFIRE info all.nex --rate 20000 --json --quiet >out # a clock of half the rate
check 'assert out["duration_s"] == 205'
expect 73 "which is not replaced" "$SYNFIRE" simulate all.nex --unit-count 2 --rate 1 --duration 1
