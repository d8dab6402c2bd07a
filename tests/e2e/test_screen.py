# SPDX-License-Identifier: Apache-2.0
"""The page of a live run on terminals of several sizes: nothing is wider or higher than they are, and after Ctrl-C they are as they
were; what it says of episodes that have no q, of silence, and of senders that are not there or hang."""
import os
import re
import signal
import shutil
import threading

import command
import screen
from live import having, write

YAML = """\
mine: {delays_ms: 4:6}
significance: {length_s: 5, surrogates: 200}
watch: ["A -(4,6]-> B -(4,6]-> C", "#7 -(0,100]-> #8 -(0,100]-> #9 -(0,100]-> #10 -(0,100]-> #11"]
"""
FAST = ("run", "run.yaml", "--replay", "sim.h5", "--speed", "max")
STATUS = "sinks: [{type: jsonl, path: \"-\", topics: [status]}]\n"
EPISODE = r"  [A-Za-z0-9]+ > [A-Za-z0-9 >]+$"
NEVER = having("significance.length_s=0")  # of stretches so long that the recording has one at most
LENGTHS = having("window.length_s=1", "window.hop_s=0.5")


class OfTheRun(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--unit-count", 30, "--rate", 20, "--duration", 40, "--chain", "A -(4,6]-> B -(4,6]-> C",
                    "--chain-rate", 4)
        write("run.yaml", YAML)
        write("lines.yaml", YAML + STATUS)

    @staticmethod
    def on(columns, rows, *words, **options):
        return screen.on(columns, rows, os.environ["SYNFIRE"], *words, **options)

    def ended(self, columns, rows, *words, **options):
        shown = self.on(columns, rows, *words, **options)
        self.assertEqual(shown.code, 0, shown.text)
        return shown

    def says(self, text, *lines):
        """Each of these regular expressions is a line's."""
        for line in lines:
            self.assertRegex(text, f"(?m){line}")

    def says_not(self, text, line):
        self.assertNotRegex(text, f"(?m){line}")

    def count(self, line, text):
        return len(re.findall(f"(?m){line}", text))

    def printed(self, *words):
        """The messages that a run prints elsewhere than on a terminal."""
        lines = self.synfire(*words).stdout.splitlines()
        return [command.schema.parse(line) for line in lines if line.startswith("{")]


