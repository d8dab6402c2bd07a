# SPDX-License-Identifier: Apache-2.0
"""The same spikes through every layout that is written give the same episodes, counts and chances; what a layout has no place
for is told; a recording that is there stays."""
import json
import pathlib
import shutil

import command

MINE = ("--delay", "4:6", "--min-count", 20, "--max-size", 4)


class Convert(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "sim.h5", "--preset", "sym26", "--seed", 5, "--duration", 20, "--marker-every", 10)

    def through(self, layout):
        """Its episodes, and what converting said."""
        said = self.synfire("convert", "sim.h5", f"as.{layout}", "--layout", layout).stdout
        return self.document("mine", f"as.{layout}", *MINE)["episodes"], said

    def test_every_layout_gives_the_same_episodes(self):
        expected = self.document("mine", "sim.h5", *MINE)["episodes"]
        self.assertGreater(len(expected), 10)
        for layout in "synfire", "nwb", "carmen":
            with self.subTest(layout=layout):
                self.assertEqual(self.through(layout)[0], expected)

    def test_csv_has_their_counts_and_no_recorded_time_but_that_of_its_spikes(self):
        def told(episodes):
            return [(e["names"], e["delays_ms"], e["count"]) for e in episodes]

        found, said = self.through("csv")
        self.assertEqual(told(found), told(self.document("mine", "sim.h5", *MINE)["episodes"]))
        self.assertIn("3 markers", said)

    def test_a_name_says_its_layout(self):
        self.assertIn("by-name.nwb: nwb, 26 units", self.synfire("convert", "sim.h5", "by-name.nwb").stdout)
        self.refuses(73, "a recording, which is not replaced", "convert", "sim.h5", "by-name.nwb")
        self.refuses(64, "its name does not say a layout", "convert", "sim.h5", "out.dat")
        self.refuses(64, "found 'phy', expected synfire", "convert", "sim.h5", "out.h5", "--layout", "phy")
        self.refuses(64, "is the recording itself", "convert", "sim.h5", "sim.h5")

    def test_a_part_has_the_units_that_are_chosen(self):
        self.synfire("convert", "sim.h5", "part.csv", "--units", "A,B", "--from", 1, "--to", 2)
        self.assertEqual({row["unit"] for row in command.rows_of("part.csv")}, {"A", "B"})

    def test_several_go_each_into_its_own_file_and_one_damaged_ends_no_other(self):
        shutil.copy("sim.h5", "other.h5")
        pathlib.Path("broken.h5").write_text("nothing\n")
        pathlib.Path("list").write_text("other.h5\nbroken.h5\n")
        done = self.run_command("convert", "sim.h5", "--list", "list", "all-{}.nwb", "--json", "--quiet")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual([json.loads(line).get("file") for line in done.stdout.splitlines()], ["all-sim.nwb", "all-other.nwb", None])
        self.assertEqual({path.name for path in pathlib.Path().glob("all-*")}, {"all-sim.nwb", "all-other.nwb"})
        self.refuses(64, "expected {} in it", "convert", "sim.h5", "other.h5", "same.nwb")

    def test_names_that_a_spreadsheet_would_compute_are_inert_and_themselves_again(self):
        names = ("=cmd|' /C calc'!A0", "@x", "'=y", "-5", "''z")
        pathlib.Path("names.csv").write_text("unit,seconds\n" + "".join(f"{name},{i / 10}\n" for i, name in enumerate(names, 1)))
        self.synfire("convert", "names.csv", "inert.csv")
        self.synfire("convert", "inert.csv", "again.csv")
        self.assertEqual(pathlib.Path("again.csv").read_bytes(), pathlib.Path("inert.csv").read_bytes())
        self.assertEqual([line.split(",")[0] for line in pathlib.Path("inert.csv").read_text().splitlines()],
                         ["unit", '"\'=cmd|\' /C calc\'!A0"', '"\'@x"', '"\'=y"', '"-5"', '"\'\'z"'])
        self.assertEqual(self.rows("info", "inert.csv"), self.rows("info", "names.csv"))
        self.assertEqual({unit["name"] for unit in self.document("info", "inert.csv")["unit_detail"]},
                         {"=cmd|' /C calc'!A0", "@x", "=y", "-5", "''z"})  # '=y was inert already


if __name__ == "__main__":
    command.main()
