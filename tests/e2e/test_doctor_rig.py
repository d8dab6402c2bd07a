# SPDX-License-Identifier: Apache-2.0
"""synfire doctor RIG: what it says of rigs that send, of one that refuses, is silent or closes at once, and of what is none of
the protocol."""
import contextlib
import os
import socket
import subprocess
import threading
import time

import command
import schema


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def endpoint(port):
    return f"tcp://127.0.0.1:{port}"


@contextlib.contextmanager
def player(protocol, *options):
    """The port of a player of sim.h5, which goes on until the end of the block."""
    port = free_port()
    process = subprocess.Popen([os.environ["SYNFIRE"], "play", "sim.h5", "--protocol", protocol, "--to", endpoint(port), "--quiet",
                                *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield port
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def server(serve):
    """The port of a server whose connections are given to `serve`, each in its thread."""
    listener = socket.create_server(("127.0.0.1", 0))

    def hold(peer):
        with contextlib.suppress(OSError):
            serve(peer)
        peer.close()

    def accept():
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=hold, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.close()


class Silent:
    """A rig that takes connections, keeps what it is sent, and says nothing."""

    def __init__(self):
        self.accepted, self.got = 0, b""

    def __call__(self, peer):
        self.accepted += 1
        while data := peer.recv(100):
            self.got += data


def close(peer):
    """A rig that has a client already."""


def send_something_else(peer):
    while True:
        peer.sendall(b"HTTP/1.1 " * 7000)


class Doctor(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--unit-count", 8, "--rate", 40, "--duration", 20, "--seed", 3, "--quiet")

    def asked(self, rig, place, *options):
        """What doctor says: its exit code, its checks by their names."""
        done = self.run_command("doctor", rig, "--endpoint", place, "--json", *options)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        said = schema.held(schema.parse(done.stdout))
        self.assertEqual(done.returncode, 0 if said["ok"] else 1)
        return {check["name"]: check for check in said["checks"]}

    def says(self, check, level, detail, advice=""):
        self.assertEqual(check["level"], level, check)
        self.assertIn(detail, check["detail"])
        self.assertIn(advice, check["advice"] or "")

    def listened(self, rig, *options):
        """What doctor says of a player once it has heard enough to time it: a busy computer needs longer to start one."""
        with player(rig, "--loop") as port:
            for listen in (6, 20, 60):
                checks = self.asked(rig, endpoint(port), "--listen", listen, *options)
                if "pace" in checks and "not measured" not in checks["pace"]["detail"]:
                    break
        return checks

    def test_rigs_that_send_are_well(self):
        for rig, rate_hz in ("intan", 30000), ("open-ephys", 30000), ("maxwell", 20000):
            with self.subTest(rig=rig):
                checks = self.listened(rig)
                for name, check in checks.items():
                    self.assertTrue(check["ok"] or name == "pace", check)  # pace: of a player on a busy computer
                self.says(checks["reach"], "good", "it sends")
                self.says(checks["stream"], "good", "")
                self.assertNotIn(" 0 spikes", checks["stream"]["detail"])
                self.assertTrue(checks["units"]["detail"].startswith("8: "), checks["units"])
                self.says(checks["losses"], "good", " 0 malformed")
                self.assertNotIn("not measured", checks["pace"]["detail"])
                self.assertIn(f"in each second, of {rate_hz} samples;", checks["pace"]["detail"])
                self.assertIn("buffers", checks)

    def test_a_rate_that_is_not_the_rigs_is_told_by_its_clock(self):
        checks = self.listened("intan", "--set", "sources.0.sample_rate_hz=60000")
        self.says(checks["pace"], "bad", "", "sample_rate_hz")

    def test_where_nobody_listens_it_says_what_to_press(self):
        place = endpoint(free_port())
        for rig, advice in ("intan", "Spike Output"), ("open-ephys", "ZMQ Interface"):
            with self.subTest(rig=rig):
                checks = self.asked(rig, place, "--listen", 3)
                self.says(checks["reach"], "bad", "refused", advice)
                self.assertNotIn("stream", checks)

    def test_a_silent_rig_is_asked_for_nothing_by_one_connection(self):
        rig = Silent()
        with server(rig) as port:
            checks = self.asked("intan", endpoint(port), "--listen", 1.5)  # a second connection is tried after 2 s of silence
        self.says(checks["reach"], "good", "connects")
        self.says(checks["stream"], "bad", "silent", "press Run in RHX")
        self.assertEqual((rig.got, rig.accepted), (b"", 1))  # such a rig may have room for one client

    def test_what_does_not_greet_speaks_no_zeromq(self):
        with server(Silent()) as port:
            checks = self.asked("open-ephys", endpoint(port), "--listen", 3)
        self.says(checks["reach"], "bad", "does not speak ZeroMQ")

    def test_a_server_that_sends_nothing_yet_answers(self):
        with player("maxwell", "--subscribers", "9") as port:
            for _ in range(1200):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.05)
            checks = self.asked("maxwell", endpoint(port), "--listen", 3)
        self.says(checks["reach"], "good", "ZeroMQ answers")
        self.says(checks["stream"], "bad", "", "routing in MaxLab Live")

    def test_a_host_without_an_address_is_told(self):
        checks = self.asked("intan", "tcp://nosuch.invalid:5002", "--listen", 3)
        self.says(checks["reach"], "bad", "", "correct the endpoint")

    def test_rhx_is_asked_for_its_rate(self):
        for answer, level, advice in ((b"Return: SampleRateHertz 20000", "bad", "set sample_rate_hz: 20000"),
                                      (b"Return: SampleRateHertz 30000", "good", ""), (b"\xff" * 100000, "advice", "")):
            asked = []

            def reply(peer):
                asked.append(peer.recv(100))
                peer.sendall(answer)

            with self.subTest(level=level), server(Silent()) as port, server(reply) as commands:
                checks = self.asked("intan", endpoint(port), "--listen", 3, "--ask", endpoint(commands))
                self.says(checks["rate"], level, "", advice)
                self.assertEqual(asked, [b"get sampleratehertz"])

    def test_a_rig_that_closes_at_once_has_another_client(self):
        with server(close) as port:
            for rig in ("intan", "event-broadcaster"):
                with self.subTest(rig=rig):
                    checks = self.asked(rig, endpoint(port), "--listen", 3)
                    self.says(checks["reach"], "bad", "closes at once", "other client")
                    self.assertNotIn("stream", checks)

    def test_what_is_none_of_the_protocol_is_told(self):
        with server(send_something_else) as port:
            checks = self.asked("intan", endpoint(port), "--listen", 3)
        self.says(checks["stream"], "bad", "is no stream of Intan RHX")

    def test_a_port_that_another_program_shares_is_told(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            other.bind(("127.0.0.1", 0))
            checks = self.asked("blackrock", f"udp://127.0.0.1:{other.getsockname()[1]}", "--listen", 3)
        self.says(checks["sharing"], "advice", "another program")
        self.says(checks["stream"], "bad", "", "Central")
        self.assertIn("of 33554432 bytes", checks["buffer"]["detail"])

    def test_people_read_a_line_of_each_check(self):
        done = self.run_command("doctor", "intan", "--endpoint", endpoint(free_port()), "--listen", 3)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^! *reach .*refused")

    def test_options_that_do_not_go_together_are_refused(self):
        self.refuses(64, "is no rig: expected one of", "doctor", "nonsense")
        self.refuses(64, "is for --loop", "doctor", "intan", "--pulses", 3)
        self.refuses(64, "is for a rig", "doctor", "--listen", 3)
        self.refuses(64, "is for intan", "doctor", "maxwell", "--ask", "tcp://127.0.0.1:5000")
        self.refuses(64, "does not go with a rig", "doctor", "intan", "--folder", ".")
        self.refuses(78, "there is no key", "doctor", "intan", "--set", "sources.0.nothing=1")


if __name__ == "__main__":
    command.main()
