# SPDX-License-Identifier: Apache-2.0
"""A CL1 that sends live: `play` and a run; a device that knows only sockets, with faults, pauses, gaps, a clock that begins anew and
connections that break; a client of the player; servers that misbehave."""
import contextlib
import json
import pathlib
import resource
import shutil
import socket
import struct
import threading

import cl1
import command
import rig
import h5py

CHANNELS = [channel for channel in range(64) if channel not in (0, 4, 7, 56, 63)]
FRAME_NS = 40_000
EPOCH = 2500  # frames that a clock goes back by in one epoch
NAMED = 'a "b" \u00e9'
STREAMS = ("score", NAMED, "cl_stims", "cl_spikes")


class Device:
    """Keeps what it puts, as rows: the frame, the kind, and words."""

    def __init__(self, port):
        self.listener, self.peer, self.rows = socket.create_server(("127.0.0.1", port)), None, []
        self.listener.settimeout(cl1.PATIENCE_S)
        self.take_in()

    def take_in(self):
        former, self.peer = self.peer, cl1.take_in(self.listener, *STREAMS)
        if former:
            former.connection.close()

    def hang_up(self):
        self.peer.connection.close()

    def put_spikes(self, rows, pieces=1, between=lambda: None):
        troughs = [-10 - frame % 50 for frame, _ in rows]
        self.peer.say(status="cl_spikes", spike_count=len(rows))
        self.peer.put(cl1.BINARY, cl1.events(rows, troughs), pieces, between)
        self.rows += [(frame, "spike", f"{channel} {trough}") for (frame, channel), trough in zip(rows, troughs)]

    def put_stims(self, rows):
        self.peer.say(status="cl_stims", stim_count=len(rows))
        self.peer.put(cl1.BINARY, cl1.events(rows))
        self.rows += [(frame, "marker", f"stim {channel}") for frame, channel in rows]
        self.rows += [(frame, "marker", "stim") for frame in {frame for frame, _ in rows}]

    def put_entry(self, frame, name, data):
        self.peer.say(status="new_data", data_stream=name, timestamp=frame)
        if data:
            self.peer.put(cl1.BINARY, data)
        self.rows.append((frame, "marker", name))

    def stretch(self, first, windows):
        """Windows of 50 ms: spikes, stimuli, entries."""
        channels = [1, 2, 3, 5, 8, 33, 62]
        for window in range(first // 1250, first // 1250 + windows):
            begin = window * 1250
            self.put_spikes([(begin + 100 * k, channels[(window + k) % 7]) for k in range(1 + window % 12)], 1 + window % 3)
            if window % 5 == 0:
                self.put_stims([(begin + 7, 8), (begin + 7, 9), (begin + 600, 8)])
            if window % 7 == 0:
                self.put_entry(begin + 20, "score", b"\xc0" if window % 2 else b"")

    def put_much(self):
        """927 kB in 50 frames with a ping in each gap, and more than is read, which nobody needs."""
        self.put_spikes([(175000 + k, 5) for k in range(3000)], 50, lambda: self.peer.put(cl1.PING, b"are you there"))
        for _ in range(49):
            while (frame := self.peer.frame())[0] != cl1.PONG:
                pass
            assert frame[1] == b"are you there", frame
        self.put_entry(179000, NAMED, b"x" * 5_000_000)

    def put_faults(self):
        """Each counted once: what is no JSON, a wrong number, bytes that nobody announced, too many of them."""
        self.peer.put(cl1.TEXT, b"no JSON")
        self.peer.say(status="cl_spikes", spike_count=10**12)
        self.peer.put(cl1.BINARY, bytes(100))
        self.peer.say(status="cl_spikes", spike_count=5)
        self.peer.put(cl1.BINARY, cl1.events([(1, 1)], [-1]))
        self.peer.put(cl1.BINARY, b"what is this")
        self.peer.say(status="cl_spikes", spike_count=20000)
        self.peer.put(cl1.BINARY, bytes(20000 * 309))

    def put_all(self):
        self.stretch(125000, 40)
        self.peer.timing("timing", 50000)
        self.peer.timing("reset", paused=True)
        self.peer.timing("reset")
        self.peer.say(status="attributes_reset", data_stream="score", attributes={"x": [1, {"y": 2}]})
        self.put_much()
        self.put_faults()
        self.stretch(180000, 20)
        self.peer.timing("reset")
        self.stretch(280000, 20)  # three seconds on, after the stream was set anew: a gap
        self.peer.put(cl1.CLOSE, struct.pack(">H", 1001) + b"for a while")
        self.hang_up()
        self.take_in()
        self.stretch(12500, 40)  # its clock began anew
        self.peer.connection.sendall(cl1.head(cl1.TEXT, 100, False) + b'{"status":')
        self.hang_up()  # within a frame
        self.take_in()
        self.stretch(100000, 40)
        self.peer.connection.sendall(b"\xff\xff\xff\xff")  # which make no frame: the run connects again
        self.take_in()
        self.stretch(200000, 40)


def in_epochs(rows):
    """Rows, at their times, of each epoch."""
    parts, newest = [[]], 0
    for frame, *rest in rows:
        if frame < newest - EPOCH:
            parts.append([])
            newest = 0
        newest = max(newest, frame)
        parts[-1].append((frame * FRAME_NS, *rest))
    return [sorted(part) for part in parts]


def recorded(path):
    """Times, kinds and words of the spikes and markers in a recording, in order, without those of a stream that steps."""
    with h5py.File(path) as file:
        names = [name.decode() for name in file["units/name"]]
        rows = [(ns, "spike", f"{names[unit]} {'nan' if value != value else int(value)}")
                for ns, unit, value in zip(*(file[f"spikes/{column}"][:].tolist() for column in ("time_ns", "unit", "amplitude")))]
        rows += [(int(ns), "marker", text.decode()) for ns, text in zip(file["markers/time_ns"][:], file["markers/text"][:])]
    return sorted(row for row in rows if not row[2].startswith("synfire: "))


def heard_by_a_client(port):
    """Rows of a player's stimuli, spikes and entries `score`."""
    with cl1.join(port) as peer:
        first = json.loads(peer.frame()[1])
        assert first == {"status": "reset", "frames_per_second": 25000, "reset_visualiser": False, "is_paused": False}, first
        peer.put(cl1.PING, b"hello")
        assert peer.frame() == (cl1.PONG, b"hello")
        for name in "cl_stims", "score", "cl_spikes":  # it begins with the last
            peer.say(action="subscribe", type="data_stream", name=name)
        rows = []
        while (frame := peer.frame())[0] != cl1.CLOSE:
            told, (_, data) = json.loads(frame[1]), peer.frame()
            if told["status"] == "new_data":
                rows.append((told["timestamp"], "marker", told["data_stream"]))
            else:
                rows += [(at, "marker", f"stim {channel}") if trough is None else
                         (at, "spike", f"{channel} {'nan' if trough != trough else int(trough)}")
                         for at, channel, trough in cl1.events_of(told, data)]
    return rows


class Live(rig.Test):
    def against(self, port):
        """A run of what is sent at the port."""
        streams = '"score, a \\"b\\" \\xe9"'
        rig.configure(f'type: cortical, endpoint: "ws://127.0.0.1:{port}", timeout_s: 60, data_streams: {streams}',
                      merge="lateness_ms: 100")
        return self.begin("rig", "run", "rig.yaml", "--json")

    def account(self, run, rows):
        """The run's account, once it has so many spikes as there are rows of."""
        self.await_spikes(sum(kind == "spike" for _, kind, _ in rows), run)
        run.stop()
        return run.document()["status"]["sources"][0]

    def assert_recorded(self, rows):
        """The run recorded these to the frame, the first epoch at their times."""
        with h5py.File("rig.h5") as file:
            self.assertEqual([name.decode() for name in file["units/name"]], [str(channel) for channel in CHANNELS])
            self.assertEqual(list(file["units/x_um"]), [200.0 * (channel // 8) for channel in CHANNELS])
            self.assertEqual(list(file["units/y_um"]), [200.0 * (channel % 8) for channel in CHANNELS])
        got = recorded("rig.h5")
        self.assertEqual(len(got), len(rows))
        for epoch, part in enumerate(in_epochs(rows)):
            came, got = got[:len(part)], got[len(part):]
            shift = came[0][0] - part[0][0] if epoch > 0 else 0
            self.assertEqual([(a, b) for a, b in zip(sorted((ns - shift, *rest) for ns, *rest in came), part) if a != b][:5], [])


class Played(Live):
    def test_a_run_takes_what_a_player_sends(self):
        self.synfire("simulate", "sim.h5", "--unit-count", 20, "--rate", 40, "--duration", 8, "--seed", 3, "--quiet")
        port, = command.free_ports(1)
        for place, electrodes in ("", "array"), (cl1.PLACE, "learn, learn_s: 3"):
            with self.subTest(place=place):
                source = self.play("cortical", f"ws://127.0.0.1:{port}{place}", "sim.h5", f"electrodes: {electrodes}", "--speed", 10)
                self.assert_same("sim.h5", 25000, source, lambda i: str(CHANNELS[i]))
                self.assertIn("the connection ended (the server says 1001 the recording ended; 1 so far)",
                              pathlib.Path("rig.err").read_text())

    def test_what_is_no_endpoint_list_of_streams_or_array_is_refused(self):
        for setting, sentence in (("endpoint=wss://127.0.0.1:1025", "is encrypted, which is not read here: expected ws://HOST:PORT"),
                                  ("endpoint=tcp://127.0.0.1:1025", "is no endpoint: expected ws://HOST:PORT"),
                                  ("data_streams=a,,b", "found 'a,,b', expected none, or at most 16 names of at most 127 bytes")):
            self.refuses(78, sentence, "run", "cortical", "--set", f"sources.0.{setting}", "--quiet")
        self.synfire("simulate", "many.h5", "--unit-count", 60, "--duration", 1, "--quiet")
        port, = command.free_ports(1)
        self.refuses(65, "found 60 units, the array of a CL1 has 59 electrodes",
                     "play", "many.h5", "--protocol", "cortical", "--to", f"ws://127.0.0.1:{port}", "--quiet")


class Sent(Live):
    """By a device of four epochs, and then, of what a run recorded of it, by the player."""

    def recording(self):
        """What the device sent, and the run's account and its words; first.h5 is what it recorded."""
        if not hasattr(Sent, "kept"):
            port, = command.free_ports(1)
            run = self.against(port)
            device = Device(port)
            device.put_all()
            source = self.account(run, device.rows)
            device.hang_up()
            device.listener.close()
            self.assert_recorded(device.rows)
            shutil.copy("rig.h5", "first.h5")
            Sent.kept = device.rows, source, run.err.read_text(errors="replace")
        return Sent.kept

    def test_what_a_device_sends_is_recorded_and_its_faults_are_counted(self):
        rows, source, _ = self.recording()
        self.assertGreater(len(in_epochs(rows)), 1)
        expected = {"gaps": 1, "gap_lost": 0, "malformed": 7, "late": 0, "dropped": 0, "out_of_range": 0, "leaps": 0, "epochs": 1,
                    "restarts": 0}
        self.assertEqual({key: source[key] for key in expected}, expected)

    def test_what_the_device_says_of_itself_is_told(self):
        _, _, told = self.recording()
        for words in ("says that it shows 50000 frames a second; timestamps are read at 25000", "is paused",
                      "the stream was set anew and goes on 3.* s ahead",
                      r"the connection ended \(the server says 1001 for a while; 1 so far\); connecting again"):
            self.assertRegex(told, words)

    def test_what_was_recorded_is_played_on_to_a_run_and_a_client(self):
        self.recording()
        self.synfire("convert", "first.h5", "again.h5", "--to", 12, "--quiet")
        with h5py.File("again.h5") as file:
            start_ns = int(file.attrs["start_ns"])
        rows = [((ns - start_ns) // FRAME_NS, kind, words) for ns, kind, words in recorded("again.h5")]
        port, = command.free_ports(1)
        player = self.begin("play", "play", "again.h5", "--protocol", "cortical", "--to", f"ws://127.0.0.1:{port}", "--speed", "max",
                            "--subscribers", 2)
        command.wait_for("waiting for", player.err, player)
        run = self.against(port)
        self.spoil(port)
        heard = heard_by_a_client(port)
        player.end()
        self.account(run, rows)
        self.assert_recorded(rows)
        self.assertGreater(sum(row[1:] == ("marker", "stim 8") for row in rows), 10)
        self.assertEqual(sorted(heard), sorted(row for row in rows if row[1:] not in (("marker", "stim"), ("marker", NAMED))))

    def spoil(self, port):
        """Clients that a player sends away, and it goes on."""
        with cl1.join(port, "/_/ws/other") as astray:
            kind, data = astray.frame()
            self.assertEqual((kind, data[:2]), (cl1.CLOSE, struct.pack(">H", 1002)))
        with socket.create_connection(("127.0.0.1", port)) as bad:
            bad.sendall(b"POST / HTTP/1.1\r\n\r\n")
            self.assertTrue(bad.recv(100).startswith(b"HTTP/1.1 400"))
        with socket.create_connection(("127.0.0.1", port)) as endless, self.assertRaises(ConnectionError):
            while True:
                endless.sendall(b"x" * 4096)
        with cl1.join(port) as unmasked:
            unmasked.masks = False
            unmasked.put(cl1.TEXT, b"{}")
            unmasked.masks = True
            unmasked.until_closed()


def without_end(send):
    while True:
        send()


def answering(answer):
    """A server that answers so, given the peer and the key that it was asked with."""
    def serve(peer):
        _, fields = peer.head_of_http()
        answer(peer, fields["sec-websocket-key"])

    return serve


def after_agreeing(put):
    def answer(peer, key):
        peer.connection.sendall(cl1.agreed_with(key))
        put(peer)

    return answering(answer)


@contextlib.contextmanager
def server(serve):
    """The port of a server, whose connections are served one after another, and then closed."""
    listener = socket.create_server(("127.0.0.1", 0))

    def take():
        with contextlib.suppress(OSError):
            while True:
                with cl1.Peer(listener.accept()[0]) as peer, contextlib.suppress(EOFError, OSError):
                    serve(peer)

    threading.Thread(target=take, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


@contextlib.contextmanager
def memory_of_4_gb():
    """For what is started meanwhile; a sanitizer takes more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if not command.SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (4_000_000 << 10, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


class Misbehaving(Live):
    """Such servers are told of, and take neither time nor memory."""

    def refused(self, serve, sentence, code=65, patience_s=(2, 20, 120)):
        """The run ends with the sentence after so long, or longer on a slow machine."""
        with server(serve) as port, memory_of_4_gb():
            for timeout_s in patience_s:
                try:
                    return self.refuses(code, sentence, "run", "cortical", "--quiet", "--set", f"sources.0.timeout_s={timeout_s}",
                                        "--set", f"sources.0.endpoint=ws://127.0.0.1:{port}")
                except AssertionError:
                    if timeout_s == patience_s[-1]:
                        raise

    def test_one_that_has_no_stream(self):
        self.refused(answering(lambda peer, key: peer.connection.sendall(b"HTTP/1.1 404 Not \x1b[31mFound\r\n\r\n")),
                     r"no stream of Cortical Labs CL1: the server answers 'HTTP/1.1 404 Not \x1b[31mFound'")

    def test_one_whose_answer_belongs_to_another_question(self):
        self.refused(answering(lambda peer, key: peer.connection.sendall(cl1.agreed_with("x"))),
                     "the server's answer does not belong to what was asked")

    def test_one_whose_answer_has_no_end(self):
        self.refused(answering(lambda peer, key: without_end(lambda: peer.connection.sendall(b"x" * 4096))),
                     "the server answers with more than a WebSocket's head")

    def test_one_that_does_not_answer(self):
        self.refused(answering(lambda peer, key: peer.receive()), "nothing answers as a WebSocket", patience_s=(6, 20, 120))

    def test_one_that_closes_at_once(self):
        self.refused(after_agreeing(lambda peer: peer.put(cl1.CLOSE, struct.pack(">H", 1002) + b"Unknown path")),
                     "no stream came within 2 s", 69, (2,))

    def test_one_that_only_pings(self):
        self.refused(after_agreeing(lambda peer: without_end(lambda: peer.put(cl1.PING, b"x" * 125))),
                     "no stream came within 2 s", 69, (2,))

    def test_one_that_announces_more_than_anybody_has(self):
        self.refused(after_agreeing(lambda peer: peer.connection.sendall(b"\x82\x7f\x7f" + b"\xff" * 7 + bytes(1000))),
                     "a connection that was cut off: a message of more than 67108864 bytes")

    def test_one_that_says_nothing_of_what_it_sends(self):
        self.refused(after_agreeing(lambda peer: without_end(lambda: peer.put(cl1.TEXT, b"[" * 2000))),
                     "a text without a status: 2000 bytes")


if __name__ == "__main__":
    command.main()
