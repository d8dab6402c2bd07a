# SPDX-License-Identifier: Apache-2.0
# `synfire play` over real sockets to a client that knows only docs/wire.md: everything arrives, at every speed; ports
# that are taken, wrong options and signals have their sentence and exit code.
. "$E2E/functions.sh"
need_python
endpoint="ipc://$PWD/stream"
$SYNFIRE simulate demo.h5 --unit-count 30 --rate 50 --duration 20 --start -3 --marker-every 4 --burst-rate 0.3 >out

play_and_receive() { # options...: received.json and played.json
    "$SYNFIRE_PYTHON" "$E2E/stream_client.py" "$endpoint" >received.json &
    client=$!
    $SYNFIRE play demo.h5 --to "$endpoint" --json "$@" >played.json 2>err
    wait $client
}

check() { # how it was played
    "$SYNFIRE_PYTHON" - "$@" <<'END'
import hashlib, json, sys
import h5py
got, played = json.load(open("received.json")), json.load(open("played.json"))
file = h5py.File("demo.h5")
spikes = file["spikes"]
digest = lambda name: hashlib.sha256(spikes[name][:].tobytes()).hexdigest()
assert got["spikes"] == played["spikes"] == len(spikes["time_ns"]) == got["total"][0] > 25000, got
assert (got["times"], got["unit_hash"], got["amplitudes"]) == (digest("time_ns"), digest("unit"), digest("amplitude"))
assert got["total"][1] == len(got["markers"]) == len(file["markers/time_ns"]) == 12
assert [m[0] for m in got["markers"]] == list(file["markers/time_ns"][:])
assert [m[4] for m in got["markers"]] == [t.decode() for t in file["markers/text"][:]]
assert [u["name"] for u in got["units"]] == [n.decode() for n in file["units/name"][:]]
assert got["name"] == "demo.h5" and "--unit-count 30" in got["metadata"]["simulation"]
assert got["clock"] == 17_000_000_000, got["clock"]
if sys.argv[1] == "max":
    assert got["flags"] == 3 and got["heartbeats"] == 0 and played["late_max_ms"] is None
else:
    assert got["flags"] == 5 and played["late_max_ms"] >= 0 and got["hellos"] >= 2
    assert played["seconds"] > 20 / float(sys.argv[1]), played
END
}
play_and_receive --speed max
check max
play_and_receive --speed 15
check 15

# A time in --to ends the selection; an endpoint in it is where to send.
play_and_receive --speed max --from 0 --to 1
"$SYNFIRE_PYTHON" -c 'import json; got = json.load(open("received.json")); assert got["clock"] <= 10**9 and 0 < got["spikes"] < 3500, got'

expect() { # CODE WORDS arguments...
    code=0
    $SYNFIRE play "${@:3}" >out 2>err || code=$?
    [ $code = "$1" ] && [ ! -s out ] && grep -q -- "$2" err || {
        echo "play ${*:3}: exit $code, expected $1 and '$2'"; cat out err; exit 1; }
}
expect 64 "missing"
expect 66 "nothing.h5" nothing.h5
expect 64 "--speed: found 'fast'" demo.h5 --speed fast
expect 64 "--speed: found '0'" demo.h5 --speed 0
expect 64 "expected synfire" demo.h5 --protocol morse
# Help names all that there are.
[ "$("$SYNFIRE" play --help | sed -n 's/^ *--protocol \([a-z|-]*\)$/\1/p' | tr '|' ' ')" = \
    "$("$SYNFIRE" play demo.h5 --protocol morse 2>&1 | sed 's/.*expected //; s/,//g; s/ or / /')" ]
expect 64 "no ZeroMQ endpoint" demo.h5 --to nowhere://
expect 64 "--to: found 'later'" demo.h5 --to later

# A port in use; and a signal while waiting.
$SYNFIRE play demo.h5 --to tcp://127.0.0.1:* >out 2>first &
first=$!
until grep -q waiting first; do sleep 0.02; done
taken=$(sed -n 's/.*sending on \(tcp[^,]*\),.*/\1/p' first)
expect 69 "in use" demo.h5 --to "$taken"
kill -TERM $first
code=0; wait $first || code=$?
[ $code = 143 ]

# A signal while playing ends the stream in order; --loop goes on until then, with stream time going on.
$SYNFIRE play demo.h5 --to "$endpoint" --speed 200 --loop --json >played.json 2>err &
player=$!
"$SYNFIRE_PYTHON" "$E2E/stream_client.py" "$endpoint" 150000 $player >received.json &
client=$!
code=0; wait $player || code=$?
wait $client
[ $code = 130 ]
"$SYNFIRE_PYTHON" - <<'END'
import json
got, played = json.load(open("received.json")), json.load(open("played.json"))
assert got["spikes"] == played["spikes"] == got["total"][0] >= 150000, (got["spikes"], played)
assert got["clock"] > 60_000_000_000
END

# The sender that docs/wire.md prints, on another endpoint and for fewer frames.
sed -n '/^```python/,/^```/p' "$SYNFIRE_SOURCE/docs/wire.md" | grep -v '^```' |
    sed "s|tcp://127.0.0.1:7700|$endpoint|; s/100_000/300/; s/sleep(0.01)/sleep(0.003)/" >sender.py
"$SYNFIRE_PYTHON" "$E2E/stream_client.py" "$endpoint" >received.json &
client=$!
"$SYNFIRE_PYTHON" sender.py
wait $client
"$SYNFIRE_PYTHON" - <<'END'
import json
got = json.load(open("received.json"))
assert got["name"] == "two cells" and [u["name"] for u in got["units"]] == ["A", "B"], got
assert 0 < got["spikes"] <= got["total"][0] == 594 and got["clock"] == 2_970_000_000, got
END
