# SPDX-License-Identifier: Apache-2.0
# docs/worked-analyses.md: its lines run on the public recordings, and each line that it shows is printed.
. "$E2E/functions.sh"
has_data recordings || exit 0
page=$SYNFIRE_SOURCE/docs/worked-analyses.md
ln -s "$SYNFIRE_DATA/recordings" recordings
synfire() { "$SYNFIRE" "$@"; }
sed -n 's/^    \$ //p' "$page" >commands
[ "$(wc -l <commands)" = 5 ]
while read -r command; do
    eval "$command" >>printed </dev/null
done <commands
grep -q '<svg' isi.svg
sed 's/ *$//' printed >stripped
sed -n 's/^    //p' "$page" | grep -v '^\$ ' | sed 's/ *$//' >shown
[ "$(wc -l <shown)" -ge 13 ]
while IFS= read -r line; do
    grep -qxF -- "$line" stripped || { echo "the page shows what is not printed: $line" >&2; exit 1; }
done <shown
