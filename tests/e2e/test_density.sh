# SPDX-License-Identifier: Apache-2.0
# Bandwidths and densities of files of numbers: values, formats, refusals.
. "$E2E/functions.sh"

# 100 numbers: the squares 1, 4, 9, ...
awk 'BEGIN { for (i = 1; i <= 100; i++) print i * i }' >squares.txt
$SYNFIRE bandwidth squares.txt --method plugin --json >out
for field in method n d h h_relative h0 objective at_edge minima seconds device; do
    grep -q "\"$field\":" out
done
grep -q '"method":"plugin","n":100,"h":.*"d":1,' out
$SYNFIRE bandwidth squares.txt --method plugin | grep -q '^plugin  *100 '

# The density integrates to 1, the grid is the one asked for, and both forms of output agree.
$SYNFIRE density squares.txt --bandwidth 500 --grid -5000:15000:2001 --csv >density.csv
awk -F, 'NR == 2 && $1 != -5000 { exit 1 } NR > 1 { sum += $2 * 10; last = $1 }
    END { if (last != 15000 || sum < 0.999999 || sum > 1.000001) { print last, sum; exit 1 } }' density.csv
$SYNFIRE density squares.txt --bandwidth 500 --reflect --grid 0:15000:1501 --csv |
    awk -F, 'NR > 1 { sum += $2 * (NR == 2 ? 5 : 10) } END { if (sum < 0.9999 || sum > 1.0001) { print sum; exit 1 } }'
# On a logarithmic axis a density is per unit of the natural logarithm.
$SYNFIRE density squares.txt --log --csv |
    awk -F, 'NR > 2 { sum += ($2 + before) / 2 * log($1 / x) } NR > 1 { x = $1; before = $2 }
        END { if (sum < 0.999 || sum > 1.001) { print sum; exit 1 } }'
# A grid is what was asked for, and refused where it would miss kernels, with the number that is needed.
$SYNFIRE density squares.txt --grid 0:10000:101 --bandwidth 300 --json >out
grep -q '^{"n":100,"h":300,"method":"given","axis":"linear","reflected":false,"tick":null,"outside":0\.0' out
grep -q '"grid":\[0,100,200,' out
expect 64 "3 points from 0 to 10000 are too few for the bandwidth 300: 68 are needed" \
    $SYNFIRE density squares.txt --grid 0:10000:3 --bandwidth 300
$SYNFIRE density squares.txt --grid 0:10000:68 --bandwidth 300 --csv >out
expect 64 " points, more than 20" $SYNFIRE density squares.txt --grid 20 --bandwidth 3
$SYNFIRE density squares.txt --grid 2000 --bandwidth 30 --csv |
    awk -F, 'NR > 2 { sum += ($2 + before) / 2 * ($1 - x) } NR > 1 { x = $1; before = $2 }
        END { if (NR > 2001 || sum < 0.999 || sum > 1.001) { print NR, sum; exit 1 } }'
expect 64 "begins at 0: a logarithmic axis begins above 0" $SYNFIRE density squares.txt --log --grid 0:10:100
# What lies outside the points is told.
$SYNFIRE density squares.txt --grid 0:2500.5:1001 --bandwidth 30 >out
tail -1 out | grep -q '100 samples, bandwidth 30 (given); 52.50 % of the density lies outside the points' || { tail -1 out; exit 1; }
$SYNFIRE density squares.txt --plot density.svg >out
grep -q '</svg>' density.svg
grep -q '100 samples, bandwidth' density.svg

head -49 squares.txt >few.txt
expect 65 "not enough data: found 49 samples" $SYNFIRE bandwidth few.txt
awk 'BEGIN { for (i = 0; i < 60; i++) print 7 }' >same.txt
expect 65 "all 60 samples equal 7" $SYNFIRE bandwidth same.txt
expect 65 "found 'x'" $SYNFIRE bandwidth <(echo 1; echo x)
expect 66 "No such file" $SYNFIRE bandwidth nowhere.txt
expect 66 "is a directory" $SYNFIRE bandwidth .
expect 64 "expected" $SYNFIRE bandwidth squares.txt --method magic
expect 65 "2 columns" $SYNFIRE bandwidth <(awk '{ print $1, $1 }' squares.txt) --method plugin
expect 65 "above 0" $SYNFIRE density <(cat squares.txt; echo 0) --log
expect 65 "at least 0" $SYNFIRE density <(cat squares.txt; echo -1) --reflect
expect 64 "does not go with" $SYNFIRE density squares.txt --log --reflect
expect 64 "does not go with" $SYNFIRE density squares.txt --linear --reflect
expect 64 "A < B" $SYNFIRE density squares.txt --grid 5:5:10
expect 64 "A < B" $SYNFIRE density squares.txt --grid 0:1:1
expect 64 "above 0" $SYNFIRE density squares.txt --bandwidth 0
expect 73 "cannot create" $SYNFIRE density squares.txt --plot nowhere/x.svg
ln -s /dev/full full.svg
expect 74 "cannot write" $SYNFIRE density squares.txt --plot full.svg
expect 64 "expected a file that ends in .svg, .pdf or .png" $SYNFIRE density squares.txt --plot density.eps
[ -c /dev/full ]

