# SPDX-License-Identifier: Apache-2.0
# Every line of the guide that begins with $ works, in order, and its tables without times are those it prints.
guide=$SYNFIRE_SOURCE/docs/guide.md
PATH=$(dirname "$SYNFIRE"):$PATH # as people type it
sed -n 's/^    \$ //p' "$guide" >commands
[ "$(wc -l <commands)" -ge 9 ]
while read -r command; do
    echo "\$ $command" >&2
    bash -c "$command" >>printed </dev/null
done <commands

# What the guide shows of results: its indented lines, but for prompts, elisions, times and what is no output.
sed -n 's/^    //p' "$guide" | grep -vE '^\$ |\.\.\.$|^synfire|seconds$|engine interval|^ +[0-9]+ +[0-9]+ +[0-9]+ +[0-9.e-]+$' |
    sed 's/ *$//' | grep . >shown
sed 's/ *$//' printed >stripped
while IFS= read -r line; do
    grep -qxF -- "$line" stripped || { echo "the guide shows what is not printed: $line" >&2; exit 1; }
done <shown
