# SPDX-License-Identifier: Apache-2.0
"""synfire responses: planted responses of a simulation, every table, blanking, the figure, compare, a run, and refusals."""
import command

CHAIN = "A -(4,6]-> B"
TO_MARKER = ("--marker", "ttl0", "--response", "0:50")
RESPOND = ("responses", "evoked.h5", *TO_MARKER)
TRIALS = 119
COARSE = "recordings/mcs_2014-07-09_W8_standard_all_500Hz.h5"
UNMARKED = "recordings/Torborg2004_2001-10-22-0.h5"
LIVE = """sources: [{type: replay, recording: evoked.h5, speed: max}]
responses: {marker: ttl0, to_ms: 50}
sinks: [{type: jsonl, path: live.jsonl, policy: block}]
"""


def mean(of):
    return sum(of) / len(of)


class Responses(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "evoked.h5", "--unit-count", 8, "--rate", 5, "--duration", 120, "--marker-every", 1, "--evoked", 0.4,
                    "--evoked-after", 12, "--chain-rate", 0, "--chain", CHAIN, "--chain", "D -(15,25]-> E", "--seed", 3, "--quiet")
        cls.found = cls.document(*RESPOND, "--episodes", CHAIN)
        cls.of = {response["name"]: response for response in cls.found["responses"]}
        with open("live.yaml", "w") as file:
            file.write(LIVE)
        with open("table.csv", "w") as file:
            file.write("file,condition\nevoked.h5,x\n")

    def bins_of(self, name):
        return [each for each in self.found["histogram"] if each["name"] == name]

    def test_every_marker_with_room_around_it_is_a_trial(self):
        found = self.found
        self.assertEqual((found["markers"], found["trial_count"], found["exposed"], found["overlapping"]), (TRIALS, TRIALS, 1, 0))

    def test_markers_at_equal_distances_are_called_regular(self):
        self.assertTrue(self.found["regular"])
        self.assertAlmostEqual(self.found["interval_s"], 1, delta=1e-9)
        self.assertEqual(self.found["longest_block"], 8)

    def test_what_was_planted_responds_and_nothing_else(self):
        standing = {name for name, r in self.of.items() if r["q"] is not None and r["q"] <= 0.05}
        self.assertEqual(standing, {"A", "B", "D", "E", CHAIN})
        self.assertEqual((self.found["units_more"], self.found["units_fewer"]), (4, 0))

    def test_a_chain_has_the_reliability_and_latency_that_were_planted(self):
        chain = self.of[CHAIN]
        self.assertEqual((chain["kind"], chain["unit"]), ("chain", None))
        self.assertTrue(0.25 < chain["reliability"] < 0.55, chain)
        self.assertTrue(11 < chain["latency_ms"] < 13, chain)
        self.assertTrue(16 < self.of["B"]["latency_ms"] < 18.5, self.of["B"])
        self.assertLess(self.of["A"]["baseline_reliability"], self.of["A"]["reliability"])

    def test_rates_spikes_and_what_is_evoked_say_the_same(self):
        for r in self.of.values():
            with self.subTest(name=r["name"]):
                self.assertAlmostEqual(r["response_hz"], r["spikes"] / (TRIALS * 0.05), delta=1e-9)
                self.assertAlmostEqual(r["baseline_hz"], r["baseline_spikes"] / (3 * TRIALS * 0.05), delta=1e-9)
                self.assertAlmostEqual(r["evoked"], (r["response_hz"] - r["baseline_hz"]) * 0.05, delta=1e-9)

    def test_histograms_hold_the_spikes_of_all_windows(self):
        for r in self.of.values():
            bins = self.bins_of(r["name"])
            with self.subTest(name=r["name"]):
                self.assertEqual((bins[0]["from_ms"], bins[-1]["to_ms"]), (-150, 100))
                self.assertEqual({each["exposed_s"] for each in bins}, {bins[0]["exposed_s"]})
                self.assertEqual(sum(each["spikes"] for each in bins if 0 <= each["from_ms"] < 50), r["spikes"])
                self.assertEqual(sum(each["spikes"] for each in bins if each["from_ms"] < 0), r["baseline_spikes"])

    def test_trials_hold_the_spikes_of_all_units(self):
        self.assertEqual(sum(trial["spikes"] for trial in self.found["trials"]),
                         sum(r["spikes"] for r in self.of.values() if r["kind"] == "unit"))

    def test_csv_has_a_row_for_each_unit_trial_and_bin(self):
        self.assertEqual(len(self.rows(*RESPOND)), 8)
        self.assertEqual(len(self.rows(*RESPOND, "--table", "trials")), TRIALS)
        self.assertEqual(len(self.rows(*RESPOND, "--table", "histogram", "--around", "-20:30", "--bin", 10)), 40)

    def test_lines_for_people_begin_with_how_many_units_respond(self):
        lines = self.synfire(*RESPOND).stdout
        self.assertRegex(lines, r"(?m)^119 trials of 'ttl0', one in 1 s; 0 to 50 ms after them 4 of 8 units fire more and 0 fire less "
                                r"than in 3 windows before")
        self.assertIn("The markers are regular: a unit whose own rhythm is near 1 Hz", lines)

    def test_what_is_blanked_is_no_exposure_and_rates_stay(self):
        said = self.synfire(*RESPOND, "--blank", "ttl0,-1,5", "--json")
        found = command.schema.held(command.schema.parse(said.stdout))
        self.assertIn("the first 5 ms of the response window are blanked in every trial", said.stderr)
        self.assertAlmostEqual(found["exposed"], 44 / 50, delta=1e-9)
        for r in found["responses"]:
            whole = self.of[r["name"]]
            with self.subTest(name=r["name"]):
                self.assertAlmostEqual(r["response_hz"], r["spikes"] / (TRIALS * 0.044), delta=1e-9)
                self.assertGreaterEqual(r["latency_ms"], 5)
                self.assertLessEqual(r["spikes"], whole["spikes"])
                self.assertLessEqual(r["baseline_spikes"], whole["baseline_spikes"])
        blanked, cut = [each for each in found["histogram"] if each["unit"] == 0 and 0 <= each["from_ms"] < 10][:2]
        self.assertEqual((blanked["exposed_s"], blanked["rate_hz"]), (0, None))
        self.assertAlmostEqual(cut["exposed_s"], 0.595, delta=1e-9)

    def test_trials_that_overlap_are_doubtful(self):
        self.assertIn("117 of 118 trials begin the baseline before the response window of the trial before has ended",
                      self.synfire(*RESPOND, "--baseline", 30).stdout.partition("\nDoubtful\n")[2])

    def test_too_few_trials_for_a_verdict_are_doubtful_also_where_nothing_else_is_said(self):
        said = self.synfire(*RESPOND, "--to", 2.5, "--baseline", 1, "--quiet")
        self.assertRegex(said.stdout, r"\n\nDoubtful\n  2 trials are too few for a verdict: no p can be below 0.5\n")
        self.assertEqual(said.stderr, "")

    def test_the_figure_has_the_numbers_of_the_table(self):
        figure = self.document("plot", "responses", "evoked.h5", "-o", "responses.svg", *TO_MARKER, "--episodes", CHAIN)
        self.assertIn("Shown are the 3 of 8 units with the least p", figure["caption"])
        rasters, rates = ([panel for panel in figure["panels"] if panel["name"] == name] for name in ("trials", "histogram"))
        self.assertEqual((len(rasters), len(rates)), (4, 4))  # of the chain and of three units
        self.assertEqual(rasters[0]["title"], CHAIN)
        for raster, rate in zip(rasters, rates):
            bins = self.bins_of(raster["title"])
            spikes = next(mark for mark in raster["marks"] if mark["of"] == "spikes")
            steps = next(mark for mark in rate["marks"] if mark["of"] == "rate")
            with self.subTest(title=raster["title"]):
                self.assertEqual(len(spikes["x"]), sum(each["spikes"] for each in bins))
                for drawn, each in zip(steps["y"], bins):
                    self.assertAlmostEqual(drawn, each["rate_hz"], delta=1e-9)

    def test_a_report_has_the_figure(self):
        self.synfire("report", "evoked.h5", "-o", "page.html", *TO_MARKER, "--quiet")
        with open("page.html") as page:
            self.assertIn('<figure id="responses"', page.read())

    def test_the_marker_that_comes_most_often_is_the_stimulus_where_none_is_named(self):
        unnamed = ("evoked.h5", "--response", "0:50")
        found = self.document("responses", *unnamed, "--episodes", CHAIN)
        self.assertEqual(found["responses"], self.found["responses"])
        self.assertEqual((found["marker"], found["trial_count"]), ("ttl0", TRIALS))
        others = "No marker comes more often. Markers of other names (--marker): 'stimulus 1' (1)"
        for words in (("responses", *unnamed), ("plot", "responses", *unnamed, "-o", "unnamed.svg")):
            with self.subTest(words=words):
                self.assertIn(others, self.synfire(*words).stdout)
        self.synfire("report", *unnamed, "-o", "unnamed.html", "--quiet")
        with open("unnamed.html") as page:
            self.assertIn(f"{TRIALS} trials of 'ttl0'", page.read())

    @command.needs_data(COARSE)
    def test_bins_that_hold_different_numbers_of_steps_of_the_clock_are_doubtful(self):
        coarse = command.DATA / COARSE
        self.assertIn("bins of 5 ms hold different numbers of the clock's steps of 2 ms: take a multiple (--bin)",
                      self.synfire("responses", coarse).stdout)
        self.assertNotIn("clock's steps", self.synfire("responses", coarse, "--bin", 4).stdout)

    def test_compare_takes_the_same_numbers(self):
        self.synfire("compare", "table.csv", "--out", "compared", "--without", "graph,chains", *TO_MARKER)
        units = [r for r in self.found["responses"] if r["kind"] == "unit"]
        row = command.rows_of("compared/recordings.csv")[0]
        for column, value in (("responding_units", 0.5),
                              ("evoked_spikes", mean([r["evoked"] for r in units])),
                              ("reliability", mean([r["reliability"] for r in units])),
                              ("reliability_chance", mean([r["baseline_reliability"] for r in units])),
                              ("response_latency_ms", mean([r["latency_ms"] for r in units if r["q"] <= 0.05]))):
            with self.subTest(column=column):
                self.assertAlmostEqual(float(row[column]), value, delta=1e-9)
        rows = command.rows_of("compared/responses.csv")
        self.assertEqual([float(r["q"]) for r in rows], [r["q"] for r in units])
        self.assertEqual(rows[0]["condition"], "x")

    def test_a_run_says_the_same_of_the_same_trials(self):
        self.synfire("run", "live.yaml", "--quiet")
        messages = command.messages_of("live.jsonl", "response")
        self.assertEqual([message["trials"] for message in messages], list(range(1, TRIALS + 1)))
        self.assertEqual([(m["marker_ns"] / 1e9, m["spikes"], m["baseline_spikes"], m["answers"]) for m in messages],
                         [(t["time_s"], t["spikes"], t["baseline_spikes"], t["answers"]) for t in self.found["trials"]])
        for unit in messages[-1]["units"]:
            with self.subTest(unit=unit["name"]):
                r = self.of[unit["name"]]
                for key in ("unit", "name", "spikes", "baseline_spikes", "reliability", "latency_ms", "jitter_ms"):
                    self.assertEqual(unit[key], r[key], key)
                self.assertEqual(unit["bins"], [each["spikes"] for each in self.bins_of(unit["name"])])

    def test_wrong_words_are_refused(self):
        responses, compare, run = ("responses", "evoked.h5"), ("compare", "table.csv", "--out", "other"), ("run", "live.yaml", "--quiet")
        marker = ("--marker", "ttl0")
        for code, sentence, words in (
                (64, "--marker: says nothing to the figure rates", ("plot", "rates", "evoked.h5", "-o", "x.svg", *marker)),
                (78, "responses.to_ms: found 50, expected more than responses.from_ms, 60", (*run, "--set", "responses.from_ms=60")),
                (78, "responses.bin_ms: found 0.01, which makes 25000 bins", (*run, "--set", "responses.bin_ms=0.01")),
                (65, "no marker comes twice, as a stimulus does; found 'ttl0', 'stimulus 1', and --marker takes one",
                 (*responses, "--to", 1.001)),
                (65, "no marker is called 'light'; found 'ttl0', 'stimulus 1'", (*responses, "--marker", "light")),
                (65, "no window around any of 119 markers 'ttl0' was recorded", (*responses, *marker, "--blank", "ttl0,-1000,1000")),
                (64, "--response: found '50:0'", (*responses, *marker, "--response", "50:0")),
                (64, "--response: found '-5:50'", (*responses, *marker, "--response=-5:50")),
                (64, "--bin: makes 250000 bins", (*RESPOND, "--bin", 0.001)),
                (64, "--table: is of --csv", (*responses, *marker, "--table", "trials")),
                (64, "--response: goes with --marker", (*compare, "--response", "0:50")),
                (64, "'reliability' is of responses: give --marker", (*compare, "--measures", "reliability"))):
            with self.subTest(words=words):
                self.refuses(code, sentence, *words)

    @command.needs_data(UNMARKED)
    def test_a_recording_without_markers_has_no_stimulus(self):
        self.refuses(65, "it has no markers, so there is no stimulus", "responses", command.DATA / UNMARKED)


if __name__ == "__main__":
    command.main()
