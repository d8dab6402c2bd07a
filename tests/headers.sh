#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# headers.sh FOLDER LANGUAGE STANDARD [COMPILER]: each public header compiles alone, twice in one file, without a
# warning. Without a compiler of that language it is skipped, by name.
set -eu
folder=$1 language=$2 standard=$3 compiler=${4:-}
case $compiler in
'' | *-NOTFOUND)
    echo "skipped whole: no compiler of $language here"
    exit 77
    ;;
esac
count=0
for header in "$folder"/synfire/*.h; do
    name=synfire/$(basename "$header")
    printf '#include <%s>\n#include <%s>\n' "$name" "$name" |
        "$compiler" -x "$language" -std="$standard" -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror \
            -fsyntax-only -I "$folder" -
    count=$((count + 1))
done
[ "$count" -ge 4 ]
