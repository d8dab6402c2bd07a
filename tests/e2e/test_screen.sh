# SPDX-License-Identifier: Apache-2.0
# The page of a live run on terminals of two sizes: nothing is wider or higher than they are, and after Ctrl-C they are as
# they were.
. "$E2E/functions.sh"
on() { python3 -B "$E2E/screen.py" "$@"; }

"$SYNFIRE" simulate sim.h5 --unit-count 30 --rate 20 --duration 40 --chain "A -(4,6]-> B -(4,6]-> C" --chain-rate 4 >/dev/null
cat >run.yaml <<'YAML'
mine: {delays_ms: 4:6}
significance: {length_s: 5, surrogates: 200}
watch: ["A -(4,6]-> B -(4,6]-> C", "#7 -(0,100]-> #8 -(0,100]-> #9 -(0,100]-> #10 -(0,100]-> #11"]
YAML
run=("$SYNFIRE" run run.yaml --replay sim.h5)

for size in "80 24" "160 50" "40 12"; do
    # shellcheck disable=SC2086
    on $size 0 - "${run[@]}" --speed max >page
    grep -q "^left after [0-9]* pages on 1 screens" page
    grep -q "^from sim.h5 .* lost 0" page
    [ "${size%% *}" -lt 80 ] && continue
    grep -q "30 units  window .* spikes  .* Hz" page
    grep -q "count  by chance  ratio *q  episode, > is (4,6\] ms" page
    grep -Eq "^ +[0-9]+ +[0-9.]+ +[0-9.]+ +[0-9.e-]+  A > B$" page
    grep -Eq "^ +[0-9]+ +[0-9.]+ +[0-9.]+ +too early.*  A > B > C$" page
    [ "$size" = "160 50" ] || grep -Eq "^triggers [0-9]+, the last at [0-9.]+ s: A -\(4,6\]-> B -\(4,6\]-> C [0-9]+" page
    grep -Eq "^[1-9][0-9]* chains?(, [1-9][0-9]* significant parts?)? \(q of 0.05 or less\) of [1-9]" page
    grep -q "^what stands out most first: q <= 0.05, the longest, most above chance$" page
done

# A long name is shortened in its middle, and the numbers behind it stay.
cp sim.h5 "sim of the very longest name that anybody would give to one of Müller's recordings.h5"
on 80 24 0 - "$SYNFIRE" run run.yaml --replay sim*recordings.h5 --speed max >long
grep -Eq "^from sim of .*\.\.\..*recordings.h5  ended  [0-9]+ spikes  lost 0$" long
sed '1,/^left/d' long | grep -q "^from sim of the very longest name that anybody would give to one of Müller's recordings.h5  ended "

# More rows are used where there are more: a line for each trigger, and rates of 30 units, two a row, in
# characters, the strongest as @. The table has the rest.
on 160 50 0 - "${run[@]}" --speed max >wide
[ "$(sed '/^left/,$d' wide | grep -Ec '  [A-Za-z0-9]+ > [A-Za-z0-9 >]+$')" -gt 14 ]
grep -Eq "^ +[0-9]+  the last at [0-9.]+ s  A -\(4,6\]-> B -\(4,6\]-> C$" wide
grep -Eq "^mean rates of 2 units a row, over the window, a column a hop; @ is [0-9.]+ Hz$" wide
[ "$(grep -Ec '^ +[A-Z0-9a-z]+\+\|[-:.=+*#%@]{30,}\| [0-9.]+ Hz$' wide)" = 15 ]
grep -q '^ .*|.*@.*| [0-9.]* Hz$' wide
# Colours where the terminal has them and nobody minds.
TERM=xterm on 160 50 0 - "${run[@]}" --speed max | grep "^left .*colours: 2 32$" >/dev/null
TERM=dumb on 160 50 0 - "${run[@]}" --speed max | grep "^left .*colours: $" >/dev/null
NO_COLOR=1 TERM=xterm on 160 50 0 - "${run[@]}" --speed max | grep "^left .*colours: $" >/dev/null

