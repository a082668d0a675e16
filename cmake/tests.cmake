# Catch2 3 where the system has it, else 2 (Debian 12). Tests include "tests/catch.hpp" and need not know which.
find_package(Catch2 3 QUIET)
if(NOT Catch2_FOUND)
  find_package(Catch2 2.13 REQUIRED)
endif()
include(Catch)

set(SDSM_CATCH_MAIN "" CACHE FILEPATH "libsdsm_catch_main.a of another build folder; it is the same in all")
if(SDSM_CATCH_MAIN)
  add_library(sdsm_catch_main STATIC IMPORTED GLOBAL)
  set_target_properties(sdsm_catch_main PROPERTIES IMPORTED_LOCATION ${SDSM_CATCH_MAIN})
else()
  add_library(sdsm_catch_main STATIC ${CMAKE_SOURCE_DIR}/tests/catch_main.cpp)
  # Catch2 2 itself, which takes a fifth of the time to compile that it takes at -O3.
  target_compile_options(sdsm_catch_main PRIVATE -O0 -g0)
  target_include_directories(sdsm_catch_main PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(sdsm_catch_main PRIVATE Catch2::Catch2)
endif()
target_link_libraries(sdsm_catch_main INTERFACE $<IF:$<VERSION_GREATER_EQUAL:${Catch2_VERSION},3>,Catch2::Catch2WithMain,Catch2::Catch2>)
target_include_directories(sdsm_catch_main INTERFACE ${CMAKE_SOURCE_DIR})

# What all of the tests' own code is compiled with. It is built once and runs for seconds: -O1 builds a third faster.
add_library(sdsm_test_code INTERFACE)
target_link_libraries(sdsm_test_code INTERFACE sdsm_warnings)
target_compile_options(sdsm_test_code INTERFACE $<$<CONFIG:Release>:-O1>)
target_include_directories(sdsm_test_code INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_definitions(sdsm_test_code INTERFACE SDSM_SOURCE_DIR="${CMAKE_SOURCE_DIR}" SDSM_BINARY_DIR="${CMAKE_BINARY_DIR}")

# Reads Catch2's header for all tests, each of which would take a second for it. An executable, as its code has to be
# compiled as theirs.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/tests/catch_header.cpp CONTENT "int main() {}\n")
add_executable(sdsm_catch_header EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/tests/catch_header.cpp)
target_link_libraries(sdsm_catch_header PRIVATE sdsm_catch_main sdsm_test_code)
target_precompile_headers(sdsm_catch_header PRIVATE ${CMAKE_SOURCE_DIR}/tests/catch.hpp)
set_target_properties(sdsm_catch_header PROPERTIES SDSM_IS_TEST ON)

# Everything labelled unit, and nothing else: what the preset asan-ubsan builds. Tests that start threads have an
# executable of their own, which the preset tsan names.
add_custom_target(sdsm_unit_tests)

# sdsm_test(NAME SOURCES ... LIBRARIES ... [LABELS ...] [EACH_ALONE]): one executable. LABELS is one of
#   unit    pure code, no SimGrid engine and no preloaded run-time: one process runs all cases; sanitized in CI, but for
#           cases tagged [unsanitized];
#   system  runs programs, engines or fault handlers (the default): a process for each case, as SimGrid allows one
#           engine per process;
#   long    the same for a campaign that scripts/test leaves out without --long.
# EACH_ALONE gives unit tests a process for each case, too: the code that they test keeps state of its process.
function(sdsm_test name)
  cmake_parse_arguments(ARG "EACH_ALONE" "" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS system)
  endif()
  if(NOT ARG_LABELS MATCHES "^(unit|system|long)$")
    message(FATAL_ERROR "sdsm_test(${name}): LABELS is one of unit, system and long, not '${ARG_LABELS}'")
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE sdsm_catch_main sdsm_test_code ${ARG_LIBRARIES})
  set_target_properties(${name} PROPERTIES SDSM_IS_TEST ON RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_precompile_headers(${name} REUSE_FROM sdsm_catch_header)
  list(FILTER ARG_SOURCES EXCLUDE REGEX "_test[.]cpp$")
  set_source_files_properties(${ARG_SOURCES} PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
  sdsm_compile_together(${name})
  if(ARG_LABELS STREQUAL unit)
    add_dependencies(sdsm_unit_tests ${name})
  endif()
  if(ARG_LABELS STREQUAL unit AND NOT ARG_EACH_ALONE)
    set(cases)
    if(SDSM_SANITIZE)
      set(cases "~[.]~[unsanitized]")
    endif()
    add_test(NAME ${name} COMMAND ${name} ${cases})
    set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 600)
    return()
  endif()
  # Catch2 2 ends with status 0 when a name matches no test case (a semicolon in the name is enough): count it as failed.
  catch_discover_tests(${name} TEST_PREFIX "${name}/"
                       PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 300
                                  FAIL_REGULAR_EXPRESSION "No test cases matched|No tests ran")
endfunction()
