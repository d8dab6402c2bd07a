# SPDX-License-Identifier: Apache-2.0
# synfire info: the known facts, every kind of file that is no recording, selections, and what is printed where.
. "$E2E/functions.sh"

# Files that are no recording.
expect 66 "no.h5: cannot open: No such file or directory" "$SYNFIRE" info no.h5
expect 66 "directory, expected a recording file" "$SYNFIRE" info .
expect 66 "this is a device" "$SYNFIRE" info /dev/zero
: >empty
expect 65 "empty: this is neither HDF5 nor lines of name,seconds: the file is empty" "$SYNFIRE" info empty
head -c 100 "$SYNFIRE" >program
expect 65 "holds bytes of value zero" "$SYNFIRE" info program
printf 'a,1\nb\n' >short.csv
expect 65 "short.csv: line 2: expected a unit's name" "$SYNFIRE" info short.csv
for bad in nan -1 inf 1e300 x; do
    printf 'a,1\nb,%s\n' "$bad" >bad.csv
    expect 65 "bad.csv: line 2: expected a time" "$SYNFIRE" info bad.csv
done
printf 'name,seconds\n' >heading.csv
expect 65 "heading.csv: no spikes" "$SYNFIRE" info heading.csv

# A recording cut anywhere is refused with one sentence, and never with HDF5's own words on stderr.
$SYNFIRE simulate whole.h5 --unit-count 4 --rate 20 --duration 5 >/dev/null
size=$(stat -c %s whole.h5)
for part in 4 8 40 96 100 $((size / 3)) $((size / 2)) $((size - 1)); do
    head -c "$part" whole.h5 >cut.h5
    expect 65 "cut.h5: this HDF5 file is damaged" "$SYNFIRE" info cut.h5
done
expect 64 "no stream 'x'" "$SYNFIRE" info whole.h5 --stream x

# One unit, one spike; unsorted and repeated times.
printf 'a,7.5\n' >one.csv
$SYNFIRE info one.csv | grep -q "units  *1"
$SYNFIRE info one.csv --json | python3 -c '
import json, sys
info = json.load(sys.stdin)
assert info["spikes"] == info["units"] == 1 and info["start_s"] == info["stop_s"] == 7.5, info
assert info["rate_hz"] is None and info["tick_s"] is None and info["geometry"] is None, info'
printf 'a,3\nb,1\na,1\na,1\n' >mixed.csv
$SYNFIRE info mixed.csv --json >out
python3 - <<'END'
import json
info = json.load(open("out"))
assert list(info) == ["format", "spikes", "units", "start_s", "stop_s", "duration_s", "declared", "rate_hz", "tick_s",
    "kind", "noise_units", "noise_spikes",
    "markers", "metadata", "geometry", "dropped", "lost", "duplicates", "network_bursts", "network_burst_s", "sharpness",
    "unit_detail", "provenance"], list(info)
assert list(info["unit_detail"][0]) == ["unit", "name", "spikes", "rate_hz", "x_um", "y_um", "kind", "isi_violations"]
assert (info["format"], info["spikes"], info["units"], info["duplicates"], info["tick_s"]) == (
    "CSV: units of column 1, times of column 2 in s, as no unit of time is named", 4, 2, 1, 2), info
assert info["network_bursts"] == 0 and info["network_burst_s"] is None, info
assert info["unit_detail"][0]["isi_violations"] == 0.5 and info["unit_detail"][0]["rate_hz"] == 1.5
END

# Selections: units keep their numbers, times exclude their end, epochs and dedup; the preset says what it sets.
$SYNFIRE info mixed.csv --units '#1' --json | grep -q '"spikes":1,"units":2'
$SYNFIRE info mixed.csv --from +0 --to 3 --json | grep -q '"spikes":3,'
$SYNFIRE info mixed.csv --from 1 --to 2 --json | grep -q '"duration_s":1,'
printf 'start,stop,label\n0,2,early\n' >epochs.csv
$SYNFIRE info mixed.csv --epochs epochs.csv --json | grep -q '"spikes":3,'
$SYNFIRE info mixed.csv --dedup 0.4ms,0um --json 2>err | grep -q '"spikes":3,'
grep -q "left out 1 of 4 spikes (25.0 %): duplicate" err
# One warning is printed once, whether it stands in info's lines or beside them.
$SYNFIRE info mixed.csv --dedup 0.4ms,0um >out 2>&1
[ "$(grep -c "duplicate" out)" = 1 ]
printf 'a,100\na,400\na,200\n' >back.csv
for quiet in "" --quiet; do
    $SYNFIRE info back.csv $quiet >out 2>&1
    [ "$(grep -c "unit a steps back" out)" = 1 ]