class Pages(OfTheRun):
    @classmethod
    def prepare(cls):
        super().prepare()
        cls.small, cls.large = (cls.on(columns, rows, *FAST) for columns, rows in ((80, 24), (160, 50)))

    def test_every_size_has_pages_and_a_summary(self):
        for shown in self.small, self.large, self.on(40, 12, *FAST):
            with self.subTest(columns=shown.columns):
                self.assertEqual((shown.code, shown.screens), (0, 1))
                self.assertGreater(shown.pages, 0)
                self.says(shown.text, "^from sim.h5 .* lost 0")

    def test_a_page_has_the_window_and_what_stands_out_in_it(self):
        for shown in self.small, self.large:
            with self.subTest(columns=shown.columns):
                self.says(shown.page, "30 units  window .* spikes  .* Hz", r"count  by chance  ratio *q  episode, > is \(4,6\] ms",
                          "^ +[0-9]+ +[0-9.]+ +[0-9.]+ +[0-9.e-]+  A > B$", "^ +[0-9]+ +[0-9.]+ +[0-9.]+ +too early.*  A > B > C$",
                          r"^[1-9][0-9]* chains?(, [1-9][0-9]* significant parts?)? \(q of 0.05 or less\) of [1-9]",
                          "^what stands out most first: q <= 0.05, the longest, most above chance$")
        self.says(self.small.page, r"^triggers [0-9]+, the last at [0-9.]+ s: A -\(4,6\]-> B -\(4,6\]-> C [0-9]+")

    def test_more_rows_are_used_where_there_are_more(self):
        page = self.large.page
        self.assertGreater(self.count(EPISODE, page), 14)
        self.says(page, r"^ +[0-9]+  the last at [0-9.]+ s  A -\(4,6\]-> B -\(4,6\]-> C$",  # a line for each trigger
                  "^mean rates of 2 units a row, over the window, a column a hop; @ is [0-9.]+ Hz$")

    def test_rates_are_characters_the_strongest_at_signs(self):
        rows = re.findall(r"(?m)^ +[A-Z0-9a-z]+\+\|([-:.=+*#%@]{30,})\| [0-9.]+ Hz$", self.large.page)
        self.assertEqual(len(rows), 15)
        self.assertIn("@", "".join(rows))

    def test_a_long_name_is_shortened_in_its_middle(self):
        name = "sim of the very longest name that anybody would give to one of Müller's recordings.h5"
        shutil.copy("sim.h5", name)
        shown = self.ended(80, 24, "run", "run.yaml", "--replay", name, "--speed", "max")
        self.says(shown.page, r"^from sim of .*\.\.\..*recordings.h5  ended  [0-9]+ spikes  lost 0$")
        self.says(shown.after, f"^from {name}  ended ")

    def test_colours_are_there_where_the_terminal_has_them_and_nobody_minds(self):
        for environment, colours in (({"TERM": "xterm"}, {"2", "32"}), ({"TERM": "dumb"}, set()),
                                     ({"TERM": "xterm", "NO_COLOR": "1"}, set())):
            with self.subTest(environment=environment):
                self.assertEqual(self.ended(160, 50, *FAST, environment=environment).colours, colours)

    def test_limits_leave_out_and_say_how_much(self):
        page = self.ended(160, 50, *FAST, "--max-q", 0.05).page
        self.says(page, "^[1-9][0-9]* chain.* only q <= 0.05: [1-9][0-9]* left out")
        self.assertLess(self.count(EPISODE, page), 15)
        self.says(self.ended(80, 24, *FAST, "--max-q", 1e-9).page, "^nothing that is frequent has such a p or q so far")

    def test_without_tests_there_is_no_q(self):
        shown = self.ended(80, 24, *FAST, "--significance", "off")
        self.says(shown.text, "^no q: significance.kind is off", "^ .* off  ")

    def test_lines_of_json_on_the_same_terminal_are_not_drawn_over(self):
        shown = self.ended(160, 50, "run", "lines.yaml", "--replay", "sim.h5", "--speed", "max", "--duration", 6)
        self.assertEqual((shown.pages, shown.screens), (0, 0))
        self.assertGreaterEqual(self.count(r"^\{.*\}", shown.after), 6)
        self.says(shown.after, "^from sim.h5 .* lost 0")

    def test_elsewhere_than_on_a_terminal_there_is_a_line_a_hop(self):
        told = self.synfire("run", "run.yaml", "--replay", "sim.h5", "--speed", 40).stdout  # max may be over before the second line
        self.assertNotIn("\033", told)
        self.assertGreaterEqual(self.count("^synfire  30 units  window", told), 3)
        self.says(told, "^synfire: [1-9][0-9]* spikes of 30 units, lost 0")

    def test_without_a_chain_there_is_no_table_of_what_was_planted(self):
        self.synfire("simulate", "null.h5", "--unit-count", 5, "--rate", 5, "--duration", 20, "--quiet")
        told = self.synfire("run", "--replay", "null.h5", "--speed", "max").stdout
        self.says(told, "^No chain is planted in this simulation")
        self.says_not(told, "^planted chain")


