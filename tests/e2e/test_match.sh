# SPDX-License-Identifier: Apache-2.0
# Known counts by the command, patterns from files and from the command line, and what must be refused.
. "$E2E/functions.sh"
karate=$SYNFIRE_SOURCE/tests/data/karate.mtx
count() { # expected, arguments
    local expected=$1 found
    shift
    found=$($SYNFIRE match "$@" --json | sed 's/.*"count":\([0-9]*\),.*/\1/')
    [ "$found" = "$expected" ] || { echo "found $found, expected $expected: $*"; return 1; }
}
printf '0 1 5\n1 2 12\n2 0 3\n' >cycle.el
count 3 cycle.el 'A -> B; B -> C; C -> A'
count 1 cycle.el 'A -> B; B -> C; C -> A; A === B; B === C'
count 1 cycle.el 'A -> B [weight > 4]; B -> C [weight >= 12]'
count 3 cycle.el 'A -> B' --semantics homomorphism
# --directed is for .graph files, which do not say; a symmetric matrix joins its vertices both ways.
printf '%%%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n' >both.mtx
printf 't 2 1\nv 0 0\nv 1 0\ne 0 1\n' >edge.graph
count 2 both.mtx 'A -> B' --directed
count 1 edge.graph 'A -> B' --directed
count 2 edge.graph 'A -> B'
$SYNFIRE motif cycle.el 'X -> Y [weight = 12]' | grep -q '^1 embeddings'

# The club has 45 triangles, each found six times, and patterns by name.
count 270 "$karate" 'A -> B; B -> C; A -> C'
count 45 "$karate" 'A -> B; B -> C; C -> A; A -> C; C -> B; B -> A' --distinct
count 5 "$karate" 'A -> B; B -> C; A -> C' --limit 5
printf 't 5 5\nv 0 0\nv 1 0\nv 2 0\nv 3 0\nv 4 0\ne 0 1\ne 0 4\ne 1 2\ne 2 3\ne 3 4\n' >ring.graph
count 10 ring.graph ring.graph
count 1 ring.graph ring.graph --distinct
count 10 ring.graph ring.graph --engine gvsm

# A recording stands for its connectivity graph; --engine stays that of matching.
$SYNFIRE simulate sim.h5 --unit-count 10 --rate 5 --duration 120 --chain "#0 -(4,6]-> #3 -(4,6]-> #7" --chain-rate 3 \
    --seed 3 --quiet >/dev/null
$SYNFIRE graph sim.h5 --delay 4:6,8:12 --min-count 40 --out sim.graphml >/dev/null
for pattern in feed-forward-loop chain-3 'A -> B [weight > 100, delay <= 6]' 'A -> B; A.rate > B.rate; A.x_um < B.x_um' census; do
    $SYNFIRE match sim.graphml "$pattern" --json | results >of_file
    $SYNFIRE match sim.h5 "$pattern" --delay 4:6,8:12 --min-count 40 --json | results | cmp of_file -
done
$SYNFIRE match sim.h5 chain-3 --delay 4:6 --min-count 40 --engine gvsm --json | grep -q '"count":[1-9]'
$SYNFIRE match sim.h5 converging-2 --metric sttc --surrogates 20 --seed 2 --json | grep -q '"count":[1-9]'

