# SPDX-License-Identifier: Apache-2.0
# Files of Blackrock and Ripple, of each version, written by a writer of its own: spikes, units, markers and times are what
# was written, and what Neo reads where it is installed.
. "$E2E/functions.sh"
need_python
"$SYNFIRE_PYTHON" -B "$E2E/nev.py" make .
if "$SYNFIRE_PYTHON" -c "import neo" 2>/dev/null; then
    "$SYNFIRE_PYTHON" -B -W ignore "$E2E/nev.py" neo .
else
    echo "Neo is not installed: what it reads is not compared"
fi
"$SYNFIRE_PYTHON" -B "$E2E/nev.py" check .
