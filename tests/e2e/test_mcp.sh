# SPDX-License-Identifier: Apache-2.0
# synfire mcp as a client speaks with it: what it offers, what it answers, what it refuses.
. "$E2E/functions.sh"
mkdir data elsewhere
"$SYNFIRE" simulate data/demo.h5 --preset sym26 --duration 20 --quiet >out
cp data/demo.h5 elsewhere/other.h5
ln -s ../elsewhere/other.h5 data/link.h5
python3 - <<'PY'
for where, file in (("inside", "demo.h5"), ("outside", "../elsewhere/other.h5")):
    with open(f"data/{where}.csv", "w") as table:
        print("file,condition,animal", file=table)
        for i in range(4):
            print(f"{file},{'ab'[i % 2]},m{i}", file=table)
PY
python3 -B "$E2E/mcp.py"
