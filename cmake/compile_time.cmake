# What keeps the build short; `scripts/bench build` prints what each folder takes.

# Compiling sixteen files of a target as one takes a third less time than one after the other. No two of them may then
# give something of their own the same name: build/clang (.ci/run), where a whole target is one file, finds out.
set(SDSM_FILES_AT_A_TIME 16 CACHE STRING "Files that are compiled together; 1: each alone, quicker after a change; 0: all of a target")
function(sdsm_compile_together)
  if(NOT SDSM_FILES_AT_A_TIME EQUAL 1)
    set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${SDSM_FILES_AT_A_TIME})
    # gcc takes a file that is included for a header, whose types must not have members of unnamed namespaces' types.
    foreach(target ${ARGN})
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
    endforeach()
  endif()
endfunction()

# sdsm_precompile(TARGET [HEADER...]): the target's files read these headers, and the C++ library's that most of them
# include, once. Each file includes what it uses all the same: other targets, and the checks of the sources, have none.
# Targets that are compiled alike may share them (REUSE_FROM), as making them takes as long as ten small files.
function(sdsm_precompile target)
  target_precompile_headers(${target} PRIVATE <algorithm> <array> <functional> <map> <memory> <optional> <span> <string>
                            <unordered_map> <vector> ${ARGN})
endfunction()

# sdsm_for_programs(VARIABLE PATTERN): these of the sources in a list are called by programs alone. A build of nothing but unit
# tests leaves them out; a test that comes to call one fails to link, and takes it out of the pattern.
option(SDSM_UNIT_TESTS_ONLY "Leave out what no unit test calls: only the target sdsm_unit_tests can be built" OFF)
function(sdsm_for_programs variable pattern)
  if(SDSM_UNIT_TESTS_ONLY)
    list(FILTER ${variable} EXCLUDE REGEX "/(${pattern})[.]cpp$")
    set(${variable} ${${variable}} PARENT_SCOPE)
  endif()
endfunction()

# sdsm_compile_fast(LEVEL SOURCE...): files of templates that run once, such as those that read command lines or write a
# result's JSON, are optimised less. They cannot use headers that were precompiled with more.
function(sdsm_compile_fast level)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O${level} SKIP_PRECOMPILE_HEADERS ON)
endfunction()
