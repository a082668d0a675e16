# `cmake --install build --prefix PREFIX`, and `pip install .`: bin/sdsm on PATH; what it calls in libexec/sdsm; platform files,
# data and requirements in share/sdsm; the placement header in include/; documents, manual pages and completions where others'
# lie. All of it finds itself from where it stands, so PREFIX may move. `cmake --build build --target uninstall` takes away what
# was installed last.
set(SDSM_HOME libexec/sdsm)
set(programs sdsm-trace sdsm-run sdsm-simulate sdsm-check sdsm-replay sdsm-costs microbench system_bench
             sdsm-trace-runtime sdsm-run-runtime)
set(workloads laplace fft sor lu mm swim epcc)
set(installed ${CMAKE_BINARY_DIR}/installed)
set(manual ${CMAKE_BINARY_DIR}/manual/man/man1/sdsm.1.gz)

set(SDSM_CHECKOUT ${CMAKE_SOURCE_DIR})
configure_file(cmake/sdsm.in ${CMAKE_BINARY_DIR}/sdsm @ONLY USE_SOURCE_PERMISSIONS)
set(SDSM_CHECKOUT "")
configure_file(cmake/sdsm.in ${installed}/sdsm @ONLY USE_SOURCE_PERMISSIONS)
file(WRITE ${installed}/version "${PROJECT_VERSION}\n")

# Manual pages and completions are of the commands' --help. Those in Python need their packages for it.
find_program(SDSM_PYTHON NAMES python3 REQUIRED)
set(python ${CMAKE_SOURCE_DIR}/.venv/bin/python3)
if(SKBUILD OR NOT EXISTS ${python})
  set(python $<IF:$<BOOL:${SKBUILD}>,${Python3_EXECUTABLE},${SDSM_PYTHON}>)
endif()
file(GLOB_RECURSE python_sources CONFIGURE_DEPENDS python/*.py .venv/installed-requirements.txt)
add_custom_command(OUTPUT ${manual}
  COMMAND ${CMAKE_COMMAND} -E env SDSM_PROGRAMS=${CMAKE_BINARY_DIR} PYTHONDONTWRITEBYTECODE=1
          ${python} -m sdsm.manual ${CMAKE_BINARY_DIR}/manual
  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/python DEPENDS ${programs} ${python_sources} VERBATIM)
add_custom_target(product ALL DEPENDS ${manual} ${workloads})

# A prefix is written whole or not at all.
foreach(target IN LISTS programs workloads)
  list(APPEND built $<TARGET_FILE:${target}>)
endforeach()
install(CODE "
  set(built \"${built};${manual}\")
  foreach(file IN LISTS built)
    if(NOT EXISTS \"\${file}\")
      message(FATAL_ERROR \"\${file} is not built, so nothing is installed. First: cmake --build ${CMAKE_BINARY_DIR} --target product\")
    endif()
  endforeach()")

install(PROGRAMS ${installed}/sdsm DESTINATION ${SDSM_HOME})
install(PROGRAMS ${installed}/sdsm DESTINATION bin)
install(TARGETS ${programs} RUNTIME DESTINATION ${SDSM_HOME} LIBRARY DESTINATION ${SDSM_HOME})
install(TARGETS ${workloads} RUNTIME DESTINATION ${SDSM_HOME}/workloads)
install(FILES ${installed}/version scripts/requirements.txt scripts/requirements-sweep.txt DESTINATION share/sdsm)
install(DIRECTORY platforms calibration DESTINATION share/sdsm FILES_MATCHING PATTERN "*.xml" PATTERN "*.csv" PATTERN "file" EXCLUDE)
install(DIRECTORY workloads/include/sdsm DESTINATION include FILES_MATCHING PATTERN "*.h" PATTERN "*.f90" PATTERN "*.c")
install(DIRECTORY ${CMAKE_BINARY_DIR}/manual/ DESTINATION share)
if(SKBUILD) # the package itself goes where the wheel says
  install(FILES python/__main__.py DESTINATION ${SDSM_HOME}/python)
  return()
endif()

# `import sdsm`: a link on Debian's path of modules if the prefix is /usr.
install(DIRECTORY python DESTINATION ${SDSM_HOME} PATTERN "__pycache__" EXCLUDE)
file(MAKE_DIRECTORY ${installed}/modules)
file(CREATE_LINK ../../../${SDSM_HOME}/python/sdsm ${installed}/modules/sdsm SYMBOLIC)
install(FILES ${installed}/modules/sdsm DESTINATION lib/python3/dist-packages)
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
