# cmake --build build --target tidy     every C++ source through clang-tidy with .clang-tidy's checks
# cmake --build build --target format   rewrite the sources as .clang-format says (clang-format 14, Debian 12's)
find_program(SDSM_RUN_CLANG_TIDY NAMES run-clang-tidy run-clang-tidy-14)
find_program(SDSM_CLANG_FORMAT NAMES clang-format-14 clang-format)

if(SDSM_RUN_CLANG_TIDY)
  add_custom_target(tidy
    # It cannot read headers that gcc has precompiled, and chooses files by their names.
    COMMAND ${CMAKE_COMMAND} -S . -B ${CMAKE_BINARY_DIR}/clang -G Ninja -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DSDSM_FILES_AT_A_TIME=1
    COMMAND ${SDSM_RUN_CLANG_TIDY} -quiet -p ${CMAKE_BINARY_DIR}/clang "${CMAKE_SOURCE_DIR}/(models|workloads|native|sim|tests)/.*\\.cpp$"
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} USES_TERMINAL VERBATIM)
endif()
if(SDSM_CLANG_FORMAT)
  add_custom_target(format
    COMMAND git ls-files -z "*.c" "*.h" "*.cpp" "*.hpp" | xargs -0 ${SDSM_CLANG_FORMAT} -i
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} USES_TERMINAL)
endif()
