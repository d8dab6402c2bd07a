# SPDX-License-Identifier: Apache-2.0
"""A run is asked over its control socket by the examples that are installed: status, a wrong token, arming, reloading, stopping;
what it sends when armed is heard by an HTTP server that is not ours; `top` says how busy it is."""
import contextlib
import http.server
import json
import os
import pathlib
import re
import subprocess
import threading
import time

import command

command.need_modules()

import live
from live import having, write

ARMED = r"(?m)^pair: armed by control for [0-9]* s; sent [1-9]"


class Listener(http.server.BaseHTTPRequestHandler):
    """Keeps what is put there in the list `heard` of its server."""

    def do_PUT(self):
        text = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"]
        self.server.heard.append((self.path, text))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


class OfTheConfiguration(live.Controlled):
    """run.yaml has a trigger that is not armed, and a server that hears of it."""

    @classmethod
    def prepare(cls):
        super().prepare()
        cls.synfire("simulate", "sim.h5", "--preset", "sym26", "--duration", 600, "--seed", 5, "--quiet")
        live.write_token("token", "token+of/base64+0123456789abcdef==")
        live.write_token("wrong")
        server = http.server.HTTPServer(("127.0.0.1", 0), Listener)
        server.heard = cls.heard = []
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.server, cls.published = f"http://127.0.0.1:{server.server_address[1]}", f"ipc://{os.getcwd()}/published"
        cls.yaml = f"""\
sources: [{{type: replay, recording: sim.h5, speed: 1}}]
device: cpu
window: {{length_s: 0.4, hop_s: 0.2}}
mine: {{every: 0}}
significance: {{kind: "off"}}
graph: {{enabled: false}}
triggers: [{{name: pair, episode: "A -(4,6]-> B", armed: false, max_age_ms: 0}}]
control: [{{endpoint: "{cls.socket}", token_file: token}}]
sinks:
- {{type: jsonl, path: run.jsonl}}
- {{type: zmq, endpoint: "{cls.published}"}}
- type: command
  endpoint: "{cls.server}"
  via: http
  target: /api/message
  send: '{{{{"text": "{{name}} {{occurrence}}"}}}}'
  timeout_ms: 60000 # who serves is in the process that looks for messages
"""
        write("run.yaml", cls.yaml)


class OfARun(OfTheConfiguration):
    """A run of it goes on until the end of the tests, and ends well."""

    @classmethod
    def prepare(cls):
        super().prepare()
        cls.live = cls.begin("run", "run", "run.yaml")
        command.wait_for("control listens at", "run.err", cls.live)
        cls.addClassCleanup(lambda: cls.live.poll() is None and cls.live.stop(0))
        command.wait_until(lambda: len(cls.messages("status")) > 1, "a second status", cls.live)
        cls.first = cls.control("status")

    def setUp(self):
        self.control("disarm")

    @staticmethod
    def messages(topic, **of):
        if not os.path.exists("run.jsonl"):
            return []
        return [m for m in command.messages_of("run.jsonl", topic, whole=True) if all(m[key] == value for key, value in of.items())]

    @contextlib.contextmanager
    def followed_by(self, topic, **of):
        """After what the block does there is another message of the topic with these values."""
        before = len(self.messages(topic, **of))
        yield
        command.wait_until(lambda: len(self.messages(topic, **of)) > before, f"{topic} {of}", self.live)


