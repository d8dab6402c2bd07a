# SPDX-License-Identifier: Apache-2.0
# Verdicts of mine and count: p and q by surrogates, who is given none, and what is said of it.
. "$E2E/functions.sh"

$SYNFIRE simulate demo.h5 --preset sym26 --quiet >/dev/null
$SYNFIRE simulate bursting.h5 --unit-count 12 --rate 2 --duration 120 --burst-rate 0.2 --chain 'A -(4,6]-> B' \
    --chain-rate 1 --quiet >/dev/null
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --max-size 8 --json >all
printf 'start,stop,label\n0,20,rest\n20,35.5,light\n40,60,rest\n' >epochs.csv

# Significance: p, q and what is expected given the rest by surrogates, the same for a seed on any number of threads; the planted
# chain stands out, its by-products do not; the sentence for a paper.
for threads in 1 2; do
    $SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --significance segment-shift --surrogates 200 --seed 5 \
        --device cpu --threads $threads --json >tested.$threads
done
cmp <(results <tested.1) <(results <tested.2)
cp tested.1 out
check '
tested = [e for e in out["episodes"] if e["q"] is not None]
linked = [e for e in tested if e["q"] < 0.05]
chains = ["ABC", "DEFGHIJK"]
in_order = lambda names: any("".join(names) in c for c in chains)
assert sum(in_order(e["names"]) for e in linked) == len([e for e in out["episodes"] if in_order(e["names"])]) >= 15
assert any(e["not_tested"] == "reverse of a link" for e in out["episodes"])
assert len(linked) <= sum(in_order(e["names"]) for e in linked) + 1
by_rates = {e["id"]: (e["expected"], e["ratio_interval"]) for e in json.load(open("all"))["episodes"]}
chain, = (e for e in out["episodes"] if e["names"] == list("ABC"))
assert chain["expected"] < 3 < 20 < chain["expected_given_rest"] # which keeps A -> B
for e in out["episodes"]:
    assert (e["expected"], e["ratio_interval"]) == by_rates[e["id"]] # a test leaves them as they were
    assert (e["expected_given_rest"] is None) == (e["p"] is None)
    assert 0 < e["strength"] < 1
    if len(set(e["units"])) < len(e["units"]):
        assert e["not_tested"] == "a unit returns" and e["p"] is e["q"] is e["p_first"] is e["p_last"] is None
        continue
    if e["not_tested"] == "reverse of a link":
        assert in_order(e["names"][::-1]) and e["p"] is e["q"] is e["p_first"] is e["p_last"] is None
        continue
    if e["not_tested"] == "a link cannot be tested":
        assert any(in_order(e["names"][k:k + 2][::-1]) for k in range(len(e["names"]) - 1)) and e["p"] is e["q"] is e["p_links"] is None
        continue
    assert e["not_tested"] is None and 1 / 201 - 1e-9 <= e["p"] <= e["q"] <= 1
    assert e["p"] == max(e["p_last"], e["p_first"] or 0, e["p_links"] or 0)
    assert (e["p_first"] is None) == (e["p_links"] is None) == (len(e["units"]) == 2)
# A chain is as good as the worst of its links, which are pairs of the same table.
pairs = {(tuple(e["units"]), tuple(e["delays_ms"][0])): e for e in out["episodes"] if len(e["units"]) == 2}
for e in tested:
    links = [pairs[tuple(e["units"][k:k + 2]), tuple(e["delays_ms"][k])] for k in range(len(e["units"]) - 1)]
    assert all(link["p"] is None or (e["p"] >= link["p"] and e["q"] >= link["q"]) for link in links), e
    if len(links) > 1:
        assert e["p_links"] == max(link["p"] for link in links)
assert sum(len(e["units"]) > 2 for e in tested) > 10
for word in ["synfire", "(4,6] ms", "count of 60", "26 units", "200 surrogates", "seed 5", "18 ms either way", "blurs", "1 s", "data "]:
    assert word in out["methods"], word
assert out["methods"].endswith(".") and "\n" not in out["methods"]'
# The verdict asks for ten bursts or epochs where there are any: the same, worked out from the JSON.
seq 0 5 55 | awk '{print $1 "," $1 + 5 ",part"}' | sed '1i start,stop,label' >parts.csv
for epochs in "" "--epochs parts.csv" "--epochs epochs.csv"; do
    tested="$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --max-size 3 --significance segment-shift \
        --surrogates 200 --seed 5 --top 15 --sort q $epochs"
    $tested --json >out
    $tested >table
    check '
