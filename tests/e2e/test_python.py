# SPDX-License-Identifier: Apache-2.0
"""The Python package on the libraries as built: layouts as the C compiler has them, its examples and its page, what it takes,
gives and refuses, and that it gives what the command prints."""
import importlib.util
import shutil
import sys
import unittest

import command
import installed

installed.need_package()


class Package(command.Test):
    @classmethod
    def prepare(cls):
        installed.lay_out_package()

    def test_layouts_are_as_the_c_compiler_has_them(self):
        installed.pass_cases("layout.py")

    def test_the_package_takes_gives_and_refuses_what_it_says(self):
        installed.pass_cases("package.py")

    def test_it_gives_what_the_command_prints(self):
        self.synfire("simulate", "demo.h5", "--preset", "sym26", "--quiet")
        installed.pass_cases("commands.py", "demo.h5")

    def test_the_example_of_a_closed_loop_answers_chains_and_no_artefacts(self):
        out = installed.python(command.SOURCE / "examples/cl1_loop.py", "--measure", 200).stdout
        self.assertRegex(out, "(?m)^20 chains answered, 0 missed; 0 artefacts of stimuli answered$")

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "no mypy")
    def test_its_types_hold(self):
        shutil.copytree("package", "typed")
        for name in "pyproject.toml", "backend.py", "declare.py":
            shutil.copy(command.SOURCE / "python" / name, "typed")
        installed.done(sys.executable, "-m", "mypy", "--cache-dir=/dev/null", cwd="typed")


if __name__ == "__main__":
    command.main()
