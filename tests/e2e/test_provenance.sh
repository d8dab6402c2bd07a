# SPDX-License-Identifier: Apache-2.0
# Every result says what it is of and what made it: the same object in the JSON of every command, in graph files and
# occurrences, in what a live run writes; and the sentence for a paper's methods tells the whole selection.
. "$E2E/functions.sh"
$SYNFIRE simulate sim.h5 --unit-count 12 --rate 5 --duration 120 --chain "A -(4,6]-> B -(4,6]-> C" --chain-rate 2 --seed 3 \
    --quiet >/dev/null
printf '10,40,base\n60,90,light on\n' >epochs.csv
selection="--units #0-#1,C,L --epochs epochs.csv --dedup 0.4,100 --from +5 --to 85"
mine="--delay 4:6 --min-count 20 --quiet"

cat >of.py <<'END'
import json, shlex, sys
def of(document, command):
    found = document["provenance"]
    assert found["program"].startswith("synfire ") and shlex.split(found["command"]) == command, found
    return found
def check(document, command):
    found = of(document, command)
    s = found["selection"]
    assert s["recording"] == "sim.h5" and s["format"].startswith("synfire") and s["stream"] is None and s["preset"] is None
    assert s["units"] == [0, 1, 2, 11] and s["names"] == ["A", "B", "C", "L"]
    assert s["unit_count"] == 4 and s["units_in_recording"] == 12
    assert 5 <= s["from_s"] < 6 and s["to_s"] == 85 and s["epochs_file"] == "epochs.csv"
    assert s["epochs"] == [{"label": "base", "from_s": 10, "to_s": 40}, {"label": "light on", "from_s": 60, "to_s": 90}]
    assert s["dedup"] == {"ms": 0.4, "um": 100} and s["blank"] is None and s["duration_s"] == 55
    causes = {d["cause"]: d["spikes"] for d in s["left_out"]}
    assert causes["unit not selected"] > 0 and causes["outside the epochs"] > 0 and causes["outside --from and --to"] > 0
    assert s["spikes"] + sum(causes.values()) == s["spikes_in_recording"]
    words = s["words"]
    for part in (f'{s["spikes"]} spikes of 4 of 12 units (A, B, C, L) in 55 s', s["data"], "at most 0.4 ms after",
                 "at most 100 um away", "inside 2 epochs (base 10 to 40 s, light on 60 to 90 s)", " to 85 s"):
        assert part in words, (part, words)
    return found
END
# told NAME ARGUMENTS...: the JSON of the command in out.NAME, and its provenance is right.
told() {
    local name=$1
    shift
    $SYNFIRE "$@" --json >out.$name
    python3 - "$name" "$@" <<'END'
import json, sys
sys.path.insert(0, ".")
from of import check
check(json.load(open("out." + sys.argv[1])), ["synfire", *sys.argv[2:], "--json"])
END
}
echo 'A -(4,6]-> B' >pair.txt
# shellcheck disable=SC2086
{
    told info info sim.h5 $selection --quiet
    told mine mine sim.h5 $selection $mine
    told tested mine sim.h5 $selection $mine --significance segment-shift --surrogates 20 --seed 9 --max-size 2
    told count count sim.h5 $selection --episodes pair.txt --quiet
    told graph graph sim.h5 $selection $mine
    told tiling graph sim.h5 $selection --metric sttc --surrogates 20 --quiet
    told bfs bfs sim.h5 $selection $mine --source A
    told match match sim.h5 chain-2 $selection $mine
    told census match sim.h5 census $selection $mine --rewired 5 --seed 4
    told bandwidth bandwidth sim.h5 $selection --quantity isi --quiet
    told density density sim.h5 $selection --quantity delay --episode 'A -(4,6]-> B' --quiet
    told aggregate aggregate sim.h5 $selection --quantity delay --episode 'A -(4,6]-> B' --range 0:0.01 --quiet
}
python3 - <<'END'
import json
seeds = {"mine": None, "tested": 9, "graph": None, "tiling": 1, "bfs": None, "census": 4, "count": None}
for name, seed in seeds.items():
    assert json.load(open("out." + name))["provenance"]["seed"] == seed, name
mine = json.load(open("out.mine"))
assert mine["provenance"]["selection"]["words"] in mine["methods"], mine["methods"]
assert "12 units" not in mine["methods"].replace("4 of 12 units", "")
END
# shellcheck disable=SC2086
$SYNFIRE mine sim.h5 $selection $mine >table
grep -q '^sim.h5: 4 of 12 units, ' table
grep -q 'mined episodes .* spikes of 4 of 12 units (A, B, C, L) in 55 s .* 2 epochs .* to 85 s; no test was made\.$' table