tested = [e for e in out["episodes"] if e["q"] is not None]
worth = [e for e in tested if e["count"] >= 20 and e["q"] < 0.05]
wide = sum(max(e["bursts"], e["epochs"] or 0) >= 10 for e in worth)
line = [l for l in open("table") if "units over 0.1 Hz" in l]
assert len(line) == 1 and len(worth) > 3
if out["bursts"] > 0 or out["epochs"]:
    told = f"; of the {len(worth)} of them among the {len(out['"'episodes'"'])} shown, {wide} are in 10 bursts or epochs or more\n"
    assert line[0].endswith(told), (line, told)
    assert (wide > 3) == (len(out["epochs"] or []) >= 10 or out["bursts"] >= 10)
else:
    assert line[0].endswith("0.1 Hz\n")'
done
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --significance segment-shift --surrogates 200 --fdr --device cpu --json >out
check '
assert min(e["q"] for e in out["episodes"] if e["q"] is not None) < 1e-4 and "Benjamini" in out["methods"]
assert out["significance"].pop("power") == [] and out["significance"].pop("power_pairs") == 0 # by the maximum alone
assert 0 < out["significance"].pop("low_share") < 0.1
assert out["significance"] == {"kind": "segment-shift", "link": None, "surrogates": 200, "seed": 1, "width_ms": 18, "segment_s": 1,
    "correction": "false-discovery rate", "splits": False, "not_tested": None, "sharpness": 0, "blur_divisor": 54, "grouped_units": 0, "cautions": [], "device": "cpu",
    "device_note": None}
assert json.load(open("all"))["significance"] is None'
# A table without --top shows what is worth showing beside the highest counts, which wide intervals have.
tested="$SYNFIRE mine demo.h5 --delay 4:6,6:30 --min-count 20 --max-size 2 --significance segment-shift --surrogates 200 --fdr --sort count"
$tested --json >out
$tested >table
check '
rows = [l.split() for l in open("table") if "]-> " in l]
shown = [(r[0], r[2]) for r in rows if r[1] == "-(4,6]->"]
worth = [(i, e) for i, e in enumerate(out["episodes"]) if e["count"] >= 20 and e["q"] is not None and e["q"] < 0.05]
narrow = [tuple(e["names"]) for _, e in worth if e["delays_ms"] == [[4, 6]]]
assert 5 < len(worth) <= 20 and len(rows) == 20 + sum(i >= 20 for i, _ in worth) and 5 < len(narrow) and shown == narrow'
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --significance analytic --json >out
check "
test = out['significance']
assert test['kind'] == 'analytic' and test['link'] > 0, test
assert all(test[key] is None for key in ('surrogates', 'seed', 'width_ms', 'segment_s', 'correction', 'blur_divisor')), test"
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --significance analytic >out
grep -q 'expected  *ratio  95 %  *p  q' out
grep -q 'Sastry' out
$SYNFIRE mine demo.h5 --delay 0:20 --min-count 60 --max-size 2 --significance analytic --quiet >out 2>err
[ ! -s err ]
sed -n '/^Doubtful$/,/^$/p' out | grep -q 'p means nothing'
# The filter by p and q, and what comes first.
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --significance segment-shift --surrogates 200 --json >tested
for words in "--max-q 0.05" "--max-p 0.02" "--max-p 0.02 --max-q 0.5" "--sort q" "--sort ratio" "--sort strength" "--sort count"; do
    # shellcheck disable=SC2086
    $SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --significance segment-shift --surrogates 200 $words --json >"tested $words"
done
python3 - <<'PY'
import json, math
read = lambda words: json.load(open(("tested " + words).strip()))["episodes"]
every = read("")
within = lambda value, most: value is not None and value <= most
assert 15 < len(read("--max-q 0.05")) < 30 < len(every)
assert read("--max-q 0.05") == [e for e in every if within(e["q"], 0.05)]
assert read("--max-p 0.02") == [e for e in every if within(e["p"], 0.02)]
assert read("--max-p 0.02 --max-q 0.5") == [e for e in every if within(e["p"], 0.02) and within(e["q"], 0.5)]
last = lambda value: math.inf if value is None else value
keys = {"q": lambda e: (last(e["q"]), -e["ratio_interval"][0]), "ratio": lambda e: -e["ratio_interval"][0],
        "strength": lambda e: -e["strength"], "count": lambda e: -e["count"]}
