# SPDX-License-Identifier: Apache-2.0
# --csv of every table: the columns that docs/formats.md has, as many cells in each row, and the values of --json. Names
# with commas, quotes and spaces come back as they are.
. "$E2E/functions.sh"
$SYNFIRE simulate sim.h5 --preset sym26 --seed 5 --csv >planted.csv
printf '0,20,a\n20,60,b\n' >epochs.csv
seq 0.001 0.01 2 >numbers.txt
mine="--delay 4:6 --min-count 60"

# table NAME COMMAND...: its CSV and its JSON.
table() {
    local name=$1
    shift
    "$SYNFIRE" "$@" --csv --quiet >"$name.csv"
    "$SYNFIRE" "$@" --json --quiet >"$name.json"
}
table info info sim.h5
table mine mine sim.h5 $mine --max-size 3 --sort standing
table count count sim.h5 --episodes mine.json
table windows count sim.h5 --episodes 'A -(4,6]-> B' --window 25
table correlogram count sim.h5 --episodes 'A -(4,6]-> B' --correlogram
table graph graph sim.h5 $mine
table bfs bfs sim.h5 $mine --source A --source B
table match match sim.h5 'x -> y; y -> z' $mine
table census match sim.h5 census $mine --rewired 3
table bandwidth bandwidth sim.h5 --quantity isi
table density density sim.h5 --quantity isi --units A --epochs epochs.csv
table aggregate aggregate numbers.txt --range 0.5:1
printf '0,20,rest\n20,40,task\n40,60,rest\n' >labels.csv
table in_epochs mine sim.h5 $mine --epochs epochs.csv --sort standing
table tested count sim.h5 --episodes 'A -(4,6]-> B' --epochs epochs.csv --significance segment-shift --surrogates 99
table edges graph sim.h5 $mine --epochs epochs.csv
table tiled graph sim.h5 --metric sttc --surrogates 0 --epochs epochs.csv --units A,B,C
table rules rules sim.h5 $mine --labels labels.csv --window 1
table plan plan "$SYNFIRE_SOURCE/configs/plans/1r.yaml"
table own plan
table bench bench bfs --kronecker 8:8:1 --threads 1
$SYNFIRE mine sim.h5 $mine --max-size 3 --top 2 --occurrences occurrences.csv >/dev/null
printf '"a, ""b""",0.001\n c ,0.005\n"a, ""b""",0.1\n c ,0.104\n' >units.csv
table odd info units.csv

python3 - "$SYNFIRE_SOURCE/docs/formats.md" <<'PY'
import csv, json, sys
page = open(sys.argv[1]).read()
# What has a list of its own, or that of `synfire describe`.
UNLISTED = ("density", "occurrences", "bench", "mine", "count", "in_epochs", "tested", "graph", "edges", "tiled",
            "info", "odd", "bfs", "match", "census", "bandwidth", "aggregate")
DESCRIBED = ("windows", "correlogram", "rules", "plan", "own", "planted")

def read(name):
    rows = list(csv.reader(open(name + ".csv", newline="")))
    head = open(name + ".csv").readline().strip().split(",epoch 0")[0]
    assert all(len(row) == len(rows[0]) for row in rows), name
    assert name not in DESCRIBED or all(f"\n| `{column}` |" in page for column in head.split(",")), name
    assert f"`{head}`" in page or name in UNLISTED + DESCRIBED, f"{name}: docs/formats.md has not `{head}`"
    return [dict(zip(rows[0], row)) for row in rows[1:]]

def document(name):
    return json.load(open(name + ".json"))

def same(name, row, values):
    for key, value in values.items():
        found = row[key]
        ok = found == "" if value is None else float(found) == value if isinstance(value, (int, float)) else found == value
        assert ok, (name, key, found, value)

def hold(name, items, fields):
    rows = read(name)
    assert len(rows) == len(items) > 0, (name, len(rows), len(items))
    for row, item in zip(rows, items):
        same(name, row, {key: get(item) if callable(get) else item[get] for key, get in fields.items()})

own = lambda *keys: {key: key for key in keys}
hold("info", document("info")["unit_detail"], own("unit", "name", "spikes", "rate_hz", "x_um", "y_um", "kind", "isi_violations"))
hold("mine", document("mine")["episodes"], {**own("id", "count", "expected", "p", "q", "strength", "not_tested", "p_links", "folded_under"),
     "ratio_low": lambda e: e["ratio_interval"][0]})
assert open("mine.csv").readline() == open("count.csv").readline()
hold("count", document("count")["episodes"], own("id", "count", "expected", "bursts", "in_bursts", "reverse_count", "asymmetry"))
hold("windows", document("windows")["windows"], {**own("from_s", "to_s"), "partial": lambda w: int(w["partial"]),
     "count": lambda w: w["counts"][0], "rate_hz": lambda w: w["rates_hz"][0]})
correlogram = document("correlogram")["episodes"][0]["correlograms"][0]
hold("correlogram", list(zip(correlogram["counts"], correlogram["expected_counts"])), {"pairs": lambda b: b[0], "expected": lambda b: b[1]})
assert float(read("correlogram")[0]["above_ms"]) == correlogram["from_ms"]
hold("graph", document("graph")["edge_detail"], {**own("from", "to", "count", "expected", "weight", "p", "q", "not_tested"),
     **own("from_name", "to_name"), "delay_low_ms": lambda e: e["delay_ms"][0],
     "ratio_high": lambda e: e["ratio_interval"][1], "one_electrode": lambda e: int(e["one_electrode"])})
