# System packages only (docs/dependencies.md says what each is for). A prefix such as a SimGrid built from source is
# found through CMAKE_PREFIX_PATH and PKG_CONFIG_PATH.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json 3.10 REQUIRED)
find_package(pugixml REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(OpenMP REQUIRED COMPONENTS C CXX)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd>=1.4)
find_package(zydis 4.0 CONFIG QUIET)
if(NOT zydis_FOUND)
  message(FATAL_ERROR "Zydis 4 is missing: install libzydis-dev, or add its prefix to CMAKE_PREFIX_PATH")
endif()
# Debian's SimGrid ships a pkg-config file and no CMake configuration.
pkg_check_modules(SimGrid REQUIRED IMPORTED_TARGET simgrid>=3.32)
