# SPDX-License-Identifier: Apache-2.0
# The page of a run without a browser: what it sends, to whom, and that nobody holds anything up.
. "$E2E/functions.sh"
need_python
VERSION=$("$SYNFIRE" --version | head -1 | awk '{print $2}')
export VERSION
if ! "$SYNFIRE" --version | grep -q libwebsockets; then
    "$SYNFIRE" simulate sim.h5 --preset sym26 --duration 2 --seed 2 --quiet >/dev/null
    expect 69 "this build has no page" "$SYNFIRE" run --replay sim.h5 --web --quiet
    skip "built without libwebsockets"
fi
"$SYNFIRE" simulate sim.h5 --preset sym26 --duration 20 --seed 2 --quiet >/dev/null
for check in numbers_are_those_of_the_run strangers_are_refused a_page_arms_with_the_token marks_are_the_occurrences \
    one_that_does_not_read_holds_nobody silent_ones_make_room metrics_add_up; do
    PYTHONPATH=$E2E "$SYNFIRE_PYTHON" -B "$E2E/web_protocol.py" $check || { echo "$check"; exit 1; }
done

# A column of the raster lasts as long on the screen whatever the speed; a page that is configured stays as it is.
"$SYNFIRE" run --replay sim.h5 --speed 10 --web --check >resolved
grep -q "column_ms: 100$" resolved
"$SYNFIRE" run --replay sim.h5 --speed 10 --web --check --set sinks.0.type=web --set sinks.0.column_ms=7 >resolved
[ "$(grep -c "type: web$" resolved)" = 1 ]
grep -q "column_ms: 7$" resolved

# Only this machine, unless told; where the port is taken, it is said before anything begins.
page="--set sinks.0.type=web"
expect 78 "other machines could connect there" "$SYNFIRE" run --replay sim.h5 --quiet $page \
    --set sinks.0.endpoint=0.0.0.0:0
expect 78 "expected HOST:PORT" "$SYNFIRE" run --replay sim.h5 --quiet $page --set sinks.0.endpoint=7730
python3 -c "
import socket, time
s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); print(s.getsockname()[1], flush=True); time.sleep(60)" >port &
holder=$!
until [ -s port ]; do sleep 0.05; done
expect 69 "cannot listen there" "$SYNFIRE" run --replay sim.h5 --quiet $page --set "sinks.0.endpoint=127.0.0.1:$(cat port)"
kill $holder
