# `cmake --install` gives the command, the public headers, the libraries, the shipped models, the claims and the CMake
# package `tempera` with the targets tempera::sampling (open, sample, score) and tempera::check (judge, exact laws).
# Warnings as errors and machine flags are for this build alone, and are not installed.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(libraries base gpu settings runs reference ptx lab sampling check)
foreach(library IN LISTS libraries ITEMS serve)
  set_target_properties(tempera_${library} PROPERTIES EXPORT_NAME ${library})
endforeach()
list(TRANSFORM libraries PREPEND tempera_)
install(TARGETS tempera RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS ${libraries} EXPORT tempera ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/tempera DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY toy_models DESTINATION ${CMAKE_INSTALL_DATADIR}/tempera
  PATTERN "train" EXCLUDE)
# All that `tempera verify` reads: the claims, the statements of their theorems, the matrices from Coq.
install(DIRECTORY proofs DESTINATION ${CMAKE_INSTALL_DATADIR}/tempera
  FILES_MATCHING PATTERN "*.json" PATTERN "*.v" PATTERN "matrices.txt" PATTERN "statements.txt" PATTERN "*.sealed" PATTERN "check_certificate.py"
  PATTERN "checker" EXCLUDE)
# The modules of `tempera check` and `tempera eval`, with the paper's tables, and the worked examples. What Python has
# compiled of them is left out: it would be taken for newer texts of the same length.
install(DIRECTORY python/tempera python/tempera_check DESTINATION ${CMAKE_INSTALL_DATADIR}/tempera/python
  FILES_MATCHING PATTERN "*.py" PATTERN "*.txt" PATTERN "py.typed" PATTERN "*.pyi" PATTERN "__pycache__" EXCLUDE)
install(FILES proofs/paper_tables.json
  DESTINATION ${CMAKE_INSTALL_DATADIR}/tempera/python/tempera/eval/report)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/tempera PATTERN "__pycache__" EXCLUDE)
# Where Debian looks for the licences of a package.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(FILES LICENCES.txt DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(TEMPERA_DATA ${CMAKE_INSTALL_DATADIR}/tempera)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/tempera)
configure_package_config_file(cmake/tempera-config.cmake.in tempera-config.cmake INSTALL_DESTINATION ${package}
  PATH_VARS TEMPERA_DATA)
write_basic_package_version_file(tempera-config-version.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT tempera NAMESPACE tempera:: FILE tempera-targets.cmake DESTINATION ${package})
install(FILES ${PROJECT_BINARY_DIR}/tempera-config.cmake ${PROJECT_BINARY_DIR}/tempera-config-version.cmake
  DESTINATION ${package})