# With limits only what is within them, and how much that leaves out; nothing within them is no riddle either.
on 160 50 0 - "${run[@]}" --speed max --max-q 0.05 >limited
grep -q "^[1-9][0-9]* chain.* only q <= 0.05: [1-9][0-9]* left out" limited
[ "$(sed '/^left/,$d' limited | grep -Ec '  [A-Za-z0-9]+ > [A-Za-z0-9 >]+$')" -lt 15 ]
on 80 24 0 - "${run[@]}" --speed max --max-q 1e-9 >limited
grep -q "^nothing that is frequent has such a p or q so far" limited
on 80 24 0 - "${run[@]}" --speed max --significance off >off
grep -q "^no q: significance.kind is off" off
grep -Eq "^ .* off  " off

# Lines of JSON on the same terminal are not drawn over: there is no page, and its closing words come at the end.
(cat run.yaml && echo 'sinks: [{type: jsonl, path: "-", topics: [status]}]') >lines.yaml
on 160 50 0 - "$SYNFIRE" run lines.yaml --replay sim.h5 --speed max --duration 6 >lines
grep -q "^left after 0 pages on 0 screens" lines
[ "$(grep -c '^{.*}' lines)" -ge 6 ]
grep -q "^from sim.h5 .* lost 0" lines

# What a stream of so few stretches cannot have, and when.
on 80 24 0 - "${run[@]}" --speed max --set significance.length_s=0 >early
grep -Eq "^no q(| of 0.05 or less of [0-9]+ episodes): it takes 4 stretches of 30 s or more" early
grep -Eq "^ .* not tested by the end  [A-Z]" early
# One reason has one wording, on any terminal, and in the closing table, whose columns stand below their heads.
for size in "80 24" "160 50"; do
    # shellcheck disable=SC2086
    on $size 0 - "${run[@]}" --speed max --set significance.length_s=0 >reasons
    awk '/^ *count .* q  episode/ { until = index($0, "q  episode"); tables++; next }
        /^left|^and |more|^$/ { until = 0 }
        until && substr($0, until + 1, 2) != "  " || length($0) > 80 && /not tested/ { print; exit 1 }
        until && /not tested by the end  / { told[tables]++ }
        END { exit !(tables == 2 && told[1] > 5 && told[2] > 5) }' reasons
done
grep -Eq "^1 stretch, the last without a p: not tested by the end$" early
on 160 50 0 - "${run[@]}" --speed max --set significance.length_s=0 >early
[ "$(grep -c " not tested by the end  " early)" -gt 5 ]
[ "$(grep -Ec " waits| yet| so far" early)" = 0 ]
on 80 24 0 - "${run[@]}" --speed max --set significance.length_s=0 --duration 20 >short
grep -q "^no q: it takes 4 stretches of 30 s or more after the first find; the run ended$" short
# The last status says the same to programs, of a run of no whole stretch and of one whose only stretch was too early.
for words in "--duration 20" ""; do
    # shellcheck disable=SC2086
    "$SYNFIRE" run lines.yaml --replay sim.h5 --speed max --set significance.length_s=0 $words 2>/dev/null | grep '^{' >out
    python3 -B -c 'import json
told = [json.loads(line) for line in open("out")]
assert [m["not_tested"] for m in told if m["last"]] == ["not tested by the end"], told[-1]
assert all(m["not_tested"] != "not tested by the end" for m in told if not m["last"])'
done
# So do the rows of the last window, and no other.
sed 's/status/episodes, graph/' lines.yaml >rows.yaml
"$SYNFIRE" run rows.yaml --replay sim.h5 --speed max --set significance.length_s=0 --duration 20.3 2>/dev/null | grep '^{' >out
python3 -B -c 'import json
told = [json.loads(line) for line in open("out")]
windows = [{one["not_tested"] for one in m["episodes"] if len(one["units"]) > 1} for m in told if m["topic"] == "episodes"]
assert windows[-1] == {"not tested by the end"}, windows[-1]
assert all(reasons <= {"waits for its first test"} for reasons in windows[:-1]), windows
edges = [one["not_tested"] for m in told if m["topic"] == "graph" and m["time_ns"] == told[-1]["time_ns"] for one in m["changes"] if not one["removed"]]
assert set(edges) == {"not tested by the end"}, set(edges)'

