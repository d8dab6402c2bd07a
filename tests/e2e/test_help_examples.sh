# SPDX-License-Identifier: Apache-2.0
# The example at the end of every command's help works as it stands.
PATH=$(dirname "$SYNFIRE"):$PATH # as people type it
ln -s "$SYNFIRE_SOURCE/configs" configs
synfire simulate demo.h5 --preset sym26 >/dev/null
synfire graph demo.h5 --delay 4:6 --min-count 60 --out demo.graphml >/dev/null
echo 'A -(4,6]-> B -(4,6]-> C' >chains.txt
awk 'BEGIN { for (i = 1; i <= 500; i++) print 0.005 * -log(1 - (i - 0.5) / 500) }' >intervals.txt

examples=0
for command in $(synfire --help | sed -n 's/^  \([a-z]\{1,10\}\) .*/\1/p' | grep -v synfire); do
    example=$(synfire "$command" --help | tail -n 1)
    echo "\$$example" >&2
    sender=
    if [ "$command" = record ]; then # the one example that needs a partner
        synfire play demo.h5 --speed max --quiet >/dev/null &
        sender=$!
    fi
    bash -c "$example" </dev/null >out 2>err || { cat err >&2; exit 1; }
    [ -s out ]
    [ -z "$sender" ] || wait "$sender"
    examples=$((examples + 1))
done
[ $examples -ge 14 ]
