# SPDX-License-Identifier: Apache-2.0
# A CL1 that sends live: `play` and a run; a server in Python that knows only sockets, with faults, pauses, gaps, a clock that
# begins anew and connections that break; a client in Python of the player; servers that misbehave.
. "$E2E/functions.sh"
. "$E2E/rig.sh"
need_python
read -r port <<<"$(free_ports 1)"
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT

"$SYNFIRE" simulate sim.h5 --unit-count 20 --rate 40 --duration 8 --seed 3 --quiet >/dev/null
play_rig cortical "ws://127.0.0.1:$port" sim.h5 "electrodes: array" --speed 10
same_spikes sim.h5 25000 "str([c for c in range(64) if c not in (0, 4, 7, 56, 63)][i])"
grep -q "the connection ended (the server says 1001 the recording ended; 1 so far)" rig.err
play_rig cortical "ws://127.0.0.1:$port/_/ws/live_streaming" sim.h5 "electrodes: learn, learn_s: 3" --speed 10
same_spikes sim.h5 25000 "str([c for c in range(64) if c not in (0, 4, 7, 56, 63)][i])"

# run_against PORT: a run of the source that the server on this port is asked by; rig.json is its summary.
run_against() {
    configure_rig "type: cortical, endpoint: \"ws://127.0.0.1:$1\", timeout_s: 60, data_streams: 'score, a \"b\" é'" 'lateness_ms: 100'
    "$SYNFIRE" run rig.yaml --json >rig.json 2>rig.err &
    run=$!
}

