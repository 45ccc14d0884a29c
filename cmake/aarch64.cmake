# Toolchain: compiles for Linux on aarch64, on any machine that has Debian's g++-aarch64-linux-gnu. The headers and libraries are
# those of a folder that cmake/aarch64_root makes, named by TEMPERA_AARCH64_ROOT in the environment or to cmake.
if(NOT TEMPERA_AARCH64_ROOT)
  set(TEMPERA_AARCH64_ROOT "$ENV{TEMPERA_AARCH64_ROOT}")
endif()
if(NOT EXISTS "${TEMPERA_AARCH64_ROOT}/usr/include")
  message(FATAL_ERROR "TEMPERA_AARCH64_ROOT: '${TEMPERA_AARCH64_ROOT}' is no Debian for aarch64; name one that cmake/aarch64_root made")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TEMPERA_AARCH64_ROOT)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# GCC notes, for aarch64 alone, that pairs are passed in another way since version 10.1.
set(CMAKE_CXX_FLAGS_INIT -Wno-psabi)
set(CMAKE_SYSROOT ${TEMPERA_AARCH64_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
# nanobind is of this machine's Python, and has sources alone.
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
