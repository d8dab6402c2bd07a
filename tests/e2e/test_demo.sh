# SPDX-License-Identifier: Apache-2.0
# What scripts/demo shows: both planted chains are found whole, each nearly as often as it was planted, and each has a q.
mkdir demo
$SYNFIRE simulate demo/demo.h5 --preset sym26 --duration 180 >/dev/null
$SYNFIRE run "$SYNFIRE_SOURCE/configs/demo.yaml" --set sources.0.speed=max >out
sed -n '/^Planted and found/,$p' out >table
[ "$(grep -c 'whole$' table)" = 2 ]
grep -q "^2 chains, 29 significant parts (q of 0.05 or less) of" out
for chain in "A > B > C" "D > E > F > G > H > I > J > K"; do
    grep -Eq "^ +[0-9]+ .* (0.0|[0-9.]+e-)[0-9]+  $chain$" out
done
# columns: planted, counted, by chance, found
awk '$NF == "whole" && ($(NF-1) > 2 || $(NF-2) < 0.9 * $(NF-3)) { exit 1 }' table
[ "$(wc -l <demo/demo.jsonl)" -gt 30 ]
# Each message folds and orders as its own counts say, with a limit, too.
counted() { python3 -B "$E2E/standing.py" demo/demo.jsonl; }
read -r windows chains parts <<<"$(counted)"
[ "$windows" = 90 ]
[ "$chains" -gt 50 ]
[ "$parts" -gt 500 ]
$SYNFIRE run "$SYNFIRE_SOURCE/configs/demo.yaml" --set sources.0.speed=max --max-q 0.5 --quiet
[ "$(counted)" = "$windows $chains $parts" ]
# At a pace that no test keeps up with none is left out: a replay waits for them.
$SYNFIRE run "$SYNFIRE_SOURCE/configs/demo.yaml" --set sources.0.speed=10000 --quiet
grep '"topic":"status"' demo/demo.jsonl | tail -n 1 >newest
grep -q '"tests":\(9\|10\|11\),' newest
grep -q '"tests_missed":0,' newest
# Where the units of a chain are left out, it is not found.
$SYNFIRE run --replay demo/demo.h5 --speed max --units A,B,C --set mine.delays_ms=4:6 >out
sed -n '/^Planted and found/,$p' out >table
[ "$(grep -c 'whole$' table)" = 1 ]
grep -q '^D .* 0 .* not found$' table
