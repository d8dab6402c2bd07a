# SPDX-License-Identifier: Apache-2.0
# scripts/skipped counts what ctest takes for passed: cases that were skipped, and scripts that left something out.
cat >CTestTestfile.cmake <<'CMAKE'
add_test(cases cat "cases.txt")
add_test(script echo "skipped: no real data there")
add_test(whole sh -c "echo 'skipped whole: no python'; exit 77")
set_tests_properties(whole PROPERTIES SKIP_RETURN_CODE 77)
add_test(plain true)
add_test(wrong false)
CMAKE
cat >cases.txt <<'CMOCKA'
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
CMOCKA
ctest -j2 >/dev/null && exit 1
"$SYNFIRE_SOURCE/scripts/skipped" . >found
sort found | diff - <(sort <<'END'
skipped: no device here
    cases two
skipped: no real data there
    cases three (in part)
    script (in part)
skipped: no python
    whole
2 cases passed, 2 skipped, 2 skipped in part, in 5 tests
END
)
code=0
"$SYNFIRE_SOURCE/scripts/skipped" nowhere 2>err || code=$?
[ $code = 66 ]
grep -q "nowhere/Testing/Temporary/LastTest.log: no run of ctest left it" err
