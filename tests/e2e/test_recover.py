# SPDX-License-Identifier: Apache-2.0
"""A recorder that is killed: `synfire recover` has what the run had said to have recorded, and more. Files in parts.

With E2E_KILLS=50, Kills kills one that records 10,000 spikes a second so often, and prints a line each: when, how many spikes the
HDF5 file alone has, how many were recovered, and two bounds in s of how far behind the stream the newest of these is: from the
newest message of the run, and from the moment at which the process was started, as if that took no time."""
import json
import os
import pathlib
import random
import shutil
import time

import command

command.need_modules()
import h5py
import numpy as np

KILLS = int(os.environ.get("E2E_KILLS", 0))
SETTINGS = ("sinks.0.type=hdf5", "sinks.0.path=run.h5", "sinks.0.overwrite=true", "sinks.1.type=jsonl", "sinks.1.path=run.jsonl",
            "sinks.1.overwrite=true", "window.length_s=1", "window.hop_s=0.1", "mine.every=0", "graph.enabled=false")


def spikes(path):
    with h5py.File(path) as file:
        return file["spikes/time_ns"][:], file["spikes/unit"][:]


def told():
    """How many spikes the run said to have recorded, and the time of its newest message."""
    messages = [message for topic in ("status", "episodes") for message in command.messages_of("run.jsonl", topic, whole=True)]
    recorded = [message["sinks"][0]["spikes"] for message in messages if message["topic"] == "status"]
    return max(recorded, default=0), max((message["time_ns"] for message in messages), default=0)


class Recover(command.Test):
    recording = "--preset", "sym26", "--duration", 60

    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", *cls.recording, "--seed", 5)
        pathlib.Path("run.yaml").write_text("graph: {enabled: false}\nmine: {every: 0}\n"
                                            "sinks: [{type: hdf5, path: parts.h5, rotate_min: 0.25, policy: block}]\n")

    @classmethod
    def kill(cls, seconds):
        """Records what is played in real time, and kills the recorder so long after it said to have recorded; how long it ran."""
        for name in "run.h5", "run.h5.journal", "run.jsonl", "run-recovered.h5":
            pathlib.Path(name).unlink(missing_ok=True)
        pathlib.Path("empty.yaml").touch()
        began = time.monotonic()
        run = cls.begin("run", "run", "empty.yaml", "--replay", "sim.h5", "--speed", 1, "--quiet",
                        *(word for key in SETTINGS for word in ("--set", key)))
        command.wait_for("(?m)^.+\n", "run.jsonl", run)
        command.wait_until(lambda: told()[0] > 0, "a spike that is recorded", run)
        time.sleep(seconds)
        ended, lasted = run.poll() is not None, time.monotonic() - began
        run.put_away()
        if ended:
            raise AssertionError(f"the run ended by itself: {run.said()}")
        return lasted


class Kills(Recover):
    if KILLS:
        recording = "--unit-count", 200, "--rate", 50, "--duration", 30

    def test_what_is_recovered_is_a_beginning_and_has_what_the_run_said(self):
        draw, (times, units) = random.Random(7), spikes("sim.h5")
        for _ in range(KILLS or 2):
            seconds = draw.uniform(0, 4)
            lasted = self.kill(seconds)
            alone = json.loads(self.run_command("info", "run.h5", "--json").stdout or "{}").get("spikes", "unreadable")
            found = self.document("recover", "run.h5")
            self.assertEqual([found[count] for count in ("spikes_missing", "damaged_bytes", "records_lost", "ended")], [0, 0, 0, False])
            found_times, found_units = spikes("run-recovered.h5")
            self.assertEqual(len(found_times), found["spikes"])
            np.testing.assert_array_equal(found_times, times[:len(found_times)])
            np.testing.assert_array_equal(found_units, units[:len(found_units)])
            recorded, newest_ns = told()
            self.assertTrue(0 < recorded <= len(found_times), (recorded, len(found_times)))
            if KILLS:
                print(f"{seconds:.3f}, {alone}, {len(found_times)}, {(newest_ns - found_times[-1]) * 1e-9:.3f}, "
                      f"{lasted + (times[0] - found_times[-1]) * 1e-9:.3f}", flush=True)


