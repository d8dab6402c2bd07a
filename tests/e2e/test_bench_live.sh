# SPDX-License-Identifier: Apache-2.0
# bench throughput and bench latency: one object a row with the documented fields; over sockets all that is sent is
# accounted for.
. "$E2E/functions.sh"

expect 64 "found 'gpu', expected auto, cpu, cuda, cuda:N or cuda:all" $SYNFIRE bench latency --device gpu
expect 64 "found 'tpu:0', expected auto, cpu, cuda, cuda:N or cuda:all" $SYNFIRE bench throughput --device tpu:0
expect 64 "found '0', expected a number above 0 and at most 86400" $SYNFIRE bench latency trigger --seconds 0
expect 64 "throughput has no part 'trigger'" $SYNFIRE bench throughput trigger

if [ -n "$SYNFIRE_SANITIZE" ]; then
    echo "skipped: figures of a program under a sanitizer say nothing"
    exit 0
fi

$SYNFIRE bench throughput pipeline --device cpu --json >out
python3 -c '
import json
rows = json.load(open("out"))
assert [r["part"] for r in rows] == ["front", "front, watching", "tracker"], rows
for r in rows:
    assert r["bench"] == "throughput" and r["machine"] and r["device"] == "cpu", r
    assert r["spikes"] > 1.9e6 and abs(r["spikes"] / r["seconds"] / r["spikes_per_s"] - 1) < 1e-3, r
'

$SYNFIRE bench throughput sockets --seconds 1 --json >out
check '
rates = [r for r in out if "sockets" in r]
assert [r["sockets"] for r in rates] == ["bare libzmq receiver", "windows", "windows, mining",
                                         "windows, mining, recorder"], rates
assert rates[0]["of_bare"] == 1 and rates[0]["memory_mb"] is None, rates
for r in rates:
    assert r["spikes"] > 0 and abs(r["spikes"] / r["seconds"] / r["spikes_per_s"] - 1) < 1e-3, r
    assert abs(r["spikes_per_s"] / rates[0]["spikes_per_s"] / r["of_bare"] - 1) < 1e-3, r
assert all(0 < r["memory_mb"] < 500 for r in rates[1:]), rates
threads = {r["thread"]: r["ns_per_spike"] for r in out if "thread" in r}
assert {"synfire-source", "synfire-front", "synfire-window", "synfire-storage"} <= set(threads), threads
'

$SYNFIRE bench throughput rigs --seconds 3 --json >out # the first second of which units are learnt
check '
assert len(out) == 2, out
for r in out:
    assert r["sent"] > 0 and r["watched"] > 0 and r["unaccounted"] == 0, r
'

$SYNFIRE bench latency rigs --seconds 0.5 --json >out 2>err
check '
rows = {r["protocol"]: r for r in out}
assert set(rows) >= {"synfire", "open-ephys", "event-broadcaster", "maxwell", "intan", "trodes", "blackrock", "cortical"}, rows
for r in out:
    assert r["times"] > 0 and r["times"] + r["missed"] == 4 and 0 < r["p50_ms"] <= r["p99_ms"] <= r["max_ms"], r
assert abs(rows["cortical"]["held_ms"] - 24.5) < 1e-9 and rows["cortical"]["held_max_ms"] == 49 and rows["intan"]["held_max_ms"] == 0, rows
assert "brand" not in rows or rows["brand"]["held_ms"] is None, rows
'

$SYNFIRE bench latency trigger --seconds 1 --json >out
check '
assert [r["message"] for r in out] == ["ZeroMQ, bare message", "ZeroMQ, spike to trigger",
                                       "UDP, bare message", "OSC, spike to trigger"], out
for r in out:
    assert r["times"] + r["missed"] == 500 and r["times"] > 0, r
    assert 0 < r["p50_ms"] <= r["p99_ms"] <= r["p999_ms"] <= r["max_ms"], r
assert out[0]["p50_ratio"] == out[2]["p50_ratio"] == 1, out
assert abs(out[1]["p50_ms"] / out[0]["p50_ms"] / out[1]["p50_ratio"] - 1) < 1e-3, out
'
