# SPDX-License-Identifier: Apache-2.0
"""--csv of every table: columns that docs/formats.md describes, as many cells in each row, and the values of --json. Names with commas,
quotes and spaces come back as they are."""
import csv
import json
import pathlib

import command

CHAINS = ("--delay", "4:6", "--min-count", 60)
PAIR = ("--episodes", "A -(4,6]-> B")
PAGE = (command.SOURCE / "docs" / "formats.md").read_text()


def write(path, *lines):
    pathlib.Path(path).write_text("".join(f"{line}\n" for line in lines))


def in_second_epoch(item):
    return item["epoch_counts"][1]


class Tables(command.Test):
    @classmethod
    def prepare(cls):
        planted = cls.synfire("simulate", "sim.h5", "--preset", "sym26", "--seed", 5, "--csv").stdout
        cls.planted = list(csv.DictReader(planted.splitlines()))
        write("epochs.csv", "0,20,a", "20,60,b")
        write("labels.csv", "0,20,rest", "20,40,task", "40,60,rest")
        write("numbers.txt", *(k / 1000 for k in range(1, 2000, 10)))

    def table(self, *words):
        """Its rows, which have a cell for each column, and its document."""
        rows = self.rows(*words, "--quiet")
        for row in rows:
            self.assertNotIn(None, [*row, *row.values()])
        return rows, self.document(*words, "--quiet")

    def assert_same(self, row, values):
        for column, value in values.items():
            cell = row[column]
            with self.subTest(column=column):
                self.assertEqual(float(cell) if isinstance(value, (int, float)) else cell, "" if value is None else value)

    def assert_told(self, rows, items, *own, **others):
        """A row for each item, with these fields of its own, and what else is made of it."""
        self.assertTrue(len(rows) == len(items) > 0, (len(rows), len(items)))
        for row, item in zip(rows, items):
            self.assert_same(row, {**{key: item[key] for key in own}, **{column: get(item) for column, get in others.items()}})

    def assert_described(self, rows):
        self.assertEqual([column for column in rows[0] if f"\n| `{column}` |" not in PAGE], [])

    def test_units(self):
        rows, found = self.table("info", "sim.h5")
        self.assert_told(rows, found["unit_detail"], "unit", "name", "spikes", "rate_hz", "x_um", "y_um", "kind", "isi_violations")

    def test_names_come_back_as_they_are(self):
        write("units.csv", '"a, ""b""",0.001', " c ,0.005", '"a, ""b""",0.1', " c ,0.104")
        rows, found = self.table("info", "units.csv")
        self.assertEqual([row["name"] for row in rows], [unit["name"] for unit in found["unit_detail"]])
        self.assertIn('a, "b"', [row["name"] for row in rows])

    def test_names_that_a_spreadsheet_would_compute_are_marked_as_text_and_numbers_stay(self):
        write("formula.csv", *(f"{name},{time}" for name in ("=cmd|x", "@sum(1)", "+a", "-3") for time in (0.1, 0.2, 0.3)))
        said = self.synfire("info", "formula.csv", "--csv").stdout
        for cell in '''"'=cmd|x"''', '''"'@sum(1)"''', '''"'+a"''':
            self.assertIn(cell, said)
        self.assertRegex(said, "(?m)(^|,)-3,")

    def test_episodes_mined_and_counted(self):
        mined, found = self.table("mine", "sim.h5", *CHAINS, "--max-size", 3, "--sort", "standing")
        self.assert_told(mined, found["episodes"], "id", "count", "expected", "p", "q", "strength", "not_tested", "p_links", "folded_under",
                         ratio_low=lambda e: e["ratio_interval"][0])
        pathlib.Path("mine.json").write_text(json.dumps(found))
        rows, found = self.table("count", "sim.h5", "--episodes", "mine.json")
        self.assertEqual(list(rows[0]), list(mined[0]))
        self.assert_told(rows, found["episodes"], "id", "count", "expected", "bursts", "in_bursts", "reverse_count", "asymmetry")

    def test_episodes_in_epochs(self):
        rows, found = self.table("mine", "sim.h5", *CHAINS, "--epochs", "epochs.csv", "--sort", "standing")
        self.assert_told(rows, found["episodes"], "id", "count", "needed", **{"epoch 1": in_second_epoch})

    def test_episodes_that_are_tested_in_epochs(self):
        rows, found = self.table("count", "sim.h5", *PAIR, "--epochs", "epochs.csv", "--significance", "segment-shift", "--surrogates", 99)
        self.assert_told(rows, found["episodes"], "id", "count", "p", "q", "not_tested", "needed", **{"epoch 1": in_second_epoch})
        self.assertLessEqual(float(rows[0]["q"]), 0.05)
        self.assertGreater(int(rows[0]["needed"]), 20)

    def test_windows(self):
        rows, found = self.table("count", "sim.h5", *PAIR, "--window", 25)
        self.assert_described(rows)
        self.assert_told(rows, found["windows"], "from_s", "to_s", partial=lambda w: int(w["partial"]), count=lambda w: w["counts"][0],
                         rate_hz=lambda w: w["rates_hz"][0])

    def test_correlograms(self):
        rows, found = self.table("count", "sim.h5", *PAIR, "--correlogram")
        correlogram, = found["episodes"][0]["correlograms"]
        self.assert_described(rows)
        self.assert_told(rows, list(zip(correlogram["counts"], correlogram["expected_counts"])), pairs=lambda b: b[0], expected=lambda b: b[1])
        self.assertEqual(float(rows[0]["above_ms"]), correlogram["from_ms"])

    def test_occurrences(self):
        self.synfire("mine", "sim.h5", *CHAINS, "--max-size", 3, "--top", 2, "--occurrences", "occurrences.csv")
        rows = command.rows_of("occurrences.csv")
        self.assertEqual({row["episode"].count("->"): row["spike_3_s"] == "" for row in rows}, {1: True, 2: False})
        self.assertTrue(all(row["spike_3_s"] == "" for row in rows if row["episode"].count("->") == 1))

    def test_edges(self):
        rows, found = self.table("graph", "sim.h5", *CHAINS)
        self.assert_told(rows, found["edge_detail"], "from", "to", "from_name", "to_name", "count", "expected", "weight", "p", "q", "not_tested",
                         delay_low_ms=lambda e: e["delay_ms"][0], ratio_high=lambda e: e["ratio_interval"][1],
                         one_electrode=lambda e: int(e["one_electrode"]))

    def test_edges_in_epochs(self):
        rows, found = self.table("graph", "sim.h5", *CHAINS, "--epochs", "epochs.csv")
        self.assert_told(rows, found["edge_detail"], "from", "count", **{"epoch 1": in_second_epoch})
        rows, found = self.table("graph", "sim.h5", "--metric", "sttc", "--surrogates", 0, "--epochs", "epochs.csv", "--units", "A,B,C")
        self.assert_told(rows, found["edge_detail"], "from", "weight", **{"epoch 0": lambda e: e["epoch_coefficients"][0]})

    def test_searches(self):
        rows, found = self.table("bfs", "sim.h5", *CHAINS, "--source", "A", "--source", "B")
        paths = [path for search in found["searches"] for path in search["paths"]]
        reached = [row for row in rows if row["parent"] != ""]
        self.assertEqual(len(rows), len(paths) + 2)
        self.assert_told(reached, paths, "source", "vertex", "name", "level", parent=lambda p: p["path"][-2],
                         parent_name=lambda p: p["names"][-2])
        for row, path in zip(reached, paths):
            self.assertAlmostEqual(float(row["delay_high_ms"]), path["delay_ms"][1], delta=1e-9)

    def test_embeddings(self):
        rows, found = self.table("match", "sim.h5", "x -> y; y -> z", *CHAINS)
        self.assert_told(rows, [(e, v) for e in range(found["listed"]) for v in range(3)], embedding=lambda p: p[0], vertex=lambda p: p[1],
                         vertex_name=lambda p: "xyz"[p[1]], unit=lambda p: found["embeddings"][p[0]][p[1]],
                         unit_name=lambda p: found["names"][p[0]][p[1]])

    def test_triads(self):
        rows, found = self.table("match", "sim.h5", "census", *CHAINS, "--rewired", 3)
        self.assert_told(rows, found["triads"], "name", "count", "mean", "sd", "z")

    def test_bandwidths(self):
        rows, found = self.table("bandwidth", "sim.h5", "--quantity", "isi")
        self.assert_told(rows, found["results"], "unit", "name", "method", "n", "h", "h_relative", "h0", "objective", "error")

    def test_densities(self):
        rows, found = self.table("density", "sim.h5", "--quantity", "isi", "--units", "A", "--epochs", "epochs.csv")
        per = "density_per_ln_s" if found["axis"] == "log" else "density_per_s"
        for column, values in ("x", found["grid"]), (per, found["density"]), ("epoch 1", found["epoch_density"][1]):
            self.assertEqual([float(row[column]) for row in rows], values)
        for columns in "`x,density`", "`x,y,density`":
            self.assertIn(columns, PAGE)

    def test_aggregates(self):
        rows, found = self.table("aggregate", "numbers.txt", "--range", "0.5:1")
        self.assert_told(rows, [found], "op", "n", "h", "estimate", "exact", "sampling_error")

    def test_rules(self):
        rows, found = self.table("rules", "sim.h5", *CHAINS, "--labels", "labels.csv", "--window", 1)
        self.assert_described(rows)
        self.assert_told(rows, found["predicts"], predicts=lambda label: label)
        self.assertEqual([row["count_to"] for row in rows], [*(f"{threshold // 1:.0f}" for threshold in found["thresholds"]), ""])
        self.assertEqual(rows[0]["count_from"], "0")
        self.assert_same(rows[0], {"id": found["episode"]["id"], "rate_accuracy": found["rate"]["accuracy"], "p": found["chance"]["p"],
                                   **{key: found[key] for key in ("accuracy", "balanced_accuracy", "majority")}})

    def test_plans(self):
        for words in ["plan", command.SOURCE / "configs" / "plans" / "1r.yaml"], ["plan"]:
            rows, found = self.table(*words)
            self.assert_described(rows)
            self.assert_told(rows, found["pairs"] + found["loops"], "answer", flow=lambda v: " ".join(v["flow"]),
                             decided_by=lambda v: " ".join(v["decided_by"]), first=lambda v: v.get("first", v.get("loop")),
                             second=lambda v: v.get("second", v.get("variable")), kind=lambda v: "neighbours" if "first" in v else "loop")

    def test_benchmarks(self):
        rows, found = self.table("bench", "bfs", "--kronecker", "8:8:1", "--threads", 1)
        self.assertEqual(list(rows[0])[:3], ["bench", "machine", "device"])
        self.assert_told(rows, found, "bench", "machine")
        self.assertGreater(len(rows), 1)
        for row, item in zip(rows, found):
            self.assertTrue({column for column in row if row[column] != ""} <= set(item) <= set(row))
            self.assertEqual(row["bench"], "bfs")

    def test_what_was_planted(self):
        self.assert_described(self.planted)
        self.assertEqual(self.planted[0]["episode"], "A -(4,6]-> B -(4,6]-> C")
        self.assertIn("planted", self.planted[0])

    def test_one_table_is_printed_and_nothing_else(self):
        self.refuses(64, "--csv: does not go with --json", "info", "sim.h5", "--csv", "--json")
        self.refuses(64, "prints one table", "count", "sim.h5", *PAIR, "--window", 5, "--correlogram", "--csv")


if __name__ == "__main__":
    command.main()
