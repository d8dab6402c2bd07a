# SPDX-License-Identifier: Apache-2.0
# What mine writes is given to count, graph and run: by the names of units, which another recording has in another order;
# without names by indices that are checked. What is wrong has its place.
. "$E2E/functions.sh"
$SYNFIRE simulate sim.h5 --preset sym26 --seed 5 >/dev/null
$SYNFIRE mine sim.h5 --delay 4:6,6:9 --min-count 60 --max-size 3 --json >mined.json

# counts FILE: counts in the order of the file, by names and delays.
counts() {
    python3 - "$1" <<'PY'
import json, sys
for e in json.load(open(sys.argv[1]))["episodes"]:
    print(e["names"], e["delays_ms"], e["count"])
PY
}
$SYNFIRE count sim.h5 --episodes mined.json --json >counted.json
cmp <(counts mined.json) <(counts counted.json)
[ "$(counts mined.json | wc -l)" -gt 100 ]
python3 -c 'import json; json.dump(json.load(open("mined.json")), open("pretty.json", "w"), indent=2)'
$SYNFIRE count sim.h5 --episodes pretty.json --json | results | cmp - <(results <counted.json)
$SYNFIRE count sim.h5 --episodes counted.json --json | results | cmp - <(results <counted.json)

# The same units in another order: names find them, and indices alone are others.
python3 - <<'PY'
import json
document = json.load(open("mined.json"))
for e in document["episodes"]:
    e["units"] = [25 - u for u in e["units"]]
json.dump(document, open("elsewhere.json", "w"))
for e in document["episodes"]:
    e["names"] = None
json.dump(document, open("indices.json", "w"))
PY
$SYNFIRE count sim.h5 --episodes elsewhere.json --json | results | cmp - <(results <counted.json)
$SYNFIRE count sim.h5 --episodes indices.json --json >mirrored.json
python3 - <<'PY'
import json
right, mirrored = (json.load(open(name))["episodes"] for name in ("counted.json", "mirrored.json"))
assert [e["units"] for e in mirrored] == [[25 - u for u in e["units"]] for e in right]
PY

# A graph of the links of these, each once, with the counts that they have.
$SYNFIRE graph sim.h5 --episodes mined.json --json >out
check '
import itertools
links = {(u, v, *d) for e in json.load(open("mined.json"))["episodes"]
         for u, v, d in zip(e["units"], e["units"][1:], e["delays_ms"])}
pairs = {(*e["units"], *e["delays_ms"][0]): e["count"] for e in json.load(open("mined.json"))["episodes"]
         if len(e["units"]) == 2}
found = {(e["from"], e["to"], *e["delay_ms"]): e["count"] for e in out["edge_detail"]}
assert len(found) == out["edges"] > 100 and set(found) == links
assert all(found[link] == count for link, count in pairs.items())'
$SYNFIRE graph sim.h5 --episodes 'A -(4,6]-> B -(4,6]-> C' --json >out
check 'assert [[e["from_name"], e["to_name"]] for e in out["edge_detail"]] == [["A", "B"], ["B", "C"]]'

# A run watches them, and a configuration names the file among others.
python3 - <<'PY'
import json
document = json.load(open("mined.json"))
document["episodes"] = [e for e in document["episodes"] if len(e["units"]) == 3][:4]
json.dump(document, open("few.json", "w"))
PY
live="--set device=cpu --set mine.every=0 --set graph.enabled=false --set sinks.0.type=jsonl --set sinks.0.policy=block"
watched() { # how many are watched, and the episodes of the triggers
    python3 - "$1" <<'PY'
import json, sys
messages = [json.loads(line) for line in open(sys.argv[1])]
print(max(m["watched"] for m in messages if m["topic"] == "status"), sorted({m["id"] for m in messages if m["topic"] == "trigger"}))
PY
}
ids=$(python3 -c 'import json; print(sorted(e["id"] for e in json.load(open("few.json"))["episodes"]))')
$SYNFIRE run --replay sim.h5 --speed max --episodes few.json $live --set sinks.0.path=given.jsonl --quiet
[ "$(watched given.jsonl)" = "4 $ids" ]
echo 'watch: ["D -(4,6]-> E", "@few.json", "#0"]
track: ["@few.json"]' >watch.yaml
$SYNFIRE run watch.yaml --check --replay sim.h5 >resolved.yaml
python3 - <<'PY'
import re
text = open("resolved.yaml").read()
assert "@" not in text and text.count("-> ") == 1 + 2 * 4 * 2, text
PY
$SYNFIRE run watch.yaml --replay sim.h5 --speed max $live --set sinks.0.path=named.jsonl --quiet
watched named.jsonl | grep -q '^6 '
$SYNFIRE run watch.yaml --replay sim.h5 --speed max --episodes 'E -(4,6]-> F' $live --set sinks.0.path=both.jsonl --quiet
watched both.jsonl | grep -q '^7 '

