# SPDX-License-Identifier: Apache-2.0
# The page's own script in a document of the least it asks for: what it says is what the run's messages say.
. "$E2E/functions.sh"
need_python
"$SYNFIRE" --version | grep -q libwebsockets || skip "built without libwebsockets"
command -v node >/dev/null || skip "no node on PATH"
"$SYNFIRE" simulate sim.h5 --preset sym26 --duration 20 --seed 2 --quiet >/dev/null
for check in whole_chains_come_in_their_order nothing_is_told_as_what_it_is; do
    PYTHONPATH=$E2E "$SYNFIRE_PYTHON" -B "$E2E/page_words.py" $check || { echo "$check"; exit 1; }
done

mkdir stimulated
cd stimulated
"$SYNFIRE" simulate sim.h5 --preset sym26 --duration 20 --seed 2 --marker-every 0.7 --evoked 0.8 --burst-rate 0.5 --burst-sigma 15 --quiet >/dev/null
PYTHONPATH=$E2E "$SYNFIRE_PYTHON" -B "$E2E/page_words.py" responses_and_bursts_are_those_of_the_lines || { echo "responses and bursts"; exit 1; }
