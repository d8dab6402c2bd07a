# SPDX-License-Identifier: Apache-2.0
"""Several recordings at once, and the wells of a plate: each as it is alone, in the order given, told apart; what is wrong with one
keeps no other."""
import contextlib
import csv
import os
import pathlib
import signal
import subprocess

import command

MINED = ("--delay", "4:6", "--min-count", 2, "--device", "cpu")
DAYS = ["my data/day 3.h5", "my data/day 1.h5", "my data/day 2.h5"]
WELLS = ("A1", "A2", "B1")
MAXTWO = "recordings/probeinterface_maxtwo_data.raw.h5"


def write(path, text):
    pathlib.Path(path).write_text(text)


def same(documents):
    """Documents without what differs between runs."""
    return [{key: value for key, value in command.without_times(document).items() if key != "teps"} for document in documents]


def held(text):
    return [command.schema.held(command.schema.parse(line)) for line in text.splitlines()]


def headings(text):
    return [line for line in text.splitlines() if line.startswith("==>")]


class Test(command.Test):
    @classmethod
    def lines(cls, *words):
        """Its JSON lines, each as its schema says."""
        return held(cls.synfire(*words, "--json", "--quiet").stdout)

    def table(self, *words):
        """Its CSV, with the recording before every row."""
        return list(csv.DictReader(self.synfire(*words, "--csv", "--quiet").stdout.splitlines()))


