# SPDX-License-Identifier: Apache-2.0
# One broken time stamp, clock or sequence number of a natural sender costs itself and nothing that follows; a clock that
# steps or begins anew is followed. Every spike is in its right window or counted by its cause.
. "$E2E/functions.sh"
need_python
read -r port <<<"$(free_ports 1)"
cat >run.yaml <<YAML
sources: [{type: zmq, endpoint: "tcp://127.0.0.1:$port"}]
window: {length_s: 0.05, hop_s: 0.05, silence_s: 10}
mine: {every: 0}
graph: {enabled: false}
sinks:
- {type: jsonl, path: run.jsonl, policy: block, overwrite: true}
- {type: hdf5, path: run.h5, policy: block, overwrite: true}
YAML

for trouble in none stamp two-stamps two-frames half-an-hour clock first-clock first-stamp number first-number gap step \
    restart same-run markers; do
    "$SYNFIRE_PYTHON" "$E2E/troubled_sender.py" "tcp://127.0.0.1:$port" "$trouble" >sent.json &
    sender=$!
    "$SYNFIRE" run run.yaml --quiet 2>err || { echo "$trouble:"; cat err; exit 1; }
    wait "$sender"
    "$SYNFIRE_PYTHON" - "$trouble" <<'PY'
import json, sys
import h5py
trouble, sent = sys.argv[1], json.load(open("sent.json"))
messages = [json.loads(line) for line in open("run.jsonl")]
status = [m for m in messages if m["topic"] == "status"][-1]
source = status["sources"][0]
found = {key: source[key] for key in sent["expected"]}
assert found == sent["expected"], (trouble, {k: (found[k], v) for k, v in sent["expected"].items() if found[k] != v})
assert source["state"] == "ended" and status["window_dropped"] == 0, (trouble, source)
assert source["spikes"] == status["spikes"] + source["late"] + source["leaps"], (trouble, status)
assert status["spikes"] == len(sent["good"]), (trouble, status["spikes"], len(sent["good"]))
if source["restarts"] == 0:
    assert sent["sent_in_run"] == source["spikes"] + source["missing_spikes"], (trouble, source)
shift = source["shift_ns"]
assert (shift != 0) == (source["epochs"] > 0) and shift % 10**6 == 0, (trouble, shift)
times = sorted(at + (shift if epoch else 0) for at, epoch in map(tuple, sent["good"]))
assert times[-1] - times[0] < 2 * 10**9 or trouble == "step", (trouble, times[0], times[-1])
counted = 0
for m in messages:
    if m["topic"] == "episodes":
        inside = sum(m["from_ns"] <= at < m["to_ns"] for at in times)
        assert m["spikes"] == inside, (trouble, m, inside)
        counted += inside
assert counted == len(times), (trouble, counted)
with h5py.File("run.h5", "r") as file:
    row = file["results/sources"][-1]
    assert row["state"] == b"ended" and row["leaps"] == source["leaps"], (trouble, row)
    assert row["missing_spikes"] == source["missing_spikes"], (trouble, row)
PY
    case $trouble in
    restart | same-run) words="began anew" ;;
    step) words="stepped ahead" ;;
    *) continue ;;
    esac
    "$SYNFIRE_PYTHON" -c "
import h5py
with h5py.File('run.h5', 'r') as file:
    texts = []
    file.visititems(lambda name, item: texts.append(bytes(item[()].tobytes())) if isinstance(item, h5py.Dataset) and 'marker' in name else None)
    assert any(b'synfire: ' in text and b'$words' in text for text in texts), texts"
done