for word, key in keys.items():
    listed = read("--sort " + word)
    ranks = [(len(e["units"]), key(e)) for e in listed] # printed numbers may tie
    assert ranks == sorted(ranks) and {e["id"] for e in listed} == {e["id"] for e in every}, word
assert read("--sort ratio") != read("--sort count") == every
for e in every:
    low, high = (e["expected"] * end for end in e["ratio_interval"])
    assert low < e["count"] < high and abs((high - low) / 2 / 1.96 - e["count"] ** 0.5) < 1
PY
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --significance segment-shift --surrogates 200 --max-q 0.05 >out
grep -qx '21 of 133 have p and q within --max-p and --max-q' out
[ "$(grep -c 'NOT TESTED' out)" = 0 ]
# p alone is no verdict on what was selected: said wherever --max-p stands without --max-q.
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --significance segment-shift --surrogates 200 --max-p 0.05 --json >out 2>err
grep -q -- '--max-p goes by p, .* nor for the threshold .* a share of 0.05 or more passes. --max-q corrects' err
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --significance jitter --surrogates 20 --max-p 0.05 --quiet >out 2>err
sed -n '/^Doubtful$/,/^$/p' out >doubtful
[ "$(wc -l <doubtful)" = 5 ]
[ "$(grep -c '^  ' doubtful)" = 3 ]
[ ! -s err ]
grep -q -- '^  --max-p goes by p' doubtful
grep -q '^  jitter takes bursts that units share for links' doubtful
grep -q '^  with 20 surrogates no p or q is below 0.048' doubtful
$SYNFIRE graph demo.h5 --delay 4:6 --min-count 60 --significance segment-shift --surrogates 20 --quiet >out 2>err
grep -A1 '^Doubtful$' out | grep -q '^  with 20 surrogates no p or q is below 0.048'
[ ! -s err ]
$SYNFIRE mine --help | tr -s ' \n' ' ' | grep -q 'of unlinked pairs among it more than a share of P passes'
$SYNFIRE graph demo.h5 --delay 4:6 --min-count 60 --significance segment-shift --surrogates 200 --max-p 0.05 --max-q 0.5 \
    >out 2>err
if grep -q 'goes by p' err; then exit 1; fi
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 >out
grep -qF 'NOT TESTED: `expected` is by rates, and ranks. Add --significance segment-shift --max-q 0.05' out
$SYNFIRE mine bursting.h5 --delay 4:6 --min-count 60 >out
bursts='NOT TESTED: the [0-9]+ bursts that units share here make nearly any count exceed what constant rates give'
told="^$bursts, and 95 % too narrow where they hold most spikes\\. Add"
grep -qE "$told" out
echo 'A -(4,6]-> B' >link.txt
$SYNFIRE count bursting.h5 --episodes link.txt >out
grep -qE "$told" out
$SYNFIRE graph bursting.h5 --delay 4:6 --min-count 60 >out
grep -qE "$told" out
# A test leaves `expected` by rates, and what is said of it.
for command in "mine bursting.h5 --min-count 60 --delay 4:6" "graph bursting.h5 --min-count 60 --delay 4:6" \
    "count bursting.h5 --episodes link.txt"; do
    # shellcheck disable=SC2086
    $SYNFIRE $command --significance segment-shift --surrogates 100 --quiet >out
    grep -qE '^`expected` is by rates: the [0-9]+ bursts .* where they hold most spikes. `given rest` keeps them$' out
    grep -qE 'given rest +p ' out
