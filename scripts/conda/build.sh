#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What conda-build runs: the command and the libraries into the prefix, and the Python package, which finds them there.
set -eu
# conda-forge has no liblo: an archive of it, that goes into the libraries.
liblo=$PWD/build/liblo
cmake -S liblo/cmake -B build/conda-liblo -G Ninja ${CMAKE_ARGS:-} -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$liblo" \
    -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DWITH_STATIC=ON -DWITH_TOOLS=OFF \
    -DWITH_TESTS=OFF -DWITH_CPP_TESTS=OFF -DWITH_EXAMPLES=OFF
cmake --build build/conda-liblo -j "${CPU_COUNT:-2}"
cmake --install build/conda-liblo
rm "$liblo"/lib/liblo.so*

PKG_CONFIG_PATH=$liblo/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH} \
    cmake -S . -B build/conda -G Ninja ${CMAKE_ARGS:-} -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib \
    -DRANDOM123_INCLUDE="$PWD/random123/include" -DSYNFIRE_TESTS=OFF -DSYNFIRE_CUDA=OFF
cmake --build build/conda -j "${CPU_COUNT:-2}"
cmake --install build/conda
"$PYTHON" -B python/backend.py wheel dist/conda library=system
"$PYTHON" -m pip install --no-deps --no-index --no-build-isolation dist/conda/*.whl
