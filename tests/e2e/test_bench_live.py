# SPDX-License-Identifier: Apache-2.0
"""bench throughput and bench latency: one object a row with the documented fields; over sockets all that is sent is accounted
for."""
import unittest

import command

MEASURED = unittest.skipIf(command.SANITIZED, "figures of a program under a sanitizer say nothing")


class Refusals(command.Test):
    def test_wrong_words(self):
        for sentence, *words in (("found 'gpu', expected auto, cpu, cuda, cuda:N or cuda:all", "latency", "--device", "gpu"),
                                 ("found 'tpu:0', expected auto, cpu, cuda, cuda:N or cuda:all", "throughput", "--device", "tpu:0"),
                                 ("found '0', expected a number above 0 and at most 86400", "latency", "trigger", "--seconds", 0),
                                 ("throughput has no part 'trigger'", "throughput", "trigger")):
            with self.subTest(words=words):
                self.refuses(64, sentence, "bench", *words)


@MEASURED
class Throughput(command.Test):
    def assert_rate(self, row):
        self.assertGreater(row["spikes"], 0)
        self.assertAlmostEqual(row["spikes"] / row["seconds"] / row["spikes_per_s"], 1, delta=1e-3)

    def test_of_the_pipeline(self):
        rows = self.document("bench", "throughput", "pipeline", "--device", "cpu")
        self.assertEqual([row["part"] for row in rows], ["front", "front, watching", "tracker"])
        for row in rows:
            self.assertEqual((row["bench"], row["device"]), ("throughput", "cpu"))
            self.assertTrue(row["machine"])
            self.assertGreater(row["spikes"], 1.9e6)
            self.assert_rate(row)

    def test_of_sockets(self):
        out = self.document("bench", "throughput", "sockets", "--seconds", 1)
        rates = [row for row in out if "sockets" in row]
        self.assertEqual([row["sockets"] for row in rates],
                         ["bare libzmq receiver", "windows", "windows, mining", "windows, mining, recorder"])
        self.assertEqual((rates[0]["of_bare"], rates[0]["memory_mb"]), (1, None))
        for row in rates:
            self.assert_rate(row)
            self.assertAlmostEqual(row["spikes_per_s"] / rates[0]["spikes_per_s"] / row["of_bare"], 1, delta=1e-3)
        for row in rates[1:]:
            self.assertTrue(0 < row["memory_mb"] < 500, row)
        self.assertLessEqual({"synfire-source", "synfire-front", "synfire-window", "synfire-storage"},
                             {row["thread"] for row in out if "thread" in row})

    def test_of_rigs_all_that_is_sent_is_accounted_for(self):
        rows = self.document("bench", "throughput", "rigs", "--seconds", 3)  # the first of which units are learnt
        self.assertEqual(len(rows), 2)
        for row in rows:
            self.assertGreater(row["sent"], 0)
            self.assertGreater(row["watched"], 0)
            self.assertEqual(row["unaccounted"], 0)


@MEASURED
class Latency(command.Test):
    def test_of_rigs_is_with_what_a_protocol_holds_back(self):
        rows = self.document("bench", "latency", "rigs", "--seconds", 0.5)
        for row in rows:
            self.assertGreater(row["times"], 0)
            self.assertEqual(row["times"] + row["missed"], 4)
            self.assertTrue(0 < row["p50_ms"] <= row["p99_ms"] <= row["max_ms"], row)
        by = {row["protocol"]: row for row in rows}
        self.assertLessEqual({"synfire", "open-ephys", "event-broadcaster", "maxwell", "intan", "trodes", "blackrock", "cortical"}, set(by))
        self.assertAlmostEqual(by["cortical"]["held_ms"], 24.5, delta=1e-9)
        self.assertEqual((by["cortical"]["held_max_ms"], by["intan"]["held_max_ms"]), (49, 0))
        if "brand" in by:
            self.assertIsNone(by["brand"]["held_ms"])

    def test_of_triggers_is_beside_that_of_a_bare_message(self):
        rows = self.document("bench", "latency", "trigger", "--seconds", 1)
        self.assertEqual([row["message"] for row in rows],
                         ["ZeroMQ, bare message", "ZeroMQ, spike to trigger", "UDP, bare message", "OSC, spike to trigger"])
        for row in rows:
            self.assertGreater(row["times"], 0)
            self.assertEqual(row["times"] + row["missed"], 500)
            self.assertTrue(0 < row["p50_ms"] <= row["p99_ms"] <= row["p999_ms"] <= row["max_ms"], row)
        self.assertEqual((rows[0]["p50_ratio"], rows[2]["p50_ratio"]), (1, 1))
        self.assertAlmostEqual(rows[1]["p50_ms"] / rows[0]["p50_ms"] / rows[1]["p50_ratio"], 1, delta=1e-3)


if __name__ == "__main__":
    command.main()