done
$SYNFIRE bfs bursting.h5 --delay 4:6 --min-count 60 --source A >out # has no such intervals
grep -qE "^$bursts\\. Add" out
expect 64 "--max-q: goes with --significance" $SYNFIRE mine demo.h5 --max-q 0.05
expect 64 "--max-q: needs surrogates" $SYNFIRE mine demo.h5 --significance analytic --max-q 0.05
expect 64 "expected one of count, q, ratio, strength, standing" $SYNFIRE mine demo.h5 --sort size
# Chains that were named before: tested alone, corrected for one another, and what they would have had to count.
printf '%s\n' 'A -(4,6]-> B -(4,6]-> C' 'A -(4,6]-> D' 'C -(4,6]-> A' 'A -(4,6]-> B -(4,6]-> A' 'A -(4,6]-> G' >named.txt
printf 'A -(4,6]-> G\n' >one.txt
for options in "" "--max-q 0.05" "--fdr"; do
    # shellcheck disable=SC2086
    $SYNFIRE count demo.h5 --episodes named.txt --significance segment-shift $options --json >"named $options"
done
$SYNFIRE count demo.h5 --episodes one.txt --significance segment-shift --json >one
$SYNFIRE count demo.h5 --episodes named.txt --significance segment-shift --max-q 0.05 --window 20 >table
cp "named " out
check '
chain, none, back, returning, lucky = out["episodes"]
assert chain["p"] <= 0.002 and chain["q"] < 0.01 and chain["expected_given_rest"] > 20 > 3 > chain["expected"] and 30 < chain["needed"] < 60 and chain["p_first"]
assert none["q"] > 0.2 and back["q"] > 0.2 and returning["not_tested"] == "a unit returns" and returning["p"] is None
assert none["count"] < none["needed"] and chain["count"] >= chain["needed"]
alone = json.load(open("one"))["episodes"][0]
assert alone["p"] <= alone["q"] < alone["p"] + 1 / 1001 # one stands alone: p spreads whole counts, which the maxima are
assert alone["q"] <= lucky["q"] and lucky["p"] < 0.02 # as it was among 650 pairs, where q is 0.58
assert out["significance"]["surrogates"] == 1000 and "given episodes" in out["methods"] and "candidates given" in out["methods"]
kept = json.load(open("named --max-q 0.05"))["episodes"]
assert returning["expected_given_rest"] is None and abs(chain["ratio_interval"][0] / 45.4 - 1) < 0.01
assert kept == [e for e in out["episodes"] if e["q"] is not None and e["q"] <= 0.05]
rate = json.load(open("named --fdr"))
assert rate["episodes"][0]["q"] < 1e-4 and rate["episodes"][0]["needed"] is None and "Benjamini" in rate["methods"]'
grep -q 'of 5 have p and q within' table
grep -q '^synfire .* counted 5 given episodes' table
grep -q '  p  *q' table
# Chains by every split into two groups: the planted one stays, one with a unit that is not linked does not.
printf '%s\n' 'A -(4,6]-> B -(4,6]-> C' 'A -(4,6]-> B -(4,6]-> X' 'A -(4,6]-> Q -(4,6]-> C' >chains.txt
$SYNFIRE count demo.h5 --episodes chains.txt --significance segment-shift --surrogates 200 --splits --json >out
check '
planted, end, middle = out["episodes"]
assert planted["q"] < 0.01 and end["q"] > 0.05 and middle["q"] > 0.05 and planted["p_links"] is planted["needed"] is None
assert out["significance"]["splits"] and "every split" in out["methods"]'
expect 64 "splits: are of chains of 3 to 5 units, and episode 2 has 2" $SYNFIRE count demo.h5 --episodes named.txt --significance segment-shift --splits
expect 64 "--splits: goes with --significance" $SYNFIRE count demo.h5 --episodes chains.txt --splits
$SYNFIRE count demo.h5 --episodes named.txt >out
grep -qF 'NOT TESTED: `expected`' out
expect 64 "--max-q: goes with --significance" $SYNFIRE count demo.h5 --episodes named.txt --max-q 0.05
# What pairs would have had to count is true of those that counted it.
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 20 --max-size 2 --significance segment-shift --surrogates 200 --json >out
check '
quarters = out["significance"]["power"]
assert len(quarters) == 3 and all(1.2 < q["needed"] / q["expected_given_rest"] < 2.5 for q in quarters)
means = [q["expected_given_rest"] for q in quarters]
assert means == sorted(means)
for e in out["episodes"]:
    assert (e["q"] is not None and e["count"] >= e["needed"]) == (e["q"] is not None and e["q"] < 0.05), e
