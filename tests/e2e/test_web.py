# SPDX-License-Identifier: Apache-2.0
"""The page of a run without a browser: what it sends (docs/page.md), held against the lines of the same run, to whom, and that nobody
holds anything up."""
import contextlib
import http.client
import json
import math
import socket
import threading
import time
import unittest

import command

command.need_modules()
import h5py

import live
import paged
import web_client
from live import having

A_B, D_E = "A -(4,6]-> B", "D -(4,6]-> E"
ARMING = having("triggers.0.on=episode", "triggers.0.name=reward", f"triggers.0.episode={A_B}", "triggers.0.armed=false",
                "triggers.1.on=episode", "triggers.1.name=other", f"triggers.1.episode={D_E}")
CONTROL = having("control.0.endpoint=ipc://control", "control.0.token_file=control-token")
RIGHT = {"trusted": True, "controls": True, "refused": None}


def everything(page):
    """All frames to the end, by kind."""
    found = {kind: [] for kind in range(1, 7)}
    for kind, _, payload in page.frames():
        found[kind].append(payload)
    return found


def of_topic(messages, topic):
    """Those of the topic, less what differs from one reader to the next."""
    return [{key: value for key, value in one.items() if key != "age_ms"} for one in messages if one["topic"] == topic]


def answer(page):
    """To what was asked last."""
    while True:
        kind, _, payload = page.frame()
        if kind == web_client.ANSWER:
            return web_client.message(payload)


def ask(page, text):
    page.send(text)
    return answer(page)


def answers(page):
    """Those that come until it is cut off."""
    return [frame for frame in page.frames() if frame[0] == web_client.ANSWER]


@unittest.skipIf(paged.BUILT, "built with libwebsockets")
class WithoutAPage(paged.Test):
    def test_a_build_that_has_none_says_so(self):
        self.refuses(69, "this build has no page", "run", "--replay", "sim.h5", "--web", "--quiet")


@unittest.skipUnless(paged.BUILT, "built without libwebsockets")
class Numbers(paged.Test):
    """What a page gets to the end of a run."""

    @classmethod
    def prepare(cls):
        super().prepare()
        run, port, _ = cls.start(1)
        with contextlib.closing(web_client.Page(port)) as page:
            cls.found = everything(page)
        run.end(0)
        cls.lines = paged.lines_of_run()
        cls.told = [web_client.message(payload) for payload in cls.found[web_client.MESSAGE]]
        cls.last = paged.newest(cls.lines, "status")

    def test_every_window_comes_in_order_with_what_stands_out_in_it(self):
        of_run, of_page = of_topic(self.lines, "episodes"), of_topic(self.told, "episodes")
        self.assertGreater(len(of_run), 10)
        self.assertEqual(len(of_page), len(of_run))
        self.assertGreater(max(len(one["episodes"]) for one in of_run), paged.TOP)
        for page_has, run_has in zip(of_page, of_run):
            few, all_of_them = page_has.pop("episodes"), run_has.pop("episodes")
            self.assertEqual(page_has, run_has)
            self.assertEqual(page_has["counted"], len(all_of_them))
            self.assertEqual(few, sorted((one for one in all_of_them if one in few), key=all_of_them.index))
            self.assertEqual(len(few), min(paged.TOP, len(all_of_them)))

    def test_of_other_topics_the_newest_comes(self):
        for topic in "trigger", "density":
            with self.subTest(topic=topic):
                of_run, of_page = of_topic(self.lines, topic), of_topic(self.told, topic)
                self.assertEqual(of_page[-1], of_run[-1])
                self.assertEqual([one for one in of_page if one not in of_run], [])
        status = paged.newest(self.told, "status")
        self.assertTrue(status["last"])
        self.assertEqual([status[key] for key in ("spikes", "unit_rates_hz")], [self.last[key] for key in ("spikes", "unit_rates_hz")])

    def test_the_graph_is_what_the_changes_come_to(self):
        graph = {}
        for change in (change for one in self.lines if one["topic"] == "graph" for change in one["changes"]):
            key = change["from"], change["to"], *change["delay_ms"]
            graph.pop(key, None)
            if not change["removed"]:
                graph[key] = change
        total, rows = web_client.edges(self.found[web_client.EDGES][-1])
        self.assertGreater(total, 5)
        self.assertEqual({(int(row[0]), int(row[1]), row[2], row[3]) for row in rows}, set(graph))
        self.assertEqual((total, len(rows)), (len(graph), len(graph)))
        for start, end, low, high, count, weight, _, q, least_q in rows:
            edge = graph[int(start), int(end), low, high]
            self.assertEqual(count, edge["count"])
            self.assertAlmostEqual(weight, edge["weight"], delta=1e-5 * abs(weight))
            self.assertEqual((math.isnan(q), math.isnan(least_q)), (edge["q"] is None, edge["least_q"] is None))

    def test_each_spike_is_in_its_column_and_row_and_in_no_other(self):
        with h5py.File("sim.h5") as file:
            spikes = list(zip(file["spikes/time_ns"][:].tolist(), file["spikes/unit"][:].tolist()))
        hello = web_client.message(self.found[web_client.HELLO][0])
        self.assertEqual([unit[0] for unit in hello["units"]], [chr(65 + i) for i in range(26)])
        width, expected, seen, after = round(hello["column_s"] * 1e9), {}, {}, None
        for time_ns, unit in spikes:
            key = time_ns // width, unit // hello["units_per_row"]
            expected[key] = expected.get(key, 0) + 1
        for payload in self.found[web_client.RASTER]:
            first, cells, drawn = web_client.columns(payload)
            self.assertTrue(after is None or first >= after)
            after = first + len(cells)
            seen.update({(first + i, row): count for i, column in enumerate(cells) for row, count in enumerate(column) if count})
        self.assertEqual((drawn, self.last["spikes"]), (len(spikes), len(spikes)))
        self.assertTrue(seen == expected, "spikes are elsewhere")


