# SPDX-License-Identifier: Apache-2.0
"""What the page of a run sends (docs/page.md), held against the lines of the same run; the recording is sim.h5."""
import atexit
import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time

import h5py

import web_client

SIZES = ["--replay", "sim.h5", "--speed", "max", "--set", "mine.delays_ms=4:6", "--set", "mine.every=1",
         "--set", "watch.0=A -(4,6]-> B -(4,6]-> C", "--set", "density.0.quantity=isi", "--set", "density.0.unit=A",
         "--set", "sinks.0.type=jsonl", "--set", "sinks.0.path=run.jsonl", "--set", "sinks.0.overwrite=true",
         "--set", "sinks.0.policy=block"]


def start(browsers, *words):
    """A run that begins once so many browsers are there, its port and its token."""
    run = subprocess.Popen([os.environ["SYNFIRE"], "run", *SIZES, "--set", "sinks.1.type=web",
                            "--set", "sinks.1.endpoint=127.0.0.1:0", "--set", "sinks.1.ring=65536",
                            "--set", f"sinks.1.top={TOP}", "--set", f"sinks.1.wait_browsers={browsers}", *words],
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    atexit.register(run.kill)  # where a check fails
    _, token, port = web_client.page_of(run.stderr)
    threading.Thread(target=lambda: [None for _ in run.stderr], daemon=True).start()
    return run, port, token


TOP = 30  # so few that a frame of them goes out as soon as there is one


def finish(run):
    code = run.wait(120)
    assert code == 0, code


def published():
    with open("run.jsonl") as file:
        return [json.loads(line) for line in file]


def without_age(told):
    return {key: value for key, value in told.items() if key != "age_ms"}


def everything(page):
    """All frames to the end, by kind."""
    found = {kind: [] for kind in range(1, 7)}
    for kind, _, payload in page.frames():
        found[kind].append(payload)
    return found


def numbers_are_those_of_the_run():
    run, port, _ = start(1)
    page = web_client.Page(port)
    found = everything(page)
    finish(run)
    lines = published()
    told = [web_client.message(payload) for payload in found[web_client.MESSAGE]]

    # Every window, in order and whole; of the rest the newest.
    for topic in ("episodes", "trigger", "density"):
        of_run = [without_age(one) for one in lines if one["topic"] == topic]
        of_page = [without_age(one) for one in told if one["topic"] == topic]
        if topic == "episodes":  # those that stand out
            assert len(of_run) > 10 and len(of_page) == len(of_run), (len(of_page), len(of_run))
            assert max(len(one["episodes"]) for one in of_run) > TOP
            for page_has, run_has in zip(of_page, of_run):
                few, all_of_them = page_has.pop("episodes"), run_has.pop("episodes")
                assert page_has == run_has and page_has["counted"] == len(all_of_them)
                assert few == sorted((one for one in all_of_them if one in few), key=all_of_them.index)
                assert len(few) == min(TOP, len(all_of_them))
        else:
            assert of_page and of_page[-1] == of_run[-1] and all(one in of_run for one in of_page), topic
    status = [one for one in told if one["topic"] == "status"][-1]
    last = [one for one in lines if one["topic"] == "status"][-1]
    assert status["last"] and status["spikes"] == last["spikes"]
    assert status["unit_rates_hz"] == last["unit_rates_hz"]

    # The graph is what the changes come to.
    graph = {}
    for one in lines:
        if one["topic"] != "graph":
            continue
        for change in one["changes"]:
            key = change["from"], change["to"], *change["delay_ms"]
            graph.pop(key, None)
            if not change["removed"]:
                graph[key] = change
    total, rows = web_client.edges(found[web_client.EDGES][-1])
    assert total == len(rows) == len(graph) > 5, (total, len(rows), len(graph))
    for start_unit, end, low, high, count, weight, p, q, least_q in rows:
        edge = graph[int(start_unit), int(end), low, high]
        assert count == edge["count"] and abs(weight - edge["weight"]) <= 1e-5 * abs(weight)
        assert (q != q) == (edge["q"] is None) and (least_q != least_q) == (edge["least_q"] is None)

    # Each spike is in its column and row, and in no other.
    with h5py.File("sim.h5") as file:
        group = file["spikes"]
        spikes = list(zip(group["time_ns"][:].tolist(), group["unit"][:].tolist()))
    hello = web_client.message(found[web_client.HELLO][0])
    width = round(hello["column_s"] * 1e9)
    expected = {}
    for time_ns, unit in spikes:
        key = time_ns // width, unit // hello["units_per_row"]
        expected[key] = expected.get(key, 0) + 1
    seen = {}
    after = None
    for payload in found[web_client.RASTER]:
        first, cells, drawn = web_client.columns(payload)
        assert after is None or first >= after
        after = first + len(cells)
        for i, column in enumerate(cells):
            for row, count in enumerate(column):
                if count:
                    seen[first + i, row] = count
    assert drawn == len(spikes) == last["spikes"], (drawn, len(spikes), last["spikes"])
    assert seen == expected
    assert [unit[0] for unit in hello["units"]] == [chr(65 + i) for i in range(26)]


def strangers_are_refused():
    run, port, token = start(16)
    for origin, host, protocol in ((None, "127.0.0.1:{port}", "synfire-page-1"),
                                   ("http://evil.example", "127.0.0.1:{port}", "synfire-page-1"),
                                   ("http://evil.example", "evil.example", "synfire-page-1"),
                                   ("https://127.0.0.1:{port}", "127.0.0.1:{port}", "synfire-page-1"),
                                   ("null", "127.0.0.1:{port}", "synfire-page-1"),
                                   ("http://127.0.0.1:1", "127.0.0.1:{port}", "synfire-page-1"),
                                   ("http://127.0.0.1:{port}", None, "synfire-page-1"),
                                   ("http://127.0.0.1:{port}", "127.0.0.1:{port}", "synfire-page-9"),
                                   ("http://127.0.0.1:{port}", "127.0.0.1:{port}", None)):
        try:
            web_client.Page(port, origin, host, protocol)
        except web_client.Refused as refusal:
            assert " 101 " not in str(refusal)
        else:
            sys.exit(f"a WebSocket for {origin}, {host}, {protocol}")
    web_client.Page(port, "http://localhost:9000", "localhost:9000").close()  # through a tunnel

    for path in ("/", "/metrics", "/healthz", "/config", "/page.js"):
        code, headers, _ = web_client.get(port, path)
        assert code == 200, (path, code)
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; ") and "unsafe" not in policy
        assert web_client.get(port, path, host="evil.example")[0] == 403
    assert web_client.get(port, "/../../etc/passwd")[0] in (400, 403, 404)
    assert web_client.get(port, "/nowhere")[0] == 404
    assert web_client.get(port, "/", method="POST")[0] == 405

    other = socket.create_connection(("127.0.0.1", port))
    other.settimeout(60)
    other.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                  "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n".encode())
    assert b" 101 " not in other.recv(4096)

    # Without the token nothing is done; with a wrong one neither; what is no request ends the connection.
    page = web_client.Page(port)
    assert page.frame()[0] == web_client.HELLO

    def ask(text):
        page.send(text)
        kind = None
        while kind != web_client.ANSWER:
            kind, _, payload = page.frame()
        return web_client.message(payload)
    watched = "0123456789abcdef"
    assert ask(f"mark {watched}") == {"trusted": False, "controls": False, "refused": "expected the token first"}
    wrong = ("0" if token[0] != "0" else "1") + token[1:]
    assert ask(f"token {wrong}") == {"trusted": False, "controls": False, "refused": "the token is not that of this run"}
    assert ask(f"token {token}") == {"trusted": True, "controls": False, "refused": None}
    assert "no such episode" in ask(f"mark {watched}")["refused"]
    assert ask("unmark")["refused"] is None
    page.send("stop everything")
    assert list(page.frames()) == []

    # Frames that RFC 6455 does not have, or that are longer than a request; a whole one with a mask is answered.
    for first, data in ((0xc1, b"unmark"), (0xa1, b"unmark"), (0x91, b"unmark"), (0x83, b"unmark"), (0x8b, b""), (0x01, b"unmark"),
                        (0x80, b"unmark"), (0x09, b""), (0x89, b"x" * 126), (0x81, b"unmark" + b" " * 320), (0x81, b"\xff\xfe")):
        page = web_client.Page(port)
        page.frame_of(first, data)
        answered = [frame for frame in page.frames() if frame[0] == web_client.ANSWER]  # to its end
        assert answered == [], (hex(first), len(data), answered)
    run.terminate()
    run.wait(60)


