# SPDX-License-Identifier: Apache-2.0
# bench throughput and bench latency: one object a row with the documented fields.
. "$E2E/functions.sh"

expect 64 "found 'gpu', expected auto, cpu, cuda, cuda:N or cuda:all" $SYNFIRE bench latency --device gpu
expect 64 "found 'tpu:0', expected auto, cpu, cuda, cuda:N or cuda:all" $SYNFIRE bench throughput --device tpu:0

if [ -n "$SYNFIRE_SANITIZE" ]; then
    echo "skipped: figures of a program under a sanitizer say nothing"
    exit 0
fi

$SYNFIRE bench throughput --device cpu --json >out
python3 -c '
import json
rows = json.load(open("out"))
assert [r["part"] for r in rows] == ["front", "front, watching", "tracker"], rows
for r in rows:
    assert r["bench"] == "throughput" and r["machine"] and r["device"] == "cpu", r
    assert r["spikes"] > 1.9e6 and abs(r["spikes"] / r["seconds"] / r["spikes_per_s"] - 1) < 1e-3, r
    assert r["spikes_per_s"] > 200000, r # twice what a large array sends
'
