# SPDX-License-Identifier: Apache-2.0
"""The notebooks of examples/notebooks, on what `synfire simulate` makes: each cell runs and what it asserts holds. Where Jupyter's
nbconvert is, it runs them, too; CI does not install it, and cells are run by notebook.py alone."""
import importlib.util
import os
import pathlib
import shutil
import sys
import unittest

import command
import installed

installed.need_package()

BOOKS = command.SOURCE / "examples/notebooks"


class Notebooks(command.Test):
    @classmethod
    def prepare(cls):
        installed.lay_out_package()
        os.environ["SYNFIRE_NOTEBOOKS"] = str(BOOKS)

    def run_cells(self, name, promised):
        """All of a notebook run, in a folder of its own, and print what its text promises."""
        pathlib.Path(name).mkdir()
        out = installed.python(pathlib.Path(__file__).with_name("notebook.py"), BOOKS / f"{name}.ipynb", cwd=name).stdout
        self.assertRegex(out, "(?m) cells ran$")
        self.assertRegex(out, f"(?m){promised}")

    def test_there_are_no_others(self):
        self.assertEqual({path.stem for path in BOOKS.glob("*.ipynb")}, {"chains", "plate", "live", "closed_loop", "other_tools"})

    def test_chains(self):
        self.run_cells("chains", r"^ *[0-9]* times, q 0.00.: D (.*> K|-\(4,6\]-> E.*-> K)$(.*\n)*^D reaches 7 units in up to 7 steps$")

    def test_plate(self):
        self.run_cells("plate", r"^network_burst_rate .*q 0\.0")

    def test_live(self):
        self.run_cells("live", "^2 chains with [0-9]* significant parts$")

    def test_closed_loop(self):
        self.run_cells("closed_loop", "^[0-9]+ stimuli of [0-9]+ occurrences$")

    def test_other_tools(self):
        self.run_cells("other_tools", "markers$|^no Neo here")

    @unittest.skipUnless(all(map(importlib.util.find_spec, ("nbconvert", "ipykernel"))),
                         "no nbconvert and ipykernel; notebook.py runs the cells")
    def test_jupyter_runs_them_too(self):
        shutil.copytree(BOOKS, "given")  # each writes what it makes beside itself
        for path in pathlib.Path("given").glob("*.ipynb"):
            installed.done(sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--ExecutePreprocessor.timeout=120",
                           "--output-dir", os.path.abspath("jupyter"), path)
        self.assertEqual(len(list(pathlib.Path("jupyter").glob("*.ipynb"))), 5)


if __name__ == "__main__":
    command.main()
