# SPDX-License-Identifier: Apache-2.0
# synfire sequences: a planted sequence is told with its units and their places, every table, a chain at a fixed place, and
# refusals.
. "$E2E/functions.sh"

# 40 bursts 5 s apart: a, b, c, d fire 8 ms after each other, then e to h anywhere within 300 ms, h four times.
python3 - >planted.csv <<'PY'
import random
random.seed(5)
for b in range(40):
    start = 5 * b + 2 + random.random() * 0.5
    for i, unit in enumerate("abcd"):
        print(f"{unit},{start + 0.008 * i + random.random() * 0.002:.5f}")
    for unit in "efghhhh":
        print(f"{unit},{start + random.random() * 0.3:.5f}")
PY
isi="--recorded 0:210 --network-method isi-n --network-spikes 6 --network-within 400"
$SYNFIRE sequences planted.csv $isi --episodes "a -(4,12]-> b -(4,12]-> c" --json >told.json 2>err
python3 - <<'PY'
import json
told = json.load(open("told.json"))
assert told["bursts"] == told["ordered"] == 40 and told["backbone"] == 8, told
assert told["sequence"] and told["p"] == told["placed_p"] == 0.001 and not told["counted"] and told["members"] == told["placed"], told
units = {u["name"]: u for u in told["unit_detail"]}
named = sorted((u["order"], u["name"]) for u in told["unit_detail"] if u["member"])
assert [name for _, name in named] == ["a", "b", "c", "d"], named
for i, name in enumerate("abcd"):
    assert abs(units[name]["place_ms"] - 8 * i) < 2 and units[name]["kept"] == 40 and units[name]["q"] < 0.01, units[name]
assert units["a"]["position"] < -0.5 and abs(units["h"]["position"] - units["e"]["position"]) < 0.3, units
assert units["h"]["order"] == 0 and units["e"]["spikes"] == 1, units
assert len(told["similarity"]) == 40 * 39 / 2 and len(told["burst_detail"]) == 40, told
mean = sum(s["similarity"] for s in told["similarity"]) / len(told["similarity"])
assert abs(mean - told["mean_similarity"]) < 1e-9, (mean, told["mean_similarity"])
first = [l for l in told["latencies"] if l["burst"] == 0]
assert len(first) == 8 and min(first, key=lambda l: l["first_s"])["rank"] == 0, first
chain, = told["chains"]
assert chain["fixed"] and chain["count"] == 40 and chain["kept"] == 40 and abs(chain["place_ms"]) < 3, chain
PY
$SYNFIRE sequences planted.csv $isi 2>err >text
grep -q "^sequence  a > b > c > d$" text

# CSV has the same rows; of few bursts all signs are counted.
for table in units bursts latencies similarity summary; do
    $SYNFIRE sequences planted.csv $isi --csv --table $table >$table.csv 2>err
done
[ "$(wc -l <units.csv)" = 9 ]
[ "$(wc -l <bursts.csv)" = 41 ]
[ "$(wc -l <similarity.csv)" = 781 ]
$SYNFIRE sequences planted.csv $isi --to 50 --json 2>err | python3 -c "
import json, sys
told = json.load(sys.stdin)
assert told['bursts'] == 10 and told['counted'] and told['p'] == 1 / 512, told"

# plot draws the same: units by place from the top, each burst's first spikes, similarities, and the verdict.
$SYNFIRE plot sequences planted.csv $isi -o sequences.svg --json >plot.json 2>err
python3 - <<'PY'
import json
told, drawn = json.load(open("told.json")), json.load(open("plot.json"))
left, right = drawn["panels"]
assert "There is a sequence, of these" in drawn["caption"] and "p 0.001" in drawn["caption"], drawn["caption"]
names = left["y"]["names"]
assert names[::-1][:4] == ["a", "b", "c", "d"] and len(names) == 8, names
places = {u["name"]: u["place_ms"] for u in told["unit_detail"]}
assert names[3::-1] == sorted("efgh", key=places.get), (names, places)
image, = (m for m in left["marks"] if m["shape"] == "image")
inner = 0
for l in told["latencies"]:
    cell = image["values"][names.index(l["name"]) * 40 + l["burst"]]
    low, high = left["colours"]["from"], left["colours"]["to"]
    assert abs(cell - max(low, min(high, l["latency_ms"]))) < 1e-6, (l, cell)
    inner += low < l["latency_ms"] < high
assert inner >= 0.85 * len(told["latencies"]), inner
cells = next(m for m in right["marks"] if m["shape"] == "image")["values"]
for s in told["similarity"]:
    assert cells[s["burst"] * 40 + s["other"]] == cells[s["other"] * 40 + s["burst"]] == s["similarity"], s
assert all(cells[b * 41] is None for b in range(40))
PY
$SYNFIRE report planted.csv --recorded 0:210 -o planted.html --json >report.json 2>err
python3 -c "
import json
one, = (f for f in json.load(open('report.json'))['figures'] if f['kind'] == 'sequences')
assert one['why_not'] is None and len(one['panels']) == 2 and 'network bursts by rate' in one['caption'], one['why_not']"
grep -q '<figure id="sequences">' planted.html
$SYNFIRE sequences --help >told # what it takes, not what else an option could begin as
grep -q "(-1 to 1, default 0.1)" told
grep -q "default: a fiftieth of what bursts last" told
expect 64 "--backbone: says nothing to the figure rates" $SYNFIRE plot rates planted.csv -o x.svg --backbone 0.5
expect 65 "fewer than two network bursts have an order" $SYNFIRE plot sequences planted.csv $isi --network-within 1 -o none.svg --quiet
[ ! -e none.svg ]

