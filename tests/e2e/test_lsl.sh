# SPDX-License-Identifier: Apache-2.0
# Lab Streaming Layer as a person meets it: what is said without liblsl, and, where there is one, a recording that is played
# into a run by it.
. "$E2E/functions.sh"
. "$E2E/rig.sh"

"$SYNFIRE" simulate sim.h5 --unit-count 20 --rate 40 --duration 4 --marker-every 1 --seed 3 --quiet >/dev/null

expect 64 "every machine of the network can hear" "$SYNFIRE" play sim.h5 --protocol lsl
expect 69 "PYLSL_LIB: cannot load liblsl" env PYLSL_LIB=/nowhere/liblsl.so "$SYNFIRE" play sim.h5 --protocol lsl --insecure
if ! "$SYNFIRE_PYTHON" -c '
import ctypes, os
ctypes.CDLL(os.environ.get("PYLSL_LIB") or "liblsl.so")' 2>/dev/null; then
    expect 69 "needs liblsl: install its package from https://github.com/sccn/liblsl" \
        "$SYNFIRE" play sim.h5 --protocol lsl --insecure
    echo "skipped: lsl: no liblsl"
    exit 0
fi

# Nobody else is asked.
printf '[multicast]\nResolveScope = machine\n[lab]\nKnownPeers = {127.0.0.1}\n' >lsl_api.cfg
export LSLAPICFG=$PWD/lsl_api.cfg
need_python
play_rig lsl "lsl://name=synfire-test-$$" sim.h5 'markers: "lsl://name=synfire-test-'$$' markers"' --insecure
"$SYNFIRE_PYTHON" - <<'PY'
import h5py, json
import numpy as np
source = json.load(open("rig.json"))["status"]["sources"][0]
was, got = h5py.File("sim.h5"), h5py.File("rig.h5")
assert source["malformed"] == source["out_of_range"] == source["restarts"] == 0, source
rows = lambda f: (np.sort(f["spikes/time_ns"][:]), np.bincount(f["spikes/unit"][:], minlength=20))
(a, units_a), (b, units_b) = rows(was), rows(got)
assert len(a) == len(b) and (units_a == units_b).all(), (len(a), len(b), source)
assert [n for n in was["units/name"][:]] == [n for n in got["units/name"][:]]
off = (b - b[0]) - (a - a[0])
assert np.abs(off).max() < 1_000_000, off  # what the estimate of a clock's offset wanders
edges = lambda f: int((f["markers/kind"][:] == 1).sum())
assert edges(was) == edges(got) > 0, (edges(was), edges(got))
PY
