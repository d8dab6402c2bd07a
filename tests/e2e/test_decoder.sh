# SPDX-License-Identifier: Apache-2.0
# The decoder of docs/closed-loop.md, as it stands there, on a run: it has the newest ten bins, each as it was counted.
. "$E2E/functions.sh"
need_python
"$SYNFIRE_PYTHON" -c "import numpy" || skip "no python3 with the module numpy"

"$SYNFIRE" simulate sim.h5 --preset sym26 --duration 5 --quiet >/dev/null
port=$(free_ports 1)
cat >run.yaml <<YAML
mine: {every: 0}
graph: {enabled: false}
features: {bin_ms: 20, units: ["*"]}
sinks:
- {type: zmq, endpoint: "tcp://127.0.0.1:$port", policy: block, wait_subscribers: 1}
- {type: jsonl, path: run.jsonl, policy: block}
YAML
"$SYNFIRE" run run.yaml --replay sim.h5 --speed max --quiet >/dev/null 2>run.log &
run=$!
timeout 300 "$SYNFIRE_PYTHON" -B "$E2E/decoder.py" "$SYNFIRE_SOURCE/docs/closed-loop.md" "tcp://127.0.0.1:$port" run.jsonl
wait $run
