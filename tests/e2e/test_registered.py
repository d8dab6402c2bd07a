# SPDX-License-Identifier: Apache-2.0
"""--registered: chains of a file that was written down before are tested alone, and methods have the file's SHA-256."""
import hashlib

import command

TESTED = ("--surrogates", 99, "--seed", 3, "--quiet")
REGISTERED = ("--registered", "chains.txt", *TESTED)
MINE = ("--delay", "4:6", "--min-count", 60, "--max-size", 2)
CHAINS = "# written down on 1 November\nA -(4,6]-> B -(4,6]-> C\n#\n#3 -(4,6]-> E\n"
SHA = hashlib.sha256(CHAINS.encode()).hexdigest()


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


class Registered(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--preset", "sym26", "--seed", 5)
        write("chains.txt", CHAINS)
        cls.counted = cls.document("count", "sim.h5", *REGISTERED)

    def test_the_file_and_its_digest_are_told(self):
        self.assertEqual(self.counted["registered"],
                         {"file": "chains.txt", "sha256": SHA, "episodes": None, "methods": None, "significance": None})
        self.assertIn(f"counted 2 episodes that had been registered in a file (SHA-256 {SHA}) in", self.counted["methods"])
        self.assertIn("all candidates registered", self.counted["methods"])

    def test_they_are_tested_as_episodes_that_are_given_and_by_segment_shift(self):
        given = self.document("count", "sim.h5", "--episodes", "chains.txt", "--significance", "segment-shift", *TESTED)
        self.assertEqual(self.counted["episodes"], given["episodes"])
        self.assertEqual(len(given["episodes"]), 2)
        self.assertEqual(self.counted["significance"]["kind"], "segment-shift")
        self.assertIsNone(given["registered"])
        self.assertNotIn("registered", given["methods"])

    def test_q_is_of_the_registered_candidates_alone(self):
        self.assertEqual([episode["q"] for episode in self.counted["episodes"]], [0.01, 0.01])  # the least there is

    def test_mine_and_report_tell_them_beside_what_they_find(self):
        mined = self.document("mine", "sim.h5", *MINE, *REGISTERED)
        report = self.document("report", "sim.h5", "-o", "page.html", *MINE, *REGISTERED)
        for beside in mined["registered"], report["registered"]:
            self.assertEqual([beside["sha256"], beside["methods"], beside["episodes"]],
                             [SHA, self.counted["methods"], self.counted["episodes"]])
        self.assertNotIn(SHA, mined["methods"])
        with open("page.html") as file:
            page = file.read()
        self.assertIn("<h2>Registered chains</h2>", page)
        self.assertGreaterEqual(page.count(SHA), 2)

    def test_lines_for_people_name_the_file(self):
        self.assertIn(f"Registered in chains.txt (SHA-256 {SHA}), tested alone:", self.synfire("mine", "sim.h5", *MINE, *REGISTERED).stdout)

    def test_without_a_file_nothing_is_registered(self):
        self.assertIsNone(self.document("mine", "sim.h5", *MINE, "--quiet")["registered"])

    def test_what_is_changed_afterwards_has_another_digest(self):
        write("changed.txt", CHAINS + "A -(4,6]-> C\n")
        self.assertNotIn(SHA, self.synfire("count", "sim.h5", "--registered", "changed.txt", *TESTED, "--json").stdout)

    def test_each_way_to_dither_is_named(self):
        write("three.txt", CHAINS + "A -(4,6]-> C\n")
        for kind, named in ("dither", "dead time"), ("joint-isi", "joint-ISI dithering"):
            told = self.document("count", "sim.h5", "--registered", "three.txt", "--significance", kind, *TESTED)
            test = told["significance"]
            self.assertEqual([test["kind"], test["segment_s"], test["width_ms"]], [kind, None, 9])
            self.assertIn(named, told["methods"])
            self.assertEqual([episode["p"] for episode in told["episodes"][:2]], [0.01, 0.01])
            self.assertGreater(told["episodes"][2]["p"], 0.05)  # A and C are linked past B, at 10 ms

    def test_wrong_words_are_refused(self):
        write("bad.txt", "A -(4,6]-> B\nA -(4,6]-> nobody\n")
        self.refuses(65, "bad.txt:2:", "count", "sim.h5", "--registered", "bad.txt")
        self.refuses(64, "--registered: found an episode, expected a file that was written before", "count", "sim.h5", "--registered",
                     "A -(4,6]-> B")
        self.refuses(64, "--registered: goes in place of --episodes", "count", "sim.h5", "--registered", "chains.txt", "--episodes",
                     "chains.txt")
        self.refuses(64, "--registered: is a table of its own", "mine", "sim.h5", "--registered", "chains.txt", "--csv")
        self.refuses(64, "--memory: goes without --registered", "mine", "sim.h5", "--registered", "chains.txt", "--memory", "400M")


if __name__ == "__main__":
    command.main()
