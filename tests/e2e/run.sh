#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs one test script in a fresh folder; the script exits 77 to be skipped, and the line that ends
# it is told.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export E2E=$(dirname "$1")
export SYNFIRE_DATA=${SYNFIRE_DATA:-$SYNFIRE_BUILT_DATA}
BASH_ENV=$E2E/tell.sh bash -eu ${E2E_TRACE:+-x} -o pipefail "$1"