done
$SYNFIRE report back.csv -o back.html 2>err >out
grep -q "clock: unit a steps back" back.html
$SYNFIRE info mixed.csv --preset cortex 2>err >out
grep -q "preset cortex: delays 0.8:4,4:10,10:25 ms, window 60 s, discovery every 5 s, no dedup" err
$SYNFIRE info mixed.csv --preset cortex --quiet 2>err >out
[ ! -s err ]
expect 64 "--units: no unit is named '0'; the unit with that index is written #0" "$SYNFIRE" info mixed.csv --units 0
expect 64 "--from: found 'soon', expected seconds" "$SYNFIRE" info mixed.csv --from soon
expect 64 "--to: 1 s is not after --from, 2 s" "$SYNFIRE" info mixed.csv --from 2 --to 1
expect 64 "--dedup: found '1', expected MS,UM" "$SYNFIRE" info mixed.csv --dedup 1
expect 65 "no positions" "$SYNFIRE" info mixed.csv --dedup 1,100
for time in '' + five 1e 5s ++5; do
    expect 64 "--from: found '$time', expected seconds" "$SYNFIRE" info mixed.csv --from "$time"
done
for blank in light,1 light,1,1 ,1,2 light,1s,2; do
    expect 64 "--blank: found '$blank', expected MARKER,A,B with A before B in ms" "$SYNFIRE" info mixed.csv --blank "$blank"
done
expect 64 "--blank: this recording has no marker" "$SYNFIRE" info mixed.csv --blank light,-1ms,+5ms
expect 64 "expected one of culture-60, retina-waves, retina-adult, cortex, hd-mea" "$SYNFIRE" info mixed.csv --preset x
expect 66 "none.csv: cannot open" "$SYNFIRE" info mixed.csv --epochs none.csv

# Output that cannot be written.
code=0
$SYNFIRE info mixed.csv >/dev/full 2>err || code=$?
[ $code = 74 ]

has_data recordings || exit 0
recordings=$SYNFIRE_DATA/recordings
facts() { # file, expected fields of the JSON
    $SYNFIRE info "$recordings/$1" --json >out
    python3 - "$2" <<'END'
import json, sys
info, expected = json.load(open("out")), json.loads(sys.argv[1])
for key, value in expected.items():
    assert info[key] == value, (key, info[key], value)
assert len(info["unit_detail"]) == info["units"] and sum(u["spikes"] for u in info["unit_detail"]) == info["spikes"]
END
    [ "$($SYNFIRE info "$recordings/$1" | wc -l)" -le 40 ] # one screen
}
facts Demas2003_P9_CTRL_MY1_1A.h5 '{"units": 26, "spikes": 26911, "start_s": 21.4407, "stop_s": 3573.7048,
    "duration_s": 3552.2641, "tick_s": 5e-05, "format": "CARMEN"}'
facts Stafford2009_WT_37C_Dorsal_2008-02-08-0.h5 '{"units": 110, "spikes": 176940, "start_s": 3600.022,
    "stop_s": 7191.5548}'
facts Maccione2014_P9_m1r2_bursts_filtered.h5 '{"units": 794, "spikes": 134771, "geometry":
    {"electrodes": 794, "x_um": [42, 2688], "y_um": [42, 2688]}}'
facts pynapple_A8604-211122.nwb '{"units": 3, "spikes": 21354, "geometry": null, "kind": "sorted"}'
$SYNFIRE info "$recordings"/Stafford2009_WT_37C_Dorsal_2008-02-08-0.h5 | grep -q "starts at 3600.022 s: --from +0"
$SYNFIRE info "$recordings"/Kirkby2013_02_B2KO_P5.h5 | grep -q "delays under 20 ms, two ticks"
$SYNFIRE info "$recordings"/pynapple_A8604-211122.nwb | grep -q "no geometry"
expect 64 "there are 12 recordings; choose one with --stream: well000/rec0000" "$SYNFIRE" info \
    "$recordings"/probeinterface_maxtwo_data.raw.h5
$SYNFIRE info "$recordings"/probeinterface_maxtwo_data.raw.h5 --stream well001/rec0000 2>/dev/null |
    grep -q "125 spikes: before the first recorded sample"
expect 65 "no spike times: this is a 3Brain BXR file" "$SYNFIRE" info "$recordings"/truncated_bxr.bxr
expect 65 "no spike times: this NWB file" "$SYNFIRE" info "$recordings"/pynwb_2.6.0_DynamicTableElectrodes.nwb
facts mcs_2014-07-09_W8_standard_all_500Hz.h5 '{"units": 8, "spikes": 224, "geometry": null}'
expect 64 "--rate is for those that count samples" "$SYNFIRE" info --rate 20000 \
    "$recordings"/mcs_2014-07-09_W8_standard_all_500Hz.h5