expect 64 "--rewired" $SYNFIRE match cycle.el 'A -> B' --rewired 20 --limit 2
expect 64 "--rewired" $SYNFIRE match cycle.el 'A -> B' --rewired 1
expect 64 "synfire: match: --distinct: does not go with census" $SYNFIRE match cycle.el census --distinct
expect 64 "for recordings" $SYNFIRE match cycle.el 'A -> B' --delay 4:6
expect 65 "pattern:1:8" $SYNFIRE match cycle.el 'A -> B C'
printf 'A -> B\nA ->\n' >bad.motif
expect 65 "bad.motif:2:5" $SYNFIRE match cycle.el bad.motif
expect 66 "no-such" $SYNFIRE match no-such.el 'A -> B'
expect 66 "no-such.graph" $SYNFIRE match cycle.el no-such.graph
expect 64 "rate" $SYNFIRE match cycle.el 'A -> B; A.rate > 1'
expect 64 "one of isomorphism, induced, homomorphism" $SYNFIRE match cycle.el 'A -> B' --semantics epimorphism
expect 64 "--induced" $SYNFIRE match cycle.el 'A -> B' --semantics homomorphism --induced
expect 64 "expected auto, cpu, cuda" $SYNFIRE match cycle.el 'A -> B' --device abacus
expect 64 "quantum" $SYNFIRE match cycle.el 'A -> B' --engine quantum
expect 64 "features: goes with --engine gvsm" $SYNFIRE match cycle.el 'A -> B' --features order
expect 64 "slots: goes with --engine gvsm" $SYNFIRE match cycle.el 'A -> B' --slots 2
expect 64 "threshold: goes with --engine gvsm" $SYNFIRE match cycle.el 'A -> B' --threshold 100
expect 64 "slots: goes with the feature pipeline" $SYNFIRE match cycle.el 'A -> B' --engine gvsm --features order --slots 2
expect 64 "threshold: goes with the feature stay" $SYNFIRE match cycle.el 'A -> B' --engine gvsm --features none --threshold 9
expect 64 "slots" $SYNFIRE match cycle.el 'A -> B' --engine gvsm --slots 4
expect 64 "found 'speed', expected one of blacklist, implication," $SYNFIRE match cycle.el 'A -> B' --engine gvsm --features order,speed

# Known counts in the graphs of real data.
has_data subgraph || exit 0
data=$SYNFIRE_DATA/subgraph
for query in 1 2 8 26 38; do
    expected=$(sed -n "s/^query_dense_16_$query://p" "$data/hprd/expected.txt")
    count "$expected" "$data/hprd/HPRD.graph" "$data/hprd/query/query_dense_16_$query.graph"
done
worm=$data/celegans/celegans_chem.edges
count 14324 "$worm" 'A -> B; B -> C; A -> C' --count
count 2965 "$worm" 'A -> B; B -> C; A -> C' --induced --count --threads 2
count 2965 "$worm" 030T --distinct
count 14324 "$worm" 'A -> B; B -> C; A -> C' --count --engine gvsm
# Techniques of gvsm by name: the same count, and what a technique saves is saved by it alone.
count 14324 "$worm" 'A -> B; B -> C; A -> C' --count --engine gvsm --features none
count 14324 "$worm" 'A -> B; B -> C; A -> C' --count --engine gvsm --slots 1 --threshold 1000
$SYNFIRE match "$worm" 'A -> B; B -> C; A -> C' --count --engine gvsm --features none --explain >none
$SYNFIRE match "$worm" 'A -> B; B -> C; A -> C' --count --engine gvsm --features twins --explain >twins
grep -q "share the branch of a twin" twins
must_fail grep -q "share the branch of a twin" none
count 14324 "$worm" 'A -> B; B -> C; A -> C' --count --device cpu
$SYNFIRE match "$worm" 'A -> B; B -> C; A -> C' --device cpu --count --explain | grep -q '^on cpu: as asked for$'
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
assert list(found)[:6] == ["count", "truncated", "seconds", "order", "blacklisted", "embeddings"], found
assert found["listed"] == 1000 and found["names"] is None
assert found["count"] == 14324 and not found["truncated"] and sorted(found["order"]) == [0, 1, 2]
rows = found["embeddings"]
assert len(rows) == 1000 and len({tuple(row) for row in rows}) == 1000 and all(len(set(row)) == 3 for row in rows)
END
grep -q "after pruning" err
# --limit lists as many as it allows, the same first ones.
cp out first
for limit in 5 5000 20000; do
    $SYNFIRE match "$worm" 'A -> B; B -> C; A -> C' --json --limit $limit >out
    LIMIT=$limit python3 - <<'END'