class Killed(Recover):
    @classmethod
    def prepare(cls):
        super().prepare()
        cls.kill(1)
        cls.document("recover", "run.h5")

    def test_the_originals_stay_and_say_what_they_are(self):
        self.assertTrue(pathlib.Path("run.h5.journal").exists())
        self.assertRegex(self.synfire("info", "run.h5").stdout, "its recorder did not end, or goes on: .*`synfire recover run.h5`")

    def test_what_was_recovered_is_not_replaced(self):
        self.refuses(73, "run-recovered.h5: there is a file of this name", "recover", "run.h5")

    def test_the_journal_may_be_given(self):
        said = self.synfire("recover", "run.h5.journal", "--out", "again.h5").stdout
        self.assertRegex(said, "run.h5.journal: [0-9]* bytes, [0-9]* records, 0 lost")
        self.assertIn("again.h5 holds what was recovered", said)
        again, first = (command.without_times(self.document("mine", path, "--delay", "4:6", "--min-count", 5))
                        for path in ("again.h5", "run-recovered.h5"))
        self.assertEqual(again, {**first, "recording": "again.h5"})

    def test_without_a_file_or_with_a_broken_one_the_journal_has_all(self):
        all_spikes = self.document("info", "run-recovered.h5")["spikes"]
        shutil.copy("run.h5.journal", "lone.h5.journal")
        gone = self.document("recover", "lone.h5", "--out", "gone.h5")
        self.assertEqual((gone["file_note"], gone["spikes"]), ("there is none", all_spikes))
        self.assertGreater(gone["rows"], 0)
        pathlib.Path("lone.h5").write_text("broken")
        broken = self.document("recover", "lone.h5", "--out", "broken.h5")
        self.assertEqual((broken["spikes"], broken["spikes_of_file"]), (all_spikes, 0))
        self.assertTrue(broken["file_note"])
        self.assertEqual(pathlib.Path("lone.h5").read_text(), "broken")


class Parts(Recover):
    """Whole recordings leave nothing to recover; files in parts are whole, each by itself."""

    @classmethod
    def prepare(cls):
        super().prepare()
        cls.kill(0)
        cls.synfire("run", "run.yaml", "--replay", "sim.h5", "--speed", "max")
        count = len(list(pathlib.Path().glob("parts*.h5")))
        cls.parts = ["parts.h5", *(f"parts-part{i}.h5" for i in range(2, count + 1))]

    def test_a_recording_is_in_parts(self):
        # A part is left with the first batch after its time, and as fast as possible batches are long: three or four.
        self.assertEqual(sorted(map(str, pathlib.Path().glob("parts*.h5*"))), sorted(self.parts))
        self.assertIn(len(self.parts), (3, 4))

    def test_nothing_of_it_is_to_be_recovered(self):
        self.assertIn("nothing is to be recovered", self.synfire("recover", "parts-part2.h5").stdout)

    def test_together_they_are_what_was_played(self):
        for found, played in zip(map(np.concatenate, zip(*map(spikes, self.parts))), spikes("sim.h5")):
            np.testing.assert_array_equal(found, played)
        attributes = []
        for path in self.parts:
            with h5py.File(path) as file:
                attributes.append({name: int(file.attrs[name]) for name in ("part", "start_ns", "stop_ns")})
        self.assertEqual([part["part"] for part in attributes], list(range(1, len(self.parts) + 1)))
        self.assertEqual([part["stop_ns"] for part in attributes[:-1]], [part["start_ns"] for part in attributes[1:]])

    def test_nothing_of_one_recording_is_handed_out_for_another(self):
        pathlib.Path("other").mkdir()
        shutil.copy("parts.h5", "other")
        shutil.copy("run.h5.journal", "other/parts.h5.journal")
        self.refuses(65, "is not the recording that the journal other/parts.h5.journal is of", "recover", "other/parts.h5")
        self.assertNotIn("its recorder did not end", self.synfire("info", "other/parts.h5").stdout)

    def test_a_run_says_that_a_journal_is_of_an_earlier_recording(self):
        pathlib.Path("anew").mkdir()
        pathlib.Path("apart").mkdir()
        shutil.copy("run.h5.journal", "anew/parts.h5.journal")
        said = self.synfire("run", "run.yaml", "--replay", "sim.h5", "--speed", "max", "--set", "sinks.0.rotate_min=0",
                            "--set", "sinks.0.path=anew/parts.h5").stderr
        self.assertIn("parts.h5.journal is the journal of an earlier recording", said)
        self.refuses(65, "is not the recording that the journal anew/parts.h5.journal is of", "recover", "anew/parts.h5.journal", "--out",
                     "other.h5")
        shutil.move("anew/parts.h5.journal", "apart")
        self.assertIn("apart/parts-recovered.h5 holds", self.synfire("recover", "apart/parts.h5.journal").stdout)

    def test_what_has_no_journal_is_refused(self):
        self.refuses(66, "nothing.h5: cannot open", "recover", "nothing.h5")
        self.refuses(65, "there is no journal", "recover", "run.yaml")


if __name__ == "__main__":
    command.main()
