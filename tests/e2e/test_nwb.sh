# SPDX-License-Identifier: Apache-2.0
# Results as tables of an NWB file say what is printed, refer to the units, and leave what was in the file as it was.
. "$E2E/functions.sh"
need_python
nwb() { "$SYNFIRE_PYTHON" -B "$E2E/nwb.py" "$@"; }
mine="--delay 4:6 --min-count 20 --max-size 3"
$SYNFIRE simulate sim.h5 --preset sym26 --seed 5 --duration 20 >/dev/null

# A new file, then copies of it, each with one command's tables more.
$SYNFIRE mine sim.h5 $mine --significance segment-shift --surrogates 100 --nwb one.nwb --json >mined.json 2>/dev/null
nwb tables one.nwb episodes occurrences
sum=$(sha256sum one.nwb)
$SYNFIRE graph one.nwb --delay 4:6 --min-count 20 --nwb two.nwb --json >graph.json
$SYNFIRE density two.nwb --quantity isi --nwb three.nwb >densities
grep -q "^26 densities are in three.nwb" densities
echo 'A -(4,6]-> B' >chain.txt
$SYNFIRE count three.nwb --episodes chain.txt --nwb four.nwb >/dev/null
[ "$(sha256sum one.nwb)" = "$sum" ]
nwb tables four.nwb episodes occurrences edges densities episodes_2 occurrences_2
nwb same one.nwb four.nwb
# Of a result without rows the columns are there all the same, and those of --epochs where that is asked.
printf '0,10,early\n' >epochs.csv
$SYNFIRE mine sim.h5 $mine --nwb rows.nwb --quiet >/dev/null
$SYNFIRE mine sim.h5 --delay 4:6 --min-count 1000000 --nwb none.nwb --quiet >/dev/null
$SYNFIRE mine sim.h5 --delay 4:6 --min-count 1000000 --epochs epochs.csv --nwb asked.nwb --quiet >/dev/null
"$SYNFIRE_PYTHON" - <<'END'
import h5py
columns = lambda name: {table: set(h5py.File(name)["processing/synfire"][table]) for table in ("episodes", "occurrences")}
rows, none, asked = map(columns, ("rows.nwb", "none.nwb", "asked.nwb"))
assert rows == none and {"units", "delays_ms_index"} <= none["episodes"] and "times" in none["occurrences"], (rows, none)
assert asked["episodes"] - none["episodes"] == {"epoch_counts", "epoch_counts_index"}, asked
END
"$SYNFIRE_PYTHON" - <<'END'
import h5py, json, numpy as np
mined, graph = json.load(open("mined.json")), json.load(open("graph.json"))
with h5py.File("four.nwb") as file:
    module, names = file["processing/synfire"], file["units/unit_name"].asstr()[:]
    table, of = module["episodes"], mined["episodes"]
    assert len(of) > 20 and {len(e["units"]) for e in of} >= {2, 3}
    numbers = [key for key, value in of[0].items() if isinstance(value, (bool, int, float)) or value is None and key != "not_tested"]
    assert {"count", "needed", "p_links", "reverse_count", "worth_showing"} <= set(numbers), numbers
    for column in set(numbers) - {"folded_under", "epoch_counts"}:
        assert np.array_equal(np.array(table[column][:], float),
                              np.array([e[column] if e[column] is not None else np.nan for e in of], float), equal_nan=True), column
    assert any(np.isnan(table["reverse_count"][:])) and "links" not in table and "epoch_counts" not in table
    assert [text or None for text in table["folded_under"].asstr()[:]] == [e["folded_under"] for e in of]
    assert table["p"].attrs["description"].endswith("NaN: not tested, or no verdict: `not_tested` says why")
    ends, links = table["units_index"][:], table["delays_ms_index"][:]
    for i, episode in enumerate(of):
        units = table["units"][ends[i - 1] if i else 0:ends[i]]
        assert list(names[units]) == episode["names"]
        assert table["delays_ms"][links[i - 1] if i else 0:links[i]].tolist() == episode["delays_ms"]
        assert table["episode_id"].asstr()[i] == episode["id"]
    occurs = module["occurrences"]
    assert np.array_equal(np.bincount(occurs["episode"][:], minlength=len(of)), table["count"][:])
    spikes = {name: set(train) for name, train in zip(names, np.split(file["units/spike_times"][:], file["units/spike_times_index"][:-1]))}
    last = 0
    for row, end in enumerate(occurs["times_index"][:]):
        times, of_row = occurs["times"][last:end], of[occurs["episode"][row]]
        assert all(time in spikes[name] for name, time in zip(of_row["names"], times))
        assert times[0] == occurs["start_time"][row] and times[-1] == occurs["stop_time"][row]
        last = end
    edges = module["edges"]
    assert [(a, b, c) for a, b, c in zip(edges["from"][:], edges["to"][:], edges["count"][:])] == [
        (e["from"], e["to"], e["count"]) for e in graph["edge_detail"]]
    densities = module["densities"]
    x, y, end = densities["grid"][:], densities["density"][:], densities["grid_index"][0]
    assert abs(np.trapz(y[:end], np.log(x[:end])) - 1) < 0.01 # of the logarithm
    assert module["episodes_2/count"][0] == next(e["count"] for e in of if e["names"] == ["A", "B"])
    assert "methods" in mined and mined["methods"].split(".")[0] in table.attrs["description"]
END
# The tables are no recordings, and the spikes are those that they were.
$SYNFIRE mine four.nwb $mine --significance segment-shift --surrogates 100 --json 2>/dev/null >again.json
python3 - <<'END'
import json
assert json.load(open("mined.json"))["episodes"] == json.load(open("again.json"))["episodes"]
END

