# SPDX-License-Identifier: Apache-2.0
"""Keys from one end to the other: a player, a run, its sink and control socket, and who watches; whom nobody knows gets
nothing, and no secret is in anything that is printed or written."""
import os
import pathlib
import re
import secrets
import shutil
import stat
import sys
import unittest

import command
import schema

OWNERS = ("rig", "run", "desk", "nobody")
MODULES = os.environ.get("SYNFIRE_PYTHON")  # pyzmq reads the same files


class Keys(command.Test):
    @classmethod
    def prepare(cls):
        checks = schema.held(schema.parse(cls.run_command("doctor", "--json").stdout))["checks"]
        if next(check["level"] for check in checks if check["name"] == "keys") != "good":
            raise unittest.SkipTest("this libzmq was built without CURVE")
        cls.here = f"ipc://{os.getcwd()}"
        cls.made = {owner: cls.document("keys", owner) for owner in OWNERS}
        for folder, owner in ("listeners", "run"), ("desks", "desk"):
            os.mkdir(folder)
            shutil.copy(f"{owner}.key", folder)
        cls.synfire("simulate", "sim.h5", "--preset", "sym26", "--duration", 600, "--seed", 5)
        pathlib.Path("token").touch(mode=0o600)
        pathlib.Path("token").write_text(secrets.token_urlsafe(24) + "\n")
        pathlib.Path("run.yaml").write_text(f"""\
sources: [{{type: zmq, endpoint: "{cls.here}/spikes", key: run.key_secret, server_key: rig.key}}]
device: cpu
window: {{length_s: 0.4, hop_s: 0.2}}
mine: {{every: 0}}
significance: {{kind: "off"}}
graph: {{enabled: false}}
control: [{{endpoint: "{cls.here}/control", token_file: token, key: run.key_secret, clients: desks}}]
sinks: [{{type: jsonl, path: run.jsonl}}, {{type: zmq, endpoint: "{cls.here}/published", key: run.key_secret, clients: desks}}]
""")


class Files(Keys):
    def test_a_pair_is_two_files(self):
        made = self.made["rig"]
        self.assertEqual((made["public_file"], made["secret_file"], len(made["public_key"])), ("rig.key", "rig.key_secret", 40))
        self.assertIn(made["public_key"], pathlib.Path("rig.key").read_text())

    def test_only_its_owner_reads_a_secret(self):
        self.assertEqual(stat.S_IMODE(os.stat("rig.key_secret").st_mode), 0o600)

    def test_keys_are_never_replaced(self):
        self.refuses(73, "rig.key_secret: is there already, and keys are never replaced", "keys", "rig")

    def test_what_is_wrong_with_keys_is_said_before_anything_is_opened(self):
        self.refuses(78, "sources.0.server_key: is missing beside key", "run", "run.yaml", "--check", "--set", "sources.0.server_key=none")
        self.refuses(64, "the protocols of rigs have no keys", "play", "sim.h5", "--protocol", "maxwell", "--key", "rig.key_secret",
                     "--clients", "listeners")
        self.refuses(78, "is missing beside key", "play", "sim.h5", "--to", f"{self.here}/x", "--key", "rig.key_secret")

    def test_without_keys_a_source_is_shown_as_what_it_is(self):
        pathlib.Path("open.yaml").write_text(f'sources: [{{type: zmq, endpoint: "{self.here}/open"}}]\n'
                                             f'sinks: [{{type: zmq, endpoint: "{self.here}/told"}}]\n')
        player = self.begin("play", "play", "sim.h5", "--to", f"{self.here}/open")
        run = self.begin("open", "run", "open.yaml")
        table = self.synfire("top", f"{self.here}/told", "--once", "--wait", 60).stdout
        run.stop(0)
        player.stop()
        self.assertRegex(table, f"(?m)^{re.escape(self.here)}/open is unauthenticated: whoever answers there is believed")
        self.assertRegex(run.out.read_text(), f"(?m)^from {re.escape(self.here)}/open .* unauthenticated")


