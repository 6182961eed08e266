# What `cpack` makes of the install tree: a Debian package and a tarball. scripts/release calls it on the portable preset.
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PACKAGE_NAME stencil-tune)
set(CPACK_PACKAGE_FILE_NAME stencil-tune-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)

# dpkg-shlibdeps finds what the program and the shared library need, and the recommended packages are what programs that
# link the archives need: the archives name SQLite and xxHash, which they do not hold.
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "Program, libraries for C++, C and Fortran, and documentation.\nNVIDIA's driver and NVRTC are opened when they are used.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libsqlite3-dev, libxxhash-dev")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cuda-nvrtc-13-0 | cuda-nvrtc-12-9 | nvidia-cuda-toolkit") # the first two are NVIDIA's

# The licences of what is linked, where scripts/release has written them; in the place where Debian looks for them.
install(FILES ${PROJECT_BINARY_DIR}/third-party.txt RENAME copyright OPTIONAL
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/stencil-tune)
include(CPack)
