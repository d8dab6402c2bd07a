# SPDX-License-Identifier: Apache-2.0
# Debian packages, one for each component: the program, the two libraries by their sonames, what programs are built
# with, the package for Python, and, where they were built, the CUDA backend and synfire-mpi. scripts/package calls cpack.
set(soname ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME synfire)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each component has its own
set(CPACK_PACKAGE_CONTACT "The synfire developers <maintainers@synfire.invalid>" CACHE STRING "Maintainer of packages")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz) # which every dpkg reads
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_COMPONENTS_ALL "")
set(release ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})

# The date of the changelog is that of the sources, so that packages come out the same again.
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
else()
  message(FATAL_ERROR "SOURCE_DATE_EPOCH is not set: scripts/package sets it")
endif()
set(notes ${CMAKE_BINARY_DIR}/packages)
file(CONFIGURE OUTPUT ${notes}/changelog.Debian @ONLY CONTENT "synfire (@release@) unstable; urgency=medium

  * Release @PROJECT_VERSION@; its own changelog lists the changes.

 -- @CPACK_PACKAGE_CONTACT@  @date@
")
file(READ ${CMAKE_SOURCE_DIR}/sinks/page/uPlot.LICENSE uplot)
string(REGEX REPLACE "\n\n" "\n.\n" uplot "${uplot}")
string(REGEX REPLACE "\n" "\n " uplot "${uplot}")
string(STRIP "${uplot}" uplot)
file(CONFIGURE OUTPUT ${notes}/copyright @ONLY CONTENT "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: synfire

Files: *
Copyright: The synfire developers
License: Apache-2.0
 On Debian systems the whole text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
Comment:
 The program synfire-read of libsynfire-io has the HDF5 library in it, whose
 copyright and licence are in /usr/share/doc/libhdf5-103*/copyright; the plugin
 of synfire-cuda has the CUDA runtime in it, which is NVIDIA's and goes with
 programs by the licence of the CUDA Toolkit.

Files: sinks/page/uPlot*
Copyright: Leon Sorokin
License: MIT
 @uplot@
")
find_program(GZIP gzip REQUIRED)
execute_process(COMMAND ${GZIP} -9nkf ${notes}/changelog.Debian)
file(COPY_FILE ${CMAKE_SOURCE_DIR}/CHANGELOG.md ${notes}/changelog)
execute_process(COMMAND ${GZIP} -9nf ${notes}/changelog)

# synfire_package(COMPONENT NAME SECTION DEPENDS SUMMARY TEXT): further keys of CPack are set after it.
function(synfire_package component name section depends summary text)
  string(TOUPPER ${component} key)
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)
  foreach(pair IN ITEMS "PACKAGE_NAME=${name}" "PACKAGE_SECTION=${section}" "PACKAGE_DEPENDS=${depends}"
      "DESCRIPTION=${summary}\n${text}")
    string(REGEX MATCH "^([^=]*)=(.*)$" matched "${pair}")
    set(CPACK_DEBIAN_${key}_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}" PARENT_SCOPE)
  endforeach()
  install(FILES ${notes}/changelog.Debian.gz ${notes}/changelog.gz ${notes}/copyright
    DESTINATION share/doc/${name} COMPONENT ${component})
  set(overrides "# It is not uploaded to Debian, where a bug would ask for it.\ninitial-upload-closes-no-bugs\n")
  if(EXISTS ${CMAKE_SOURCE_DIR}/cmake/lintian/${component})
    file(READ ${CMAKE_SOURCE_DIR}/cmake/lintian/${component} own)
    string(APPEND overrides "${own}")
  endif()
  file(WRITE ${notes}/overrides/${name} "${overrides}")
  install(FILES ${notes}/overrides/${name} DESTINATION share/lintian/overrides COMPONENT ${component})
  # Debian strips programs and libraries so. (No variable here may have the name of a component: CMake would take it for that.)
  install(CODE "set(root \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
    file(GLOB files \"\${root}/${CMAKE_INSTALL_BINDIR}/*\" \"\${root}/${CMAKE_INSTALL_LIBEXECDIR}/synfire/*\"
      \"\${root}/${CMAKE_INSTALL_LIBDIR}/*.so.*\" \"\${root}/${CMAKE_INSTALL_LIBDIR}/synfire/*.so\")
    foreach(file IN LISTS files)
      execute_process(COMMAND ${CMAKE_STRIP} --strip-unneeded -R .comment -R .note \${file} COMMAND_ERROR_IS_FATAL ANY)
    endforeach()" COMPONENT ${component})
endfunction()

set(about "synfire finds recurring firing chains in the spikes of multi-electrode
arrays, with exact counts, live and in recordings, and what follows from them:
connectivity, timing, and triggers for controllers.
.
")
synfire_package(synfire libsynfire${soname} libs "" "live, exact episode mining for multi-electrode arrays - library"
  "${about}This is the library of the analyses, which needs the C library only.")
synfire_package(synfire_io libsynfire-io${soname} libs "libsynfire${soname} (= ${release})"
  "live, exact episode mining for multi-electrode arrays - files"
  "${about}This is the library that reads recordings and graphs from files.")
synfire_package(dev libsynfire-dev libdevel "libsynfire${soname} (= ${release}), libsynfire-io${soname} (= ${release})"
  "live, exact episode mining for multi-electrode arrays - development files"
  "${about}These are the headers and what pkg-config and CMake need.")
synfire_package(program synfire science "libsynfire-io${soname} (= ${release})"
  "firing chains in spikes of multi-electrode arrays, live and in recordings"
  "${about}This is the command, with its pages, configurations and examples.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "synfire-cuda, python3-synfire")
if(TARGET synfire_cuda)
  synfire_package(cuda synfire-cuda science "libsynfire${soname} (= ${release})"
    "live, exact episode mining for multi-electrode arrays - CUDA backend"
    "${about}This is the backend for NVIDIA GPUs, which the library loads where there\nis one.")
  set(CPACK_DEBIAN_CUDA_PACKAGE_GENERATE_SHLIBS OFF)
endif()
if(TARGET synfire_mpi)
  synfire_package(mpi synfire-mpi science "libsynfire-io${soname} (= ${release})"
    "live, exact episode mining for multi-electrode arrays - by several ranks"
    "${about}This is the command for clusters, by Open MPI.")
  file(WRITE ${notes}/synfire-mpi.1 ".so man1/synfire.1\n")
  install(FILES ${notes}/synfire-mpi.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "libsynfire-io${soname} (= ${release}), synfire (= ${release}), openmpi-bin")
endif()

# The Python package, compiled when it is installed, so that nothing is left when it goes.
find_program(SYNFIRE_SYSTEM_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
execute_process(COMMAND ${SYNFIRE_SYSTEM_PYTHON} -B ${CMAKE_SOURCE_DIR}/python/backend.py package ${notes}/python
  RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "python/backend.py failed")
endif()
synfire_package(python python3-synfire python "python3 (>= 3.9), python3-numpy, libsynfire-io${soname} (= ${release})"
  "live, exact episode mining for multi-electrode arrays - Python"
  "${about}This is the package for Python, with NumPy arrays over the library's memory.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-pandas, python3-networkx, python3-matplotlib")
install(DIRECTORY ${notes}/python/synfire DESTINATION lib/python3/dist-packages COMPONENT python)
file(WRITE ${notes}/postinst "#!/bin/sh\nset -e\nif [ \"$1\" = configure ]; then\n    py3compile -p python3-synfire\nfi\n")
file(WRITE ${notes}/prerm "#!/bin/sh\nset -e\npy3clean -p python3-synfire\n")
file(CHMOD ${notes}/postinst ${notes}/prerm PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${notes}/postinst;${notes}/prerm")

# Debian has manual pages compressed.
set(with_pages program)
if(TARGET synfire_mpi)
  list(APPEND with_pages mpi)
endif()
foreach(component IN LISTS with_pages)
  install(CODE "file(GLOB pages \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1/*.1\")
    execute_process(COMMAND ${GZIP} -9nf \${pages} COMMAND_ERROR_IS_FATAL ANY)" COMPONENT ${component})
endforeach()

# The linker's cache is renewed by a trigger; scripts/package takes the scripts away by which CPack would do it.
file(WRITE ${notes}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_SYNFIRE_PACKAGE_CONTROL_EXTRA ${notes}/triggers)
set(CPACK_DEBIAN_SYNFIRE_IO_PACKAGE_CONTROL_EXTRA ${notes}/triggers)

# Executables carry no path to libraries: the linker finds these.
set_target_properties(synfire_command synfire synfire_io PROPERTIES INSTALL_RPATH "")
if(TARGET synfire_mpi)
  set_target_properties(synfire_mpi PROPERTIES INSTALL_RPATH "")
endif()
include(CPack)
