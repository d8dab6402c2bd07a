# SPDX-License-Identifier: Apache-2.0
# Measures of networks: of a recording and of every file of its graph alike, as networkx has them, in every output;
# and wrong words are refused.
. "$E2E/functions.sh"
$SYNFIRE simulate sim.h5 --unit-count 12 --rate 5 --duration 120 --chain "#0 -(4,6]-> #3 -(4,6]-> #7" --chain-rate 3 \
    --seed 3 --quiet >/dev/null
mine="--delay 4:6 --min-count 3"

# shellcheck disable=SC2086 # $mine is several words
$SYNFIRE graph sim.h5 $mine --measures --json --out g.graphml >out
check '
network, units = out["network"], out["network_units"]
assert network["vertices"] == len(units) == 12 and out["edges_tested"] == "untested"
assert network["rewired"] == 0 and network["small_world"] is None and network["clustering_z"] is None
assert [unit["name"] for unit in units] == list("ABCDEFGHIJKL")
assert units[0]["out_degree"] >= 1 and units[3]["betweenness"] > 0
strong = sorted(units, key=lambda unit: -unit["strength"])[:3]
assert {unit["name"] for unit in strong} == {"A", "D", "H"}, strong'

# The file of the graph says the same, but for what weights that are read lose.
python3 - <<'END' >measured
import json
print(json.dumps([json.load(open("out"))[key] for key in ("network", "network_units")]))
END
$SYNFIRE graph g.graphml --measures --json >out
check '
first = json.load(open("measured"))
assert [out["network"], out["network_units"]] == first'

# The same seed, the same modules and rewired graphs; another one, other graphs.
$SYNFIRE graph g.graphml --measures --rewired 10 --seed 5 --threads 1 --json | results >one
$SYNFIRE graph g.graphml --measures --rewired 10 --seed 5 --threads 3 --json | results >again
$SYNFIRE graph g.graphml --measures --rewired 10 --seed 6 --json | results >other
cmp one again
must_fail cmp -s one other

# In lines, and as CSV with a row for each unit.
$SYNFIRE graph g.graphml --measures --rewired 10 >out
grep -q '^small-worldness .* beside 10 graphs' out
grep -q '^clustering  *0' out
$SYNFIRE graph g.graphml --measures --csv >out
python3 - <<'END'
import csv
rows = list(csv.DictReader(open("out")))
assert len(rows) == 12 and {"strength", "betweenness_weighted", "module", "hub"} <= set(rows[0])
END

# Karate club: the greatest modularity there is, 0.4198 (Brandes et al. 2008), in four modules.
$SYNFIRE graph "$SYNFIRE_SOURCE/tests/data/karate.mtx" --measures --json >out
check '
network = out["network"]
assert abs(network["modularity"] - 0.4197896) < 1e-6 and network["modules"] == 4
assert abs(network["clustering"] - 0.5706384782076823) < 1e-12 and network["strength"] is None
assert abs(network["path_length"] - 2.408199643493761) < 1e-12'

# Only strong edges, only linked units.
$SYNFIRE graph g.graphml --measures --edge-density 0.05 --linked --json >out
check '
network = out["network"]
assert network["edges"] == 7 and network["isolated"] == 0 and network["vertices"] < 12 and network["edges_left_out"] > 0'
$SYNFIRE graph g.graphml --measures --threshold 1e9 --json >out
check 'assert out["network"]["edges"] == 0 and out["network"]["path_length"] is None and out["network"]["modules"] == 0'

expect 64 'goes with --measures' "$SYNFIRE" graph sim.h5 --rewired 10
expect 64 'is of edges, not of --measures' "$SYNFIRE" graph sim.h5 --measures --sort ratio
expect 64 'is for recordings' "$SYNFIRE" graph g.graphml --measures --delay 4:6
expect 64 'is for recordings' "$SYNFIRE" graph g.graphml --measures --out h.graphml
expect 64 'edge-density' "$SYNFIRE" graph g.graphml --measures --edge-density 2
expect 65 '--measures tells' "$SYNFIRE" graph g.graphml

# As networkx has them, where it is installed.
if "${SYNFIRE_PYTHON:-python3}" -c 'import networkx' 2>/dev/null; then
    for graph in "40 150 1 undirected" "40 200 2 directed" "25 30 3 directed" "60 700 4 undirected"; do
        # shellcheck disable=SC2086
        "${SYNFIRE_PYTHON:-python3}" -B "$E2E/networks.py" draw drawn.graphml $graph
        $SYNFIRE graph drawn.graphml --measures --json >out
        "${SYNFIRE_PYTHON:-python3}" -B "$E2E/networks.py" hold drawn.graphml <out
    done
else
    echo "skipped: measures beside networkx: no Python module networkx"
fi
