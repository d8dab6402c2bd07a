# SPDX-License-Identifier: Apache-2.0
"""Files that declare more than they hold: one sentence, at once, in less than 256 MiB."""
import multiprocessing
import os
import pathlib
import subprocess

import command

command.need_modules()
import h5py
import numpy as np

MOST_MIB = float("inf") if command.SANITIZED else 256  # sanitizers take memory of their own
CROWDS = ("line", "grid", "two", "none")
KNOWN = "hostile"  # the files that broke synfire once


def write(name, text):
    pathlib.Path(name).write_text(text)
    return name


def column(file, name, length, chunk):
    """A compressed column of zeros: a few bytes a chunk."""
    values = file.create_dataset(name, (length,), "f8", chunks=(chunk,), compression="gzip", compression_opts=9)
    zeros = np.zeros(chunk)
    for start in range(0, length, chunk):
        values[start:start + chunk] = zeros


def make_files():
    with h5py.File("bomb.h5", "w") as file:  # 400 MB of zeros in 400 kB
        column(file, "spikes", 50_000_000, 1_000_000)
        file["sCount"] = np.array([50_000_000], "i4")
    with h5py.File("chunk.h5", "w") as file:  # ten values in a chunk of 320 MB
        file.create_dataset("spikes", (10,), "f8", maxshape=(None,), chunks=(40_000_000,), compression="gzip")[:] = 1
        file["sCount"] = np.array([10], "i4")
    with h5py.File("vertices.h5", "w") as file:
        file.attrs.update({"synfire": np.bytes_("graph"), "layout": 1, "directed": 1})
        file.create_group("vertices").attrs["count"] = 4_000_000_000
    units = 200_000
    number = np.arange(units)
    places = {"line": (0 * number, number), "grid": (number % 600, number // 600), "two": (number % 2, 0 * number)}
    for name in CROWDS:
        with h5py.File(f"{name}.h5", "w") as file:
            file["spikes"] = np.ones(units)
            file["sCount"] = np.ones(units, "i4")
            if name in places:
                file["epos"] = 100.0 * np.vstack(places[name])


class Hostile(command.Test):
    @classmethod
    def prepare(cls):
        # In a process of its own: what a process once took counts for those that it starts.
        maker = multiprocessing.get_context("fork").Process(target=make_files)
        maker.start()
        maker.join()
        assert maker.exitcode == 0

    def assert_ends(self, code, sentence, *words):
        """The command ends with the code, in little memory, and prints this; or where it fails says it in one line."""
        with open("out", "wb") as out, open("err", "wb") as err:
            child = subprocess.Popen([os.environ["SYNFIRE"], *map(str, words)], stdout=out, stderr=err)
            _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        printed, said = (pathlib.Path(name).read_text(errors="replace") for name in ("out", "err"))
        self.assertEqual(child.returncode, code, said)
        self.assertIn(sentence, printed if code == 0 else said)
        self.assertLess(usage.ru_maxrss / 1024, MOST_MIB)
        if code != 0:
            self.assertEqual((said.count("\n"), printed), (1, ""), said)

    def assert_no_graph(self, sentence, path):
        self.assert_ends(65, sentence, "bfs", path, "--source", "#0")

    def test_vertices_that_are_only_declared(self):
        self.assert_no_graph("declares 4000000000 vertices, expected at most", write("nodes.el", "# Nodes: 4000000000\n0 1\n"))
        self.assert_no_graph("matrix.mtx:2: declares 2000000000 vertices", write(
            "matrix.mtx", "%%MatrixMarket matrix coordinate pattern general\n2000000000 2000000000 1\n1 2\n"))
        self.assert_no_graph("declares 4000000000 vertices", "vertices.h5")

    def test_keys_of_nodes_that_give_none_of_them(self):  # 10,000 for 40,000 nodes would be 3 GB of nothing
        keys = "".join(f'<key id="k{i}" for="node" attr.type="double"/>' for i in range(10000))
        nodes = "".join(f'<node id="{i}"/>' for i in range(40000))
        self.assert_no_graph("10000 keys of nodes", write(
            "keys.graphml", f'<graphml>{keys}<graph edgedefault="directed">{nodes}</graph></graphml>'))

    def test_entities_that_grow(self):
        self.assert_no_graph("declares the entity 'a'", write("entity.graphml", '<!DOCTYPE g [<!ENTITY a "' + "a" * 60000 +
                                                              '">]><graphml><key id="' + "&a;" * 50000 + '"/></graphml>'))

    def test_an_id_that_no_file_of_this_length_can_count_up_to_is_a_name(self):
        self.assert_ends(0, "\n    0         1  4000000000\n", "bfs", write("ids.el", "0 4000000000\n"), "--source", 4000000000)

    def test_columns_that_grow(self):
        self.assert_ends(65, "/spikes is damaged: its shape says 50000000 values", "info", "bomb.h5")
        self.assert_ends(65, "/spikes is damaged: it is in chunks of 320000000 bytes", "info", "chunk.h5")

    def test_more_metadata_than_a_recording_has(self):
        self.synfire("simulate", "attributes.h5", "--duration", 1)
        for entries, code, sentence in (3000, 0, "k2000: v"), (5000, 65, "more than 4096 entries of metadata"):
            with h5py.File("attributes.h5", "a") as file:
                for i in range(len(file["metadata"].attrs), entries):
                    file["metadata"].attrs[f"k{i}"] = "v"
            self.assert_ends(code, sentence, "info", "attributes.h5")

    def test_configurations_of_many_levels_or_anchors(self):
        for start in "[", "{", "- ", "? ", "[{a: ":
            with self.subTest(start=start):
                self.assert_ends(78, "more than 32 levels deep", "run", write("deep.yaml", start * (200_000 // len(start))))
        self.assert_ends(78, "more than 32 anchors", "run", write("anchors.yaml", "".join(f"- &a{i} x\n" for i in range(20000))))

    def test_crowds_take_work_in_proportion(self):
        # 200,000 units that fire at once, on a line, on a grid, in one place and nowhere: work in the square of them would take
        # this test's time limit many times over.
        for name in CROWDS:
            with self.subTest(name=name):
                self.assert_ends(0, "units       200000", "info", f"{name}.h5")

    @command.needs_data(KNOWN)
    def test_files_that_broke_it_once(self):
        known = command.DATA / KNOWN
        self.assert_no_graph("inside <data>", known / "element-in-data.graphml")
        self.assert_no_graph("not well-formed XML", known / "element-in-data-fuzzed.graphml")
        self.assert_no_graph("declares 2000000000 vertices", known / "declares-two-billion.mtx")


if __name__ == "__main__":
    command.main()
