# SPDX-License-Identifier: Apache-2.0
# The connectivity graph of a simulated recording: planted links are its strongest edges, every file format holds
# the same graph, a search of the recording and of each file agree, and wrong words are refused.
. "$E2E/functions.sh"
$SYNFIRE simulate sim.h5 --unit-count 10 --rate 5 --duration 120 --chain "#0 -(4,6]-> #3 -(4,6]-> #7" --chain-rate 3 \
    --seed 3 --quiet >/dev/null
mine="--delay 4:6,8:12 --min-count 40"
# shellcheck disable=SC2086 # $mine is several words
$SYNFIRE graph sim.h5 $mine --out g.json --json >out
cmp out g.json
for ending in graphml mtx el dot h5; do
    # shellcheck disable=SC2086
    $SYNFIRE graph sim.h5 $mine --out g.$ending --json >again
    cmp <(results <out) <(results <again)
done
python3 - <<'END'
import json
graph = json.load(open("out"))
assert list(graph)[:3] == ["vertices", "edges", "edge_detail"] and graph["vertices"] == 10
assert graph["names"] == list("ABCDEFGHIJ") and graph["edges_tested"] == "untested"
edges = graph["edge_detail"]
assert graph["edges"] == len(edges) > 2
assert all(list(e) == ["from", "from_name", "to", "to_name", "delay_ms", "count", "expected", "weight", "ratio_interval", "asymmetry",
                       "p", "q", "not_tested", "expected_given_rest", "one_electrode", "sign", "confidence", "score", "epochs", "epoch_counts",
                       "epoch_coefficients"] for e in edges)
assert all([e["from_name"], e["to_name"]] == [graph["names"][e["from"]], graph["names"][e["to"]]] for e in edges)
assert all(abs(e["weight"] - (e["count"] - e["expected"])) < 1e-9 and e["p"] is None for e in edges)
best = {(e["from"], e["to"], *e["delay_ms"]) for e in sorted(edges, key=lambda e: -e["weight"])[:3]}
assert best == {(0, 3, 4, 6), (3, 7, 4, 6), (0, 7, 8, 12)}, best
END
# shellcheck disable=SC2086
$SYNFIRE mine sim.h5 $mine --max-size 2 --json >mined
python3 - <<'END'
import json
mined = {(*e["units"], *e["delays_ms"][0]): (e["count"], e["expected"]) for e in json.load(open("mined"))["episodes"] if len(e["units"]) == 2}
edges = {(e["from"], e["to"], *e["delay_ms"]): (e["count"], e["expected"]) for e in json.load(open("out"))["edge_detail"]}
assert mined == edges
END
grep -q '"weight"=' g.dot
grep -q '^digraph' g.dot

# GraphML has places and tests of edges, too: of the format as XML, and as networkx reads it.
# shellcheck disable=SC2086
$SYNFIRE graph sim.h5 $mine --significance segment-shift --surrogates 50 --out tested.graphml --json --quiet >tested
python3 - <<'END'
import json
import xml.etree.ElementTree as xml
space = "{http://graphml.graphdrawing.org/xmlns}"
graph = json.load(open("tested"))
root = xml.parse("tested.graphml").getroot()
keys = {key.get("id"): (key.get("for"), key.get("attr.name"), key.get("attr.type")) for key in root.iter(space + "key")}
assert root.tag == space + "graphml" and all(kind in ("double", "string") for _, _, kind in keys.values()), keys
nodes = {node.get("id"): node for node in root.iter(space + "node")}
def values(of, element):
    found = {keys[data.get("key")]: data.text for data in element.iter(space + "data")}
    assert all(kind == of for kind, _, _ in found)
    return {name: text if kind == "string" else float(text) for (_, name, kind), text in found.items()}
assert [values("node", node)["name"] for node in nodes.values()] == graph["names"]
assert all({"x_um", "y_um", "rate"} <= set(values("node", node)) for node in nodes.values())
edges = list(root.iter(space + "edge"))
assert len(edges) == graph["edges"] and len(nodes) == graph["vertices"]
order = list(nodes)
for edge, told in zip(edges, graph["edge_detail"]):
    found = values("edge", edge)
    assert (order.index(edge.get("source")), order.index(edge.get("target"))) == (told["from"], told["to"])
    assert [found["low_ms"], found["high_ms"]] == told["delay_ms"]
    assert all(found.get(name) == told[name] for name in ("weight", "count", "expected", "expected_given_rest", "p", "q")), (found, told)
