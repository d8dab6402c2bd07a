# SPDX-License-Identifier: Apache-2.0
# A wheel installs into a fresh virtual environment and works there: with the library of an installed tree, with one
# that is found, and with one that CMake builds. Nothing is fetched.
. "$E2E/functions.sh"
need_package
export PIP_DISABLE_PIP_VERSION_CHECK=1
unset PYTHONPATH SYNFIRE_LIBRARY
backend=$SYNFIRE_SOURCE/python/backend.py
# NumPy is the system's, as nothing is fetched.
"$SYNFIRE_PYTHON" -m venv --system-site-packages fresh >/dev/null 2>&1 || skip "this Python makes no virtual environments: python3-venv"

# works LINE: the library in the fresh environment is its own, it runs the first example, and then the line.
works() {
    fresh/bin/python -B -I -c "
import doctest, synfire
assert synfire.__file__.startswith('$PWD/fresh/'), synfire.__file__
told = doctest.testmod(synfire)
assert told.failed == 0 and told.attempted > 5, told
$1"
}

install_into prefix
"$SYNFIRE_PYTHON" -B "$backend" wheel dist library="$PWD/prefix"
"$SYNFIRE_PYTHON" -B "$backend" wheel again library="$PWD/prefix"
cmp dist/*.whl again/*.whl # the same bytes for the same files
rm -r prefix               # what it needs of that it has
fresh/bin/pip install --no-index --no-cache-dir dist/*.whl
"$SYNFIRE" simulate small.h5 --duration 5 --quiet >/dev/null
works "assert synfire.load('small.h5').spike_count > 0"
fresh/bin/pip uninstall --yes synfire
[ -z "$(find fresh -path '*synfire*')" ]

# Without a library it says what to do; beside the command it finds one.
"$SYNFIRE_PYTHON" -B "$backend" wheel system library=system
[ "$(basename system/*.whl)" = "$(basename dist/*.whl | sed 's/none-.*/none-any.whl/')" ]
fresh/bin/pip install --no-index --no-cache-dir system/*.whl
install_into prefix
PATH=$PWD/prefix/bin:$PATH works "assert synfire.load('small.h5').spike_count > 0"
SYNFIRE_LIBRARY=$(dirname "$(find "$PWD/prefix" -name libsynfire.so)") fresh/bin/python -B -c "import synfire"
rm -r prefix
fresh/bin/pip uninstall --yes synfire
expect_words() { # WORDS COMMAND...: fails with the words
    local words=$1
    shift
    "$@" >out 2>&1 && { echo "succeeds: $*"; return 1; }
    grep -qF -- "$words" out || { cat out; return 1; }
}
expect_words "give the prefix of cmake --install" "$SYNFIRE_PYTHON" -B "$backend" wheel no library=/nowhere
expect_words "unknown setting 'libraries'" "$SYNFIRE_PYTHON" -B "$backend" wheel no libraries=system

# Where NumPy is missing pip says so before it builds anything.
"$SYNFIRE_PYTHON" -m venv bare
expect_words "requirement numpy" bare/bin/pip install --no-index --no-cache-dir "$SYNFIRE_SOURCE/python"
must_fail grep -q "Building wheel" out

# A wheel for another system is named so, and has the licences of what is inside.
install_into prefix
mkdir prefix/licenses
echo MIT >prefix/licenses/libinside
echo '{}' >prefix/sbom.spdx.json
"$SYNFIRE_PYTHON" -B "$backend" wheel named library="$PWD/prefix" platform=manylinux_2_31_x86_64
"$SYNFIRE_PYTHON" -m zipfile -l named/synfire-*-py3-none-manylinux_2_31_x86_64.whl >files
grep -q 'dist-info/licenses/libinside' files
grep -q 'dist-info/sboms/sbom.spdx.json' files
rm -r prefix

# The source distribution has all that CMake asks for, and pip makes the package of it.
"$SYNFIRE_PYTHON" -B "$backend" sdist dist
tar xf dist/*.tar.gz
cmake -S synfire-*/libsynfire -B configured -DSYNFIRE_TESTS=OFF -DSYNFIRE_CUDA=OFF >/dev/null
fresh/bin/pip install --no-index --no-cache-dir --config-settings library=system dist/*.tar.gz
SYNFIRE_LIBRARY=$SYNFIRE_BUILD/lib works "assert synfire.has_files()"
fresh/bin/pip uninstall --yes synfire

# The library by CMake, as pip does it in a clone.
[ -n "${CI:-}" ] || { echo "skipped: the library is compiled once more where CI is set, as .ci/run does"; exit 0; }
beside=$(dirname "$SYNFIRE_BUILD") # there ccache knows what was compiled
TMPDIR=$beside "$SYNFIRE_PYTHON" -B "$backend" wheel built files=no cmake=-DSYNFIRE_WERROR=ON
fresh/bin/pip install --no-index --no-cache-dir built/*.whl
works "assert len(synfire.mine(synfire.Recording.from_arrays([0.0, 0.004], [0, 1]), min_count=1)) == 1"
must_fail fresh/bin/python -B -c "import synfire; assert synfire.has_files()" 2>/dev/null
