# SPDX-License-Identifier: Apache-2.0
"""scripts/skipped counts what ctest takes for passed: cases that were skipped, and scripts that left something out."""
import pathlib
import subprocess

import command

SKIPPED = command.SOURCE / "scripts/skipped"
PROGRAMS = """
add_test(cases cat "cases.txt")
add_test(sentences cat "sentences.txt")
add_test(script echo "skipped: no real data there")
add_test(whole sh -c "echo 'skipped whole: no python'; exit 77")
set_tests_properties(whole PROPERTIES SKIP_RETURN_CODE 77)
add_test(plain true)
add_test(wrong false)
"""
CMOCKA = """
[==========] Running 4 test(s).
[ RUN      ] one
[       OK ] one
[ RUN      ] two
skipped: no device here
[  SKIPPED ] two
[ RUN      ] three
skipped: no real data there
skipped: no real data there
[       OK ] three
[ RUN      ] four
[  FAILED  ] four
[==========] 4 test(s) run.
[  SKIPPED ] 1 test(s), listed below:
[  SKIPPED ] two

 1 SKIPPED TEST(S)
"""
UNITTEST = """
test_that_passes (__main__.Some.test_that_passes) ... ok
test_that_fails (__main__.Some.test_that_fails) ... FAIL
test_that_is_skipped (__main__.Some.test_that_is_skipped) ... skipped 'no real data there'
setUpClass (__main__.Others) ... skipped 'no python'
"""
FOUND = """
skipped: no device here
    cases two
skipped: no real data there
    sentences test_that_is_skipped
    cases three (in part)
    script (in part)
skipped: no python
    sentences setUpClass
    whole
3 cases passed, 4 skipped, 2 skipped in part, in 6 tests
"""


class Skipped(command.Test):
    @classmethod
    def prepare(cls):
        for path, text in ("CTestTestfile.cmake", PROGRAMS), ("cases.txt", CMOCKA), ("sentences.txt", UNITTEST):
            pathlib.Path(path).write_text(text.lstrip("\n"))
        cls.ctest = subprocess.run(["ctest", "-j2"], capture_output=True, text=True, check=False)

    def test_what_was_skipped_is_counted_and_named(self):
        self.assertNotEqual(self.ctest.returncode, 0)
        found = subprocess.run([SKIPPED, "."], capture_output=True, text=True, check=True).stdout
        self.assertEqual(sorted(found.splitlines()), sorted(FOUND.strip("\n").splitlines()))

    def test_where_no_test_was_run_that_is_said(self):
        done = subprocess.run([SKIPPED, "nowhere"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 66)
        self.assertIn("nowhere/Testing/Temporary/LastTest.log: no run of ctest left it", done.stderr)


if __name__ == "__main__":
    command.main()