# Nothing is replaced, and a failure leaves nothing.
expect 73 "which is not replaced" "$SYNFIRE" mine sim.h5 $mine --nwb two.nwb
expect 73 "replaces none" "$SYNFIRE" graph sim.h5 --delay 4:6 --nwb chain.txt
expect 64 "has no room for what single epochs have" "$SYNFIRE" density sim.h5 --quantity isi --epochs chain.txt --nwb x.nwb
expect 64 "goes without --nwb" "$SYNFIRE" mine sim.h5 $mine --csv --memory 400M --nwb x.nwb
expect 73 "cannot create" "$SYNFIRE" mine sim.h5 $mine --nwb none/x.nwb
[ -z "$(ls | grep -e '\.part$' -e '^x.nwb')" ]

# Several recordings, a file each.
$SYNFIRE convert sim.h5 sim.nwb >/dev/null
cp sim.h5 other.h5
$SYNFIRE mine sim.nwb other.h5 $mine --nwb 'of-{}.nwb' --json --quiet >/dev/null
nwb tables of-sim.nwb episodes occurrences
nwb tables of-other.nwb episodes occurrences

if has_data recordings/pynapple_A8604-211122.nwb; then
    real=$SYNFIRE_DATA/recordings/pynapple_A8604-211122.nwb
    $SYNFIRE mine "$real" --delay 1:10 --min-count 100 --max-size 3 --nwb real.nwb --json >/dev/null
    $SYNFIRE graph real.nwb --metric sttc --surrogates 20 --nwb both.nwb --quiet >/dev/null
    nwb tables both.nwb episodes occurrences edges
    nwb same "$real" both.nwb
    nwb validate "$real" both.nwb || { [ $? = 77 ] && echo "skipped: no Python module hdmf, whose validator is pynwb's"; }
    nwb pynwb both.nwb || { [ $? = 77 ] && echo "skipped: no Python module pynwb"; }
fi
if has_data recordings/pynwb_2.6.0_DynamicTableElectrodes.nwb; then
    nwb validate "$SYNFIRE_DATA/recordings/pynwb_2.6.0_DynamicTableElectrodes.nwb" four.nwb ||
        { [ $? = 77 ] && echo "skipped: no Python module hdmf, whose validator is pynwb's"; }
fi

# Bursts, responses, sequences and criticality: every table that --json has, cell by cell; a unit that may be null is a number.
$SYNFIRE simulate lively.h5 --preset sym26 --seed 3 --duration 60 --burst-rate 0.4 --marker-every 0.5 >/dev/null
isi="--network-method isi-n --network-spikes 20 --network-within 40"
$SYNFIRE responses lively.h5 --marker ttl0 --episodes chain.txt --nwb five.nwb --json >responses.json 2>/dev/null
$SYNFIRE bursts five.nwb $isi --nwb six.nwb --json >bursts.json 2>/dev/null
$SYNFIRE sequences six.nwb $isi --to 5 --surrogates 50 --episodes chain.txt --nwb seven.nwb --json >sequences.json 2>/dev/null
$SYNFIRE criticality seven.nwb --rounds 2 --nwb eight.nwb --json >criticality.json 2>/dev/null
nwb tables eight.nwb burst_units network_bursts bursts burst_summary responses response_histogram response_trials sequence_units \
    sequence_bursts sequence_latencies burst_similarity sequence_chains sequence criticality avalanche_fits avalanches \
    avalanche_shapes autocorrelation criticality_cautions
nwb same five.nwb eight.nwb
"$SYNFIRE_PYTHON" - <<'END'
import h5py, json, numpy as np
told = {name: json.load(open(f"{name}.json")) for name in ("bursts", "responses", "sequences", "criticality")}
rows = {"burst_units": told["bursts"]["unit_detail"], "network_bursts": told["bursts"]["network_bursts"], "bursts": told["bursts"]["bursts"],
        "burst_summary": told["bursts"]["summary"], "responses": told["responses"]["responses"],
        "response_histogram": told["responses"]["histogram"], "response_trials": told["responses"]["trials"],
        "sequence_units": told["sequences"]["unit_detail"], "sequence_bursts": told["sequences"]["burst_detail"],
        "sequence_latencies": told["sequences"]["latencies"], "burst_similarity": told["sequences"]["similarity"],
        "sequence_chains": told["sequences"]["chains"],
        **{name: of for name, of in told["criticality"].items() if isinstance(of, list)}}
with h5py.File("eight.nwb") as file:
    module = file["processing/synfire"]
    for name, of in rows.items():
        table = module[name]
        assert len(table["id"]) == len(of), name
        for column in of[0] if of else ():
            values = [row[column] for row in of]
            found = table["sequence_chain_id" if column == "id" else column]
            if any(isinstance(value, str) for value in values):
                assert [text or None for text in found.asstr()[:]] == [text or None for text in values], (name, column)
            else:
                theirs = np.array([np.nan if value is None else value for value in values], float)
                assert np.array_equal(np.array(found[:], float), theirs, equal_nan=True), (name, column)
    assert len(rows["network_bursts"]) > 5 and len(rows["burst_similarity"]) > 10 and len(rows["responses"]) == 27
    assert np.isnan(module["bursts/unit"][0]) and np.isnan(module["responses/unit"][-1])
    assert module["burst_units/unit"].attrs["neurodata_type"] == "DynamicTableRegion"
    assert "by max-interval" in module["burst_units"].attrs["description"]
    assert module["sequence/bursts"][0] == told["sequences"]["bursts"]
END
expect 73 "which is not replaced" "$SYNFIRE" bursts lively.h5 --nwb five.nwb
