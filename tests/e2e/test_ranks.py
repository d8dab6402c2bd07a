# SPDX-License-Identifier: Apache-2.0
"""synfire-mpi: any number of ranks prints and writes what synfire does; what one rank fails at ends the job."""
import contextlib
import os
import pathlib
import random
import re
import shutil
import subprocess
import time
import unittest

import command

MPI = os.environ.get("SYNFIRE_MPI")
command.need(MPI, "no Open MPI: synfire-mpi was not built")
command.need(not command.SANITIZED, "sanitizers find what Open MPI does not free: test_ranks runs under them")
command.need(shutil.which("mpirun"), "no mpirun")
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

COUNT = ("count", "demo.h5", "--episodes", "chains.txt")
CHAINS = ("mine", "demo.h5", "--delay", "4:6")
MINE = (*CHAINS, "--min-count", 60)
TWO_DELAYS = ("mine", "demo.h5", "--delay", "4:6,0.5:4", "--min-count", 60, "--max-size", 8, "--csv")
SOME_UNITS = ("--units", "A,B,C,#5-#20")
LONG = ("--delay", "1:3", "--min-count", 13500, "--max-size", 3)
DEMAS = command.DATA / "recordings/Demas2003_P9_CTRL_MY1_1A.h5"
NEEDS_ALL_SPIKES = ("bursts", "in_bursts", "reverse_count", "asymmetry")


def counted(rows):
    """Rows without what needs all spikes at once, which is empty of spikes read in pieces."""
    return [{name: cell for name, cell in row.items() if name not in NEEDS_ALL_SPIKES} for row in rows]


def script(name, second):
    """A program that starts synfire-mpi, after what the rank 2 does first."""
    pathlib.Path(name).write_text(f'#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = 2 ] && {second}\nexec "$SYNFIRE_MPI" "$@"\n')
    pathlib.Path(name).chmod(0o755)


class Ranks(command.Test):
    count, program, given = 0, MPI, os.devnull

    @classmethod
    def run_command(cls, *words, environment=None):
        """The command with these words, by as many ranks as `by` says, or by itself."""
        with open(cls.given) as given:
            return subprocess.run([*cls.job(), *map(str, words)], capture_output=True, text=True, check=False, stdin=given,
                                  env={**os.environ, **(environment or {})})

    @classmethod
    def job(cls):
        return ["mpirun", "-q", "--oversubscribe", "-n", str(cls.count), cls.program] if cls.count else [os.environ["SYNFIRE"]]

    @classmethod
    @contextlib.contextmanager
    def by(cls, count, program=MPI):
        cls.count, cls.program = count, program
        try:
            yield
        finally:
            cls.count = 0

    @staticmethod
    def ended(done):
        """How it ended and all that it printed, but for times: recordings are done in any order."""
        return (done.returncode, re.sub(r'"seconds":[^,}]*', "", done.stdout),
                sorted(re.sub(r" after [^ ]* s, \d+ of", "", line) for line in done.stderr.splitlines()))

    def same(self, counts, *words, code=0):
        """So many ranks end as one process does, with something printed."""
        alone = self.ended(self.run_command(*words))
        self.assertEqual(alone[0], code, alone[2])
        self.assertTrue(alone[1])
        for count in counts:
            with self.subTest(count=count, words=words), self.by(count):
                self.assertEqual(self.ended(self.run_command(*words)), alone)

    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "demo.h5", "--preset", "sym26")
        pathlib.Path("chains.txt").write_text("A -(4,6]-> B\nA -(4,6]-> B -(4,6]-> C\nB\nK -(0,400]-> J -(0,400]-> K\n"
                                              "A -(0,50]-> B -(0,50]-> A\n")


