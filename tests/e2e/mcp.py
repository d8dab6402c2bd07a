# SPDX-License-Identifier: Apache-2.0
"""A client of `synfire mcp`, held against the commands themselves; the recording is data/demo.h5."""
import glob
import json
import os
import subprocess
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


if __name__ == "__main__":
    unittest.main()
