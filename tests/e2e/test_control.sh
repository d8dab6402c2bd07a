# SPDX-License-Identifier: Apache-2.0
# A run is asked over its control socket by the example that is installed: status, a wrong token, arming, stopping; what it
# sends when armed is heard by an HTTP server that is not ours.
. "$E2E/functions.sh"
need_python

control() {
    "$SYNFIRE_PYTHON" -B "$E2E/../../examples/control.py" "ipc://$PWD/control" "$@"
}

"$SYNFIRE" simulate sim.h5 --preset sym26 --duration 600 --seed 5 --quiet >/dev/null
(umask 077 && head -c 24 /dev/urandom | base64 >token && echo 0123456789abcdef0123456789 >wrong)
port=$(free_ports 1)
cat >heard.py <<'PY'
import http.server, json, sys

class Handler(http.server.BaseHTTPRequestHandler):
    def do_PUT(self):
        text = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"]
        print(self.path, text, flush=True)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass

http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
PY
"$SYNFIRE_PYTHON" heard.py "$port" >heard &
server=$!
trap 'kill $server' EXIT
until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do sleep 0.05; done
cat >run.yaml <<YAML
sources: [{type: replay, recording: sim.h5, speed: 1}]
device: cpu
window: {length_s: 0.4, hop_s: 0.2}
mine: {every: 0}
significance: {kind: "off"}
graph: {enabled: false}
triggers: [{name: pair, episode: "A -(4,6]-> B", armed: false, max_age_ms: 0}]
control: [{endpoint: "ipc://$PWD/control", token_file: token}]
sinks:
- {type: jsonl, path: run.jsonl}
- {type: zmq, endpoint: "ipc://$PWD/published"}
- {type: command, endpoint: "http://127.0.0.1:$port", via: http, target: /api/message, send: '{{"text": "{name} {occurrence}"}}'}
YAML
chmod 644 token # by --check too
expect 78 "control.0.token_file: token: " "$SYNFIRE" run run.yaml --check
chmod 600 token
"$SYNFIRE" run run.yaml --check >/dev/null
receiver() { # receiver WORDS KEY=VALUE...: --check refuses a sink that can reach nobody
	local words=$1 set=() key
	shift
	for key in "$@"; do set+=(--set "sinks.3.$key"); done
	expect 78 "$words" "$SYNFIRE" run run.yaml --check "${set[@]}"
}
receiver "no.such.host.invalid:9000/: cannot find the host" type=osc endpoint=no.such.host.invalid:9000
receiver "expected HOST:PORT" type=osc endpoint=127.0.0.1:99999
receiver "found the byte 0x0d" type=command via=http endpoint=http://127.0.0.1:80 $'target=/a\r\nX:y'
receiver "expected tcp://HOST:PORT" type=command endpoint=127.0.0.1
"$SYNFIRE" run run.yaml >run.out 2>run.err &
run=$!
wait_for 'control listens at' run.err
wait_for '"topic":"status"' run.jsonl
control token status >answer
grep -q '^pair: disarmed; sent 0' answer
must_fail "$SYNFIRE_PYTHON" -B "$E2E/../../examples/control.py" "ipc://$PWD/control" 2>refusal
grep -q "^control.py: missing: TOKEN_FILE, its \`token_file\`; a command, such as status$" refusal
must_fail "$SYNFIRE_PYTHON" -B "$E2E/../../examples/control.py" "ipc://$PWD/control" no-such-token arm 2>refusal
[ "$(wc -l <refusal)" = 1 ]
grep -q "^control.py: no-such-token: No such file" refusal
must_fail "$SYNFIRE_PYTHON" -B "$E2E/../../examples/control.py" "ipc://$PWD/control" wrong arm 2>refusal
grep -q 'the token is wrong' refusal
must_fail control token arm nobody 2>refusal
grep -q "no trigger is named 'nobody'" refusal
control token arm pair 600
wait_for '"outcome":"sent"' run.jsonl
for _ in $(seq 600); do # what is answered is the newest status, which comes once a hop
    control token status >answer
    ! grep -q '^pair: armed by control for [0-9]* s; sent [1-9]' answer || break
    sleep 0.1
done
grep -q '^pair: armed by control for [0-9]* s; sent [1-9]' answer