assert any(e["q"] is not None for e in out["episodes"])'
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --significance segment-shift --surrogates 200 >out
grep -qE '^power: the least count for a q below 0.05 is [0-9]+ at the lower quartile of surrogate counts \([0-9.]+\), .*; all 650 pairs$' out
# Of pairs that hardly fire nothing is told: not that they had to count 20 where 0 are expected.
python3 - <<'PY'
import random
random.seed(5)
with open("silent.csv", "w") as out:
    for unit in range(20):
        for _ in range(500 if unit < 6 else 12):
            out.write(f"u{unit},{random.random() * 100:.5f}\n")
PY
test_silent() { $SYNFIRE mine silent.csv --delay 0.5:6 --max-size 2 --significance segment-shift --surrogates 100 "$@"; }
test_silent --min-count 10 --json >out
check '
told = out["significance"]
assert 30 <= told["power_pairs"] < 60 and all(q["expected_given_rest"] > 5 for q in told["power"]) and len(told["power"]) == 3, told'
test_silent --min-count 10 >out
grep -qE '^power: .* at the upper quartile of .*; of 380 pairs, the [345][0-9] with a surrogate count of 1 or more$' out
$SYNFIRE mine demo.h5 --delay 4:6 --min-count 60 --significance jitter --surrogates 20 >out 2>err
grep -q 'bursts that units share' out
grep -q 'no p or q is below 0.048' out
$SYNFIRE mine demo.h5 --delay 4:30 --min-count 300 --max-size 2 --significance segment-shift --surrogates 99 >out 2>err
grep -q 'could be tested' out err && exit 1
$SYNFIRE mine demo.h5 --delay 4:60 --min-count 300 --max-size 2 --significance segment-shift --surrogates 99 >out 2>err
grep -q 'could be tested' out err && exit 1

# No verdict that surrogates cannot give. Delays longer than a segment holds: no p and q, in any output, and the reason.
$SYNFIRE mine demo.h5 --delay 4:70 --min-count 300 --max-size 2 --significance segment-shift --surrogates 99 >table 2>err
[ ! -s err ]
grep -q '^None of [0-9]* episodes could be tested: delays too long.*; for waves see graph --metric sttc' table
grep -q 'gave no verdict (delays too long)' table
grep -Eq ' delays too long( |$)' table
grep -q 'with q below' table && exit 1
$SYNFIRE mine demo.h5 --delay 4:70 --min-count 300 --max-size 2 --significance segment-shift --csv >out 2>err
grep -q 'no episode could be tested: delays too long' err
[ "$(tail -n +2 out | grep -c ',,,[0-9.]*,delays too long,[0-9.]*,[0-9.]*,,,,,,0,')" = 650 ]
$SYNFIRE graph demo.h5 --delay 4:70 --min-count 300 --significance segment-shift --json >out 2>err
grep -q 'no episode could be tested: delays too long' err
check 'assert all(e["p"] is None and e["not_tested"] == "delays too long" for e in out["edge_detail"]) and out["edges"] == 650'
$SYNFIRE graph demo.h5 --delay 4:70 --min-count 300 --significance segment-shift --quiet >table
grep -q ' delays too long$' table

# Bursts that units share: sharp ones are not testable, smooth ones are, and info tells which.
for sigma in 4 20 100; do
    $SYNFIRE simulate bursts.h5 --unit-count 24 --rate 4 --duration 1800 --burst-rate 0.1 --burst-spikes 5 --burst-sigma $sigma --seed 31 \
        --quiet >/dev/null
    $SYNFIRE info bursts.h5 --json >info
    $SYNFIRE info bursts.h5 >text
    $SYNFIRE mine bursts.h5 --preset culture-60 --max-size 2 --significance segment-shift --surrogates 20 --json --quiet >out
    $SYNFIRE mine bursts.h5 --preset culture-60 --max-size 2 --significance segment-shift --surrogates 20 --quiet >table
    check '
