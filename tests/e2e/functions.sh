# SPDX-License-Identifier: Apache-2.0
# What the test scripts share; `. "$E2E/functions.sh"`.

# Skips the test where CMake found no Python with h5py, msgpack and zmq; where it did, that is $SYNFIRE_PYTHON.
need_python() {
    [ -n "$SYNFIRE_PYTHON" ] && return
    skip "no python3 with the modules h5py, msgpack and zmq"
}

# Lays the Python package out on the libraries as built; its tests are in $PACKAGE_TESTS.
need_package() {
    need_python
    [ -z "$SYNFIRE_SANITIZE" ] || skip "a plain Python cannot load a library under a sanitizer"
    "$SYNFIRE_PYTHON" -B "$SYNFIRE_SOURCE/python/backend.py" package package
    export PYTHONPATH=$PWD/package SYNFIRE_LIBRARY=$SYNFIRE_BUILD/lib
    PACKAGE_TESTS=$SYNFIRE_SOURCE/tests/python
}

# CSV of episodes without the columns that need all spikes at once, which are empty of spikes read in pieces.
counted() {
    python3 -c '
import csv, sys
needs = {"bursts", "in_bursts", "reverse_count", "asymmetry"}
for row in csv.DictReader(sys.stdin):
    print({name: cell for name, cell in row.items() if name not in needs})'
}

# True where real data has this file or folder; else says what is skipped.
has_data() {
    [ -e "$SYNFIRE_DATA/$1" ] && return
    echo "no $SYNFIRE_DATA/$1"
    echo "skipped: no real data there (SYNFIRE_DATA names its folder)"
    return 1
}

# Skips the test, and says why.
skip() {
    echo "skipped whole: $1"
    exit 77
}

# Prints N free TCP ports of the loopback interface.
free_ports() {
    python3 - "$1" <<'PY'
import socket, sys
sockets = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in sockets:
    s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in sockets))
PY
}

# Tells receive.py at this port that no more OSC comes.
end_osc() {
    printf '/end\0\0\0\0,\0\0\0' >"/dev/udp/127.0.0.1/$1"
}

# wait_for WORDS FILE: until a line of the file has them, for minutes on a slow machine.
wait_for() {
    for _ in $(seq 3000); do
        grep -q -- "$1" "$2" 2>/dev/null && return
        sleep 0.1
    done
    echo "'$1' does not come in $2:"
    tail "$2"
    return 1
}

# Reads a JSON document without what differs from command line to command line, and from run to run.
results() {
    sed 's/,"provenance":.*//; s/"seconds":[^,}]*//g'
}

# check ASSERTIONS: Python over the JSON document in the file `out`, as `out`, which is as its schema says.
check() {
    PYTHONPATH=$E2E python3 -B -c "
import json, schema
out = schema.read('out')
$1"
}

# expect CODE WORDS COMMAND...: the command exits with the code, says the words in one line on stderr and prints nothing,
# or with --json the refusal.
expect() {
    local code=$1 words=$2 status=0
    shift 2
    "$@" >out 2>err || status=$?
    [ "$status" = "$code" ] || { echo "exit code $status, expected $code: $*"; cat err; return 1; }
    grep -qF -- "$words" err || { echo "'$words' is not in: $(cat err)"; return 1; }
    [ "$(wc -l <err)" = 1 ] || { echo "more than one line:"; cat err; return 1; }
    case " $* " in *" --json "*) python3 -B "$E2E/schema.py" refusal; return ;; esac
    [ ! -s out ] || { echo "something is printed:"; cat out; return 1; }
}

# Ends the test where the command succeeds. A bare `! command` ends nothing: bash -e passes it over.
must_fail() {
    if "$@"; then
        echo "succeeded, and should not: $*"
        return 1
    fi
}

# Installs what was built into the folder $1.
install_into() {
    cmake --install "$SYNFIRE_BUILD" --prefix "$PWD/$1" >/dev/null
}

# The same, with the tests' plugin for the CUDA plugin; with `none` for none.
install_with_plugin() { # FOLDER [none]
    install_into "$1"
    rm -f "$1"/lib*/synfire/libsynfire-cuda.so "$1"/lib/*/synfire/libsynfire-cuda.so
    [ "${2:-}" = none ] || add_plugin "$1"
}

add_plugin() {
    mkdir -p "$1/lib/synfire"
    cp "$SYNFIRE_BUILD/tests/libsynfire_test_backend.so" "$1/lib/synfire/libsynfire-cuda.so"
}
