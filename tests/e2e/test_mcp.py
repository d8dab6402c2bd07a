# SPDX-License-Identifier: Apache-2.0
"""synfire mcp as a client speaks with it, held against the commands themselves: what it offers, what it answers, what it
refuses."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import command

CONFIGURATION = """
sources: [{type: replay, recording: data/demo.h5, speed: 0.5}]
mine: {every: 0}
graph: {enabled: false}
triggers: [{name: pair, episode: "A -(4,6]-> B", armed: false}]
control: [{endpoint: "ipc://control", token_file: token}]
sinks: [{type: jsonl, path: run.jsonl, overwrite: true, topics: [status]}]
"""
DEMO = ["data/demo.h5"]
TOOLS = ["compare", "count", "graph", "info", "mine", "plot", "report"]
# What writes, what is of another format than the answer's, and what a client has no use for.
NOT_OFFERED = {"help", "quiet", "verbose", "json", "csv", "list", "jobs", "table", "out", "occurrences", "nwb", "plot", "rule", "save"}


class Server:
    def __init__(self, *words):
        self.process = subprocess.Popen([os.environ["SYNFIRE"], "mcp", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.number = 0

    def send(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def line(self, text):
        self.send(text)
        return json.loads(self.process.stdout.readline())

    def ask(self, method, **params):
        self.number += 1
        answer = self.line(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}))
        assert (answer["jsonrpc"], answer["id"]) == ("2.0", self.number), answer
        return answer

    def tools(self):
        return {tool["name"]: tool for tool in self.ask("tools/list")["result"]["tools"]}

    def call(self, tool, /, **arguments):
        return self.ask("tools/call", name=tool, arguments=arguments)["result"]

    def close(self):
        """Its exit code once nobody speaks to it any more."""
        self.process.stdin.close()
        code = self.process.wait()
        self.process.stdout.close()
        return code


def without_clock(document):
    return {key: value for key, value in command.without_times(document).items() if key != "device_memory"}


class WithServer(command.Test):
    words = ()

    @classmethod
    def prepare(cls):
        for folder in "data", "elsewhere":
            pathlib.Path(folder).mkdir()
        cls.synfire("simulate", "data/demo.h5", "--preset", "sym26", "--duration", 20, "--quiet")
        shutil.copy("data/demo.h5", "elsewhere/other.h5")
        pathlib.Path("data/link.h5").symlink_to("../elsewhere/other.h5")
        for where, file in ("inside", "demo.h5"), ("outside", "../elsewhere/other.h5"):
            rows = "".join(f"{file},{'ab'[i % 2]},m{i}\n" for i in range(4))
            pathlib.Path(f"data/{where}.csv").write_text(f"file,condition,animal\n{rows}")

    def setUp(self):
        self.server = Server("data", *self.words)
        self.addCleanup(lambda: self.assertEqual(self.server.close(), 0))

    def document_of(self, result):
        """What a tool answered as its command does with --json."""
        self.assertFalse(result["isError"], result)
        return json.loads(result["content"][0]["text"])

    def assert_refused(self, result, sentence):
        self.assertTrue(result["isError"])
        self.assertIn(sentence, "".join(item["text"] for item in result["content"]))


class Mcp(WithServer):
    def test_it_says_who_it_is(self):
        hello = self.server.ask("initialize", protocolVersion="2025-06-18", capabilities={},
                                clientInfo={"name": "test", "version": "1"})["result"]
        self.assertEqual((hello["protocolVersion"], hello["serverInfo"]["name"]), ("2025-06-18", "synfire"))
        self.server.send('{"jsonrpc":"2.0","method":"notifications/initialized"}')  # takes no answer
        self.assertEqual(self.server.ask("ping")["result"], {})

    def test_it_offers_commands_that_read_with_the_options_that_they_have(self):
        tools = self.server.tools()
        self.assertEqual(sorted(tools), TOOLS)
        for name, tool in tools.items():
            with self.subTest(name=name):
                known = set(re.findall(r"(?m)^  --([^ ]+)", self.synfire(name, "--help").stdout))
                self.assertEqual(set(tool["inputSchema"]["properties"]) - {"files", "figure"}, known - NOT_OFFERED)
                self.assertTrue(tool["annotations"]["readOnlyHint"])
                self.assertIn("files", tool["inputSchema"]["required"])
        self.assertIn("chains", tools["plot"]["inputSchema"]["properties"]["figure"]["enum"])
        self.assertEqual(tools["mine"]["inputSchema"]["properties"]["repeats"]["type"], "boolean")

    def test_tools_give_what_commands_give(self):
        arguments = {"files": DEMO, "delay": "4:6", "repeats": True, "min-count": 30, "closed": False}
        mined = self.document_of(self.server.call("mine", **arguments))
        self.assertTrue(mined["episodes"])
        options = ("--delay", "4:6", "--min-count", 30, "--repeats")
        self.assertEqual(without_clock(mined), without_clock(self.document("mine", *DEMO, *options)))
        counted = self.document_of(self.server.call("count", files=DEMO, episodes="A -(4,6]-> B"))
        self.assertEqual(without_clock(counted), without_clock(self.document("count", *DEMO, "--episodes", "A -(4,6]-> B")))

    def test_what_is_drawn_comes_too_and_nothing_is_left(self):
        def folders():
            return set(pathlib.Path("/tmp").glob("synfire-mcp-*"))

        before = folders()
        result = self.server.call("plot", figure="raster", files=DEMO)
        self.assertEqual(self.document_of(result)["kind"], "raster")
        self.assertRegex(result["content"][1]["text"], r"\A<(svg|\?xml)")
        self.assertIn("contrasts", self.document_of(self.server.call("compare", files=["data/inside.csv"], without="graph,chains")))
        self.assertEqual(folders() - before, set())

    def test_nothing_is_read_outside(self):
        outside = "lies in none of the folders given"
        for file in "elsewhere/other.h5", "data/../elsewhere/other.h5", "data/link.h5", os.path.abspath("elsewhere/other.h5"):
            with self.subTest(file=file):
                self.assert_refused(self.server.call("info", files=[file]), outside)
        self.assert_refused(self.server.call("count", files=DEMO, episodes="elsewhere/other.h5"), outside)
        self.assert_refused(self.server.call("compare", files=["data/outside.csv"], without="graph,chains"), outside)
        self.assert_refused(self.server.call("info", files=["data/nothing.h5"]), "there is no such file")

    def test_nothing_is_written_and_no_word_becomes_an_option(self):
        for option in "occurrences", "nwb", "list", "csv", "help", "no-such":
            with self.subTest(option=option):
                self.assert_refused(self.server.call("mine", files=DEMO, **{option: "data/new"}), "is no argument of mine here")
        self.assert_refused(self.server.call("mine", files=["--help"]), "there is no such file")
        self.assert_refused(self.server.call("mine", files=[]), "expected at least one")
        self.assert_refused(self.server.call("mine", files=DEMO, delay=True), "expected a value")
        self.assert_refused(self.server.call("plot", figure="--out=data/new.svg", files=DEMO), "--out=data/new.svg")
        self.assertEqual(sorted(os.listdir("data")), ["demo.h5", "inside.csv", "link.h5", "outside.csv"])

    def test_a_refusal_of_the_command_is_an_answer(self):
        self.assert_refused(self.server.call("mine", files=DEMO, delay="6:4"), "the delay interval is empty")

    def test_what_is_no_request_is_told_and_it_goes_on(self):
        for line, code in (("{", -32700), ("[]", -32600), ('{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
                           ('{"jsonrpc":"2.0","id":1,"method":"tools/none"}', -32601),
                           ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run"}}', -32602),
                           ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"status"}}', -32602),
                           ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mine","arguments":{"files":[{}]}}}', -32602),
                           ('{"jsonrpc":"2.0","id":1,"method":"ping","x":"' + "a" * (1 << 20) + '"}', -32700)):
            with self.subTest(line=line[:100]):
                self.assertEqual(self.server.line(line)["error"]["code"], code)
        self.assertEqual(self.server.ask("ping")["result"], {})


class Live(WithServer):
    """The tool `status` beside a run that goes on."""
    words = ("--control", "ipc://control", "--token", "token")

    @classmethod
    def prepare(cls):
        super().prepare()
        pathlib.Path("run.yaml").write_text(CONFIGURATION)
        for name, text in ("token", "0123456789abcdef"), ("wrong", "fedcba9876543210"):
            pathlib.Path(name).touch(0o600)
            pathlib.Path(name).write_text(text)

    def setUp(self):
        self.running = self.begin("run", "run", "run.yaml")
        self.addCleanup(self.running.put_away)
        command.wait_for("control listens at", "run.err", self.running)
        super().setUp()

    def status(self, least):
        """The first one with so many spikes."""
        def comes():
            told.append(self.document_of(self.server.call("status")))
            return told[-1] is not None and told[-1]["spikes"] >= least

        told = []
        command.wait_until(comes, f"a status with {least} spikes", self.running)
        return told[-1]

    def test_its_status_is_what_the_run_publishes(self):
        tools = self.server.tools()
        self.assertEqual(sorted(tools), [*TOOLS, "status"])
        self.assertTrue(tools["status"]["annotations"]["readOnlyHint"])
        first = self.status(1)
        later = self.status(first["spikes"] + 1)
        self.assertGreater(later["seq"], first["seq"])

        def published():
            return {one["seq"]: one for one in command.messages_of("run.jsonl", "status", whole=True)}

        command.wait_until(lambda: later["seq"] in published(), "the same status", self.running)  # it is written once a second
        for status in first, later:
            self.assertEqual({**status, "age_ms": None}, {**published()[status["seq"]], "age_ms": None})
            self.assertEqual([(one["name"], one["armed"]) for one in status["triggers"]], [("pair", False)])

    def test_it_takes_nothing_else_and_nobody_else(self):
        for arguments in {"command": "arm"}, {"trigger": "pair"}:
            self.assert_refused(self.server.call("status", **arguments), "is no argument of status here")
        for tool in "arm", "disarm", "stop", "mark":
            self.assertEqual(self.server.ask("tools/call", name=tool, arguments={})["error"]["code"], -32602)
        self.assertFalse(self.status(1)["triggers"][0]["armed"])
        stranger = Server("data", "--control", "ipc://control", "--token", "wrong")
        self.assert_refused(stranger.call("status"), "the token is wrong")
        self.assertEqual(stranger.close(), 0)

    def test_a_run_that_is_gone_is_said_to_be(self):
        self.running.stop()
        self.assert_refused(self.server.call("status"), "ipc://control")
        self.assertEqual(self.server.ask("ping")["result"], {})


if __name__ == "__main__":
    command.main()