# What is wrong, and where.
wrong() { # wrong WORDS JSON: count refuses it
    echo "$2" >wrong.json
    expect 65 "$1" $SYNFIRE count sim.h5 --episodes wrong.json
}
wrong "wrong.json: episodes[1]: column 1: no unit is named 'nobody'" \
    '{"episodes": [{"units": [0], "names": ["A"]}, {"units": [1], "names": ["nobody"], "delays_ms": []}]}'
wrong 'wrong.json: episodes[0]: expected "delays_ms" to be an array of 1 pairs' '{"episodes": [{"units": [0, 1], "names": ["A", "B"]}]}'
wrong 'expected "names" to be the names of the 2 units' '{"episodes": [{"units": [0, 1], "names": ["A"], "delays_ms": [[0, 5]]}]}'
wrong 'expected "names" to be the names of the 2 units' '{"episodes": [{"units": [0, 1], "names": ["A", "B", "C"], "delays_ms": [[0, 5]]}]}'
wrong 'wrong.json:1: expected "names" to be the names' '{"units": [0, 1], "names": ["A", 7], "delays_ms": [[0, 5]]}'
wrong 'no unit has index #26' '{"episodes": [{"units": [26], "delays_ms": []}]}'
wrong 'expected "units" to be an array' '{"episodes": [{"names": ["A"]}]}'
wrong 'delay interval is empty' '{"episodes": [{"units": [0, 1], "delays_ms": [[5, 5]]}]}'
wrong 'holds no episode' '{"episodes": []}'
wrong 'wrong.json:1: column' '{"episodes": [{"units": [0]}'
# Given links are tested too, as `count` tests them: corrected for these alone.
tested="--significance segment-shift --surrogates 99"
$SYNFIRE simulate linked.h5 --unit-count 8 --rate 10 --duration 120 --chain "A -(4,6]-> B -(4,6]-> C" --chain-rate 2 --quiet
printf 'A -(4,6]-> B -(4,6]-> C\nD -(4,6]-> E\n' >chains.txt
printf 'A -(4,6]-> B\nB -(4,6]-> C\nD -(4,6]-> E\n' >links.txt
$SYNFIRE graph linked.h5 --episodes chains.txt $tested --json >graph.json
$SYNFIRE count linked.h5 --episodes links.txt $tested --json >count.json
$SYNFIRE graph linked.h5 --episodes chains.txt $tested --max-q 0.05 --json >kept.json
python3 - <<'PY'
import json
graph, count, kept = (json.load(open(name + ".json")) for name in ("graph", "count", "kept"))
assert graph["edges_tested"] == "tested" and kept["edges_tested"] == "significant"
told = ("count", "expected", "p", "q")
assert [[[e["from_name"], e["to_name"]], *(e[k] for k in told)] for e in graph["edge_detail"]] == \
       [[e["names"], *(e[k] for k in told)] for e in count["episodes"]]
assert [[e["from_name"], e["to_name"]] for e in kept["edge_detail"]] == [["A", "B"], ["B", "C"]] and kept["edges_found"] == 3
PY
$SYNFIRE graph linked.h5 --episodes links.txt >table
grep -q "^NOT TESTED" table
expect 64 "--surrogates: goes with" $SYNFIRE graph linked.h5 --episodes links.txt --surrogates 99
expect 64 "--min-count: is for edges that are looked for" $SYNFIRE graph sim.h5 --episodes mined.json --min-count 3
expect 64 "--episodes: goes with --metric episodes" $SYNFIRE graph sim.h5 --episodes mined.json --metric sttc
expect 66 "absent.json" $SYNFIRE run --replay sim.h5 --episodes absent.json
echo 'watch: ["@absent.json"]' >absent.yaml
expect 78 "absent.yaml:1:9: watch.0: absent.json: " $SYNFIRE run absent.yaml --replay sim.h5
expect 64 "would write over the input" $SYNFIRE graph sim.h5 --episodes mined.json --out mined.json
