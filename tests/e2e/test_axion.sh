# SPDX-License-Identifier: Apache-2.0
# Files of AxIS, of plates of 6 to 96 wells and with both kinds of headers, as a reader in Python has them; refusals.
. "$E2E/functions.sh"
need_python
"$SYNFIRE_PYTHON" -B "$E2E/axion.py" compare

"$SYNFIRE_PYTHON" -B "$E2E/axion.py" raw voltages.raw
expect 65 "no spike times: this file of AxIS holds voltages; detect spikes in AxIS Navigator, and open the .spk file" "$SYNFIRE" info voltages.raw
head -c 100000 plate0.spk >cut.spk
expect 65 "it was cut off or changed; copy it again from AxIS" "$SYNFIRE" info cut.spk
printf '@\1\1\1\1\1\1\1' >old.spk
expect 65 "it does not begin with AxionBio" "$SYNFIRE" info old.spk
expect 73 "which is not replaced" "$SYNFIRE" simulate plate0.spk --unit-count 2 --rate 1 --duration 1

# Each of its wells is a recording.
$SYNFIRE info plate0.spk --stream '*' --json --quiet >lines
"$SYNFIRE_PYTHON" - <<'END'
import json
told = [json.loads(line) for line in open("lines")]
assert len(told) == 6 and sum(well["spikes"] for well in told) == 4000
assert [well["unit_detail"][0]["name"][:2] for well in told] == ["A1", "A2", "A3", "B1", "B2", "B3"]
END