class Divided(Ranks):
    """What is printed, but for times, is what one process prints. test_ranks has the same of every number of ranks up to 8,
    without MPI."""

    def test_counts(self):
        self.same((1, 2, 3, 5, 8), *COUNT)
        self.same((3,), *COUNT, "--json", "--window", 7, "--hop", 2)
        self.same((3,), *COUNT, "--csv", "--engine", "ptpe")
        self.same((2,), *COUNT, "--json", "--correlogram", "--significance", "shift", "--surrogates", 30)

    def test_mined_episodes(self):
        self.same((2, 8), *TWO_DELAYS, "--threads", 2)
        self.same((3,), *MINE, "--threads", 3, "--json", "--significance", "segment-shift", "--surrogates", 50)
        self.same((5,), *CHAINS, "--min-count", 100, "--json", "--significance", "jitter", "--fdr", "--surrogates", 5)
        self.same((3,), *MINE, "--engine", "hybrid", "--csv", "--from", 10, "--to", 40, *SOME_UNITS)

    def test_episodes_of_spikes_read_in_pieces(self):
        self.same((3, 8), *TWO_DELAYS, "--memory", "130M")
        self.same((3,), *CHAINS, "--csv", *SOME_UNITS, "--from", "+10", "--to", 40, "--significance", "analytic", "--memory", "130M")

    def test_graphs(self):
        self.same((8,), "graph", "demo.h5", "--delay", "4:6", "--min-count", 60, "--json")
        self.same((2, 5), "graph", "demo.h5", "--metric", "sttc", "--surrogates", 25, "--threads", 3, "--json")

    def test_densities(self):
        numbers = random.Random(5)
        with open("samples.txt", "w") as file:
            for _ in range(700):
                x = sum(numbers.random() for _ in range(3))
                print(x, x + numbers.random() + numbers.random(), file=file)
        isi = ("density", "demo.h5", "--quantity", "isi", "--units", "B")
        self.same((3, 8), "density", "samples.txt", "--bandwidth", "lscv", "--grid", "0:3:60,0:5:60", "--json")
        self.same((3,), "density", "samples.txt", "--json", "--grid", "0:3:30,0:5:40", "--plot", "x.svg")
        self.same((2, 5), *isi, "--json")
        self.same((2,), *isi, "--bandwidth", "isj", "--linear", "--csv")
        self.same((2,), "density", "demo.h5", "--quantity", "delay", "--episode", "A -(4,6]-> B", "--bandwidth", "lscv", "--csv")

    @command.needs_data(f"recordings/{DEMAS.name}")
    def test_a_real_recording(self):
        self.same((3,), "mine", DEMAS, "--delay", "0.5:20", "--min-count", 300, "--json")
        self.same((5,), "graph", DEMAS, "--metric", "sttc", "--surrogates", 10, "--csv")
        self.same((2,), "density", DEMAS, "--quantity", "position", "--json", "--grid", "0:2000:50,0:2000:50")

    def test_files_are_written_once_and_are_the_same(self):
        jobs = (("x.csv", (*MINE, "--occurrences")), ("x.h5", (*MINE, "--occurrences")), ("x.svg", (*COUNT, "--plot")),
                ("x.graphml", ("graph", "demo.h5", "--delay", "4:6", "--min-count", 60, "--out")))
        for folder, count in ("one", 0), ("several", 3):
            pathlib.Path(folder).mkdir()
            for name, words in jobs:
                with self.by(count):
                    self.synfire(*words, f"{folder}/{name}", "--quiet")
            if folder == "one":
                continue
            for name, _ in jobs:
                with self.subTest(name=name):
                    if name == "x.h5":
                        one, several = (command.without_times(self.document("info", f"{where}/{name}")) for where in ("one", "several"))
                        self.assertEqual({**one, "occurrences": 0}, {**several, "occurrences": 0})
                    else:
                        one, several = (pathlib.Path(where, name).read_text().replace(f"{where}/x", "x") for where in ("one", "several"))
                        self.assertEqual(one, several)


