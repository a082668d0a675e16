# `cpack --config build/CPackConfig.cmake`: sdsm_VERSION_ARCH.deb, for the Debian that it is built on.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME sdsm)
set(CPACK_PACKAGE_CONTACT "The sdsm authors <sdsm@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# The libraries' packages, and their least versions, are those that the programs were linked with.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR})
# Debian 12 has no package of msgspec: SDSM_BUNDLED_PYTHON is a folder that holds it (scripts/test-on-debian fills it by pip).
set(CPACK_DEBIAN_PACKAGE_DEPENDS
    "python3 (>= 3.11), python3-matplotlib, python3-numpy, python3-scipy, python3-tqdm, python3-jinja2, python3-pyelftools")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gcc, gfortran, python3-pandas")
set(SDSM_BUNDLED_PYTHON "" CACHE PATH "Folder of Python packages to install with sdsm")
if(SDSM_BUNDLED_PYTHON)
  install(DIRECTORY ${SDSM_BUNDLED_PYTHON}/ DESTINATION ${SDSM_HOME}/python PATTERN "__pycache__" EXCLUDE)
else()
  string(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS ", python3-msgspec")
endif()
include(CPack)
