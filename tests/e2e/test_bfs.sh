# SPDX-License-Identifier: Apache-2.0
# Rows of known graphs: reach, depth, edges and the hash of the levels; and what must be refused.
. "$E2E/functions.sh"
karate=$SYNFIRE_SOURCE/tests/data/karate.mtx

# FOLDER: every row of its expected.txt, in $rows how many.
check_rows() {
    rows=0
    while IFS='|' read -r graph as _ _ source _; do
        # shellcheck disable=SC2086 # the words of a row are trimmed by splitting
        set -- "$1" $graph $as $source
        $SYNFIRE bfs "$1/$2" "--$3" --source "$4" --repeat 2 --out levels.$rows --json >out.$rows
        rows=$((rows + 1))
    done < <(tail -n +2 "$1/expected.txt")
    python3 - "$1/expected.txt" <<'END'
import hashlib, json, sys
for row, line in enumerate(open(sys.argv[1]).readlines()[1:]):
    _, _, vertices, edges, source, reached, depth, traversed, _, digest = [word.strip() for word in line.split("|")]
    found = json.load(open(f"out.{row}"))
    assert [str(found[k]) for k in ("vertices", "edges", "source", "reached", "depth")] == [
        vertices, edges, source, reached, depth], found
    assert len(found["level_sizes"]) == int(depth) + 1 and sum(found["level_sizes"]) == int(reached)
    assert found["seconds"] > 0 and round(found["teps"] * found["seconds"]) == int(traversed), found
    rows = [line.split() for line in open(f"levels.{row}")]
    assert [int(row[0]) for row in rows] == list(range(int(vertices)))
    levels = "".join(row[1] + "\n" for row in rows)
    assert hashlib.sha256(levels.encode()).hexdigest().startswith(digest), digest
END
}
mkdir club
cp "$karate" club
cat >club/expected.txt <<'END'
graph | as | vertices | edges | source | reached | depth | traversed | level sizes | sha256 of the levels
karate.mtx | undirected | 34 | 156 | 0 | 34 | 3 | 156 | 1 16 9 8 | c64bcdddd1f2e64e
karate.mtx | undirected | 34 | 156 | 30 | 34 | 4 | 156 | 1 4 20 8 1 | 868cda3b6a5fa9aa
END
check_rows club
[ $rows = 2 ]
if has_data bfs; then
    check_rows "$SYNFIRE_DATA/bfs"
    [ $rows = 13 ]
    expect 65 "mangled1.mtx:1" $SYNFIRE bfs "$SYNFIRE_DATA/bfs/mangled1.mtx" --source 0
    expect 65 "mangled5.mtx:1" $SYNFIRE bfs "$SYNFIRE_DATA/bfs/mangled5.mtx" --source 0
    expect 65 "mangled_format.mtx:1" $SYNFIRE bfs "$SYNFIRE_DATA/bfs/mangled_format.mtx" --source 0
    expect 65 "empty.mtx:4" $SYNFIRE bfs "$SYNFIRE_DATA/bfs/empty.mtx" --source 0
    $SYNFIRE reach "$SYNFIRE_DATA/bfs/west0067.mtx" --source 0 --json | grep -q '"edges":292,'
