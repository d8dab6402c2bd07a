# SPDX-License-Identifier: Apache-2.0
# Files that declare more than they hold: one sentence, at once, in less than 256 MiB.
. "$E2E/functions.sh"
need_python
known=
has_data hostile && known=$SYNFIRE_DATA/hostile
"$SYNFIRE_PYTHON" "$E2E/hostile.py" "$SYNFIRE" $known
