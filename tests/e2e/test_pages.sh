# SPDX-License-Identifier: Apache-2.0
# The manual pages format without a warning.
if command -v man >/dev/null; then
    mkdir -p share/man/man1
    $SYNFIRE --manual share/man/man1
    LC_ALL=C.UTF-8 MANWIDTH=100 man -M share/man --warnings=all -a $(basename -s .1 share/man/man1/*) >page 2>warnings
    [ ! -s warnings ] || { cat warnings; exit 1; }
    grep -q 'simulate \[options\] OUT.h5' page
fi

# The command lines of the documentation run as they stand, page by page, on the demo's recording.
synfire() { "$SYNFIRE" "$@"; }
for page in "$SYNFIRE_SOURCE"/docs/*.md; do
    # Players, recorders and who asks a run need a partner, which the tests of streams give them.
    grep -E '^    (synfire|echo) ' "$page" | grep -vE '^    synfire (play|record|top|doctor --loop|run [^-]|aggregate --from-state tcp:)' >lines || continue
    rm -rf page && mkdir page && pushd page >/dev/null
    synfire simulate demo.h5 --preset sym26 --quiet >/dev/null
    synfire simulate long.h5 --preset sym26 --duration 240 --quiet >/dev/null
    while read -r line; do
        eval "$line" >out </dev/null || { echo "$page: $line" >&2; exit 1; }
        [ -s out ] || [[ $line == *'>'*.txt ]]
    done <../lines
    popd >/dev/null
done
