# SPDX-License-Identifier: Apache-2.0
# A chain that is there while something is on is found and predicts it, labels of another recording are predicted by
# chance, markers of a real recording are read, and what is wrong is refused.
. "$E2E/functions.sh"
python3 "$E2E/labelled.py" on.csv labels.csv 1 300
$SYNFIRE rules on.csv --labels labels.csv --window 1 --delay 4:7 --json --rule on.rule >out
check '
assert out["episode"]["names"] == ["A", "B", "C"] and out["episode"]["delays_ms"] == [[4, 7], [4, 7]], out["episode"]
assert set(out["labels"]) == {"on", "off"} and out["predicts"] == ["off", "on"] and len(out["thresholds"]) == 1
assert out["accuracy"] > 0.95 and out["chance"]["p"] == 0.01 and out["rate"]["accuracy"] < 0.7, out
assert sum(map(sum, out["confusion"])) == out["windows"]["labelled"] == sum(f["windows"] for f in out["folds"])
right = sum(row[i] for i, row in enumerate(out["confusion"]))
assert abs(right / out["windows"]["labelled"] - out["accuracy"]) < 1e-12
assert out["windows"]["count"] == sum(out["windows"][k] for k in ("labelled", "mixed", "unlabelled", "unrecorded"))
assert {f["episode"] for f in out["folds"]} == {out["episode"]["id"]} and len(out["folds"]) == 10
rule = json.load(open("on.rule"))
assert rule["synfire"] == "rule" and rule["episode"] == "A -(4,7]-> B -(4,7]-> C" and rule["window_s"] == 1
assert rule["thresholds"] == out["thresholds"] and rule["predicts"] == out["predicts"]
'
cp out first
$SYNFIRE rules on.csv --labels labels.csv --window 1 --delay 4:7 --json --rule on.rule --threads 2 >out
[ "$(results <out)" = "$(results <first)" ]

# Live, the rule says of each window what it was.
live() {
    $SYNFIRE run --replay on.csv --speed max --set window.length_s=1 --set window.hop_s=0.5 --set mine.every=0 \
        --set rules.0=on.rule --set sinks.0.type=jsonl --set sinks.0.path=live.jsonl "$@"
}
live --quiet
python3 - <<'PY'
import json
labels = [(float(a), float(b), c) for a, b, c in (line.strip().split(",") for line in open("labels.csv"))]
told = [m for m in map(json.loads, open("live.jsonl")) if m["topic"] == "episodes"]
assert all(m["rules"][0]["label"] is None and not m["rules"][0]["changed"] for m in told if m["partial"])
full = [m for m in told if not m["partial"]]
right = [m["rules"][0]["label"] == c for m in full for a, b, c in labels if a <= m["from_s"] and m["to_s"] <= b]
assert len(right) > 300 and sum(right) > 0.97 * len(right), (sum(right), len(right))
before = None
for m in full:
    rule = m["rules"][0]
    assert rule["rule"] == "on.rule" and rule["id"] == m["episodes"][0]["id"] and rule["count"] == m["episodes"][0]["count"]
    assert rule["changed"] == (before is not None and before != rule["label"])
    assert rule["before"] == (before if rule["changed"] else None)
    before = rule["label"]
assert sum(m["rules"][0]["changed"] for m in full) >= len(labels) - 1
PY
python3 -B "$E2E/schema.py" lines live.jsonl >/dev/null
live_refused() { # WORDS CHANGE OF on.rule
    sed "$2" on.rule >broken.rule
    expect 78 "$1" live --set rules.0=broken.rule
}
live_refused 'was learnt in windows of 3 s, and those of this run have 1 s' 's/"window_s":1/"window_s":3/'
live_refused 'expected an array `thresholds`, one fewer than `predicts`' 's/"thresholds":\[[^]]*\]/"thresholds":[]/'
live_refused 'expected a text `episode`' 's/"episode"/"chain"/'
live_refused "no unit is named 'Z'" 's/"A -/"Z -/'
live_refused 'of another version' 's/"version":1/"version":2/'
live_refused 'is no rule file: line 1' 's/^{/[/'
# A trigger waits for what the rule says: it is sent whenever that changes, and only then.
rm -f live.jsonl
live --set triggers.0.on=rule --set triggers.0.name=state --set triggers.0.rule=on.rule
python3 - <<'PY'
import json
with open("live.jsonl") as lines:
    told = [json.loads(line) for line in lines]
changed = [m["time_ns"] for m in told if m["topic"] == "episodes" and m["rules"][0]["changed"]]
sent = [m for m in told if m["topic"] == "trigger"]
assert [m["time_ns"] for m in sent] == changed and len(changed) > 2, (len(sent), len(changed))
assert all(m["name"] == "state" and m["id"] is None and m["spike_times_ns"] == [] for m in sent)
assert [m["trigger_seq"] for m in told if m["topic"] == "decision"] == [m["seq"] for m in sent]
PY
of_rule() { live --set triggers.0.on=rule --set triggers.0.name=state --set triggers.0.rule="$1" "${@:2}"; }
expect 78 "found 'off.rule', expected the name of one of the rules, of which there are 1" of_rule off.rule
expect 78 "found 'loud', which the rule never predicts" of_rule on.rule --set triggers.0.label=loud
expect 78 "expected 1: what a rule says of a window has no q" of_rule on.rule --set triggers.0.max_q=0.05

