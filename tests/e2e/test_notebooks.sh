# SPDX-License-Identifier: Apache-2.0
# The notebooks of examples/notebooks, on what `synfire simulate` makes: each cell runs and what it asserts holds. Where Jupyter's
# nbconvert is, it runs them, too; CI does not install it, and cells are run by notebook.py alone.
. "$E2E/functions.sh"
need_package
export SYNFIRE_NOTEBOOKS="$SYNFIRE_SOURCE/examples/notebooks"
count=0
for notebook in "$SYNFIRE_NOTEBOOKS"/*.ipynb; do
    name=$(basename "$notebook" .ipynb)
    mkdir "$name"
    (cd "$name" && "$SYNFIRE_PYTHON" -B "$E2E/notebook.py" "$notebook") >"$name.out"
    grep -q " cells ran$" "$name.out"
    count=$((count + 1))
done
[ "$count" = 5 ]

# What the texts promise.
grep -q "^ *[0-9]* times, q 0.00.: D .*> K$\|^ *[0-9]* times, q 0.00.: D -(4,6\]-> E.*-> K$" chains.out
grep -q "^D reaches 7 units in up to 7 steps$" chains.out
grep -q "^network_burst_rate .*q 0\.0" plate.out
grep -q "^2 chains with [0-9]* significant parts$" live.out
grep -Eq "^[0-9]+ stimuli of [0-9]+ occurrences$" closed_loop.out
grep -Eq "markers$|^no Neo here" other_tools.out

if "$SYNFIRE_PYTHON" -c "import nbconvert, ipykernel" 2>/dev/null; then
    mkdir jupyter given
    cp "$SYNFIRE_NOTEBOOKS"/*.ipynb given # each writes what it makes beside itself
    for notebook in given/*.ipynb; do
        "$SYNFIRE_PYTHON" -m nbconvert --to notebook --execute --ExecutePreprocessor.timeout=120 --output-dir "$PWD/jupyter" "$notebook" >>jupyter.out 2>&1
    done
    [ "$(find jupyter -name '*.ipynb' | wc -l)" = 5 ]
else
    echo "skipped: no nbconvert and ipykernel; notebook.py ran the cells"
fi
