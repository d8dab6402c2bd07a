# SPDX-License-Identifier: Apache-2.0
"""HDF5 files are read by a program of their own: what is said when that is missing, foreign, killed or broken; what it
inherits and may take; that it ends with what started it; and the files that broke the library."""
import contextlib
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import time
import unittest

import command
import installed

HOSTILE = command.DATA / "hostile"
ENDLESS = HOSTILE / "endless-loop.nwb"
CALM = not command.SANITIZED  # a sanitizer's reports are let through
LIMITED = unittest.skipUnless(CALM, "a program under a sanitizer takes more memory than is allowed here")


def children(pid):
    try:
        return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def program(pid):
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return None


def files_of(pid):
    return {int(number): os.readlink(f"/proc/{pid}/fd/{number}") for number in os.listdir(f"/proc/{pid}/fd")}


def state(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "gone"


def stop_reader_of(running):
    """The reading program, stopped while it has the file open, so that it cannot end by itself; None where it was done too soon."""
    while running.poll() is None:
        for child in children(running.pid):
            if program(child) != "synfire-read":
                continue
            os.kill(child, signal.SIGSTOP)
            while state(child) not in ("T", "Z", "gone"):
                time.sleep(0.0001)
            if state(child) == "T" and any(where.endswith("rec.h5") for where in files_of(child).values()):
                return child
            os.kill(child, signal.SIGCONT)
    return None


def put(reader, script):
    """A shell script in the place of the reading program."""
    reader.unlink(missing_ok=True)
    reader.write_text(f"#!/bin/sh\n{script}\n")
    reader.chmod(0o755)


class Reader(command.Test):
    @classmethod
    def prepare(cls):
        cls.built, cls.tree = os.environ["SYNFIRE"], installed.install("tree")
        installed.use(cls.tree)
        cls.reader = cls.tree / "libexec/synfire/synfire-read"
        shutil.copy(cls.reader, "real")
        cls.synfire("simulate", "rec.h5", "--unit-count", 4, "--rate", 20, "--duration", 5, "--chain", "A -(4,6]-> B")
        # Two that take their seconds of processor time do so beside all others; what else the file may be takes the first no
        # time, and it ends by itself where the tests did before.
        other = pathlib.Path(shutil.copytree(cls.tree, "other", symlinks=True))
        put(other / "libexec/synfire/synfire-read", "[ $2 != about ] || exit 3\nulimit -t 30\necho $$ >endless\nwhile :; do :; done")
        cls.endless = cls.begin("working", "./other/bin/synfire", "info", "rec.h5")
        if ENDLESS.exists() and CALM:
            cls.looping = cls.begin("looping", cls.built, "info", ENDLESS)
        cls.synfire("mine", "rec.h5", "--delay", "4:6", "--min-count", 1, "--occurrences", "found.h5")
        cls.synfire("graph", "rec.h5", "--delay", "4:6", "--min-count", 1, "--out", "graph.h5")
        pathlib.Path("text.csv").write_text("a,1\nb,2\n")

    def tearDown(self):
        self.reader.unlink(missing_ok=True)
        shutil.copy("real", self.reader)

    def says_only(self, ended, sentence):
        self.assertIn(sentence, ended.err.read_text())
        self.assertEqual(ended.err.read_text().count("\n"), 1, ended.said())
        self.assertEqual(ended.out.read_text(), "")

    def begin_with_reader_at_work(self, *words):
        """The command, whose reading program goes on for minutes, and that program's number."""
        put(self.reader, "echo $$ >reading; exec sleep 300")
        pathlib.Path("reading").unlink(missing_ok=True)
        running = self.begin("waiting", *words)
        return running, int(command.wait_for(r"\d+\n", "reading", running))

    def assert_ends(self, pid):
        def gone():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 0)
                return False
            return True

        command.wait_until(gone, "the end of the reading program")

    def test_started_by_hand_it_says_what_it_is_for(self):
        for words in (1, "recording", "rec.h5"), ():
            done = subprocess.run([self.reader, *map(str, words)], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (64, ""))
            self.assertRegex(done.stderr, r"\A.*synfire starts this program.*\n\Z")

    def test_where_it_is_missing_all_that_is_hdf5_is_refused_and_texts_are_read(self):
        self.reader.unlink()
        self.refuses(69, "rec.h5: cannot be read: the program synfire-read, which reads HDF5 files, is not installed", "info", "rec.h5")
        for words in (("bfs", "graph.h5", "--source", "A"), ("run", "--replay", "rec.h5", "--speed", "max"), ("play", "rec.h5"),
                      ("info", "found.h5")):
            with self.subTest(words=words):
                self.refuses(69, "is not installed beside synfire", *words)
        self.assertRegex(self.synfire("info", "text.csv").stdout, "units  *2")

    def test_a_callers_limit_on_the_size_of_files_is_named(self):
        limited = self.begin("limited", "info", "rec.h5", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
        limited.end(69)
        self.says_only(limited, "the limit on the size of files, 4 KiB")

    def test_another_program_in_its_place_is_found_out(self):
        pathlib.Path("other.parcel").write_bytes(b"synfire parcel 0 0.0.0" + bytes(2000))
        for script, code, sentence in (
                (f"cat '{os.path.abspath('other.parcel')}' >&3", 69, "of another version of synfire: install both together"),
                ("head -c 5000 /dev/urandom >&3", 65, "rec.h5: damaged: what was read of it makes no sense"),
                ("exit 0", 65, "makes no sense"),
                ("exit 3", 69, "ended without an answer, with exit code 3"),
                ("echo a library speaks; exit 3", 69, "ended without an answer"),
                ("kill -SEGV $$", 65, "damaged: the HDF5 library crashes on it (SIGSEGV)"),
                ("kill -KILL $$", 74, "rec.h5: reading it was ended from outside (SIGKILL)"),
                *([("echo a library complains >&2; exit 3", 69, "ended without an answer")] if CALM else [])):
            with self.subTest(script=script):
                put(self.reader, script)
                self.refuses(code, sentence, "info", "rec.h5")

    def test_a_file_that_is_no_program_is_found_out(self):
        self.reader.write_text("no program")
        self.refuses(69, "cannot be read: cannot start", "info", "rec.h5")

    def test_a_signal_to_the_command_ends_both_at_once(self):
        for number, code in (signal.SIGINT, 130), (signal.SIGTERM, 143):
            with self.subTest(number=number):
                running, reading = self.begin_with_reader_at_work("play", "rec.h5")
                running.send_signal(number)
                running.end(code)
                self.assert_ends(reading)

    def test_that_somebody_killed_it_is_told(self):
        running, reading = self.begin_with_reader_at_work("info", "rec.h5")
        os.kill(reading, signal.SIGKILL)
        running.end(74)
        self.says_only(running, "reading it was ended from outside (SIGKILL)")

    def test_one_that_works_for_ever_is_ended_also_where_it_has_set_itself_no_limit(self):
        self.endless.end(65)
        self.says_only(self.endless, "reading it does not end")
        self.assert_ends(int(pathlib.Path("endless").read_text()))

    def test_it_inherits_nothing_but_what_it_needs_and_dies_with_the_command(self):
        leak = os.open("text.csv", os.O_RDONLY)
        self.addCleanup(os.close, leak)
        caught = None
        for _ in range(200):
            running = self.begin("watched", "info", "rec.h5", pass_fds=[leak])
            caught = stop_reader_of(running)
            if caught is not None:
                break
        self.assertIsNotNone(caught, "the reading program was never seen at work")
        files = files_of(caught)
        status = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{caught}/status").read_text().splitlines() if ":\t" in line)
        lines = pathlib.Path(f"/proc/{caught}/limits").read_text().splitlines()[1:]
        limits = {line[:26].strip(): line[26:].split()[0] for line in lines}
        running.put_away()
        command.wait_until(lambda: state(caught) in ("gone", "Z"), "the end of the reading program, whose command was killed")

        self.assertEqual({number: files[number] for number in (0, 1, 3)},
                         {0: "/dev/null", 1: "/dev/null", 3: "/memfd:synfire-parcel (deleted)"})
        self.assertRegex(files[4], "^pipe:")
        self.assertRegex(files[5], r"rec\.h5$")
        self.assertEqual(len(files), 6, files)
        self.assertEqual(int(status["SigBlk"], 16), 0)
        self.assertEqual((limits["Max core file size"], limits["Max cpu time"]), ("0", "5"))
        self.assertNotEqual(limits["Max file size"], "unlimited")
        if CALM:
            self.assertEqual(files[2], "/dev/null")
            self.assertNotEqual(limits["Max address space"], "unlimited")

    def assert_little_taken(self):
        """No process took so much that the files of these tests would have made it take."""
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 256 * 1024)

    @LIMITED
    @unittest.skipUnless(os.environ.get("SYNFIRE_PYTHON"), "no python3 with the module h5py")
    def test_bytes_that_become_times_may_not_be_more_than_its_length_tells(self):
        import h5py
        import numpy as np
        count = 36_000_000
        with h5py.File("zeros.h5", "w") as file:
            file["ballast"] = np.random.default_rng(1).integers(0, 256, 1_200_000, dtype="u1")
            spikes = file.create_dataset("spikes", (count,), "u1", chunks=(1_000_000,), compression="gzip")
            for i in range(0, count, 1_000_000):
                spikes[i:i + 1_000_000] = 0
            file["sCount"] = np.array([count])
        self.refuses(65, "expected no more of one of its length", "info", "zeros.h5")
        self.assert_little_taken()

    @LIMITED
    @command.needs_data("hostile")
    def test_files_that_broke_the_library_are_damaged_whatever_reads_them(self):
        os.environ["SYNFIRE"] = self.built
        self.addCleanup(installed.use, self.tree)
        file = HOSTILE / "segfault.nwb"
        pathlib.Path("run.yaml").write_text(f"sources: [{{type: replay, recording: {file}, speed: max}}]\n")
        for words in (("info", file), ("mine", file, "--delay", "4:6", "--min-count", 1), ("bfs", file, "--source", "a"), ("play", file),
                      ("run", "--replay", file, "--speed", "max"), ("run", "run.yaml")):
            with self.subTest(words=words):
                self.refuses(65, "segfault.nwb: this HDF5 file is damaged", *words)
        self.looping.end(65)
        self.says_only(self.looping, "endless-loop.nwb: this HDF5 file is damaged")
        self.assert_little_taken()


if __name__ == "__main__":
    command.main()
