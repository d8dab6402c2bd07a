# SPDX-License-Identifier: Apache-2.0
"""Bursts of units and of the network: known ones of a small recording in every table and by every definition, in comparisons
and in a live run; and wrong words are refused."""
import random

import command

ISI = ("--network-method", "isi-n", "--network-spikes", 6, "--network-within", 40)
FEW = ("bursts", "few.csv", "--recorded", "0:100")


def write_few(path):
    """Ten bursts of two units together, five spikes each 10 ms apart, every 10 s; c fires alone once a second."""
    with open(path, "w") as file:
        for burst in range(10):
            for i in range(5):
                print(f"a,{10 * burst + 2 + i * 0.010:.4f}\nb,{10 * burst + 2.001 + i * 0.010:.4f}", file=file)
        for second in range(100):
            print(f"c,{second + 0.53:.4f}", file=file)


class Known(command.Test):
    @classmethod
    def prepare(cls):
        write_few("few.csv")
        cls.told = cls.document(*FEW, *ISI)

    def test_a_unit_bursts_as_it_was_made(self):
        a, b, c = self.told["unit_detail"]
        self.assertEqual([unit["bursts"] for unit in (a, b, c)], [10, 10, 0])
        self.assertEqual([a["burst_rate"], a["burst_share"], a["burst_spikes"]], [6, 1, 5])
        for measure, value in ("burst_s", 0.04), ("burst_hz", 100), ("inter_burst_s", 9.96):
            self.assertAlmostEqual(a[measure], value, delta=1e-6)
        self.assertEqual([c["burst_s"], c["inter_burst_s"], a["core_ms"]], [None, None, None])

    def test_chance_bursts_less(self):
        a = self.told["unit_detail"][0]
        self.assertTrue(0 < a["burst_share_chance"] < min(1, a["burst_share"]), a)

    def test_the_network_bursts_as_it_was_made(self):
        self.assertEqual([self.told["network_within_ms"], len(self.told["network_bursts"])], [40, 10])
        first, second = self.told["network_bursts"][:2]
        self.assertEqual([first["start_s"], first["spikes"], first["units"], first["inter_burst_s"]], [2, 10, 2, None])
        self.assertAlmostEqual(first["participation"], 2 / 3, delta=1e-9)
        self.assertAlmostEqual(second["inter_burst_s"], 9.959, delta=1e-6)
        self.assertFalse(self.told["network_from_silence"])

    def test_the_summary_is_of_all_units(self):
        summary = {row["measure"]: row for row in self.told["summary"]}
        self.assertEqual([summary[measure]["value"] for measure in ("burst_rate", "network_burst_rate", "bursting_units")], [4, 6, 2 / 3])
        self.assertLess(summary["network_burst_rate"]["chance"], 6)

    def test_single_bursts_are_of_both_kinds(self):
        self.assertEqual(len(self.told["bursts"]), 30)
        self.assertEqual(self.told["bursts"][0]["kind"], "network")

    def test_tables_of_csv_have_as_many_rows(self):
        rows = {table: len(self.rows(*FEW, *ISI, "--table", table)) for table in ("units", "network", "bursts")}
        self.assertEqual(rows, {"units": 3, "network": 10, "bursts": 30})
        summary = {row["measure"]: row["value"] for row in self.rows(*FEW, *ISI, "--table", "summary")}
        self.assertTrue(summary["network_inter_burst_s"].startswith("9.95"), summary)
        self.assertIn("20 bursts of units by max-interval", self.synfire(*FEW).stdout)

    def test_every_definition_finds_them(self):
        for method in "max-interval", "logisi", "cma", "surprise":
            units = self.document(*FEW, "--burst-method", method, "--units", "a,b")["unit_detail"]
            self.assertEqual([unit["bursts"] for unit in units[:2]], [10, 10], method)
            self.assertEqual(units[0]["core_ms"] is not None, method in ("logisi", "cma"), method)

    def test_where_no_unit_is_active_why_nothing_is_told_is_said(self):
        words = "no unit fires at 5 Hz or more, so nothing is told of all and nothing beside chance; --active takes a lower rate"
        self.assertIn(words, self.synfire(*FEW, "--active", 5).stdout)
        self.assertNotIn("no unit fires", self.synfire(*FEW).stdout)

    def test_compare_goes_by_the_same_definitions(self):
        with open("table.csv", "w") as file:
            file.write("file,condition,recorded\nfew.csv,x,0:100\n")
        by = "--burst-method", "logisi", *ISI
        self.synfire("compare", "table.csv", "--out", "compared", "--without", "graph,chains", *by)
        told = {row["measure"]: row for row in self.document(*FEW, *by)["summary"]}
        row, = command.rows_of("compared/recordings.csv")
        for measure in "burst_rate", "burst_share", "network_burst_rate", "network_burst_units":
            self.assertEqual([float(row[measure]), float(row[measure + "_chance"])], [told[measure]["value"], told[measure]["chance"]])
        self.assertEqual(sum(burst["kind"] == "network" for burst in command.rows_of("compared/bursts.csv")), 10)

    def test_wrong_words_are_refused(self):
        few = "bursts", "few.csv"
        self.refuses(64, "--burst-begin: found 400 ms, expected no more than --burst-within, 300", *few, "--burst-begin", 400)
        self.refuses(64, "--table: is of --csv", *few, "--table", "units")
        self.refuses(64, "--table: found 'x'", *few, "--csv", "--table", "x")
        self.refuses(64, "--burst-method: found 'isi'", *few, "--burst-method", "isi")
        self.refuses(64, "--network-spikes", *few, "--network-spikes", 1)


