# SPDX-License-Identifier: Apache-2.0
# HDF5 files are read by a program of their own: what is said when that is missing, foreign, killed or broken; what it
# inherits and may take; that it ends with what started it; and the files that broke the library.
. "$E2E/functions.sh"
install_into tree
built=$SYNFIRE SYNFIRE=$PWD/tree/bin/synfire reader=tree/libexec/synfire/synfire-read
$SYNFIRE simulate rec.h5 --unit-count 4 --rate 20 --duration 5 --chain 'A -(4,6]-> B' >/dev/null
$SYNFIRE mine rec.h5 --delay 4:6 --min-count 1 --occurrences found.h5 >/dev/null
$SYNFIRE graph rec.h5 --delay 4:6 --min-count 1 --out graph.h5 >/dev/null
printf 'a,1\nb,2\n' >text.csv

# By hand it says what it is for, and reads nothing.
expect 64 "synfire starts this program" "$reader" 1 recording rec.h5
expect 64 "synfire starts this program" "$reader"

# Missing: one sentence, for all that is HDF5; texts need no such program.
mv "$reader" real
expect 69 "rec.h5: cannot be read: the program synfire-read, which reads HDF5 files, is not installed" $SYNFIRE info rec.h5
expect 69 "is not installed beside synfire" $SYNFIRE bfs graph.h5 --source A
expect 69 "is not installed beside synfire" $SYNFIRE run --replay rec.h5 --speed max
expect 69 "is not installed beside synfire" $SYNFIRE play rec.h5
$SYNFIRE info text.csv | grep -q "units  *2"

# A caller's limit on the size of files is named.
mv real "$reader"
( ulimit -f 4; expect 69 "the limit on the size of files, 4 KiB" $SYNFIRE info rec.h5 )
mv "$reader" real

# In its place programs that do what a broken one might.
reads_by() {
    printf '#!/bin/sh\n%s\n' "$1" >"$reader"
    chmod +x "$reader"
}
printf 'synfire parcel 0 0.0.0' >other
head -c 2000 /dev/zero >>other
reads_by "cat '$PWD/other' >&3"
expect 69 "of another version of synfire: install both together" $SYNFIRE info rec.h5
reads_by "head -c 5000 /dev/urandom >&3"
expect 65 "rec.h5: damaged: what was read of it makes no sense" $SYNFIRE info rec.h5
reads_by "exit 0"
expect 65 "makes no sense" $SYNFIRE info rec.h5
reads_by "exit 3"
expect 69 "ended without an answer, with exit code 3" $SYNFIRE info rec.h5
reads_by "echo a library speaks; exit 3"
expect 69 "ended without an answer" $SYNFIRE info rec.h5
if [ -z "$SYNFIRE_SANITIZE" ]; then # whose reports are let through
    reads_by "echo a library complains >&2; exit 3"
    expect 69 "ended without an answer" $SYNFIRE info rec.h5
fi
reads_by 'kill -SEGV $$'
expect 65 "damaged: the HDF5 library crashes on it (SIGSEGV)" $SYNFIRE info rec.h5
reads_by 'kill -KILL $$'
expect 74 "rec.h5: reading it was ended from outside (SIGKILL)" $SYNFIRE info rec.h5
printf 'no program' >"$reader"
expect 69 "cannot be read: cannot start" $SYNFIRE info rec.h5

# One that does not come back: a signal ends it and the command at once, and so does being killed. One that works for ever is
# ended, also where it has set itself no limit.
wait_until() { # the command succeeds; for minutes on a slow machine
    for _ in $(seq 18000); do
        "$@" && return
        sleep 0.01
    done
    echo "waited in vain: $*"
    return 1
}
reads_by 'echo $$ >reading; exec sleep 300'
gone() { ! kill -0 "$(cat reading)" 2>/dev/null; }
stopped() { # SIGNAL EXPECTED-CODE: to a command that waits; background jobs of a script would ignore SIGINT
    rm -f reading
    local code=0
    python3 - "$1" "$SYNFIRE" <<'PY' || code=$?
import os, signal, subprocess, sys, time
p = subprocess.Popen([sys.argv[2], "play", "rec.h5"],
                     preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), stderr=subprocess.DEVNULL)
while not os.path.exists("reading") or not open("reading").read():
    time.sleep(0.01)
p.send_signal(int(sys.argv[1]))
sys.exit(p.wait(120))
PY
    [ $code = "$2" ] || { echo "exit code $code after signal $1, expected $2"; return 1; }
    wait_until gone
}
stopped 2 130
stopped 15 143
rm -f reading
$SYNFIRE info rec.h5 >out 2>err &
wait_until test -s reading
kill -KILL "$(cat reading)"
code=0
wait $! || code=$?
[ $code = 74 ]
grep -q "reading it was ended from outside (SIGKILL)" err
[ "$(wc -l <err)" = 1 ]
reads_by 'echo $$ >reading; while :; do :; done'
expect 65 "reading it does not end" $SYNFIRE info rec.h5
wait_until gone

