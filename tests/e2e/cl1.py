# SPDX-License-Identifier: Apache-2.0
"""A CL1's WebSocket with sockets alone: nothing of synfire is used."""
import base64
import hashlib
import json
import os
import socket
import struct

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
PLACE = "/_/ws/live_streaming"
PATIENCE_S = 300


def accept_of(key):
    return base64.b64encode(hashlib.sha1((key + GUID).encode()).digest()).decode()


def agreed_with(key):
    return ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Accept: {accept_of(key)}\r\n\r\n").encode()


def head(kind, size, is_masked, is_final=True):
    first, marked = kind | (0x80 if is_final else 0), 0x80 if is_masked else 0
    if size < 126:
        return struct.pack(">BB", first, marked | size)
    if size < 65536:
        return struct.pack(">BBH", first, marked | 126, size)
    return struct.pack(">BBQ", first, marked | 127, size)


def masked(mask, data):
    return bytes(byte ^ mask[i % 4] for i, byte in enumerate(data)) if mask else data


class Peer:
    """One end of a connection; a client masks what it puts."""

    def __init__(self, connection, masks=False):
        connection.settimeout(PATIENCE_S)
        self.connection, self.masks, self.kept = connection, masks, b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def receive(self):
        more = self.connection.recv(65536)
        if not more:
            raise EOFError
        self.kept += more

    def take(self, count):
        while len(self.kept) < count:
            self.receive()
        taken, self.kept = self.kept[:count], self.kept[count:]
        return taken

    def head_of_http(self):
        """The first line, and the fields."""
        while b"\r\n\r\n" not in self.kept:
            self.receive()
        lines, self.kept = self.kept.split(b"\r\n\r\n", 1)
        first, *fields = lines.decode().split("\r\n")
        return first, {name.lower(): value.strip() for name, value in (field.split(":", 1) for field in fields)}

    def frame(self):
        first, second = self.take(2)
        assert bool(second & 0x80) != self.masks, "masked as it should not be"
        size = second & 0x7F
        if size > 125:
            size = int.from_bytes(self.take(2 if size == 126 else 8), "big")
        mask = self.take(4) if second & 0x80 else b""
        return first & 15, masked(mask, self.take(size))

    def put(self, kind, data=b"", pieces=1, between=lambda: None):
        """`pieces`: frames that a message is sent in, with `between` after each of them but the last."""
        step = -(-len(data) // pieces) or 1
        parts = [data[at:at + step] for at in range(0, len(data), step)] or [b""]
        for i, part in enumerate(parts):
            if i > 0:
                between()
            mask = os.urandom(4) if self.masks else b""
            self.connection.sendall(head(kind if i == 0 else 0, len(part), self.masks, i + 1 == len(parts)) + mask + masked(mask, part))

    def say(self, **words):
        self.put(TEXT, json.dumps(words).encode())

    def timing(self, status, hz=25000, paused=False):
        self.say(status=status, frames_per_second=hz, reset_visualiser=False, is_paused=paused)

    def until_closed(self):
        try:
            while self.frame()[0] != CLOSE:
                pass
        except (EOFError, ConnectionError):
            pass


def take_in(listener, *streams):
    """Takes a client in, as a CL1 does, which subscribes to these streams."""
    peer = Peer(listener.accept()[0])
    first, fields = peer.head_of_http()
    assert first == f"GET {PLACE} HTTP/1.1" and fields["sec-websocket-version"] == "13", (first, fields)
    assert len(base64.b64decode(fields["sec-websocket-key"])) == 16 and fields["upgrade"] == "websocket"
    peer.connection.sendall(agreed_with(fields["sec-websocket-key"]))
    peer.timing("reset")
    for name in streams:
        kind, data = peer.frame()
        assert (kind, json.loads(data)) == (TEXT, {"action": "subscribe", "type": "data_stream", "name": name}), data
    return peer


def join(port, path=PLACE):
    """A client, whose request comes in pieces."""
    peer, key = Peer(socket.create_connection(("127.0.0.1", port)), True), base64.b64encode(os.urandom(16)).decode()
    request = (f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode()
    for at in range(0, len(request), 50):
        peer.connection.sendall(request[at:at + 50])
    first, fields = peer.head_of_http()
    assert first.startswith("HTTP/1.1 101") and fields["sec-websocket-accept"] == accept_of(key), (first, fields)
    return peer


def events(rows, troughs=()):
    """Frames and channels of events, and 75 samples around each trough."""
    data = struct.pack(f"<{len(rows)}Q", *(frame for frame, _ in rows)) + bytes(channel for _, channel in rows) + bytes(-len(rows) % 8)
    return data + b"".join(struct.pack("<75f", *[1.5] * 25, trough, *[3.25] * 49) for trough in troughs)


def events_of(told, data):
    """Frames, channels and troughs, None where it has none, of a message."""
    is_spikes = told["status"] == "cl_spikes"
    count = told["spike_count" if is_spikes else "stim_count"]
    samples = data[8 * count + -(-count // 8) * 8:]
    assert len(samples) == (300 * count if is_spikes else 0), told
    troughs = [struct.unpack_from("<75f", samples, 300 * i)[25] if is_spikes else None for i in range(count)]
    return list(zip(struct.unpack_from(f"<{count}Q", data), data[8 * count:9 * count], troughs))
