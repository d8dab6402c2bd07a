# SPDX-License-Identifier: Apache-2.0
# For Linux of the system whose headers and libraries stand in SYNFIRE_SYSROOT (scripts/manylinux makes it), for
# SYNFIRE_MACHINE x86_64 or aarch64: by clang and lld, which compile for either. Programs and libraries get the archives of
# what they need, so that they ask the system for the C library alone.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SYNFIRE_SYSROOT SYNFIRE_MACHINE)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${SYNFIRE_MACHINE})
set(CMAKE_SYSROOT ${SYNFIRE_SYSROOT})
set(CMAKE_LIBRARY_ARCHITECTURE ${SYNFIRE_MACHINE}-linux-gnu)
set(CMAKE_C_COMPILER clang)
set(CMAKE_C_COMPILER_TARGET ${CMAKE_LIBRARY_ARCHITECTURE})
set(CMAKE_C_FLAGS_INIT -I${SYNFIRE_SYSROOT}/usr/include/hdf5/serial)
foreach(kind IN ITEMS EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT -fuse-ld=lld)
endforeach()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${SYNFIRE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR}
  ${SYNFIRE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pkgconfig:${SYNFIRE_SYSROOT}/usr/share/pkgconfig)
