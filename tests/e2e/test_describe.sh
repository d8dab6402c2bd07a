# SPDX-License-Identifier: Apache-2.0
# What columns are is said once, and what is printed from it stands where others read it.
. "$E2E/functions.sh"

"$SYNFIRE_SOURCE/scripts/describe" "$SYNFIRE"
cp -r "$SYNFIRE_SOURCE/docs" "$SYNFIRE_SOURCE/scripts" .
sed -i 's/p corrected for all that was searched/p, corrected/' docs/formats.md
if python3 -B scripts/describe "$SYNFIRE" 2>err; then exit 1; fi
grep -q 'docs/formats.md: not what the program describes' err
python3 -B scripts/describe --update "$SYNFIRE"
cmp docs/formats.md "$SYNFIRE_SOURCE/docs/formats.md"

"$SYNFIRE" describe >all
"$SYNFIRE" describe edges >edges
grep -q '^expected_given_rest  real ' edges
if grep -q folded_under edges; then exit 1; fi
"$SYNFIRE" describe episodes >episodes
for command in info bfs match bandwidth aggregate; do grep -q "\`$command\`.*columns-of-results" docs/formats.md; done
names=$(grep -oE '^[a-z_-]+: ' all | tr -d ': ')
grep -qx units <<<"$names"
for name in $names; do "$SYNFIRE" describe "$name"; echo; done | cmp - <(cat all; echo)
[ "$(grep -c ^message- <<<"$names")" = 12 ]
expect 64 "found 'nothing', expected one of episodes, edges, " "$SYNFIRE" describe nothing

# Messages too: a column that is said anew is stale in the page and in its schema.
sed -i 's/spikes that found the ring full/spikes lost/' docs/messages.md docs/schema/message-status.json
if python3 -B scripts/describe "$SYNFIRE" 2>err; then exit 1; fi
grep -q 'docs/schema/message-status.json, docs/messages.md: not what the program describes' err
python3 -B scripts/describe --update "$SYNFIRE"
cmp docs/messages.md "$SYNFIRE_SOURCE/docs/messages.md"
