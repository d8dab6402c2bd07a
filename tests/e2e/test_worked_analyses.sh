# SPDX-License-Identifier: Apache-2.0
# docs/worked-analyses.md, and the worked examples of other pages: lines run on the public recordings, and each line that is
# shown is printed.
. "$E2E/functions.sh"
has_data recordings || exit 0
ln -s "$SYNFIRE_DATA/recordings" recordings
ln -s recordings/*.h5 .
synfire() { "$SYNFIRE" "$@"; }

# hold PAGE COMMANDS LINES: lines with ... are left out; the section of worked examples, or the whole of a page that is nothing else, has so many commands
# and so many lines of output at least.
hold() {
    local page=$SYNFIRE_SOURCE/docs/$1.md command
    : >printed
    sed -n '/^## A worked example/,/^## [^A]/p' "$page" >section
    [ -s section ] || cp "$page" section
    sed 's/^    //; t; s/.*//' section | sed -e ':joined' -e '/\\$/N; s/\\\n *//; t joined' | sed -n 's/^\$ //p' >commands
    [ "$(wc -l <commands)" = "$2" ]
    while read -r command; do
        eval "$command" >>printed </dev/null
    done <commands
    sed 's/ *$//' printed >stripped
    sed -e ':joined' -e '/\\$/N; s/\\\n *//; t joined' section | sed -n 's/^    //p' | grep -v -e '^\$ ' -e '\.\.\.' -e '^$' | sed 's/ *$//' >shown
    [ "$(wc -l <shown)" -ge "$3" ]
    while IFS= read -r line; do
        grep -qxF -- "$line" stripped || { echo "docs/$1.md shows what is not printed: $line" >&2; exit 1; }
    done <shown
}

hold worked-analyses 5 13
grep -q '<svg' isi.svg
hold bursts 1 1
hold sequences 1 7
hold criticality 1 4
hold network 1 8
hold drive 2 6
hold responses 2 1