class Waves(command.Test):
    """Activity of 2 s with a spike each 50 to 250 ms, every 30 s: the threshold parts it from silence."""

    @classmethod
    def prepare(cls):
        draw = random.Random(2)
        with open("waves.csv", "w") as file:
            for wave in range(60):
                time = 30 * wave + 5
                for _ in range(60):
                    time += draw.uniform(0.05, 0.25)
                    print(f"u{draw.randrange(8)},{time:.4f}", file=file)

    bursts = ("bursts", "waves.csv", "--recorded", "0:1800", "--network-method", "isi-n")

    def test_a_threshold_between_waves_and_silence_is_doubtful(self):
        told = self.document(*self.bursts)
        self.assertTrue(told["network_from_silence"])
        self.assertGreaterEqual(told["network_within_ms"], 1000)
        self.assertEqual(len(told["network_bursts"]), 60)
        self.assertIn("parts activity from silence", self.synfire(*self.bursts, "--json").stderr)

    def test_a_threshold_that_was_asked_for_is_not(self):
        done = self.synfire(*self.bursts, "--network-within", 3000)
        self.assertNotIn("silence", done.stdout + done.stderr)


class Live(command.Test):
    @classmethod
    def prepare(cls):
        write_few("few.csv")
        with open("live.yaml", "w") as file:
            file.write("sources: [{type: replay, recording: few.csv, speed: max}]\n"
                       "bursts: {spikes: 6, within_ms: 40}\n"
                       "triggers:\n  - {on: burst, name: tenth, spike: 10}\n  - {on: burst-end, name: over}\n"
                       "sinks: [{type: jsonl, path: live.jsonl, policy: block}]\n")
        cls.known = cls.document(*FEW, *ISI)["network_bursts"]
        cls.synfire("run", "live.yaml", "--quiet")
        bursts = command.messages_of("live.jsonl", "burst")
        cls.begins = [burst for burst in bursts if burst["event"] == "begin"]
        cls.ends = [burst for burst in bursts if burst["event"] == "end"]

    def sent(self, name):
        return [trigger["time_ns"] for trigger in command.messages_of("live.jsonl", "trigger") if trigger["name"] == name]

    def test_a_run_tells_the_bursts_of_the_file(self):
        self.assertEqual([(burst["first_ns"] / 1e9, burst["last_ns"] / 1e9, burst["spikes"], burst["units"]) for burst in self.ends],
                         [(burst["start_s"], round(burst["stop_s"] - 1e-9, 9), burst["spikes"], burst["units"]) for burst in self.known])

    def test_a_burst_begins_with_the_spike_that_makes_it_one(self):
        self.assertEqual([burst["spikes"] for burst in self.begins], [6] * 10)
        self.assertEqual([burst["time_ns"] for burst in self.begins], [burst["last_ns"] for burst in self.begins])

    def test_a_trigger_waits_for_a_spike_of_the_burst(self):
        self.assertEqual(self.sent("tenth"), [burst["last_ns"] for burst in self.ends])

    def test_a_trigger_waits_for_the_end_of_the_burst(self):
        self.assertEqual(self.sent("over"), [burst["time_ns"] for burst in self.ends])

    def test_triggers_by_bursts_need_bursts(self):
        self.refuses(78, "triggers.0.on: it waits for network bursts: set bursts.within_ms", "run", "live.yaml", "--quiet", "--set",
                     "bursts.within_ms=0")


if __name__ == "__main__":
    command.main()
