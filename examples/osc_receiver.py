#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what a live synfire run sends over OSC: triggers the moment they come, and the top episodes of every window.

    examples/osc_receiver.py                            # on this machine, on the default port
    examples/osc_receiver.py 0.0.0.0:7720 --top 3       # for a run on another machine

It needs nothing but Python, and shows all there is to reading OSC. docs/messages.md lists every address.
"""
import argparse
import socket
import struct
import sys


def read_string(packet, at):
    """A string ends with a zero byte and is padded to a multiple of four."""
    end = packet.index(b"\0", at)
    return packet[at:end].decode(), (end + 4) & ~3


def read_message(packet):
    """The address and the values of one packet; synfire sends the types i, f and s only."""
    address, at = read_string(packet, 0)
    types, at = read_string(packet, at)
    values = []
    for kind in types[1:]:
        if kind == "s":
            value, at = read_string(packet, at)
        else:
            (value,) = struct.unpack_from(">i" if kind == "i" else ">f", packet, at)
            at += 4
        values.append(value)
    return address, values


class Printer:
    def __init__(self, top):
        self.top = top
        self.hop = None
        self.counts = []  # (count, id) of the window that is arriving
        self.q = {}  # by id, where it was tested

    def message(self, address, values):
        if address == "/synfire/window":
            self.finish_window()
            self.window(*values)
        elif address == "/synfire/episode/count":
            identity, count, _ = values  # the third is p, -1 where it was not computed
            self.counts.append((count, identity))
        elif address == "/synfire/episode/significance":
            identity, _, q, _ = values  # p and the age of it in seconds are the others
            self.q[identity] = f"  q {q:.2g}"
        elif address == "/synfire/trigger":
            identity, seconds, microseconds = values
            print(f"trigger {seconds}.{microseconds:06d} s: episode {identity}")

    def window(self, hop, from_s, from_us, to_s, to_us):
        if self.hop is not None and hop > self.hop + 1:
            print(f"missed {hop - self.hop - 1} windows: UDP may lose packets")
        self.hop = hop
        print(f"window {from_s}.{from_us:06d}-{to_s}.{to_us:06d} s (hop {hop})")

    def finish_window(self):
        for count, identity in sorted(self.counts, key=lambda item: -item[0])[: self.top]:
            print(f"  {count:6d}  episode {identity}{self.q.get(identity, '')}")
        self.counts = []
        self.q = {}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address", nargs="?", default="127.0.0.1:7720", help="HOST:PORT to listen on; port 0: any free one")
    parser.add_argument("--top", type=int, default=10, help="episodes to print of each window (10)")
    parser.add_argument("--count", type=int, help="stop after so many messages")
    options = parser.parse_args()

    host, _, port = options.address.rpartition(":")
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        receiver.bind((host, int(port)))
    except (OSError, ValueError) as error:
        sys.exit(f"cannot listen on {options.address}: {error}")
    print("listening on {}:{}".format(*receiver.getsockname()), flush=True)
    printer = Printer(options.top)
    received = 0
    while options.count is None or received < options.count:
        printer.message(*read_message(receiver.recv(65536)))
        received += 1
        sys.stdout.flush()
    printer.finish_window()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
