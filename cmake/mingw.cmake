# SPDX-License-Identifier: Apache-2.0
# For Windows on x86-64, by Debian's and Ubuntu's gcc-mingw-w64-x86-64-posix. What comes of it needs no other DLL than
# those of Windows.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SYNFIRE_TREE)
if(SYNFIRE_TREE) # where scripts/windows built what the command needs
  list(PREPEND CMAKE_FIND_ROOT_PATH ${SYNFIRE_TREE})
  set(ENV{PKG_CONFIG_LIBDIR} ${SYNFIRE_TREE}/lib/pkgconfig)
  set(ZLIB_USE_STATIC_LIBS ON)
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
# Formats are those of C here and gcc holds them against Microsoft's; isnan and its like are macros that cast.
set(CMAKE_C_FLAGS_INIT "-Wno-format -Wno-float-conversion")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-static")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static")
