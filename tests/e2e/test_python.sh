# SPDX-License-Identifier: Apache-2.0
# The Python package on the libraries as built: layouts as the C compiler has them, its examples and its page, what it
# takes, gives and refuses, and that it gives what the command prints.
. "$E2E/functions.sh"
need_package
"$SYNFIRE" simulate demo.h5 --preset sym26 --quiet >/dev/null
"$SYNFIRE_PYTHON" -B "$PACKAGE_TESTS/layout.py"
"$SYNFIRE_PYTHON" -B "$PACKAGE_TESTS/package.py"
"$SYNFIRE_PYTHON" -B "$PACKAGE_TESTS/commands.py" demo.h5
"$SYNFIRE_PYTHON" -B "$SYNFIRE_SOURCE/examples/cl1_loop.py" --measure 200 >out
grep -q "^20 chains answered, 0 missed; 0 artefacts of stimuli answered$" out
if "$SYNFIRE_PYTHON" -m mypy --version >/dev/null 2>&1; then
    cp -r "$SYNFIRE_SOURCE"/python/{pyproject.toml,backend.py,declare.py} package
    (cd package && "$SYNFIRE_PYTHON" -m mypy --cache-dir=/dev/null)
else
    echo "skipped: no mypy"
fi