class Asked(OfARun):
    def test_a_status_has_what_is_disarmed(self):
        self.assertRegex(self.first, "^pair: disarmed; sent 0")

    def test_the_example_says_what_it_needs(self):
        self.control_refuses("missing: TOKEN_FILE, its `token_file`; a command, such as status$", self.socket)
        self.control_refuses("no-such-token: No such file", self.socket, "no-such-token", "arm")
        self.assertEqual(self.run_control(self.socket, "no-such-token", "arm").stderr.count("\n"), 1)

    def test_only_the_token_arms_and_only_what_there_is(self):
        self.control_refuses(".*the token is wrong", self.socket, "wrong", "arm")
        self.control_refuses(".*no trigger is named 'nobody'", self.socket, "token", "arm", "nobody")
        self.assertRegex(self.control("status"), "^pair: disarmed;")

    def test_what_is_armed_is_sent_and_counted(self):
        with self.followed_by("delivery", outcome="sent"), self.followed_by("decision", outcome="sent", reason=None):
            self.control("arm", "pair", 600)
        command.wait_until(lambda: re.search(ARMED, self.control("status")), "what was sent")  # in the newest status, once a hop

    def test_the_controller_arms_and_what_it_armed_is_disarmed_once_it_is_killed(self):
        controller = self.begin("killed", live.EXAMPLES / "controller.py", self.published, self.socket, "token", "pair", 1)
        command.wait_for(r"^pair [1-9][0-9]*: [0-9.]* ms after", "killed.out", controller)
        with self.followed_by("decision", reason="arming expired"):
            controller.put_away()

    def test_the_controller_leaves_when_somebody_else_disarms(self):
        controller = self.begin("left", live.EXAMPLES / "controller.py", self.published, self.socket, "token", "pair", 3)
        command.wait_for("^pair [1-9]", "left.out", controller)
        while controller.poll() is None:  # which it tells once it has seen it armed, where it looks each second
            self.control("arm", "pair", 600)
            time.sleep(2.5)
            self.control("disarm")
            with contextlib.suppress(subprocess.TimeoutExpired):
                controller.wait(10)
        controller.end(1)
        self.assertIn("pair is not armed any more", controller.err.read_text())

    def test_a_configuration_is_read_again_where_that_takes_no_new_run(self):
        def write_back():
            write("run.yaml", self.yaml)
            self.control("reload")

        self.addCleanup(write_back)
        self.control("arm", "pair", 600)
        changed = self.yaml.replace("max_age_ms: 0", "max_age_ms: 0, refractory_ms: 1e9")
        with self.followed_by("decision", outcome="withheld", reason="refractory"):
            write("run.yaml", changed)
            self.control("reload")
        write("run.yaml", changed.replace("length_s: 0.4", "length_s: 0.6"))
        self.control_refuses(".*window.length_s: has changed, which takes a new run", self.socket, "token", "reload")


class Checked(OfTheConfiguration):
    def test_a_token_that_others_read_is_none(self):
        self.synfire("run", "run.yaml", "--check")
        os.chmod("token", 0o644)
        self.addCleanup(os.chmod, "token", 0o600)
        self.refuses(78, "control.0.token_file: token: ", "run", "run.yaml", "--check")

    def test_a_sink_that_can_reach_nobody_is_refused(self):
        for sentence, *settings in (
                ("no.such.host.invalid:9000/: cannot find the host", "type=osc", "endpoint=no.such.host.invalid:9000"),
                ("expected HOST:PORT", "type=osc", "endpoint=127.0.0.1:99999"),
                ("found the byte 0x0d", "type=command", "via=http", "endpoint=http://127.0.0.1:80", "target=/a\r\nX:y"),
                ("expected tcp://HOST:PORT", "type=command", "endpoint=127.0.0.1")):
            with self.subTest(sentence=sentence):
                self.refuses(78, sentence, "run", "run.yaml", "--check", *having(*(f"sinks.3.{setting}" for setting in settings)))


