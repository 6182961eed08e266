# How this project's own code is compiled. The options hold for the directories below the top one, so that neither the
# exported targets nor a project that embeds this one inherit them.

add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-Wall> $<$<COMPILE_LANGUAGE:C,CXX>:-Wextra>
                    $<$<COMPILE_LANGUAGE:C,CXX>:-Wpedantic> $<$<COMPILE_LANGUAGE:C,CXX>:-Wshadow>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>) # GCC bug 105651: false alarms on std::string at -O1 and above
endif()
if(STENCIL_TUNE_WERROR)
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-Werror>)
endif()

if(STENCIL_TUNE_SANITIZE)
  # Not of Fortran: gfortran's own code for optional arrays that are not there loads from null.
  set(sanitize -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${sanitize}>")
  add_link_options(-fsanitize=address,undefined)
  add_compile_definitions(STENCIL_TUNE_SANITIZED)
endif()

if(STENCIL_TUNE_PORTABLE)
  # Every find_package and pkg_check_modules below prefers the archive.
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
  set(Boost_USE_STATIC_LIBS ON)
  # What nothing calls is left out, of libstdc++ too: its random numbers alone would take glibc 2.36.
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-ffunction-sections> $<$<COMPILE_LANGUAGE:C,CXX>:-fdata-sections>)
  add_link_options(-static-libstdc++ -static-libgcc LINKER:--gc-sections,--strip-all)
endif()

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(STENCIL_TUNE_CCACHE ccache)
  mark_as_advanced(STENCIL_TUNE_CCACHE)
  if(STENCIL_TUNE_CCACHE)
    # Paths relative to the source folder let all checkouts and presets share what was compiled once.
    set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${STENCIL_TUNE_CCACHE})
  endif()
endif()

# {fmt} compiled into each file doubles the time a build takes; the program then needs no libfmt.
find_package(fmt REQUIRED)
if(STENCIL_TUNE_COMPILED_FMT)
  set(STENCIL_TUNE_FMT fmt::fmt)
else()
  set(STENCIL_TUNE_FMT $<BUILD_INTERFACE:fmt::fmt-header-only>)
endif()

set(STENCIL_TUNE_PRECOMPILED <algorithm> <array> <filesystem> <functional> <map> <optional> <string> <vector> <fmt/format.h>)

# stencil_tune_precompile(TARGET [ALONE] [HEADERS header...] [APART file...]): the headers that most files include are parsed
# once for all libraries, and with GoogleTest once for all test programs; files are compiled sixteen together. Either halves
# the time that a file takes. ALONE: the headers once for this target, which is compiled by other options or includes
# HEADERS besides in most of its files. APART: files that name things as others do. ccache saves more, and shares nothing
# between folders with precompiled headers. Tools that read GCC's commands with Clang's parser cannot take them. Folders
# with other options set STENCIL_TUNE_PRECOMPILED_KIND and share headers of their own.
function(stencil_tune_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ALONE" "" "HEADERS;APART")
  if(NOT STENCIL_TUNE_PRECOMPILE OR CMAKE_CXX_COMPILER_LAUNCHER)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
  get_target_property(generated ${target} SOURCES)
  list(FILTER generated INCLUDE REGEX "^${PROJECT_BINARY_DIR}")
  set_source_files_properties(${arg_APART} ${generated} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(arg_ALONE)
    target_precompile_headers(${target} PRIVATE ${STENCIL_TUNE_PRECOMPILED} ${arg_HEADERS})
    return()
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL EXECUTABLE) # a program's code is compiled by other options than a library's
    set(precompiled stencil_tune_${STENCIL_TUNE_PRECOMPILED_KIND}precompiled_tests)
  else()
    set(precompiled stencil_tune_${STENCIL_TUNE_PRECOMPILED_KIND}precompiled)
  endif()
  if(NOT TARGET ${precompiled})
    set(source ${PROJECT_BINARY_DIR}/precompiled.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "int main() { return 0; }\n")
    set(headers ${STENCIL_TUNE_PRECOMPILED})
    if(type STREQUAL EXECUTABLE)
      add_executable(${precompiled} ${source})
      target_link_libraries(${precompiled} PRIVATE GTest::gtest)
      list(APPEND headers <gtest/gtest.h>)
    else()
      add_library(${precompiled} OBJECT ${source})
    endif()
    target_link_libraries(${precompiled} PRIVATE ${STENCIL_TUNE_FMT})
    target_precompile_headers(${precompiled} PRIVATE ${headers})
  endif()
  target_link_libraries(${target} PRIVATE ${STENCIL_TUNE_FMT}) # who includes it otherwise cannot take what was parsed
  target_precompile_headers(${target} REUSE_FROM ${precompiled})
endfunction()