# same_rows FILE: the run recorded the spikes and markers of the file's lines, to the frame, the first epoch at their times.
same_rows() {
    "$SYNFIRE_PYTHON" - "$1" <<'PY'
import sys, h5py
rows = [line.rstrip("\n").split(" ", 2) for line in open(sys.argv[1])]
said = [[]]
newest = 0
for kind, frame, rest in rows:
    if int(frame) < newest - 2500:
        said.append([])
        newest = 0
    newest = max(newest, int(frame))
    said[-1].append((int(frame) * 40000, kind, rest))
with h5py.File("rig.h5") as file:
    names = [name.decode() for name in file["units/name"][:]]
    assert names == [str(c) for c in range(64) if c not in (0, 4, 7, 56, 63)], names
    assert list(file["units/x_um"][:]) == [200.0 * (int(n) // 8) for n in names]
    assert list(file["units/y_um"][:]) == [200.0 * (int(n) % 8) for n in names]
    amplitude = lambda value: "nan" if value != value else str(int(value))
    got = [(int(ns), "spike", f"{names[unit]} {amplitude(value)}")
           for ns, unit, value in zip(file["spikes/time_ns"][:], file["spikes/unit"][:], file["spikes/amplitude"][:])]
    got += [(int(ns), "marker", text.decode()) for ns, text in zip(file["markers/time_ns"][:], file["markers/text"][:])
            if not text.startswith(b"synfire: ")]  # those of a stream that steps
got.sort()
at = 0
for epoch, part in enumerate(said):
    part.sort()
    have = got[at : at + len(part)]
    at += len(part)
    shift = have[0][0] - part[0][0]
    assert epoch > 0 or shift == 0, shift
    have = sorted((ns - shift, kind, rest) for ns, kind, rest in have)
    assert have == part, [(a, b) for a, b in zip(have, part) if a != b][:5]
assert at == len(got), (at, len(got))
print(len(said), "epochs,", len(got), "rows")
PY
}

run_against "$port"
"$SYNFIRE_PYTHON" -B "$E2E/cl1.py" serve "$port" >sent &
server=$!
until grep -q ^end sent; do kill -0 $server; sleep 0.1; done
sed -i /^end/d sent
await_spikes "$(grep -c ^spike sent)" $run
kill -INT $run
wait $run || true
wait $server
same_rows sent
"$SYNFIRE_PYTHON" - <<'PY'
import json
source = json.load(open("rig.json"))["status"]["sources"][0]
want = {"gaps": 1, "gap_lost": 0, "malformed": 7, "late": 0, "dropped": 0, "out_of_range": 0, "leaps": 0, "epochs": 1, "restarts": 0}
assert {key: source[key] for key in want} == want, source
PY
grep -q "says that it shows 50000 frames a second; timestamps are read at 25000" rig.err
grep -q "is paused" rig.err
grep -q "the stream was set anew and goes on 3.* s ahead" rig.err
grep -q "the connection ended (the server says 1001 for a while; 1 so far); connecting again" rig.err

# What was recorded is played on, channels by their names, stimuli and entries among it; a run has the same, and so has a client
# in Python.
cp rig.h5 first.h5
"$SYNFIRE" convert first.h5 again.h5 --to 12 --quiet >/dev/null
"$SYNFIRE_PYTHON" - >sent <<'PY'
import h5py
with h5py.File("again.h5") as file:
    names = [name.decode() for name in file["units/name"][:]]
    rows = [(ns, "spike", f"{names[unit]} {int(value)}")
            for ns, unit, value in zip(file["spikes/time_ns"][:], file["spikes/unit"][:], file["spikes/amplitude"][:])]
    rows += [(ns, "marker", text.decode()) for ns, text in zip(file["markers/time_ns"][:], file["markers/text"][:])
             if not text.startswith(b"synfire: ")]
    for ns, kind, rest in sorted(rows):
        print(kind, (ns - file.attrs["start_ns"]) // 40000, rest)
PY
rm play.err # play_rig left one: a job in the background empties it only when it begins
"$SYNFIRE" play again.h5 --protocol cortical --to "ws://127.0.0.1:$port" --speed max --subscribers 2 >/dev/null 2>play.err &
player=$!
until grep -q "waiting for" play.err; do kill -0 $player; sleep 0.05; done
run_against "$port"
timeout 300 "$SYNFIRE_PYTHON" -B "$E2E/cl1.py" listen "$port" >heard
wait $player
await_spikes "$(grep -c ^spike sent)" $run
kill -INT $run
wait $run || true
same_rows sent
[ "$(grep -c "marker .* stim 8" sent)" -gt 10 ]
cmp <(grep -v 'marker .* stim$\|é' sent | sort) <(sort heard)

# Servers that misbehave are told of, and take neither time nor memory.
hostile() { # WHICH WORDS [CODE and the seconds of timeout_s]
    "$SYNFIRE_PYTHON" -B "$E2E/cl1.py" hostile "$port" "$1" &
    local server=$!
    until (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do sleep 0.05; done
    (
        [ -n "$SYNFIRE_SANITIZE" ] || ulimit -v 4000000
        if [ $# = 2 ]; then
            patiently 65 "$2" "$SYNFIRE" run rig.yaml --quiet
        else
            expect "$3" "$2" "$SYNFIRE" run rig.yaml --quiet --set sources.0.timeout_s="$4"
        fi
    )
    kill $server
    wait $server || true
}
hostile missing "no stream of Cortical Labs CL1: the server answers 'HTTP/1.1 404 Not \\x1b[31mFound'"
hostile liar "the server's answer does not belong to what was asked"
hostile endless "the server answers with more than a WebSocket's head"
hostile silent "nothing answers as a WebSocket"
hostile closing "no stream came within 2 s" 69 2
hostile pinging "no stream came within 2 s" 69 2
hostile huge "a connection that was cut off: a message of more than 67108864 bytes"
hostile texts "a text without a status: 2000 bytes"
expect 78 "is encrypted, which is not read here: expected ws://HOST:PORT" "$SYNFIRE" run cortical --set sources.0.endpoint=wss://127.0.0.1:1025 --quiet
expect 78 "is no endpoint: expected ws://HOST:PORT" "$SYNFIRE" run cortical --set sources.0.endpoint=tcp://127.0.0.1:1025 --quiet
expect 78 "found 'a,,b', expected none, or at most 16 names of at most 127 bytes" "$SYNFIRE" run cortical \
    --set sources.0.data_streams=a,,b --quiet
"$SYNFIRE" simulate many.h5 --unit-count 60 --duration 1 --quiet >/dev/null
expect 65 "found 60 units, the array of a CL1 has 59 electrodes" "$SYNFIRE" play many.h5 --protocol cortical --to "ws://127.0.0.1:$port" --quiet