def a_page_arms_with_the_token():
    """Nobody without the control socket's token, whatever the page's own; who armed, and when, is told."""
    with open("control-token", "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write("an-honest-token+of/base64==\n")
    trigger = "--set", "triggers.0.on=episode", "--set", "triggers.0.name=reward", "--set", "triggers.0.episode=A -(4,6]-> B", \
        "--set", "triggers.0.armed=false", "--set", "triggers.1.on=episode", "--set", "triggers.1.name=other", \
        "--set", "triggers.1.episode=D -(4,6]-> E"
    control = "--set", "control.0.endpoint=ipc://control", "--set", "control.0.token_file=control-token"

    def begin(*words):
        run, port, token = start(1, "--speed", "1", *trigger, *words)
        return run, web_client.Page(port), token

    def answer(page):
        while True:
            kind, _, payload = page.frame()
            if kind == web_client.ANSWER:
                return web_client.message(payload)

    def ask(page, text):
        page.send(text)
        return answer(page)

    def told(page, seq):
        """The triggers of a status after that one."""
        while True:
            kind, _, payload = page.frame()
            message = web_client.message(payload) if kind == web_client.MESSAGE else {}
            if message.get("topic") == "status" and message["seq"] > seq:
                return message["seq"], *message["triggers"]

    run, page, token = begin(*control)
    seq, reward, other = told(page, 0)
    assert (reward["armed"], reward["not_armed"], reward["armed_by"], reward["armed_at_s"]) == (False, "disarmed", None, None)
    assert other["armed"] and other["armed_by"] == "configuration"
    refusal = {"trusted": True, "controls": False, "refused": "expected the token of the control socket first"}
    assert ask(page, f"token {token}")["trusted"]
    assert ask(page, "arm reward") == refusal
    assert ask(page, f"control {token}") == {**refusal, "refused": "the token is wrong"}
    before = time.monotonic()
    assert ask(page, "control an-honest-token+of/base64=") == {**refusal, "refused": "the token is wrong"}
    assert time.monotonic() - before > 0.15  # held back
    assert ask(page, "disarm other") == refusal
    seq, reward, other = told(page, seq + 1)
    assert not reward["armed"] and other["armed"]
    right = {"trusted": True, "controls": True, "refused": None}
    assert ask(page, "control an-honest-token+of/base64==") == right
    assert ask(page, "arm none") == {**right, "refused": "trigger: no trigger is named 'none'"}
    assert ask(page, "arm reward") == right
    seq, reward, other = told(page, seq + 2)
    assert reward["armed"] and reward["armed_by"] == "page" and 0 < reward["armed_at_s"] < 30, reward
    assert ask(page, "disarm reward") == right and ask(page, "disarm other") == right
    seq, reward, other = told(page, seq + 2)
    assert [one["not_armed"] for one in (reward, other)] == ["disarmed"] * 2 and reward["armed_by"] is None
    # Who goes on before a guess is answered is cut off, and another page starts without a right.
    page.send("control an-honest-token+of/base64!!")
    page.send("control an-honest-token+of/base64==")
    assert [frame for frame in page.frames() if frame[0] == web_client.ANSWER] == []
    run.terminate()
    run.wait(60)

    # Nobody where no control is configured, nor from a page that other machines reach.
    public = "--set", "sinks.1.endpoint=0.0.0.0:0", "--set", "sinks.1.insecure=true"
    for words in ((), (*control, *public)):
        run, page, token = begin(*words)
        assert ask(page, "control an-honest-token+of/base64==")["refused"].startswith("nothing is armed from this page")
        assert not ask(page, "arm reward")["controls"]
        run.terminate()
        run.wait(60)


def marks_are_the_occurrences():
    named = ["--set", "triggers.0.on=episode", "--set", "triggers.0.name=reward", "--set", "triggers.0.episode=D -(4,6]-> E",
             "--set", "triggers.1.on=trigger", "--set", "triggers.1.name=control", "--set", "triggers.1.follows=reward"]
    run, port, token = start(1, *named)
    page = web_client.Page(port)
    _, _, payload = page.frame()
    watched, *by_name = web_client.message(payload)["watch"]
    assert watched["episode"] == "A -(4,6]-> B -(4,6]-> C" and watched["trigger"] is None
    assert watched["names"] == ["A", "B", "C"] and watched["delays_ms"] == [[4, 6], [4, 6]]
    assert [one["trigger"] for one in by_name] == ["reward", "control"] and by_name[0]["id"] == by_name[1]["id"]
    assert all(one["episode"] == "D -(4,6]-> E" and one["names"] == ["D", "E"] for one in by_name)
    page.send(f"token {token}")
    page.send(f"mark {watched['id']}")
    found = everything(page)
    finish(run)
    triggers = [one["spike_times_ns"] for one in published()
                if one["topic"] == "trigger" and one["name"] == watched["episode"]]
    marked = []
    for payload in found[web_client.MARKS]:
        name, units, occurrences = web_client.marks(payload)
        assert (name, units) == (watched["id"], (0, 1, 2))
        marked += [[round(column * 1e7) for column in one] for one in occurrences]
    assert len(triggers) > 20 and marked == triggers, (len(marked), len(triggers))


def one_that_does_not_read_holds_nobody():
    run, port, _ = start(8)
    pages = [web_client.Page(port, room=4096)] + [web_client.Page(port) for _ in range(7)]
    found = [None] * 8

    def follow(i):
        found[i] = everything(pages[i])
    threads = [threading.Thread(target=follow, args=(i,)) for i in range(1, 8)]
    for thread in threads:
        thread.start()
    finish(run)
    for thread in threads:
        thread.join(60)
    last = [one for one in published() if one["topic"] == "status"][-1]
    assert last["window_dropped"] == 0 and last["sources"][0]["dropped"] == 0
    assert all(sink["dropped"] == sink["failed"] == 0 for sink in last["sinks"])
    for one in found[1:]:
        windows = [web_client.message(payload) for payload in one[web_client.MESSAGE]]
        told = [window["seq"] for window in windows if window["topic"] == "episodes"]
        assert told == list(range(1, len(told) + 1)) and len(told) > 10
        assert web_client.columns(one[web_client.RASTER][-1])[2] == last["spikes"]


def silent_ones_make_room():
    """Browsers that answer no ping, and requests that do not end, do not keep the page from others."""
    run, port, _ = start(16)
    silent = [web_client.Page(port) for _ in range(15)]
    half = [socket.create_connection(("127.0.0.1", port)) for _ in range(64)]
    for one in half:
        one.sendall(b"GET / HT")
    for one in silent:
        one.socket.settimeout(120)
        while one.socket.recv(1 << 20):
            pass
    for _ in range(600):
        try:
            if web_client.get(port, "/metrics")[0] == 200:
                break
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.1)
    else:
        sys.exit("requests that do not end keep others from theirs")
    run.terminate()
    run.wait(60)


