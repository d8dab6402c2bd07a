# SPDX-License-Identifier: Apache-2.0
# The page of a run in a headless Chromium: its numbers, its keys, and a run that goes and comes.
. "$E2E/functions.sh"
need_python
"$SYNFIRE" --version | grep -q libwebsockets || skip "built without libwebsockets"
[ -z "$SYNFIRE_SANITIZE" ] || skip "the browser takes its time without a sanitizer, too"
PYTHONPATH=$E2E "$SYNFIRE_PYTHON" -B -c "import browser; exit(browser.find() is None)" || skip "no chromium on PATH"
"$SYNFIRE" simulate sim.h5 --preset sym26 --duration 20 --seed 2 --quiet >/dev/null
for check in numbers_are_those_of_the_run every_view_by_keys_and_mouse a_new_run_is_found; do
    PYTHONPATH=$E2E "$SYNFIRE_PYTHON" -B "$E2E/web_browser.py" $check || { echo "$check"; exit 1; }
done
