find_package(ZLIB REQUIRED)

stencil_tune_add_test(replay_test
  SOURCES
    replay/curves_test.cpp
    replay/readers_test.cpp
    replay/score_test.cpp
  LIBRARIES stencil_tune_replay stencil_tune_db_testing ZLIB::ZLIB)