def metrics_add_up():
    # A run that never begins has them too; one that is in its course has what its status says.
    run, port, _ = start(2)
    found = web_client.metrics(web_client.get(port, "/metrics")[2])
    assert found['synfire_info{version="' + os.environ["VERSION"] + '",stream="synfire"}'] == 1
    run.terminate()
    run.wait(60)

    run, port, _ = start(0, "--set", "sinks.1.name=rig.example", "--speed", "20", "--set", "triggers.0.on=episode",
                         "--set", "triggers.0.name=reward", "--set", "triggers.0.episode=A -(4,6]-> B",
                         "--set", "triggers.0.sham=0.5", "--set", "triggers.1.on=episode", "--set", "triggers.1.name=off",
                         "--set", "triggers.1.episode=A -(4,6]-> B", "--set", "triggers.1.armed=false")
    assert web_client.get(port, "/", host="rig.example:80")[0] == 200
    found = {}
    while found.get("synfire_spikes_total", 0) < 2000:
        code, headers, text = web_client.get(port, "/metrics")
        assert code == 200 and headers["content-type"].startswith("text/plain; version=0.0.4")
        found = web_client.metrics(text)
    assert found['synfire_source_state{source="0",name="sim.h5",state="live"}'] == 1
    assert sum(value for key, value in found.items() if key.startswith("synfire_source_state")) == 1
    assert found['synfire_source_spikes_total{source="0",name="sim.h5"}'] >= found["synfire_spikes_total"]
    assert sum(value for key, value in found.items() if key.startswith("synfire_source_lost_spikes_total")) == 0
    assert not any(key.startswith("synfire_source_missing_spikes_total") for key in found)  # of a recording nobody counts them
    assert found["synfire_units"] == 26 and found["synfire_watched_episodes"] == 3
    assert found["synfire_hop_seconds"] == 1 and 0 < found["synfire_run_seconds"] < 600

    # What became of completions, of triggers with a name; of each other watched episode how many.
    def completions(index, name, result):
        return found[f'synfire_trigger_completions_total{{trigger="{index}",name="{name}",result="{result}"}}']
    assert completions(0, "reward", "sent") > 0 and completions(0, "reward", "sham") > 0
    assert completions(1, "off", "sent") == completions(1, "off", "sham") == 0 and completions(1, "off", "withheld") > 0
    assert found['synfire_trigger_armed{trigger="0",name="reward"}'] == 1
    assert found['synfire_trigger_armed{trigger="1",name="off"}'] == 0
    assert [key for key in found if key.startswith("synfire_triggers_total")] == [
        'synfire_triggers_total{watch="0",name="A -(4,6]-> B -(4,6]-> C"}']
    assert sum(value for key, value in found.items() if key.startswith("synfire_not_analysed_spikes_total{")) == 0
    assert found['synfire_source_malformed_frames_total{source="0",name="sim.h5"}'] == 0
    assert [value for key, value in found.items() if key.startswith("synfire_sink_ok")] == [1, 1]
    code, _, text = web_client.get(port, "/healthz")
    health = json.loads(text)
    assert code == 200 and health["ok"] and health["troubles"] == [] and health["age_ms"] >= 0
    code, _, text = web_client.get(port, "/config")
    with open("config.yaml", "w") as file:
        file.write(text)
    run.terminate()
    run.wait(60)
    assert subprocess.run([os.environ["SYNFIRE"], "run", "config.yaml", "--check"], stdout=subprocess.PIPE,
                          text=True, check=True).stdout.strip() == text.strip()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
