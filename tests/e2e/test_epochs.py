# SPDX-License-Identifier: Apache-2.0
"""What an epoch of --epochs has alone, in bandwidths, densities and tiling coefficients, is what the same span has where it is
selected by --from and --to."""
import command

SPANS = (("0", "20"), ("20", "45.5"), ("50", "50.4"))
ISI = ("bandwidth", "rec.h5", "--quantity", "isi")
DENSITY = ("density", "rec.h5", "--quantity", "isi", "--units", "B", "--grid", "0:0.2:401")
TILING = ("graph", "rec.h5", "--metric", "sttc")


class Epochs(command.Test):
    @classmethod
    def prepare(cls):
        cls.synfire("simulate", "rec.h5", "--unit-count", 6, "--rate", 15, "--duration", 60, "--chain", "A -(4,6]-> B -(4,6]-> C",
                    "--chain-rate", 2, "--seed", 4)
        with open("epochs.csv", "w") as file:
            file.write("start,stop,label\n0,20,rest\n20,45.5,stimulus\n50,50.4,short\n")

    def with_epochs(self, *words):
        return self.document(*words, "--epochs", "epochs.csv")

    def alone(self, *words):
        """The document of each span, None where it has too little for one."""
        return [self.document(*words, "--from", start, "--to", stop)
                if self.run_command(*words, "--from", start, "--to", stop).returncode == 0 else None for start, stop in SPANS]

    def bandwidths_are_those_of_the_spans(self, *words):
        told, alone = self.with_epochs(*words), self.alone(*words)
        self.assertEqual([epoch["label"] for epoch in told["epochs"]], ["rest", "stimulus", "short"])
        self.assertEqual(told["epochs"][2]["duration_s"], 0.4)
        self.assertIsNone(told["results"][0]["epoch_h"][2])
        for i, series in enumerate(told["results"]):
            same = [one["results"][i] if one is not None else {"h": None, "n": series["epoch_n"][k]} for k, one in enumerate(alone)]
            self.assertEqual(series["epoch_n"], [one["n"] for one in same])
            self.assertEqual(series["epoch_h"], [one["h"] for one in same])

    def test_bandwidths_of_intervals(self):
        self.bandwidths_are_those_of_the_spans(*ISI, "--units", "A,B,C")

    def test_bandwidths_of_rates(self):
        self.bandwidths_are_those_of_the_spans("bandwidth", "rec.h5", "--quantity", "rate", "--window", 0.2, "--units", "B,F")

    def test_bandwidths_of_delays(self):
        self.bandwidths_are_those_of_the_spans("bandwidth", "rec.h5", "--quantity", "delay", "--episode", "A -(0,20]-> B -(0,20]-> C")

    def densities_are_those_of_the_spans(self, *words):
        told, alone = self.with_epochs(*words), self.alone(*words)
        self.assertEqual(told["epoch_density"], [one["density"] if one is not None else [None] * 401 for one in alone])
        self.assertEqual(told["epoch_h"], [one["h"] if one is not None else None for one in alone])
        return told

    def test_densities_by_their_own_bandwidth(self):
        self.assertIsNone(self.densities_are_those_of_the_spans(*DENSITY, "--reflect")["epoch_h"][2])

    def test_densities_by_a_bandwidth_that_is_given(self):
        self.assertEqual(self.densities_are_those_of_the_spans(*DENSITY, "--linear", "--bandwidth", 0.01)["epoch_h"][2], 0.01)

    def test_tiling_coefficients(self):
        words = *TILING, "--delay", "0:15", "--surrogates", 0
        edges = self.with_epochs(*words)["edge_detail"]
        self.assertEqual(len(edges), 15)
        alone = [{(edge["from"], edge["to"]): edge["weight"] for edge in one["edge_detail"]} for one in self.alone(*words)]
        for edge in edges:
            self.assertEqual(edge["epoch_coefficients"], [one.get((edge["from"], edge["to"])) for one in alone])

    def test_lines_for_people_have_a_column_for_each_label(self):
        self.assertRegex(self.synfire(*ISI, "--units", "A,B", "--epochs", "epochs.csv").stdout, "(?m)^of +rest +stimulus +short$")
        self.assertRegex(self.synfire(*TILING, "--epochs", "epochs.csv", "--surrogates", 0).stdout,
                         "(?m)^sttc in each of 3 epochs taken alone$")

    def test_csv_has_a_column_for_each_epoch(self):
        lines = self.synfire(*DENSITY, "--linear", "--epochs", "epochs.csv", "--csv").stdout.splitlines()
        self.assertEqual(lines[0], "x,density_per_s,epoch 0,epoch 1,epoch 2")
        self.assertEqual(sum(line.endswith(",") for line in lines), 401)  # the short one has too few samples


if __name__ == "__main__":
    command.main()
