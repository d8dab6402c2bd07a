# SPDX-License-Identifier: Apache-2.0
"""The page's WebSocket and texts (docs/page.md) without a browser, of Python's standard library alone."""
import base64
import json
import os
import socket
import struct
import sys
import urllib.error
import urllib.request

HELLO, MESSAGE, RASTER, EDGES, MARKS, ANSWER = 1, 2, 3, 4, 5, 6


def page_of(lines):
    """The address, the token and the port of the page that a run tells of on its standard error; ends the program where it tells of
    none."""
    for line in lines:
        if "the page of this run is at" in line:
            address, token = line.split()[-1].split("#")
            return address, token, int(address.rsplit(":", 1)[1].strip("/"))
    sys.exit("the run did not say where its page is")


class Refused(Exception):
    """No WebSocket: the first line of the answer, or nothing."""


class WebSocket:
    def __init__(self, port, path, headers, room=None):
        self.socket = socket.socket()
        if room is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        self.socket.settimeout(60)
        self.socket.connect(("127.0.0.1", port))
        lines = [f"GET {path} HTTP/1.1", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                 "Sec-WebSocket-Key: " + base64.b64encode(os.urandom(16)).decode()]
        lines += [f"{name}: {value.format(port=port)}" for name, value in headers if value is not None]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.left = b""
        try:
            while b"\r\n\r\n" not in self.left:
                part = self.socket.recv(4096)
                if not part:
                    break
                self.left += part
        except ConnectionError:
            pass
        head, _, self.left = self.left.partition(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n")[0]:
            self.socket.close()
            raise Refused(head.split(b"\r\n")[0].decode())

    def take(self, count):
        while len(self.left) < count:
            part = self.socket.recv(1 << 20)
            if not part:
                raise EOFError
            self.left += part
        taken, self.left = self.left[:count], self.left[count:]
        return taken

    def message(self):
        """The next one, as bytes; EOFError at the end."""
        whole = b""
        while True:
            first, length = self.take(2)
            if length == 126:
                length, = struct.unpack(">H", self.take(2))
            elif length == 127:
                length, = struct.unpack(">Q", self.take(8))
            assert length < 1 << 31  # no mask: it is a server's
            data = self.take(length)
            if first & 0x0f == 8:
                raise EOFError
            if first & 0x0f == 9:
                self.frame_of(0x8a, data)
            if first & 0x0f < 8:
                whole += data
                if first & 0x80:
                    return whole

    def frame_of(self, first, data, masks=True):
        mask = os.urandom(4) if masks else b""
        masked = bytes(b ^ mask[i % 4] for i, b in enumerate(data)) if masks else data
        bit = 0x80 if masks else 0
        size = bytes([bit | len(data)]) if len(data) < 126 else bytes([bit | 126]) + struct.pack(">H", len(data))
        self.socket.sendall(bytes([first]) + size + mask + masked)

    def send(self, text):
        self.frame_of(0x81, text.encode())

    def close(self):
        self.socket.close()


class Page(WebSocket):
    def __init__(self, port, origin="http://127.0.0.1:{port}", host="127.0.0.1:{port}", protocol="synfire-page-1",
                 room=None):
        super().__init__(port, "/frames",
                         [("Host", host), ("Origin", origin), ("Sec-WebSocket-Protocol", protocol)], room)

    def frame(self):
        """Kind, age in ms and payload of the next one; EOFError at the end."""
        data = self.message()
        version, kind, zero, number, age = struct.unpack("<BBHId", data[:16])
        assert (version, zero, number) == (1, 0, 0)
        return kind, age, data[16:]

    def frames(self):
        try:
            while True:
                yield self.frame()
        except (EOFError, ConnectionError):
            return


def columns(payload):
    """The first column, the counts column by column, and the spikes counted in all."""
    first, count, rows, spikes = struct.unpack("<qIId", payload[:24])
    cells = payload[24:]
    assert len(cells) == count * rows
    return first, [cells[i * rows:(i + 1) * rows] for i in range(count)], spikes


def edges(payload):
    total, told = struct.unpack("<II", payload[:8])
    rows = [struct.unpack("<9f", payload[8 + 36 * i:44 + 36 * i]) for i in range(told)]
    assert len(payload) == 8 + 36 * told
    return total, rows


def marks(payload):
    """The episode's id, its units, and the columns of each occurrence."""
    size, = struct.unpack("<I", payload[16:20])
    values = struct.unpack(f"<{(len(payload) - 24) // 8}d", payload[24:])
    found = values[:-size]
    return payload[:16].decode(), values[-size:], [found[i:i + size] for i in range(0, len(found), size)]


def get(port, path, host=None, method="GET"):
    """Code, headers and text."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method)
    if host is not None:
        request.add_header("Host", host)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, dict(answer.headers), answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read().decode()


def metrics(text):
    """By name and labels as they stand; refuses what the form does not allow."""
    found, types = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in types and kind in ("counter", "gauge", "summary"), line
            types[name] = kind
        elif not line.startswith("# HELP "):
            key, value = line.rsplit(" ", 1)
            name = key.split("{")[0]
            if name.endswith(("_sum", "_count")) and name.rsplit("_", 1)[0] in types:
                name = name.rsplit("_", 1)[0]
                assert types[name] == "summary", line
            assert name in types and key not in found, line
            assert (types[name] == "counter") == name.endswith("_total"), line
            found[key] = float(value)
    return found


def message(payload):
    return json.loads(payload.decode())