# Of a recording every unit gets its own bandwidth: a fires every 10 to 13 ms, b at 60 irregular times.
{
    echo name,seconds
    awk 'BEGIN { for (t = 1000; t < 3000; t += 10 + n++ % 4) printf "a,%.3f\n", t / 1000
        for (i = 1; i <= 60; i++) printf "b,%.3f\n", 1 + i * i / 1000
        print "c,1.5"; print "c,1.5" }'
} >recording.csv
$SYNFIRE bandwidth recording.csv --quantity isi --method plugin --json >out 2>err
grep -q '"results":\[{"unit":0,"name":"a","method":"plugin","n":17[0-9],' out
grep -q '"unit":1,"name":"b","method":"plugin","n":59,' out
grep -q '"unit":2,"name":"c","method":"plugin","n":0,.*"error":"not enough data: found 0' out
grep -q "left out 1 intervals of length 0" err
$SYNFIRE bandwidth recording.csv --quantity isi --method plugin --units b --json | grep -q '^{"unit":1,"name":"b","method":"plugin","n":59,'
# Intervals of b are 0.003, 0.005, ... 0.119 s: as a file of numbers they give the same bandwidth.
awk 'BEGIN { for (i = 1; i < 60; i++) print (2 * i + 1) / 1000 }' >b.txt
field() { sed "s/.*\"$1\":\([^,}]*\).*/\1/"; }
one=$($SYNFIRE bandwidth recording.csv --quantity isi --method plugin --units b --json | field h)
two=$($SYNFIRE bandwidth b.txt --method plugin --json | field h)
awk "BEGIN { d = $one / $two - 1; exit !(d < 1e-12 && d > -1e-12) }"
# Rates: b has 60 spikes; 0.05 s windows over the recorded 3.6 s give 71 or 72 rates.
$SYNFIRE bandwidth recording.csv --quantity rate --window 0.05 --method plugin --units b --json | grep -q '"n":7[12],'
# Intervals across the gap between two epochs are none.
printf 'start,stop,label\n1,2,first\n3,4,second\n' >epochs.csv
$SYNFIRE bandwidth recording.csv --quantity isi --units b --epochs epochs.csv --method plugin --json >out 2>err || true
grep -q "not enough data: found 39 samples" err
# They are drawn by their logarithm: the clock's step is a millisecond, and no kernel is narrower.
$SYNFIRE density recording.csv --quantity isi --units a --plot isi.svg --json >out
grep -q '>interval, s<' isi.svg
grep -q 'Intervals of a, recording.csv<' isi.svg
grep -q '>density per ln(interval)<' isi.svg
grep -q '"axis":"log","reflected":false,"tick":0.001,' out
$SYNFIRE density recording.csv --quantity isi --units a --linear --bandwidth 0.0001 --json >out 2>err
grep -q '"h":0.001,"method":"given","axis":"linear"' out
grep -q "held at the step, 0.001" err
expect 64 "holds 3 units: choose one with --units, or take --csv" $SYNFIRE density recording.csv --quantity isi --quiet
# Of several units the rows of each are those of the unit alone.
$SYNFIRE simulate several.h5 --unit-count 4 --duration 20 --quiet >/dev/null
printf '0,9\n9,20\n' >halves.csv
of=(--quantity isi --grid 0.002:0.5:60 --epochs halves.csv --quiet)
$SYNFIRE density several.h5 "${of[@]}" --csv >all
[ "$(head -1 all)" = "unit,name,x,density_per_ln_s,epoch 0,epoch 1" ]
[ "$(wc -l <all)" = 241 ]
for unit in 0 1 2 3; do
    $SYNFIRE density several.h5 "${of[@]}" --csv --units "#$unit" | tail -n +2 >one
    cmp one <(awk -F, -v unit=$unit '$1 == unit' all | cut -d, -f3-)
    [ "$(awk -F, -v unit=$unit '$1 == unit { print $2 }' all | sort -u)" = "$(printf "\\$((101 + unit))")" ]
