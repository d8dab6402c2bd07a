# SPDX-License-Identifier: Apache-2.0
# How long was recorded, and of which units: what a file says, what a caller says, and what nobody knows.
. "$E2E/functions.sh"

# The value of a field of info's JSON.
field() {
    "$SYNFIRE" info "${@:2}" --json 2>/dev/null | python3 -c "import json, sys; print(json.load(sys.stdin)['$1'])"
}
same() {
    [ "$1" = "$2" ] || { echo "found '$1', expected '$2'"; exit 1; }
}

# A well was recorded as long as its plate.
printf ',,Time (s),Electrode\n,,0,A1_11\n,,50.1,B2_11\n,,50.2,B2_11\n,,100,A1_11\n' >plate.csv
same "$(field duration_s plate.csv --stream B2)" 100.000000001
same "$(field declared plate.csv --stream B2)" False
same "$(field duration_s plate.csv --stream B2 --recorded 0:200)" 200
same "$(field rate_hz plate.csv --stream B2 --recorded 0:200)" 0.01
"$SYNFIRE" mine plate.csv --stream A1 --delay 1:5 --min-count 1 2>said >/dev/null
grep -q "rates are from first to last spike, 100 s; --recorded A:B says it" said
status=0
"$SYNFIRE" info plate.csv --stream A1 --recorded 0:99 2>said || status=$?
same "$status" 64
grep -q -- "--recorded: found 0 to 99 s, and there are spikes from 0 to 100 s" said
status=0
"$SYNFIRE" info plate.csv --stream A1 --recorded 200:0 2>said || status=$?
same "$status" 64
grep -q -- "--recorded: found '200:0', expected A:B with A before B" said

# What AxIS ran over, unless the list was cut.
printf 'x,,Time (s),Electrode\nActual File Section Run,0s to 2m30s,0.5,A1_11\n,,140,A1_11\n' >whole.csv
same "$(field duration_s whole.csv)" 150
same "$(field declared whole.csv)" True
printf 'x,,Time (s),Electrode\nActual File Section Run,0s to 18m2s,0.5,A1_11\n,,60.5,A1_11\n' >cut.csv
same "$(field declared cut.csv)" False
"$SYNFIRE" info cut.csv 2>said >/dev/null
grep -q "cut.csv: recorded 0 to 1082 s by the file, which ends at 60.5 s: it was cut, and is not believed" said
printf 'x,,Time (s),Electrode\nActual File Section Run,0s to 2m30s,0.5,A1_11\n,,170,A1_11\n' >short.csv
"$SYNFIRE" mine short.csv --delay 1:5 2>said >/dev/null
grep -q "recorded 0 to 150 s by the file, whose spikes lie from 0.5 to 170 s: it is taken to be as long" said
same "$(field duration_s short.csv)" 170.000000001
same "$(grep -c "recorded 0 to 150" said)" 1

# What a file says of a time in which none of its spikes lies is of something else.
printf 'x,,Time (s),Electrode\nActual File Section Run,0s to 2m,1000.5,A1_11\n,,1010,A1_11\n' >beside.csv
"$SYNFIRE" info beside.csv 2>said >/dev/null
grep -q "recorded 0 to 120 s by the file, whose spikes lie from 1000.5 to 1010 s: it is not believed" said
same "$(field duration_s beside.csv)" 9.5
same "$(field declared beside.csv)" False

# Trials lie side by side; sessions of one clock were recorded each by itself.
printf 'trial,unit,time\n1,u,0.1\n1,u,0.9\n2,u,0.2\n2,v,0.5\n' >trials.csv
status=0
"$SYNFIRE" info trials.csv 2>said || status=$?
same "$status" 64
grep -q "there are 2 streams; choose one with --stream: 1 (2 spikes), 2 (2 spikes); '\*' takes each" said
for command in "play" "run --replay"; do # they take one recording
    status=0
    "$SYNFIRE" $command trials.csv 2>said || status=$?
    same "$status" 64
    grep -q "choose one with --stream" said
    ! grep -F "'*'" said || exit 1
done
same "$(field spikes trials.csv --stream 2)" 2
same "$(field duration_s trials.csv --stream 2)" 0.800000001
printf 'session,unit,time\na,u,0\na,u,10\nb,u,100\nb,u,130\n' >sessions.csv
same "$(field duration_s sessions.csv --stream a)" 10
same "$(field duration_s sessions.csv --stream b)" 30

