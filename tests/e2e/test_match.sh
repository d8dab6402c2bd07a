# SPDX-License-Identifier: Apache-2.0
# Known counts by the command, patterns from files and from the command line, and what must be refused.
. "$E2E/functions.sh"
data=$SYNFIRE_DATA/subgraph
[ -d "$data" ] || exit 77
count() { # expected, arguments
    local expected=$1 found
    shift
    found=$($SYNFIRE match "$@" --json | sed 's/.*"count":\([0-9]*\),.*/\1/')
    [ "$found" = "$expected" ] || { echo "found $found, expected $expected: $*"; return 1; }
}
for query in 1 2 8 26 38; do
    expected=$(sed -n "s/^query_dense_16_$query://p" "$data/hprd/expected.txt")
    count "$expected" "$data/hprd/HPRD.graph" "$data/hprd/query/query_dense_16_$query.graph"
done
worm=$data/celegans/celegans_chem.edges
count 14324 "$worm" 'A -> B; B -> C; A -> C' --count
count 2965 "$worm" 'A -> B; B -> C; A -> C' --induced --count --threads 2
count 2965 "$worm" 030T --distinct
count 14324 "$worm" 'A -> B; B -> C; A -> C' --count --engine gvsm
cat >loop.motif <<'END'
# feed-forward loops without an edge back
ffl(x, y, z) { x -> y; y -> z; x -> z }
ffl(A, B, C)
C !> A
C !> B
B !> A
END
count 2965 "$worm" loop.motif
count 10 "$data/toys/5_ring.graph" "$data/toys/5_ring.graph"
count 1 "$data/toys/5_ring.graph" "$data/toys/5_ring.graph" --distinct
count 5 "$data/toys/5_ring.graph" "$data/toys/5_ring.graph" --limit 5

$SYNFIRE match "$worm" 'A -> B; B -> C; A -> C' --json --explain >out 2>err
python3 - <<'END'
import json
found = json.load(open("out"))
assert list(found) == ["count", "truncated", "seconds", "order", "blacklisted", "embeddings"], found
assert found["count"] == 14324 and not found["truncated"] and sorted(found["order"]) == [0, 1, 2]
rows = found["embeddings"]
assert len(rows) == 1000 and len({tuple(row) for row in rows}) == 1000 and all(len(set(row)) == 3 for row in rows)
END
grep -q "after pruning" err
printf '0 1 5\n1 2 12\n2 0 3\n' >cycle.el
count 3 cycle.el 'A -> B; B -> C; C -> A'
count 1 cycle.el 'A -> B; B -> C; C -> A; A === B; B === C'
count 1 cycle.el 'A -> B [weight > 4]; B -> C [weight >= 12]'
count 3 cycle.el 'A -> B' --semantics homomorphism
$SYNFIRE motif cycle.el 'X -> Y [weight = 12]' | grep -q '^1 embeddings'

expect 65 "pattern:1:8" $SYNFIRE match cycle.el 'A -> B C'
printf 'A -> B\nA ->\n' >bad.motif
expect 65 "bad.motif:2:5" $SYNFIRE match cycle.el bad.motif
expect 66 "no-such" $SYNFIRE match no-such.el 'A -> B'
expect 66 "no-such.graph" $SYNFIRE match cycle.el no-such.graph
expect 64 "rate" $SYNFIRE match cycle.el 'A -> B; A.rate > 1'
expect 64 "isomorphism or" $SYNFIRE match cycle.el 'A -> B' --semantics epimorphism
expect 64 "--induced" $SYNFIRE match cycle.el 'A -> B' --semantics homomorphism --induced
expect 64 "quantum" $SYNFIRE match cycle.el 'A -> B' --engine quantum