# What there is no room to test is edges: a chain that was just found waits.
sed -e 's/mine: .*/mine: {delays_ms: 4:6, max_size: 3, track_most: 50, every: 1}/' -e 's/length_s: 5/most: 300, length_s: 5/' rows.yaml >crowd.yaml
"$SYNFIRE" run crowd.yaml --replay sim.h5 --speed max 2>/dev/null | grep '^{' >out
python3 -B -c 'import json
told = [json.loads(line) for line in open("out")]
chains = {one["not_tested"] for m in told if m["topic"] == "episodes" for one in m["episodes"] if len(one["units"]) > 2}
assert "waits for its first test" in chains and "too many to test" not in chains, chains
assert any(one["not_tested"] == "too many to test" for m in told if m["topic"] == "graph" for one in m["changes"])'

# Ctrl-C: in order, with a summary on the normal screen; a second one at once, with the terminal given back too.
echo 'sinks: [{type: jsonl, path: out.jsonl}]' >>run.yaml
on 80 24 2 INT "${run[@]}" >stopped
sed '1,/^left/d' stopped >after
grep -q "stopping; publishing what has arrived" after
grep -q "^synfire: [1-9][0-9]* spikes of 30 units, lost 0" after
grep -q "^from sim.h5 " after
grep -q "^triggers [1-9]" after
grep -Eq "^to jsonl .*out.jsonl, [0-9.]+ MB, 0 messages lost" after
status=0
on 80 24 2 'INT*' "${run[@]}" >killed || status=$?
[ $status = 130 ]

# A stream that says nothing for two seconds, and one in which nothing is frequent: what to change.
python3 - >pause.csv <<'PY'
for i in range(40):
    print(f"A,{i * 0.05:.3f}")
print("B,6.000")
PY
on 80 24 "no data for [2-9]+ s" INT "$SYNFIRE" run --replay pause.csv --set window.length_s=1 --set window.hop_s=0.5 >silent
grep -q "^seen: from pause.csv  live .*no data for [2-9][0-9]* s$" silent
on 80 24 0 - "$SYNFIRE" run --replay pause.csv --speed 4 --set window.length_s=1 --set window.hop_s=0.5 --set mine.every=1 --duration 2 >poor
grep -q "^nothing is frequent in a window of 1 s at delays of 0.5:5 ms" poor
grep -q "^try --set window.length_s=6 --set mine.min_rate_hz=0.83" poor
on 80 24 0 - "$SYNFIRE" run --replay pause.csv --speed max --set window.length_s=1 --set window.hop_s=0.5 --duration 5 >empty
grep -q "^no spikes in the window of 1 s$" empty
grep -q "^try a longer one, as --set window.length_s=6 --set mine.min_rate_hz=0.83$" empty
grep -Eq "^the last window, 4.0-5.0 s, spikes 0: no spikes in the window of 1 s$" empty
[ "$(sed '1,/^left/d' empty | grep -c "^try a longer one")" = 1 ]
# Few spikes are no rate of 0.
printf 'name,seconds\nA,0.1\nA,0.9\nB,3.4\n' >few.csv
on 80 24 0 - "$SYNFIRE" run --replay few.csv --speed max --set window.length_s=2 --set window.hop_s=0.5 | grep "^synfire  2 units  .*  1 spike  0.6 Hz$" >/dev/null
# What was alive when the run ended is not any more: of a recording of which most is left.
on 80 24 0 - "$SYNFIRE" run --replay sim.h5 --speed 2 --duration 2 >cut
[ "$(grep -Ec "^from sim.h5  (stopped|ended)  " cut)" = 2 ]
must_fail grep -q "^from sim.h5  live" cut
# More stretches would not have helped where none gave a p.
on 80 24 0 - "$SYNFIRE" run --replay pause.csv --speed max --set window.length_s=1 --set window.hop_s=0.5 --set significance.length_s=0.5 --duration 5 >none
grep -q "^no q: no stretch has a p, the last one for this: silent stretch$" none
must_fail grep -q "it takes 4 stretches" none
# Where nothing is looked for that is said, and where pairs are frequent that no list has yet, too; nothing else.
grep -v ^watch run.yaml | grep -v ^sinks >bare.yaml
on 80 24 0 - "$SYNFIRE" run bare.yaml --replay sim.h5 --speed max --set mine.every=0 >unsought
grep -q "^nothing is tracked: name episodes under .track., or set mine.every$" unsought
on 80 24 0 - "$SYNFIRE" run bare.yaml --replay sim.h5 --speed max --set mine.every=1000 --set graph.enabled=false >late
grep -q "^episodes were not looked for yet: the first time after 1000 s$" late
grep -q "  no graph  " late
must_fail grep -q "nothing is frequent" late unsought

