# SPDX-License-Identifier: Apache-2.0
"""Memory has bounds that a sender cannot move, however large its frames are, however many of them wait, and when a message never
ends; where descriptors run out there is a sentence, where libzmq would abort; and what others could reach is bound only on demand."""
import contextlib
import fcntl
import os
import pathlib
import resource
import signal
import socket
import struct
import time
import unittest

import command
import wire

MORE, LONG, COMMAND = 1, 2, 4
MIB = 1 << 20
SIOCGIFADDR = 0x8915


def zmtp(flags, body):
    return struct.pack(">BQ", flags | LONG, len(body)) + body


def greet(peer):
    """What a publisher says first by ZMTP 3.0, here without ZeroMQ, which would not send what follows."""
    peer.sendall(b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32))
    ready = b"\x05READY" + b"\x0bSocket-Type" + struct.pack(">I", 3) + b"PUB"
    peer.sendall(bytes([COMMAND, len(ready)]) + ready)
    time.sleep(0.3)  # it subscribes
    peer.sendall(zmtp(0, wire.frame(wire.HELLO, 7, 0, 0, wire.hello("A"))))


def too_long(_):
    """A frame longer than any may be."""
    return zmtp(0, bytes(100_000_000))


def full_of_spikes(number):
    """A frame as long as it may be."""
    count = (16 * MIB - 40) // 16
    return zmtp(0, wire.frame(wire.DATA, 7, number, 0, struct.pack("<II", count, 0) + bytes(16) * count))


def without_end(_):
    """A part of a message that never ends."""
    return zmtp(MORE, bytes(1_000_000))


def has_address(interface):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker, contextlib.suppress(OSError):
        return bool(fcntl.ioctl(asker, SIOCGIFADDR, struct.pack("256s", interface.encode())))
    return False


def send(listener, frame, total):
    """Sends as fast as it can to one who connects, at most five times; how often."""
    sent = connections = 0
    listener.settimeout(300)  # until the run has begun
    while sent < total and connections < 5:
        try:
            peer, _ = listener.accept()
        except TimeoutError:
            break
        connections += 1
        listener.settimeout(30)
        peer.settimeout(3)  # one who takes nothing for so long is bounded
        with peer:
            try:
                greet(peer)
                number = 1
                while sent < total:
                    part = frame(number)
                    peer.sendall(part)
                    number += 1
                    sent += len(part)
            except TimeoutError:
                break
            except OSError:
                pass
    return connections


class Memory(command.Test):
    """Of a run that takes nothing, since its subscriber never comes, or all that comes."""

    def assert_bounded(self, most_mib, frame, total, subscribers=1):
        """What the run says; how often the sender was connected."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            out, = command.free_ports(1)
            pathlib.Path("run.yaml").write_text(f"""\
sources: [{{type: zmq, endpoint: "tcp://127.0.0.1:{listener.getsockname()[1]}", timeout_s: 10}}]
mine: {{every: 0}}
sinks: [{{type: zmq, endpoint: "tcp://127.0.0.1:{out}", wait_subscribers: {subscribers}}}]
""")
            run = self.begin("run", "run", "run.yaml", "--quiet")
            connections = send(listener, frame, total)
        run.send_signal(signal.SIGINT)
        _, status, used = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
        self.assertGreaterEqual(run.returncode, 0, run.said())
        self.assertLess(used.ru_maxrss // 1024, most_mib)
        return run.err.read_text(), connections

    @unittest.skipIf(command.SANITIZED, "a sanitizer takes memory of its own")
    def test_frames_longer_than_any_may_be(self):
        told, connections = self.assert_bounded(200, too_long, 3_000_000_000, subscribers=0)
        self.assertIn("longer than 16 MiB", told)
        self.assertGreater(connections, 1)  # it is heard again

    @unittest.skipIf(command.SANITIZED, "a sanitizer takes memory of its own")
    def test_frames_as_long_as_they_may_be_which_wait(self):
        self.assert_bounded(700, full_of_spikes, 2_000_000_000)

    @unittest.skipIf(command.SANITIZED, "a sanitizer takes memory of its own")
    def test_a_message_without_end(self):
        told, _ = self.assert_bounded(700, without_end, 1_500_000_000)
        self.assertIn("cut off: it sent 384 MiB that make no frame", told)


class Bound(command.Test):
    """What a run, a recorder and a player open."""

    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--preset", "sym26", "--duration", 2, "--quiet")

    def setUp(self):
        self.port, out = command.free_ports(2)
        pathlib.Path("run.yaml").write_text(f"""\
sources: [{{type: zmq, endpoint: "tcp://127.0.0.1:{self.port}", timeout_s: 10}}]
mine: {{every: 0}}
sinks: [{{type: zmq, endpoint: "tcp://127.0.0.1:{out}", wait_subscribers: 1}}]
""")

    @contextlib.contextmanager
    def files(self, most):
        """So many files may be open in what is started meanwhile."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    @unittest.skipIf(command.SANITIZED, "a sanitizer opens files of its own")
    def test_too_few_files_for_three_sinks_have_a_sentence(self):
        with self.files(24):
            self.refuses(69, "`ulimit -n 64`", "run", "run.yaml", "--replay", "sim.h5", "--quiet", "--set", "sinks.1.type=hdf5",
                         "--set", "sinks.1.path=run.h5", "--set", "sinks.2.type=jsonl", "--set", "sinks.2.path=run.jsonl")
        self.assertFalse(pathlib.Path("run.h5").exists())

    def test_too_few_files_for_a_socket_have_a_sentence(self):
        with self.files(14):
            self.refuses(69, "open files and sockets, and of the 14 that are allowed", "run", "run.yaml", "--quiet")
            self.refuses(69, "open files and sockets", "record", "run.yaml", "out.h5", "--quiet")
            self.refuses(69, "open files and sockets", "play", "sim.h5", "--to", f"tcp://127.0.0.1:{self.port}", "--quiet")
        self.assertFalse(pathlib.Path("out.h5").exists())

    def play(self, address, *options):
        return ("play", "sim.h5", "--to", f"tcp://{address}:{self.port}", "--subscribers", 0, "--quiet", *options)

    def run_to(self, address, *options):
        return ("run", "--replay", "sim.h5", "--quiet", "--set", "sinks.0.type=zmq",
                "--set", f"sinks.0.endpoint=tcp://{address}:{self.port}", *options)

    def test_what_other_machines_could_reach_is_bound_only_where_that_is_said(self):
        for address in "*", "0.0.0.0", "[::]", "192.168.1.77":
            self.refuses(64, "say --insecure", *self.play(address))
            self.refuses(78, "say `insecure: true`", *self.run_to(address))
        self.synfire(*self.play("*", "--insecure", "--speed", "max"))
        self.synfire(*self.run_to("*", "--speed", "max", "--set", "sinks.0.insecure=true"))

    def test_the_name_of_an_interface_is_as_its_addresses(self):
        for interface in filter(has_address, (name for _, name in socket.if_nameindex())):
            with self.subTest(interface=interface):
                if interface == "lo":
                    self.synfire(*self.play("lo", "--speed", "max"))
                else:
                    self.refuses(64, "say --insecure", *self.play(interface, "--speed", "max"))


if __name__ == "__main__":
    command.main()
