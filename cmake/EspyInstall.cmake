# install, find_package(espy) and pkg-config.
include(CMakePackageConfigHelpers)

set(installed espy)
if(TARGET espy-bake)
  list(APPEND installed espy-bake)
endif()
if(TARGET espy-gpu)
  list(APPEND installed espy-gpu)
  set(ESPY_HAVE_GPU ON)
else()
  set(ESPY_HAVE_GPU OFF)
endif()
install(TARGETS ${installed} EXPORT espyTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET espy-cli)
  install(TARGETS espy-cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(TARGET espy-serve)
    install(TARGETS espy-serve RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endif()
install(DIRECTORY include/espy DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY shaders/ DESTINATION ${CMAKE_INSTALL_DATADIR}/espy/shaders)
install(EXPORT espyTargets NAMESPACE espy:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/espy)

configure_package_config_file(cmake/espyConfig.cmake.in ${CMAKE_BINARY_DIR}/espyConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/espy)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/espyConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/espyConfig.cmake ${CMAKE_BINARY_DIR}/espyConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/espy)

# Found from where the file lies, so that an installed tree can be moved.
file(RELATIVE_PATH ESPY_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/espy.pc.in ${CMAKE_BINARY_DIR}/espy.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/espy.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(TARGET espy-bake)
  configure_file(cmake/espy-bake.pc.in ${CMAKE_BINARY_DIR}/espy-bake.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/espy-bake.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
if(TARGET espy-gpu)
  configure_file(cmake/espy-gpu.pc.in ${CMAKE_BINARY_DIR}/espy-gpu.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/espy-gpu.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
