# SPDX-License-Identifier: Apache-2.0
# Recordings of Cortical Labs' CL1 that PyTables wrote, as PyTables has them; refusals.
. "$E2E/functions.sh"
need_python
"$SYNFIRE_PYTHON" -B "$E2E/cortical.py" compare || { [ $? = 77 ] && skip "no Python module tables, which writes files of a CL1"; }

head -c 100000 cl1_0.h5 >cut.h5
expect 65 "this HDF5 file is damaged" "$SYNFIRE" info cut.h5
"$SYNFIRE_PYTHON" -c "import h5py; del h5py.File('cl1_1.h5', 'a')['spikes']"
expect 65 "was made without the table /spikes" "$SYNFIRE" info cl1_1.h5
$SYNFIRE info cl1_0.h5 --blank stim,-1,5 --json --quiet >out
check 'assert out["markers"] == 370 and out["spikes"] < 3000'