class Recordings(Ranks):
    """Recordings are divided too, and what is wrong with one is told as of one process."""

    @classmethod
    def prepare(cls):
        for i in range(1, 5):
            cls.synfire("simulate", f"{i}.h5", "--unit-count", 5, "--duration", 10 * i, "--seed", i, "--quiet")
        pathlib.Path("5.h5").write_bytes(pathlib.Path("2.h5").read_bytes()[:3000])
        pathlib.Path("list").write_text("3.h5\n1.h5\n4.h5\n")

    def test_the_one_that_is_damaged_is_named_and_the_others_are_mined(self):
        words = ("mine", "1.h5", "5.h5", "2.h5", "--list", "list", "--delay", "1:9", "--min-count", 5, "--csv")
        self.same((1, 3, 8), *words, code=65)
        alone = self.run_command(*words)
        self.assertIn("1 of 6 recordings failed: 5.h5\n", alone.stderr)
        self.assertEqual(alone.stderr.count("done after"), 5)

    def test_a_list_may_come_on_standard_input(self):
        type(self).given = "list"
        self.addCleanup(setattr, type(self), "given", os.devnull)
        self.same((3,), "mine", "2.h5", "--list", "-", "--delay", "1:9", "--min-count", 5, "--json", "--occurrences", "{}.csv")
        self.assertTrue(pathlib.Path("4.csv").stat().st_size)

    def test_what_is_wrong_with_the_words_is_said_once(self):
        with self.by(3):
            self.refuses(64, "expected {} in it", "mine", "1.h5", "2.h5", "--occurrences", "one.csv")
        with self.by(2):
            self.refuses(66, "nolist", "mine", "--list", "nolist")

    def test_their_states_add_up(self):
        range_ = ("--range", "0.01:0.1")
        self.same((3,), "aggregate", "1.h5", "2.h5", "3.h5", "--quantity", "isi", "--units", "#0", *range_, "--save", "{}.state.h5")
        self.assertIn(" samples)", self.synfire("aggregate", "--from-state", *(f"{i}.state.h5" for i in (1, 2, 3)), *range_).stdout)


class InPieces(Ranks):
    """Spikes that are read in pieces, several for each rank, give what all at once give."""

    def test_episodes_are_those_of_the_whole(self):
        self.synfire("simulate", "long.h5", "--unit-count", 60, "--rate", 300, "--duration", 70, "--chain", "#0 -(1,3]-> #1 -(1,3]-> #2",
                     "--chain-rate", 100, "--quiet")
        pieces = (*LONG, "--memory", "128M")
        whole = counted(self.rows("mine", "long.h5", *LONG))
        self.assertTrue(whole)
        with self.by(2):
            self.assertEqual(counted(self.rows("mine", "long.h5", *pieces)), whole)
        if self.run_command("convert", "long.h5", "long.nwb", "--quiet").returncode != 0:
            self.skipTest("no NWB is written here")
        self.assertEqual(counted(self.rows("mine", "long.nwb", *pieces)), whole)  # train by train
        with self.by(3):
            self.assertEqual(counted(self.rows("mine", "long.nwb", *pieces)), whole)

    def test_the_fingerprint_and_all_that_needs_no_occurrences_are_those_of_the_whole(self):
        words = (*MINE, "--max-size", 3, "--from", 2)

        def told(*memory):
            out = self.document(*words, *memory)
            data = {key: value for key, value in out["provenance"].items() if key != "command"}
            parts = [[episode.pop(name) for episode in out["episodes"]] for name in (*NEEDS_ALL_SPIKES, "links")]
            return (data, command.without_times(out)), parts

        (data, whole), _ = told()
        self.assertIsNotNone(whole.pop("bursts"))
        self.assertGreater(len(whole["episodes"]), 60)
        for count in 0, 3:
            with self.subTest(count=count), self.by(count):
                (of_pieces, pieces), parts = told("--memory", "128M")
                self.assertIsNone(pieces.pop("bursts"))
                self.assertEqual((of_pieces, pieces), (data, whole))
                self.assertTrue(all(value is None for part in parts for value in part))

    def test_people_are_told_and_no_network_bursts_are(self):
        with self.by(2):
            told = self.synfire(*MINE, "--memory", "128M").stdout
        self.assertIn("read in pieces", told)
        self.assertNotIn("network bursts", told)

    def test_what_cannot_be_in_pieces_is_refused(self):
        pieces = ("mine", "demo.h5", "--csv", "--memory", "128M")
        pathlib.Path("lines.csv").write_text("A,1.0\nB,2.0\n")
        self.refuses(64, "expected at least 128 MiB", "mine", "demo.h5", "--csv", "--memory", "3M")
        self.refuses(64, "needs all spikes at once", *pieces, "--dedup", "0.4,100")
        self.refuses(64, "the engine interval counts", *pieces, "--engine", "mtpe")
        self.refuses(64, "synfire convert", "mine", "lines.csv", "--csv", "--memory", "128M")
        with self.by(2):
            self.refuses(64, "needs all spikes at once", *pieces, "--significance", "segment-shift")


