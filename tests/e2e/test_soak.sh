# SPDX-License-Identifier: Apache-2.0
# The long run of bench/soak, made short: 23 kinds of trouble of a sender, of the way and of others, and all that was sent is
# accounted for, nothing decided after a disarm was answered.
. "$E2E/functions.sh"
need_python

"$SYNFIRE_PYTHON" -B "$SYNFIRE_SOURCE/bench/soak" "$SYNFIRE" soak --minutes 4 --minute 2.5 --rate 50000 \
    --guessers 20 --subscriptions 2000 --short >out ||
    { cat out soak/log; exit 1; }
grep -q '^all that was sent is accounted for$' out
grep -q '^ *4 ' out # a line a minute
