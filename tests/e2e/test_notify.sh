# SPDX-License-Identifier: Apache-2.0
# What a manager of services hears of a run: that it is ready, lives, reads its configuration again, and stops.
. "$E2E/functions.sh"
need_python

"$SYNFIRE" simulate sim.h5 --preset sym26 --duration 600 --seed 5 --quiet >/dev/null
(umask 077 && echo 0123456789abcdef0123456789 >token)
cat >run.yaml <<YAML
sources: [{type: replay, recording: sim.h5, speed: 1}]
device: cpu
window: {length_s: 0.4, hop_s: 0.2}
mine: {every: 0}
significance: {kind: "off"}
graph: {enabled: false}
control: [{endpoint: "ipc://$PWD/control", token_file: token}]
YAML
cat >manager.py <<'MANAGER'
import os, signal, socket, subprocess, sys
name = sys.argv[1]
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.bind("\0" + name[1:] if name[0] == "@" else name)
manager.settimeout(60)
environment = {**os.environ, "NOTIFY_SOCKET": name, "WATCHDOG_USEC": "2000000"}
run = subprocess.Popen([os.environ["SYNFIRE"], "run", "run.yaml", "--quiet"], env=environment)
def await_(words):
    while True:
        heard = manager.recv(4096).decode()
        if heard.startswith(words):
            return heard
        assert heard == "WATCHDOG=1", heard
assert "STATUS=synfire, 1 sinks" in await_("READY=1")
for _ in range(2):
    await_("WATCHDOG=1")
control = [sys.executable, "-B", os.environ["E2E"] + "/../../examples/control.py", f"ipc://{os.getcwd()}/control", "token"]
subprocess.run([*control, "reload"], check=True)
kind, clock = await_("RELOADING=1").split("\n")
assert clock.startswith("MONOTONIC_USEC=") and int(clock[15:]) > 0, clock
await_("READY=1")
run.send_signal(signal.SIGTERM)
await_("STOPPING=1")
assert run.wait(60) == 0
MANAGER
"$SYNFIRE_PYTHON" -B manager.py "$PWD/manager"
"$SYNFIRE_PYTHON" -B manager.py "@synfire-test-$$"

# Nobody listens, or the name is none: the run goes on.
NOTIFY_SOCKET=/no/such/socket "$SYNFIRE" run --replay sim.h5 --speed max --duration 5 --quiet
NOTIFY_SOCKET=nothing WATCHDOG_USEC=x "$SYNFIRE" run --replay sim.h5 --speed max --duration 5 --quiet

# systemd knows every key of the unit.
if command -v systemd-analyze >/dev/null; then
    sed "s|/usr/bin/env synfire|$SYNFIRE|" "$SYNFIRE_SOURCE/scripts/systemd/synfire@.service" >synfire@test.service
    systemd-analyze verify "$PWD/synfire@test.service" 2>verify || true
    must_fail grep -E "synfire@test.service.*(Unknown|Failed to parse)" verify
fi
