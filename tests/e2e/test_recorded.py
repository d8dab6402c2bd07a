# SPDX-License-Identifier: Apache-2.0
"""How long was recorded, and of which units: what a file says, what a caller says, and what nobody knows."""
import collections
import pathlib

import command

CASES = command.DATA / "cases"
WITHOUT = ("--without", "graph,chains")
PAIR = ("--episodes", "a -(0,5]-> b")


def write(path, *lines):
    pathlib.Path(path).write_text("".join(f"{line}\n" for line in lines))


class Recorded(command.Test):
    def says(self, words, pattern):
        """The command succeeds and says this on stderr; what it prints."""
        done = self.synfire(*words)
        self.assertRegex(done.stderr, pattern)
        return done.stdout

    def spikes(self, *words):
        return self.document("info", *words)["spikes"]

    def length(self, *words):
        """How long was recorded, and whether somebody said so."""
        told = self.document("info", *words)
        return told["duration_s"], told["declared"]


class Lengths(Recorded):
    @classmethod
    def prepare(cls):
        write("plate.csv", ",,Time (s),Electrode", ",,0,A1_11", ",,50.1,B2_11", ",,50.2,B2_11", ",,100,A1_11")
        write("trials.csv", "trial,unit,time", "1,u,0.1", "1,u,0.9", "2,u,0.2", "2,v,0.5")
        write("sessions.csv", "session,unit,time", "a,u,0", "a,u,10", "b,u,100", "b,u,130")

    def of_axis(self, path, span, *spikes):
        """A list of AxIS that ran over this span."""
        first, *others = (f"{time},A1_11" for time in spikes)
        write(path, "x,,Time (s),Electrode", f"Actual File Section Run,{span},{first}", *(f",,{other}" for other in others))

    def test_a_well_was_recorded_as_long_as_its_plate(self):
        self.assertEqual(self.length("plate.csv", "--stream", "B2"), (100.000000001, False))

    def test_a_caller_may_say_how_long(self):
        told = self.document("info", "plate.csv", "--stream", "B2", "--recorded", "0:200")
        self.assertEqual((told["duration_s"], told["rate_hz"]), (200, 0.01))

    def test_where_nobody_says_so_rates_are_from_first_to_last_spike(self):
        self.says(("mine", "plate.csv", "--stream", "A1", "--delay", "1:5", "--min-count", 1),
                  "rates are from first to last spike, 100 s; --recorded A:B says it")

    def test_a_caller_says_no_less_than_there_is(self):
        self.refuses(64, "--recorded: found 0 to 99 s, and there are spikes from 0 to 100 s", "info", "plate.csv", "--stream", "A1",
                     "--recorded", "0:99")
        self.refuses(64, "--recorded: found '200:0', expected A:B with A before B", "info", "plate.csv", "--stream", "A1",
                     "--recorded", "200:0")

    def test_a_list_of_axis_is_as_long_as_its_section(self):
        self.of_axis("whole.csv", "0s to 2m30s", 0.5, 140)
        self.assertEqual(self.length("whole.csv"), (150, True))

    def test_unless_the_list_was_cut(self):
        self.of_axis("cut.csv", "0s to 18m2s", 0.5, 60.5)
        self.assertEqual(self.length("cut.csv")[1], False)
        self.says(("info", "cut.csv"), "cut.csv: recorded 0 to 1082 s by the file, which ends at 60.5 s: it was cut, and is not believed")

    def test_a_list_that_goes_on_is_longer_and_says_so_once(self):
        self.of_axis("short.csv", "0s to 2m30s", 0.5, 170)
        said = self.synfire("mine", "short.csv", "--delay", "1:5").stderr
        self.assertIn("recorded 0 to 150 s by the file, whose spikes lie from 0.5 to 170 s: it is taken to be as long", said)
        self.assertEqual(said.count("recorded 0 to 150"), 1, said)
        self.assertEqual(self.length("short.csv")[0], 170.000000001)

    def test_a_time_in_which_no_spike_lies_is_of_something_else(self):
        self.of_axis("beside.csv", "0s to 2m", 1000.5, 1010)
        self.says(("info", "beside.csv"), "recorded 0 to 120 s by the file, whose spikes lie from 1000.5 to 1010 s: it is not believed")
        self.assertEqual(self.length("beside.csv"), (9.5, False))

    def test_of_several_trials_one_is_chosen(self):
        self.refuses(64, "there are 2 streams; choose one with --stream: 1 (2 spikes), 2 (2 spikes); '*' takes each", "info", "trials.csv")
        self.assertEqual(self.spikes("trials.csv", "--stream", 2), 2)

    def test_each_is_offered_only_where_each_is_taken(self):
        for words in ("play",), ("run", "--replay"):
            with self.subTest(words=words):
                said = self.run_command(*words, "trials.csv")
                self.assertEqual(said.returncode, 64)
                self.assertIn("choose one with --stream", said.stderr)
                self.assertNotIn("'*'", said.stderr)

    def test_trials_lie_side_by_side(self):
        self.assertEqual(self.length("trials.csv", "--stream", 2)[0], 0.800000001)

    def test_sessions_of_one_clock_were_recorded_each_by_itself(self):
        self.assertEqual([self.length("sessions.csv", "--stream", session)[0] for session in "ab"], [10, 30])

    def test_compare_has_wells_and_trials_as_rows_and_how_long_each_is(self):
        write("table.csv", "file,condition,well,recorded", "plate.csv,x,A1,", "plate.csv,y,B2,0:200", "trials.csv,x,1,", "trials.csv,y,2,")
        self.says(("compare", "table.csv", "--out", "compared", *WITHOUT), "3 of 4 rows do not say how long was recorded")
        self.assertEqual([(row["well"], row["duration_s"], row["declared"]) for row in command.rows_of("compared/recordings.csv")],
                         [("A1", "100.000000001", "0"), ("B2", "200", "1"), ("1", "0.800000001", "0"), ("2", "0.800000001", "0")])

    def test_a_part_of_compare_is_kept_until_the_epochs_of_its_file_change(self):
        write("again.csv", "file,condition,well", "plate.csv,x,A1", "plate.csv,y,B2")
        parts = []
        for stop in 50, 50, 60:
            write("epochs.csv", f"0,{stop}")
            self.synfire("compare", "again.csv", "--out", "again", *WITHOUT, "--epochs", "epochs.csv")
            parts.append(len(list(pathlib.Path("again/parts").iterdir())))
        self.assertEqual(parts[0], parts[1])
        self.assertGreater(parts[2], parts[1])


