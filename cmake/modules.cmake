# SPDX-License-Identifier: Apache-2.0
# One folder is one module: an object library `synfire_<module>`. `synfire` is the library of the analyses, which needs
# libc and libm only; `synfire_io` that of files, with what the public functions read and write them by; what the command
# alone calls (sources, sinks, tools) is in neither: LIBRARY command. A library exports what its map says (cmake/*.map, kept
# by scripts/exports): the functions of the public headers, and `synfire`, under a version of this very release, what
# `synfire_io` needs of it. Sources that keep no state (text, JSON, tables, numbers) are linked into both, hidden; what has
# state is in one, so that no process has it twice. The command, tests and benches link all objects as the archive
# `synfire_static`, and neither library.
foreach(list IN ITEMS synfire_MODULES synfire_io_MODULES command_MODULES synfire_STATELESS)
  set(${list} "" CACHE INTERNAL "")
endforeach()
set(SYNFIRE_LINKS "" CACHE INTERNAL "")
# What is installed finds its like from where it lies, so that an installed tree can be moved: the command its
# libraries, a library the programs that belong to it, those the plugin.
set(SYNFIRE_LIBEXECDIR ${CMAKE_INSTALL_FULL_LIBEXECDIR}/synfire)
file(RELATIVE_PATH SYNFIRE_BIN_TO_LIB ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH SYNFIRE_BIN_TO_LIBEXEC ${CMAKE_INSTALL_FULL_BINDIR} ${SYNFIRE_LIBEXECDIR})
file(RELATIVE_PATH SYNFIRE_LIB_TO_LIBEXEC ${CMAKE_INSTALL_FULL_LIBDIR} ${SYNFIRE_LIBEXECDIR})
file(RELATIVE_PATH SYNFIRE_LIBEXEC_TO_LIB ${SYNFIRE_LIBEXECDIR} ${CMAKE_INSTALL_FULL_LIBDIR})

file(RELATIVE_PATH SYNFIRE_LIB_TO_DATA ${CMAKE_INSTALL_FULL_LIBDIR} ${CMAKE_INSTALL_FULL_DATADIR})
file(RELATIVE_PATH SYNFIRE_BIN_TO_DATA ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_DATADIR})
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share/synfire) # what a build finds there is that of the sources
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/configs ${CMAKE_BINARY_DIR}/share/synfire/configs SYMBOLIC)

add_library(synfire_flags INTERFACE)
target_include_directories(synfire_flags INTERFACE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR})
target_include_directories(synfire_flags SYSTEM INTERFACE ${RANDOM123_INCLUDE})
target_compile_definitions(synfire_flags INTERFACE _GNU_SOURCE SYNFIRE_VERSION="${PROJECT_VERSION}")
target_compile_options(synfire_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wconversion -Wshadow>)
# What a library does not export is local to it once it is linked: calls need not allow for another definition.
target_compile_options(synfire_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-fno-semantic-interposition>)
target_link_libraries(synfire_flags INTERFACE Threads::Threads m ${CMAKE_DL_LIBS}) # before glibc 2.34 the last is a library
if(SYNFIRE_WERROR)
  target_compile_options(synfire_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-Werror>)
endif()
if(SYNFIRE_SANITIZE)
  target_compile_options(synfire_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-fsanitize=${SYNFIRE_SANITIZE} -fno-omit-frame-pointer>)
  target_link_options(synfire_flags INTERFACE -fsanitize=${SYNFIRE_SANITIZE})
endif()
if(SYNFIRE_FUZZ)
  target_compile_options(synfire_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-fsanitize=fuzzer-no-link>)
endif()