# By first spikes and by rate peaks the same sequence is told, and what it is by; fast h is early by its first spike alone.
for by in first-spike rate-peak; do
    $SYNFIRE sequences planted.csv $isi --order-by $by --json >$by.json 2>err
    $SYNFIRE sequences planted.csv $isi --order-by $by 2>err | grep -q "^order     by ${by%-*}"
    $SYNFIRE plot sequences planted.csv $isi --order-by $by -o $by.svg --json 2>err | grep -q "Its mean by $by is"
done
$SYNFIRE sequences planted.csv $isi --csv --table summary 2>err | grep -q "^first-last,40,40,8,"
python3 - <<'PY'
import json
both, first, peak = (json.load(open(f"{name}.json")) for name in ("told", "first-spike", "rate-peak"))
assert [t["order_by"] for t in (both, first, peak)] == ["first-last", "first-spike", "rate-peak"]
for told in (first, peak):
    assert told["sequence"] and told["p"] == 0.001, told["p"]
    assert [name for _, name in sorted((u["order"], u["name"]) for u in told["unit_detail"] if u["member"])] == ["a", "b", "c", "d"]
position = lambda told, name: next(u["position"] for u in told["unit_detail"] if u["name"] == name)
assert position(first, "h") < position(first, "e") - 0.2 and abs(position(both, "h") - position(both, "e")) < 0.3, position(first, "h")
PY
expect 64 "expected one of first-last, first-spike, rate-peak" $SYNFIRE sequences planted.csv --order-by last

# compare takes two measures of them where it is asked, and a row of each unit.
cp planted.csv again.csv
printf 'file,condition,recorded\nplanted.csv,x,0:210\nagain.csv,y,0:210\n' >table.csv
alone="--without graph,chains --network-method isi-n --network-spikes 6 --network-within 400"
$SYNFIRE compare table.csv --out compared $alone --sequences --order-by rate-peak --json >compared.json 2>err
$SYNFIRE compare table.csv --out plain $alone --json >plain.json 2>err
python3 - <<'PY'
import csv, json
peak = json.load(open("rate-peak.json"))
rows = list(csv.DictReader(open("compared/recordings.csv")))
assert len(rows) == 2 and all(float(row["burst_similarity"]) == peak["mean_similarity"] for row in rows), rows
assert all(float(row["placed_units"]) == peak["placed"] / peak["backbone"] for row in rows), rows
units = [row for row in csv.DictReader(open("compared/sequences.csv")) if row["file"] == "planted.csv"]
assert [(u["name"], u["order"]) for u in units] == [(u["name"], str(u["order"])) for u in peak["unit_detail"]], units
told, plain = json.load(open("compared.json")), json.load(open("plain.json"))
measured = lambda document: {test["measure"] for contrast in document["contrasts"] for test in contrast["measures"]}
assert {"burst_similarity", "placed_units"} <= measured(told)
assert not {"burst_similarity", "placed_units"} & measured(plain)
assert "by the rate peak of each" in told["methods"] and "rate peak" not in plain["methods"], told["methods"]
row, = (row for row in csv.DictReader(open("plain/recordings.csv")) if row["file"] == "again.csv")
assert row["burst_similarity"] == "" and len(open("plain/sequences.csv").readlines()) == 1, row
PY
expect 64 "is of sequences: give --sequences" $SYNFIRE compare table.csv --out x $alone --measures placed_units
expect 64 "goes with --sequences" $SYNFIRE compare table.csv --out x $alone --backbone 0.6
expect 64 "goes with --sequences" $SYNFIRE compare table.csv --out x $alone --sequence-surrogates 99
$SYNFIRE compare table.csv --out few $alone --sequences --sequence-surrogates 19 --json >few.json 2>err
python3 - <<'PY'
import csv
least = [min(float(row["p"]) for row in csv.DictReader(open(f"{folder}/sequences.csv")) if row["p"]) for folder in ("compared", "few")]
assert least[0] < 0.01 and least[1] == 0.05, least
PY

# Without bursts nothing is said.
$SYNFIRE sequences planted.csv $isi --network-within 1 2>err | grep -q "nothing can be said of sequences"
expect 64 "--table: chains are those of --episodes" $SYNFIRE sequences planted.csv --csv --table chains
expect 64 "--table: is of --csv" $SYNFIRE sequences planted.csv --table units
expect 64 "--backbone" $SYNFIRE sequences planted.csv --backbone 2
expect 64 "--surrogates" $SYNFIRE sequences planted.csv --surrogates 5

# Tables keep to 80 characters, and say what has no room; whole numbers of milliseconds have no exponent.
$SYNFIRE simulate wide.h5 --unit-count 12 --rate 1 --duration 300 --burst-rate 0.1 --burst-spikes 15 --burst-sigma 800 --quiet >/dev/null
$SYNFIRE simulate busy.h5 --unit-count 12 --rate 3 --duration 120 --burst-rate 0.2 --seed 4 --quiet >/dev/null # whose table has 82
for command in "bursts busy.h5" "bursts wide.h5" "sequences wide.h5" "criticality wide.h5" "graph wide.h5 --min-count 5 --measures"; do
    # shellcheck disable=SC2086
    $SYNFIRE $command --quiet >table
    awk '/^(unit|#|power law of) .*  / { rows++ } /^(unit|#|-|power|size|duration|[A-Z] ) *.*  .*  / && length($0) > 80 { print; exit 1 }
        END { exit rows == 0 }' table
done
$SYNFIRE sequences wide.h5 --quiet >table
must_fail grep -q '[0-9]e+0[0-9]' table
echo passed
