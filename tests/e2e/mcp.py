# SPDX-License-Identifier: Apache-2.0
"""A client of `synfire mcp`, held against the commands themselves; the recording is data/demo.h5."""
import glob
import json
import os
import subprocess
import threading
import time
import unittest

SYNFIRE = os.environ["SYNFIRE"]


class Server:
    def __init__(self, *words):
        self.process = subprocess.Popen([SYNFIRE, "mcp", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.number = 0

    def line(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def ask(self, method, **params):
        self.number += 1
        answer = self.line(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}))
        assert (answer["jsonrpc"], answer["id"]) == ("2.0", self.number), answer
        return answer

    def call(server, tool, /, **arguments):
        return server.ask("tools/call", name=tool, arguments=arguments)["result"]

    def close(self):
        self.process.stdin.close()
        code = self.process.wait()
        self.process.stdout.close()
        return code


def told(*words):
    return json.loads(subprocess.run([SYNFIRE, *words, "--json", "--quiet"], check=True, stdout=subprocess.PIPE).stdout)


def without_clock(document):
    if isinstance(document, dict):
        return {key: without_clock(value) for key, value in document.items() if key not in ("seconds", "provenance", "device_memory")}
    return [without_clock(item) for item in document] if isinstance(document, list) else document


class Mcp(unittest.TestCase):
    def setUp(self):
        self.server = Server("data")

    def tearDown(self):
        self.assertEqual(self.server.close(), 0)

    def refused(self, result, words):
        self.assertTrue(result["isError"])
        self.assertIn(words, result["content"][0]["text"])

    def test_it_says_who_it_is_and_what_it_offers(self):
        hello = self.server.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "test", "version": "1"})["result"]
        self.assertEqual((hello["protocolVersion"], hello["serverInfo"]["name"]), ("2025-06-18", "synfire"))
        self.server.process.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')  # takes no answer
        self.assertEqual(self.server.ask("ping")["result"], {})
        tools = {tool["name"]: tool for tool in self.server.ask("tools/list")["result"]["tools"]}
        self.assertEqual(sorted(tools), ["compare", "count", "graph", "info", "mine", "plot", "report"])
        for name, tool in tools.items():
            offered = set(tool["inputSchema"]["properties"]) - {"files", "figure"}
            text = subprocess.run([SYNFIRE, name, "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout
            known = {line.split()[0][2:] for line in text.splitlines() if line.startswith("  --")}
            self.assertEqual(offered, known - {"help", "quiet", "verbose", "json", "csv", "list", "jobs", "table", "out", "occurrences", "nwb", "plot", "rule", "save"}, name)
            self.assertTrue(tool["annotations"]["readOnlyHint"] and "files" in tool["inputSchema"]["required"])
        self.assertIn("chains", tools["plot"]["inputSchema"]["properties"]["figure"]["enum"])
        self.assertEqual(tools["mine"]["inputSchema"]["properties"]["repeats"]["type"], "boolean")

    def test_tools_give_what_commands_give(self):
        options = ["--delay", "4:6", "--min-count", "30", "--repeats"]
        result = self.server.call("mine", **{"files": ["data/demo.h5"], "delay": "4:6", "repeats": True, "min-count": 30, "closed": False})
        self.assertFalse(result["isError"])
        mined = without_clock(json.loads(result["content"][0]["text"]))
        self.assertEqual(mined, without_clock(told("mine", "data/demo.h5", *options)))
        self.assertTrue(mined["episodes"])
        counted = self.server.call("count", files=["data/demo.h5"], episodes="A -(4,6]-> B")
        self.assertEqual(without_clock(json.loads(counted["content"][0]["text"])), without_clock(told("count", "data/demo.h5", "--episodes", "A -(4,6]-> B")))

    def test_what_is_drawn_comes_too_and_nothing_is_left(self):
        result = self.server.call("plot", figure="raster", files=["data/demo.h5"])
        document, picture = [item["text"] for item in result["content"][:2]]
        self.assertEqual(json.loads(document)["kind"], "raster")
        self.assertTrue(picture.startswith("<svg") or picture.startswith("<?xml"))
        compared = self.server.call("compare", files=["data/inside.csv"], without="graph,chains")
        self.assertFalse(compared["isError"], compared)
        self.assertIn("contrasts", json.loads(compared["content"][0]["text"]))
        self.assertEqual(glob.glob("/tmp/synfire-mcp-*"), [])

    def test_nothing_is_read_outside(self):
        for file in ("elsewhere/other.h5", "data/../elsewhere/other.h5", "data/link.h5", os.path.abspath("elsewhere/other.h5")):
            self.refused(self.server.call("info", files=[file]), "lies in none of the folders given")
        self.refused(self.server.call("count", files=["data/demo.h5"], episodes="elsewhere/other.h5"), "lies in none of the folders given")
        self.refused(self.server.call("compare", files=["data/outside.csv"], without="graph,chains"), "lies in none of the folders given")
        self.refused(self.server.call("info", files=["data/nothing.h5"]), "there is no such file")

    def test_nothing_is_written_and_no_word_becomes_an_option(self):
        for option in ("occurrences", "nwb", "list", "csv", "help", "no-such"):
            self.refused(self.server.call("mine", files=["data/demo.h5"], **{option: "data/new"}), f"is no argument of mine here")
        self.refused(self.server.call("mine", files=["--help"]), "there is no such file")
        self.refused(self.server.call("mine", files=[]), "expected at least one")
        self.refused(self.server.call("mine", files=["data/demo.h5"], delay=True), "expected a value")
        self.refused(self.server.call("plot", figure="--out=data/new.svg", files=["data/demo.h5"]), "--out=data/new.svg")
        self.assertEqual(sorted(os.listdir("data")), ["demo.h5", "inside.csv", "link.h5", "outside.csv"])

    def test_a_refusal_of_the_command_is_an_answer(self):
        result = self.server.call("mine", files=["data/demo.h5"], delay="6:4")
        self.assertTrue(result["isError"])
        self.assertIn("the delay interval is empty", "".join(item["text"] for item in result["content"]))

    def test_what_is_no_request(self):
        code = lambda line: self.server.line(line)["error"]["code"]
        self.assertEqual(code("{"), -32700)
        self.assertEqual(code("[]"), -32600)
        self.assertEqual(code('{"jsonrpc":"1.0","id":1,"method":"ping"}'), -32600)
        self.assertEqual(code('{"jsonrpc":"2.0","id":1,"method":"tools/none"}'), -32601)
        self.assertEqual(code('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run"}}'), -32602)
        self.assertEqual(code('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"status"}}'), -32602)
        self.assertEqual(code('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mine","arguments":{"files":[{}]}}}'), -32602)
        self.assertEqual(code('{"jsonrpc":"2.0","id":1,"method":"ping","x":"' + "a" * (1 << 20) + '"}'), -32700)
        self.assertEqual(self.server.ask("ping")["result"], {})  # and it goes on


CONFIGURATION = """
sources: [{type: replay, recording: data/demo.h5, speed: 1}]
mine: {every: 0}
graph: {enabled: false}
triggers: [{name: pair, episode: "A -(4,6]-> B", armed: false}]
control: [{endpoint: "ipc://control", token_file: token}]
sinks: [{type: jsonl, path: run.jsonl, overwrite: true, topics: [status]}]
"""


class Live(unittest.TestCase):
    """The tool `status` beside a run that goes on."""

    def setUp(self):
        with open("run.yaml", "w") as file:
            file.write(CONFIGURATION)
        for name, text in ("token", "0123456789abcdef"), ("wrong", "fedcba9876543210"):
            with open(name, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
                file.write(text)
        self.run_of_it = subprocess.Popen([SYNFIRE, "run", "run.yaml"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in self.run_of_it.stderr:
            if "control listens at" in line:
                break
        self.drain = threading.Thread(target=self.run_of_it.stderr.read)
        self.drain.start()
        self.server = Server("data", "--control", "ipc://control", "--token", "token")

    def tearDown(self):
        self.assertEqual(self.server.close(), 0)
        self.stop()

    def stop(self):
        self.run_of_it.terminate()
        self.run_of_it.wait()
        self.drain.join()
        self.run_of_it.stderr.close()

    def status(self, least):
        """The first one with so many spikes."""
        for _ in range(600):
            result = self.server.call("status")
            self.assertFalse(result["isError"], result)
            status = json.loads(result["content"][0]["text"])
            if status is not None and status["spikes"] >= least:
                return status
            time.sleep(0.1)
        self.fail("the run does not go on")

    def test_its_status_is_what_the_run_publishes(self):
        tools = {tool["name"]: tool for tool in self.server.ask("tools/list")["result"]["tools"]}
        self.assertEqual(sorted(tools), ["compare", "count", "graph", "info", "mine", "plot", "report", "status"])
        self.assertTrue(tools["status"]["annotations"]["readOnlyHint"])
        first = self.status(1)
        later = self.status(first["spikes"] + 1)
        self.assertGreater(later["seq"], first["seq"])
        published = {}
        while later["seq"] not in published:  # it is written once a second
            with open("run.jsonl") as file:
                published = {one["seq"]: one for one in (json.loads(line) for line in file if line.endswith("\n"))}
        for status in first, later:
            told = published[status["seq"]]
            self.assertEqual({**status, "age_ms": None}, {**told, "age_ms": None})
            self.assertEqual([(one["name"], one["armed"]) for one in status["triggers"]], [("pair", False)])

    def test_it_takes_nothing_else_and_nobody_else(self):
        for arguments in {"command": "arm"}, {"trigger": "pair"}:
            result = self.server.call("status", **arguments)
            self.assertTrue(result["isError"])
            self.assertIn("is no argument of status here", result["content"][0]["text"])
        for tool in "arm", "disarm", "stop", "mark":
            self.assertEqual(self.server.ask("tools/call", name=tool, arguments={})["error"]["code"], -32602)
        self.assertFalse(self.status(1)["triggers"][0]["armed"])
        stranger = Server("data", "--control", "ipc://control", "--token", "wrong")
        result = stranger.call("status")
        self.assertTrue(result["isError"])
        self.assertIn("the token is wrong", result["content"][0]["text"])
        self.assertEqual(stranger.close(), 0)

    def test_a_run_that_is_gone_is_said_to_be(self):
        self.stop()
        result = self.server.call("status")
        self.assertTrue(result["isError"])
        self.assertIn("ipc://control", result["content"][0]["text"])
        self.assertEqual(self.server.ask("ping")["result"], {})
        self.run_of_it = subprocess.Popen(["true"], stderr=subprocess.PIPE)


if __name__ == "__main__":
    unittest.main()