class Untested(OfTheRun):
    """What a stream of so few stretches cannot have, and when."""

    @classmethod
    def prepare(cls):
        super().prepare()
        cls.small, cls.large = (cls.on(columns, rows, *FAST, *NEVER) for columns, rows in ((80, 24), (160, 50)))
        write("rows.yaml", YAML + STATUS.replace("status", "episodes, graph"))

    def test_it_says_what_a_q_takes(self):
        self.says(self.small.text, "^no q(| of 0.05 or less of [0-9]+ episodes): it takes 4 stretches of 30 s or more",
                  "^ .* not tested by the end  [A-Z]", "^1 stretch, the last without a p: not tested by the end$")
        shown = self.ended(80, 24, *FAST, *NEVER, "--duration", 20)
        self.says(shown.text, "^no q: it takes 4 stretches of 30 s or more after the first find; the run ended$")

    def test_nothing_is_still_to_come_once_the_run_is_over(self):
        self.assertGreater(self.count(" not tested by the end  ", self.large.text), 5)
        self.says_not(self.large.text, " waits| yet| so far")

    def test_one_reason_has_one_wording_below_its_head_on_the_page_and_in_the_closing_table(self):
        for shown in self.small, self.large:
            told, at = [], None  # rows of each table that have it; where the column of q ends
            for line in shown.text.splitlines():
                if head := re.match(" *count .* (q)  episode", line):
                    at = head.end(1)
                    told.append(0)
                    continue
                if re.search("^left|^and |more|^$", line):
                    at = None
                if "not tested" in line:
                    self.assertLessEqual(len(line), 80)
                if at is not None:
                    self.assertEqual(line[at:at + 2], "  ", line)
                    told[-1] += "not tested by the end  " in line
            with self.subTest(columns=shown.columns):
                self.assertEqual(len(told), 2)
                self.assertGreater(min(told), 5)

    def test_the_last_status_says_the_same_to_programs_and_no_other(self):
        for words in ("--duration", 20), ():  # no whole stretch, and one that was too early
            with self.subTest(words=words):
                told = self.printed("run", "lines.yaml", "--replay", "sim.h5", "--speed", "max", *NEVER, *words)
                self.assertEqual([m["not_tested"] for m in told if m["last"]], ["not tested by the end"])
                self.assertNotIn("not tested by the end", [m["not_tested"] for m in told if not m["last"]])

    def test_the_rows_of_the_last_window_say_the_same_and_of_no_other(self):
        told = self.printed("run", "rows.yaml", "--replay", "sim.h5", "--speed", "max", *NEVER, "--duration", 20.3)
        *others, last = [{one["not_tested"] for one in m["episodes"] if len(one["units"]) > 1} for m in told if m["topic"] == "episodes"]
        self.assertEqual(last, {"not tested by the end"})
        self.assertLessEqual(set().union(*others), {"waits for its first test"})
        edges = {one["not_tested"] for m in told if m["topic"] == "graph" and m["time_ns"] == told[-1]["time_ns"]
                 for one in m["changes"] if not one["removed"]}
        self.assertEqual(edges, {"not tested by the end"})

    def test_what_there_is_no_room_to_test_is_edges(self):
        crowd = {"mine: {delays_ms: 4:6}": "mine: {delays_ms: 4:6, max_size: 3, track_most: 50, every: 1}",
                 "length_s: 5": "most: 300, length_s: 5", "[status]": "[episodes, graph]"}
        text = YAML + STATUS
        for there, instead in crowd.items():
            text = text.replace(there, instead)
        write("crowd.yaml", text)
        told = self.printed("run", "crowd.yaml", "--replay", "sim.h5", "--speed", "max")
        chains = {one["not_tested"] for m in told if m["topic"] == "episodes" for one in m["episodes"] if len(one["units"]) > 2}
        self.assertIn("waits for its first test", chains)  # a chain that was just found
        self.assertNotIn("too many to test", chains)
        self.assertIn("too many to test", [one["not_tested"] for m in told if m["topic"] == "graph" for one in m["changes"]])


class Interrupted(OfTheRun):
    @classmethod
    def prepare(cls):
        super().prepare()
        write("run.yaml", YAML + "sinks: [{type: jsonl, path: out.jsonl, overwrite: true}]\n")

    def on_interrupt(self, interrupts):
        return self.on(80, 24, "run", "run.yaml", "--replay", "sim.h5", until="triggers [1-9]", interrupts=interrupts)

    def test_one_ends_in_order_with_a_summary_on_the_normal_screen(self):
        shown = self.on_interrupt(1)
        self.assertEqual(shown.code, 0)
        self.says(shown.after, "stopping; publishing what has arrived", "^synfire: [1-9][0-9]* spikes of 30 units, lost 0",
                  "^from sim.h5 ", "^triggers [1-9]", "^to jsonl .*out.jsonl, [0-9.]+ MB, 0 messages lost")

    def test_more_end_at_once_with_the_terminal_given_back(self):
        self.assertEqual(self.on_interrupt(100).code, 130)