assert any(edge["q"] is not None for edge in graph["edge_detail"])
END
if "${SYNFIRE_PYTHON:-python3}" -c 'import networkx' 2>/dev/null; then
    "${SYNFIRE_PYTHON:-python3}" - <<'END'
import json
import networkx
graph, read = json.load(open("tested")), networkx.read_graphml("tested.graphml")
names = networkx.get_node_attributes(read, "name")
assert list(names.values()) == graph["names"] and read.is_directed()
assert len(networkx.get_node_attributes(read, "x_um")) == graph["vertices"]
assert sorted((names[a], names[b], edge["low_ms"], edge["q"]) for a, b, edge in read.edges(data=True)) == sorted(
    (edge["from_name"], edge["to_name"], edge["delay_ms"][0], edge["q"]) for edge in graph["edge_detail"])
END
else
    echo "skipped: no Python module networkx"
fi

# A file holds no path through the delays.
without_times() {
    sed 's/,"seconds.*//; s/"delay_ms":\[[^]]*\]/"delay_ms":null/g'
}
# shellcheck disable=SC2086
$SYNFIRE bfs sim.h5 $mine --source '#0' --json | without_times >expected
for ending in graphml mtx el h5; do
    $SYNFIRE bfs g.$ending --source '#0' --json | sed 's/,"seconds.*//' >found
    cmp expected found
done

# Units named as indices of others are: a word is a name and #3 an index, of the recording and of every file of its graph.
python3 - >numbers.csv <<'END'
for k in range(200):
    for place, name in enumerate((3, 1, 4, 2)):
        print(f"{name},{0.5 * k + 0.003 * place:.3f}")
END
search() { # arguments of bfs
    $SYNFIRE bfs "$@" --quiet --json | python3 -c '
import json, sys
found = json.load(sys.stdin)
print(*(found[key] for key in ("vertices", "edges", "source", "source_name", "reached", "level_sizes")))'
}
numbers="--delay 2:4 --min-count 100 --quiet"
for ending in graphml mtx el h5; do
    # shellcheck disable=SC2086
    $SYNFIRE graph numbers.csv $numbers --out n.$ending >/dev/null
done
while read -r source expected; do
    # shellcheck disable=SC2086
    [ "$(search numbers.csv --source "$source" $numbers)" = "$expected" ]
    for ending in graphml mtx el h5; do
        [ "$(search n.$ending --source "$source")" = "$expected" ]
        expect 64 "no vertex is named '0'; the vertex with that index is written #0" $SYNFIRE bfs n.$ending --source 0
    done
done <<'END'
3 4 3 2 3 4 [1, 1, 1, 1]
#3 4 3 3 4 2 [1, 1]
2 4 3 1 2 1 [1]
#2 4 3 2 3 4 [1, 1, 1, 1]
END
# shellcheck disable=SC2086
$SYNFIRE bfs numbers.csv $numbers --source 3 --source '#3' --json |
    grep -q '"searches":\[{"source":2,"source_name":"3","reached":4,.*{"source":3,"source_name":"4","reached":2,'
# shellcheck disable=SC2086
expect 64 "no unit is named '0'; the unit with that index is written #0" $SYNFIRE bfs numbers.csv --source 0 $numbers
$SYNFIRE match n.mtx chain-2 --json | grep -q '"names":\[\["1","4"\],\["3","1"\],\["4","2"\]\]'

expect 65 "g.dot: is a Graphviz file, which is only written" $SYNFIRE bfs g.dot --source 0
expect 65 "g.json: is a graph as JSON, which is only written" $SYNFIRE match g.json chain-2
# shellcheck disable=SC2086
$SYNFIRE reach sim.h5 $mine --source '#0' >out
grep -q 'level  vertices  delay ms  names' out
grep -q '^ *1 .* (4,12\] ' out
# shellcheck disable=SC2086
$SYNFIRE reach sim.h5 $mine --source '#0' --undirected | grep -q 'level  vertices  names'

