# SPDX-License-Identifier: Apache-2.0
# The manual page names every command and formats without a warning; the completion completes.
$SYNFIRE --manual >synfire.1
commands=$($SYNFIRE --help | sed -n 's/^  \([a-z]*\) .*/\1/p' | grep -v synfire)
for command in $commands; do
    grep -q "^\.SS \"synfire $command " synfire.1
done
if command -v man >/dev/null; then
    MANWIDTH=100 man --warnings=all -l synfire.1 >page 2>warnings
    [ ! -s warnings ]
    grep -q 'EXIT STATUS' page
fi

$SYNFIRE --completion >completion
bash -n completion
complete_words() { # prints what bash would offer for the words given
    bash -c '. ./completion; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _synfire; printf "%s\n" "${COMPREPLY[@]}"' \
        bash "$@"
}
[ "$(complete_words synfire simu)" = simulate ]
[ "$(complete_words synfire simulate --pre)" = --preset ]
[ "$(complete_words synfire reach --sou)" = --source ]
[ "$(complete_words synfire info synfire.)" = synfire.1 ]

# The command lines of the documentation run as they stand, page by page, on the demo's recording.
synfire() { "$SYNFIRE" "$@"; }
for page in "$SYNFIRE_SOURCE"/docs/*.md; do
    # Players and recorders need a partner, which the tests of streams give them.
    grep -E '^    (synfire|echo) ' "$page" | grep -vE '^    synfire (play|record|run [^-])' >lines || continue
    rm -rf page && mkdir page && pushd page >/dev/null
    synfire simulate demo.h5 --preset sym26 --quiet >/dev/null
    while read -r line; do
        eval "$line" >out </dev/null || { echo "$page: $line" >&2; exit 1; }
        [ -s out ] || [[ $line == *'>'*.txt ]]
    done <../lines
    popd >/dev/null
done
