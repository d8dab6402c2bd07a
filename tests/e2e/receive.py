#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Receives what a live run publishes: over ZeroMQ until its closing status message, over OSC until a message /end, which
who starts this sends (end_osc) when the run has ended: what the run sent lies before it.

receive.py ZMQ_ENDPOINT ZMQ_OUT OSC_PORT OSC_OUT

Writes the ZeroMQ messages as JSON lines, and the OSC messages as one JSON line per hop: its number and bounds from
/synfire/window and the counts from the /synfire/episode/count that follow it. OSC_OUT.sources gets a line for each
/synfire/source.
"""
import json
import socket
import struct
import sys
import threading

import msgpack
import zmq


def osc_words(packet):
    """Address and arguments of an OSC message of i, f and s."""
    def text(at):
        end = packet.index(b"\0", at)
        return packet[at:end].decode(), (end // 4 + 1) * 4

    address, at = text(0)
    types, at = text(at)
    arguments = []
    for kind in types[1:]:
        if kind == "s":
            value, at = text(at)
        else:
            value = struct.unpack_from(">i" if kind == "i" else ">f", packet, at)[0]
            at += 4
        arguments.append(value)
    return address, arguments


def receive_osc(port_socket, path, failed):
    hop = None
    with open(path, "w", encoding="utf-8") as out, open(path + ".sources", "w", encoding="utf-8") as sources:
        def finish():
            if hop is not None:
                out.write(json.dumps(hop) + "\n")

        while True:
            try:
                packet = port_socket.recv(65536)
            except socket.timeout:
                if failed.is_set():
                    break
                continue
            address, words = osc_words(packet)
            if address == "/end":
                break
            if address == "/synfire/window":
                finish()
                number, from_s, from_us, to_s, to_us = words
                hop = {"hop": number, "from_us": from_s * 10**6 + from_us, "to_us": to_s * 10**6 + to_us, "counts": {}}
            elif address == "/synfire/episode/count" and hop is not None:
                hop["counts"][words[0]] = words[1]
            elif address == "/synfire/source":
                print(*words, file=sources)
        finish()


def main():
    endpoint, zmq_path, osc_port, osc_path = sys.argv[1:]
    port_socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    port_socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    port_socket.bind(("127.0.0.1", int(osc_port)))
    port_socket.settimeout(0.3)
    failed = threading.Event()
    listener = threading.Thread(target=receive_osc, args=(port_socket, osc_path, failed))
    listener.start()
    subscriber = zmq.Context().socket(zmq.SUB)
    subscriber.setsockopt(zmq.RCVHWM, 0)
    subscriber.setsockopt(zmq.RCVTIMEO, 60000)
    subscriber.setsockopt(zmq.SUBSCRIBE, b"")
    subscriber.connect(endpoint)
    seen = {}
    try:
        with open(zmq_path, "w", encoding="utf-8") as out:
            while True:
                topic, body = subscriber.recv_multipart()
                message = msgpack.unpackb(body)
                name = topic.decode()
                if message["topic"] != name or message["seq"] != seen.get(name, 0) + 1:
                    sys.exit(f"{name}: sequence {message['seq']} after {seen.get(name, 0)}")
                seen[name] = message["seq"]
                out.write(json.dumps(message) + "\n")
                if name == "status" and message["last"]:
                    break
    except BaseException:
        failed.set()
        raise
    finally:
        listener.join()


main()
