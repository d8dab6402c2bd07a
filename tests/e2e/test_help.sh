# SPDX-License-Identifier: Apache-2.0
# Every command explains itself in one form, and wrong words get one sentence and exit code 64.
$SYNFIRE --version | grep -q '^synfire [0-9]'
$SYNFIRE --help | sed -n 's/^  \([a-z]\{1,11\}\) *\([^ ].*\)$/\1 \2/p' | grep -v '^synfire ' >commands
[ "$(wc -l <commands)" -ge 12 ]
$SYNFIRE --help | grep -E "^  [a-z]+ +[^ ]" | grep -v "^  synfire " >rows
[ -z "$(grep -vE "^  [a-z]+  +[^ ]" rows)" ] # two blanks keep every name apart from its summary
while read -r command summary; do
    [[ $summary =~ ^[a-z0-9].*[^.]$ ]] || { echo "$command: a summary begins small and has no full stop" >&2; exit 1; }
    $SYNFIRE "$command" --help >help
    grep -q "^usage: synfire $command " help
    [ -z "$(tail -n +2 help | head -n -1 | grep -E '^.{101}')" ] # but for usage and example, no line over 100
    tail -n 1 help | grep -q "^  .*synfire $command\b" # the example
    code=0; $SYNFIRE "$command" --no-such-option >out 2>err || code=$?
    [ $code = 64 ]
    [ ! -s out ]
    [ "$(wc -l <err)" = 1 ]
    grep -q "no-such-option" err
done <commands

# Every example works as it stands, on what the first one makes. Only a live one does not take its time here nor the
# port that people use, and record's needs a sender: test_run.sh has one; nor is there a run for top, which test_control.sh asks.
synfire() { "$SYNFIRE" "$@"; }
ln -s "$SYNFIRE_SOURCE/configs"
for command in $(cut -d' ' -f1 commands | grep -vwE 'record|top'); do
    rm -f demo.h5
    synfire simulate --help | sed '1,/^Example/d' >example
    . ./example >out
    synfire "$command" --help | sed \
        '1,/^Example/d; s/--speed 10/--speed max/; s|synfire play|& --to tcp://127.0.0.1:0|' >example
    . ./example >out || [ $command = doctor ] || { cat example; exit 1; } # which may be right about this machine
    [ -s out ]
done

code=0; $SYNFIRE frobnicate 2>err || code=$?
[ $code = 64 ]
grep -q "no command 'frobnicate'" err
