# stencil_tune_add_test(NAME SOURCES file... [LIBRARIES target...] [LABELS label...])
#
# A GoogleTest program with one ctest entry a test. The labels say what a test needs: `gpu` tests skip themselves where
# there is no GPU. They run in the source folder's root, so that they find examples and scripts.
include(GoogleTest)
find_package(GTest REQUIRED)

function(stencil_tune_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES;LABELS")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  stencil_tune_precompile(${name})
  set(one_at_a_time)
  set(seconds 300)
  if("gpu" IN_LIST arg_LABELS)
    set(one_at_a_time RESOURCE_LOCK gpu)
    set(seconds 1200) # sessions with faults: 500 candidates, of which 50 hang, took 147 s in November 2026
  elseif(STENCIL_TUNE_SANITIZE)
    set(seconds 1200)
  endif()
  gtest_discover_tests(${name}
    DISCOVERY_MODE PRE_TEST
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${seconds} ${one_at_a_time})
endfunction()
