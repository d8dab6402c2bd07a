# SPDX-License-Identifier: Apache-2.0
# What each part of a report holds for a spike, beside the 16 bytes of the recording: a few numbers and no lists of lists.
. "$E2E/functions.sh"

need_python
[ -z "$SYNFIRE_SANITIZE" ] || skip "a sanitizer holds memory of its own"

# The most memory of a command, in bytes; the child that reads a file is one of its own.
memory() {
    $SYNFIRE_PYTHON - $SYNFIRE "$@" <<'END'
import os
import subprocess
import sys

program = subprocess.Popen(sys.argv[1:] + ["--quiet"], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(program.pid, 0)
sys.exit(1) if status else print(used.ru_maxrss * 1024)
END
}

for seconds in 100 300; do
    $SYNFIRE simulate $seconds.h5 --unit-count 100 --rate 100 --duration $seconds --seed 5 --quiet >/dev/null
done

# By how much a command's memory grows with the spikes, of which there are two million more.
expect_a_spike() {
    most=$1
    shift
    kind=$1
    shift
    few=$(memory plot $kind 100.h5 "$@" --out few.svg)
    many=$(memory plot $kind 300.h5 "$@" --out many.svg)
    grown=$(((many - few) / 2000000))
    [ $grown -le $most ] || {
        echo "plot $kind: $grown bytes a spike, expected at most $most"
        exit 1
    }
}

expect_a_spike 60 map
expect_a_spike 42 intervals
expect_a_spike 64 tiling
