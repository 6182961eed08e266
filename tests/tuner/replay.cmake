find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)

stencil_tune_add_test(replay_test
  SOURCES
    replay/curves_test.cpp
    replay/readers_test.cpp
    replay/recorded_stencil_test.cpp
    replay/score_test.cpp
  LIBRARIES stencil_tune_replay stencil_tune_db_testing ZLIB::ZLIB
  LONG ReadSpacesTest.ValuesEndWhereNoSpaceHasMore)
stencil_tune_add_test(table_strategies_test
  SOURCES
    search/strategies/configuration_table_test.cpp
    search/strategies/gaussian_process_test.cpp
    search/strategies/strategies_test.cpp
  LIBRARIES stencil_tune_replay)
stencil_tune_add_test(replay_command_test
  SOURCES commands/replay_command_test.cpp
  LIBRARIES stencil_tune_db_testing nlohmann_json::nlohmann_json)
target_compile_definitions(replay_command_test PRIVATE STENCIL_TUNE_PROGRAM="$<TARGET_FILE:stencil-tune>")
add_dependencies(replay_command_test stencil-tune)
stencil_tune_add_test(user_kernel_session_test
  SOURCES user_kernel/user_kernel_session_test.cpp
  LIBRARIES stencil_tune_replay)
