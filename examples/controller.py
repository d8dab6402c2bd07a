#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Acts on one trigger of a live synfire run, and keeps it armed for as long as this program lives (docs/closed-loop.md).

    controller.py RESULTS CONTROL TOKEN_FILE TRIGGER [SECONDS]
    controller.py tcp://127.0.0.1:7710 tcp://127.0.0.1:7740 token stimulate 3

Arming is renewed three times in SECONDS: when this program dies or hangs, the trigger is disarmed by then. What the run
itself disarms, because it is behind or a source has a fault, and what somebody else does, stays disarmed: the program says
so and leaves.
"""
import json
import sys
import time

import msgpack
import zmq


def act(message):
    """What belongs to your experiment goes here, as the pulse of a stimulator; keep it short."""
    print(f"{message['name']} {message['occurrence']}: {message['age_ms']:.1f} ms after its last spike arrived", flush=True)


class Control:
    def __init__(self, context, endpoint, token_file):
        with open(token_file, encoding="utf-8") as file:
            self.token = file.readline().strip("\r\n")
        self.socket = context.socket(zmq.REQ)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.setsockopt(zmq.RCVTIMEO, 1000)
        self.socket.connect(endpoint)

    def ask(self, command, **rest):
        self.socket.send_json({"token": self.token, "command": command, **rest})
        answer = self.socket.recv_json()
        if not answer["ok"]:
            sys.exit("controller.py: " + answer["error"])
        return answer

    def armed(self, trigger):
        status = self.ask("status")["status"] or {"triggers": []}
        return any(one["armed"] for one in status["triggers"] if one["name"] == trigger)


def main():
    if len(sys.argv) not in (5, 6):
        sys.exit(__doc__)
    results, control, token_file, trigger, *seconds = sys.argv[1:]
    seconds = float(seconds[0]) if seconds else 3.0
    context = zmq.Context()
    control = Control(context, control, token_file)
    triggers = context.socket(zmq.SUB)
    triggers.connect(results)
    triggers.subscribe("trigger")
    control.ask("arm", trigger=trigger, seconds=seconds)
    due, was_armed = time.monotonic() + seconds / 3, False
    while True:
        if time.monotonic() >= due:
            control.ask("renew", trigger=trigger, seconds=seconds)  # arms nothing that was disarmed
            due = time.monotonic() + seconds / 3
            is_armed = control.armed(trigger)
            if was_armed and not is_armed:
                sys.exit(f"controller.py: {trigger} is not armed any more")
            was_armed = is_armed
        if not triggers.poll(max(0, (due - time.monotonic()) * 1000)):
            continue
        _, body = triggers.recv_multipart()
        message = json.loads(body) if body[:1] == b"{" else msgpack.unpackb(body)
        if message["name"] == trigger:
            act(message)


if __name__ == "__main__":
    try:
        main()
    except zmq.Again:
        sys.exit("controller.py: the run answers no more")
    except KeyboardInterrupt:
        pass