done
expect 64 "found 'speed'" $SYNFIRE bandwidth recording.csv --quantity speed
expect 64 "give --quantity too" $SYNFIRE bandwidth squares.txt --units a

# Delays: b follows a by 3 or 4 ms, c follows b by 10 ms.
{
    echo name,seconds
    awk 'BEGIN { for (i = 0; i < 200; i++) { t = i / 5
        printf "a,%.4f\nb,%.4f\nc,%.4f\n", t, t + 0.003 + i % 7 / 7000, t + 0.013 + i % 7 / 7000 + i % 11 / 5000 } }'
} >chain.csv
$SYNFIRE bandwidth chain.csv --quantity delay --episode 'a -(0,5]-> b' --json --quiet >out
grep -q '^{"unit":null,"name":"a -(0,5\]-> b","method":"isj","n":200,.*"d":1,' out
$SYNFIRE bandwidth chain.csv --quantity delay --episode 'a -(0,5]-> b -(5,15]-> c' --quiet >out
grep -q '^a -(0,5]-> b  *isj  *200 ' out
grep -q '^b -(5,15]-> c  *isj  *200 ' out
expect 64 "needs --episode" $SYNFIRE bandwidth chain.csv --quantity delay
expect 64 "expected a link" $SYNFIRE bandwidth chain.csv --quantity delay --episode a
expect 64 "choose one as an episode of two" $SYNFIRE density chain.csv --quantity delay --episode 'a -(0,5]-> b -(5,15]-> c'
expect 65 "no positions" $SYNFIRE bandwidth chain.csv --quantity position --method scott
$SYNFIRE simulate array.h5 --unit-count 8 --rate 5 --duration 20 --seed 1 >out
$SYNFIRE bandwidth array.h5 --quantity position --method scott --json | grep -q '"h":0\.3.*"d":2,'

# Methods: isj is the default; curves; both engines; what a method says about an edge.
$SYNFIRE bandwidth squares.txt --json | grep -q '"method":"isj"'
for method in plugin lscv lscv-paper; do
    one=$($SYNFIRE bandwidth squares.txt --method $method --json --quiet | field h)
    two=$($SYNFIRE bandwidth squares.txt --method $method --json --quiet --exact | field h)
    awk "BEGIN { d = $one / $two - 1; exit !(d < 1e-9 && d > -1e-9) }"
done
$SYNFIRE bandwidth squares.txt --method lscv --curve --quiet >curve.csv
[ "$(wc -l <curve.csv)" = 201 ]
[ "$(head -1 curve.csv)" = h,objective ]
[ "$($SYNFIRE bandwidth squares.txt --method lscv-paper --curve --quiet | wc -l)" = 151 ]
# The curve's lowest point is next to the minimum that is reported.
lowest=$(awk -F, 'NR == 2 || NR > 1 && $2 < s { s = $2; h = $1 } END { print h }' curve.csv)
h=$($SYNFIRE bandwidth squares.txt --method lscv --json --quiet | field h)
awk "BEGIN { d = $h / $lowest; exit !(d < 1.03 && d > 0.97) }"
awk 'BEGIN { for (i = 0; i < 300; i++) print i % 7, i % 11, i * i % 13 }' >columns.txt
$SYNFIRE bandwidth columns.txt --method silverman --json | grep -q '"n":300,"h":0.4.*"d":3,'
$SYNFIRE bandwidth columns.txt --method lscv-paper --json --quiet | grep -q '"d":3'
expect 65 "the method isj takes 1" $SYNFIRE bandwidth columns.txt
expect 65 "singular" $SYNFIRE bandwidth <(awk '{ print $1, $2, $1 + $2 }' columns.txt) --method scott
expect 64 "has no curve" $SYNFIRE bandwidth squares.txt --curve
expect 64 "no form by direct sums" $SYNFIRE bandwidth squares.txt --exact
awk 'BEGIN { for (i = 0; i < 300; i++) print (i * i) % 5 }' >steps.txt
$SYNFIRE bandwidth steps.txt --json 2>err | grep -q '"at_edge":true'
grep -q "steps of a clock" err

