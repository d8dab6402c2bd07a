# SPDX-License-Identifier: Apache-2.0
# What commands print with --json of real recordings, whole and in part, is as docs/schema says.
. "$E2E/functions.sh"
has_data recordings || exit 77

documents=0
# holds COMMAND...: keeps its document; what has nothing to tell of a recording may refuse it.
holds() {
    local status=0
    documents=$((documents + 1))
    "$SYNFIRE" "$@" --json >"document-$documents.json" 2>err || status=$?
    case $status in
    0) ;;
    65) rm "document-$documents.json" ;;
    *) echo "$*"; cat err; return 1 ;;
    esac
}

mine="--delay 0.5:20 --min-count 50"
for recording in "$SYNFIRE_DATA"/recordings/*; do
    [[ $recording != *maxtwo* ]] || recording+=" --stream well001/rec0000" # of twelve
    holds info $recording
    [ -e "document-$documents.json" ] || continue
    part="$recording --from +0 --to +60"
    holds mine $part $mine --max-size 3 --top 100
    holds mine $part $mine --max-size 2 --top 100 --significance segment-shift --surrogates 20 --quiet
    holds graph $part --metric sttc --surrogates 20 --quiet
    holds graph $part $mine --quiet
    holds bfs $part $mine --source '#0' --quiet
    holds match $part $mine feed-forward-loop --limit 100 --quiet
    holds match $part $mine census --quiet
    holds bandwidth $part --quantity isi --quiet
    holds bandwidth $part --quantity rate --quiet
done
echo "$(ls document-*.json | wc -l) documents of $documents"
[ "$(ls document-*.json | wc -l)" -ge 60 ]
python3 -B "$E2E/schema.py" document-*.json
