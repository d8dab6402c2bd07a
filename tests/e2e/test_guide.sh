# SPDX-License-Identifier: Apache-2.0
# The guide works for one who has only installed: every line that begins with $ in an empty folder, in order, and a
# second time; its tables without times are those it prints, in their order; and the two terminals find what was planted.
. "$E2E/functions.sh"
guide=$SYNFIRE_SOURCE/docs/guide.md
mkdir home
(cd home && install_into .local)
PATH=$PWD/home/.local/bin:$PATH # as people type it
[ "$(command -v synfire)" = "$PWD/home/.local/bin/synfire" ]
cmake --build "$SYNFIRE_BUILD" --target help >targets
grep -q '^uninstall' targets
mkdir walk && cd walk
sed -n 's/^    \$ //p' "$guide" >../commands
[ "$(wc -l <../commands)" -ge 9 ]
for again in no yes; do
    : >../printed
    while read -r command; do
        echo "\$ $command" >&2
        bash -c "$command" >>../printed </dev/null
    done <../commands
done

# One terminal and another, twice too, on ports of our own and faster. The runs find what was planted, and little else.
read -r spikes results <<<"$(free_ports 2)"
play=$(sed -n 's/^    \(synfire play .*\)/\1/p' "$guide")
run=$(sed -n 's/^    \(synfire run monitoring .*\)/\1/p' "$guide")
[ -n "$play" ]
[ -n "$run" ]
for recorded in culture.h5 culture-2.h5; do
    bash -c "$run --json --set sources.0.endpoint=tcp://127.0.0.1:$spikes --set sinks.0.endpoint=tcp://127.0.0.1:$results" \
        >../out 2>../said &
    running=$!
    bash -c "$play --speed 10 --to tcp://127.0.0.1:$spikes" >/dev/null
    wait $running
    played=$(synfire info long.h5 | grep -Eo '^  spikes +[0-9]+,')
    synfire info $recorded | grep -F "$played" >/dev/null
    (cd .. && python3 -c '
import json
found = [e["units"] for e in json.load(open("out"))["episodes"]["episodes"]]
assert [0, 1, 2] in found and len(found) < 40, found')
done
cd ..

# What the guide shows of results: its indented lines, but for prompts, elisions, times and what is no output.
sed -n 's/^    //p' "$guide" | grep -vE '^\$ |\.\.\.$|^synfire|seconds$|engine interval|^ +[0-9]+ +[0-9]+ +[0-9]+ +[0-9.e-]+$' |
    sed 's/ *$//' | grep . >shown
sed 's/ *$//' printed >stripped
# In this order: each line is looked for behind the one before it.
awk 'NR == FNR { printed[++count] = $0; next }
    { while (++at <= count && printed[at] != $0) { } }
    at > count { print "the guide shows what is not printed, or not in that order: " $0; exit 1 }' stripped shown