# A sender that is not there: which key says how long it is waited for.
read -r port <<<"$(free_ports 1)"
echo "sources: [{type: zmq, endpoint: \"tcp://127.0.0.1:$port\", timeout_s: 0.2}]" >nobody.yaml
status=0
on 80 24 0 - "$SYNFIRE" run nobody.yaml >nobody || status=$?
[ $status = 69 ]
grep -q "waiting for the units of tcp://127.0.0.1:$port, as long as sources.0.timeout_s allows" nobody

# A sender that hangs: it is joined, then it stops, and the page says for how long nothing has been heard of it.
read -r port <<<"$(free_ports 1)"
"$SYNFIRE" play sim.h5 --to "tcp://127.0.0.1:$port" --loop >/dev/null 2>play.err &
player=$!
trap 'kill -KILL $player 2>/dev/null || true' EXIT
cat >lab.yaml <<YAML
sources: [{type: zmq, endpoint: "tcp://127.0.0.1:$port", timeout_s: 5}]
window: {length_s: 1, hop_s: 0.5}
sinks: [{type: jsonl, path: lab.jsonl}]
YAML
(
    wait_for '"topic":"episodes"' lab.jsonl
    kill -STOP $player
) &
until grep -q "waiting for 1 subscriber" play.err; do kill -0 $player; sleep 0.05; done
on 80 24 "LOST .*nothing heard for [1-9][0-9]* s" INT "$SYNFIRE" run lab.yaml >hung
grep -q "^seen: from tcp:.*  LOST  [0-9]* spikes  lost 0  nothing heard for [1-9][0-9]* s " hung || { cat hung; exit 1; }
sed '1,/^left/d' hung | grep -q "^synfire: [1-9][0-9]* spikes of 30 units"
wait %+ 2>/dev/null || true
kill -KILL $player

# A simulation without a chain: there is no table of what was planted.
"$SYNFIRE" simulate null.h5 --unit-count 5 --rate 5 --duration 20 --quiet >/dev/null
"$SYNFIRE" run --replay null.h5 --speed max 2>/dev/null >null
grep -q "^No chain is planted in this simulation" null
must_fail grep -q "^planted chain" null

# Elsewhere than on a terminal: a line a hop and the same summary, and no control characters.
"${run[@]}" --speed 40 >plain 2>/dev/null # not max, which may be over before the second line
must_fail grep -q $'\033' plain
[ "$(grep -c '^synfire  30 units  window' plain)" -ge 3 ]
grep -q "^synfire: [1-9][0-9]* spikes of 30 units, lost 0" plain
