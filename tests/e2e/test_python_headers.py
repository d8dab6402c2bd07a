# SPDX-License-Identifier: Apache-2.0
"""The public headers are what the Python package's reader of them understands; test_python holds the layouts."""
import importlib.util
import pathlib
import re

import command
import installed

DECLARE = command.SOURCE / "python/declare.py"
HEADERS = command.SOURCE / "include/synfire"
VERSION = re.search(r"(?m)^project\(synfire VERSION ([^ ]*)", (command.SOURCE / "CMakeLists.txt").read_text())[1]


class Headers(command.Test):
    def test_every_function_is_understood(self):
        installed.python(DECLARE, HEADERS, VERSION, "declarations.py")
        of_file = importlib.util.spec_from_file_location("declarations", "declarations.py")
        declarations = importlib.util.module_from_spec(of_file)
        of_file.loader.exec_module(declarations)
        self.assertGreater(len(declarations.FUNCTIONS), 100)
        self.assertEqual(len(declarations.FUNCTIONS), sum(path.read_text().count("\nSF_API ") for path in HEADERS.glob("*.h")))

    def test_a_type_that_it_does_not_know_is_refused(self):
        pathlib.Path("odd").mkdir()
        pathlib.Path("odd/synfire.h").write_text("#define SF_API\nSF_API int sf_odd(long double x);\n")
        self.assertIn("synfire.h: an unknown type: long", installed.python(DECLARE, "odd", VERSION, "odd.py", code=1).stderr)


if __name__ == "__main__":
    command.main()
