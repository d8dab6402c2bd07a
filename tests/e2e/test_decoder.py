# SPDX-License-Identifier: Apache-2.0
"""The decoder of docs/closed-loop.md, as it stands there, on a run: it has the newest ten bins, each as it was counted."""
import pathlib
import re
import time

import command

command.need_modules()
import zmq

LISTENED = "tcp://127.0.0.1:7710"


class Over(Exception):
    """Nothing more comes."""


def receive_until(is_over):
    """What a socket receives until it is over, and then what is under way still."""
    receive = zmq.Socket.recv_multipart

    def wait(socket, *arguments, **options):
        until = time.monotonic() + 300
        over = False
        while socket.poll(200) == 0:
            if over or time.monotonic() > until:
                raise Over
            over = is_over()
        return receive(socket, *arguments, **options)

    return wait


class Decoder(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--preset", "sym26", "--duration", 5, "--quiet")
        port, = command.free_ports(1)
        pathlib.Path("run.yaml").write_text(f"""\
mine: {{every: 0}}
graph: {{enabled: false}}
features: {{bin_ms: 20, units: ["*"]}}
sinks:
- {{type: zmq, endpoint: "tcp://127.0.0.1:{port}", policy: block, wait_subscribers: 1}}
- {{type: jsonl, path: run.jsonl, policy: block}}
""")
        run = cls.begin("run", "run", "run.yaml", "--replay", "sim.h5", "--speed", "max", "--quiet")
        cls.names = cls.decode(f"tcp://127.0.0.1:{port}", lambda: run.poll() is not None)
        run.end()
        cls.bins = [message["values"] for message in command.messages_of("run.jsonl", "features")]

    @staticmethod
    def decode(endpoint, is_over):
        """What the page's Python has when it is over, with weights that add."""
        code, = re.findall(r"```python\n(.*?)```", (command.SOURCE / "docs/closed-loop.md").read_text(encoding="utf-8"), re.DOTALL)
        assert code.count(LISTENED) == 1 and code.count("numpy.zeros") == 1
        names, receive = {"__name__": "decoder"}, zmq.Socket.recv_multipart
        zmq.Socket.recv_multipart = receive_until(is_over)
        try:
            exec(code.replace(LISTENED, endpoint).replace("numpy.zeros", "numpy.ones"), names)
        except Over:
            return names
        finally:
            zmq.Socket.recv_multipart = receive
        raise AssertionError("the decoder ends by itself")

    def test_it_has_the_newest_ten_bins(self):
        self.assertGreaterEqual(len(self.bins), 240)
        self.assertGreater(sum(map(sum, self.bins)), 1000)
        self.assertEqual(self.names["rows"], self.bins[-10:])

    def test_what_it_decodes_is_of_all_units_in_these_bins(self):
        units = command.messages_of("run.jsonl", "features_names")[0]["names"]
        self.assertEqual(self.names["weights"].shape, (2, 10 * len(units)))
        self.assertEqual(self.names["velocity"].tolist(), [sum(map(sum, self.bins[-10:]))] * 2)


if __name__ == "__main__":
    command.main()