# Aggregates: 100 squares, 30 of them between 400.5 and 2500.5.
$SYNFIRE aggregate squares.txt --range 400.5:2500.5 --exact --json >out
for name in estimate exact relative_error; do grep -q "\"$name\":" out; done
[ "$(field exact <out)" = 30 ]
field estimate <out | awk '{ exit !($1 > 28 && $1 < 32) }'
$SYNFIRE aggregate squares.txt --range 400.5:2500.5 --op avg --exact | grep -q '^exact  1335.1667 '
$SYNFIRE aggregate squares.txt --range 400.5:2500.5 --op sum --exact --reflect | grep -q '^exact  40055 '
$SYNFIRE aggregate squares.txt --range 400.5:2500.5 --json | grep -q '"exact":null,"relative_error":null'
$SYNFIRE aggregate columns.txt --range -1:3.5,-1:5.5,-1:20 --exact --json | grep -q '"exact":[1-9]'
# A range that is open: all of it, whatever is asked.
for op in count sum avg var; do
    $SYNFIRE aggregate squares.txt --range -1e9:1e9 --op $op --exact --json >with
    for range in -inf:+inf -inf:inf : ; do
        $SYNFIRE aggregate squares.txt --range $range --op $op --exact --json >without
        python3 - <<'END'
import json
with_ends, without = json.load(open("with")), json.load(open("without"))
assert without["exact"] == with_ends["exact"], without
assert abs(without["estimate"] / with_ends["estimate"] - 1) < 1e-9, (with_ends, without)
END
    done
done
$SYNFIRE aggregate squares.txt --range 400.5: --exact | grep -q '^exact  '
expect 64 "expected A:B" $SYNFIRE aggregate squares.txt --range inf:
expect 64 "expected A:B" $SYNFIRE aggregate squares.txt --range 1:2:3
expect 64 "expected A:B" $SYNFIRE aggregate squares.txt --range nan:5
expect 64 "is needed" $SYNFIRE aggregate squares.txt
expect 64 "expected A:B" $SYNFIRE aggregate squares.txt --range 5:4
expect 64 "one of count, sum, avg, var" $SYNFIRE aggregate squares.txt --range 1:2 --op median
expect 64 "2 ranges for 1 column" $SYNFIRE aggregate squares.txt --range 1:2,3:4
expect 64 "go without --log" $SYNFIRE aggregate columns.txt --range 1:2,3:4,5:6 --log
$SYNFIRE aggregate columns.txt --range -1:3.5,-1:5.5,-1:20 --op sum --exact | grep -q '^exact  [1-9]'

# Two columns: a density over a plane, and what the second column is where the first lies in a range.
seq 60 | awk '{ print ($1 * 7) % 31, ($1 * 7) % 31 * 2 + ($1 * 11) % 13 }' >pairs.txt
$SYNFIRE density pairs.txt --grid -30:60:91,-60:140:101 --csv >plane.csv
awk -F, 'NR > 1 { sum += $3 * 2 } END { if (NR != 9192 || sum < 0.999 || sum > 1.001) { print NR, sum; exit 1 } }' plane.csv
$SYNFIRE density pairs.txt --grid 0:2:3,0:1:2 --json | grep -q '"grid":\[\[0,1,2\],\[0,1\]\],"density":\[\[[^]]*\],\[[^]]*\]\],'
expect 64 " points, or a smaller range" $SYNFIRE density pairs.txt --grid 0:30:3,0:60:2
# A box is what the density over it integrates to, though the columns correlate.
$SYNFIRE density pairs.txt --grid 5:15:201,10:30:201 --csv |
    awk -F, 'NR > 1 { w = ($1 == 5 || $1 == 15 ? 0.5 : 1) * ($2 == 10 || $2 == 30 ? 0.5 : 1); sum += w * $3 * 0.05 * 0.1 }
        END { print 60 * sum }' >integral
$SYNFIRE aggregate pairs.txt --range 5:15,10:30 --exact --json >out
awk "BEGIN { d = $(cat integral) / $(field estimate <out) - 1; exit !(d < 1e-3 && d > -1e-3) }" || { cat integral out; exit 1; }
$SYNFIRE density pairs.txt --plot plane.svg >out
grep -q '</svg>' plane.svg
grep -q '60 samples, bandwidth ' plane.svg
grep -q '(silverman)' plane.svg
grep -q '>density<' plane.svg
expect 64 "1 axis for 2 columns" $SYNFIRE density pairs.txt --grid 0:1:2
expect 64 "goes with one column" $SYNFIRE density pairs.txt --reflect
expect 65 "3 columns, expected 1 or 2" $SYNFIRE density columns.txt
$SYNFIRE aggregate pairs.txt --range 9.5:20.5 --op avg --exact --json >out
grep -q '"relative_error":0.0' out || { cat out; exit 1; }
expect 64 "1 range for 3 columns" $SYNFIRE aggregate columns.txt --range 1:2

