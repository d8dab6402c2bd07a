# SPDX-License-Identifier: Apache-2.0
# Keys from one end to the other: a player, a run, its sink and control socket, and who watches; whom nobody knows gets
# nothing, and no secret is in anything that is printed or written.
. "$E2E/functions.sh"

"$SYNFIRE" doctor --json >out || true
check "print(next(one['level'] for one in out['checks'] if one['name'] == 'keys'))" | grep -q good ||
    skip "this libzmq was built without CURVE"

"$SYNFIRE" keys rig --json >out
check "assert out['public_file'] == 'rig.key' and out['secret_file'] == 'rig.key_secret' and len(out['public_key']) == 40"
"$SYNFIRE" keys run >/dev/null
"$SYNFIRE" keys desk >/dev/null
"$SYNFIRE" keys nobody >/dev/null
expect 73 'rig.key_secret: is there already, and keys are never replaced' "$SYNFIRE" keys rig
[ "$(stat -c %a rig.key_secret)" = 600 ]
mkdir listeners desks
cp run.key listeners
cp desk.key desks
"$SYNFIRE" simulate sim.h5 --preset sym26 --duration 600 --seed 5 --quiet >/dev/null
(umask 077 && head -c 24 /dev/urandom | base64 >token)
cat >run.yaml <<YAML
sources: [{type: zmq, endpoint: "ipc://$PWD/spikes", key: run.key_secret, server_key: rig.key}]
device: cpu
window: {length_s: 0.4, hop_s: 0.2}
mine: {every: 0}
significance: {kind: "off"}
graph: {enabled: false}
control: [{endpoint: "ipc://$PWD/control", token_file: token, key: run.key_secret, clients: desks}]
sinks: [{type: jsonl, path: run.jsonl}, {type: zmq, endpoint: "ipc://$PWD/published", key: run.key_secret, clients: desks}]
YAML

# Without keys the source is shown as what it is.
"$SYNFIRE" play sim.h5 --to "ipc://$PWD/open" >play.out 2>play.err &
play=$!
cat >open.yaml <<YAML
sources: [{type: zmq, endpoint: "ipc://$PWD/open"}]
sinks: [{type: zmq, endpoint: "ipc://$PWD/told"}]
YAML
"$SYNFIRE" run open.yaml >run.out 2>run.err &
run=$!
"$SYNFIRE" top "ipc://$PWD/told" --once --wait 60 >table
kill -INT $run
wait $run
kill -INT $play
wait $play || true
grep -q "^ipc://$PWD/open is unauthenticated: whoever answers there is believed" table
grep -q "^from ipc://$PWD/open .* unauthenticated" run.out

# What is wrong with keys is said before anything is opened.
expect 78 'sources.0.server_key: is missing beside key' "$SYNFIRE" run run.yaml --check --set sources.0.server_key=none
expect 64 'the protocols of rigs have no keys' "$SYNFIRE" play sim.h5 --protocol maxwell --key rig.key_secret --clients listeners
expect 78 'is missing beside key' "$SYNFIRE" play sim.h5 --to "ipc://$PWD/x" --key rig.key_secret

"$SYNFIRE" play sim.h5 --to "ipc://$PWD/spikes" --key rig.key_secret --clients listeners >play.out 2>play.err &
play=$!
"$SYNFIRE" run run.yaml >run.out 2>run.err &
run=$!

# top with both keys is answered by the control socket and hears the sink; without them, with others, it hears nothing.
"$SYNFIRE" top "ipc://$PWD/control" --token token --key desk.key_secret --server-key run.key --json --wait 60 >out
check "
source = out['rows'][0]
assert source['kind'] == 'source' and source['authentication'] == 'curve', source
assert out['control_refused'] == 0, out"
"$SYNFIRE" top "ipc://$PWD/published" --key desk.key_secret --server-key run.key --once --wait 60 >table
must_fail grep -q unauthenticated table
expect 69 'no status came within 0.5 s' "$SYNFIRE" top "ipc://$PWD/control" --token token --once --wait 0.5
expect 69 'no status came within 0.5 s' "$SYNFIRE" top "ipc://$PWD/control" --token token --key nobody.key_secret \
    --server-key run.key --once --wait 0.5
expect 69 'no status came within 0.5 s' "$SYNFIRE" top "ipc://$PWD/published" --key desk.key_secret --server-key rig.key \
    --once --wait 0.5
for _ in $(seq 600); do # a status comes once a hop
    "$SYNFIRE" top "ipc://$PWD/control" --token token --key desk.key_secret --server-key run.key --once --wait 60 >table
    ! grep -q 'the control socket refused' table || ! grep -q '^zmq .* refused' table || break
    sleep 0.1
done
grep -q 'the control socket refused' table
grep -q '^zmq .* refused' table
if [ -n "$SYNFIRE_PYTHON" ]; then # pyzmq reads the same files
    "$SYNFIRE_PYTHON" -B "$E2E/../../examples/subscriber.py" --keys desk.key_secret run.key "ipc://$PWD/published" --count 3 \
        >heard
    [ -s heard ]
    "$SYNFIRE_PYTHON" -B "$E2E/../../examples/control.py" --keys desk.key_secret run.key "ipc://$PWD/control" token mark 'light on'
    "$SYNFIRE_PYTHON" -B "$E2E/../../examples/control.py" --keys desk.key_secret run.key "ipc://$PWD/control" token stop
else
    kill -INT $run
fi
wait $run
kill -INT $play
wait $play || true
grep -q 'refused a client at .*: its public key .* is not among those' run.err
for name in rig run desk nobody; do
    secret=$(sed -n 's/ *secret-key = "\(.*\)"/\1/p' $name.key_secret)
    [ ${#secret} = 40 ]
    must_fail grep -rlF -e "$secret" --exclude='*.key_secret' .
done