# Spike-time tiling: the planted pairs come out, the same graph on any number of threads, thresholds can be left out.
$SYNFIRE graph sim.h5 --metric sttc --delay 0:10 --surrogates 100 --threads 2 --json >tiling
$SYNFIRE graph sim.h5 --metric sttc --delay 0:10 --surrogates 100 --threads 1 --json --out tiling.graphml | results | cmp - <(results <tiling)
$SYNFIRE graph sim.h5 --metric sttc --delay 0:10 --surrogates 0 --json >all
python3 - <<'END'
import json
kept, every = json.load(open("tiling")), json.load(open("all"))
assert every["edges"] == 45 and all(e["p"] is None and e["q"] is None for e in every["edge_detail"])
assert every["edges_tested"] == "untested" and every["pairs_tested"] is None and every["pairs_by_chance"] is None
assert kept["edges_tested"] == "tested" and kept["pairs_tested"] == 45 and abs(kept["pairs_by_chance"] - 45 * 5 / 101) < 1e-9
pairs = {(e["from"], e["to"]): e["weight"] for e in every["edge_detail"]}
assert all(a < b for a, b in pairs)
best = sorted(kept["edge_detail"], key=lambda e: -e["weight"])[:3]
assert {(e["from"], e["to"]) for e in best} == {(0, 3), (3, 7), (0, 7)}, best
assert all(e["weight"] == pairs[e["from"], e["to"]] and e["count"] is None and e["expected"] is None
           and e["delay_ms"] == [0, 10] and 1 / 101 <= e["p"] <= 5 / 101 + 1e-12 and e["weight"] > 0 and e["p"] - 1e-12 <= e["q"] <= 1 for e in kept["edge_detail"])
END
grep -q 'edgedefault="undirected"' tiling.graphml

# The same filter as of episodes, of the recording and of its graph's file; the heading says what chance passes.
$SYNFIRE graph sim.h5 --metric sttc --delay 0:10 --surrogates 100 --max-q 0.05 --json >out
$SYNFIRE bfs tiling.graphml --max-q 0.05 --source A --json >reached
python3 - <<'END'
import json
every, kept = json.load(open("tiling")), json.load(open("out"))
assert kept["edge_detail"] == [e for e in every["edge_detail"] if e["q"] <= 0.05] and kept["edges_found"] == every["edges"]
assert {(e["from"], e["to"]) for e in kept["edge_detail"]} >= {(0, 3), (3, 7), (0, 7)}
assert kept["edges_tested"] == "significant" and kept["pairs_tested"] == 45 and kept["pairs_by_chance"] is None
assert json.load(open("reached"))["reached"] == 3 == kept["edges"]
END
$SYNFIRE graph sim.h5 --metric sttc --delay 0:10 --surrogates 100 >out
grep -q '^10 units, .*; of 45 pairs tested chance passes about 2.23$' out
grep -q '^tested, with edges that chance explains' out
$SYNFIRE graph sim.h5 --metric sttc --delay 0:10 --surrogates 100 --max-q 0.05 >out
grep -q '^10 units, 3 edges of .*; of 45 pairs tested chance passes one or more in at most 0.05 of recordings$' out
$SYNFIRE graph sim.h5 --metric sttc --delay 0:10 --surrogates 0 >out
grep -q '^NOT TESTED: all pairs are edges. --surrogates 200 --max-q 0.05 tests them$' out
$SYNFIRE graph sim.h5 --metric sttc --delay 0:10 --surrogates 18 >out 2>err
grep -q '18 surrogates give no p or q below 0.053, so no pair can be an edge: take 19' out
grep -q '^10 units, 0 edges' out

# Trains that never meet are no edges, however far below chance the shifted ones are.
printf 'A,0.0\nA,50.0\nB,20.0\nB,80.0\nC,33.0\nC,100.0\n' >apart.csv
$SYNFIRE graph apart.csv --metric sttc --delay 0:50 --json --quiet >out
python3 -c 'import json; assert json.load(open("out"))["edges"] == 0'

expect 64 "expected one of episodes, sttc" $SYNFIRE graph sim.h5 --metric te
expect 64 "--delay: '0:0'" $SYNFIRE graph sim.h5 --metric sttc --delay 0:0
expect 65 "g.mtx: is a graph already" $SYNFIRE graph g.mtx
expect 64 "metric sttc" $SYNFIRE graph sim.h5 --surrogates 5
expect 64 "goes with --metric sttc or --significance" $SYNFIRE graph sim.h5 --seed 5
expect 64 "metric episodes" $SYNFIRE graph sim.h5 --metric sttc --min-count 5
expect 64 ".graphml" $SYNFIRE graph sim.h5 --out g.txt
expect 73 "no/such" $SYNFIRE graph sim.h5 --out no/such/g.dot
expect 64 "for recordings" $SYNFIRE bfs g.mtx --source 0 --delay 4:6
expect 64 "source" $SYNFIRE bfs sim.h5 --delay 4:6
expect 64 "--surrogates: goes with --metric sttc" $SYNFIRE bfs sim.h5 --delay 4:6 --source A --surrogates 5
expect 64 "--seed: goes with --metric sttc, --significance or --rewired" $SYNFIRE match sim.h5 'A -> B' --seed 5
expect 64 "--surrogates: goes with --metric sttc" $SYNFIRE match sim.h5 'A -> B' --rewired 2 --surrogates 5