# A state answers without its samples what they answered, in a file of some kilobytes; two of them as one.
answer() { sed 's/.*"estimate":\([^,]*\),.*/\1/'; }
close() { awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(b > 0 && d <= t * b) }' ||
    { echo "$1 $2"; exit 1; }; }
awk 'BEGIN { for (i = 1; i <= 2000; i++) print exp(3 + sin(i * 1.7) + sin(i * i * 0.31) + sin(i * 2.9)) }' >times.txt
for axis in --linear --log --reflect; do
    $SYNFIRE aggregate times.txt $axis --save times.h5 --quiet | grep -q 'times.h5: the state of 2000 samples'
    for op in count sum avg var; do
        $SYNFIRE aggregate times.txt $axis --range 20:60 --op $op --json >with
        $SYNFIRE aggregate --from-state times.h5 --range 20:60 --op $op --json >without
        close "$(answer <with)" "$(answer <without)" 1e-4
    done
done
grep -q '"exact":null.*"states":1,"saved":null,"quantity":null,"unit":null,"name":null' without
$SYNFIRE aggregate times.txt --log --save times.h5 --range 20:60 --json >with
grep -q '"states":null,"saved":"times.h5"' with
test "$(wc -c <times.h5)" -lt 12000
awk 'NR % 2' times.txt >odd.txt
awk 'NR % 2 == 0' times.txt >even.txt
$SYNFIRE aggregate odd.txt --log --save odd.h5 --json | grep -q '"op":null,"n":1000,.*"estimate":null,'
$SYNFIRE aggregate even.txt --log --save even.h5 >out
$SYNFIRE aggregate --from-state odd.h5 even.h5 --range 20:60 --save both.h5 --json >out
grep -q '"n":2000,.*"states":2,"saved":"both.h5"' out
close "$(answer <out)" "$(answer <with)" 0.002
$SYNFIRE aggregate --from-state both.h5 --range 20:60 --json >again
test "$(answer <again)" = "$(answer <out)" || { cat again out; exit 1; }
# Of two columns: a box, and the second column over a range of the first.
awk 'BEGIN { for (i = 1; i <= 300; i++) print i % 17, i * 5 % 31 }' >grid.txt
$SYNFIRE aggregate grid.txt --save grid.h5 --quiet >out
for range in 3:9,5:20 3:9; do
    $SYNFIRE aggregate grid.txt --range $range --op sum --json >with
    $SYNFIRE aggregate --from-state grid.h5 --range $range --op sum --json >without
    close "$(answer <without)" "$(answer <with)" 1e-4
done
# What differs has no common answer; what does not add up says so, and answers; what is no state is refused.
$SYNFIRE aggregate times.txt --save linear.h5 --quiet >out
expect 64 "another axis" $SYNFIRE aggregate --from-state both.h5 linear.h5 --range 1:2
awk '{ print $1 * 1e6 }' times.txt >far.txt
$SYNFIRE aggregate far.txt --save far.h5 --quiet >out
expect 64 "do not add up" $SYNFIRE aggregate --from-state linear.h5 far.h5 --save sum.h5
test ! -e sum.h5
$SYNFIRE aggregate --from-state linear.h5 far.h5 --range -1e9:1e9 --json 2>err >out
close "$(answer <out)" 4000 1e-5
grep -q 'each of 2 answers' err
expect 64 "3 columns" $SYNFIRE aggregate columns.txt --save columns.h5
expect 64 "a state has none" $SYNFIRE aggregate --from-state both.h5 --range 1:2 --exact
expect 64 "a state has none" $SYNFIRE aggregate --from-state both.h5 --range 1:2 --quantity isi
expect 64 "write over the input" $SYNFIRE aggregate --from-state both.h5 --save both.h5
expect 66 "no-such" $SYNFIRE aggregate --from-state no-such.h5 --range 1:2
expect 65 "HDF5" $SYNFIRE aggregate --from-state times.txt --range 1:2
$SYNFIRE simulate demo.h5 --preset sym26 --duration 5 >out
expect 65 "holds no state of a density" $SYNFIRE aggregate --from-state demo.h5 --range 1:2