fi
printf '%%%%MatrixMarket matrix coordinate\n2 2 1\n1 2\n' >header.mtx
expect 65 "header.mtx:1" $SYNFIRE bfs header.mtx --source 0
printf '%%%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 3\n' >outside.mtx
expect 65 "outside.mtx:3" $SYNFIRE bfs outside.mtx --source 0
printf '%%%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n' >short.mtx
expect 65 "short.mtx" $SYNFIRE bfs short.mtx --source 0
expect 66 "no-such" $SYNFIRE bfs no-such.mtx --source 0
expect 64 "source" $SYNFIRE bfs "$karate"
expect 64 "there are 34 vertices, #0 to #33" $SYNFIRE bfs "$karate" --source 34
expect 64 "excludes" $SYNFIRE bfs "$karate" --source 0 --directed --undirected
expect 73 "no/such" $SYNFIRE bfs "$karate" --source 0 --out no/such/file
# Matrix Market goes by its symmetry unless told; the alias is the same command.
$SYNFIRE reach "$karate" --source 0 --json | grep -q '"edges":156,'
# Pairs with commas are edges here and a recording elsewhere, or where an option says so.
printf 'source,target,weight\n0,1,2\n1,2,0.5\n' >pairs.csv
$SYNFIRE bfs pairs.csv --source 0 --json 2>told | grep -q '"vertices":3,.*"edges":2,.*"reached":3,'
grep -q 'pairs.csv: read as edges, FROM,TO; --columns unit,time_s reads it as a recording' told
printf '0,1\n1,2\n2,3\n0,4\n' >pairs.csv
$SYNFIRE bfs pairs.csv --source 0 --json 2>/dev/null | grep -q '"edges":4,'
$SYNFIRE match pairs.csv chain-3 --json 2>told | grep -q '"count":2'
grep -q 'read as edges' told
$SYNFIRE bfs pairs.csv --source 0 --columns unit,time_s --delay 500:3500 --min-count 1 --json 2>told | grep -q '"vertices":3,'
$SYNFIRE graph pairs.csv --delay 500:3500 --min-count 1 --json 2>/dev/null | grep -q '"vertices":3,'
printf '0 1\n1 2\n' >path.el
$SYNFIRE bfs path.el --source 2 --json | grep -q '"reached":1,'
$SYNFIRE bfs path.el --source 2 --undirected --json | grep -q '"reached":3,'
# A word is a vertex's name and #3 its index, whatever the name; of a graph without names a number is an index too.
cat >named.graphml <<'XML'
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="directed">
<node id="1"/><node id="0"/><node id="b"/><edge source="1" target="0"/><edge source="0" target="b"/></graph></graphml>
XML
$SYNFIRE bfs named.graphml --source b >out 2>err && grep -qx 'from b: 1 vertices within 0 hops' out && [ ! -s err ]
$SYNFIRE bfs named.graphml --source b --repeat 2 | grep -q '^from b: 1 vertices within 0 hops, .* s on cpu, .* (TEPS)$'
$SYNFIRE bfs --kronecker 14:16:1 --source 5 | grep -q '^from .* s on .* (TEPS)$'
$SYNFIRE bfs named.graphml --source 0 --json | grep -q '"source":1,"source_name":"0","reached":2,'
$SYNFIRE bfs named.graphml --source '#0' >out 2>err && grep -q '^from 1: 3 vertices' out && [ ! -s err ]
expect 64 "--source: no vertex is named '2'; the vertex with that index is written #2" $SYNFIRE bfs named.graphml --source 2
expect 64 "there are 3 vertices, #0 to #2" $SYNFIRE bfs named.graphml --source '#3'
$SYNFIRE bfs path.el --source '#1' | grep -q '^from #1: 2 vertices'
expect 64 "'b' cannot be a name: the vertices have none; write #2 for index 2" $SYNFIRE bfs path.el --source b
printf '720575940621039146 720575940621039145\n' >wide.el
$SYNFIRE bfs wide.el --source 720575940621039146 --json | grep -q '"source":1,"source_name":"720575940621039146","reached":2,'
printf '%%%%MatrixMarket matrix coordinate pattern general\n0 0 0\n' >none.mtx
expect 64 "no vertex has index #0: there are none" $SYNFIRE bfs none.mtx --source 0
# A generated graph is the same whichever way it is searched.
for direction in auto top-down bottom-up; do
    $SYNFIRE bfs --kronecker 12:16:1 --source 5 --direction $direction --json >out
    sed 's/,"seconds.*//' out >found.$direction