# What the real one inherits: nothing to read, nowhere to print, the parcel, the pipe and the file; no signal blocked.
# It dies with the command, however that dies. Stopped as soon as it is seen, it cannot end by itself.
cp real "$reader"
python3 - "$SYNFIRE" "${SYNFIRE_SANITIZE:-no}" <<'PY'
import os, signal, subprocess, sys, time

def children(pid):
    try:
        return [int(c) for c in open(f"/proc/{pid}/task/{pid}/children").read().split()]
    except OSError:
        return []

def program(pid):
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return None

def files_of(pid):
    found = {}
    for fd in os.listdir(f"/proc/{pid}/fd"):
        found[int(fd)] = os.readlink(f"/proc/{pid}/fd/{fd}")
    return found

def state(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "gone"

def catch(command):
    """The reading program, stopped while it has the file open, or None where it was done too soon."""
    while command.poll() is None:
        for child in children(command.pid):
            if program(child) != "synfire-read":
                continue
            os.kill(child, signal.SIGSTOP)
            while state(child) not in ("T", "Z", "gone"):
                time.sleep(0.0001)
            if state(child) == "T" and any(where.endswith("rec.h5") for where in files_of(child).values()):
                return child
            os.kill(child, signal.SIGCONT)

leak = os.open("text.csv", os.O_RDONLY)
caught = None
for attempt in range(200):
    command = subprocess.Popen([sys.argv[1], "info", "rec.h5"], pass_fds=[leak], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    caught = catch(command)
    if caught is not None:
        break
else:
    sys.exit("the reading program was never seen at work")
files = files_of(caught)
expected = {0: "/dev/null", 1: "/dev/null", 3: "/memfd:synfire-parcel (deleted)"}
assert all(files[fd] == where for fd, where in expected.items()), files
assert sys.argv[2] != "no" or files[2] == "/dev/null", files
assert files[4].startswith("pipe:") and files[5].endswith("rec.h5") and len(files) == 6, files
status = dict(line.split(":\t", 1) for line in open(f"/proc/{caught}/status").read().splitlines() if ":\t" in line)
assert int(status["SigBlk"], 16) == 0, status
limits = open(f"/proc/{caught}/limits").read().splitlines()
limit = {line[:26].strip(): line[26:].split()[0] for line in limits[1:]}
assert limit["Max core file size"] == "0" and limit["Max cpu time"] == "5", limits
assert limit["Max file size"] != "unlimited", limits
assert sys.argv[2] != "no" or limit["Max address space"] != "unlimited", limits
os.kill(command.pid, signal.SIGKILL)
command.wait()
for _ in range(2000):
    if state(caught) in ("gone", "Z"):
        sys.exit(0)
    time.sleep(0.01)
sys.exit("the reading program outlived the command")
PY

# More than a file of its length may take: bytes that become times of eight bytes each. Neither process takes 256 MiB.
need_python
takes_little() { # CODE WORDS COMMAND...: as expect, and the largest process stays under 256 MiB
    local code=$1 words=$2
    shift 2
    expect "$code" "$words" python3 -c '
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
assert peak < 256 * 1024, f"{peak} kB"
sys.exit(code)' "$@"
}
if [ -z "$SYNFIRE_SANITIZE" ]; then # which have no limit on addresses
    "$SYNFIRE_PYTHON" - <<'PY'
import h5py, numpy
with h5py.File("zeros.h5", "w") as file:
    file["ballast"] = numpy.random.default_rng(1).integers(0, 256, 1_200_000, dtype="u1")
    count = 36_000_000
    spikes = file.create_dataset("spikes", (count,), "u1", chunks=(1_000_000,), compression="gzip")
    for i in range(0, count, 1_000_000):
        spikes[i:i + 1_000_000] = numpy.zeros(1_000_000, "u1")
    file["sCount"] = numpy.array([count])
PY
    takes_little 65 "expected no more of one of its length" $SYNFIRE info zeros.h5
fi

# Files that broke the library, in the ways that read files: one sentence each (and a report, where a sanitizer looks on).
if [ -n "$SYNFIRE_SANITIZE" ]; then
    echo "skipped: a program under a sanitizer takes more memory than is allowed here"
    exit 0
fi
has_data hostile || exit 0
hostile=$SYNFIRE_DATA/hostile
takes_little 65 "endless-loop.nwb: this HDF5 file is damaged" $built info "$hostile/endless-loop.nwb"
takes_little 65 "segfault.nwb: this HDF5 file is damaged" $built info "$hostile/segfault.nwb"
takes_little 65 "this HDF5 file is damaged" $built mine "$hostile/segfault.nwb" --delay 4:6 --min-count 1
takes_little 65 "this HDF5 file is damaged" $built bfs "$hostile/segfault.nwb" --source a
takes_little 65 "this HDF5 file is damaged" $built play "$hostile/segfault.nwb"
takes_little 65 "this HDF5 file is damaged" $built run --replay "$hostile/segfault.nwb" --speed max
cat >run.yaml <<YAML
sources:
  - type: replay
    recording: $hostile/segfault.nwb
    speed: max
YAML
takes_little 65 "this HDF5 file is damaged" $built run run.yaml
