# SPDX-License-Identifier: Apache-2.0
# Figures: their formats, what is refused, and that their numbers are those of the commands.
. "$E2E/functions.sh"

$SYNFIRE simulate sim.h5 --preset sym26 --seed 5 --duration 30 --quiet >out
cp "$E2E/figures.py" .

# The raster has a mark for every spike.
$SYNFIRE plot raster sim.h5 -o raster.svg --json >out
check 'assert (out["kind"], out["file"], out["width_mm"]) == ("raster", "raster.svg", 180) and out["height_mm"] > 20'
$SYNFIRE info sim.h5 --json >out
python3 -B - <<'PY'
import json, figures
info = json.load(open("out"))
panel, = figures.panels("raster.svg")
marks = panel.path("spikes")
assert len(marks) == info["spikes"], (len(marks), info["spikes"])
units = [round(sum(y for _, y in mark) / len(mark)) for mark in marks]
assert [units.count(u["index"]) for u in info["unit_detail"]] == [u["spikes"] for u in info["unit_detail"]]
assert abs(min(mark[0][0] for mark in marks) - info["start_s"]) < 0.01
PY

# Widths, formats and refusals.
$SYNFIRE plot raster sim.h5 --out column.svg --width column >caption
grep -q '^<svg .*width="85mm"' column.svg && grep -q "^Spikes of 26 units" caption
if $SYNFIRE plot raster sim.h5 -o raster.pdf >out 2>err; then
    $SYNFIRE plot raster sim.h5 -o raster.png >out
    head -c 5 raster.pdf | grep -q '%PDF-'
    head -c 4 raster.png | grep -q PNG
else
    grep -q "without Cairo" err
    echo "skipped: PDF and PNG: no Cairo"
fi
expect 64 "raster.gif: expected a file that ends in .svg, .pdf or .png" $SYNFIRE plot raster sim.h5 -o raster.gif
expect 64 "found 'rastr': did you mean raster?" $SYNFIRE plot rastr sim.h5 -o x.svg
expect 64 "--out: is needed" $SYNFIRE plot raster sim.h5
expect 64 "--width: found 'wide'" $SYNFIRE plot raster sim.h5 -o x.svg --width wide
expect 73 "cannot create" $SYNFIRE plot raster sim.h5 -o nowhere/x.svg
expect 66 "nowhere.h5" $SYNFIRE plot raster nowhere.h5 -o x.svg
expect 64 "needs a value" $SYNFIRE plot raster sim.h5 -o
expect 65 "no spikes" $SYNFIRE plot raster sim.h5 --from 1 --to 1.00001 -o x.svg
[ ! -e x.svg ]
