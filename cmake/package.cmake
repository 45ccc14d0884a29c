# `cpack -G DEB` in the build folder makes a package for Debian and Ubuntu of what `cmake --install` installs. Which libraries
# it needs is read from the program.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tempera)
# The build for GPUs is a package of its own, in the place of the other.
if(TEMPERA_DEVICE STREQUAL "CUDA")
  set(CPACK_PACKAGE_NAME tempera-cuda)
  set(CPACK_DEBIAN_PACKAGE_PROVIDES tempera)
  set(CPACK_DEBIAN_PACKAGE_CONFLICTS tempera)
  set(CPACK_DEBIAN_PACKAGE_REPLACES tempera)
endif()
set(CPACK_PACKAGE_CONTACT "the tempera maintainers <tempera@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Parallel Power Tempering for language models, and the proof that it is")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Python draws chat templates, and `tempera check` judges Python's samplers.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "python3, python3-jinja2")
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};tempera;ALL;/")
include(CPack)