class Sparse(OfTheRun):
    """Streams in which little is: what to change."""

    @classmethod
    def prepare(cls):
        super().prepare()
        write("pause.csv", "".join(f"A,{i * 0.05:.3f}\n" for i in range(40)) + "B,6.000\n")
        cls.pause = ("run", "--replay", "pause.csv", *LENGTHS)

    def test_a_silence_of_seconds_is_told(self):
        shown = self.on(80, 24, *self.pause, until="no data for [2-9]+ s")
        self.assertRegex(shown.line("no data for [2-9]+ s"), "^from pause.csv  live .*no data for [2-9][0-9]* s$")

    def test_where_nothing_is_frequent_settings_are_proposed(self):
        shown = self.ended(80, 24, *self.pause, "--speed", 4, "--duration", 2, *having("mine.every=1"))
        self.says(shown.text, "^nothing is frequent in a window of 1 s at delays of 0.5:5 ms",
                  "^try --set window.length_s=6 --set mine.min_rate_hz=0.83")

    def test_a_window_without_spikes_is_told_and_a_longer_one_proposed_once(self):
        shown = self.ended(80, 24, *self.pause, "--speed", "max", "--duration", 5)
        longer = "^try a longer one, as --set window.length_s=6 --set mine.min_rate_hz=0.83$"
        self.says(shown.text, "^no spikes in the window of 1 s$", longer,
                  "^the last window, 4.0-5.0 s, spikes 0: no spikes in the window of 1 s$")
        self.assertEqual(self.count("^try a longer one", shown.after), 1)

    def test_few_spikes_are_no_rate_of_0(self):
        write("few.csv", "name,seconds\nA,0.1\nA,0.9\nB,3.4\n")
        shown = self.ended(80, 24, "run", "--replay", "few.csv", "--speed", "max", *having("window.length_s=2", "window.hop_s=0.5"))
        self.says(shown.text, "^synfire  2 units  .*  1 spike  0.6 Hz$")

    def test_more_stretches_would_not_have_helped_where_none_gave_a_p(self):
        shown = self.ended(80, 24, *self.pause, "--speed", "max", "--duration", 5, *having("significance.length_s=0.5"))
        self.says(shown.text, "^no q: no stretch has a p, the last one for this: silent stretch$")
        self.says_not(shown.text, "it takes 4 stretches")

    def test_what_was_alive_when_the_run_ended_is_not_any_more(self):
        shown = self.ended(80, 24, "run", "--replay", "sim.h5", "--speed", 2, "--duration", 2)  # most of it is left
        self.assertEqual(self.count("^from sim.h5  (?:stopped|ended)  ", shown.text), 2)
        self.says_not(shown.text, "^from sim.h5  live")

    def test_where_nothing_is_looked_for_that_is_said(self):
        bare = ("run", "bare.yaml", "--replay", "sim.h5", "--speed", "max")
        write("bare.yaml", YAML.split("watch:")[0])
        unsought = self.ended(80, 24, *bare, *having("mine.every=0"))
        self.says(unsought.text, "^nothing is tracked: name episodes under .track., or set mine.every$")
        late = self.ended(80, 24, *bare, *having("mine.every=1000", "graph.enabled=false"))  # pairs are frequent that no list has yet
        self.says(late.text, "^episodes were not looked for yet: the first time after 1000 s$", "  no graph  ")
        for shown in unsought, late:
            self.says_not(shown.text, "nothing is frequent")


class Senders(OfTheRun):
    def test_one_that_is_not_there_is_waited_for_as_long_as_a_key_says(self):
        port, = command.free_ports(1)
        write("nobody.yaml", f'sources: [{{type: zmq, endpoint: "tcp://127.0.0.1:{port}", timeout_s: 0.2}}]\n')
        shown = self.on(80, 24, "run", "nobody.yaml")
        self.assertEqual(shown.code, 69)
        self.says(shown.text, f"waiting for the units of tcp://127.0.0.1:{port}, as long as sources.0.timeout_s allows")

    def test_of_one_that_hangs_the_page_says_for_how_long_nothing_was_heard(self):
        port, = command.free_ports(1)
        write("lab.yaml", f"""\
sources: [{{type: zmq, endpoint: "tcp://127.0.0.1:{port}", timeout_s: 5}}]
window: {{length_s: 1, hop_s: 0.5}}
sinks: [{{type: jsonl, path: lab.jsonl}}]
""")
        player = self.begin("play", "play", "sim.h5", "--to", f"tcp://127.0.0.1:{port}", "--loop")
        command.wait_for("waiting for 1 subscriber", "play.err", player)

        def hang():  # once it was joined
            command.wait_for('"topic":"episodes"', "lab.jsonl", player)
            player.send_signal(signal.SIGSTOP)

        hanging = threading.Thread(target=hang)
        hanging.start()
        lost = "LOST .*nothing heard for [1-9][0-9]* s"
        shown = self.on(80, 24, "run", "lab.yaml", until=lost)
        hanging.join()
        self.assertRegex(shown.line(lost), "^from tcp:.*  LOST  [0-9]* spikes  lost 0  nothing heard for [1-9][0-9]* s ")
        self.says(shown.after, "^synfire: [1-9][0-9]* spikes of 30 units")


if __name__ == "__main__":
    command.main()
