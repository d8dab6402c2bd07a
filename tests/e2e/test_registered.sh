# SPDX-License-Identifier: Apache-2.0
# --registered: chains of a file that was written down before are tested alone, and methods have the file's SHA-256.
. "$E2E/functions.sh"
$SYNFIRE simulate sim.h5 --preset sym26 --seed 5 >/dev/null
{
    echo '# written down on 1 November'
    echo 'A -(4,6]-> B -(4,6]-> C'
    echo '#'
    echo '#3 -(4,6]-> E'
} >chains.txt
sha=$(sha256sum chains.txt | cut -d' ' -f1)
tested="--surrogates 99 --seed 3 --quiet"

# count: as --episodes of the same file, tested by segment-shift where nothing else is said.
$SYNFIRE count sim.h5 --registered chains.txt $tested --json >registered.json
$SYNFIRE count sim.h5 --episodes chains.txt --significance segment-shift $tested --json >given.json
$SYNFIRE mine sim.h5 --delay 4:6 --min-count 60 --max-size 2 --registered chains.txt $tested --json >mined.json
$SYNFIRE report sim.h5 -o page.html --delay 4:6 --min-count 60 --max-size 2 --registered chains.txt --surrogates 99 --seed 3 --quiet --json \
    >report.json
python3 - "$sha" <<'PY'
import json, sys
read = lambda name: json.load(open(name))
sha, registered, given, mined, report = sys.argv[1], read("registered.json"), read("given.json"), read("mined.json"), read("report.json")
assert registered["registered"] == {"file": "chains.txt", "sha256": sha, "episodes": None, "methods": None, "significance": None}
assert given["registered"] is None
assert registered["episodes"] == given["episodes"] and len(given["episodes"]) == 2
assert registered["significance"]["kind"] == "segment-shift"
assert f"counted 2 episodes that had been registered in a file (SHA-256 {sha}) in" in registered["methods"]
assert "all candidates registered" in registered["methods"]
assert "registered" not in given["methods"]
# Of two candidates q of what stands out is the least there is, of all that mine searched it need not be.
assert all(e["q"] == 0.01 for e in registered["episodes"])
for of in (mined, report):
    beside = of["registered"]
    assert beside["sha256"] == sha and beside["methods"] == registered["methods"]
    assert beside["episodes"] == registered["episodes"]
assert sha not in mined["methods"]
page = open("page.html").read()
assert "<h2>Registered chains</h2>" in page and page.count(sha) >= 2
PY
$SYNFIRE mine sim.h5 --delay 4:6 --min-count 60 --max-size 2 --registered chains.txt $tested >table
grep -qF "Registered in chains.txt (SHA-256 $sha), tested alone:" table
$SYNFIRE mine sim.h5 --delay 4:6 --min-count 60 --max-size 2 --quiet --json >alone.json
python3 -c 'import json; assert json.load(open("alone.json"))["registered"] is None'

# What is changed afterwards has another digest.
echo 'A -(4,6]-> C' >>chains.txt
$SYNFIRE count sim.h5 --registered chains.txt $tested --json >changed.json
[ "$(grep -c "$sha" changed.json)" = 0 ]

# The other tests, too, each by its own name; dithering is the CPU's.
for kind in dither joint-isi; do
    $SYNFIRE count sim.h5 --registered chains.txt --significance "$kind" $tested --json >"$kind.json"
    python3 - "$kind" <<'PY'
import json, sys
told = json.load(open(sys.argv[1] + ".json"))
assert told["significance"]["kind"] == sys.argv[1] and told["significance"]["segment_s"] is None
assert told["significance"]["width_ms"] == 9
assert ("dead time" if sys.argv[1] == "dither" else "joint-ISI dithering") in told["methods"]
assert all(e["p"] == 0.01 for e in told["episodes"][:2]), told["episodes"]
assert told["episodes"][2]["p"] > 0.05 # A and C are linked past B, at 10 ms
PY
done

echo 'A -(4,6]-> B' >bad.txt
echo 'A -(4,6]-> nobody' >>bad.txt
expect 65 "bad.txt:2:" $SYNFIRE count sim.h5 --registered bad.txt
expect 64 "--registered: found an episode, expected a file that was written before" $SYNFIRE count sim.h5 --registered 'A -(4,6]-> B'
expect 64 "--registered: goes in place of --episodes" $SYNFIRE count sim.h5 --registered chains.txt --episodes chains.txt
expect 64 "--registered: is a table of its own" $SYNFIRE mine sim.h5 --registered chains.txt --csv
expect 64 "--memory: goes without --registered" $SYNFIRE mine sim.h5 --registered chains.txt --memory 400M