@unittest.skipUnless(paged.BUILT, "built without libwebsockets")
class Strangers(paged.Test):
    """A run that does not begin, since no browser stays."""

    @classmethod
    def prepare(cls):
        super().prepare()
        cls.live, cls.port, cls.token = cls.start(16)
        cls.addClassCleanup(cls.end, cls.live)

    def test_only_the_page_itself_gets_a_websocket(self):
        here, page = "127.0.0.1:{port}", "synfire-page-1"
        for origin, host, protocol in ((None, here, page), ("http://evil.example", here, page),
                                       ("http://evil.example", "evil.example", page), ("https://127.0.0.1:{port}", here, page), ("null", here, page), ("http://127.0.0.1:1", here, page),
                                       ("http://127.0.0.1:{port}", None, page), ("http://127.0.0.1:{port}", here, "synfire-page-9"),
                                       ("http://127.0.0.1:{port}", here, None)):
            with self.subTest(origin=origin, host=host, protocol=protocol), self.assertRaises(web_client.Refused) as refused:
                web_client.Page(self.port, origin, host, protocol)
            self.assertNotIn(" 101 ", str(refused.exception))
        web_client.Page(self.port, "http://localhost:9000", "localhost:9000").close()  # through a tunnel

    def test_texts_come_with_a_policy_and_to_this_host_alone(self):
        for path in "/", "/metrics", "/healthz", "/config", "/page.js":
            with self.subTest(path=path):
                code, headers, _ = web_client.get(self.port, path)
                self.assertEqual(code, 200)
                self.assertRegex(headers["content-security-policy"], "^default-src 'none'; script-src 'self'; ")
                self.assertNotIn("unsafe", headers["content-security-policy"])
                self.assertEqual(web_client.get(self.port, path, host="evil.example")[0], 403)

    def test_nothing_else_is_served(self):
        self.assertIn(web_client.get(self.port, "/../../etc/passwd")[0], (400, 403, 404))
        self.assertEqual(web_client.get(self.port, "/nowhere")[0], 404)
        self.assertEqual(web_client.get(self.port, "/", method="POST")[0], 405)

    def test_no_other_protocol_is_turned_to(self):
        with socket.create_connection(("127.0.0.1", self.port)) as other:
            other.settimeout(60)
            other.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                          "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n".encode())
            self.assertNotIn(b" 101 ", other.recv(4096))

    def test_without_the_token_nothing_is_done(self):
        page = self.open(self.port)
        self.assertEqual(page.frame()[0], web_client.HELLO)
        none, wrong = "0123456789abcdef", ("0" if self.token[0] != "0" else "1") + self.token[1:]
        self.assertEqual(ask(page, f"mark {none}"), {"trusted": False, "controls": False, "refused": "expected the token first"})
        self.assertEqual(ask(page, f"token {wrong}"),
                         {"trusted": False, "controls": False, "refused": "the token is not that of this run"})
        self.assertEqual(ask(page, f"token {self.token}"), {"trusted": True, "controls": False, "refused": None})
        self.assertIn("no such episode", ask(page, f"mark {none}")["refused"])
        self.assertIsNone(ask(page, "unmark")["refused"])
        page.send("stop everything")  # is no request, and ends the connection
        self.assertEqual(list(page.frames()), [])

    def test_frames_that_there_are_not_or_that_are_longer_than_a_request_end_the_connection(self):
        for first, data in ((0xc1, b"unmark"), (0xa1, b"unmark"), (0x91, b"unmark"), (0x83, b"unmark"), (0x8b, b""), (0x01, b"unmark"),
                            (0x80, b"unmark"), (0x09, b""), (0x89, b"x" * 126), (0x81, b"unmark" + b" " * 320), (0x81, b"\xff\xfe")):
            with self.subTest(first=hex(first), length=len(data)):
                page = self.open(self.port)
                page.frame_of(first, data)
                self.assertEqual(answers(page), [])
        page = self.open(self.port)
        page.frame_of(0x81, b"unmark")  # which there is
        self.assertEqual(answer(page)["refused"], "expected the token first")


