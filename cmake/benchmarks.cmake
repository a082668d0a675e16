# sdsm_benchmark(NAME SOURCES ... LIBRARIES ...): a program that prints measured figures of this machine. scripts/bench
# builds and runs them all, one at a time. The tests build them too, and run two, so that none rots.
add_custom_target(sdsm_benchmarks)
if(SDSM_TESTS)
  set_target_properties(sdsm_benchmarks PROPERTIES EXCLUDE_FROM_ALL OFF)
endif()

function(sdsm_benchmark name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE sdsm_warnings ${ARG_LIBRARIES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/benchmarks)
  target_compile_definitions(${name} PRIVATE SDSM_SOURCE_DIR="${CMAKE_SOURCE_DIR}" SDSM_BINARY_DIR="${CMAKE_BINARY_DIR}")
  add_dependencies(sdsm_benchmarks ${name})
endfunction()