# What else can be selected, and a recording taken whole.
printf 'v,1.5\nw,2\nv,3\n' >few.csv
$SYNFIRE info few.csv --json >out
check '
s = out["provenance"]["selection"]
assert s["units"] is None and s["unit_count"] == 2 and s["from_s"] is None and s["epochs"] is None and s["dedup"] is None
assert s["words"].startswith("3 spikes of 2 units in 1.5") and s["words"].endswith(")"), s["words"]'
$SYNFIRE simulate marked.h5 --unit-count 4 --rate 5 --duration 60 --marker-every 10 --quiet >/dev/null
$SYNFIRE info marked.h5 --blank ttl0,-1,5 --from 20 --json >out
check '
s = out["provenance"]["selection"]
assert s["blank"] == {"marker": "ttl0", "from_ms": -1, "to_ms": 5} and s["from_s"] == 20 and s["to_s"] is None
assert "without -1 to 5 ms around each marker ttl0" in s["words"] and s["words"].endswith(", from 20 s on"), s["words"]'
# shellcheck disable=SC2086
$SYNFIRE mine sim.h5 $mine --preset hd-mea --min-distance 50 --json >out
check '
s = out["provenance"]["selection"]
assert s["preset"] == "hd-mea" and s["dedup"] == {"ms": 0.4, "um": 100} and s["min_distance_um"] == 50
assert "with the defaults of the preset hd-mea" in out["methods"]
assert "pairs of units closer than 50 um left out" in out["methods"]'

# What is made instead of read tells its command and seed.
$SYNFIRE simulate made.h5 --duration 1 --seed 5 --json >out
check '
made = out["provenance"]
assert made["command"] == "synfire simulate made.h5 --duration 1 --seed 5 --json" and made["seed"] == 5, made
assert made["selection"] is None, made'

# Files: graphs, occurrences, and what a live run records.
# shellcheck disable=SC2086
for ending in graphml mtx el dot h5 json; do
    $SYNFIRE graph sim.h5 $selection $mine --out g.$ending >/dev/null
done
# shellcheck disable=SC2086
$SYNFIRE mine sim.h5 $selection $mine --occurrences o.h5 >/dev/null
# shellcheck disable=SC2086
$SYNFIRE run --replay sim.h5 $selection --speed max --quiet --set sinks.0.type=hdf5 --set sinks.0.path=run.h5 \
    --set sinks.1.type=jsonl --set sinks.1.path=run.jsonl --set graph.rewired=3 --set graph.census=true --set graph.seed=8
SELECTION=$selection MINE=$mine python3 - <<'END'
import json, os, shlex, xml.etree.ElementTree
from of import check
selection, mine = shlex.split(os.environ["SELECTION"], comments=False), os.environ["MINE"].split()
def graph(ending):
    return ["synfire", "graph", "sim.h5", *selection, *mine, "--out", "g." + ending]
for ending, sign in (("mtx", "%"), ("el", "#")):
    line, = [l for l in open("g." + ending) if l.startswith(sign + " provenance ")]
    check({"provenance": json.loads(line.split(" ", 2)[2])}, graph(ending))
data, = [d for d in xml.etree.ElementTree.parse("g.graphml").iter() if d.get("key") == "provenance"]
check({"provenance": json.loads(data.text)}, graph("graphml"))
check(json.load(open("g.json")), graph("json"))
line, = [l for l in open("g.dot") if l.startswith("  graph [provenance=")]
text = line[len("  graph [provenance=\""):-len("\"];\n")]
check({"provenance": json.loads(text.replace('\\"', '"').replace("\\\\", "\\"))}, graph("dot"))
status = [m for m in map(json.loads, open("run.jsonl")) if m["topic"] == "status"][-1]
command = shlex.split(status["command"])
assert command[:4] == ["synfire", "run", "--replay", "sim.h5"] and "4 of 12 units" in status["selection"], status
END
need_python
SELECTION=$selection MINE=$mine "$SYNFIRE_PYTHON" - <<'END'
import json, os, shlex
import h5py
from of import check
selection, mine = os.environ["SELECTION"].split(), os.environ["MINE"].split()
def read(path):
    with h5py.File(path) as file:
        value = file.attrs["provenance"]
        return {"provenance": json.loads(value.decode() if isinstance(value, bytes) else value)}
check(read("g.h5"), ["synfire", "graph", "sim.h5", *selection, *mine, "--out", "g.h5"])
check(read("o.h5"), ["synfire", "mine", "sim.h5", *selection, *mine, "--occurrences", "o.h5"])
run = read("run.h5")
assert check(run, shlex.split(run["provenance"]["command"]))["seed"] == 8
END