@unittest.skipUnless(paged.BUILT, "built without libwebsockets")
class Arming(paged.Test):
    """Nobody arms without the control socket's token, whatever the page's own; who armed, and when, is told."""

    @classmethod
    def prepare(cls):
        super().prepare()
        live.write_token("control-token", "an-honest-token+of/base64==")

    @contextlib.contextmanager
    def page_of_a_run(self, *words):
        """The page, and its token."""
        run, port, token = self.start(1, "--speed", 1, *ARMING, *words)
        yield self.open(port), token
        self.end(run)

    def told(self, page, seq):
        """The triggers of a status after that one."""
        while True:
            kind, _, payload = page.frame()
            message = web_client.message(payload) if kind == web_client.MESSAGE else {}
            if message.get("topic") == "status" and message["seq"] > seq:
                return message["seq"], *message["triggers"]

    def test_a_page_arms_with_the_token_of_the_control_socket(self):
        with self.page_of_a_run(*CONTROL) as (page, token):
            seq, reward, other = self.told(page, 0)
            self.assertEqual([reward[key] for key in ("armed", "not_armed", "armed_by", "armed_at_s")], [False, "disarmed", None, None])
            self.assertEqual((other["armed"], other["armed_by"]), (True, "configuration"))
            refusal = {"trusted": True, "controls": False, "refused": "expected the token of the control socket first"}
            self.assertTrue(ask(page, f"token {token}")["trusted"])
            self.assertEqual(ask(page, "arm reward"), refusal)
            self.assertEqual(ask(page, f"control {token}"), {**refusal, "refused": "the token is wrong"})
            before = time.monotonic()
            self.assertEqual(ask(page, "control an-honest-token+of/base64="), {**refusal, "refused": "the token is wrong"})
            self.assertGreater(time.monotonic() - before, 0.15)  # held back
            self.assertEqual(ask(page, "disarm other"), refusal)
            seq, reward, other = self.told(page, seq + 1)
            self.assertEqual((reward["armed"], other["armed"]), (False, True))
            self.assertEqual(ask(page, "control an-honest-token+of/base64=="), RIGHT)
            self.assertEqual(ask(page, "arm none"), {**RIGHT, "refused": "trigger: no trigger is named 'none'"})
            self.assertEqual(ask(page, "arm reward"), RIGHT)
            seq, reward, other = self.told(page, seq + 2)
            self.assertEqual((reward["armed"], reward["armed_by"]), (True, "page"))
            self.assertTrue(0 < reward["armed_at_s"] < 30, reward)
            self.assertEqual([ask(page, "disarm reward"), ask(page, "disarm other")], [RIGHT, RIGHT])
            seq, reward, other = self.told(page, seq + 2)
            self.assertEqual((reward["not_armed"], other["not_armed"], reward["armed_by"]), ("disarmed", "disarmed", None))

    def test_who_goes_on_before_a_guess_is_answered_is_cut_off(self):
        with self.page_of_a_run(*CONTROL) as (page, token):
            self.assertTrue(ask(page, f"token {token}")["trusted"])
            page.send("control an-honest-token+of/base64!!")
            page.send("control an-honest-token+of/base64==")
            self.assertEqual(answers(page), [])

    def test_nobody_arms_where_no_control_is_configured_nor_from_a_page_that_others_reach(self):
        for words in (), (*CONTROL, *having("sinks.1.endpoint=0.0.0.0:0", "sinks.1.insecure=true")):
            with self.subTest(words=words), self.page_of_a_run(*words) as (page, _):
                self.assertRegex(ask(page, "control an-honest-token+of/base64==")["refused"], "^nothing is armed from this page")
                self.assertFalse(ask(page, "arm reward")["controls"])


