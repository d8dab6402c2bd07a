#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what a live synfire run publishes: triggers the moment they come, and the top episodes of every window.

    examples/subscriber.py                              # a run on this machine, on the default port
    examples/subscriber.py tcp://lab-pc:7710 --top 3

It needs pyzmq and msgpack (Debian and Ubuntu: python3-zmq, python3-msgpack). docs/messages.md lists every field.
"""
import argparse
import json
import sys

import msgpack
import zmq
import zmq.auth

VERSION = 3  # of the messages this program understands


def episode_text(episode):
    """A -(0.5,5]-> B, as synfire itself writes it."""
    text = episode["names"][0]
    for name, (low, high) in zip(episode["names"][1:], episode["delays_ms"]):
        text += f" -({low:g},{high:g}]-> {name}"
    return text


class Printer:
    def __init__(self, top):
        self.top = top
        self.names = {}  # episode id -> text, learned from the windows
        self.last_seq = {}  # topic -> seq of its newest message
        self.lost = 0
        self.state = {}

    def message(self, topic, message):
        """Prints one message; returns False once the run has ended."""
        if message["v"] != VERSION:
            sys.exit(f"these messages are of version {message['v']}, this program knows version {VERSION}")
        missed = message["seq"] - self.last_seq.get(topic, message["seq"] - 1) - 1
        if missed > 0:
            print(f"missed {missed} messages of topic {topic}: this program is too slow")
        self.last_seq[topic] = message["seq"]
        if topic == "episodes":
            self.window(message)
        elif topic == "trigger":
            self.trigger(message)
        elif topic == "status":
            self.states(message)
            self.losses(message)
            if message["last"]:
                print("the run has ended")
                return False
        return True

    def window(self, message):
        partial = ", partial" if message["partial"] else ""
        print(
            f"window {message['from_s']:.3f}-{message['to_s']:.3f} s{partial}: "
            f"{message['spikes']} spikes, {len(message['episodes'])} episodes"
        )
        for episode in message["episodes"]:
            self.names[episode["id"]] = episode_text(episode)
        # The most interesting first: those that occur most often beyond what independent units would give.
        ranked = sorted(message["episodes"], key=lambda episode: (episode["expected"] or 0) - episode["count"])
        for episode in ranked[: self.top]:
            expected = f" ({episode['expected']:.1f} expected)" if episode["expected"] is not None else ""
            test = f"q {episode['q']:.2g}" if episode["q"] is not None else f"no q: {episode['not_tested']}"
            print(f"  {episode['count']:6d}{expected}  {episode_text(episode)}  {test}")

    def trigger(self, message):
        what = self.names.get(message["id"], f"episode {message['id']}")
        age = f", {message['age_ms']:.2f} ms old" if message["age_ms"] is not None else ""
        print(f"trigger {message['time_ns'] / 1e9:.6f} s: {what}, number {message['occurrence']}{age}")

    def states(self, message):
        for source in message["sources"]:
            state = source["state"]
            if state != self.state.get(source["name"], "live"):
                silent = f", nothing for {source['silent_ms'] / 1e3:.0f} s" if state in ("stalled", "lost") else ""
                print(f"source {source['name']} is {state}{silent}")
            self.state[source["name"]] = state

    def losses(self, message):
        causes = ("late", "out_of_range", "dropped", "leaps", "gap_lost", "malformed")
        lost = sum(source[cause] for source in message["sources"] for cause in causes)
        if lost > self.lost:
            print(f"the run lost {lost - self.lost} more spikes or packets at its sources")
        self.lost = lost


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("endpoint", nargs="?", default="tcp://127.0.0.1:7710", help="what the run's zmq sink is bound to")
    parser.add_argument("--keys", nargs=2, metavar=("MINE.key_secret", "ITS.key"), help="of a sink with keys")
    parser.add_argument("--top", type=int, default=10, help="episodes to print of each window (10)")
    parser.add_argument("--count", type=int, help="stop after so many messages")
    options = parser.parse_args()

    socket = zmq.Context().socket(zmq.SUB)
    if options.keys is not None:  # docs/operations.md, Keys
        socket.curve_publickey, socket.curve_secretkey = zmq.auth.load_certificate(options.keys[0])
        socket.curve_serverkey = zmq.auth.load_certificate(options.keys[1])[0]
    socket.connect(options.endpoint)
    socket.subscribe("")  # all topics; "trigger" would be the triggers alone
    printer = Printer(options.top)
    received = 0
    while options.count is None or received < options.count:
        topic, body = socket.recv_multipart()
        message = json.loads(body) if body.startswith(b"{") else msgpack.unpackb(body)
        received += 1
        going_on = printer.message(topic.decode(), message)
        sys.stdout.flush()
        if not going_on:
            break


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
