# What keeps the build short; `scripts/bench build` prints what each folder takes.

# sdsm_precompile(TARGET [HEADER...]): the target's files read these headers, and the C++ library's that most of them
# include, once. Each file includes what it uses all the same: other targets, and the checks of the sources, have none.
# Targets that are compiled alike may share them (REUSE_FROM), as making them takes as long as ten small files.
function(sdsm_precompile target)
  target_precompile_headers(${target} PRIVATE <algorithm> <array> <functional> <map> <memory> <optional> <span> <string>
                            <unordered_map> <vector> ${ARGN})
endfunction()

# sdsm_compile_fast(LEVEL SOURCE...): files of templates that run once, such as those that read command lines or write a
# result's JSON, are optimised less. They cannot use headers that were precompiled with more.
function(sdsm_compile_fast level)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O${level} SKIP_PRECOMPILE_HEADERS ON)
endfunction()