@unittest.skipUnless(paged.BUILT, "built without libwebsockets")
class Readers(paged.Test):
    def test_marks_are_the_occurrences(self):
        run, port, token = self.start(1, *having("triggers.0.on=episode", "triggers.0.name=reward", f"triggers.0.episode={D_E}",
                                                 "triggers.1.on=trigger", "triggers.1.name=control", "triggers.1.follows=reward"))
        page = self.open(port)
        watched, *by_name = web_client.message(page.frame()[2])["watch"]
        self.assertEqual([watched[key] for key in ("episode", "trigger", "names", "delays_ms")],
                         [f"{A_B} -(4,6]-> C", None, ["A", "B", "C"], [[4, 6], [4, 6]]])
        self.assertEqual([(one["trigger"], one["episode"], one["names"]) for one in by_name],
                         [("reward", D_E, ["D", "E"]), ("control", D_E, ["D", "E"])])
        self.assertEqual(by_name[0]["id"], by_name[1]["id"])
        page.send(f"token {token}")
        page.send(f"mark {watched['id']}")
        found = everything(page)
        run.end(0)
        marked = []
        for payload in found[web_client.MARKS]:
            name, units, occurrences = web_client.marks(payload)
            self.assertEqual((name, units), (watched["id"], (0, 1, 2)))
            marked += [[round(column * 1e7) for column in one] for one in occurrences]
        self.assertGreater(len(marked), 20)
        self.assertEqual(marked, [one["spike_times_ns"] for one in paged.lines_of_run()
                                  if one["topic"] == "trigger" and one["name"] == watched["episode"]])

    def test_one_that_does_not_read_holds_nobody(self):
        run, port, _ = self.start(8)
        pages = [self.open(port, room=4096)] + [self.open(port) for _ in range(7)]
        found = {}
        threads = [threading.Thread(target=lambda i=i: found.update({i: everything(pages[i])})) for i in range(1, 8)]
        for thread in threads:
            thread.start()
        run.end(0)
        for thread in threads:
            thread.join(300)
        last = paged.newest(paged.lines_of_run(), "status")
        self.assertEqual((last["window_dropped"], last["sources"][0]["dropped"]), (0, 0))
        self.assertEqual([(sink["dropped"], sink["failed"]) for sink in last["sinks"]], [(0, 0)] * 2)
        self.assertEqual(sorted(found), list(range(1, 8)))
        for one in found.values():
            windows = [web_client.message(payload) for payload in one[web_client.MESSAGE]]
            told = [window["seq"] for window in windows if window["topic"] == "episodes"]
            self.assertEqual(told, list(range(1, len(told) + 1)))
            self.assertGreater(len(told), 10)
            self.assertEqual(web_client.columns(one[web_client.RASTER][-1])[2], last["spikes"])

    def test_silent_ones_and_requests_that_do_not_end_make_room(self):
        run, port, _ = self.start(16)
        silent = [self.open(port) for _ in range(15)]  # which answer no ping
        half = [socket.create_connection(("127.0.0.1", port)) for _ in range(64)]
        for one in half:
            self.addCleanup(one.close)
            one.sendall(b"GET / HT")
        for one in silent:
            one.socket.settimeout(300)
            while one.socket.recv(1 << 20):
                pass

        def has_room():
            try:
                return web_client.get(port, "/metrics")[0] == 200
            except (OSError, http.client.HTTPException):
                return False

        command.wait_until(has_room, "room for a request", run)
        self.end(run)


