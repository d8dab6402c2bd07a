# SPDX-License-Identifier: Apache-2.0
# synfire_programs(NAME SOURCES a.c b.c ...): one executable NAME of many small programs, so that a change of the
# library links once and not once for each. Every source has a main of its own; a link of the source's name (a, b)
# beside the executable starts it: see programs.c.
function(synfire_programs name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES")
  set(list "")
  foreach(source IN LISTS arg_SOURCES)
    get_filename_component(program ${source} NAME_WE)
    file(STRINGS ${source} takes_nothing REGEX "^int main\\(void\\)")
    if(takes_nothing)
      string(APPEND list "PROGRAM(${program}, (void), ())\n")
    else()
      string(APPEND list "PROGRAM(${program}, (int count, char **arguments), (count, arguments))\n")
    endif()
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS main=main_of_${program})
    file(CREATE_LINK ${name} ${CMAKE_CURRENT_BINARY_DIR}/${program} SYMBOLIC)
  endforeach()
  file(CONFIGURE OUTPUT ${name}.list CONTENT "${list}")
  add_executable(${name} ${CMAKE_SOURCE_DIR}/cmake/programs.c ${arg_SOURCES})
  target_compile_definitions(${name} PRIVATE PROGRAMS_LIST="${name}.list") # no path: ccache knows sources from any checkout
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
