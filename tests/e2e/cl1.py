# SPDX-License-Identifier: Apache-2.0
"""A CL1's WebSocket in Python with sockets alone: nothing of synfire is used.

  cl1.py serve PORT      the scripted server of test_cortical_live.sh: prints what was sent, a line each, and `end`
  cl1.py listen PORT     a client of a player: prints what came, likewise
  cl1.py hostile PORT HOW  a server that answers as it should not
"""
import base64
import hashlib
import json
import os
import socket
import struct
import sys

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


def accept_of(key):
    return base64.b64encode(hashlib.sha1((key + GUID).encode()).digest()).decode()


def head(kind, size, mask, final=True):
    first = kind | (0x80 if final else 0)
    marked = 0x80 if mask else 0
    if size < 126:
        return struct.pack(">BB", first, marked | size)
    if size < 65536:
        return struct.pack(">BBH", first, marked | 126, size)
    return struct.pack(">BBQ", first, marked | 127, size)


class Peer:
    def __init__(self, connection, masks):
        self.connection, self.masks, self.kept = connection, masks, b""

    def take(self, count):
        while len(self.kept) < count:
            more = self.connection.recv(65536)
            if not more:
                raise EOFError
            self.kept += more
        taken, self.kept = self.kept[:count], self.kept[count:]
        return taken

    def head_of_http(self):
        while b"\r\n\r\n" not in self.kept:
            more = self.connection.recv(65536)
            if not more:
                raise EOFError
            self.kept += more
        lines, self.kept = self.kept.split(b"\r\n\r\n", 1)
        first, *fields = lines.decode().split("\r\n")
        return first, {name.lower(): value.strip() for name, value in (field.split(":", 1) for field in fields)}

    def frame(self):
        first, second = self.take(2)
        assert bool(second & 0x80) != self.masks, "masked as it should not be"
        size = second & 0x7F
        if size > 125:
            size = int.from_bytes(self.take(2 if size == 126 else 8), "big")
        mask = self.take(4) if second & 0x80 else bytes(4)
        return first & 15, bytes(byte ^ mask[i % 4] for i, byte in enumerate(self.take(size)))

    def put(self, kind, data=b"", pieces=1, between=None):
        """`pieces`: frames that a message is sent in, with `between` after each of them but the last."""
        data = data.encode() if isinstance(data, str) else data
        step = -(-len(data) // pieces) or 1
        parts = [data[at : at + step] for at in range(0, len(data), step)] or [b""]
        for i, part in enumerate(parts):
            mask = os.urandom(4) if self.masks else b""
            body = bytes(byte ^ mask[k % 4] for k, byte in enumerate(part)) if mask else part
            self.connection.sendall(head(kind if i == 0 else 0, len(part), mask, i + 1 == len(parts)) + mask + body)
            if between and i + 1 < len(parts):
                between()


def open_server(listener):
    """Takes a client in, as a CL1 does: the peer, and what it subscribed to."""
    connection, _ = listener.accept()
    peer = Peer(connection, False)
    first, fields = peer.head_of_http()
    assert first == "GET /_/ws/live_streaming HTTP/1.1" and fields["sec-websocket-version"] == "13", (first, fields)
    assert len(base64.b64decode(fields["sec-websocket-key"])) == 16 and fields["upgrade"] == "websocket"
    connection.sendall(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        f"Sec-WebSocket-Accept: {accept_of(fields['sec-websocket-key'])}\r\n\r\n").encode())
    timing(peer, "reset")
    subscribed = []
    while len(subscribed) < 4:
        kind, data = peer.frame()
        asked = json.loads(data)
        assert kind == TEXT and asked["action"] == "subscribe" and asked["type"] == "data_stream", asked
        subscribed.append(asked["name"])
    assert subscribed == ["score", 'a "b" \u00e9', "cl_stims", "cl_spikes"], subscribed
    return peer


def timing(peer, status, hz=25000, paused=False):
    peer.put(TEXT, json.dumps({"status": status, "frames_per_second": hz, "reset_visualiser": False, "is_paused": paused}))


def events(rows, troughs=None):
    count = len(rows)
    data = struct.pack(f"<{count}Q", *(frame for frame, _ in rows)) + bytes(channel for _, channel in rows)
    data += bytes(-count % 8)
    for trough in troughs or []:
        data += struct.pack("<75f", *[1.5] * 25, trough, *[3.25] * 49)
    return data