done
$SYNFIRE bfs --kronecker 12:16:1 --source 5 --threads 2 --device cpu --json | sed 's/,"seconds.*//' | cmp - found.auto
cmp found.auto found.top-down
cmp found.auto found.bottom-up
# The paper's techniques are the kernels': a CPU does not search under their names.
expect 64 "--features: goes with a GPU, as --device cuda" $SYNFIRE bfs --kronecker 12:16:1 --source 5 --device cpu --features ts
code=0
$SYNFIRE bfs --kronecker 12:16:1 --source 5 --features ts,wb --json >out 2>err || code=$?
if [ $code = 0 ]; then
    sed 's/,"seconds.*//' out | cmp - found.auto
else
    [ $code = 69 ]
    grep -q -- "--features: needs a GPU: " err
    grep -q '^{"error":{"exit_code":69,"place":"--features"' out
fi
# Several sources at once: each finds what it finds alone.
$SYNFIRE bfs --kronecker 12:16:1 --source 5 --source '#7' --source 5 --json >out
for source in 5 7; do
    $SYNFIRE bfs --kronecker 12:16:1 --source $source --json >one.$source
done
python3 - <<'END'
import json
many = json.load(open("out"))
alone = [json.load(open(f"one.{s}")) for s in (5, 7, 5)]
assert [m["source"] for m in many["searches"]] == [5, 7, 5] and many["edges"] == alone[0]["edges"]
for m, one in zip(many["searches"], alone, strict=True):
    assert all(m[key] == one[key] for key in ("source", "source_name", "reached", "depth", "level_sizes")), (m, one)
END
$SYNFIRE bfs "$karate" --source 0 --source 33 | grep -q '^#33 *34 '
expect 64 "--out: goes with one --source" $SYNFIRE bfs path.el --source 0 --source 1 --out many.txt
expect 64 "no vertex has index #9" $SYNFIRE bfs path.el --source 0 --source 9
expect 64 "found 'hx', expected one of ts, wb, hc, gamma, none" $SYNFIRE bfs --kronecker 12:16:1 --source 5 --features ts,hx
expect 64 "expected auto, cpu, cuda" $SYNFIRE bfs --kronecker 12:16:1 --source 5 --device gpu
expect 64 "sideways" $SYNFIRE bfs --kronecker 12:16:1 --source 5 --direction sideways
expect 64 "SCALE:EDGEFACTOR:SEED" $SYNFIRE bfs --kronecker 12 --source 5
expect 64 "both" $SYNFIRE bfs "$karate" --kronecker 12:16:1 --source 5
expect 64 "neither" $SYNFIRE bfs --source 5
$SYNFIRE bench bfs --kronecker 8:8:1 --threads 2 --json >out
python3 - <<'END'
import json
rows = json.load(open("out"))
assert [row["search"] for row in rows] == ["queue", "top-down", "bottom-up"] + 2 * ["auto", "auto, sorted lists"], rows
assert all(row["bench"] == "bfs" and row["machine"] and row["device"] == "cpu" and row["teps"] > 0 for row in rows)
assert all(0 < row["graph500_teps"] < row["teps"] for row in rows), rows # a drawn edge counts once, one of the graph twice
END
expect 64 "with chances 20:16:1:0.45,0.15,0.15" $SYNFIRE bench bfs --kronecker 8
expect 64 "has the chances '0.5,0.3,0.2'" $SYNFIRE bfs --kronecker 8:8:1:0.5,0.3,0.2 --source 5
expect 64 "graph: does not go with --kronecker" $SYNFIRE bench bfs --graph "$karate" --kronecker 8:8:1
expect 64 "device: goes with the part ways: rules is the CPU's" $SYNFIRE bench bfs rules --device cuda:all
expect 64 "bfs has no part 'gamma'; it has: ways, rules, scaling" $SYNFIRE bench bfs gamma