@unittest.skipUnless(paged.BUILT, "built without libwebsockets")
class Metrics(paged.Test):
    @classmethod
    def prepare(cls):
        super().prepare()
        cls.live, cls.port, _ = cls.start(0, "--speed", 20, *having(
            "sinks.1.name=rig.example", "triggers.0.on=episode", "triggers.0.name=reward", f"triggers.0.episode={A_B}", "triggers.0.sham=0.5",
            "triggers.1.on=episode", "triggers.1.name=off", f"triggers.1.episode={A_B}", "triggers.1.armed=false"))
        cls.found = {}
        while cls.found.get("synfire_spikes_total", 0) < 2000:
            cls.code, cls.headers, text = web_client.get(cls.port, "/metrics")
            cls.found = web_client.metrics(text)
        cls.by_name = web_client.get(cls.port, "/", host="rig.example:80")[0]
        cls.health, cls.config = web_client.get(cls.port, "/healthz"), web_client.get(cls.port, "/config")
        cls.end(cls.live)

    def of(self, name):
        return [value for key, value in self.found.items() if key.startswith(name)]

    def completions(self, index, name):
        return [self.found[f'synfire_trigger_completions_total{{trigger="{index}",name="{name}",result="{result}"}}']
                for result in ("sent", "sham", "withheld")]

    def test_a_run_that_never_begins_has_them_too(self):
        run, port, _ = self.start(2)
        found = web_client.metrics(web_client.get(port, "/metrics")[2])
        version = self.synfire("--version").stdout.split()[1]
        self.assertEqual(found[f'synfire_info{{version="{version}",stream="synfire"}}'], 1)
        self.end(run)

    def test_they_have_their_form(self):
        self.assertEqual(self.code, 200)
        self.assertRegex(self.headers["content-type"], "^text/plain; version=0.0.4")

    def test_a_page_has_the_name_that_is_configured(self):
        self.assertEqual(self.by_name, 200)

    def test_the_source_is_live_and_has_lost_nothing(self):
        found, source = self.found, 'source="0",name="sim.h5"'
        self.assertEqual(found[f'synfire_source_state{{{source},state="live"}}'], 1)
        self.assertEqual(sum(self.of("synfire_source_state")), 1)
        self.assertGreaterEqual(found[f"synfire_source_spikes_total{{{source}}}"], found["synfire_spikes_total"])
        self.assertGreater(len(self.of("synfire_source_lost_spikes_total")), 0)
        self.assertEqual(sum(self.of("synfire_source_lost_spikes_total")), 0)
        self.assertEqual(self.of("synfire_source_missing_spikes_total"), [])  # of a recording nobody counts them
        self.assertEqual(found[f"synfire_source_malformed_frames_total{{{source}}}"], 0)
        self.assertGreater(len(self.of("synfire_not_analysed_spikes_total{")), 0)
        self.assertEqual(sum(self.of("synfire_not_analysed_spikes_total{")), 0)
        self.assertEqual(self.of("synfire_sink_ok"), [1, 1])

    def test_the_run_has_its_sizes(self):
        self.assertEqual([self.found[f"synfire_{key}"] for key in ("units", "watched_episodes", "hop_seconds")], [26, 3, 1])
        self.assertTrue(0 < self.found["synfire_run_seconds"] < 600)

    def test_what_became_of_completions_is_told_of_triggers_with_a_name(self):
        sent, sham, _ = self.completions(0, "reward")
        self.assertGreater(min(sent, sham), 0)
        sent, sham, withheld = self.completions(1, "off")
        self.assertEqual((sent, sham), (0, 0))
        self.assertGreater(withheld, 0)
        self.assertEqual([self.found[f'synfire_trigger_armed{{trigger="{i}",name="{name}"}}'] for i, name in ((0, "reward"), (1, "off"))],
                         [1, 0])

    def test_other_watched_episodes_have_a_count(self):
        self.assertEqual([key for key in self.found if key.startswith("synfire_triggers_total")],
                         [f'synfire_triggers_total{{watch="0",name="{A_B} -(4,6]-> C"}}'])

    def test_a_run_that_goes_well_has_no_troubles(self):
        code, _, text = self.health
        health = json.loads(text)
        self.assertEqual((code, health["ok"], health["troubles"]), (200, True, []))
        self.assertGreaterEqual(health["age_ms"], 0)

    def test_the_configuration_loads_to_itself(self):
        code, _, text = self.config
        self.assertEqual(code, 200)
        live.write("config.yaml", text)
        self.assertEqual(self.synfire("run", "config.yaml", "--check").stdout.strip(), text.strip())


@unittest.skipUnless(paged.BUILT, "built without libwebsockets")
class Configured(paged.Test):
    def test_a_column_lasts_as_long_on_the_screen_whatever_the_speed(self):
        words = ("run", "--replay", "sim.h5", "--speed", 10, "--web", "--check")
        self.assertRegex(self.synfire(*words).stdout, "(?m)column_ms: 100$")
        resolved = self.synfire(*words, *having("sinks.0.type=web", "sinks.0.column_ms=7")).stdout
        self.assertRegex(resolved, "(?m)column_ms: 7$")  # a page that is configured stays as it is
        self.assertEqual(resolved.count("type: web\n"), 1)

    def test_a_place_that_it_cannot_have_is_told_before_anything_begins(self):
        with socket.create_server(("127.0.0.1", 0)) as holder:
            for code, sentence, endpoint in ((78, "other machines could connect there", "0.0.0.0:0"), (78, "expected HOST:PORT", "7730"),
                                             (69, "cannot listen there", f"127.0.0.1:{holder.getsockname()[1]}")):
                with self.subTest(endpoint=endpoint):
                    self.refuses(code, sentence, "run", "--replay", "sim.h5", "--quiet",
                                 *having("sinks.0.type=web", f"sinks.0.endpoint={endpoint}"))


if __name__ == "__main__":
    command.main()
