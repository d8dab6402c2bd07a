# SPDX-License-Identifier: Apache-2.0
# Everything outside the repository, as imported targets; versions are in docs/operations.md.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_path(RANDOM123_INCLUDE Random123/philox.h HINTS /usr/include REQUIRED)
if(CMAKE_CROSSCOMPILING) # the headers of this system are not for the other
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/headers)
  file(CREATE_LINK ${RANDOM123_INCLUDE}/Random123 ${CMAKE_BINARY_DIR}/headers/Random123 SYMBOLIC)
  set(RANDOM123_INCLUDE ${CMAKE_BINARY_DIR}/headers)
endif()

if(SYNFIRE_IO)
  pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
  pkg_check_modules(LIBMD REQUIRED IMPORTED_TARGET libmd)
  pkg_check_modules(EXPAT REQUIRED IMPORTED_TARGET expat)
  set(SYNFIRE_MATIO "")
  option(SYNFIRE_MAT "Read MATLAB files of v5 to v7 where libmatio is found" ON)
  if(SYNFIRE_MAT)
    pkg_check_modules(MATIO IMPORTED_TARGET matio)
    if(MATIO_FOUND)
      set(SYNFIRE_MATIO PkgConfig::MATIO)
    endif()
  endif()
  pkg_check_modules(CAIRO IMPORTED_TARGET cairo) # optional: figures as PDF and PNG
  find_package(ZLIB REQUIRED) # images in SVG; HDF5 needs it, too
  if(CMAKE_CROSSCOMPILING) # FindHDF5 would ask the compiler wrapper of this system
    pkg_check_modules(HDF5 REQUIRED hdf5-serial)
    set(HDF5_C_INCLUDE_DIRS ${HDF5_INCLUDE_DIRS})
    set(HDF5_C_LIBRARIES ${HDF5_LINK_LIBRARIES} sz aec z dl)
    if(WIN32) # one that scripts/windows built
      set(HDF5_C_LIBRARIES ${HDF5_LINK_LIBRARIES} ZLIB::ZLIB)
    endif()
  else()
    set(HDF5_PREFER_PARALLEL OFF)
    find_package(HDF5 REQUIRED COMPONENTS C)
  endif()
  add_library(synfire_hdf5 INTERFACE)
  target_include_directories(synfire_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
  target_link_libraries(synfire_hdf5 INTERFACE ${HDF5_C_LIBRARIES})
endif()

if(SYNFIRE_LIVE)
  pkg_check_modules(ZMQ REQUIRED IMPORTED_TARGET libzmq)
  pkg_check_modules(LIBLO REQUIRED IMPORTED_TARGET liblo)
  pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
  pkg_check_modules(HIREDIS IMPORTED_TARGET hiredis) # optional: the source and player `brand`
  set(SYNFIRE_HIREDIS "")
  if(HIREDIS_FOUND)
    set(SYNFIRE_HIREDIS PkgConfig::HIREDIS)
    find_path(HIREDIS_HEADERS hiredis/hiredis.h HINTS ${HIREDIS_INCLUDEDIR}/.. REQUIRED)
    set(HIREDIS_INCLUDEDIR ${HIREDIS_HEADERS})
  endif()
  pkg_check_modules(WEBSOCKETS IMPORTED_TARGET libwebsockets) # optional: the page
  find_library(MSGPACK_LIBRARY NAMES msgpackc msgpack-c REQUIRED)
  find_path(MSGPACK_INCLUDE msgpack.h REQUIRED)
  add_library(synfire_msgpack INTERFACE)
  target_include_directories(synfire_msgpack SYSTEM INTERFACE ${MSGPACK_INCLUDE})
  target_link_libraries(synfire_msgpack INTERFACE ${MSGPACK_LIBRARY})
endif()

# Without the flags of what they are linked with themselves: CMake 3.25 tells those of libzmq otherwise at each configuration,
# and of a library that is installed later, as after scripts/demo, only the sources that include it are to be compiled again.
foreach(name IN ITEMS ZMQ HIREDIS MATIO)
  if(${name}_FOUND)
    set_target_properties(PkgConfig::${name} PROPERTIES
      INTERFACE_COMPILE_OPTIONS "" INTERFACE_INCLUDE_DIRECTORIES "${${name}_INCLUDEDIR}")
  endif()
endforeach()

if(SYNFIRE_IO AND NOT SYNFIRE_LIVE) # tests of files send and record, too
  set(SYNFIRE_TESTS OFF)
endif()
if(SYNFIRE_TESTS)
  pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
  if(NOT CMOCKA_FOUND)
    message(STATUS "There is no cmocka here: tests and benchmarks are not built")
    set(SYNFIRE_TESTS OFF)
  endif()
endif()

# The Python of tests and examples: the first on PATH may not be the system's, whose packages have the modules.
if(SYNFIRE_TESTS AND NOT SYNFIRE_PYTHON)
  foreach(candidate IN ITEMS python3 /usr/bin/python3)
    execute_process(COMMAND ${candidate} -c "import h5py, msgpack, zmq" RESULT_VARIABLE failure OUTPUT_QUIET ERROR_QUIET)
    if(failure EQUAL 0)
      set(SYNFIRE_PYTHON ${candidate} CACHE STRING "Python with h5py, msgpack and zmq, for the tests")
      break()
    endif()
  endforeach()
endif()
