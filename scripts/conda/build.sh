#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What conda-build runs: the command and the libraries into the prefix, and the Python package, which finds them there.
set -eu
cmake -S . -B build/conda -G Ninja ${CMAKE_ARGS:-} -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib \
    -DSYNFIRE_TESTS=OFF -DSYNFIRE_CUDA=OFF
cmake --build build/conda -j "${CPU_COUNT:-2}"
cmake --install build/conda
"$PYTHON" -B python/backend.py wheel dist/conda library=system
"$PYTHON" -m pip install --no-deps --no-index --no-build-isolation dist/conda/*.whl