# A graph of a file, as Graph500 counts it: 5 edges of the component with a loop and two repeats, of which 2 are left,
# 4 with a direction; the other component's is not counted.
printf '%s\n' '0 1' '1 0' '0 1' '1 1' '1 2' '5 6' >listed.el
$SYNFIRE bench bfs --graph listed.el --threads 1 --json >out
python3 - <<'END'
import json
rows = json.load(open("out"))
assert all(row["vertices"] == 7 and row["edges"] == 6 and row["teps"] > 0 for row in rows), rows
END
printf '%s\n' '0 1' '1 0' '0 1' '1 1' '1 2' >listed.el
$SYNFIRE bench bfs --graph listed.el --threads 1 --json >out
python3 - <<'END'
import json
rows = json.load(open("out"))
assert rows and all(abs(row["graph500_teps"] / row["teps"] - 5 / 4) < 1e-9 for row in rows), rows
# All sources reach the same edges: the median of their rates is that of their times.
assert all(abs(row["median_teps"] * row["median_ms"] * 1e-3 / 4 - 1) < 1e-9 for row in rows), rows
END

# What rules of switching read, beside the same counted here from the definition, source by source.
python3 - <<'END'
import random
random.seed(7)
n, hubs = 1400, 40
edges = [(random.randrange(n), random.randrange(n)) for _ in range(1500)]
edges += [(random.randrange(hubs), random.randrange(n)) for _ in range(1500)]
open("rules.el", "w").write("".join(f"{a} {b}\n" for a, b in edges))
END
$SYNFIRE bench bfs rules --graph rules.el --levels --json >out
$SYNFIRE bench bfs rules --graph rules.el --json >all
python3 - <<'END'
import collections, json
around = collections.defaultdict(set)
for line in open("rules.el"):
    a, b = map(int, line.split())
    if a != b:
        around[a].add(b)
        around[b].add(a)
n = 1 + max(around)
total = sum(map(len, around.values()))
tau = sorted((len(around[v]) for v in range(n)), reverse=True)[1024]
hubs = {v for v in range(n) if len(around[v]) > tau}
assert hubs

def search(source):
    levels, frontier = {source: 0}, [source]
    while frontier:
        found = []
        for v in frontier:
            for w in around[v]:
                if w not in levels:
                    levels[w] = levels[v] + 1
                    found.append(w)
        frontier = found
    return levels

def cost(levels, switch):
    depth, reads, up, saved = max(levels.values()), 0, 0, 0
    for level in range(depth + 1):
        if level < switch:
            reads += sum(len(around[v]) for v in levels if levels[v] == level)
            continue
        for v in range(n):
            if levels.get(v, n) <= level:
                continue
            for w in sorted(around[v]):
                up += 1
                if levels.get(w) == level:
                    saved += w in hubs
                    break
    return reads + up, up, saved