# One filter by what a test says, the same edges by whichever command and from whichever file; what was not tested
# says so, where z-scores are in their line.
tested="--delay 4:6,8:12 --min-count 12 --significance segment-shift --surrogates 200"
# shellcheck disable=SC2086
{
    $SYNFIRE graph sim.h5 $tested --out tested.graphml --json >tested
    $SYNFIRE graph sim.h5 $tested --out tested.h5 >table
    $SYNFIRE graph sim.h5 $tested --max-q 0.05 --json >kept
    $SYNFIRE graph sim.h5 $tested --max-q 0.05 --out kept.graphml >kept_table
    $SYNFIRE graph sim.h5 $tested --max-p 0.3 --json >by_p 2>of_p
    $SYNFIRE bfs sim.h5 $tested --max-q 0.05 --source A --json >reached
    $SYNFIRE match sim.h5 chain-2 $tested --max-q 0.05 --json >matched
    $SYNFIRE match sim.h5 census $tested --max-q 0.05 --json >counted
}
for graph in tested.graphml tested.h5; do
    $SYNFIRE bfs $graph --max-q 0.05 --source A --json >reached.$graph
    $SYNFIRE match $graph chain-2 --max-q 0.05 --json >matched.$graph
    $SYNFIRE match $graph census --max-q 0.05 --json >counted.$graph
done
python3 - <<'END'
import json
read = lambda name: json.load(open(name))
edge = lambda e: (e["from"], e["to"], *e["delay_ms"])
every, kept = read("tested"), read("kept")
assert every["edges_tested"] == "tested" and kept["edges_tested"] == "significant" and kept["edges_found"] == every["edges"]
assert every["significance"]["surrogates"] == kept["significance"]["surrogates"] == 200
tested = [e for e in every["edge_detail"] if e["not_tested"] is None]
assert all(1 / 201 - 1e-9 <= e["p"] <= e["q"] <= 1 for e in tested)
assert all(e["not_tested"] in (None, "reverse of a link") for e in every["edge_detail"])
assert kept["edge_detail"] == [e for e in tested if e["q"] <= 0.05]
assert {(0, 3, 4, 6), (3, 7, 4, 6), (0, 7, 8, 12)} <= {edge(e) for e in kept["edge_detail"]} and kept["edges"] < 8
assert read("by_p")["edge_detail"] == [e for e in tested if e["p"] <= 0.3]
assert kept["edges"] < read("by_p")["edges"] < every["edges"]
pairs = len({(e["from"], e["to"]) for e in kept["edge_detail"]})
for graph in ["", ".graphml", ".h5"]:
    of = "" if graph == "" else ".tested" + graph
    assert read("matched" + of)["count"] == pairs and read("reached" + of)["reached"] == 3
    assert sum(t["count"] * t["name"].count("1") for t in read("counted" + of)["triads"]) > 0
    for name in ["matched", "reached", "counted"]:
        assert read(name + of)["edges_tested"] == "significant"
END
grep -q '^10 units, .* edges of .*: the others have a larger p or q' kept_table
# What has no edges of its own says how many a test left, and that there was no verdict where there was none.
left=$(sed -n 's/^10 units, \([0-9]*\) edges of \([0-9]*\):.*/^\1 of \2 edges: the others have a larger p or q, or none$/p' kept_table)
[ -n "$left" ]
for what in 'bfs sim.h5 --source A' 'match sim.h5 chain-2' 'match sim.h5 census'; do
    # shellcheck disable=SC2086
    $SYNFIRE $what $tested --max-q 0.05 >out
    grep -q "$left" out
    # shellcheck disable=SC2086
    $SYNFIRE $what --delay 4:70 --min-count 12 --significance segment-shift --surrogates 20 --max-q 0.05 >out 2>/dev/null
    grep -qx 'NO VERDICT: delays too long' out
    [ "$(grep -c 'the others' out)" = 0 ]
