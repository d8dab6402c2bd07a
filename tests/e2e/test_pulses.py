# SPDX-License-Identifier: Apache-2.0
"""Two rigs that share TTL pulses, with clocks 50 ppm and minutes apart: what both saw is recorded at one time."""
import pathlib
import shutil

import command
import rig
import h5py
import numpy as np


def differ_in_intervals(first, second):
    """Pulses at uneven intervals in both, on clocks 50 ppm apart; a pulse's end goes with it."""
    random = np.random.default_rng(5)
    times, state = first["markers/time_ns"][:], first["markers/state"][:]
    for i in np.flatnonzero(first["markers/kind"][:] == 1):
        if state[i] == 1:
            moved = int(random.integers(0, 250_000_000))
        times[i] += moved
    order = np.argsort(times, kind="stable")
    for column in first["markers"].values():
        if isinstance(column, h5py.Dataset) and len(column) == len(times):
            column[...] = (times if column.name.endswith("time_ns") else column[:])[order]
            second[column.name][...] = column[:]
    for name in "markers/time_ns", "spikes/time_ns":
        second[name][...] = np.rint(first[name][:] * (1 + 50e-6)).astype(np.int64)


class Pulses(rig.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "first.h5", "--unit-count", 5, "--rate", 20, "--duration", 24, "--marker-every", 0.6, "--seed", 3)
        shutil.copy("first.h5", "second.h5")
        with h5py.File("first.h5", "r+") as first, h5py.File("second.h5", "r+") as second:
            differ_in_intervals(first, second)

    def test_what_both_rigs_saw_is_recorded_at_one_time(self):
        ends = [f"tcp://127.0.0.1:{port}" for port in command.free_ports(2)]
        rig.configure(*(f'type: event-broadcaster, endpoint: "{end}", timeout_s: 60, learn_s: 1, pulses: ttl0' for end in ends),
                      merge="lateness_ms: 50, stall_ms: 60000")
        players = [self.begin(name, "play", f"{name}.h5", "--protocol", "event-broadcaster", "--to", end)
                   for name, end in zip(("first", "second"), ends)]
        sources = self.document("run", "rig.yaml", "--duration", 22)["status"]["sources"]
        for player in players:
            player.end()
        self.assertEqual([source["pulses"] for source in sources], ["reference", "locked"])
        self.assertAlmostEqual(sources[1]["drift_ppm"], -50, delta=10)
        self.assertLess(sources[1]["residual_us"], 60)
        self.assertEqual([sources[1][count] for count in ("late", "leaps", "dropped")], [0, 0, 0])
        with h5py.File("rig.h5") as file:
            times, units, count = file["spikes/time_ns"][:], file["spikes/unit"][:], len(file["units/name"]) // 2
        for unit in range(count):
            one, other = times[units == unit], times[units == unit + count]
            self.assertGreater(len(one), 200)
            self.assertAlmostEqual(len(one), len(other), delta=2)
            size = min(len(one), len(other))
            self.assertLess(np.abs(one[:size] - other[:size]).max(), 100_000)

    def test_a_virtual_clock_has_no_pulses(self):
        pathlib.Path("virtual.yaml").write_text("sources: [{type: replay, recording: first.h5, speed: max, pulses: ttl0}]\n")
        self.refuses(78, "sources.0.pulses: found shared pulses, but this source is on a virtual clock", "run", "virtual.yaml")


if __name__ == "__main__":
    command.main()
