# The OpenMP programs. They link nothing of sdsm: the same binaries run alone, under `sdsm trace` and `sdsm run`.
add_library(sdsm_placement INTERFACE)
target_include_directories(sdsm_placement INTERFACE ${CMAKE_SOURCE_DIR}/workloads/include)

function(sdsm_program name)
  add_executable(${name} ${CMAKE_SOURCE_DIR}/workloads/${name}.c ${CMAKE_SOURCE_DIR}/workloads/options.c
                         ${CMAKE_SOURCE_DIR}/workloads/result.c ${CMAKE_SOURCE_DIR}/workloads/team.c ${ARGN})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  # Symbols name the static arrays in a trace; results must not depend on whether the processor has fused multiply-add.
  target_compile_options(${name} PRIVATE -g -ffp-contract=off)
  target_link_libraries(${name} PRIVATE sdsm_placement sdsm_warnings OpenMP::OpenMP_C m)
  # Lazy binding reads the targets of library calls from a writable page beside .data. On software shared memory that
  # page is shared: after every barrier, every thread but one would fetch it, just to call the next barrier.
  target_link_options(${name} PRIVATE -Wl,-z,relro,-z,now)
  # _GNU_SOURCE: getopt_long.
  target_compile_definitions(${name} PRIVATE _GNU_SOURCE)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/workloads C_EXTENSIONS OFF)
endfunction()

sdsm_program(laplace)
sdsm_program(fft)
sdsm_program(sor)
sdsm_program(lu)
sdsm_program(mm)
sdsm_program(swim)
sdsm_program(epcc ${CMAKE_SOURCE_DIR}/workloads/epcc_loops.c ${CMAKE_SOURCE_DIR}/workloads/epcc_arrays.c)