done
# An expectation that is small is not printed as 0.0 beside its ratio.
for i in 0 1 2 3 4 5 6 7 8 9; do printf 'a,%d\nb,%d.005\n' $((i * 60)) $((i * 60)); done >rare.csv
$SYNFIRE graph rare.csv --delay 4:6 --min-count 5 >out
grep -qx 'delays of (4,6\] ms' out
grep -qE '^a +b +10 +0\.00037 ' out
grep -q 'tested, with edges that chance explains among them' table
$SYNFIRE match kept.graphml chain-3 --count --rewired 5 >out
[ "$(grep -ci 'tested\|chance' out)" = 0 ]
$SYNFIRE match tested.graphml chain-3 --count --rewired 5 >out
grep -q 'z = .*(of edges with chance among them: --max-q 0.05)$' out
$SYNFIRE match g.graphml chain-3 --count --rewired 5 >out
grep -q 'standard deviation 0: no z$' out
grep -q '^NOT TESTED: make this graph' out
$SYNFIRE match g.graphml census --rewired 5 >out
grep -q '^mean, sd and z of .*(of edges that are NOT TESTED)$' out
grep -q '^NOT TESTED' out
$SYNFIRE bfs g.graphml --source A >out
grep -q '^NOT TESTED: make this graph' out
# shellcheck disable=SC2086
$SYNFIRE graph sim.h5 $mine >out
[ "$(sed -n 2p out)" = 'NOT TESTED: `expected` is by rates, and ranks. Add --significance segment-shift --max-q 0.05' ]
expect 64 "--max-q: goes with --significance" $SYNFIRE bfs sim.h5 --delay 4:6 --source A --max-q 0.05
expect 64 "--max-q: the edges of this graph have no q" $SYNFIRE match g.graphml chain-2 --max-q 0.05
expect 64 "--max-p: the edges of this graph have no p" $SYNFIRE bfs g.graphml --source A --max-p 0.05
expect 64 "--max-q: needs surrogates" $SYNFIRE graph sim.h5 --delay 4:6 --significance analytic --max-q 0.05
expect 64 "--max-q: needs surrogates" $SYNFIRE graph sim.h5 --metric sttc --surrogates 0 --max-q 0.05
expect 64 "--max-p: goes with --significance" $SYNFIRE graph sim.h5 --delay 4:6 --max-p 0.05
expect 64 "--max-p: needs surrogates" $SYNFIRE graph sim.h5 --metric sttc --surrogates 0 --max-p 0.05
expect 64 "--max-q: found '0', expected a number above 0 and at most 1" $SYNFIRE graph sim.h5 --delay 4:6 --significance segment-shift --max-q 0
expect 64 "--significance: is for recordings" $SYNFIRE bfs g.graphml --source A --significance segment-shift
$SYNFIRE graph sim.h5 --metric sttc --delay 0:10 --surrogates 100 --max-p 0.01 --json >out 2>err
$SYNFIRE bfs tested.h5 --source A --max-p 0.3 >of_bfs 2>&1
$SYNFIRE match tested.h5 chain-2 --max-p 0.3 >of_match 2>&1
for said in of_p err of_bfs of_match; do # what p alone is worth, once
    [ "$(grep -c 'goes by p' $said)" = 1 ]
done
python3 -c 'import json; d = json.load(open("out")); assert 0 < d["edges"] < d["edges_found"] and d["edges_tested"] == "tested"'

# What comes first in the table.
for word in q ratio weight count; do
    # shellcheck disable=SC2086
    $SYNFIRE graph sim.h5 $tested --sort $word >table.$word
done
python3 - <<'END'
import json
edges = json.load(open("tested"))["edge_detail"]
names = json.load(open("tested"))["names"]
keys = {"q": lambda e: (e["q"] is None, e["q"] or 0, -e["ratio_interval"][0]), "ratio": lambda e: -e["ratio_interval"][0],
        "weight": lambda e: -e["weight"], "count": lambda e: -e["count"]}
for word, key in keys.items():
    rows = [line.split() for line in open("table." + word) if "]  " in line]
    best = sorted(edges, key=key)[:20]
    assert len(rows) == len(best) > 5
    at = {(names[e["from"]], names[e["to"]], "(%g,%g]" % tuple(e["delay_ms"])): key(e) for e in edges}
    assert [at[tuple(r[:3])] for r in rows] == [key(e) for e in best], word # printed numbers may tie