class Top(OfARun):
    """How busy it is, asked and listened to."""

    @classmethod
    def prepare(cls):
        super().prepare()
        cls.asked = ("top", cls.socket, "--token", "token", "--once")

    def test_the_table_is_as_wide_as_a_screen(self):
        table = self.synfire(*self.asked).stdout  # of which the folder takes its part
        self.assertRegex(table, "(?m)^--verbose adds p50 ms")
        self.assertNotRegex(table, "(?m)^ .* p50 ms")

    def test_verbose_has_every_column(self):
        table = self.synfire(*self.asked, "--verbose").stdout
        self.assertRegex(table, r"(?m)^[^ ]+  up [0-9]+ s  [0-9]+ spikes  ([0-9]\.[0-9]|[1-9][0-9]+) Hz  hop ")
        self.assertRegex(table, r"(?m)^stage +watch .* - +- +[0-9.]+ +[0-9.]+ +[0-9.]+$")
        self.assertRegex(table, r"(?m)^sink +jsonl run.jsonl +[0-9.]+ % ")

    def test_what_is_published_says_the_same(self):
        out = self.document("top", self.published)  # a terminal is not needed
        rows = {row["name"]: row for row in out["rows"]}
        self.assertLessEqual({"watch", "to the windows", "hop", "count", "publish", "jsonl run.jsonl"}, set(rows))
        self.assertEqual((out["hop_ms"], out["last"]), (200, False))
        self.assertGreater(out["rate_hz"], 0)
        self.assertTrue(0 < rows["watch"]["p50_ms"] <= rows["watch"]["p99_ms"] <= rows["watch"]["max_ms"], rows["watch"])
        self.assertTrue(0 < rows["hop"]["hop_share"] and rows["to the windows"]["room"] > 0, rows)
        self.assertTrue(0 < out["latency_p50_ms"] <= out["latency_p99_ms"] <= out["latency_max_ms"], out)
        self.assertEqual({row["lost"] for row in rows.values()}, {0})

    def test_who_does_not_answer_is_told(self):
        self.refuses(69, "the token is wrong", "top", self.socket, "--token", "wrong", "--once")
        self.refuses(69, "no status came within 0.1 s", "top", f"ipc://{os.getcwd()}/nobody", "--token", "token", "--once", "--wait", 0.1)
        self.refuses(66, "nowhere: cannot open", "top", "nowhere", "--once")

    def test_a_configuration_names_the_socket_and_token_else_what_is_published(self):
        write("asked.yaml", f'control: [{{endpoint: "{self.socket}", token_file: {pathlib.Path("token").absolute()}}}]\n')
        write("heard.yaml", f'sinks: [{{type: jsonl, path: none.jsonl}}, {{type: zmq, endpoint: "{self.published}"}}]\n')
        for path, endpoint in ("asked.yaml", self.socket), ("heard.yaml", self.published):
            with self.subTest(path=path):
                out = self.document("top", path)
                self.assertEqual(out["endpoint"], endpoint)
                self.assertGreater(out["spikes"], 0)

    def test_a_run_that_tells_nobody_is_refused(self):
        write("quiet.yaml", "sinks: [{type: jsonl, path: none.jsonl}]\n")
        self.refuses(78, "its run tells nobody how busy it is", "top", "quiet.yaml")

    def test_a_sink_that_all_reach_is_asked_on_this_machine(self):
        write("all.yaml", 'sinks: [{type: zmq, endpoint: "tcp://*:19", insecure: true}]\n')
        self.refuses(69, "tcp://127.0.0.1:19: no status came", "top", "all.yaml", "--once", "--wait", 0.1)


class Stopped(OfARun):
    def test_what_was_delivered_was_heard_and_the_run_ends_well(self):
        with self.followed_by("delivery", outcome="sent"):
            self.control("arm", "pair", 600)
        command.wait_until(lambda: self.heard, "a message", self.live)
        self.control("mark", "light on")
        self.control("stop")
        self.live.end(0)
        told = self.live.err.read_text()
        self.assertIn(f"command publishes to {self.server}", told)
        self.assertNotIn("the page of this run", told)
        delivered = [m for m in self.messages("delivery", outcome="sent") if m["sink"].startswith("command http:")]
        self.assertGreater(len(delivered), 0)
        self.assertEqual(len(self.heard), len(delivered))
        for path, text in self.heard:
            self.assertEqual(path, "/api/message")
            self.assertRegex(text, "^pair [1-9][0-9]*$")


if __name__ == "__main__":
    command.main()
