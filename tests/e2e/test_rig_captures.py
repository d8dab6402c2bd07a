# SPDX-License-Identifier: Apache-2.0
"""What the real software of rigs sent when its clock went back within merge.leap_s, replayed byte by byte: every spike comes
through, as a new epoch that is told, as the same bytes are read here without synfire. Skipped, by name, where the captures are absent."""
import json
import pathlib
import struct

import command
import rig
import h5py
import numpy as np

RIGS = command.DATA / "cases/rigs"
RATE, BACK = 30000, 300  # samples a second; more than this is another epoch


def messages(data):
    """The parts of each message of ZeroMQ."""
    at = 0

    def take():
        nonlocal at
        number, = struct.unpack_from("<I", data, at)
        at += 4
        return number

    while at < len(data):
        parts = []
        for _ in range(take()):
            size = take()
            parts.append(data[at:at + size])
            at += size
        yield parts


def trough(samples):
    return min(samples) if min(samples) < 0 else max(samples)


def floats(data):
    return struct.unpack(f"<{len(data) // 4}f", data)


def neuron(electrode, sorted_id):
    return electrode if sorted_id == 0 else f"{electrode}:{sorted_id}"


def of_intan(data):
    """Its spikes, as those of all: sample, name and amplitude."""
    chunks = [struct.unpack_from("<4x5sIB", data, at) for at in range(0, len(data) - 13, 14)]
    assert {mark for _, _, mark in chunks} == {1}  # no hoop was drawn
    return [(sample, name.decode(), None) for name, sample, _ in chunks]


def of_event_broadcaster(data):
    found = []
    for _, body in messages(data):
        if body[:1] == b"{":
            one = json.loads(body)
            if one["event_type"] == "spike":
                amplitude = -max(value for key, value in one.items() if key.startswith("amp"))
                found.append((one["sample_number"], neuron(one["electrode"], one["sorted_id"]), amplitude))
        elif body[0] == 2:
            channels = {1: 1, 2: 2, 3: 4}[body[1]]
            index, sample = struct.unpack_from("<Hq", body, 6)
            sorted_id, = struct.unpack_from("<H", body, 24)
            found.append((sample, neuron(f"Electrode {index + 1}", sorted_id), trough(floats(body[26 + 4 * channels:]))))
    return found


def others_of_event_broadcaster(data):
    """How many events are of other streams than the first spike."""
    told = []
    for _, body in messages(data):
        one = json.loads(body) if body[:1] == b"{" else None
        told.append((one["event_type"] == "spike", one["stream"]) if one else (body[0] == 2, *struct.unpack_from("<H", body, 4)))
    read = next(stream for is_spike, stream in told if is_spike)
    return sum(stream != read for _, stream in told)


def of_open_ephys(data):
    found = []
    for _, header, *payload in messages(data):
        text = header.decode("utf-8", "ignore").rstrip("\0")
        if '"spike": {' in text:  # names beyond ASCII: the plugin cuts the end of the header off
            one, _ = json.JSONDecoder().raw_decode(text[text.index('"spike": {') + 9:])
            found.append((one["sample_num"], neuron(one["electrode"], one["sorted_id"]), trough(floats(payload[0]))))
    return found


def in_epochs(rows):
    parts, newest = [[]], None
    for row in rows:
        if newest is not None and row[0] < newest - BACK:
            parts.append([])
            newest = None
        newest = row[0] if newest is None else max(newest, row[0])
        parts[-1].append(row)
    return [sorted(part, key=lambda row: row[:2]) for part in parts]


READ = {"intan": of_intan, "event-broadcaster": of_event_broadcaster, "open-ephys": of_open_ephys}