class Times(Recorded):
    """What lies beyond what was recorded, and times since 1970."""

    @classmethod
    def prepare(cls):
        write("pairs.csv", "a,1", "b,1.003", "a,2", "b,2.003", "a,30")
        write("epochs.csv", "0.5,2.5", "20,31")
        write("epoch.csv", "a,1700000000.25", "b,1700000000.253", "a,1700000001.5", "b,1700000001.503")

    def test_where_nothing_was_recorded_nothing_is_counted(self):
        lines = self.says(("count", "pairs.csv", *PAIR, "--window", 5, "--epochs", "epochs.csv", "--csv"),
                          "2 of 2 epochs reach beyond 1 to 30 s")
        self.assertRegex(lines, "(?m)^1,6,0,.*,2,1.3333333333333333,1.5$")
        self.assertRegex(lines, "(?m)^6,11,0,.*,,,0$")

    def test_a_time_after_the_end_is_told(self):
        said = self.synfire("count", "pairs.csv", *PAIR, "--recorded", "0:31", "--to", 60).stderr
        self.assertIn("--to 60 s is after recording ended, at 31 s", said)
        self.assertNotIn("from first to last spike", said)

    def test_rates_are_of_what_was_recorded(self):
        rates = self.document("plot", "rates", "pairs.csv", "-o", "rates.svg", "--epochs", "epochs.csv")["panels"][0]["marks"][-1]["y"]
        self.assertGreater(rates[0], 0)
        self.assertIn(None, rates)

    def test_times_since_1970_are_told_apart(self):
        said = self.synfire("info", "epoch.csv", "--from", 1700000000, "--to", 1700000001.75).stderr
        self.assertIn("--from 1700000000 s is before its first spike, at 1700000000.25 s", said)
        self.assertIn("--to 1700000001.75 s is after its last spike, at 1700000001.503 s", said)
        for times in ("--from", 1700000001.6), ("--to", 1700000000.2), ("--recorded", "1700000000.3:1700000002"):
            self.refuses(64, "from 1700000000.25 to 1700000001.503 s", "info", "epoch.csv", *times)

    def test_windows_since_1970_are_told_apart(self):
        windows = ("count", "epoch.csv", *PAIR, "--window", 0.5)
        self.assertRegex(self.synfire(*windows).stdout, "(?m)^ *1700000000.75 +1700000001.25 ")
        self.synfire(*windows, "--plot", "windows.svg")
        drawn = pathlib.Path("windows.svg").read_text()
        self.assertIn("start of the window, s after 1700000000.25 s", drawn)
        self.assertNotIn("1.7e+09", drawn)

    def test_a_row_of_compare_follows_what_is_in_its_file_of_positions(self):
        write("placed.csv", "file,condition,positions", "pairs.csv,x,where.csv", "pairs.csv,y,")
        for place in "50", "70":
            write("where.csv", "name,x,y", "a,0,0", f"b,{place},0")
            self.synfire("compare", "placed.csv", "--out", "placed", *WITHOUT)
            self.assertEqual([(row["condition"], row["x_um"]) for row in command.rows_of("placed/units.csv") if row["name"] == "b"],
                             [("x", place), ("y", "")])