# Times beyond what was recorded are told, and where nothing was recorded nothing is counted.
printf 'a,1\nb,1.003\na,2\nb,2.003\na,30\n' >pairs.csv
printf '0.5,2.5\n20,31\n' >epochs.csv
"$SYNFIRE" count pairs.csv --episodes 'a -(0,5]-> b' --window 5 --epochs epochs.csv --csv >counts 2>said
grep -q "2 of 2 epochs reach beyond 1 to 30 s" said
grep -q '^1,6,0,.*,2,1.3333333333333333,1.5$' counts
grep -q '^6,11,0,.*,,,0$' counts
"$SYNFIRE" count pairs.csv --episodes 'a -(0,5]-> b' --recorded 0:31 --to 60 >/dev/null 2>said
grep -q -- "--to 60 s is after recording ended, at 31 s" said
! grep "from first to last spike" said || exit 1
"$SYNFIRE" plot rates pairs.csv -o rates.svg --epochs epochs.csv --json 2>/dev/null |
    python3 -c 'import json, sys
rates = json.load(sys.stdin)["panels"][0]["marks"][-1]["y"]
assert rates[0] > 0 and None in rates, rates'

# Times since 1970 are told apart wherever they are printed.
printf 'a,1700000000.25\nb,1700000000.253\na,1700000001.5\nb,1700000001.503\n' >epoch.csv
"$SYNFIRE" info epoch.csv --from 1700000000 --to 1700000001.75 >out 2>said
grep -q -- "--from 1700000000 s is before its first spike, at 1700000000.25 s" said
grep -q -- "--to 1700000001.75 s is after its last spike, at 1700000001.503 s" said
for times in "--from 1700000001.6" "--to 1700000000.2" "--recorded 1700000000.3:1700000002"; do
    status=0
    "$SYNFIRE" info epoch.csv $times 2>said || status=$?
    same "$status" 64
    grep -q "from 1700000000.25 to 1700000001.503 s" said
done
"$SYNFIRE" count epoch.csv --episodes 'a -(0,5]-> b' --window 0.5 2>said >counts
grep -Eq "^ *1700000000.75 +1700000001.25 " counts
"$SYNFIRE" count epoch.csv --episodes 'a -(0,5]-> b' --window 0.5 --plot windows.svg >/dev/null 2>&1
grep -q "start of the window, s after 1700000000.25 s" windows.svg
! grep "1.7e+09" windows.svg || exit 1

# compare: wells and trials are rows, a column says how long, and files that options name count by what is in them.
printf 'file,condition,well,recorded\nplate.csv,x,A1,\nplate.csv,y,B2,0:200\ntrials.csv,x,1,\ntrials.csv,y,2,\n' >table.csv
"$SYNFIRE" compare table.csv --out compared --without graph,chains >/dev/null 2>said
grep -q "3 of 4 rows do not say how long was recorded" said
same "$(cut -d, -f4,6,7 compared/recordings.csv | tr '\n' ' ')" "well,duration_s,declared A1,100.000000001,0 B2,200,1 1,0.800000001,0 2,0.800000001,0 "
printf '0,50\n' >epochs.csv
printf 'file,condition,well\nplate.csv,x,A1\nplate.csv,y,B2\n' >again.csv
"$SYNFIRE" compare again.csv --out compared --without graph,chains --epochs epochs.csv >/dev/null 2>&1
before=$(ls compared/parts | wc -l)
printf '0,60\n' >epochs.csv
"$SYNFIRE" compare again.csv --out compared --without graph,chains --epochs epochs.csv >/dev/null 2>&1
[ "$(ls compared/parts | wc -l)" -gt "$before" ]

printf 'name,x,y\na,0,0\nb,50,0\n' >where.csv
printf 'file,condition,positions\npairs.csv,x,where.csv\npairs.csv,y,\n' >placed.csv
"$SYNFIRE" compare placed.csv --out placed --without graph,chains >/dev/null 2>&1
same "$(grep ,b, placed/units.csv | cut -d, -f2,7 | tr '\n' ' ')" "x,50 y, "
printf 'name,x,y\na,0,0\nb,70,0\n' >where.csv
"$SYNFIRE" compare placed.csv --out placed --without graph,chains >/dev/null 2>&1
same "$(grep ,b, placed/units.csv | cut -d, -f2,7 | tr '\n' ' ')" "x,70 y, "