# synfire_module(NAME LIBRARY synfire|synfire_io|command SOURCES a.c ... [STATELESS_SOURCES b.c ...] [IO_SOURCES c.c ...]
# [LINKS target ...] [LIVE_SOURCES d.c ...] [LIVE_LINKS target ...]): IO_SOURCES and LINKS count only with SYNFIRE_IO,
# LIVE_SOURCES and LIVE_LINKS only with SYNFIRE_LIVE; STATELESS_SOURCES of `synfire` are in both libraries, and scripts/exports
# holds that none of them has a variable.
function(synfire_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LIBRARY" "SOURCES;STATELESS_SOURCES;IO_SOURCES;LINKS;LIVE_SOURCES;LIVE_LINKS")
  if(arg_STATELESS_SOURCES)
    add_library(synfire_${name}_stateless OBJECT ${arg_STATELESS_SOURCES})
    target_link_libraries(synfire_${name}_stateless PUBLIC synfire_flags)
    set(synfire_STATELESS ${synfire_STATELESS} synfire_${name}_stateless CACHE INTERNAL "")
  endif()
  set(sources ${arg_SOURCES})
  set(links "")
  if(SYNFIRE_IO)
    list(APPEND sources ${arg_IO_SOURCES})
    list(APPEND links ${arg_LINKS})
  endif()
  if(SYNFIRE_LIVE)
    list(APPEND sources ${arg_LIVE_SOURCES})
    list(APPEND links ${arg_LIVE_LINKS})
  endif()
  set(SYNFIRE_LINKS ${SYNFIRE_LINKS} ${links} CACHE INTERNAL "")
  if(NOT sources)
    return()
  endif()
  add_library(synfire_${name}_objects OBJECT ${sources})
  target_link_libraries(synfire_${name}_objects PUBLIC synfire_flags ${links})
  set(${arg_LIBRARY}_MODULES ${${arg_LIBRARY}_MODULES} synfire_${name}_objects CACHE INTERNAL "")
endfunction()

# synfire_shared(TARGET FILE_NAME [LINKS target ...]): the shared library of the modules that are in it.
function(synfire_shared library name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LINKS")
  set(objects "")
  foreach(module IN LISTS ${library}_MODULES synfire_STATELESS)
    list(APPEND objects $<TARGET_OBJECTS:${module}>)
  endforeach()
  add_library(${library} SHARED ${objects})
  set(map ${CMAKE_BINARY_DIR}/lib${name}.map)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/lib${name}.map ${map} @ONLY)
  set_target_properties(${library} PROPERTIES OUTPUT_NAME ${name} LINK_DEPENDS ${map}
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib INSTALL_RPATH "\$ORIGIN")
  target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${library} PRIVATE synfire_flags ${arg_LINKS})
  target_link_options(${library} PRIVATE -Wl,--version-script=${map} -Wl,-Bsymbolic -Wl,--as-needed)
  if(NOT SYNFIRE_SANITIZE)
    target_link_options(${library} PRIVATE -Wl,--no-undefined)
  endif()
  # Relative to the file, so that an installed tree can be moved.
  file(RELATIVE_PATH SYNFIRE_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  configure_file(${CMAKE_SOURCE_DIR}/cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
  install(TARGETS ${library} EXPORT synfire
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${library} # a DLL
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${library} NAMELINK_COMPONENT dev)
endfunction()

function(synfire_library)
  set(objects "")
  foreach(module IN LISTS synfire_MODULES synfire_io_MODULES command_MODULES synfire_STATELESS)
    list(APPEND objects $<TARGET_OBJECTS:${module}>)
  endforeach()
  add_library(synfire_static STATIC ${objects})
  target_link_libraries(synfire_static PUBLIC synfire_flags ${SYNFIRE_LINKS})

  synfire_shared(synfire synfire)
  if(SYNFIRE_IO)
    synfire_shared(synfire_io synfire-io LINKS ${SYNFIRE_LINKS})
    target_link_libraries(synfire_io PUBLIC synfire)
  endif()
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/synfire DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
  install(EXPORT synfire NAMESPACE synfire:: FILE synfireTargets.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/synfire
    COMPONENT dev)
  include(CMakePackageConfigHelpers)
  write_basic_package_version_file(synfireConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  file(CONFIGURE OUTPUT synfireConfig.cmake CONTENT "include(\${CMAKE_CURRENT_LIST_DIR}/synfireTargets.cmake)\n" @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/synfireConfig.cmake ${CMAKE_BINARY_DIR}/synfireConfigVersion.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/synfire COMPONENT dev)
endfunction()