class Recordings(Test):
    @classmethod
    def prepare(cls):
        pathlib.Path("my data").mkdir()
        for i in 1, 2, 3:
            cls.synfire("simulate", f"my data/day {i}.h5", "--unit-count", 6, "--rate", 8, "--duration", 10 + 2 * i, "--seed", i,
                        "--chain", "A -(4,6]-> B -(4,6]-> C", "--chain-rate", 4)
        write("bad.csv", "a,1\nb\n")
        write("odd, name.csv", "a,1\n")
        write("small.csv", 'a,0.1\nb,0.104\na,0.2\nb,0.205\n"c,""d",0.3\n')
        cls.alone = [cls.document("mine", day, *MINED) for day in DAYS]

    def test_each_is_as_it_is_alone_however_many_work_at_a_time(self):
        for jobs in 1, 3:
            with self.subTest(jobs=jobs):
                said = self.synfire("mine", *DAYS, *MINED, "--json", "--jobs", jobs)
                together, progress = held(said.stdout), said.stderr.splitlines()
                self.assertEqual(same(together), same(self.alone))
                self.assertEqual(together[1]["provenance"]["command"],
                                 "synfire mine 'my data/day 1.h5' --delay 4:6 --min-count 2 --device cpu --json")
                self.assertEqual(len(progress), 3)
                self.assertRegex(said.stderr, "(?m)^synfire: mine: my data/day 1.h5: done after [0-9.e-]* s, [123] of 3$")

    def test_a_list_names_recordings_alone_and_after_others(self):
        text = "my data/day 1.h5\r\n\nmy data/day 2.h5\n"  # as Windows ends lines
        pathlib.Path("list").write_bytes(text.encode())
        said = self.synfire("mine", DAYS[0], "--list", "list", *MINED, "--json", "--quiet")
        self.assertEqual(same(held(said.stdout)), same(self.alone))
        self.assertEqual(said.stderr, "")
        from_input = subprocess.run([os.environ["SYNFIRE"], "info", "--list", "-", "--json", "--quiet"], input=text, capture_output=True,
                                    text=True, check=True).stdout
        self.assertEqual([document["provenance"]["selection"]["recording"] for document in held(from_input)], DAYS[1:])
        write("list", DAYS[2])
        self.assertEqual(headings(self.synfire("info", "--list=list", "--quiet").stdout), [f"==> {DAYS[2]} <=="])

    def test_where_no_recording_is_named_it_says_so(self):
        write("empty", "")
        self.refuses(65, "empty: no recording is named", "info", "--list", "empty")
        self.refuses(66, "none: cannot open", "info", "--list", "none", "--json")
        self.refuses(64, "no recording is named", "info", "--jobs", 2)
        write("chains", "A -(4,6]-> B\n")
        self.refuses(64, "an argument is missing: expected `synfire match DATA... PATTERN", "match", "--list", "chains")

    def test_options_that_several_recordings_have_not_are_refused(self):
        self.refuses(64, "--jobs: found '0', expected a whole number from 1 to 4096", "info", "small.csv", "--jobs", 0)
        self.refuses(64, "--csv: does not go with --json", "info", "small.csv", "small.csv", "--csv", "--json")
        self.refuses(64, "is one argument too many", "play", "small.csv", "small.csv")

    def test_text_has_a_heading_before_each(self):
        self.assertEqual(headings(self.synfire("info", "small.csv", DAYS[1]).stdout), ["==> small.csv <==", f"==> {DAYS[1]} <=="])
        heading, text = self.synfire("info", "small.csv", "--jobs", 1, "--quiet").stdout.split("\n", 1)
        self.assertEqual((heading, text), ("==> small.csv <==", self.synfire("info", "small.csv", "--quiet").stdout))

    def test_csv_is_one_table_with_the_recording_before_every_row(self):
        rows = self.table("info", "odd, name.csv", "small.csv")
        self.assertEqual([(row["recording"], row["name"], row["spikes"]) for row in rows],
                         [("odd, name.csv", "a", "1"), ("small.csv", "a", "2"), ("small.csv", "b", "2"), ("small.csv", 'c,"d', "1")])

    def test_one_that_is_damaged_is_named_and_the_others_are_done(self):
        done = self.run_command("info", "bad.csv", "small.csv", "none.csv", DAYS[1], "--json")
        self.assertEqual(done.returncode, 65)  # of the first that failed
        self.assertRegex(done.stderr, "(?m)^synfire: info: bad.csv: line 2: expected")
        self.assertRegex(done.stderr, "(?m)^synfire: info: none.csv: cannot open")
        self.assertEqual(done.stderr.splitlines()[-1], "synfire: info: 2 of 4 recordings failed: bad.csv, none.csv")
        bad, small, none, day = held(done.stdout)
        self.assertEqual((bad["error"]["exit_code"], none["error"]["exit_code"]), (65, 66))
        self.assertTrue(bad["error"]["message"].startswith("line 2: expected"), bad)
        self.assertTrue(small["spikes"] > 0 and day["spikes"] > 0)
        done = self.run_command("info", "small.csv", "bad.csv")
        self.assertEqual((done.returncode, headings(done.stdout)), (65, ["==> small.csv <=="]))

    def test_each_refuses_options_by_itself(self):
        done = self.run_command("mine", "small.csv", "odd, name.csv", "--delay", "x")
        self.assertEqual(done.returncode, 64)
        for name in "small.csv", "odd, name.csv":
            self.assertRegex(done.stderr, f"(?m)^synfire: mine: {name}: --delay: 'x' is not")

    def test_each_writes_a_file_of_its_own(self):
        self.synfire("mine", *DAYS[1:], *MINED, "--occurrences", "found {}.csv", "--quiet")
        for i, day in (1, DAYS[1]), (2, DAYS[2]):
            self.synfire("mine", day, *MINED, "--occurrences", "alone.csv")
            self.assertEqual(pathlib.Path(f"found day {i}.csv").read_bytes(), pathlib.Path("alone.csv").read_bytes())
        self.refuses(64, "--occurrences: found 'all.csv', expected {} in it", "mine", DAYS[1], "small.csv", *MINED, "--occurrences", "all.csv")

    def test_none_is_written_over_another_or_over_what_is_read(self):
        recording = pathlib.Path(DAYS[1]).read_bytes()
        for path in "day 1.h5", "x-day 3.h5":
            pathlib.Path(path).write_bytes(recording)
        self.refuses(64, "two recordings would write x-day 1.csv", "mine", DAYS[1], "day 1.h5", *MINED, "--occurrences", "x-{}.csv")
        self.refuses(64, "would write over the input x-day 3.h5", "graph", DAYS[0], "x-day 3.h5", *MINED, "--out", "x-{}.h5")
        self.assertEqual(pathlib.Path("x-day 3.h5").read_bytes(), recording)

    def test_what_is_before_the_last_arguments_of_every_command_is_recordings(self):
        write("chains", "A -(4,6]-> B\n")
        for name, *options in (("count", "--episodes", "chains"), ("graph", "--delay", "4:6"), ("bfs", "--delay", "4:6", "--source", "#0"),
                               ("bandwidth", "--quantity", "isi", "--units", "#0"), ("density", "--quantity", "isi", "--units", "#0")):
            with self.subTest(name=name):
                done = self.run_command(name, DAYS[1], "small.csv", *options, "--json", "--quiet")
                self.assertEqual(len(held(done.stdout)), 2, done.stderr)
        self.assertEqual(len(self.lines("aggregate", *DAYS[1:], "--quantity", "isi", "--units", "#0", "--range", "0:1")), 2)
        pattern = ("feed-forward-loop", *MINED, "--count")
        self.assertEqual(same(self.lines("match", *DAYS, *pattern)), same(self.document("match", day, *pattern) for day in DAYS))

    def begin_and_wait(self, name):
        """A command whose first of three recordings is a pipe that nobody writes, and the process that waits for it."""
        os.mkfifo(name)
        run = self.begin(name.split(".")[0], "info", name, "small.csv", "small.csv", "--jobs", 1, "--json")
        children = pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children")
        command.wait_until(children.read_text, "a process of the first recording", run)
        return run, int(children.read_text().split()[0])

    def test_a_process_that_dies_is_one_failure_with_its_line(self):
        run, child = self.begin_and_wait("dies.pipe")
        os.kill(child, signal.SIGKILL)
        run.end(70)
        self.assertEqual(len(held(run.out.read_text())), 3)
        self.assertEqual(run.err.read_text().splitlines()[-1], "synfire: info: 1 of 3 recordings failed: dies.pipe")

    def test_once_it_is_stopped_those_at_work_end_and_no_further_one_begins(self):
        run, _ = self.begin_and_wait("stopped.pipe")
        run.terminate()

        def ended():
            with contextlib.suppress(OSError):  # a reader opens a pipe only once there is a writer
                os.close(os.open("stopped.pipe", os.O_WRONLY | os.O_NONBLOCK))
            return run.poll() is not None

        command.wait_until(ended, "its end")
        run.end(143)
        self.assertLessEqual(len(held(run.out.read_text())), 1)
        self.assertRegex(run.err.read_text().splitlines()[-1], "^synfire: info: stopped after [01] of 3$")


