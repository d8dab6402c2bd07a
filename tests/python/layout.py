# SPDX-License-Identifier: Apache-2.0
"""Every constant, size and offset that declare.py read from the headers is the C compiler's."""
import ctypes
import os
import pathlib
import subprocess
import unittest

from synfire import _declarations as declared

HEADERS = pathlib.Path(os.environ["SYNFIRE_SOURCE"]) / "include"


def fields(struct):
    """Name in C and place in ctypes of every field, those of a union's too."""
    for name, _ in struct._fields_:
        if name not in getattr(struct, "_anonymous_", ()):
            yield name.rstrip("_"), getattr(struct, name)
    for name in getattr(struct, "_anonymous_", ()):
        for inner, _ in dict(struct._fields_)[name]._fields_:
            yield inner, getattr(struct, inner)


class Layout(unittest.TestCase):
    def test_as_the_compiler_has_it(self):
        lines, expected = [], []
        for name, value in vars(declared).items():
            if name.startswith("SF_"):
                lines.append(f'printf("{name} %.17g\\n", (double)({name}));' if isinstance(value, float)
                             else f'printf("{name} %lld\\n", (long long)({name}));')
                expected.append(f"{name} {value:.17g}" if isinstance(value, float)
                                else f"{name} {ctypes.c_int64(value).value}")
        for name, struct in declared.STRUCTS.items():
            lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
            expected.append(f"{name} {ctypes.sizeof(struct)}")
            for field, place in fields(struct):
                lines.append(f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));')
                expected.append(f"{name}.{field} {place.offset} {place.size}")
        naming = {"sf_not_tested": "sf_not_tested_text", "sf_caution": "sf_caution_text",
                  "sf_unit_kind": "sf_unit_kind_name", "sf_significance_kind": "sf_significance_name"}
        self.assertEqual(set(naming), set(declared.WORDS))
        for of, function in naming.items():
            for value, words in declared.WORDS[of].items():
                lines.append(f'printf("%s\\n", {function}({value}));')
                expected.append(words)
        pathlib.Path("layout.c").write_text(
            "#include <stdio.h>\n#include <synfire/synfire.h>\nint main(void)\n{\n" + "\n".join(lines) + "\n}\n")
        subprocess.run(["cc", "-std=c11", "-O0", f"-I{HEADERS}", "layout.c", "-o", "layout"], check=True)
        told = subprocess.run(["./layout"], capture_output=True, text=True, check=True).stdout.splitlines()
        self.assertGreater(len(told), 800)
        self.assertEqual(told, expected)

    def test_every_function(self):
        text = "".join(path.read_text() for path in sorted((HEADERS / "synfire").glob("*.h")))
        self.assertEqual(len(declared.FUNCTIONS), text.count("\nSF_API "))


if __name__ == "__main__":
    unittest.main(verbosity=2)
