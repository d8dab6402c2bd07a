# SPDX-License-Identifier: Apache-2.0
"""Where people go wrong: each mistake gets a sentence that says what was found and what to type."""
import os
import pathlib
import random
import subprocess

import command

PAIR = "A -(4,6]-> B"
GRAPH = ("graph", "demo.h5", "--delay", "4:6", "--min-count", 30)
COUNT = ("count", "demo.h5", "--episodes")
FEW = ("--csv", "--min-count", 1, "--max-size", 2)
FAST = ("run", "--replay", "demo.h5", "--speed", "max")
JSON_LINES = ("--set", "sinks.0.type=jsonl", "--set", "sinks.0.path=-")


def write(name, text):
    pathlib.Path(name).write_text(text)


def first_line(*words):
    """The first line that the command prints to a reader that then has enough, and what it says."""
    running = subprocess.Popen([os.environ["SYNFIRE"], *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    line = running.stdout.readline()
    running.stdout.close()
    said = running.stderr.read()
    running.stderr.close()
    running.wait()
    return line, said


class Hints(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "demo.h5", "--preset", "sym26", "--duration", 20, "--quiet")
        write("episodes.txt", f"{PAIR}\n")
        write("two.csv", "A,1\nB,2\n")
        numbers, ms = random.Random(2), 0
        cls.lines = []
        for i in range(1, 900):
            ms += 25 * numbers.random() + 2
            cls.lines.append(("ABC"[i % 3], f"{ms:.3f}"))
        cls.write_lines("said.csv", "unit,ms")

    @classmethod
    def write_lines(cls, name, *head, comma=",", point="."):
        write(name, "".join(f"{line}\n" for line in (*head, *(f"{unit}{comma}{ms.replace('.', point)}" for unit, ms in cls.lines))))

    def hints(self, sentence, *words):
        """The command succeeds, with this one warning."""
        done = self.synfire(*words)
        self.assertIn(sentence, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stdout)

    def same(self, one, other):
        self.assertEqual(command.without_times(one), command.without_times(other))

    def test_a_word_that_is_no_command_is_nearly_one_or_a_file(self):
        self.refuses(64, "there is no command 'mien': did you mean `synfire mine`?", "mien", "demo.h5")
        self.refuses(64, "there is no command 'demo.h5', but a file: `synfire info demo.h5`", "demo.h5")
        self.refuses(64, "did you mean `synfire count`", "help", "cuont")
        self.refuses(64, "did you mean `synfire --version`?", "version")
        self.refuses(64, "did you mean `synfire mine`?", "help", "--mine")

    def test_a_word_that_is_no_option_is_nearly_one(self):
        self.refuses(64, "--dealy: is no option of this command: did you mean --delay?", "mine", "demo.h5", "--dealy", "4:6")
        self.refuses(64, "-delay: is no option of this command: did you mean --delay?", "mine", "demo.h5", "-delay", "4:6")
        self.refuses(64, "--json=yes: takes no value: type --json alone", "mine", "demo.h5", "--json=yes")

    def test_help_is_asked_for_in_any_order(self):
        page = self.synfire("mine", "--help").stdout
        self.assertEqual(self.synfire("help", "mine").stdout, page)
        self.assertEqual(self.synfire("--help", "mine").stdout, page)
        self.assertRegex(self.synfire("help", "reach").stdout, "(?m)^usage: synfire bfs ")
        self.assertEqual(self.synfire("help").stdout, self.synfire("--help").stdout)

    def test_whoever_asked_for_json_is_refused_in_json_whatever_the_mistake(self):
        self.refuses(64, "did you mean `synfire mine`?", "mien", "demo.h5", "--json")
        self.refuses(64, "did you mean `synfire count`", "help", "cuont", "--json")
        self.refuses(64, "there is no command '--json'", "--json", "mine", "demo.h5")
        self.refuses(64, "did you mean --delay?", "mine", "demo.h5", "--json", "--dealy", "4:6")
        self.refuses(64, "did you mean --delay?", "mine", "demo.h5", "--dealy", "4:6", "--json")
        self.refuses(64, "--seed: needs a value", "mine", "demo.h5", "--json", "--seed")

    def test_a_file_that_is_something_else_is_told_apart(self):
        for name in "g.h5", "g.graphml":
            self.synfire(*GRAPH, "--out", name, "--quiet")
            self.refuses(65, f"{name}: is a graph, and `synfire mine` takes a recording", "mine", name)
        self.synfire("mine", *GRAPH[1:], "--occurrences", "o.h5", "--quiet")
        self.refuses(65, "o.h5: holds occurrences of episodes", "mine", "o.h5")
        for name in "demo.h5", "two.csv":
            self.refuses(64, f"is a recording, expected a configuration; to run it: `synfire run --replay {name}`", "run", name)
        self.refuses(64, "is a recording, expected a configuration", "record", "demo.h5", "out.h5")

    def test_a_tab_in_a_configuration_is_pointed_at(self):
        write("tab.yaml", "window:\n  hop_s: 1\n \tlength_s: 20\n")
        self.refuses(78, "tab.yaml:3:2: a tab indents this line: YAML takes spaces only", "run", "tab.yaml")

    def test_episodes_are_a_file_or_the_episode_itself(self):
        self.same(self.document(*COUNT, PAIR), self.document(*COUNT, "episodes.txt"))
        self.refuses(66, "is no file, and an episode has its delays in ms between units: A -(0,5]-> B", *COUNT, "A -> B")
        self.refuses(66, "is no file, and an episode has its delays", *COUNT, "A -(4,6)-> B")
        self.refuses(65, "--episodes:1: column 1: no unit is named 'Ä'", *COUNT, "Ä -(4,6]-> B")

    def test_a_configuration_that_is_not_there_may_be_one_that_comes_with_synfire(self):
        self.refuses(66, "monitorin: is no file: did you mean `monitoring`, a configuration that comes with synfire?", "run", "monitorin")
        self.refuses(66, "elsewhere: cannot open: No such file", "run", "elsewhere")
        self.refuses(66, "lab.yaml: cannot open: No such file", "run", "lab.yaml")

    def test_seconds_for_ms_are_told(self):
        less = "is less than a spike takes: for seconds type"
        self.hints(f"(0.004,0.006] ms {less} 4:6", "mine", "demo.h5", "--delay", "0.004:0.006", *FEW)
        self.hints("for seconds type 4:6", *FAST, "--set", "mine.delays_ms=0.004:0.006", "--set", "mine.every=0", "--set",
                   "graph.enabled=false", "--json")
        self.hints(f"(0.004,0.006] ms {less} 4:6", *COUNT, "A -(0.004,0.006]-> B")
        self.hints(f"--width is in ms, and 0.03 ms {less} 30", *COUNT, PAIR, "--significance", "segment-shift", "--surrogates", 99,
                   "--width", 0.03)
        self.assertIn(f"--dedup is in ms, and 0.0004 ms {less} 0.4", self.synfire("info", "demo.h5", "--dedup", "0.0004,100").stderr)
        self.assertIn("for seconds type 4:6", self.synfire("simulate", "--unit-count", 3, "--duration", 2, "--chain",
                                                           "A -(0.004,0.006]-> B", "wrong.h5").stderr)
        self.assertIn("--blank is in ms, and 0.006 ms", self.run_command("info", "demo.h5", "--blank", "light,-0.001,0.005").stderr)

    def test_ms_for_seconds_are_told(self):
        write("epochs.csv", "3000,4000\n")
        write("ms-epochs.csv", "0,5000\n5000,10000\n10000,15000\n")
        write("ms-labels.csv", "0,5000,rest\n5000,10000,task\n")
        self.refuses(64, "--from: 5000 s is after the recording, which is from 0 to 20 s: times are in seconds, and 5000 ms are 5 s",
                     "mine", "demo.h5", "--from", 5000)
        self.refuses(64, "--to: -1 s is before the recording", "info", "demo.h5", "--to", -1)
        self.refuses(64, "--epochs: 3000 s is after the recording", "mine", "demo.h5", "--epochs", "epochs.csv")
        self.refuses(64, "--epochs: they end at 15000 s, and the recording is from 0 to 20 s: times are in seconds, and these lie in it "
                     "as ms", "info", "demo.h5", "--epochs", "ms-epochs.csv")
        self.hints("--window is in seconds, and 5000 s is longer than the 20 s that are looked at: 5000 ms are 5 s",
                   *COUNT, PAIR, "--window", 5000)
        done = self.run_command("rules", "demo.h5", "--labels", "ms-labels.csv", "--window", 1000, "--delay", "4:6", "--min-count", 20)
        self.assertEqual(done.returncode, 65)
        self.assertIn("1000 ms are 1 s", done.stderr)

    def test_microseconds_for_ms_are_told(self):
        self.hints("6000 ms is 6 s: for microseconds type 4:6", "mine", "demo.h5", "--delay", "4000:6000", *FEW)

    def test_epochs_of_a_longer_experiment_are_no_mistake(self):
        write("longer.csv", "0,5\n10,15\n30,40\n")
        self.synfire("info", "demo.h5", "--epochs", "longer.csv")

    def test_times_of_a_text_are_in_the_unit_that_its_head_names(self):
        self.write_lines("headed.csv", "unit,seconds")
        self.hints("are under 0.2 s, and the recording takes 3.", "info", "headed.csv")
        self.hints("said.csv: read as units of column 1 'unit', times of column 2 'ms' in ms; --columns says it otherwise",
                   "info", "said.csv")
        self.assertRegex(self.synfire("info", "said.csv", "--quiet").stdout, r"(?m)^  recorded +1[0-9]\.[0-9]+ s")

    def test_columns_that_were_swapped_are_told(self):
        write("swapped.csv", "".join(f"{ms},{unit}\n" for unit, ms in self.lines))
        self.refuses(65, "swapped.csv: line 2: expected a time from 0 to 4.6e9 seconds, found", "info", "swapped.csv")
        write("swapped.csv", "".join(f"{ms},{'ABC'.index(unit) + 1}\n" for unit, ms in self.lines))
        self.refuses(65, "swapped.csv: 899 lines name 899 units, all of them numbers: these are times", "info", "swapped.csv")

    def test_spikes_are_read_as_spreadsheets_write_numbers(self):
        self.write_lines("semicolons.csv", "unit;ms", comma=";", point=",")
        self.write_lines("tabs.csv", "unit\tms", comma="\t", point=",")
        commas = self.document("mine", "said.csv", "--delay", "0.5:20")
        self.assertTrue(commas["episodes"])
        for name in "semicolons.csv", "tabs.csv":
            with self.subTest(name=name):
                self.same({**self.document("mine", name, "--delay", "0.5:20"), "recording": "said.csv"}, commas)

    def test_epochs_are_read_as_spreadsheets_write_numbers(self):
        write("commas.txt", "0,5.5,rest\n6,9,stimulus\n")
        write("semicolons.txt", "0;5,5;rest\n6;9;stimulus\n")
        write("tabs.txt", "from\tto\tlabel\n0\t5,5\trest\n6\t9\tstimulus\n")
        commas = self.document(*COUNT, "episodes.txt", "--epochs", "commas.txt")
        self.assertIn("stimulus", str(commas))
        for name in "semicolons.txt", "tabs.txt":
            with self.subTest(name=name):
                self.same(self.document(*COUNT, "episodes.txt", "--epochs", name), commas)


class Readers(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "demo.h5", "--preset", "sym26", "--duration", 20, "--quiet")

    def assert_no_failure(self, line, said):
        self.assertTrue(line.endswith("\n"))
        self.assertNotRegex(said.lower(), "pipe|cannot write|failed")

    def test_one_that_has_enough_is_no_failure(self):
        for _ in range(3):
            line, said = first_line("mine", "demo.h5", "--delay", "0.5:50", "--min-count", 1, "--max-size", 3, "--csv", "--quiet")
            self.assertRegex(line, "^id,.*\n$")
            self.assertEqual(said, "")

    def test_a_live_run_ends_when_nobody_reads_it_any_more(self):
        for sink in JSON_LINES, ():
            with self.subTest(sink=sink):
                self.assert_no_failure(*first_line("run", "--replay", "demo.h5", "--speed", 0.05, "--set", "window.length_s=0.1", "--set",
                                                   "window.hop_s=0.05", *sink))

    def test_a_live_run_that_records_goes_on(self):
        self.assert_no_failure(*first_line(*FAST, *JSON_LINES, "--set", "sinks.1.type=hdf5", "--set", "sinks.1.path=kept.h5", "--set",
                                           "sinks.1.policy=block"))
        self.assertEqual(self.document("info", "kept.h5")["spikes"], self.document("info", "demo.h5")["spikes"])

    def test_a_full_disk_is_a_failure(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([os.environ["SYNFIRE"], "info", "demo.h5"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 74)
        self.assertIn("standard output: cannot write: No space left on device", done.stderr)


if __name__ == "__main__":
    command.main()