class Wells(Test):
    """Those of a plate, also among other recordings; those without spikes are passed over."""

    @classmethod
    def prepare(cls):
        rows = [(0.05 * i + 0.005 * k + 0.001 * w, f"{well}_{k + 1}{w + 1}") for w, well in enumerate(WELLS) for i in range(60) for k in range(3)]
        write("plate.csv", "Investigator,me,Time (s),Electrode,Amplitude(mV)\r\n"
              + "".join(f",,{time:.4f},{electrode},0.1\r\n" for time, electrode in sorted(rows)))
        write("small.csv", 'a,0.1\nb,0.104\na,0.2\nb,0.205\n"c,""d",0.3\n')

    def test_each_is_as_it_is_alone_and_named(self):
        alone = [self.document("mine", "plate.csv", "--stream", well, *MINED) for well in WELLS]
        together = self.lines("mine", "plate.csv", "--stream", "*", *MINED)
        self.assertEqual(same(together), same(alone))
        self.assertEqual([line["provenance"]["selection"]["stream"] for line in together], list(WELLS))
        self.assertTrue(all(line["episodes"] for line in together))
        self.assertIn("--stream A2", together[1]["provenance"]["command"])
        self.assertEqual(same(self.lines("mine", "plate.csv", "--stream", "A*", *MINED)), same(alone[:2]))

    def test_each_is_as_it_is_alone_by_every_command(self):
        for name, *words in (("graph", "--delay", "4:6", "--min-count", 2), ("graph", "--metric", "sttc", "--surrogates", 5),
                             ("bandwidth", "--quantity", "isi"), ("density", "--quantity", "isi", "--units", "#0"),
                             ("aggregate", "--quantity", "rate", "--window", 0.04, "--units", "#1", "--range", "5:35"),
                             ("bfs", "--delay", "4:6", "--min-count", 2, "--source", "#0"),
                             ("match", "feed-forward-loop", "--delay", "4:6", "--min-count", 2)):
            with self.subTest(name=name):
                together = same(self.lines(name, "plate.csv", *words, "--stream", "*"))
                self.assertEqual(together, same(self.document(name, "plate.csv", *words, "--stream", well, "--quiet") for well in WELLS))
                self.assertTrue(name == "match" or together[0] != together[1] != together[2] != together[0])

    def test_a_column_names_them_among_other_recordings(self):
        said = self.synfire("info", "plate.csv", "small.csv", "--stream", "*", "--csv")
        rows = list(csv.DictReader(said.stdout.splitlines()))
        self.assertEqual(list(rows[0])[:2], ["recording", "stream"])
        self.assertEqual(list(dict.fromkeys((row["recording"], row["stream"]) for row in rows)),
                         [*(("plate.csv", well) for well in WELLS), ("small.csv", "")])
        self.assertRegex(said.stderr, "(?m)^synfire: info: plate.csv: A2: done after")

    def test_a_table_of_densities_names_well_and_unit(self):
        rows = self.table("density", "plate.csv", "--stream", "*", "--quantity", "isi", "--grid", "0.01:0.1:300")
        self.assertEqual(list(rows[0]), ["recording", "stream", "unit", "name", "x", "density_per_ln_s"])
        self.assertEqual(len({(row["stream"], row["unit"]) for row in rows}), 9)

    def test_what_is_written_has_the_well_in_its_name(self):
        said = self.synfire("mine", "plate.csv", "--stream", "*", *MINED, "--occurrences", "of {}.csv", "--quiet")
        self.assertIn("==> plate.csv: B1 <==", headings(said.stdout))
        for well in WELLS:
            self.assertGreater(pathlib.Path(f"of plate-{well}.csv").stat().st_size, 0)
        self.synfire("plot", "raster", "plate.csv", "small.csv", "--stream", "*", "-o", "{}.svg", "--quiet")
        for name, unit in ("plate-B1", "B1_"), ("plate-A2", "A2_"), ("plate-A1", "A1_"), ("small", "a<"):
            self.assertIn(f">{unit}", pathlib.Path(f"{name}.svg").read_text())
        self.synfire("report", "plate.csv", "--stream", "*1", "-o", "{}.html", "--quiet")
        for well in "A1", "B1":
            self.assertIn(f"plate.csv: {well}", pathlib.Path(f"plate-{well}.html").read_text())
        self.assertFalse(pathlib.Path("plate-A2.html").exists())
        self.refuses(64, "{}", "plot", "raster", "plate.csv", "small.csv", "--stream", "*", "-o", "one.svg", "--quiet")

    def test_a_chosen_well_is_drawn_as_among_others_and_named(self):
        self.synfire("plot", "raster", "plate.csv", "--stream", "*", "-o", "among {}.svg", "--quiet")
        for path, written in ("alone {}.svg", "alone plate-A2.svg"), ("alone.svg", "alone.svg"):
            self.synfire("plot", "raster", "plate.csv", "--stream", "A2", "-o", path, "--quiet")
            self.assertEqual(pathlib.Path(written).read_bytes(), pathlib.Path("among plate-A2.svg").read_bytes())

    def test_where_none_is_there_it_says_so(self):
        self.refuses(64, "none of the 0 of plate.csv that match 'C*' has spikes", "info", "plate.csv", "--stream", "C*")
        done = self.run_command("info", "none.csv", "--stream", "*")
        self.assertEqual(done.returncode, 66)
        self.assertRegex(done.stderr, "(?m)^synfire: info: none.csv: cannot open")

    @command.needs_data(MAXTWO)
    def test_recordings_of_wells_of_a_real_plate(self):
        plate = command.DATA / MAXTWO
        alone = [self.document("info", plate, "--stream", f"well00{well}/rec000{part}", "--quiet") for well in range(6) for part in range(2)]
        self.assertEqual(same(self.lines("info", plate, "--stream", "*")), same(alone))


if __name__ == "__main__":
    command.main()
