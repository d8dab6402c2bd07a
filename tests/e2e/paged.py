# SPDX-License-Identifier: Apache-2.0
"""What the tests of the page of a run share (docs/page.md): runs that begin once so many browsers are there, and their lines."""
import json

import command
import web_client
from live import having

TOP = 30  # so few episodes that a frame of them goes out as soon as there is one
BUILT = "libwebsockets" in command.Test.run_command("--version").stdout
SIZES = ("--replay", "sim.h5", "--speed", "max",
         *having("mine.delays_ms=4:6", "mine.every=1", "watch.0=A -(4,6]-> B -(4,6]-> C", "density.0.quantity=isi", "density.0.unit=A",
                 "sinks.0.type=jsonl", "sinks.0.path=run.jsonl", "sinks.0.overwrite=true", "sinks.0.policy=block",
                 "sinks.1.type=web", "sinks.1.endpoint=127.0.0.1:0", "sinks.1.ring=65536", f"sinks.1.top={TOP}"))


class Test(command.Test):
    run_before = None

    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--preset", "sym26", "--duration", 20, "--seed", 2, "--quiet")

    @classmethod
    def start(cls, browsers, *words):
        """A run that begins once so many browsers are there, its port and its token. One that a test left is no more."""
        if cls.run_before is not None:
            cls.run_before.put_away()
        run = cls.run_before = cls.begin("run", "run", *SIZES, "--set", f"sinks.1.wait_browsers={browsers}", *words)
        _, token, port = web_client.page_of(command.wait_for("the page of this run is at", "run.err", run).splitlines())
        return run, port, token

    def open(self, *words, **options):
        """A page of web_client, which is closed with the test."""
        page = web_client.Page(*words, **options)
        self.addCleanup(page.close)
        return page

    @staticmethod
    def end(run):
        """Of a run that is not over."""
        run.terminate()
        run.end((0, 143))


def newest(lines, topic):
    return [line for line in lines if line["topic"] == topic][-1]


def lines_of_run():
    with open("run.jsonl") as file:
        return [json.loads(line) for line in file]
