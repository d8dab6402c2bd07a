# SPDX-License-Identifier: Apache-2.0
# The public headers are what the Python package's reader of them understands; test_python holds the layouts.
version=$(sed -n 's/^project(synfire VERSION \([^ ]*\).*/\1/p' "$SYNFIRE_SOURCE/CMakeLists.txt")
python3 -B "$SYNFIRE_SOURCE/python/declare.py" "$SYNFIRE_SOURCE/include/synfire" "$version" declarations.py
python3 -B -c "
import declarations, pathlib
headers = pathlib.Path('$SYNFIRE_SOURCE/include/synfire').glob('*.h')
assert len(declarations.FUNCTIONS) == sum(path.read_text().count('\nSF_API ') for path in headers)"
mkdir odd
printf '#define SF_API\nSF_API int sf_odd(long double x);\n' >odd/synfire.h
python3 -B "$SYNFIRE_SOURCE/python/declare.py" odd "$version" odd.py 2>err && exit 1
grep -q 'synfire.h: an unknown type: long' err