# Two sessions in one train.
printf 'a,100\na,400\nb,200\nb,399\na,100.5\na,399.5\nb,200.5\n' >reset.csv
"$SYNFIRE" info reset.csv >said 2>&1
grep -q "unit a steps back 299.5 s, once; 2 of 2 units step back" said
grep -q -- "--stream takes one alone: session1 (4 spikes), session2 (3 spikes); .joined. in place of .session1. takes all" said
same "$(field duration_s reset.csv --stream session2)" 299
same "$("$SYNFIRE" info reset.csv --stream '*' --csv 2>/dev/null | cut -d, -f1-5 | tr '\n' ' ')" \
    "recording,stream,unit,name,spikes reset.csv,session1,0,a,2 reset.csv,session1,1,b,2 reset.csv,session2,0,a,2 reset.csv,session2,1,b,1 "
printf 'file,condition\nreset.csv,x\nreset.csv,y\n' >resets.csv # each session is a row
"$SYNFIRE" compare resets.csv --out resets --without graph,chains >/dev/null 2>&1
same "$(cut -d, -f3 resets/recordings.csv | sort | uniq -c | tr -s ' \n' ' ')" " 2 session1 2 session2 1 well "
"$SYNFIRE" run replay --set sources.0.recording=reset.csv --set sources.0.stream=session2 >/dev/null 2>said
grep -q "session 2 of 2: unit a steps back" said
same "$(field spikes results.h5)" 3
status=0
"$SYNFIRE" run replay --set sources.0.recording=reset.csv --set sources.0.stream=session3 2>said || status=$?
same "$status" 78
grep -q "there is no session 3; there is session1 (4 spikes), session2 (3 spikes)" said
"$SYNFIRE" run --replay reset.csv --stream joined --speed max --set sinks.0.type=hdf5 --set sinks.0.path=joined.h5 >/dev/null 2>said
same "$(field spikes joined.h5)" 7
grep -q "session2 301 s later than in the file" said
"$SYNFIRE" convert reset.csv overlaid.h5 2>/dev/null # spikes are in order now, and only that they lay so is kept
"$SYNFIRE" info overlaid.h5 >told 2>&1
grep -q "began anew: unit a steps back" told
! grep -q "sessions: \|--stream takes" told || exit 1

has_data cases/text/axion_B4_D5.csv || exit 0
cases=$SYNFIRE_DATA/cases
same "$(field spikes "$cases/text/axion_B4_D5.csv" --stream B4)" 668
field rate_hz "$cases/text/axion_B4_D5.csv" --stream B4 | grep -q '^10.8'
field rate_hz "$cases/text/axion_B4_D5.csv" --stream D5 | grep -q '^0.0809'
field rate_hz "$cases/text/twowells.csv" --stream B2 | grep -q '^0.01[45]'
field rate_hz "$cases/text/c6_trial.csv" --stream 3 | grep -q '^15.1'
"$SYNFIRE" mine "$cases/phy/labels" --delay 1:10 --min-count 100 --max-size 2 --json >mined 2>said
grep -q "of units labelled noise" said
python3 - <<'PY'
import json
mined = json.load(open("mined"))
selection = mined["provenance"]["selection"]
assert selection["noise_units"] == 2 and selection["unit_count"] == 10 and selection["units_in_recording"] == 12, selection
assert "without 2 labelled noise and their 3335 spikes" in selection["words"], selection["words"]
assert not any(unit in (0, 2) for episode in mined["episodes"] for unit in episode["units"])
PY
same "$(field noise_units "$cases/phy/labels")" 2
same "$(field spikes "$cases/phy/labels" --kind noise)" 3335
same "$(field noise_spikes "$cases/phy/labels" --kind good)" 3335
"$SYNFIRE" mine "$cases/phy/labels" --delay 1:10 --min-count 100 --max-size 2 --units 0,1 --json 2>/dev/null | grep -q '"unit_count":2'
"$SYNFIRE" info "$cases/nwb/reset_two_sessions.nwb" 2>said >/dev/null
grep -q "steps back 298.993 s, once; 5 of 5 units step back" said