# How busy it is, asked and listened to; the endpoint of nobody is told.
"$SYNFIRE" top "ipc://$PWD/control" --token token --once >table # as wide as a screen, of which the folder takes its part
grep -q '^--verbose adds p50 ms' table
must_fail grep -q '^ .* p50 ms' table
"$SYNFIRE" top "ipc://$PWD/control" --token token --once --verbose 2>log >table
grep -qE '^[^ ]+  up [0-9]+ s  [0-9]+ spikes  ([0-9]\.[0-9]|[1-9][0-9]+) Hz  hop ' table
grep -qE '^stage +watch .* - +- +[0-9.]+ +[0-9.]+ +[0-9.]+$' table
grep -qE '^sink +jsonl run.jsonl +[0-9.]+ % ' table
"$SYNFIRE" top "ipc://$PWD/published" --json >out # a terminal is not needed
check "
rows = {row['name']: row for row in out['rows']}
assert {'watch', 'to the windows', 'hop', 'count', 'publish', 'jsonl run.jsonl'} <= set(rows), rows
assert out['hop_ms'] == 200 and out['rate_hz'] > 0 and not out['last'], out
assert 0 < rows['watch']['p50_ms'] <= rows['watch']['p99_ms'] <= rows['watch']['max_ms'], rows['watch']
assert 0 < rows['hop']['hop_share'] and rows['to the windows']['room'] > 0, rows
assert 0 < out['latency_p50_ms'] <= out['latency_p99_ms'] <= out['latency_max_ms'], out
assert all(row['lost'] == 0 for row in rows.values()), rows"
expect 69 'the token is wrong' "$SYNFIRE" top "ipc://$PWD/control" --token wrong --once
expect 69 'no status came within 0.1 s' "$SYNFIRE" top "ipc://$PWD/nobody" --token token --once --wait 0.1
expect 66 'nowhere: cannot open' "$SYNFIRE" top nowhere --once
# By the configuration of a run: its control socket and token, else what a sink publishes.
printf 'control: [{endpoint: "%s", token_file: %s}]\n' "ipc://$PWD/control" "$PWD/token" >asked.yaml
printf 'sinks: [{type: jsonl, path: none.jsonl}, {type: zmq, endpoint: "%s"}]\n' "ipc://$PWD/published" >heard.yaml
for file in asked heard; do
    "$SYNFIRE" top $file.yaml --json >out
    check "assert out['endpoint'].endswith({'asked': 'control', 'heard': 'published'}['$file']) and out['spikes'] > 0"
done
echo 'sinks: [{type: jsonl, path: none.jsonl}]' >quiet.yaml
expect 78 'its run tells nobody how busy it is' "$SYNFIRE" top quiet.yaml
echo 'sinks: [{type: zmq, endpoint: "tcp://*:19", insecure: true}]' >all.yaml
expect 69 'tcp://127.0.0.1:19: no status came' "$SYNFIRE" top all.yaml --once --wait 0.1

# The controller that is installed arms, acts, and leaves it disarmed soon after it was killed.
control token disarm
"$SYNFIRE_PYTHON" -B "$E2E/../../examples/controller.py" "ipc://$PWD/published" "ipc://$PWD/control" token pair 1 >acted &
controller=$!
wait_for '^pair [1-9][0-9]*: [0-9.]* ms after' acted
kill -KILL $controller
wait_for '"reason":"arming expired"' run.jsonl
rm acted # so that what is waited for is not what the first one wrote
"$SYNFIRE_PYTHON" -B "$E2E/../../examples/controller.py" "ipc://$PWD/published" "ipc://$PWD/control" token pair 3 2>left >acted &
controller=$!
wait_for '^pair [1-9]' acted
sleep 2.5
control token disarm
must_fail wait $controller
grep -q 'pair is not armed any more' left
control token arm pair 600
sed -i 's/max_age_ms: 0/max_age_ms: 0, refractory_ms: 1e9/' run.yaml
control token reload
wait_for '"reason":"refractory"' run.jsonl
sed -i 's/length_s: 0.4/length_s: 0.6/' run.yaml
must_fail control token reload 2>refusal
grep -q 'window.length_s: has changed, which takes a new run' refusal
control token mark 'light on'
control token stop
wait $run
grep -q "command publishes to http://127.0.0.1:$port" run.err
must_fail grep -q 'the page of this run' run.err
grep '"topic":"delivery"' run.jsonl | grep '"sink":"command http:' | grep '"outcome":"sent"' >delivered
[ "$(grep -c '^/api/message pair [1-9]' heard)" = "$(wc -l <delivered)" ]
[ -s delivered ]