paths = [dict(path, source=s["source"]) for s in document("bfs")["searches"] for path in s["paths"]]
reached = [row for row in read("bfs") if row["parent"] != ""]
assert len(reached) == len(paths) and len(read("bfs")) == len(paths) + 2
for row, path in zip(reached, paths):
    same("bfs", row, {"source": path["source"], "vertex": path["vertex"], "name": path["name"], "level": path["level"],
                      "parent": path["path"][-2], "parent_name": path["names"][-2]})
    assert abs(float(row["delay_high_ms"]) - path["delay_ms"][1]) < 1e-9
match = document("match")
hold("match", [(e, v) for e in range(match["listed"]) for v in range(3)], {"embedding": lambda p: p[0], "vertex": lambda p: p[1],
     "vertex_name": lambda p: "xyz"[p[1]], "unit": lambda p: match["embeddings"][p[0]][p[1]], "unit_name": lambda p: match["names"][p[0]][p[1]]})
hold("census", document("census")["triads"], own("name", "count", "mean", "sd", "z"))
hold("bandwidth", document("bandwidth")["results"], own("unit", "name", "method", "n", "h", "h_relative", "h0", "objective", "error"))
density = document("density")
rows = read("density")
per = "density_per_ln_s" if density["axis"] == "log" else "density_per_s"
assert [float(row["x"]) for row in rows] == density["grid"] and [float(row[per]) for row in rows] == density["density"]
assert [float(row["epoch 1"]) for row in rows] == density["epoch_density"][1] and "`x,density`" in page and "`x,y,density`" in page
same("aggregate", read("aggregate")[0], {key: document("aggregate")[key] for key in ("op", "n", "h", "estimate", "exact", "sampling_error")})
of_epochs = lambda i: i["epoch_counts"][1]
hold("in_epochs", document("in_epochs")["episodes"], {**own("id", "count", "needed"), "epoch 1": of_epochs})
hold("tested", document("tested")["episodes"], {**own("id", "count", "p", "q", "not_tested", "needed"), "epoch 1": of_epochs})
assert float(read("tested")[0]["q"]) <= 0.05 and int(read("tested")[0]["needed"]) > 20
hold("edges", document("edges")["edge_detail"], {**own("from", "count"), "epoch 1": of_epochs})
hold("tiled", document("tiled")["edge_detail"], {**own("from", "weight"), "epoch 0": lambda e: e["epoch_coefficients"][0]})
rule = document("rules")
hold("rules", rule["predicts"], {"predicts": lambda label: label})
rows = read("rules")
assert [row["count_to"] for row in rows] == ["%d" % (t // 1) for t in rule["thresholds"]] + [""] and rows[0]["count_from"] == "0"
same("rules", rows[0], {"id": rule["episode"]["id"], "rate_accuracy": rule["rate"]["accuracy"], "p": rule["chance"]["p"],
                        **{key: rule[key] for key in ("accuracy", "balanced_accuracy", "majority")}})
for name in ("plan", "own"):
    plan = document(name)
    hold(name, plan["pairs"] + plan["loops"], {"answer": "answer", "flow": lambda v: " ".join(v["flow"]),
         "decided_by": lambda v: " ".join(v["decided_by"]), "first": lambda v: v.get("first", v.get("loop")),
         "second": lambda v: v.get("second", v.get("variable")), "kind": lambda v: "neighbours" if "first" in v else "loop"})
rows, bench = read("bench"), document("bench")
assert [key for key in rows[0]][:3] == ["bench", "machine", "device"] and len(rows) == len(bench) > 1
assert all({key for key in row if row[key] != ""} <= set(item) <= set(row) for row, item in zip(rows, bench))
assert all(row["bench"] == "bfs" and row["machine"] == item["machine"] for row, item in zip(rows, bench))
assert [row["planted"] for row in read("planted")] != [] and read("planted")[0]["episode"] == "A -(4,6]-> B -(4,6]-> C"
assert all(row["spike_3_s"] == "" for row in read("occurrences") if row["episode"].count("->") == 1)
assert [row["name"] for row in read("odd")] == [u["name"] for u in document("odd")["unit_detail"]] and any('"' in row["name"] for row in read("odd"))
PY
# Names that a spreadsheet would compute are marked as text; those that are numbers stay.
for name in '=cmd|x' '@sum(1)' '+a' '-3'; do printf '%s,0.1\n%s,0.2\n%s,0.3\n' "$name" "$name" "$name"; done >formula.csv
$SYNFIRE info formula.csv --csv >cells
for cell in "\"'=cmd|x\"" "\"'@sum(1)\"" "\"'+a\"" ; do grep -qF -- "$cell" cells || { cat cells; exit 1; }; done
grep -q -- '\(^\|,\)-3,' cells
expect 64 "--csv: does not go with --json" $SYNFIRE info sim.h5 --csv --json
expect 64 "prints one table" $SYNFIRE count sim.h5 --episodes 'A -(4,6]-> B' --window 5 --correlogram --csv