def say(kind, rows):
    for row in rows:
        print(kind, *row)


def put_spikes(peer, rows, pieces=1, between=None):
    troughs = [-10 - frame % 50 for frame, _ in rows]
    peer.put(TEXT, json.dumps({"status": "cl_spikes", "spike_count": len(rows)}))
    peer.put(BINARY, events(rows, troughs), pieces, between)
    say("spike", [(frame, channel, trough) for (frame, channel), trough in zip(rows, troughs)])


def put_stims(peer, rows):
    peer.put(TEXT, json.dumps({"status": "cl_stims", "stim_count": len(rows)}))
    peer.put(BINARY, events(rows))
    say("marker", [(frame, f"stim {channel}") for frame, channel in rows] + [(frame, "stim") for frame in {f for f, _ in rows}])


def put_entry(peer, frame, name, data):
    peer.put(TEXT, json.dumps({"status": "new_data", "data_stream": name, "timestamp": frame}))
    if data:
        peer.put(BINARY, data)
    say("marker", [(frame, name)])


CHANNELS = [1, 2, 3, 5, 8, 33, 62]


def stretch(peer, first, windows):
    """Windows of 50 ms, as a CL1 sends them: spikes, stimuli, entries."""
    for window in range(first // 1250, first // 1250 + windows):
        begin = window * 1250
        put_spikes(peer, [(begin + 100 * k, CHANNELS[(window + k) % 7]) for k in range(1 + window % 12)], 1 + window % 3)
        if window % 5 == 0:
            put_stims(peer, [(begin + 7, 8), (begin + 7, 9), (begin + 600, 8)])
        if window % 7 == 0:
            put_entry(peer, begin + 20, "score", b"\xc0" if window % 2 else b"")


def ping(peer):
    peer.put(PING, b"are you there")


def serve(port):
    listener = socket.create_server(("127.0.0.1", port))
    peer = open_server(listener)
    stretch(peer, 125000, 40)
    timing(peer, "timing", 50000)
    timing(peer, "reset", paused=True)
    timing(peer, "reset")
    peer.put(TEXT, json.dumps({"status": "attributes_reset", "data_stream": "score", "attributes": {"x": [1, {"y": 2}]}}))
    put_spikes(peer, [(175000 + k, 5) for k in range(3000)], 50, lambda: ping(peer))  # 927 kB in 50 frames, a ping in each gap
    for _ in range(49):
        while (frame := peer.frame())[0] != PONG:
            pass
        assert frame[1] == b"are you there", frame
    put_entry(peer, 179000, 'a "b" \u00e9', b"x" * 5_000_000)  # more than is read, which nobody needs
    # Faults, each counted once: what is no JSON, a wrong number, bytes that nobody announced, too many of them.
    peer.put(TEXT, "no JSON")
    peer.put(TEXT, json.dumps({"status": "cl_spikes", "spike_count": 10**12}))
    peer.put(BINARY, bytes(100))
    peer.put(TEXT, json.dumps({"status": "cl_spikes", "spike_count": 5}))
    peer.put(BINARY, events([(1, 1)], [-1]))
    peer.put(BINARY, b"what is this")
    peer.put(TEXT, json.dumps({"status": "cl_spikes", "spike_count": 20000}))
    peer.put(BINARY, bytes(20000 * 309))
    stretch(peer, 180000, 20)
    timing(peer, "reset")
    stretch(peer, 280000, 20)  # three seconds on, after the stream was set anew: a gap
    peer.put(CLOSE, struct.pack(">H", 1001) + b"for a while")
    peer.connection.close()
    # It is there again, and its clock begins anew; then it breaks off within a frame, and is there again.
    peer = open_server(listener)
    stretch(peer, 12500, 40)
    peer.connection.sendall(head(TEXT, 100, b"") + b'{"status":')
    peer.connection.close()
    peer = open_server(listener)
    stretch(peer, 100000, 40)
    # Bytes that make no frame end the connection, which is made again.
    peer.connection.sendall(b"\xff\xff\xff\xff")
    peer = open_server(listener)
    stretch(peer, 200000, 40)
    print("end", flush=True)
    try:
        while True:
            peer.frame()
    except (EOFError, ConnectionError):
        pass


def open_client(port, path="/_/ws/live_streaming"):
    connection = socket.create_connection(("127.0.0.1", port))
    peer, key = Peer(connection, True), base64.b64encode(os.urandom(16)).decode()
    request = (f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode()
    for at in range(0, len(request), 50):  # in pieces
        connection.sendall(request[at : at + 50])
    first, fields = peer.head_of_http()
    assert first.startswith("HTTP/1.1 101") and fields["sec-websocket-accept"] == accept_of(key), (first, fields)
    return peer


def listen(port):
    astray = open_client(port, "/_/ws/other")
    kind, data = astray.frame()
    assert kind == CLOSE and data[:2] == struct.pack(">H", 1002), data
    bad = socket.create_connection(("127.0.0.1", port))
    bad.sendall(b"POST / HTTP/1.1\r\n\r\n")
    assert bad.recv(100).startswith(b"HTTP/1.1 400")
    endless = socket.create_connection(("127.0.0.1", port))
    try:
        while True:
            endless.sendall(b"x" * 4096)
    except ConnectionError:
        pass
    unmasked = open_client(port)
    unmasked.masks = False
    unmasked.put(TEXT, "{}")
    unmasked.masks = True
    try:
        while unmasked.frame()[0] != CLOSE:
            pass
    except (EOFError, ConnectionError):
        pass
    peer = open_client(port)
    assert json.loads(peer.frame()[1]) == {"status": "reset", "frames_per_second": 25000, "reset_visualiser": False, "is_paused": False}
    peer.put(PING, b"hello")
    assert peer.frame() == (PONG, b"hello")
    for name in ("cl_stims", "score", "cl_spikes"):  # it begins with the last
        peer.put(TEXT, json.dumps({"action": "subscribe", "type": "data_stream", "name": name}))
    rows = []
    while True:
        kind, data = peer.frame()
        if kind == CLOSE:
            break
        told = json.loads(data)
        kind, data = peer.frame()
        if told["status"] == "new_data":
            rows.append(("marker", told["timestamp"], told["data_stream"]))
            continue
        is_spikes = told["status"] == "cl_spikes"
        count = told["spike_count" if is_spikes else "stim_count"]
        frames, channels = struct.unpack_from(f"<{count}Q", data), data[8 * count : 9 * count]
        samples = data[8 * count + -(-count // 8) * 8 :]
        assert len(samples) == (300 * count if is_spikes else 0), told
        for i in range(count):
            if is_spikes:
                trough = struct.unpack_from("<75f", samples, 300 * i)[25]
                rows.append(("spike", frames[i], channels[i], int(trough) if trough == trough else "nan"))
            else:
                rows.append(("marker", frames[i], f"stim {channels[i]}"))
    for row in rows:
        print(*row)


def hostile(port, how):
    listener = socket.create_server(("127.0.0.1", port))
    while True:
        connection, _ = listener.accept()
        try:
            misbehave(connection, how)
        except (EOFError, ConnectionError):
            pass


def misbehave(connection, how):
    peer = Peer(connection, False)
    _, fields = peer.head_of_http()
    agreed = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
    answers = {"missing": "HTTP/1.1 404 Not \x1b[31mFound\r\n\r\n", "liar": agreed + accept_of("x") + "\r\n\r\n"}
    if how == "endless":
        while True:
            connection.sendall(b"x" * 4096)
    if how == "silent":
        connection.recv(1)
    connection.sendall(answers.get(how, agreed + accept_of(fields["sec-websocket-key"]) + "\r\n\r\n").encode())
    if how == "closing":
        peer.put(CLOSE, struct.pack(">H", 1002) + b"Unknown path")
    elif how == "pinging":
        while True:
            peer.put(PING, b"x" * 125)
    elif how == "huge":
        connection.sendall(b"\x82\x7f\x7f" + b"\xff" * 7 + bytes(1000))
    elif how == "texts":
        while True:
            peer.put(TEXT, "[" * 2000)
    connection.close()


if __name__ == "__main__":
    {"serve": serve, "listen": listen, "hostile": hostile}[sys.argv[1]](int(sys.argv[2]), *sys.argv[3:])
