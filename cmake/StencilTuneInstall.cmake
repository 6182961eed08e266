# Install tree: the program, the libraries that applications link, their public headers and a package configuration, so
# that find_package(stencil_tune) gives stencil_tune::runtime.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/stencil_tune)

foreach(library IN ITEMS generator db process files runtime)
  if(TARGET stencil_tune_${library})
    set_target_properties(stencil_tune_${library} PROPERTIES EXPORT_NAME ${library})
    install(TARGETS stencil_tune_${library} EXPORT stencil_tune ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
  if(EXISTS ${PROJECT_SOURCE_DIR}/${library}/include)
    install(DIRECTORY ${library}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
  endif()
endforeach()

if(TARGET stencil-tune)
  install(TARGETS stencil-tune RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

install(EXPORT stencil_tune NAMESPACE stencil_tune:: FILE stencil_tune-targets.cmake DESTINATION ${package_folder})
configure_package_config_file(cmake/stencil_tune-config.cmake.in stencil_tune-config.cmake
  INSTALL_DESTINATION ${package_folder} PATH_VARS CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(stencil_tune-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/stencil_tune-config.cmake ${PROJECT_BINARY_DIR}/stencil_tune-config-version.cmake
  DESTINATION ${package_folder})
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
