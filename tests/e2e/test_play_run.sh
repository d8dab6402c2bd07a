# SPDX-License-Identifier: Apache-2.0
# A recording played into a run over a real socket, at full speed: every window count that a ZeroMQ subscriber, an OSC
# receiver, the JSON lines and the HDF5 file get equals the offline count of that window, and nothing is lost.
. "$E2E/functions.sh"
need_python
read -r in_port out_port osc_port <<<"$(free_ports 3)"

play_into_run() { # RECORDING SPEED WINDOW HOP DELAYS RATE
    local recording=$1 speed=$2
    cat >run.yaml <<YAML
stream: e2e
sources: [{type: zmq, endpoint: "tcp://127.0.0.1:$in_port", policy: block}]
window: {length_s: $3, hop_s: $4}
mine: {every: 4, delays_ms: "$5", min_rate_hz: $6, max_size: 4, track_most: 60}
track: ["#0 -(4,6]-> #1"]
watch: ["#0 -(4,6]-> #1 -(4,6]-> #2"]
density: [{quantity: isi, unit: "#0"}]
graph: {reach: [{from: "#0"}]}
sinks:
- {type: jsonl, path: run.jsonl, overwrite: true, policy: block}
- {type: zmq, endpoint: "tcp://127.0.0.1:$out_port", policy: block, wait_subscribers: 1}
- {type: osc, endpoint: "127.0.0.1:$osc_port", policy: block}
- {type: hdf5, path: run.h5, overwrite: true, policy: block}
YAML
    "$SYNFIRE" play "$recording" --to "tcp://127.0.0.1:$in_port" --speed "$speed" --json >play.json &
    local player=$!
    "$SYNFIRE_PYTHON" "$E2E/receive.py" "tcp://127.0.0.1:$out_port" zmq.jsonl "$osc_port" osc.jsonl &
    local receiver=$!
    "$SYNFIRE" run run.yaml --json >summary.json
    end_osc "$osc_port"
    wait "$player"
    wait "$receiver"
    "$SYNFIRE_PYTHON" "$E2E/windows.py" "$SYNFIRE" "$recording" run.jsonl --zmq zmq.jsonl --osc osc.jsonl --hdf5 run.h5
    "$SYNFIRE_PYTHON" - "$recording" <<'PY'
import json, subprocess, sys, os
synfire = os.environ["SYNFIRE"]
spikes = json.load(open("play.json"))["spikes"]
status = json.load(open("summary.json"))["status"]
source = status["sources"][0]
assert status["spikes"] == source["spikes"] == spikes, (status["spikes"], source, spikes)
assert source["gaps"] == source["dropped"] == source["late"] == 0, source
info = [json.loads(subprocess.run([synfire, "info", path, "--json"], check=True, capture_output=True).stdout)
        for path in (sys.argv[1], "run.h5")]
for key in ("spikes", "units", "start_s", "stop_s"):
    assert info[0][key] == info[1][key], (key, info[0][key], info[1][key])
PY
    # The recording reads back and mines to the same episodes.
    for file in "$recording" run.h5; do
        "$SYNFIRE" mine "$file" --delay "$5" --min-rate "$6" --json --quiet |
            "$SYNFIRE_PYTHON" -c 'import json, sys; print([(e["units"], e["count"]) for e in json.load(sys.stdin)["episodes"]])'
    done >mined
    [ "$(uniq mined | wc -l)" = 1 ] && [ "$(wc -l <mined)" = 2 ]
}

"$SYNFIRE" simulate sim.h5 --preset sym26 --duration 20 --seed 5 --quiet >/dev/null
play_into_run sim.h5 max 4 0.5 0:5,5:12 4
play_into_run sim.h5 20 4 0.5 0:5,5:12 4
for name in Demas2003_P9_CTRL_MY1_1A Wong1993_P0 Torborg2004_2001-10-22-0; do
    if has_data "recordings/$name.h5"; then
        play_into_run "$SYNFIRE_DATA/recordings/$name.h5" max 300 60 0.5:20 0.05
    fi
done
