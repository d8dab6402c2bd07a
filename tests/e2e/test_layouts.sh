# SPDX-License-Identifier: Apache-2.0
# The same spikes through every layout that is read give the same episodes, with all that is told of them.
. "$E2E/functions.sh"
need_python
$SYNFIRE simulate sim.h5 --unit-count 12 --rate 12 --duration 25 --chain '#0 -(4,6]-> #5 -(4,6]-> #2' --chain-rate 5 --quiet >/dev/null
"$SYNFIRE_PYTHON" - <<'END'
import h5py
with h5py.File("sim.h5") as file, open("spikes.csv", "w") as lines:
    print("unit,seconds", file=lines)
    for ns, unit in zip(file["spikes/time_ns"], file["spikes/unit"]):
        print(f"{unit},{ns / 1e9}", file=lines)
END
"$SYNFIRE_PYTHON" -B "$E2E/layouts.py" spikes.csv
