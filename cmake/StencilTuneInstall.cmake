# Install tree: the program with its manual page and completions, the libraries that applications link, their public
# headers, a package configuration for find_package(stencil_tune) and one for pkg-config, the docs with all they link to.
include(CMakePackageConfigHelpers)

set(libraries "") # each before those that it uses
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/stencil_tune)

foreach(library IN ITEMS generator db process files runtime distributed)
  if(TARGET stencil_tune_${library})
    list(PREPEND libraries -lstencil_tune_${library})
    set_target_properties(stencil_tune_${library} PROPERTIES EXPORT_NAME ${library})
    install(TARGETS stencil_tune_${library} EXPORT stencil_tune ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
  if(EXISTS ${PROJECT_SOURCE_DIR}/${library}/include)
    install(DIRECTORY ${library}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
  endif()
endforeach()

# The C interface as a shared library has a package file of its own, so that projects without C++ take it alone.
if(TARGET stencil_tune_c)
  install(TARGETS stencil_tune_c EXPORT stencil_tune_c LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT stencil_tune_c NAMESPACE stencil_tune:: FILE stencil_tune-c-targets.cmake DESTINATION ${package_folder})
endif()

if(TARGET stencil-tune)
  install(TARGETS stencil-tune RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

install(EXPORT stencil_tune NAMESPACE stencil_tune:: FILE stencil_tune-targets.cmake DESTINATION ${package_folder})
configure_package_config_file(cmake/stencil_tune-config.cmake.in stencil_tune-config.cmake
  INSTALL_DESTINATION ${package_folder} PATH_VARS CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(stencil_tune-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/stencil_tune-config.cmake ${PROJECT_BINARY_DIR}/stencil_tune-config-version.cmake
  DESTINATION ${package_folder})

# For pkg-config. Programs link archives, and so all that these use.
list(JOIN libraries " " libraries)
string(APPEND libraries " -lstdc++ -lm -pthread ${CMAKE_DL_LIBS}")
string(REPLACE " dl" " -ldl" libraries "${libraries}")
set(requirements "libxxhash sqlite3")
if(STENCIL_TUNE_COMPILED_FMT)
  string(APPEND requirements " fmt")
endif()
file(RELATIVE_PATH prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
configure_file(cmake/stencil_tune.pc.in stencil_tune.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/stencil_tune.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(TARGET stencil_tune_c)
  configure_file(cmake/stencil_tune-c.pc.in stencil_tune-c.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/stencil_tune-c.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

if(PROJECT_IS_TOP_LEVEL)
  if(TARGET manual)
    install(FILES ${PROJECT_BINARY_DIR}/docs/stencil-tune.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  endif()
  install(FILES completions/stencil-tune.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    RENAME stencil-tune)
  install(FILES completions/_stencil-tune DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES completions/stencil-tune.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

  install(FILES LICENSE README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md SECURITY.md
    DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(DIRECTORY docs corpus DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING REGEX "\\.(md|svg|png|toml)$"
    PATTERN site EXCLUDE)
  install(DIRECTORY examples kernels DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(FILES bench/README.md bench/rivals.json DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench)
  install(DIRECTORY db/pretuned DESTINATION ${CMAKE_INSTALL_DOCDIR}/db)
  install(DIRECTORY bench/results DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench FILES_MATCHING REGEX "\\.(txt|json|jsonl|md)$")
endif()
