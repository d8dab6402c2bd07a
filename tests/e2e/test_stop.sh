# SPDX-License-Identifier: Apache-2.0
# Ctrl-C keeps what is done, and every form of a result says that it is cut.
. "$E2E/functions.sh"
"$SYNFIRE" simulate busy.h5 --unit-count 30 --rate 40 --duration 60 --seed 3 --quiet >/dev/null

stop() { # stop SECONDS COMMAND...: SIGINT so long after the command can take one
    local pid code=0 after=$1 caught
    shift
    "$@" >out 2>err &
    pid=$!
    for ((;;)); do
        caught=$(sed -n 's/^SigCgt:.*\(.\)$/\1/p' /proc/$pid/status)
        (((0x$caught & 2) != 0)) && break
        sleep 0.05
    done
    sleep "$after"
    kill -INT $pid
    wait $pid || code=$?
    [ $code = 130 ] || { echo "exit code $code"; cat err; return 1; }
}
long=("$SYNFIRE" mine busy.h5 --delay 1:100 --min-count 40 --max-size 12)
said='synfire: mine: stopped: of more than [12] units\? these are not all episodes, and none is tested'

stop 1 "${long[@]}" --top 50 --json
grep -q "^$said" err
check "
assert out['stopped'] == 'searching'
sizes = [l['size'] for l in out['levels'] if l['complete']]
assert sizes == list(range(1, len(sizes) + 1)) and len(sizes) < 12
assert all(l['candidates'] is None for l in out['levels'][len(sizes) + 1:])
assert 'the search was stopped' in out['methods']
"
stop 0.5 "${long[@]}" --top 50 --csv
head -1 out | grep -q '^# stopped: of more than'
sed -n 2p out | grep -q '^id,'
stop 0.5 "${long[@]}" --occurrences o.h5
grep -q "^stopped: of more than" out
grep -q "o.h5 is not written: stopped before" err
[ ! -e o.h5 ]

# All episodes without the test.
short=("$SYNFIRE" mine busy.h5 --delay 4:6 --min-count 20 --max-size 2)
"${short[@]}" --json >whole.json
stop 1 "${short[@]}" --significance segment-shift --surrogates 1000000 --json
grep -q "synfire: mine: stopped: all episodes are here, and none is tested" err
check "
whole = json.load(open('whole.json'))
assert out['stopped'] == 'testing' and whole['stopped'] is None
key = lambda e: (e['id'], e['count'])
assert sorted(map(key, out['episodes'])) == sorted(map(key, whole['episodes']))
assert all(e['p'] is None and e['q'] is None for e in out['episodes'])
assert all(l['complete'] for l in out['levels'])
"

# Windows until then.
stop 0.5 "$SYNFIRE" count busy.h5 --episodes '#0 -(1,50]-> #1 -(1,50]-> #2 -(1,50]-> #3' --window 30 --hop 0.0001 --json
check "
assert out['stopped'] == 'telling' and out['episodes'][0]['count'] > 0
assert len(out['windows']) < 300000 and not any(w['partial'] for w in out['windows'])
"
