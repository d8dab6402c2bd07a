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