import json, os
limit, first, found = int(os.environ["LIMIT"]), json.load(open("first")), json.load(open("out"))
expected = min(limit, 14324)
assert found["count"] == found["listed"] == len(found["embeddings"]) == expected, found["count"]
assert found["truncated"] == (limit < 14324) and len({tuple(row) for row in found["embeddings"]}) == expected
assert found["embeddings"][:1000] == first["embeddings"][:limit]
END
done
$SYNFIRE match "$worm" 'A -> B; B -> C; A -> C' --limit 1000000000000 | grep -q '^14324 embeddings'
$SYNFIRE match "$worm" 'A -> B; B -> C; A -> C' | grep -q '^1000 of 14324 embeddings are listed: --limit N lists N'

# Patterns by name, the census and its identity, and counts beside those of rewired graphs.
count 14324 "$worm" feed-forward-loop --count
count 672 "$worm" reciprocal-pair --count
$SYNFIRE match "$worm" census --json >census
$SYNFIRE match "$worm" census --json --rewired 20 --seed 3 --threads 1 >one
$SYNFIRE match "$worm" census --json --rewired 20 --seed 3 --threads 2 >two
$SYNFIRE match "$worm" feed-forward-loop --count --rewired 20 --seed 3 --json >loops
python3 - <<'END'
import json
triads = {t["name"]: t["count"] for t in json.load(open("census"))["triads"]}
assert len(triads) == 16 and sum(triads.values()) == 419 * 418 * 417 // 6
assert 14324 == (triads["030T"] + 2 * triads["120D"] + 2 * triads["120U"] + triads["120C"] + 3 * triads["210"]
                 + 6 * triads["300"])
one, two = json.load(open("one")), json.load(open("two"))
assert one["triads"] == two["triads"] and one["rewired"]["graphs"] == 20
mean = {t["name"]: t["mean"] for t in one["triads"]}
loops = json.load(open("loops"))
expected = (mean["030T"] + 2 * mean["120D"] + 2 * mean["120U"] + mean["120C"] + 3 * mean["210"] + 6 * mean["300"])
assert abs(loops["rewired"]["mean"] - expected) < 1e-6 * expected, "the same graphs give the same loops"
assert abs(loops["rewired"]["z"] - (14324 - loops["rewired"]["mean"]) / loops["rewired"]["sd"]) < 1e-9
assert loops["rewired"]["z"] > 50
END
$SYNFIRE match "$worm" census --rewired 5 | grep -q '^300 *A<->B B<->C A<->C  *273 '

# All numberings of patterns without gvsm's order are all its orders: the best is no worse than what it chooses, and all find
# the same.
if [ -z "$SYNFIRE_SANITIZE" ]; then
    $SYNFIRE bench match orders --json >out
    python3 - <<'END'
import json
*rows, every = json.load(open("out"))
assert len(rows) == 24 and every["work"] == "all patterns" and every["numberings"] == 24 * 120, every
for row in rows:
    assert row["numberings"] == 120 and 0 < row["tried_best"] <= row["tried_worst"] and row["embeddings"] > 0, row
    assert row["chosen_is_best"] == (row["tried_chosen"] <= row["tried_best"]), row
    assert row["within_a_tenth"] == (row["tried_chosen"] <= 1.1 * row["tried_best"]), row
    assert abs(row["worst_over_best"] - row["tried_worst"] / row["tried_best"]) < 1e-9, row
for key in ("tried_chosen", "tried_best", "tried_worst", "embeddings"):
    assert every[key] == sum(row[key] for row in rows), key
assert every["tried_worst"] > every["tried_best"], every
assert abs(every["chosen_is_best"] - sum(row["chosen_is_best"] for row in rows) / 24) < 1e-9, every
END
fi