class Sessions(Recorded):
    """Two sessions in one train, whose clock began anew."""

    @classmethod
    def prepare(cls):
        write("reset.csv", "a,100", "a,400", "b,200", "b,399", "a,100.5", "a,399.5", "b,200.5")
        cls.replay = "run", "replay", "--set", "sources.0.recording=reset.csv"

    def test_they_are_told_and_offered(self):
        said = self.synfire("info", "reset.csv").stderr
        self.assertIn("unit a steps back 299.5 s, once; 2 of 2 units step back", said)
        self.assertIn("--stream takes one alone: session1 (4 spikes), session2 (3 spikes); `joined` in place of `session1` takes all", said)

    def test_one_is_as_long_as_both(self):
        self.assertEqual(self.length("reset.csv", "--stream", "session2")[0], 299)

    def test_each_may_be_taken(self):
        self.assertEqual([tuple(row.values())[:5] for row in self.rows("info", "reset.csv", "--stream", "*")],
                         [("reset.csv", "session1", "0", "a", "2"), ("reset.csv", "session1", "1", "b", "2"),
                          ("reset.csv", "session2", "0", "a", "2"), ("reset.csv", "session2", "1", "b", "1")])

    def test_each_is_a_row_of_compare(self):
        write("resets.csv", "file,condition", "reset.csv,x", "reset.csv,y")
        self.synfire("compare", "resets.csv", "--out", "resets", *WITHOUT)
        wells = collections.Counter(row["well"] for row in command.rows_of("resets/recordings.csv"))
        self.assertEqual(wells, {"session1": 2, "session2": 2})

    def test_a_run_takes_the_one_that_it_names(self):
        self.says((*self.replay, "--set", "sources.0.stream=session2"), "session 2 of 2: unit a steps back")
        self.assertEqual(self.spikes("results.h5"), 3)
        self.refuses(78, "there is no session 3; there is session1 (4 spikes), session2 (3 spikes)", *self.replay,
                     "--set", "sources.0.stream=session3")

    def test_a_run_may_take_them_joined(self):
        self.says(("run", "--replay", "reset.csv", "--stream", "joined", "--speed", "max", "--set", "sinks.0.type=hdf5", "--set",
                   "sinks.0.path=joined.h5"), "session2 301 s later than in the file")
        self.assertEqual(self.spikes("joined.h5"), 7)

    def test_in_order_they_are_told_and_no_more_taken_apart(self):
        self.synfire("convert", "reset.csv", "overlaid.h5")
        told = self.synfire("info", "overlaid.h5")
        self.assertIn("began anew: unit a steps back", told.stdout + told.stderr)
        self.assertNotRegex(told.stdout + told.stderr, "sessions: |--stream takes")


@command.needs_data("cases/text/axion_B4_D5.csv", "cases/phy/labels", "cases/nwb/reset_two_sessions.nwb")
class RealData(Recorded):
    def test_spikes_and_rates_are_of_what_was_recorded(self):
        self.assertEqual(self.spikes(CASES / "text/axion_B4_D5.csv", "--stream", "B4"), 668)
        for file, stream, low, high in (("axion_B4_D5.csv", "B4", 10.8, 10.9), ("axion_B4_D5.csv", "D5", 0.0809, 0.081),
                                        ("twowells.csv", "B2", 0.014, 0.016), ("c6_trial.csv", 3, 15.1, 15.2)):
            with self.subTest(file=file, stream=stream):
                rate_hz = self.document("info", CASES / "text" / file, "--stream", stream)["rate_hz"]
                self.assertTrue(low <= rate_hz < high, rate_hz)

    def test_units_labelled_noise_are_left_out_and_told(self):
        words = ("mine", CASES / "phy/labels", "--delay", "1:10", "--min-count", 100, "--max-size", 2)
        mined = self.document(*words)
        selection = mined["provenance"]["selection"]
        self.assertEqual((selection["noise_units"], selection["unit_count"], selection["units_in_recording"]), (2, 10, 12))
        self.assertIn("without 2 labelled noise and their 3335 spikes", selection["words"])
        self.assertFalse([episode for episode in mined["episodes"] if {0, 2} & set(episode["units"])])
        self.says(words, "of units labelled noise")
        self.assertEqual(self.document(*words, "--units", "0,1")["provenance"]["selection"]["unit_count"], 2)

    def test_what_is_noise_may_be_looked_at(self):
        labels = CASES / "phy/labels"
        self.assertEqual(self.document("info", labels)["noise_units"], 2)
        self.assertEqual(self.spikes(labels, "--kind", "noise"), 3335)
        self.assertEqual(self.document("info", labels, "--kind", "good")["noise_spikes"], 3335)

    def test_a_clock_that_began_anew_is_told(self):
        self.says(("info", CASES / "nwb/reset_two_sessions.nwb"), "steps back 298.993 s, once; 5 of 5 units step back")


if __name__ == "__main__":
    command.main()