class Watched(Keys):
    """A run with keys throughout, which was watched with the right ones, with others and without, and has ended."""

    @classmethod
    def prepare(cls):
        super().prepare()
        control, published = f"{cls.here}/control", f"{cls.here}/published"
        player = cls.begin("play", "play", "sim.h5", "--to", f"{cls.here}/spikes", "--key", "rig.key_secret", "--clients", "listeners")
        run = cls.begin("run", "run", "run.yaml")
        cls.top = cls.document("top", control, "--token", "token", "--key", "desk.key_secret", "--server-key", "run.key", "--wait", 60)
        cls.heard = cls.synfire("top", published, "--key", "desk.key_secret", "--server-key", "run.key", "--once", "--wait", 60).stdout
        cls.strangers = [cls.run_command("top", *words, "--once", "--wait", 0.5) for words in (
            (control, "--token", "token"), (control, "--token", "token", "--key", "nobody.key_secret", "--server-key", "run.key"),
            (published, "--key", "desk.key_secret", "--server-key", "rig.key"))]

        def refusals_are_told():  # a status comes once a hop
            cls.table = cls.synfire("top", control, "--token", "token", "--key", "desk.key_secret", "--server-key", "run.key", "--once",
                                    "--wait", 60).stdout
            return "the control socket refused" in cls.table and re.search("(?m)^zmq .* refused", cls.table)

        command.wait_until(refusals_are_told, "a table with those that were refused", run)
        if MODULES:
            cls.example("subscriber", published, "--count", 3)
            cls.example("control", control, "token", "mark", "light on")
            cls.example("control", control, "token", "stop")
            run.end()
        else:
            run.stop(0)
        player.stop()
        cls.log = run.err.read_text()

    @classmethod
    def example(cls, name, *words):
        script = command.SOURCE / "examples" / f"{name}.py"
        cls.begin(name, sys.executable, "-B", script, "--keys", "desk.key_secret", "run.key", *words).end()

    def test_top_with_both_keys_is_answered_by_the_control_socket(self):
        source = self.top["rows"][0]
        self.assertEqual((source["kind"], source["authentication"], self.top["control_refused"]), ("source", "curve", 0))

    def test_and_hears_the_sink(self):
        self.assertIn("spikes", self.heard)
        self.assertNotIn("unauthenticated", self.heard)

    def test_without_keys_or_with_others_it_hears_nothing(self):
        for done in self.strangers:
            with self.subTest(words=done.args):
                self.assertEqual((done.returncode, done.stdout), (69, ""))
                self.assertIn("no status came within 0.5 s", done.stderr)

    def test_those_that_are_refused_are_told(self):
        self.assertRegex(self.log, "refused a client at .*: its public key .* is not among those")

    @unittest.skipUnless(MODULES, "no python3 with the module zmq")
    def test_python_hears_and_controls_with_the_same_files(self):
        self.assertTrue(pathlib.Path("subscriber.out").read_text())
        self.assertTrue(command.messages_of("run.jsonl", "status")[-1]["last"])  # by `stop`

    def test_no_secret_is_in_anything_that_is_printed_or_written(self):
        printed = [str(self.made), str(self.top), self.heard, self.table, *(done.stdout + done.stderr for done in self.strangers)]
        written = {path: path.read_bytes() for path in pathlib.Path().rglob("*") if path.is_file() and path.suffix != ".key_secret"}
        self.assertLessEqual({"run.jsonl", "run.out", "run.err", "play.out", "play.err"}, {path.name for path in written})
        for owner in OWNERS:
            secret = re.search('secret-key = "(.{40})"', pathlib.Path(f"{owner}.key_secret").read_text())[1]
            self.assertFalse([path for path, data in written.items() if secret.encode() in data])
            self.assertFalse([text for text in printed if secret in text])


if __name__ == "__main__":
    command.main()
