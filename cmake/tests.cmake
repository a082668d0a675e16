# Catch2 3 where the system has it, else 2 (Debian 12). Tests include "tests/catch.hpp" and need not know which.
find_package(Catch2 3 QUIET)
if(NOT Catch2_FOUND)
  find_package(Catch2 2.13 REQUIRED)
endif()
include(Catch)

add_library(sdsm_catch_main STATIC ${CMAKE_SOURCE_DIR}/tests/catch_main.cpp)
if(Catch2_VERSION VERSION_GREATER_EQUAL 3)
  target_link_libraries(sdsm_catch_main PUBLIC Catch2::Catch2WithMain)
else()
  target_link_libraries(sdsm_catch_main PUBLIC Catch2::Catch2)
endif()
target_include_directories(sdsm_catch_main PUBLIC ${CMAKE_SOURCE_DIR})

# sdsm_test(NAME SOURCES ... LIBRARIES ... [LABELS ...]): one executable; ctest runs each test case in a process of
# its own, as SimGrid allows one engine per process. Labels: unit (sanitized in CI), system, long.
function(sdsm_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE sdsm_catch_main sdsm_warnings ${ARG_LIBRARIES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_compile_definitions(${name} PRIVATE SDSM_SOURCE_DIR="${CMAKE_SOURCE_DIR}" SDSM_BINARY_DIR="${CMAKE_BINARY_DIR}")
  catch_discover_tests(${name} TEST_PREFIX "${name}: " PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 300)
endfunction()
