# SPDX-License-Identifier: Apache-2.0
# Ctrl-C keeps what is done, and every form of a result says that it is cut.
. "$E2E/functions.sh"
"$SYNFIRE" simulate busy.h5 --unit-count 30 --rate 40 --duration 60 --seed 3 --quiet >/dev/null

at() { # at WORDS COMMAND...: SIGINT when the progress bar says so
    local code=0
    python3 -B "$E2E/interrupt.py" "$@" || code=$?
    [ $code = 130 ] || { echo "exit code $code"; cat err; return 1; }
}
long=("$SYNFIRE" mine busy.h5 --delay 1:100 --min-count 40 --max-size 12)
said='synfire: mine: stopped: of more than [12] units\? these are not all episodes, and none is tested'

searching='\] +[0-9.e-]*[1-9][0-9.e-]* %.* left' # so early a bar says how far it is, and that it will take long
at "$searching" "${long[@]}" --top 50 --json
grep -q "^$said" err
check "
assert out['stopped'] == 'searching'
sizes = [l['size'] for l in out['levels'] if l['complete']]
assert sizes == list(range(1, len(sizes) + 1)) and len(sizes) < 12
assert all(l['candidates'] is None for l in out['levels'][len(sizes) + 1:])
assert 'the search was stopped' in out['methods']
"
at "$searching" "${long[@]}" --top 50 --csv
head -1 out | grep -q '^# stopped: of more than'
sed -n 2p out | grep -q '^id,'
at "$searching" "${long[@]}" --occurrences o.h5
grep -q "^stopped: of more than" out
grep -q "o.h5 is not written: stopped before" err
[ ! -e o.h5 ]

# All episodes without the test.
short=("$SYNFIRE" mine busy.h5 --delay 4:6 --min-count 20 --max-size 2)
"${short[@]}" --json >whole.json
at 'shifting trains \[' "${short[@]}" --significance segment-shift --surrogates 1000000 --json
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
at 'counting windows \[.* [1-9][0-9]? %' "$SYNFIRE" count busy.h5 --episodes '#0 -(1,50]-> #1 -(1,50]-> #2 -(1,50]-> #3' --window 30 --hop 0.0001 --json
check "
assert out['stopped'] == 'telling' and out['episodes'][0]['count'] > 0
assert len(out['windows']) < 300000 and not any(w['partial'] for w in out['windows'])
"

# Graphs: edges without the test, or by fewer surrogates; what has a file is not written.
pairs=("$SYNFIRE" graph busy.h5 --delay 4:6 --min-count 20)
"${pairs[@]}" --out whole.graphml --json >whole.json
at 'shifting trains \[' "${pairs[@]}" --significance segment-shift --surrogates 1000000 --max-q 0.05 --out g.graphml --json
grep -q "g.graphml is not written: stopped before" err
grep -q "synfire: graph: stopped: all edges are here, and none is tested" err
[ ! -e g.graphml ]
check "
whole = json.load(open('whole.json'))
assert out['stopped'] == 'testing' and whole['stopped'] is None and out['edges_tested'] == 'untested'
assert [(e['from'], e['to'], e['count'], e['q']) for e in out['edge_detail']] == \\
    [(e['from'], e['to'], e['count'], None) for e in whole['edge_detail']]
"
at 'surrogates \[' "$SYNFIRE" graph busy.h5 --metric sttc --surrogates 1000000
sed -n 2p out | grep -Eq '^stopped after [0-9]+ of 1000000 surrogates$'

# Searches: levels or searches that are complete; matches so far; counts beside the rewired graphs there were.
at 'searching \[' "$SYNFIRE" bfs --kronecker 14:16:1 --source '#6' --repeat 1000000 --out levels --json
"$SYNFIRE" bfs --kronecker 14:16:1 --source '#6' --json >whole.json
[ ! -e levels ]
check "
whole = json.load(open('whole.json'))
assert out['stopped'] == 'searching' and whole['stopped'] is None
assert out['level_sizes'] == whole['level_sizes'] and out['searches'][0]['no_paths'] == whole['searches'][0]['no_paths']
"
at 'matching \[' "$SYNFIRE" match whole.graphml chain-8 --limit 100000000000000 --count --json
check "assert out['stopped'] == 'searching' and out['truncated'] and out['count'] > 0 and out['rewired'] is None"
at 'rewired graphs \[' "$SYNFIRE" match whole.graphml census --rewired 1000000 --csv
head -1 out | grep -Eq '^# stopped after [0-9]+ of 1000000 rewired graphs$'
at 'rewired graphs \[' "$SYNFIRE" match whole.graphml chain-3 --rewired 1000000 --json
"$SYNFIRE" match whole.graphml chain-3 --json >whole.json
check "
whole = json.load(open('whole.json'))
assert out['stopped'] == 'testing' and out['count'] == whole['count'] and out['embeddings'] == whole['embeddings']
assert 0 < out['rewired']['graphs'] < 1000000
"

# Rules by the shifts there were, and no file; bandwidths of the units that are done. There are no more shifts than windows:
# as many as take no machine less than the second after which a bar is drawn.
for ((i = 0; i < 30; i++)); do echo "$((2 * i)),$((2 * i + 2)),$((i % 2))"; done >labels.txt
at 'shifts \[' "$SYNFIRE" rules busy.h5 --labels labels.txt --window 0.003 --threads 1 --delay 4:6 --min-count 20 --max-size 2 \
    --shifts 1000000 --rule rule.json --json
[ ! -e rule.json ]
check "assert out['stopped'] == 'testing' and out['chance']['shifts'] < 1000000 and out['accuracy'] > 0"
at 'shifting trains \[' "$SYNFIRE" count busy.h5 --episodes '#0 -(4,6]-> #1' --significance segment-shift --surrogates 1000000 --json
check "assert out['stopped'] == 'testing' and out['episodes'][0]['count'] > 0 and out['episodes'][0]['q'] is None"
