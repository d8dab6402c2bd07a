# SPDX-License-Identifier: Apache-2.0
# What an epoch of --epochs has alone, in bandwidths, densities and tiling coefficients, is what the same span has
# where it is selected by --from and --to.
. "$E2E/functions.sh"
"$SYNFIRE" simulate rec.h5 --unit-count 6 --rate 15 --duration 60 --chain "A -(4,6]-> B -(4,6]-> C" --chain-rate 2 \
    --seed 4 >/dev/null
printf 'start,stop,label\n0,20,rest\n20,45.5,stimulus\n50,50.4,short\n' >epochs.csv
spans="0:20 20:45.5 50:50.4"

both() { # both NAME COMMAND...: the command with --epochs, and with each span
    local name=$1
    shift
    "$SYNFIRE" "$@" --epochs epochs.csv --json >$name.json
    for span in $spans; do
        "$SYNFIRE" "$@" --from ${span%:*} --to ${span#*:} --json >$name.${span%:*}.json 2>/dev/null || echo null >$name.${span%:*}.json
    done
}
both isi bandwidth rec.h5 --quantity isi --units A,B,C
both rate bandwidth rec.h5 --quantity rate --window 0.2 --units B,F
both delay bandwidth rec.h5 --quantity delay --episode "A -(0,20]-> B -(0,20]-> C"
both density density rec.h5 --quantity isi --units B --grid 0:0.2:401 --reflect
both given density rec.h5 --quantity isi --units B --grid 0:0.2:401 --linear --bandwidth 0.01
both sttc graph rec.h5 --metric sttc --delay 0:15 --surrogates 0
python3 - <<'PY'
import json

load = lambda name: json.load(open(name + ".json"))
starts = ("0", "20", "50")

def series(document):
    return document["results"]

for name in ("isi", "rate", "delay"):
    all = load(name)
    assert [e["label"] for e in all["epochs"]] == ["rest", "stimulus", "short"]
    for k, start in enumerate(starts):
        alone = load(f"{name}.{start}")
        for i, whole in enumerate(series(all)):
            same = series(alone)[i] if alone else {"h": None, "n": whole["epoch_n"][k]}
            assert whole["epoch_n"][k] == same["n"], (name, start)
            assert whole["epoch_h"][k] == same["h"], (name, start)
    assert all["epochs"][2]["duration_s"] == 0.4 and series(all)[0]["epoch_h"][2] is None
for name in ("density", "given"):
    all = load(name)
    for k, start in enumerate(starts):
        alone = load(f"{name}.{start}")
        assert all["epoch_density"][k] == (alone["density"] if alone else [None] * 401)
        assert all["epoch_h"][k] == (alone["h"] if alone else None)
assert load("density")["epoch_h"][2] is None and load("given")["epoch_h"][2] == 0.01
all = load("sttc")
assert len(all["edge_detail"]) == 15
for k, start in enumerate(starts):
    alone = {(e["from"], e["to"]): e["weight"] for e in load(f"sttc.{start}")["edge_detail"]}
    for edge in all["edge_detail"]:
        assert edge["epoch_coefficients"][k] == alone.get((edge["from"], edge["to"])), (start, edge)
PY
"$SYNFIRE" bandwidth rec.h5 --quantity isi --units A,B --epochs epochs.csv | grep -Eq '^of +rest +stimulus +short$'
"$SYNFIRE" graph rec.h5 --metric sttc --epochs epochs.csv --surrogates 0 | grep -q '^sttc in each of 3 epochs taken alone$'
"$SYNFIRE" density rec.h5 --quantity isi --units B --grid 0:0.2:401 --linear --epochs epochs.csv --csv >cells
[ "$(head -1 cells)" = "x,density_per_s,epoch 0,epoch 1,epoch 2" ]
[ "$(grep -c ',$' cells)" = 401 ] # the short one has too few samples
