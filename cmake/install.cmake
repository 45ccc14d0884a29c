# `cmake --install` gives the command, the headers, the libraries, the shipped models, the claims and the CMake
# package `tempera` with the targets tempera::reference, tempera::gpu and tempera::lab. Warnings as errors and machine
# flags are this build's own and stay behind.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set_target_properties(tempera_reference PROPERTIES EXPORT_NAME reference)
set_target_properties(tempera_gpu PROPERTIES EXPORT_NAME gpu)
set_target_properties(tempera_lab PROPERTIES EXPORT_NAME lab)
install(TARGETS tempera RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS tempera_reference tempera_gpu tempera_lab EXPORT tempera
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY reference gpu lab DESTINATION include/tempera FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh"
  REGEX "/launch\\.cuh$" EXCLUDE)  # Thrust's, for our own sources
install(DIRECTORY toy_models DESTINATION ${CMAKE_INSTALL_DATADIR}/tempera
  PATTERN "train" EXCLUDE)
# All that `tempera verify` reads: the claims, the statements of their theorems, the matrices from Coq.
install(DIRECTORY proofs DESTINATION ${CMAKE_INSTALL_DATADIR}/tempera
  FILES_MATCHING PATTERN "*.json" PATTERN "*.v" PATTERN "matrices.txt" PATTERN "check_certificate.py")
# For samplers that are judged by `tempera check`: the Python module and the worked examples.
install(DIRECTORY python/tempera_check DESTINATION ${CMAKE_INSTALL_DATADIR}/tempera/python
  FILES_MATCHING PATTERN "*.py")
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/tempera)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/tempera)
configure_package_config_file(cmake/tempera-config.cmake.in tempera-config.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(tempera-config-version.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT tempera NAMESPACE tempera:: FILE tempera-targets.cmake DESTINATION ${package})
install(FILES ${PROJECT_BINARY_DIR}/tempera-config.cmake ${PROJECT_BINARY_DIR}/tempera-config-version.cmake
  DESTINATION ${package})
