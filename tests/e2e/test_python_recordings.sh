# SPDX-License-Identifier: Apache-2.0
# On real recordings the Python package gives what the command prints, and refuses what the command refuses.
. "$E2E/functions.sh"
has_data recordings || exit 77
need_package
"$SYNFIRE_PYTHON" -B "$PACKAGE_TESTS/commands.py" "$SYNFIRE_DATA"/recordings/*
