# SPDX-License-Identifier: Apache-2.0
# The long run of bench/soak, made short: restarts, lost and broken frames, reloads, marks and a subscriber that stalls, and
# all that was sent is accounted for.
. "$E2E/functions.sh"
need_python

"$SYNFIRE_PYTHON" -B "$SYNFIRE_SOURCE/bench/soak" "$SYNFIRE" soak --minutes 4 --minute 2.5 --rate 50000 --short >out ||
    { cat out soak/log; exit 1; }
grep -q '^all that was sent is accounted for$' out
grep -q '^ *4 ' out # a line a minute
