# SPDX-License-Identifier: Apache-2.0
# A recorder that is killed: `synfire recover` has what the run had said to have recorded, and more. Files in parts.
. "$E2E/functions.sh"
need_python
"$SYNFIRE" simulate sim.h5 --preset sym26 --duration 60 --seed 5 --quiet >/dev/null

"$SYNFIRE_PYTHON" -B "$E2E/kill_recorder.py" "$SYNFIRE" sim.h5 2 7
[ -e run.h5.journal ] # the originals stay
"$SYNFIRE" info run.h5 | grep -q 'its recorder did not end, or goes on: .*`synfire recover run.h5`'
expect 73 "run-recovered.h5: there is a file of this name" "$SYNFIRE" recover run.h5
"$SYNFIRE" recover run.h5.journal --out again.h5 >out
grep -q "run.h5.journal: [0-9]* bytes, [0-9]* records, 0 lost" out
grep -q "again.h5 holds what was recovered" out
cmp <("$SYNFIRE" mine again.h5 --delay 4:6 --min-count 5 --json | results) \
    <("$SYNFIRE" mine run-recovered.h5 --delay 4:6 --min-count 5 --json | results | sed 's/run-recovered/again/')

# The file is gone, or no file any more: the journal has all.
printf 'broken' >run.h5
"$SYNFIRE" recover run.h5 --out broken.h5 --json >out
check "assert out['file_note'] and out['spikes'] > 0 and out['spikes_of_file'] == 0"
[ "$(cat run.h5)" = broken ]
rm run.h5
"$SYNFIRE" recover run.h5 --out gone.h5 --json >out
check "assert out['file_note'] == 'there is none' and out['rows'] > 0"

# Whole recordings leave nothing to recover; files in parts are whole, each by itself.
cat >run.yaml <<YAML
graph: {enabled: false}
mine: {every: 0}
sinks: [{type: hdf5, path: parts.h5, rotate_min: 0.25, policy: block}]
YAML
"$SYNFIRE" run run.yaml --replay sim.h5 --speed max --quiet
# A part is left with the first batch after its time, and as fast as possible batches are long: three or four.
ls parts*.h5* | tr '\n' ' ' >files
grep -Eqx 'parts-part2.h5 parts-part3.h5 (parts-part4.h5 )?parts.h5 ' files || { cat files; exit 1; }
"$SYNFIRE" recover parts-part2.h5 | grep -q "nothing is to be recovered"
"$SYNFIRE_PYTHON" - <<'PY'
import h5py, numpy
import glob
parts = [h5py.File(f"parts{n}.h5") for n in ("", *(f"-part{i + 1}" for i in range(1, len(glob.glob("parts*.h5")))))]
assert [p.attrs["part"] for p in parts] == list(range(1, len(parts) + 1))
for name in ("time_ns", "unit"):
    assert numpy.array_equal(numpy.concatenate([p["spikes"][name][:] for p in parts]), h5py.File("sim.h5")["spikes"][name][:])
for one, other in zip(parts, parts[1:]):
    assert one.attrs["stop_ns"] == other.attrs["start_ns"]
PY
# A journal of an earlier recording: a run says so, and nothing of one recording is handed out for another.
mv run.h5.journal parts.h5.journal
expect 65 "is not the recording that the journal parts.h5.journal is of" "$SYNFIRE" recover parts.h5
"$SYNFIRE" info parts.h5 >told
must_fail grep -q "its recorder did not end" told
rm parts.h5
"$SYNFIRE" run run.yaml --replay sim.h5 --speed max --set sinks.0.rotate_min=0 >told 2>&1
grep -q "parts.h5.journal is the journal of an earlier recording" told || { cat told; exit 1; }
"$SYNFIRE" recover parts.h5.journal --out other.h5 && exit 1
mkdir apart && mv parts.h5.journal apart && "$SYNFIRE" recover apart/parts.h5.journal | grep -q "apart/parts-recovered.h5 holds"

expect 66 "nothing.h5: cannot open" "$SYNFIRE" recover nothing.h5
expect 65 "there is no journal" "$SYNFIRE" recover run.yaml
