# SPDX-License-Identifier: Apache-2.0
# Whatever ends or stops a run that has raised a stimulator's line lowers it: signals once and twice, a closed terminal, a
# crash, Ctrl-Z. A hop that does not end is left, and what was recorded is whole.
. "$E2E/functions.sh"
need_python
"$SYNFIRE" simulate sim.h5 --preset sym26 --duration 600 --seed 5 --quiet >/dev/null
cat >run.yaml <<YAML
sources: [{type: replay, recording: sim.h5, speed: 1}]
device: cpu
window: {length_s: 1, hop_s: 0.5}
mine: {every: 0}
significance: {kind: "off"}
graph: {enabled: false}
triggers: [{name: pair, episode: "A -(4,6]-> B", arm_s: 600, max_age_ms: 0}]
sinks:
- {type: serial, path: line, send: '\\x01', pulse_ms: 1000, then: '\\x00'}
YAML
while read -r signals code; do
    "$SYNFIRE_PYTHON" -B "$E2E/line.py" "$signals" "$SYNFIRE" run run.yaml --quiet >left 2>>err || { cat err; exit 1; }
    read -r last found <left
    [ "$last" = 0 ] || { echo "$signals left the line up"; exit 1; }
    case " $code " in *" $found "*) ;; *) echo "$signals: exit code $found, expected $code"; exit 1 ;; esac
done <<'CASES'
INT 0
INT,INT 130 0
TERM 0
HUP 0
QUIT -3
ABRT -6
XCPU -24
ALRM -14
USR1 -10
RTMIN -34
TSTP 0
TTIN 0
CASES

# A path of 16 units in a complete graph of 40 has more matches than anybody counts.
"$SYNFIRE" simulate dense.h5 --unit-count 40 --rate 20 --duration 60 --seed 7 --quiet >/dev/null
cat >stuck.yaml <<YAML
sources: [{type: replay, recording: dense.h5, speed: max}]
device: cpu
window: {length_s: 10, hop_s: 1}
mine: {every: 0, delays_ms: "0.5:20", min_count: 1}
significance: {kind: "off"}
graph: {enabled: true, patterns: [{pattern: chain-16}]}
sinks:
- {type: hdf5, path: run.h5, overwrite: true}
YAML
"$SYNFIRE" run stuck.yaml >out 2>err &
run=$!
until [ -s run.h5.journal ] && [ "$(stat -c %s run.h5.journal)" -gt 20000 ]; do sleep 0.1; done
sleep 1
kill -INT $run
code=0; wait $run || code=$?
[ $code = 130 ] || { cat err; echo "exit code $code"; exit 1; }
grep -q "the hop was left after 2 s" err
[ ! -e run.h5.journal ] # so the file is whole
"$SYNFIRE" info run.h5 --json | "$SYNFIRE_PYTHON" -c '
import json, sys
assert json.load(sys.stdin)["spikes"] > 1000'

# A pulse of a second cut by signals, seen from the other end of a pseudo-terminal by a program that is not the tests' own.
has_data cases/rigs/serial_left_high.py || exit 0
command -v socat >/dev/null || { echo "skipped: a pulse cut by signals: no socat"; exit 0; }
"$SYNFIRE" simulate demo.h5 --preset sym26 --quiet >/dev/null
cp "$SYNFIRE_DATA/cases/rigs/serial_left_high.yaml" .
# A sanitizer would take the crash for itself.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0 "$SYNFIRE_PYTHON" -B "$SYNFIRE_DATA/cases/rigs/serial_left_high.py" >cut
[ "$(grep -c ', 1), (.*, 0)\] signal at .* line low$' cut)" = 5 ] || { cat cut; exit 1; }
