# SPDX-License-Identifier: Apache-2.0
# The published table and form of 1R from the command, as text and JSON; refusals with their exit codes.
. "$E2E/functions.sh"
plans=$SYNFIRE_SOURCE/configs/plans
$SYNFIRE plan "$plans/1r.yaml" --json >out
check '
pairs = {(p["first"], p["second"]): p for p in out["pairs"]}
assert {k: p["answer"] for k, p in pairs.items()} == {
    ("f0", "f1"): "none", ("f2", "f4"): "none", ("f4", "f10"): "none", ("f10", "f11"): "parallel_d",
    ("f5", "f8"): "none", ("f8", "f9"): "parallel_s"}, pairs
assert pairs["f10", "f11"]["flow"] == pairs["f10", "f11"]["output"] == [] and pairs["f10", "f11"]["anti"] == ["m[2]"]
assert pairs["f2", "f4"]["operations"][0] == {"set": "flow", "element": "m[3,k]", "first": "increment",
                                              "second": "compare", "commute": False, "aggregation": None}
loops = {l["variable"]: l for l in out["loops"]}
assert {k: l["answer"] for k, l in loops.items()} == {"k": "none", "j": "parallel_s", "q": "parallel_d", "p": "none"}
assert loops["q"]["flow"] == loops["q"]["anti"] == ["m[2].n"] and loops["q"]["output"] == ["m[2]", "m[2].n"]
assert loops["k"]["decided_by"] == ["m[1]", "m[2]"] and loops["k"]["body"] == ["f2", "f4", "f10", "f11"]
assert loops["p"]["decided_by"] == ["m[3,k,q\u0027].mi"], loops["p"]
assert [p["bernstein"] for p in out["pairs"]] == [False] * 5 + [True]
assert out["form"] == ("1RPar = (loope [0,1] [0,p] paralleld [f10,f11] \u2218 (paralleld [loope [0,k,1] [0,k,u] "
    "(parallels [f8 f9]) \u2218 (loope [0,t,1] [0,t,y] f6)]) \u2218 (parallels [loopd [0] [z] f3])) \u2218 f0"), out["form"]
'
$SYNFIRE plan "$plans/1r.yaml" >out
grep -qF 'f4, f10: one after the other, by m[2]' out
grep -qF '  1RPar = (loope [0,1] [0,p] paralleld [f10,f11] ∘' out
for plan in naive-bayes level-wise-mining; do
    $SYNFIRE plan "$plans/$plan.yaml" | grep -q 'Par = '
done

sed 's/m\[1\]: assign/m[1]: replace/' "$plans/1r.yaml" >wrong.yaml
line=$(grep -n 'm\[1\]: replace' wrong.yaml | cut -d: -f1)
expect 65 "wrong.yaml:$line:13: an operation is expected, one of extract" $SYNFIRE plan wrong.yaml
sed 's/^composition: .*/composition: [f0, f7]/' "$plans/1r.yaml" >wrong.yaml
expect 65 "there is no function or loop 'f7'" $SYNFIRE plan wrong.yaml
expect 66 absent.yaml $SYNFIRE plan absent.yaml
head -c 70000 /dev/zero | tr '\0' '#' >large.yaml
expect 65 "has 70000 bytes" $SYNFIRE plan large.yaml

# Without a file: the pipeline's own, and what waits for what.
for clock in real virtual; do
    option=$([ $clock = real ] || echo --virtual-clock)
    $SYNFIRE plan $option --json >out
    check '
assert out["file"] is None and out["algorithm"] == "hop" and out["clock"] == "'$clock'", out["clock"]
stages = {s["stage"]: s for s in out["schedule"]}
after = {name: {a["stage"]: a["elements"] for a in s["after"]} for name, s in stages.items()}
assert list(stages)[0] == "feed" and list(stages)[-1] == "drop" and len(stages) == 14, list(stages)
assert after["graph"] == {"test": ["tests"], "pairs": ["pairs"]}, after["graph"]
assert after["pairs"] == {"slide": ["window"]} and after["mine"]["pairs"] == ["pairs"], after
assert after["drop"] == {"report": ["history"]}
assert {"graph", "tell", "mine", "test"} <= set(stages["density"]["beside"]), stages["density"]["beside"]
assert stages["feed"]["beside"] == stages["drop"]["beside"] == []
assert all((name in stages[other]["beside"]) == (other in stages[name]["beside"]) for name in stages for other in stages)
assert stages["tell"]["out"] == [{"element": e, "operation": o} for e, o in (("rules", "assign"), ("triggers", "add"), ("sinks", "add"))]
assert [s["stage"] for s in out["schedule"] if s["apart"]] == [s["stage"] for s in out["schedule"] if s["loop"]]
assert ("track" in after["count"]) == ("'$clock'" == "virtual")
'
done
$SYNFIRE plan --schedule sequential --json >out
check '
names = [s["stage"] for s in out["schedule"]]
assert [[a["stage"] for a in s["after"]] for s in out["schedule"]] == [[]] + [[n] for n in names[:-1]]
assert not any(s["beside"] for s in out["schedule"])
'
$SYNFIRE plan >out
grep -q '^            after    test (tests), pairs (pairs)$' out
grep -q 'hopPar = ' out
expect 64 "found 'fast', expected one of derived, sequential" $SYNFIRE plan --schedule fast
expect 64 "expected no FILE.yaml beside it" $SYNFIRE plan "$plans/1r.yaml" --virtual-clock