END
expect 64 "expected one of q, ratio, weight, count" $SYNFIRE graph sim.h5 --sort size
expect 64 "--source" $SYNFIRE bfs sim.h5 --delay 4:6 --source nobody
expect 66 "no-such" $SYNFIRE graph no-such.h5
# No edge at all is an empty graph and a warning, not an error.
$SYNFIRE graph sim.h5 --min-count 1e9 --json >out 2>err
grep -q '"edges":0,"edge_detail":\[\]' out
grep -q "no unit has 1000000000 spikes: the most that a pair counts is" err

# Edges with a sign: every output has it, --max-false 1 has all pairs, surrogates give p and q.
python3 - >signs.csv <<'END'
import random
random.seed(5)
spikes, silent = [], 0
for ms in range(200000):
    for unit in "abcdefgh":
        if unit == "d" and ms < silent or random.random() >= 0.0125:
            continue
        spikes.append((ms + random.random(), unit))
        if unit == "a" and random.random() < 0.15:
            spikes.append((ms + 4, "b"))
        if unit == "c":
            silent = ms + 10
for ms, unit in sorted(spikes):
    print(f"{unit},{ms / 1000:.6f}")
END
$SYNFIRE graph signs.csv --metric regression --surrogates 20 --quiet --json --out signs.graphml >out
check 'assert out["pairs_compared"] == 56 and out["troughs_hidden"] == 0 and out["edges_tested"] == "tested"
signs = {(e["from_name"], e["to_name"]): e for e in out["edge_detail"]}
assert signs["a", "b"]["sign"] == 1 and signs["c", "d"]["sign"] == -1 and len(signs) <= 4, signs
for e in signs.values():
    assert e["confidence"] >= 0.95 and e["score"] * e["sign"] > 0 and e["weight"] * e["sign"] > 0
for pair in (("a", "b"), ("c", "d")):
    assert signs[pair]["p"] == signs[pair]["q"] == 1 / 21 and signs[pair]["delay_ms"][0] in (1, 3, 7), signs[pair]'
grep -q '<data key="[^"]*">-1</data>' signs.graphml
$SYNFIRE graph signs.csv --metric regression --quiet >table
grep -q "8 units, [0-9]* edges, [0-9]* of which inhibits\{0,1\}; of 56 ordered pairs all have spikes enough for a trough to be seen" table
grep -q "NOT TESTED: confidence holds edges against most pairs" table
grep -q "^c *d *inhibits " table
for metric in excess tspe transfer-entropy directed-sttc; do
    $SYNFIRE graph signs.csv --metric $metric --max-false 1 --delay 1:12 --quiet --csv | grep -v '^#' >all.csv
    [ "$(wc -l <all.csv)" = 57 ]
    python3 -c '
import csv
best = max(csv.DictReader(open("all.csv")), key=lambda e: float(e["score"]))
assert (best["from_name"], best["to_name"], best["sign"]) == ("a", "b", "1"), best'
done
# Delays narrower than two ticks of the clock.
awk 'BEGIN { for (i = 0; i < 400; i++) printf "%s,%.3f\n", i % 3 ? "a" : "b", i / 100 }' >coarse.csv
$SYNFIRE graph coarse.csv --metric regression --quiet >table
grep -q 'the delay (1,15] ms is narrower than two clock ticks of 10 ms' table
$SYNFIRE plot drive coarse.csv -o coarse.svg >/dev/null 2>err || true # an edge, or none to draw
grep -q 'the delay (1,15] ms is narrower than two clock ticks of 10 ms' err
$SYNFIRE graph coarse.csv --metric regression --delay 5:35 --quiet >table
must_fail grep -q 'clock ticks' table
[ "$($SYNFIRE match signs.csv 'A -> B [sign < 0]' --metric regression --quiet --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["count"])')" -ge 1 ]
expect 64 "--max-false: goes with a --metric of edges that have a sign" $SYNFIRE graph signs.csv --quiet --max-false 0.1
expect 64 "--min-count: goes with --metric episodes" $SYNFIRE graph signs.csv --quiet --metric tspe --min-count 5
expect 64 "found 2 intervals, expected one" $SYNFIRE graph signs.csv --quiet --metric tspe --delay 1:5,5:9
expect 64 "expected a millisecond or more from 0 to 50 ms" $SYNFIRE graph signs.csv --quiet --metric tspe --delay 1:60
expect 64 "needs surrogates, and none are made" $SYNFIRE graph signs.csv --quiet --metric tspe --max-q 0.05