sharp = '$sigma' < 20
limit = 0.17
info = {s["delay_high_ms"]: s for s in json.load(open("info"))["sharpness"]}
text, table = open("text").read(), open("table").read()
assert list(info) == [2, 5, 10, 20, 50] and all(s["width_ms"] in (1.5 * d, 3 * d) and 500 < s["pairs"] <= 552 for d, s in info.items())
assert info[20]["testable"] == (not sharp) and (info[20]["sharpness"] > limit) == sharp
assert info[20]["grouped_units"] == 0 and (info[20]["low_share"] > 0.1) == sharp
assert ("20 ms: %.2f%s;" % (info[20]["sharpness"], " !" if sharp else "")) in text
assert ("bursts are too sharp for --significance at delays up to" in text) == (not all(i["testable"] for i in info.values()))
test = out["significance"]
assert test["not_tested"] == ("bursts too sharp" if sharp else None) and (test["sharpness"] > limit) == sharp
assert len(out["episodes"]) > 1000
for e in out["episodes"]:
    assert (e["not_tested"] == "bursts too sharp") == sharp
    assert (e["not_tested"] is not None) == (e["q"] is None) == (e["p"] is None)
assert ("None of %d episodes could be tested: bursts too sharp" % len(out["episodes"]) in table) == sharp
assert ("with q below 0.05" in table) == (not sharp)
assert "can be tested" not in table and "can be tested" not in text'
done

# Units that --units left out are looked at too; of two units alone nothing is known, and they are tested.
$SYNFIRE simulate bursts.h5 --unit-count 24 --rate 4 --duration 1800 --burst-rate 0.1 --burst-spikes 5 --burst-sigma 4 --seed 31 \
    --quiet >/dev/null
$SYNFIRE mine bursts.h5 --units A,B --delay 0.5:20 --min-count 5 --max-size 2 --significance segment-shift --surrogates 20 --json --quiet >out
check 'assert out["significance"]["not_tested"] == "bursts too sharp" and all(e["p"] is None for e in out["episodes"])'
python3 - <<'EOF'
import random
random.seed(8)
with open("two.csv", "w") as file:
    for i in range(4000):
        at = random.uniform(0, 1000)
        file.write(f"A,{at:.5f}\n")
        file.write(f"B,{at + 0.005 if i % 10 == 0 else random.uniform(0, 1000):.5f}\n")
EOF
echo 'A -(4,6]-> B' >two.txt
$SYNFIRE count two.csv --episodes two.txt --significance segment-shift --json >out 2>warned
check 'assert out["episodes"][0]["p"] < 0.002 and out["significance"]["sharpness"] is out["significance"]["low_share"] is None
assert out["significance"]["cautions"] == ["too few pairs to tell how sharp bursts are"]'
grep -q 'too few pairs of units' warned
$SYNFIRE info two.csv | grep -q 'too few pairs to tell'

# A real wave: chains that return have no q whatever the delays.
wave=$SYNFIRE_DATA/recordings/Wong1993_P0.h5
if has_data "recordings/${wave##*/}"; then
    $SYNFIRE mine "$wave" --preset retina-waves --min-count 20 --max-size 3 --significance segment-shift --surrogates 20 --json --quiet >out
    check '
returning = [e for e in out["episodes"] if len(set(e["units"])) < len(e["units"])]
assert len(returning) > 500 and all(e["not_tested"] == "a unit returns" and e["q"] is None for e in returning)
assert all(e["not_tested"] == "delays too long" and e["q"] is None for e in out["episodes"] if e not in returning)'
    $SYNFIRE mine "$wave" --delay 0.5:50 --min-count 20 --max-size 3 --significance segment-shift --surrogates 20 --json --quiet >out
    check '
returning = [e for e in out["episodes"] if len(set(e["units"])) < len(e["units"])]
assert returning and all(e["not_tested"] == "a unit returns" and e["q"] is None for e in returning)
assert all(e["not_tested"] == "reverse of a link" or e["q"] > 0 for e in out["episodes"] if e not in returning)'
fi
$SYNFIRE graph demo.h5 --delay 4:6 --min-count 60 --significance segment-shift --surrogates 200 --seed 5 --json >out
check '
pairs = {tuple(e["units"]): e for e in json.load(open("tested.1"))["episodes"] if len(e["units"]) == 2}
assert out["edges"] == len(pairs) > 100
for e in out["edge_detail"]:
    pair = pairs[e["from"], e["to"]]
    for key in ("p", "expected", "expected_given_rest", "count", "ratio_interval"):
        assert e[key] == pair[key], key
    assert abs(e["weight"] - (e["count"] - e["expected"])) < 1e-6 * e["count"]'
