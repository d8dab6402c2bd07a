# SPDX-License-Identifier: Apache-2.0
"""What the tests of rigs share: a recording is played as a rig sends it into a run that writes it down, and nothing is lost
that is not counted. What came is in rig.h5 and rig.jsonl."""
import json
import pathlib

import command

command.need_modules()
import h5py
import numpy as np

COUNTS = ("spikes", "late", "dropped", "out_of_range", "malformed", "gaps", "leaps", "held")


def configure(*sources, merge="lateness_ms: 50, leap_s: 0"):
    """rig.yaml, by which a run writes down what comes of these sources, and mines nothing."""
    listed = "\n".join(f"- {{{source}}}" for source in sources)
    pathlib.Path("rig.yaml").write_text(f"""\
sources:
{listed}
merge: {{{merge}}}
mine: {{every: 0}}
graph: {{enabled: false}}
sinks:
- {{type: hdf5, path: rig.h5, overwrite: true, policy: block}}
- {{type: jsonl, path: rig.jsonl, overwrite: true}}
""")
    pathlib.Path("rig.jsonl").write_text("")


def edges(path):
    """The edges of digital lines in a recording."""
    with h5py.File(path) as file:
        return int(np.sum(file["markers/kind"][:] == 1)) if "markers" in file else 0


class Test(command.Test):
    def await_spikes(self, count, run):
        """Until so many have come, or the run has ended."""
        def there():
            told = command.messages_of("rig.jsonl", "status", whole=True)
            return run.poll() is not None or told and told[-1]["sources"][0]["spikes"] >= count

        command.wait_until(there, f"{count} spikes", run)

    def play(self, protocol, endpoint, recording, keys, *options, merge="lateness_ms: 50, leap_s: 0"):
        """Plays the recording so; the run's account of its source. The run is stopped once all has come: rigs send no end."""
        configure(f'type: {protocol}, endpoint: "{endpoint}", timeout_s: 60, {keys}', merge=merge)
        player = self.begin("play", "play", recording, "--protocol", protocol, "--to", endpoint, "--json", *options)
        run = self.begin("rig", "run", "rig.yaml", "--json")
        player.end()
        self.await_spikes(player.document()["spikes"], run)
        run.stop()
        return run.document()["status"]["sources"][0]

    def assert_same(self, recording, rate, source, name=None):
        """What came is what was recorded, to the nearest sample of `rate`, and the account has no loss. `name` gives what the
        rig calls the unit i."""
        def spikes(path, named):
            with h5py.File(path) as file:
                units = [name.decode() for name in file["units/name"][:]]
                if named:
                    units = [named(i) for i in range(len(units))]
                index = np.rint((file["spikes/time_ns"][:] * int(rate) + 5 * 10**8) // 10**9 * (1e9 / rate)).astype(np.int64)
                return sorted(zip(index.tolist(), (units[unit] for unit in file["spikes/unit"][:])))

        sent, came = spikes(recording, name), spikes("rig.h5", None)
        account = {key: source[key] for key in COUNTS}
        with open("play.out") as file:
            self.assertEqual(json.load(file)["spikes"], len(sent), account)
        self.assertEqual(len(came), len(sent), account)
        self.assertEqual([source["gaps"], source["malformed"], source["restarts"]], [0, 0, 0], account)
        self.assertEqual([(a, b) for a, b in zip(sent, came) if abs(a[0] - b[0]) > 1 or a[1] != b[1]][:5], [])

    def assert_taken(self, kind, port, keys, send, scheme="tcp", leap_s=0, **expected):
        """A run takes what `send(port)` sends, which gives how many spikes these are; `expected` is of the account, 0 where not
        said."""
        configure(f'type: {kind}, endpoint: "{scheme}://127.0.0.1:{port}", timeout_s: 60, {keys}', merge=f"lateness_ms: 50, leap_s: {leap_s}")
        run = self.begin("rig", "run", "rig.yaml", "--json")
        count = send(port)
        self.await_spikes(count, run)
        run.stop()
        source = run.document()["status"]["sources"][0]
        with h5py.File("rig.h5") as file:
            self.assertEqual(len(file["spikes/time_ns"]), count, source)
        self.assertEqual(source["spikes"] - source["out_of_range"], count, source)
        lost = dict.fromkeys(("gaps", "gap_lost", "other_streams", "restarts", "malformed", "out_of_range", "late", "dropped", "leaps"), 0)
        lost.update(expected)
        self.assertEqual({key: source[key] for key in lost}, lost)

    def refuses_patiently(self, code, sentence, *words):
        """refuses, of what a run says once `timeout_s` is over: 2 s, or more on a slow machine."""
        for timeout_s in 2, 20:
            done = self.run_command(*words, "--set", f"sources.0.timeout_s={timeout_s}")
            if done.returncode == code and sentence in done.stderr:
                break
        else:
            timeout_s = 120
        self.refuses(code, sentence, *words, "--set", f"sources.0.timeout_s={timeout_s}")