@command.needs_data("cases/rigs/replay.py")
class Captures(rig.Test):
    def came(self, kind, keys, endpoint, spikes, sender, *words):
        """What comes of a sender: the run's account of its source, and the spikes, as times, names and amplitudes."""
        rig.configure(f'type: {kind}, endpoint: "tcp://127.0.0.1:{endpoint}", timeout_s: 60, {keys}', merge="lateness_ms: 50")
        sender = self.begin("sender", sender, *words)
        run = self.begin("rig", "run", "rig.yaml", "--json")
        sender.end()
        self.await_spikes(spikes, run)
        run.stop()
        with h5py.File("rig.h5") as file:
            names = [name.decode() for name in file["units/name"]]
            times, units, amplitudes = (file[f"spikes/{key}"][:].tolist() for key in ("time_ns", "unit", "amplitude"))
        rows = list(zip(times, (names[unit] for unit in units), amplitudes))
        return run.document()["status"]["sources"][0], rows

    def assert_through(self, kind, name, keys, spikes, epochs, gap_ms=None, repeats=1):
        """The capture's spikes are in the recording in so many epochs beyond the first, and none is late; the run's account."""
        port, = command.free_ports(1)
        source, rows = self.came(kind, keys, port, spikes, RIGS / "replay.py", "intan" if kind == "intan" else "zmq", RIGS / name, port,
                                 *[] if gap_ms is None else [gap_ms, repeats])
        data = (RIGS / name).read_bytes()
        said = in_epochs(READ[kind](data) * repeats)
        self.assertEqual((len(rows), sum(map(len, said)), len(said) - 1, source["epochs"]), (spikes, spikes, epochs, epochs))
        self.assertEqual([source[count] for count in ("late", "leaps", "dropped", "out_of_range")], [0, 0, 0, 0])
        self.assertEqual(source["other_streams"], others_of_event_broadcaster(data) * repeats if kind == "event-broadcaster" else 0)
        for part in said:
            got, rows = sorted(rows[:len(part)], key=lambda row: row[:2]), rows[len(part):]
            for (sample, unit, amplitude), (time_ns, name_of_it, value) in zip(part, got):
                apart = (time_ns - got[0][0]) - (sample - part[0][0]) * 10**9 / RATE
                self.assertTrue(name_of_it == unit and abs(apart) <= 1, (unit, sample, name_of_it, time_ns, apart))
                is_it = value != value if amplitude is None else abs(value - amplitude) <= 1e-4 * abs(amplitude)
                self.assertTrue(is_it, (amplitude, value))
        return source

    def test_intan_begins_again_after_6_s(self):
        source = self.assert_through("intan", "intan-rhx-3.4.0-restart-6s.bin", "learn_s: 5", 1199, 1)
        self.assertEqual(source["steps"], 0)  # it was replayed in real time

    def test_intan_begins_again_after_more_than_a_leap(self):
        source = self.assert_through("intan", "intan-rhx-3.4.0-restart-14s.bin", "learn_s: 12", 1087, 1)
        self.assertEqual(source["steps"], 0)

    def test_the_event_broadcaster_twice_live_and_so_fast_that_both_rounds_wait_for_a_run_that_learns(self):
        for gap_ms in 20, 5, 0:
            with self.subTest(gap_ms=gap_ms):
                self.assert_through("event-broadcaster", "event-broadcaster-json.bin", "learn_s: 1", 430, 1, gap_ms, 2)

    def test_the_event_broadcaster_in_its_raw_form(self):
        self.assert_through("event-broadcaster", "event-broadcaster-raw.bin", "learn_s: 0.05, sample_rate_hz: 30000", 173, 0)

    def test_the_event_broadcaster_sends_a_line_of_another_stream_first_and_the_one_that_has_spikes_is_read(self):
        source = self.assert_through("event-broadcaster", "event-broadcaster-json-ttl-of-other-stream-first.bin", "learn_s: 1", 215, 0, 5)
        self.assertGreater(source["other_streams"], 0)
        self.assertRegex(pathlib.Path("rig.err").read_text(errors="replace"),
                         "is read, and '.*', which is sent as well, is not|came before any spike")

    def test_open_ephys_begins_acquisition_again_and_message_numbers_with_it(self):
        self.assert_through("open-ephys", "open-ephys-zmq-two-acquisitions.bin", "learn_s: 0.02, sample_rate_hz: 30000", 68, 1)

    def test_open_ephys_reads_a_file_again_and_message_numbers_go_on(self):
        self.assert_through("open-ephys", "open-ephys-zmq-file-reader-loop.bin", "learn_s: 0.1, sample_rate_hz: 30000", 40, 1)

    def test_open_ephys_has_names_beyond_ascii(self):
        self.assert_through("open-ephys", "open-ephys-zmq-nonascii.bin", "learn_s: 0.04, sample_rate_hz: 30000", 76, 0)

    def test_rhx_at_disconnect_and_connect_leaves_a_silent_connection_and_listens_anew(self):  # as it was seen
        port, = command.free_ports(1)
        seen = (RIGS / "intan_disconnect.py").read_text(encoding="utf-8")
        self.assertIn("25020", seen)
        pathlib.Path("disconnect.py").write_text(seen.replace("25020", str(port)), encoding="utf-8")
        source, rows = self.came("intan", "learn_s: 1", port, 600, pathlib.Path("disconnect.py").absolute())
        told = pathlib.Path("sender.out").read_text()
        self.assertIn("synfire connected again", told)
        self.assertNotIn("FAULT", told)
        self.assertIn("the connection was silent, and a new one is not: it is read from here on", pathlib.Path("rig.err").read_text())
        self.assertEqual({name for _, name, _ in rows}, {"A-000", "A-001", "A-002", "A-003"})
        self.assertEqual((len(rows), [source[count] for count in ("spikes", "epochs", "late", "malformed")]), (600, [600, 1, 0, 0]))
        steps = np.diff([time_ns for time_ns, _, _ in rows])
        self.assertEqual(set(np.delete(steps, 299)), {10_000_000})  # 300 samples, on both sides of the step
        self.assertGreater(steps[299], 0)


if __name__ == "__main__":
    command.main()
