# SPDX-License-Identifier: Apache-2.0
"""What a manager of services hears of a run: that it is ready, lives, reads its configuration again, and stops."""
import os
import re
import shutil
import signal
import socket
import subprocess
import unittest

import command

command.need_modules()

import live


class Manager:
    """Hears what is sent to the socket of this name."""

    def __init__(self, name):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.settimeout(300)
        self.socket.bind("\0" + name[1:] if name.startswith("@") else name)

    def hears(self, words):
        """The next message that begins so; before it only watchdogs are fed."""
        while True:
            heard = self.socket.recv(4096).decode()
            if heard.startswith(words):
                return heard
            assert heard == "WATCHDOG=1", f"{heard!r} instead of {words!r}"


class Notify(live.Controlled):
    @classmethod
    def prepare(cls):
        super().prepare()
        cls.synfire("simulate", "sim.h5", "--preset", "sym26", "--duration", 600, "--seed", 5, "--quiet")
        live.write_token("token")
        live.write("run.yaml", f"""\
sources: [{{type: replay, recording: sim.h5, speed: 1}}]
device: cpu
window: {{length_s: 0.4, hop_s: 0.2}}
mine: {{every: 0}}
significance: {{kind: "off"}}
graph: {{enabled: false}}
control: [{{endpoint: "{cls.socket}", token_file: token}}]
""")

    def assert_heard(self, name):
        manager = Manager(name)
        self.addCleanup(manager.socket.close)
        run = self.begin("run", "run", "run.yaml", "--quiet", environment={"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "2000000"})
        self.assertIn("STATUS=synfire, 1 sinks", manager.hears("READY=1"))
        for _ in range(2):
            manager.hears("WATCHDOG=1")
        self.control("reload")
        _, clock = manager.hears("RELOADING=1").split("\n")
        self.assertRegex(clock, "^MONOTONIC_USEC=[1-9][0-9]*$")
        manager.hears("READY=1")
        run.send_signal(signal.SIGTERM)
        manager.hears("STOPPING=1")
        run.end(0)

    def test_a_manager_at_a_path_hears_of_all_of_it(self):
        self.assert_heard(f"{os.getcwd()}/manager")

    def test_so_does_one_with_an_abstract_name(self):
        self.assert_heard(f"@synfire-test-{os.getpid()}")

    def test_a_run_goes_on_where_nobody_listens(self):
        words = ("run", "--replay", "sim.h5", "--speed", "max", "--duration", 5, "--quiet")
        self.synfire(*words, environment={"NOTIFY_SOCKET": "/no/such/socket"})
        self.synfire(*words, environment={"NOTIFY_SOCKET": "nothing", "WATCHDOG_USEC": "x"})  # which is no name

    @unittest.skipUnless(shutil.which("systemd-analyze"), "no systemd-analyze on PATH")
    def test_systemd_knows_every_key_of_the_unit(self):
        unit = (command.SOURCE / "scripts" / "systemd" / "synfire@.service").read_text()
        unit = unit.replace("/usr/bin/env synfire", os.environ["SYNFIRE"])
        for text, expected in (unit, []), (unit + "Nonsense=1\n", ["Nonsense"]):
            live.write("synfire@test.service", text)
            told = subprocess.run(["systemd-analyze", "verify", f"{os.getcwd()}/synfire@test.service"], capture_output=True, text=True,
                                  check=False).stderr
            self.assertNotRegex(told, "synfire@test.service.*Failed to parse")
            self.assertEqual(re.findall("synfire@test.service.*Unknown[^']*'([A-Za-z]+)'", told), expected, told)


if __name__ == "__main__":
    command.main()
