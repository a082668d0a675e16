# `cmake --install build --prefix PREFIX`: bin/sdsm on PATH; what it calls in libexec/sdsm; platform files and requirements in
# share/sdsm; the placement header in include/; documents, manual pages and completions where others' lie. All of it finds
# itself from where it stands, so PREFIX may move. `cmake --build build --target uninstall` takes away what was installed last.
set(SDSM_HOME libexec/sdsm)

set(SDSM_CHECKOUT ${CMAKE_SOURCE_DIR})
configure_file(scripts/sdsm ${CMAKE_BINARY_DIR}/sdsm @ONLY USE_SOURCE_PERMISSIONS)
set(SDSM_CHECKOUT "")
configure_file(scripts/sdsm ${CMAKE_BINARY_DIR}/installed/sdsm @ONLY USE_SOURCE_PERMISSIONS)
file(WRITE ${CMAKE_BINARY_DIR}/installed/version "${PROJECT_VERSION}\n")

install(PROGRAMS ${CMAKE_BINARY_DIR}/installed/sdsm DESTINATION ${SDSM_HOME})
install(FILES ${CMAKE_BINARY_DIR}/installed/version DESTINATION ${SDSM_HOME})
install(CODE "
  file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin\")
  file(CREATE_LINK ../${SDSM_HOME}/sdsm \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin/sdsm\" SYMBOLIC)
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${CMAKE_INSTALL_PREFIX}/bin/sdsm\")")
install(TARGETS sdsm-trace sdsm-run sdsm-simulate sdsm-check sdsm-replay sdsm-costs microbench system_bench
                sdsm-trace-runtime sdsm-run-runtime
        RUNTIME DESTINATION ${SDSM_HOME} LIBRARY DESTINATION ${SDSM_HOME})
install(TARGETS laplace fft sor lu mm swim epcc RUNTIME DESTINATION ${SDSM_HOME}/workloads)

file(GLOB python_commands scripts/sdsm-*)
install(PROGRAMS ${python_commands} DESTINATION ${SDSM_HOME})
install(DIRECTORY calibration scripts/sdsm_calibrate scripts/sdsm_compare scripts/sdsm_epcc scripts/sdsm_explain
                  scripts/sdsm_page scripts/sdsm_platform scripts/sdsm_plot scripts/sdsm_report scripts/sdsm_sweep scripts/sdsm_validate
        DESTINATION ${SDSM_HOME} FILES_MATCHING
        PATTERN "*.py" PATTERN "*.csv" PATTERN "*.jinja" PATTERN "__pycache__" EXCLUDE)

# `import sdsm`: on Debian's path of modules if the prefix is /usr.
install(DIRECTORY python/sdsm DESTINATION lib/python3/dist-packages FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)

install(DIRECTORY platforms/ DESTINATION share/sdsm/platforms FILES_MATCHING PATTERN "*.xml" PATTERN "file" EXCLUDE)
install(FILES scripts/requirements.txt scripts/requirements-sweep.txt DESTINATION share/sdsm)
install(DIRECTORY workloads/include/sdsm DESTINATION include FILES_MATCHING PATTERN "*.h" PATTERN "*.f90" PATTERN "*.c")
install(DIRECTORY docs/ DESTINATION share/doc/sdsm/docs)
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE CITATION.cff DESTINATION share/doc/sdsm)
install(FILES calibration/README.md DESTINATION share/doc/sdsm/calibration)
# Their commands are a checkout's; here sdsm is on PATH, platforms have names, and programs lie elsewhere. What is only in a
# checkout, pages that name it say so.
install(CODE "
  # CPack installs below a folder of its own, of which the package knows nothing.
  string(REGEX REPLACE \".*/_CPack_Packages/[^/]+/[^/]+/[^/]+\" \"\" prefix \"\${CMAKE_INSTALL_PREFIX}\")
  file(GLOB_RECURSE pages \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share/doc/sdsm/*.md\")
  foreach(page IN LISTS pages)
    file(READ \"\${page}\" text)
    string(REPLACE build/sdsm sdsm text \"\${text}\")
    string(REPLACE build/workloads/ \"\${prefix}/${SDSM_HOME}/workloads/\" text \"\${text}\")
    string(REGEX REPLACE \"(--platform|--base|-p|check|replay) platforms/([a-z0-9-]+)\\\\.xml\" \"\\\\1 \\\\2\" text \"\${text}\")
    string(REGEX REPLACE \"scripts/(requirements[a-z-]*\\\\.txt)\" \"\${prefix}/share/sdsm/\\\\1\" text \"\${text}\")
    if(text MATCHES \"scripts/\")
      string(REGEX REPLACE \"^(#[^\\n]*\\n)\"
             \"\\\\1\\nsdsm is installed here. What this page names in `scripts/` is in its sources only.\\n\" text \"\${text}\")
    endif()
    file(WRITE \"\${page}\" \"\${text}\")
  endforeach()")

# From the commands' --help, and so made of what has been built. The commands in Python need their packages for it.
find_program(SDSM_PYTHON NAMES python3 HINTS ${CMAKE_SOURCE_DIR}/.venv/bin NO_CMAKE_SYSTEM_PATH)
find_program(SDSM_PYTHON NAMES python3 REQUIRED)
install(CODE "
  execute_process(
    COMMAND \"${CMAKE_COMMAND}\" -E env \"PYTHONPATH=${CMAKE_SOURCE_DIR}/scripts\" PYTHONDONTWRITEBYTECODE=1
            \"${SDSM_PYTHON}\" -m sdsm_manual \"${CMAKE_BINARY_DIR}/sdsm\" \"${CMAKE_BINARY_DIR}/manual\"
    RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR \"the manual pages could not be made (see above)\")
  endif()")
install(DIRECTORY ${CMAKE_BINARY_DIR}/manual/ DESTINATION share)

add_custom_target(uninstall
  COMMAND ${CMAKE_COMMAND} -DMANIFEST=${CMAKE_BINARY_DIR}/install_manifest.txt -P ${CMAKE_SOURCE_DIR}/cmake/uninstall.cmake
  VERBATIM)
