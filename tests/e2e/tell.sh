# SPDX-License-Identifier: Apache-2.0
# Read by bash before a test script: the command that ends it is told, in a function too.
unset BASH_ENV
set -E
trap '[ $BASH_SUBSHELL -gt 0 ] || echo "failed at line $LINENO: $BASH_COMMAND" >&2' ERR
