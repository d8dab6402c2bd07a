# SPDX-License-Identifier: Apache-2.0
# What scripts/demo shows: both planted chains are found whole, each nearly as often as it was planted.
mkdir demo
$SYNFIRE simulate demo/demo.h5 --preset sym26 >/dev/null
$SYNFIRE run "$SYNFIRE_SOURCE/configs/demo.yaml" --set sources.0.speed=max >out
sed -n '/^Planted and found/,$p' out >table
[ "$(grep -c 'whole$' table)" = 2 ]
# columns: planted, counted, by chance, found
awk '$NF == "whole" && ($(NF-1) > 1 || $(NF-2) < 0.9 * $(NF-3)) { exit 1 }' table
[ "$(wc -l <demo/demo.jsonl)" -gt 30 ]
# Where the units of a chain are left out, it is not found.
$SYNFIRE run --replay demo/demo.h5 --speed max --units A,B,C --set mine.delays_ms=4:6 >out
sed -n '/^Planted and found/,$p' out >table
[ "$(grep -c 'whole$' table)" = 1 ] && grep -q '^D .* 0 .* not found$' table
