#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks a live run over its control socket (docs/closed-loop.md).

  control.py ENDPOINT TOKEN_FILE status
  control.py ENDPOINT TOKEN_FILE arm [TRIGGER [SECONDS]]
  control.py ENDPOINT TOKEN_FILE renew [TRIGGER [SECONDS]]
  control.py ENDPOINT TOKEN_FILE disarm [TRIGGER]
  control.py ENDPOINT TOKEN_FILE mark TEXT
  control.py ENDPOINT TOKEN_FILE aggregate DENSITY [count|sum|avg|var [FROM [TO]]]
  control.py ENDPOINT TOKEN_FILE state DENSITY
  control.py ENDPOINT TOKEN_FILE start
  control.py ENDPOINT TOKEN_FILE reload
  control.py ENDPOINT TOKEN_FILE stop

`aggregate` and `state` print the answer as JSON; DENSITY is called as in the run's messages, 'isi A'. A run with keys is asked with `--keys MINE.key_secret ITS.key` first (docs/operations.md, Keys).
"""
import json
import sys


def main() -> int:
    words, keys = sys.argv[1:], None
    if words[:1] == ["--keys"] and len(words) > 2:
        keys, words = words[1:3], words[3:]
    if len(words) < 3:
        missing = ("ENDPOINT, `endpoint` of the run's `control`", "TOKEN_FILE, its `token_file`", "a command, such as status")
        sys.exit(f"{__doc__}\ncontrol.py: missing: {'; '.join(missing[len(words):])}")
    import zmq
    import zmq.auth
    endpoint, token_file, command, *rest = words
    try:
        with open(token_file, encoding="utf-8") as file:
            request = {"token": file.readline().strip("\r\n"), "command": command}
    except OSError as error:
        sys.exit(f"control.py: {token_file}: {error.strerror}: give the file that `token_file` of the run's `control` names")
    names = {"arm": ("trigger", "seconds"), "renew": ("trigger", "seconds"), "disarm": ("trigger",), "mark": ("text",),
             "aggregate": ("density", "op", "from", "to"), "state": ("density",)}.get(command, ())
    request.update(zip(names, rest))
    for number in {"seconds", "from", "to"} & set(request):
        request[number] = float(request[number])
    socket = zmq.Context().socket(zmq.REQ)
    socket.setsockopt(zmq.LINGER, 0)
    socket.setsockopt(zmq.RCVTIMEO, 5000)
    if keys is not None:
        socket.curve_publickey, socket.curve_secretkey = zmq.auth.load_certificate(keys[0])
        socket.curve_serverkey = zmq.auth.load_certificate(keys[1])[0]
    socket.connect(endpoint)
    socket.send_json(request)
    try:
        answer = socket.recv_json()
    except zmq.Again:
        sys.exit(f"control.py: nobody answers at {endpoint}")
    if not answer["ok"]:
        sys.exit("control.py: " + answer["error"])
    if command in ("aggregate", "state"):
        print(json.dumps(answer))
    if command != "status":
        return 0
    for trigger in (answer["status"] or {}).get("triggers", []):
        state = "armed" if trigger["armed"] else trigger["not_armed"]
        if trigger["armed"]:
            state += f" by {trigger['armed_by']}"
        if trigger["armed_s"] is not None:
            state += f" for {trigger['armed_s']:.0f} s"
        chance = trigger["chance_per_min"]
        print(f"{trigger['name']}: {state}; sent {trigger['sent']}, sham {trigger['sham']}, withheld "
              f"{trigger['withheld']} of {trigger['completed']}"
              + (f"; by chance {chance:.2f} a minute" if chance is not None else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
