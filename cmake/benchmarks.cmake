# sdsm_benchmark(NAME SOURCES ... LIBRARIES ...): a program that prints measured figures of this machine. scripts/bench
# builds and runs them all, one at a time; no test depends on them.
add_custom_target(sdsm_benchmarks)

function(sdsm_benchmark name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE sdsm_warnings ${ARG_LIBRARIES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/benchmarks)
  target_compile_definitions(${name} PRIVATE SDSM_SOURCE_DIR="${CMAKE_SOURCE_DIR}" SDSM_BINARY_DIR="${CMAKE_BINARY_DIR}")
  add_dependencies(sdsm_benchmarks ${name})
endfunction()
