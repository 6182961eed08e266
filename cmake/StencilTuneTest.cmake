# stencil_tune_add_test(NAME [SOURCES file...] [APART file...] [LIBRARIES target...] [LABELS label...] [LONG test...])
#
# A GoogleTest program with one ctest entry a test. The labels say what a test needs: `gpu` tests skip themselves where
# there is no GPU. They run in the source folder's root, so that they find examples and scripts.
#
# APART: sources that name things as others do; see stencil_tune_precompile.
#
# LONG: tests, in GoogleTest's patterns, that take long and say more of what others say already, or whether tests notice what
# they should: they get the label `long`. scripts/test leaves them out, `scripts/check-long tests` runs them.
include(GoogleTest)
find_package(GTest REQUIRED)

function(stencil_tune_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;APART;LIBRARIES;LABELS;LONG")
  add_executable(${name} ${arg_SOURCES} ${arg_APART})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  stencil_tune_precompile(${name} APART ${arg_APART})
  set(one_at_a_time)
  set(seconds 600) # the longest took 110 s on two busy cores in November 2026
  if("gpu" IN_LIST arg_LABELS)
    set(one_at_a_time RESOURCE_LOCK gpu)
    set(seconds 1200) # sessions with faults: 500 candidates, of which 50 hang, took 147 s in November 2026
  elseif(STENCIL_TUNE_SANITIZE)
    set(seconds 1500)
  endif()
  set(labels)
  if(arg_LABELS) # an empty list would take the next property for its value
    set(labels LABELS "${arg_LABELS}")
  endif()
  set(discovery DISCOVERY_MODE PRE_TEST WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set(properties TIMEOUT ${seconds} ${one_at_a_time})
  list(JOIN arg_LONG ":" long)
  gtest_discover_tests(${name} ${discovery} TEST_FILTER "-${long}" PROPERTIES ${properties} ${labels})
  if(arg_LONG)
    gtest_discover_tests(${name} ${discovery} TEST_FILTER "${long}" PROPERTIES ${properties} LABELS long)
  endif()
endfunction()
