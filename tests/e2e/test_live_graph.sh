# SPDX-License-Identifier: Apache-2.0
# The graph that a run publishes is that of `synfire graph` on the same slice, in every window: between discoveries, however
# few episodes are tracked, with several delays, in windows that are not full and across silences.
. "$E2E/functions.sh"

follow() { # RECORDING WINDOW HOP DELAYS MINE MOST OPTION...
    local recording=$1 window=$2 hop=$3 delays=$4 mine=$5 most=$6
    shift 6
    cat >run.yaml <<YAML
window: {length_s: $window, hop_s: $hop}
mine: {delays_ms: "$delays", max_size: 2, $mine}
sinks: [{type: jsonl, path: run.jsonl, overwrite: true, policy: block}]
YAML
    "$SYNFIRE" run run.yaml --replay "$recording" --speed max --quiet >/dev/null 2>run.log
    python3 "$E2E/graphs.py" "$SYNFIRE" "$recording" run.jsonl "$most" --delay "$delays" "$@"
}

"$SYNFIRE" simulate sim.h5 --preset sym26 --duration 20 --seed 9 --quiet >/dev/null
follow sim.h5 4 0.5 0.5:5 "every: 5, min_rate_hz: 0.5" 16
follow sim.h5 4 0.5 4:6,8:12 "every: 5, min_count: 8, track_most: 1" 16
follow sim.h5 3 0.02 0:8,20:30 "every: 0, min_fraction: 0.01, repeats: true" 12 --repeats
# The default threshold is a rate: a full window of 10 s asks for what --min-rate does.
follow sim.h5 10 1 0.5:5 "every: 5" 8
"$SYNFIRE" graph sim.h5 --from 5 --to 15 --delay 0.5:5 --min-rate 0.5 --json >by_rate
"$SYNFIRE" graph sim.h5 --from 5 --to 15 --delay 0.5:5 --min-count 5 --json | results | cmp - <(results <by_rate)

# By spike-time tiling, where markers blank parts of the windows, and by the limits of q.
"$SYNFIRE" simulate marked.h5 --preset sym26 --duration 20 --seed 4 --marker-every 0.7 --quiet >/dev/null
tiled() { # Q MOST OPTION...
    cat >tiled.yaml <<YAML
window: {length_s: 5, hop_s: 2.5}
mine: {every: 0}
blank: [{marker: ttl0, from_ms: 0, to_ms: 150}]
graph: {metric: sttc, dt_ms: 6, surrogates: 40, seed: 1}
significance: {max_q: $1}
sinks: [{type: jsonl, path: tiled.jsonl, overwrite: true, policy: block}]
YAML
    "$SYNFIRE" run tiled.yaml --replay marked.h5 --speed max --quiet >/dev/null 2>tiled.log
    python3 "$E2E/graphs.py" "$SYNFIRE" marked.h5 tiled.jsonl "$2" --delay 0:6 --surrogates 40 --blank ttl0,0,150 "${@:3}"
}
tiled 0 8
tiled 0.6 8 --max-q 0.6

real() { # NAME and the rest as follow
    local name=$1
    shift
    if has_data "recordings/$name"; then
        follow "$SYNFIRE_DATA/recordings/$name" "$@"
    fi
}
real Demas2003_P9_CTRL_MY1_1A.h5 300 60 0.5:20 "every: 5, min_rate_hz: 0.05" 10
real Demas2003_P9_CTRL_MY1_1A.h5 100 5 1:25,25:100 "every: 5, min_count: 5, track_most: 3, repeats: true" 10 --repeats
real Wong1993_P0.h5 120 10 0.5:50 "every: 5, min_count: 5, track_most: 10" 10
real Stafford2009_WT_37C_Dorsal_2008-02-08-0.h5 200 20 3:60 "every: 5, min_count: 20, track_most: 5" 8
real Torborg2004_2001-10-22-0.h5 60 5 0.5:100 "every: 5, min_count: 2" 10
real Maccione2014_P9_m1r2_bursts_filtered.h5 60 10 0.5:5 "every: 20, min_count: 10, track_most: 20" 6
