# SPDX-License-Identifier: Apache-2.0
"""A sender that is far ahead, and a small ring: what the transport holds waits for room in the ring, and nothing is lost."""
import pathlib

import command

command.need_modules()
import h5py


class Backlog(command.Test):
    def test_what_has_no_room_in_the_ring_waits(self):
        self.synfire("simulate", "sim.h5", "--preset", "sym26", "--duration", 40, "--seed", 5, "--quiet")
        port, = command.free_ports(1)
        pathlib.Path("run.yaml").write_text(f"""\
window: {{length_s: 10, hop_s: 5}}
graph: {{enabled: false}}
mine: {{every: 0}}
sources: [{{type: zmq, endpoint: "tcp://127.0.0.1:{port}", ring: 16, policy: drop-oldest}}]
sinks: [{{type: hdf5, path: run.h5}}]
""")
        player = self.begin("play", "play", "sim.h5", "--to", f"tcp://127.0.0.1:{port}", "--subscribers", 1, "--speed", 20)
        self.synfire("run", "run.yaml", "--quiet")
        player.end()
        with h5py.File("sim.h5") as sent, h5py.File("run.h5") as recorded:
            self.assertEqual(len(recorded["spikes/time_ns"]), len(sent["spikes/time_ns"]), recorded["results/sources"][-1:])


if __name__ == "__main__":
    command.main()