# A pipe is read once, by the reader.
printf 'a,0.1\nb,0.2\na,0.3\n' | $SYNFIRE info /dev/stdin --json >piped
grep -q '"spikes":3,"units":2' piped

# A text that ends in .gdf is NEST's, in ms, and told so.
printf '1\t2500.5\n2\t3000\n' >nest.gdf
$SYNFIRE info nest.gdf --json >out 2>err
check 'assert (out["start_s"], out["units"]) == (2.5005, 2), out'
grep -q "nest.gdf: read as units of column 1, times of column 2 in ms, as NEST writes .gdf" err

# Text in another order is told in one sentence, or asked for; positions come from a file, and what has none stays so.
printf 'time_ms;Neuron\n10,5;ch_1\n20;ch_2\n30;x\n' >other.csv
$SYNFIRE info other.csv >out 2>err
[ "$(cat err)" = "synfire: info: other.csv: read as units of column 2 'Neuron', times of column 1 'time_ms' in ms; --columns says it otherwise" ]
printf '0.0105,a,7\n0.02,b,8\n' >bare.csv
expect 65 "line 1 has 3 columns and none of them is headed as times: --columns says" "$SYNFIRE" info bare.csv
$SYNFIRE info bare.csv --columns time,unit,- >out 2>err
[ ! -s err ]
grep -q 'first spike 0.0105 s' out
expect 65 "line 1: expected 1 field, found" "$SYNFIRE" info bare.csv --columns time
printf '{"probes": [{"contact_positions": [[0, 0], [0, 25]], "device_channel_indices": [1, 2]}]}' >probe.json
$SYNFIRE info other.csv --positions probe.json --json >out 2>err
grep -q 'positions of 2 of 3 units by the number in the name, of probe.json$' err
python3 - <<'END'
import json
units = json.load(open("out"))["unit_detail"]
assert [(u["name"], u["x_um"], u["y_um"]) for u in units] == [("ch_1", 0, 0), ("ch_2", 0, 25), ("x", None, None)], units
END
expect 65 "probe.json: has 2 electrodes and none of the 2 units" "$SYNFIRE" info bare.csv --columns time,unit,- --positions probe.json
expect 66 "none.json: cannot open" "$SYNFIRE" info other.csv --positions none.json

# The clock's step is what all times have in common, not the smallest gap between sparse spikes; times since 1970 are
# told apart.
awk 'BEGIN { print "unit,seconds"; srand(4); for (i = 1; i <= 60; i++) { t = int((10 * i + 3 * rand()) * 20000)
    printf "A,%.5f\nB,%.5f\n", t / 20000, (t + 25 + int(9 * rand())) / 20000 } }' >sparse.csv
$SYNFIRE info sparse.csv --json >out
check 'assert out["tick_s"] == 5e-05, out["tick_s"]'
$SYNFIRE info sparse.csv | grep -q "^  tick        0.05 ms, the step of its clock$"
if $SYNFIRE info sparse.csv | grep "mean nothing"; then exit 1; fi
printf 'unit,seconds\nA,1700000000.0125\nB,1700000000.5\nA,1700000002.25\n' >since.csv
$SYNFIRE info since.csv | grep -q "first spike 1700000000.0125 s, last 1700000002.25 s"

# A clock of 10 ms does not tell within 0.25 ms, and one event is no events.
printf 'a,0.01\na,0.01\na,0.03\nb,0.04\nc,0.06\nd,0.07\na,0.09\nb,0.12\n' >coarse.csv
"$SYNFIRE" info coarse.csv >out
grep -q '^  repeats     within one tick: 0 % on a neighbouring unit, 12.5 % on the same unit$' out
grep -q '^  ! repeats within one tick, 10 ms: the clock does not tell one spike seen twice from two$' out
must_fail grep -q 'within 0.25 ms' out

# Why no q will be given has one wording here and where it is not.
bicuculline=recordings/Hennig2011_spikes_P5_Bic_10uM_16_Mar_2010_bic_day2.h5
if has_data $bicuculline; then
    "$SYNFIRE" info "$SYNFIRE_DATA/$bicuculline" >out
    "$SYNFIRE" mine "$SYNFIRE_DATA/$bicuculline" --delay 0.5:5 --max-size 2 --significance segment-shift --surrogates 20 --json --quiet >told
    why=$(python3 -c 'import json; print(json.load(open("told"))["significance"]["not_tested"])')
    [ "$why" = "pairs too unlike" ]
    grep -Eq '^  ! pairs are too unlike for --significance at delays up to [0-9, ]*5[0-9, ]* ms: no p or q will be given$' out
    "$SYNFIRE" plot correlograms "$SYNFIRE_DATA/$bicuculline" -o too-unlike.svg --quiet | grep -q "which cannot be tested, .* Surrogates say nothing here: pairs too unlike"
fi
