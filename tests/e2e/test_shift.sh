# SPDX-License-Identifier: Apache-2.0
# A recording that begins ten hours later gives identical results: mined, counted, in windows, live, as a graph, and its
# intervals.
python3 - <<'PY'
import random
draw = random.Random(11)
spikes = sorted((draw.randrange(40 * 10**9), draw.choice("ABCDE")) for _ in range(4000))
for _ in range(100):  # a chain, so that something is found
    start = draw.randrange(39 * 10**9)
    spikes += [(start, "A"), (start + draw.randrange(4000001, 6000001), "B"), (start + 10 * 10**6, "C")]
spikes.sort()
for name, shift in ("early.csv", 0), ("late.csv", 36000 * 10**9):
    with open(name, "w") as out:
        for time_ns, unit in spikes:
            time_ns += shift
            out.write(f"{unit},{time_ns // 10**9}.{time_ns % 10**9:09d}\n")
PY
printf 'A -(4,6]-> B -(0,10]-> C\n#1 -(0,20]-> D\n' >episodes.txt
for when in early late; do
    recording=$when.csv
    {
        $SYNFIRE mine $recording --delay 0:5,5:10 --min-count 60 --json
        $SYNFIRE count $recording --episodes episodes.txt --window 7.5 --hop 2 --correlogram --json
        $SYNFIRE graph $recording --delay 4:6 --min-count 60 --json
        $SYNFIRE graph $recording --metric sttc --surrogates 20 --json
        $SYNFIRE bandwidth $recording --quantity isi --units A --json
    } >$when.json
    $SYNFIRE run --replay $recording --speed max --set mine.delays_ms=4:6 --set window.length_s=5 \
        --set watch.0='A -(4,6]-> B' --set sinks.0.type=jsonl --set sinks.0.path=$when.jsonl --set sinks.0.policy=block \
        --quiet >/dev/null
done
python3 - <<'PY'
import json

TIMED = {"seconds", "age_ms", "recording", "path", "seq", "stages", "run_s", "latency", "window_fill", "busy_ms", "p50_ms", "p99_ms", "max_ms", "ring_fill", "provenance"}  # differ from run to run
TIMES_S = {"from_s", "to_s", "start_s", "stop_s"}
TIMES_NS = {"time_ns", "from_ns", "to_ns", "spike_times_ns", "decided_ns"}


def normal(value, shift, key=None):
    if isinstance(value, dict):
        return {k: normal(v, shift, k) for k, v in value.items() if k not in TIMED}
    if isinstance(value, list):
        return [normal(item, shift, key) for item in value]
    if key in TIMES_S:
        return round(value * 10**9) - shift
    return value - shift if key in TIMES_NS else value


def documents(name, shift):
    decoder, text, found = json.JSONDecoder(), open(name).read(), []
    while text.strip():
        document, end = decoder.raw_decode(text.lstrip())
        text = text.lstrip()[end:]
        found.append(normal(document, shift))
    return found


shift = 36000 * 10**9
results = documents("early.json", 0)
assert len(results) == 5 and len(results[0]["episodes"]) > 3 and len(results[1]["windows"]) > 10
for early, late in zip(results, documents("late.json", shift), strict=True):
    assert early == late, (early, late)
topics = {}
for when, by in ("early", 0), ("late", shift):
    for message in documents(when + ".jsonl", by):
        topics.setdefault(message["topic"], {}).setdefault(when, []).append(message)
for topic in "episodes", "trigger", "graph":
    assert len(topics[topic]["early"]) > 5 and topics[topic]["early"] == topics[topic]["late"], topic
PY
