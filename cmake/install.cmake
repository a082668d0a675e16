# `cmake --install build --prefix PREFIX`, and `pip install .`: bin/sdsm on PATH; what it calls in libexec/sdsm; platform files,
# data and requirements in share/sdsm; the placement header in include/; manual pages and completions where others' lie. All of
# it finds itself from where it stands, so PREFIX may move. `cmake --build build --target uninstall` takes away what was
# installed last.
set(SDSM_HOME libexec/sdsm)
set(SDSM_PROGRAM_TARGETS sdsm-trace sdsm-run sdsm-simulate sdsm-check sdsm-replay sdsm-costs microbench system_bench
                         sdsm-trace-runtime sdsm-run-runtime)
set(SDSM_WORKLOAD_TARGETS laplace fft sor lu mm swim epcc)

# The launcher: for the build folder, for a prefix, for a virtual environment.
set(SDSM_PLACES "programs=$here")
set(SDSM_OWN_PYTHON "'${CMAKE_SOURCE_DIR}/.venv/bin/python'")
set(SDSM_PACKAGE "'${CMAKE_SOURCE_DIR}/python'")
configure_file(cmake/sdsm.in ${CMAKE_BINARY_DIR}/sdsm @ONLY USE_SOURCE_PERMISSIONS)
set(SDSM_PLACES "prefix=\${here%/${SDSM_HOME}} prefix=\${prefix%/bin}\nprograms=$prefix/${SDSM_HOME}")
set(SDSM_OWN_PYTHON "\"$prefix/bin/python3\"")
set(SDSM_PACKAGE "\"$programs/python\"")
if(SKBUILD)
  set(SDSM_PACKAGE "-P -m sdsm")
endif()
configure_file(cmake/sdsm.in ${CMAKE_BINARY_DIR}/installed/sdsm @ONLY USE_SOURCE_PERMISSIONS)
file(WRITE ${CMAKE_BINARY_DIR}/installed/version "${PROJECT_VERSION}\n")

# Manual pages and completions are of the commands' --help. Those in Python need their packages for it.
if(SKBUILD)
  set(SDSM_PYTHON ${Python3_EXECUTABLE})
endif()
find_program(SDSM_PYTHON NAMES python3 HINTS ${CMAKE_SOURCE_DIR}/.venv/bin NO_CMAKE_SYSTEM_PATH)
find_program(SDSM_PYTHON NAMES python3 REQUIRED)
file(GLOB_RECURSE python_sources CONFIGURE_DEPENDS python/*.py)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/manual/man/man1/sdsm.1.gz
  COMMAND ${CMAKE_COMMAND} -E env SDSM_PROGRAMS=${CMAKE_BINARY_DIR} PYTHONDONTWRITEBYTECODE=1
          ${SDSM_PYTHON} -m sdsm.manual ${CMAKE_BINARY_DIR}/manual
  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/python DEPENDS ${SDSM_PROGRAM_TARGETS} ${python_sources} VERBATIM)
add_custom_target(product ALL DEPENDS ${CMAKE_BINARY_DIR}/manual/man/man1/sdsm.1.gz ${SDSM_WORKLOAD_TARGETS})

# A prefix is written whole or not at all.
foreach(target IN LISTS SDSM_PROGRAM_TARGETS SDSM_WORKLOAD_TARGETS)
  list(APPEND built $<TARGET_FILE:${target}>)
endforeach()
install(CODE "
  foreach(file IN ITEMS ${built} ${CMAKE_BINARY_DIR}/manual/man/man1/sdsm.1.gz)
    if(NOT EXISTS \"\${file}\")
      message(FATAL_ERROR \"\${file} is not built, so nothing is installed. First: cmake --build ${CMAKE_BINARY_DIR} --target product\")
    endif()
  endforeach()")

install(PROGRAMS ${CMAKE_BINARY_DIR}/installed/sdsm DESTINATION ${SDSM_HOME})
install(PROGRAMS ${CMAKE_BINARY_DIR}/installed/sdsm DESTINATION bin)
install(TARGETS ${SDSM_PROGRAM_TARGETS} RUNTIME DESTINATION ${SDSM_HOME} LIBRARY DESTINATION ${SDSM_HOME})
install(TARGETS ${SDSM_WORKLOAD_TARGETS} RUNTIME DESTINATION ${SDSM_HOME}/workloads)
install(FILES ${CMAKE_BINARY_DIR}/installed/version scripts/requirements.txt scripts/requirements-sweep.txt DESTINATION share/sdsm)
install(DIRECTORY platforms calibration DESTINATION share/sdsm FILES_MATCHING PATTERN "*.xml" PATTERN "*.csv" PATTERN "file" EXCLUDE)
install(DIRECTORY workloads/include/sdsm DESTINATION include FILES_MATCHING PATTERN "*.h" PATTERN "*.f90" PATTERN "*.c")
install(DIRECTORY ${CMAKE_BINARY_DIR}/manual/ DESTINATION share)
if(SKBUILD)
  return() # the package goes where the wheel says, and pip takes away all of it
endif()

install(DIRECTORY python DESTINATION ${SDSM_HOME} PATTERN "__pycache__" EXCLUDE)
# `import sdsm`: on Debian's path of modules if the prefix is /usr.
install(CODE "
  set(modules \"\${CMAKE_INSTALL_PREFIX}/lib/python3/dist-packages\")
  file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${modules}\")
  file(CREATE_LINK ../../../${SDSM_HOME}/python/sdsm \"\$ENV{DESTDIR}\${modules}/sdsm\" SYMBOLIC)
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${modules}/sdsm\")")
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

add_custom_target(uninstall
  COMMAND ${CMAKE_COMMAND} -DMANIFEST=${CMAKE_BINARY_DIR}/install_manifest.txt -P ${CMAKE_SOURCE_DIR}/cmake/uninstall.cmake
  VERBATIM)
