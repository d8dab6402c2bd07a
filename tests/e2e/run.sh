#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs one test script in a fresh folder; the script exits 77 to be skipped.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export E2E=$(dirname "$1")
# The python that has the packages which apt installs, whatever else is first on the path.
for PYTHON in python3 /usr/bin/python3; do
    "$PYTHON" -c 'import h5py, msgpack, zmq' 2>/dev/null && break
done
export PYTHON
bash -eu ${E2E_TRACE:+-x} -o pipefail "$1"
