# SPDX-License-Identifier: Apache-2.0
# README's command lines, as they stand: the demo from a clone whose build is this one, installing into a home folder, and
# what it says of the installed command. A line that this script does not know fails it, as does one that README lost.
. "$E2E/functions.sh"
readme=$SYNFIRE_SOURCE/README.md
sed -n 's/^    \(\(scripts\/\|cmake \|synfire \).*\)/\1/p' "$readme" >lines
printf '%s\n' scripts/demo scripts/build 'cmake --install build/release --prefix ~/.local' scripts/test | cmp - lines

# A clone in which everything is there but building, which has been done.
mkdir -p clone/scripts clone/build home
cp "$SYNFIRE_SOURCE/scripts/demo" clone/scripts/
printf '#!/bin/sh\necho "$@" >>built\n' >clone/scripts/build
chmod +x clone/scripts/build
ln -s "$SYNFIRE_BUILD" clone/build/release
ln -s "$SYNFIRE_SOURCE/configs" clone/configs
export HOME=$PWD/home
cd clone
for line in 1 2 3; do
    bash -c "$(sed -n ${line}p ../lines)" </dev/null >>../said 2>../err || { cat ../err; exit 1; }
done
[ "$(sed -n 1p built)" = "release synfire_command" ]
[ "$(wc -l <built)" = 2 ]
cd ..
[ -x "$SYNFIRE_SOURCE/scripts/build" ]
[ -x "$SYNFIRE_SOURCE/scripts/test" ]

# What the demo ends with is what README shows; of the page before, the window, which thirty times real time leaves as it is.
sed -n '/^    planted chain/,/^$/s/^    //p' "$readme" | grep . >shown
[ "$(wc -l <shown)" = 3 ]
while IFS= read -r line; do
    grep -qxF -- "$line" said || { echo "README shows what is not printed: $line"; tail -n 5 said; exit 1; }
done <shown
grep -q '^    demo  26 units  window 148.0-178.0 s  16053 spikes  535 Hz$' "$readme"
[ "$(grep -c '^demo  26 units  window ' said)" -ge 10 ] # a page that comes late is passed over
if grep '^demo  26 units  window 148.0-178.0 s' said >page; then grep -q '  16053 spikes  535 Hz' page; fi
sed -n '/^    count/,/^    \.\.\./p' "$readme" | awk '$2 ~ /^[0-9.]+$/ { print $1, $2 }' >counts
[ "$(wc -l <counts)" = 2 ]
while read -r count chance; do
    grep -Eq "^ +$count +$chance " said || { echo "README shows a count of $count by $chance, which is not printed"; exit 1; }
done <counts

# Commands in the text: each is known here, and works in an empty folder for one who has the PATH that README names.
tr '\n' ' ' <"$readme" | grep -oE '`(synfire|cmake|man) [^`]*`' | tr -d '`' | tr -s ' ' | sort -u >inline
printf '%s\n' 'cmake --build build/release --target uninstall' 'man synfire' 'synfire --help' 'synfire COMMAND --help' \
    'synfire run' 'synfire run monitoring' | sort -u | cmp - inline
mkdir empty && cd empty
PATH=$HOME/.local/bin:$PATH
[ "$(command -v synfire)" = "$HOME/.local/bin/synfire" ]
synfire --help | grep -q 'usage: synfire'
synfire run monitoring --check >resolved
grep -q 'sources' resolved
[ -s "$HOME/.local/share/man/man1/synfire.1" ]
if command -v man >/dev/null; then
    [ "$(man -w synfire)" = "$HOME/.local/share/man/man1/synfire.1" ]
fi
cmake --build "$SYNFIRE_BUILD" --target help >targets
grep -q "^uninstall" targets
[ -s "$HOME/.local/share/doc/synfire/guide.md" ]
