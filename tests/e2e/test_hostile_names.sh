# SPDX-License-Identifier: Apache-2.0
# Whatever comes from outside is escaped before a terminal or a log sees it.
. "$E2E/functions.sh"
need_python
"$SYNFIRE_PYTHON" "$E2E/hostile_names.py" "$SYNFIRE"