class Failing(Ranks):
    """What any rank fails at: one sentence, its exit code, nothing printed, no file."""

    @classmethod
    def prepare(cls):
        super().prepare()
        pathlib.Path("damaged").mkdir()
        pathlib.Path("damaged/demo.h5").write_bytes(pathlib.Path("demo.h5").read_bytes()[:20000])
        shutil.copy("chains.txt", "damaged")
        script("two_is_wrong", "cd damaged")
        script("two_dies", "kill -9 $$")

    def tearDown(self):
        self.assertEqual(list(pathlib.Path().rglob("x.csv*")), [])

    def test_help_is_of_ranks(self):
        with self.by(2):
            told = self.synfire("--help").stdout
        self.assertRegex(told, r"(?m)^usage: mpirun .* synfire-mpi ")
        self.assertEqual(told.count("\n  aggregate"), 1)

    def test_all(self):
        with self.by(3):
            self.refuses(66, "nowhere.h5: cannot open", "mine", "nowhere.h5")
        with self.by(2):
            self.refuses(64, "the delay interval is empty", "mine", "demo.h5", "--delay", "6:4")
            self.refuses(64, "there is no command 'info'", "info", "demo.h5")
            self.refuses(73, "nofolder", *MINE, "--occurrences", "nofolder/x.csv")

    @unittest.skipUnless(os.environ.get("SYNFIRE_PYTHON"), "no python3 with the module h5py")
    def test_the_second_of_three_of_which_each_reads_a_part(self):
        import h5py
        self.synfire("simulate", "wrong.h5", "--unit-count", 3, "--duration", 20)
        with h5py.File("wrong.h5", "r+") as file:
            row = len(file["/spikes/unit"]) // 2
            file["/spikes/unit"][row] = 7
        sentence = f"spike {row} is of unit #7 and there are 3 units"
        self.refuses(65, sentence, "mine", "wrong.h5")
        with self.by(3):
            self.refuses(65, sentence, "mine", "wrong.h5")
            self.refuses(65, sentence, "mine", "wrong.h5", "--memory", "128M", "--csv")

    def test_the_third_that_reads_another_file(self):
        damaged = "demo.h5: this HDF5 file is damaged"
        with self.by(4, "./two_is_wrong"):
            self.refuses(65, damaged, *COUNT)
        with self.by(3, "./two_is_wrong"):
            self.refuses(65, damaged, *CHAINS, "--json", "--occurrences", "x.csv")
            self.refuses(65, damaged, *CHAINS, "--csv", "--memory", "128M")

    def test_the_third_that_is_killed(self):
        with self.by(3, "./two_dies"):
            done = self.run_command(*CHAINS, "--occurrences", "x.csv")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")

    def test_all_that_are_interrupted_at_work(self):
        with self.by(2):
            job = self.begin("job", shutil.which("mpirun"), *self.job()[1:], *MINE, "--significance", "segment-shift",
                             "--surrogates", 1_000_000, "--occurrences", "x.csv")

        def at_work():
            """Both ranks have taken a second of processor time, of which starting is the less part."""
            with contextlib.suppress(OSError):
                ranks = pathlib.Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()
                return len(ranks) == 2 and all(time.clock_gettime(~int(rank) << 3 | 2) > 1 for rank in ranks)
            return False

        command.wait_until(at_work, "the work of two ranks", job)
        job.stop(tuple(code for code in range(-64, 256) if code != 0))
        self.assertEqual(job.out.read_text(), "")
        self.assertLessEqual(job.err.read_text().count("synfire: "), 1)


if __name__ == "__main__":
    command.main()