seen = {}
for row in json.load(open("out")):
    levels = seen.setdefault(row["source"], search(row["source"]))
    depth = max(levels.values())
    at = [[v for v in levels if levels[v] == level] for level in range(depth + 1)]
    edges = [sum(len(around[v]) for v in level) for level in at]
    if row["rule"].startswith("gamma"):
        switch = next((i for i, level in enumerate(at) if 10 * len(hubs & set(level)) > 3 * len(hubs)), depth + 1)
        assert abs(row["gamma_most"] - max(len(hubs & set(level)) for level in at) / len(hubs)) < 1e-9, row
    elif row["rule"].startswith("alpha"):
        switch = next((i for i in range(depth + 1) if edges[i] > (total - sum(edges[:i])) // 14), depth + 1)
    elif row["rule"] == "never":
        switch = depth + 1
    else:
        best = min(cost(levels, i)[0] for i in range(depth + 2))
        assert row["reads"] == best, (row, best)
        continue
    assert (row["switch_level"], row["reads"], row["bottom_up_reads"], row["hub_saved"]) == (switch, *cost(levels, switch)), row
assert len(seen) > 30
names = [row["rule"] for row in json.load(open("all"))]
assert names == ["gamma over 30 %", "alpha 14", "the best level", "never"], names
for row in json.load(open("all")):
    assert row["over_best"] >= 1 and row["hubs"] == len(hubs) and row["edges"] == total, row
    assert (row["rule"] == "never") == (row["switched"] == 0), row
END
$SYNFIRE bench bfs scaling --kronecker 9:8:1 --threads 2 --json >out
python3 - <<'END'
import json
rows = json.load(open("out"))
assert [(row["scaling"], row["threads"], row["vertices"]) for row in rows] == [
    ("strong", 1, 512), ("strong", 2, 512), ("weak", 1, 512), ("weak", 2, 1024)], rows
for row in rows:
    assert abs(row["speedup"] / row["threads"] - row["efficiency"]) < 1e-9 and row["teps"] > 0, row
assert rows[0]["speedup"] == rows[2]["speedup"] == 1, rows
END
$SYNFIRE bench bfs --kronecker 8:8:1 --threads 2 --levels --json >out
python3 - <<'END'
import json
rows = json.load(open("out"))
starts = [i for i, row in enumerate(rows) if row["level"] == 0] + [len(rows)]
assert len(starts) == 7, rows
for first, last in zip(starts, starts[1:]):
    levels = rows[first:last]
    assert [row["level"] for row in levels] == list(range(len(levels))) and levels[0]["found"] == 1, levels
    assert sum(row["us"] for row in levels) <= levels[0]["search_us"] and levels[0]["direction"] == "top-down"
    assert {row["direction"] for row in levels[1:]} <= {"top-down", "bottom-up"}, levels
END

# The path to what is asked for, of a graph of any size; why there is none otherwise.
"$SYNFIRE" simulate chain.h5 --preset sym26 --quiet >/dev/null
reach=("$SYNFIRE" reach chain.h5 --delay 4:6 --min-count 100)
"${reach[@]}" --source D --target G --target A >out
grep -qx 'D -> E -> F -> G: 3 hops, after (12,18\] ms' out
grep -qx 'no path leads to A' out
"${reach[@]}" --source D --source F --target G --csv | cut -d, -f2,4,7 | tr '\n' ' ' >rows
[ "$(cat rows)" = "source_name,name,parent_name D,D, D,E,D D,F,E D,G,F F,F, F,G,F " ]
expect 64 "--target: no unit is named 'Ä'" "${reach[@]}" --source D --target 'Ä'
"$SYNFIRE" bfs --kronecker 14:16:1 --source '#6' --target '#2' --target '#6' --json >out
check "
search, = out['searches']
paths = search['paths']
assert out['vertices'] > 10000 and search['no_paths'] is None
assert [p['vertex'] for p in paths] == [2, 6] and paths[1]['path'] == [6] and paths[1]['level'] == 0
assert paths[0]['path'] is None or (paths[0]['path'][0], paths[0]['path'][-1]) == (6, 2)
"
"$SYNFIRE" bfs --kronecker 14:16:1 --source '#6' --json >out
check "assert out['searches'][0]['paths'] is None and '--target' in out['searches'][0]['no_paths']"

# A graph of a file is of significant edges where all of them are, and else says so.
edges_of() { # Q of a to b, Q of b to c
    cat <<XML
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="q" for="edge" attr.name="q" attr.type="double"/><key id="x" for="edge" attr.name="expected" attr.type="double"/>
<graph edgedefault="directed"><node id="a"/><node id="b"/><node id="c"/>
<edge source="a" target="b"><data key="q">$1</data><data key="x">3</data></edge>
<edge source="b" target="c"><data key="q">$2</data><data key="x">3</data></edge></graph></graphml>
XML
}
edges_of 0.01 0.5 >some.graphml
edges_of 0.01 0.02 >all.graphml
"$SYNFIRE" bfs some.graphml --source a | grep -q 'edges that chance explains among them'
"$SYNFIRE" bfs all.graphml --source a >out
if grep -q 'chance' out; then exit 1; fi
