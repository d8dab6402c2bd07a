# SPDX-License-Identifier: Apache-2.0
# bench/rig-hours for a few seconds: each kind of rig, its captures again and again, all accounted for.
. "$E2E/functions.sh"
need_python
has_data cases/rigs/replay.py || exit 0
"$SYNFIRE_PYTHON" -B "$SYNFIRE_SOURCE/bench/rig-hours" "$SYNFIRE" "$SYNFIRE_DATA/cases/rigs" rigs --rigs 4 --minutes 0.1 --speed 8 >hours ||
    { cat hours; exit 1; }
grep -q "rig-hours at 8 times real time: \([0-9]*\) spikes sent, \1 recorded" hours
