# SPDX-License-Identifier: Apache-2.0
"""synfire info: the known facts, every kind of file that is no recording, selections, and what is printed where."""
import math
import os
import pathlib
import random
import subprocess
import unittest

import command

RECORDINGS = command.DATA / "recordings"
WITH_RECORDINGS = unittest.skipUnless(RECORDINGS.exists(), f"no {RECORDINGS}")


def write(path, text):
    pathlib.Path(path).write_text(text)


class NoRecording(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "whole.h5", "--unit-count", 4, "--rate", 20, "--duration", 5)

    def test_what_is_no_file_of_spikes_is_refused(self):
        write("empty", "")
        pathlib.Path("program").write_bytes(pathlib.Path(os.environ["SYNFIRE"]).read_bytes()[:100])
        write("heading.csv", "name,seconds\n")
        self.refuses(66, "no.h5: cannot open: No such file or directory", "info", "no.h5")
        self.refuses(66, "directory, expected a recording file", "info", ".")
        self.refuses(66, "this is a device", "info", "/dev/zero")
        self.refuses(65, "empty: this is neither HDF5 nor lines of name,seconds: the file is empty", "info", "empty")
        self.refuses(65, "holds bytes of value zero", "info", "program")
        self.refuses(65, "heading.csv: no spikes", "info", "heading.csv")

    def test_a_line_that_is_no_spike_is_named(self):
        write("short.csv", "a,1\nb\n")
        self.refuses(65, "short.csv: line 2: expected a unit's name", "info", "short.csv")
        for bad in "nan", "-1", "inf", "1e300", "x":
            write("bad.csv", f"a,1\nb,{bad}\n")
            self.refuses(65, "bad.csv: line 2: expected a time", "info", "bad.csv")

    def test_a_recording_cut_anywhere_is_damaged(self):
        whole = pathlib.Path("whole.h5").read_bytes()
        for size in 4, 8, 40, 96, 100, len(whole) // 3, len(whole) // 2, len(whole) - 1:
            pathlib.Path("cut.h5").write_bytes(whole[:size])
            self.refuses(65, "cut.h5: this HDF5 file is damaged", "info", "cut.h5")

    def test_a_stream_that_is_not_there_is_refused(self):
        self.refuses(64, "no stream 'x'", "info", "whole.h5", "--stream", "x")

    def test_output_that_cannot_be_written_is_told(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([os.environ["SYNFIRE"], "info", "whole.h5"], stdout=full, stderr=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, 74)


class Small(command.Test):
    """One spike; four, unsorted and repeated."""

    @classmethod
    def prepare(cls):
        write("one.csv", "a,7.5\n")
        write("mixed.csv", "a,3\nb,1\na,1\na,1\n")

    def test_one_spike_has_no_rate_and_no_tick(self):
        info = self.document("info", "one.csv")
        self.assertEqual([info["spikes"], info["units"], info["start_s"], info["stop_s"]], [1, 1, 7.5, 7.5])
        self.assertEqual([info["rate_hz"], info["tick_s"], info["geometry"]], [None, None, None])
        self.assertRegex(self.synfire("info", "one.csv").stdout, "units  *1")

    def test_fields_stand_in_their_order(self):
        info = self.document("info", "mixed.csv")
        self.assertEqual(list(info), ["format", "spikes", "units", "start_s", "stop_s", "duration_s", "declared", "rate_hz", "tick_s", "kind",
                                      "noise_units", "noise_spikes", "markers", "metadata", "geometry", "dropped", "lost", "duplicates",
                                      "network_bursts", "network_burst_s", "sharpness", "unit_detail", "provenance"])
        self.assertEqual(list(info["unit_detail"][0]), ["unit", "name", "spikes", "rate_hz", "x_um", "y_um", "kind", "isi_violations"])

    def test_what_they_are_like(self):
        info = self.document("info", "mixed.csv")
        self.assertEqual(info["format"], "CSV: units of column 1, times of column 2 in s, as no unit of time is named")
        self.assertEqual([info["spikes"], info["units"], info["duplicates"], info["tick_s"]], [4, 2, 1, 2])
        self.assertEqual([info["network_bursts"], info["network_burst_s"]], [0, None])
        self.assertEqual([info["unit_detail"][0]["isi_violations"], info["unit_detail"][0]["rate_hz"]], [0.5, 1.5])

    def selected(self, *words):
        return self.document("info", "mixed.csv", *words)

    def test_units_that_are_selected_keep_their_numbers(self):
        info = self.selected("--units", "#1")
        self.assertEqual([info["spikes"], info["units"]], [1, 2])

    def test_times_exclude_their_end(self):
        self.assertEqual(self.selected("--from", "+0", "--to", 3)["spikes"], 3)
        self.assertEqual(self.selected("--from", 1, "--to", 2)["duration_s"], 1)

    def test_epochs_select(self):
        write("epochs.csv", "start,stop,label\n0,2,early\n")
        self.assertEqual(self.selected("--epochs", "epochs.csv")["spikes"], 3)

    def test_duplicates_are_left_out_and_warned_of_once(self):
        words = "info", "mixed.csv", "--dedup", "0.4ms,0um"
        self.assertEqual(self.document(*words)["spikes"], 3)
        self.assertIn("left out 1 of 4 spikes (25.0 %): duplicate", self.synfire(*words, "--json").stderr)
        done = self.synfire(*words)
        self.assertEqual(sum("duplicate" in line for line in (done.stdout + done.stderr).splitlines()), 1)

    def test_a_clock_that_steps_back_is_told_once(self):
        write("back.csv", "a,100\na,400\na,200\n")
        for more in (), ("--quiet",):
            done = self.synfire("info", "back.csv", *more)
            self.assertEqual((done.stdout + done.stderr).count("unit a steps back"), 1)
        self.synfire("report", "back.csv", "-o", "back.html")
        self.assertIn("clock: unit a steps back", pathlib.Path("back.html").read_text())

    def test_a_preset_says_what_it_sets(self):
        words = "info", "mixed.csv", "--preset", "cortex"
        self.assertIn("preset cortex: delays 0.8:4,4:10,10:25 ms, window 60 s, discovery every 5 s, no dedup", self.synfire(*words).stderr)
        self.assertEqual(self.synfire(*words, "--quiet").stderr, "")

    def test_wrong_selections_are_refused(self):
        for code, sentence, *words in (
                (64, "--units: no unit is named '0'; the unit with that index is written #0", "--units", 0),
                (64, "--from: found 'soon', expected seconds", "--from", "soon"),
                (64, "--to: 1 s is not after --from, 2 s", "--from", 2, "--to", 1),
                (64, "--dedup: found '1', expected MS,UM", "--dedup", 1),
                (65, "no positions", "--dedup", "1,100"),
                (64, "--blank: this recording has no marker", "--blank", "light,-1ms,+5ms"),
                (64, "expected one of culture-60, retina-waves, retina-adult, cortex, hd-mea", "--preset", "x"),
                (66, "none.csv: cannot open", "--epochs", "none.csv")):
            self.refuses(code, sentence, "info", "mixed.csv", *words)
        for time in "", "+", "five", "1e", "5s", "++5":
            self.refuses(64, f"--from: found '{time}', expected seconds", "info", "mixed.csv", "--from", time)
        for blank in "light,1", "light,1,1", ",1,2", "light,1s,2":
            self.refuses(64, f"--blank: found '{blank}', expected MARKER,A,B with A before B in ms", "info", "mixed.csv", "--blank", blank)

    def test_a_pipe_is_read_once(self):
        done = subprocess.run([os.environ["SYNFIRE"], "info", "/dev/stdin", "--json"], input="a,0.1\nb,0.2\na,0.3\n", capture_output=True,
                              text=True, check=True)
        self.assertIn('"spikes":3,"units":2', done.stdout)


class Text(command.Test):
    """In another order, of other programs, and of coarse and of sparse clocks."""

    @classmethod
    def prepare(cls):
        write("other.csv", "time_ms;Neuron\n10,5;ch_1\n20;ch_2\n30;x\n")
        write("bare.csv", "0.0105,a,7\n0.02,b,8\n")
        write("probe.json", '{"probes": [{"contact_positions": [[0, 0], [0, 25]], "device_channel_indices": [1, 2]}]}')

    def test_what_ends_in_gdf_is_of_nest(self):
        write("nest.gdf", "1\t2500.5\n2\t3000\n")
        info = self.document("info", "nest.gdf")
        self.assertEqual([info["start_s"], info["units"]], [2.5005, 2])
        self.assertIn("nest.gdf: read as units of column 1, times of column 2 in ms, as NEST writes .gdf",
                      self.synfire("info", "nest.gdf").stderr)

    def test_another_order_is_told_in_one_sentence(self):
        self.assertEqual(self.synfire("info", "other.csv").stderr,
                         "synfire: info: other.csv: read as units of column 2 'Neuron', times of column 1 'time_ms' in ms; --columns says it "
                         "otherwise\n")

    def test_columns_without_heads_are_asked_for(self):
        self.refuses(65, "line 1 has 3 columns and none of them is headed as times: --columns says", "info", "bare.csv")
        done = self.synfire("info", "bare.csv", "--columns", "time,unit,-")
        self.assertEqual(done.stderr, "")
        self.assertIn("first spike 0.0105 s", done.stdout)
        self.refuses(65, "line 1: expected 1 field, found", "info", "bare.csv", "--columns", "time")

    def test_positions_come_from_a_file_and_what_has_none_stays_so(self):
        words = "info", "other.csv", "--positions", "probe.json"
        units = self.document(*words)["unit_detail"]
        self.assertEqual([(unit["name"], unit["x_um"], unit["y_um"]) for unit in units], [("ch_1", 0, 0), ("ch_2", 0, 25), ("x", None, None)])
        self.assertRegex(self.synfire(*words).stderr, "(?m)positions of 2 of 3 units by the number in the name, of probe.json$")
        self.refuses(65, "probe.json: has 2 electrodes and none of the 2 units", "info", "bare.csv", "--columns", "time,unit,-", "--positions",
                     "probe.json")
        self.refuses(66, "none.json: cannot open", "info", "other.csv", "--positions", "none.json")

    def test_the_step_of_a_clock_is_what_times_have_in_common_and_no_gap(self):
        draw = random.Random(4)
        with open("sparse.csv", "w") as file:
            file.write("unit,seconds\n")
            for i in range(1, 61):
                tick = math.floor((10 * i + 3 * draw.random()) * 20000)
                file.write(f"A,{tick / 20000:.5f}\nB,{(tick + 25 + draw.randrange(9)) / 20000:.5f}\n")
        self.assertEqual(self.document("info", "sparse.csv")["tick_s"], 5e-05)
        lines = self.synfire("info", "sparse.csv").stdout
        self.assertRegex(lines, "(?m)^  tick        0.05 ms, the step of its clock$")
        self.assertNotIn("mean nothing", lines)

    def test_times_since_1970_are_told_apart(self):
        write("since.csv", "unit,seconds\nA,1700000000.0125\nB,1700000000.5\nA,1700000002.25\n")
        self.assertIn("first spike 1700000000.0125 s, last 1700000002.25 s", self.synfire("info", "since.csv").stdout)

    def test_a_coarse_clock_does_not_tell_one_spike_seen_twice_from_two(self):
        write("coarse.csv", "a,0.01\na,0.01\na,0.03\nb,0.04\nc,0.06\nd,0.07\na,0.09\nb,0.12\n")
        lines = self.synfire("info", "coarse.csv").stdout.splitlines()
        self.assertIn("  repeats     within one tick: 0 % on a neighbouring unit, 12.5 % on the same unit", lines)
        self.assertIn("  ! repeats within one tick, 10 ms: the clock does not tell one spike seen twice from two", lines)
        self.assertNotIn("within 0.25 ms", "\n".join(lines))


@WITH_RECORDINGS
class Recordings(command.Test):
    def has_facts(self, name, **facts):
        info = self.document("info", RECORDINGS / name)
        self.assertEqual({key: info[key] for key in facts}, facts)
        self.assertEqual(len(info["unit_detail"]), info["units"])
        self.assertEqual(sum(unit["spikes"] for unit in info["unit_detail"]), info["spikes"])
        self.assertLessEqual(self.synfire("info", RECORDINGS / name).stdout.count("\n"), 40)  # one screen

    def test_facts_that_are_known(self):
        self.has_facts("Demas2003_P9_CTRL_MY1_1A.h5", units=26, spikes=26911, start_s=21.4407, stop_s=3573.7048, duration_s=3552.2641,
                       tick_s=5e-05, format="CARMEN")
        self.has_facts("Stafford2009_WT_37C_Dorsal_2008-02-08-0.h5", units=110, spikes=176940, start_s=3600.022, stop_s=7191.5548)
        self.has_facts("Maccione2014_P9_m1r2_bursts_filtered.h5", units=794, spikes=134771,
                       geometry={"electrodes": 794, "x_um": [42, 2688], "y_um": [42, 2688]})
        self.has_facts("pynapple_A8604-211122.nwb", units=3, spikes=21354, geometry=None, kind="sorted")
        self.has_facts("mcs_2014-07-09_W8_standard_all_500Hz.h5", units=8, spikes=224, geometry=None)

    def says(self, words, name, *more):
        self.assertIn(words, self.synfire("info", RECORDINGS / name, *more).stdout)

    def test_what_is_worth_knowing_is_said(self):
        self.says("starts at 3600.022 s: --from +0", "Stafford2009_WT_37C_Dorsal_2008-02-08-0.h5")
        self.says("delays under 20 ms, two ticks", "Kirkby2013_02_B2KO_P5.h5")
        self.says("no geometry", "pynapple_A8604-211122.nwb")
        self.says("125 spikes: before the first recorded sample", "probeinterface_maxtwo_data.raw.h5", "--stream", "well001/rec0000")

    def test_what_must_be_chosen_or_was_not_kept_is_refused(self):
        self.refuses(64, "there are 12 recordings; choose one with --stream: well000/rec0000", "info",
                     RECORDINGS / "probeinterface_maxtwo_data.raw.h5")
        self.refuses(65, "no spike times: this is a 3Brain BXR file", "info", RECORDINGS / "truncated_bxr.bxr")
        self.refuses(65, "no spike times: this NWB file", "info", RECORDINGS / "pynwb_2.6.0_DynamicTableElectrodes.nwb")
        self.refuses(64, "--rate is for those that count samples", "info", "--rate", 20000,
                     RECORDINGS / "mcs_2014-07-09_W8_standard_all_500Hz.h5")

    def test_why_no_q_will_be_given_has_one_wording_here_and_where_it_is_not(self):
        bicuculline = RECORDINGS / "Hennig2011_spikes_P5_Bic_10uM_16_Mar_2010_bic_day2.h5"
        told = self.document("mine", bicuculline, "--delay", "0.5:5", "--max-size", 2, "--significance", "segment-shift", "--surrogates", 20,
                             "--quiet")
        self.assertEqual(told["significance"]["not_tested"], "pairs too unlike")
        self.assertRegex(self.synfire("info", bicuculline).stdout, "(?m)^  ! pairs are too unlike for --significance at delays up to "
                                                                  "[0-9, ]*5[0-9, ]* ms: no p or q will be given$")
        self.assertRegex(self.synfire("plot", "correlograms", bicuculline, "-o", "too-unlike.svg", "--quiet").stdout,
                         "which cannot be tested, .* Surrogates say nothing here: pairs too unlike")


if __name__ == "__main__":
    command.main()
