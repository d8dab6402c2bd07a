# SPDX-License-Identifier: Apache-2.0
# Every command explains itself, and wrong words get one sentence and exit code 64.
$SYNFIRE --version | grep -q '^synfire [0-9]'
commands=$($SYNFIRE --help | sed -n 's/^  \([a-z]*\) .*/\1/p' | grep -v synfire)
for command in $commands; do
    $SYNFIRE "$command" --help | grep -q "^usage: synfire $command "
    code=0; $SYNFIRE "$command" --no-such-option >out 2>err || code=$?
    [ $code = 64 ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -q "no-such-option" err
done
code=0; $SYNFIRE frobnicate 2>err || code=$?
[ $code = 64 ] && grep -q "no command 'frobnicate'" err
