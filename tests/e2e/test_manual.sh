# SPDX-License-Identifier: Apache-2.0
# Every command and alias has a manual page, with every option of its --help; and bash and zsh complete commands, options,
# the words that options take, and file names with spaces.
. "$E2E/functions.sh"
mkdir -p share/man/man1
$SYNFIRE --manual share/man/man1
cd share/man/man1
$SYNFIRE --help | sed -n 's|^  \([a-z]\{1,11\}\)  *\([a-z0-9].*\)$|\1 \2|p' | grep -v '^synfire ' >commands
[ "$(wc -l <commands)" -ge 15 ]
while read -r command summary; do
    grep -q "^\.BR synfire.-$command (1)" synfire.1
    $SYNFIRE "$command" --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p' | sort -u >options
    [ "$(wc -l <options)" -ge 4 ]
    sed -n 's/^\\fB\(\\-\\-[^ ]*\)\\fR.*/\1/p' "synfire-$command.1" | tr -d '\\' | sort -u | diff options -
    alias=$(sed -n 's/.*(also: \([a-z]*\))$/\1/p' <<<"$summary")
    [ -z "$alias" ] || grep -qx ".so man1/synfire-$command.1" "synfire-$alias.1"
done <commands
[ "$(ls ./*.1 | wc -l)" = $(($(wc -l <commands) + $(grep -c 'also:' commands) + 1)) ]
grep -q 'EXIT STATUS' synfire.1
cd ../../..
expect 73 "nowhere" "$SYNFIRE" --manual nowhere

$SYNFIRE --completion >completion
bash -n completion
offered() { # prints what bash would offer for the words given
    bash -c '. ./completion; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _synfire; printf "%s\n" "${COMPREPLY[@]}"' \
        bash "$@" | tr '\n' ' '
}
[ "$(offered synfire simu)" = 'simulate ' ]
[ "$(offered synfire rea)" = 'reach ' ]
[ "$(offered synfire help mi)" = 'mine ' ]
[ "$(offered synfire simulate --pre)" = '--preset ' ]
[ "$(offered synfire simulate --preset '')" = 'sym26 ' ]
[ "$(offered synfire mine a.h5 --preset ret)" = 'retina-waves retina-adult ' ]
[ "$(offered synfire mine a.h5 --preset = cor)" = 'cortex ' ]
[ "$(offered synfire reach --sou)" = '--source ' ]
[ "$(offered synfire motif a.h5 b --semantics '')" = 'isomorphism induced homomorphism ' ]
[ "$(offered synfire info --li)" = '--list ' ]
[ "$(offered synfire play --li)" = ' ' ]
[ "$(offered synfire info sha)" = ' ' ] # a file: readline's own
[ "$(offered synfire plot t)" = 'tiling ' ]
[ "$(offered synfire plot --wid)" = '--width ' ]
[ "$(offered synfire plot tiling t)" = ' ' ] # a file
[ "$(offered synfire match two.el feed)" = 'feed-forward-loop ' ]
[ "$(offered synfire match t)" = ' ' ] # a file
[ "$(offered synfire mine --device '')" = 'auto cpu cuda ' ]
[ "$(offered synfire run --set window.l)" = 'window.length_s ' ]
[ "$(offered synfire run --set = mine.max_s)" = 'mine.max_size ' ]
printf 'sources: []\n' >any.yaml
for key in $(offered synfire record --set ''); do # a key that there is, whatever it may be
    if "$SYNFIRE" run any.yaml --check --set "$key=1" 2>&1 | grep -q 'there is no key'; then exit 1; fi
done
# The words offered are words that are taken: presets, engines, ways to choose a bandwidth.
printf 'a,1\nb,1.1\na,2\nb,2.1\n' >two.csv
taken() { "$SYNFIRE" "$@" >/dev/null 2>&1 || [ $? = 65 ]; } # it may not go with these spikes
for preset in $(offered synfire info --preset ''); do taken info two.csv --preset "$preset"; done
for engine in $(offered synfire mine --engine ''); do
    taken mine two.csv --delay 50:150 --min-count 1 --engine "$engine" --device cpu
done
printf '0 1\n1 2\n0 2\n' >two.el
[ "$(offered synfire match two.el '' | wc -w)" = 19 ]
for pattern in $(offered synfire match two.el ''); do "$SYNFIRE" match two.el "$pattern" >/dev/null; done
seq 1 200 | awk '{print sin($1)}' >numbers
for method in $(offered synfire bandwidth --method ''); do taken bandwidth numbers --method "$method"; done

# In a shell on a terminal: what is typed, a tab, and what the command then gets.
mkdir -p 'my data' bin share/synfire/configs site-functions
touch 'my data/first day.h5' "it's.h5" share/synfire/configs/monitoring.yaml
cp completion site-functions/_synfire
printf '#!/bin/sh\nprintf "<%%s>" "$@" >>got\necho >>got\n' >bin/synfire
chmod +x bin/synfire
type_into() { # FIRST LINE, SHELL...
    rm -f got
    PATH=$PWD/bin:$PATH ZDOTDIR=$PWD timeout 100 python3 - "$@" <<'END'
import os, pty, select, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.environ.update(PS1="", TERM="dumb", INPUTRC="/dev/null")
    os.execvp(sys.argv[2], sys.argv[2:])
def typed(text):
    os.write(terminal, text.encode())
typed(sys.argv[1] + "\n")
lines = ["info my\\ d\tf\t", "info 'my data/f\t", 'info "my data/f\t', "info it\t", "mine a --preset hd\t", "mine a --preset=hd\t", "run monit\t",
         "run --replay my\\ data/f\t", "mot\ta.h5"]
for number, line in enumerate(("synfire " + line for line in lines), 1):
    for part in line.split("\t")[:-1]:
        typed(part + "\t")
        time.sleep(0.05)
    typed(line.split("\t")[-1] + "\n")
    while not os.path.exists("got") or len(open("got").read().splitlines()) < number:
        if select.select([terminal], [], [], 0.05)[0]:
            os.read(terminal, 65536)
typed("exit\n")
got = open("got").read().splitlines()
expected = ["<info><my data/first day.h5>"] * 3 + ["<info><it's.h5>", "<mine><a><--preset><hd-mea>", "<mine><a><--preset=hd-mea>",
            "<run><monitoring>", "<run><--replay><my data/first day.h5>", "<motif><a.h5>"]
assert got == expected, (sys.argv, got, expected)
END
}
type_into "bind 'set bell-style none'; . ./completion" bash --norc --noprofile -i
if command -v zsh >/dev/null; then
    # taken from the folder where zsh looks for it, and read in by hand
    type_into 'fpath=($PWD/site-functions $fpath); autoload -Uz compinit; compinit -u -D' zsh -f -i
    type_into 'autoload -Uz compinit; compinit -u -D; . ./completion' zsh -f -i
else
    echo "no zsh"
    echo "skipped: completion in zsh (Debian's package zsh)"
fi