expect 78 'rules.1: absent.rule: cannot open' live --set rules.1=absent.rule
expect 78 'is no rule file' $SYNFIRE run --check --replay on.csv --set window.length_s=1 --set rules.0=labels.csv

# Windows that overlap, episodes that are given, and fewer blocks.
echo 'A -(4,7]-> B' >pair.txt
$SYNFIRE rules on.csv --labels labels.csv --window 0.5 --hop 0.25 --episodes pair.txt --folds 4 --shifts 19 --json >out
check '
assert out["episodes"] == 1 and len(out["folds"]) == 4 and out["chance"]["shifts"] == 19 and out["chance"]["p"] == 0.05
assert 0.8 < out["accuracy"] and out["folds"][1]["from_s"] < out["folds"][0]["to_s"], out
'
$SYNFIRE rules on.csv --labels labels.csv --window 1 --delay 4:7 >text 2>err
grep -qF 'A -(4,7]-> B -(4,7]-> C' text
grep -q 'by chance: labels shifted in 26 segments, 95 % of 99 times up to' text
[ "$(cat err)" = "synfire: rules: on.csv: the file does not say how long was recorded: rates are from first to last spike, 299.932 s; --recorded A:B says it" ]

# Labels of another recording: what is learnt does not hold.
python3 "$E2E/labelled.py" other.csv others.csv 2 300
$SYNFIRE rules on.csv --labels others.csv --window 1 --delay 4:7 --json >out
check 'assert out["accuracy"] < 0.65 and out["chance"]["p"] > 0.05, out["chance"]'

# Labels that change once have no chance level, those that turn with every window have.
printf '0,150,first\n150,300,second\n' >halves.csv
$SYNFIRE rules on.csv --labels halves.csv --window 1 --delay 4:7 >text 2>err
grep -q 'the labels change only 1 time: .*, so there is no chance level' text
must_fail grep -q 'by chance' text
$SYNFIRE rules on.csv --labels halves.csv --window 1 --delay 4:7 --json >out
check 'assert out["chance"] == {"shifts": 0, "segments": 0, "mean": None, "most": None, "p": None}, out["chance"]'
awk 'BEGIN { for (t = 0; t < 300; t++) printf "%d,%d,%s\n", t, t + 1, t % 2 ? "on" : "off" }' >turns.csv
$SYNFIRE rules on.csv --labels turns.csv --window 1 --delay 4:7 --json >out
check 'assert out["chance"]["shifts"] == 99 and out["chance"]["p"] > 0.05, out["chance"]'

# What labels and spikes share but a trend predicts nothing.
if has_data cases/statistics/trend.h5; then
    $SYNFIRE rules "$SYNFIRE_DATA/cases/statistics/trend.h5" --labels "$SYNFIRE_DATA/cases/statistics/trend.csv" --window 1 \
        --delay 0.5:10 --max-size 3 --top 30 --json >out
    check 'assert out["chance"]["p"] > 0.05 and out["chance"]["segments"] == 30, out["chance"]'
fi

if has_data recordings/pynapple_A8604-211122.nwb; then
    nwb=$SYNFIRE_DATA/recordings/pynapple_A8604-211122.nwb
    expect 65 "all 542 windows in a label are 'wake': nothing is to be told apart" \
        $SYNFIRE rules "$nwb" --markers --window 2 --delay 0.5:20
fi

expect 64 "--labels: is needed, or --markers" $SYNFIRE rules on.csv --window 1
expect 64 "labels are from the one or from the other" $SYNFIRE rules on.csv --window 1 --labels labels.csv --markers
expect 64 "--window: is needed" $SYNFIRE rules on.csv --labels labels.csv
expect 64 "--window: found '0', expected a number of s above 0" $SYNFIRE rules on.csv --labels labels.csv --window 0
expect 64 "--hop: found '-1', expected a number of s above 0" $SYNFIRE rules on.csv --labels labels.csv --window 1 --hop -1
expect 64 "--line: is for markers" $SYNFIRE rules on.csv --labels labels.csv --window 1 --line 1
expect 64 "--hold: is for markers" $SYNFIRE rules on.csv --labels labels.csv --window 1 --hold 1
expect 64 "--folds" $SYNFIRE rules on.csv --labels labels.csv --window 1 --folds 1
expect 65 "there are no markers in this recording" $SYNFIRE rules on.csv --markers --window 1
expect 65 "none lies in one label" $SYNFIRE rules on.csv --labels labels.csv --window 20 --delay 4:7
expect 65 "too few for 500 blocks" $SYNFIRE rules on.csv --labels labels.csv --window 1 --delay 4:7 --folds 500
printf '0,10,on\n10,20,off\n' >early.csv
expect 65 "no label lies in what is looked at" $SYNFIRE rules on.csv --labels early.csv --window 1 --delay 4:7 --from 100
expect 65 "no episode is frequent here" $SYNFIRE rules on.csv --labels labels.csv --window 1 --delay 4:7 --min-count 1e6
expect 66 absent.csv $SYNFIRE rules on.csv --labels absent.csv --window 1
printf '5,1,on\n' >wrong.csv
expect 65 'wrong.csv: line 1' $SYNFIRE rules on.csv --labels wrong.csv --window 1
expect 73 nowhere $SYNFIRE rules on.csv --labels labels.csv --window 1 --delay 4:7 --rule nowhere/x.rule
