# Playing a trace crosses from sim/ into models/ for every page: optimising across files makes that a sixth faster. Objects
# stay usable by ordinary links, such as that of the run-time that takes libgomp's place.
include(CheckIPOSupported)
check_ipo_supported(RESULT SDSM_HAS_IPO LANGUAGES CXX)
function(sdsm_optimise_across_files)
  if(SDSM_HAS_IPO AND NOT SDSM_SANITIZE)
    foreach(target ${ARGN})
      set_target_properties(${target} PROPERTIES INTERPROCEDURAL_OPTIMIZATION_RELEASE ON)
      target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-ffat-lto-objects>)
    endforeach()
  endif()
endfunction()
