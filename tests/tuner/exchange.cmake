stencil_tune_add_test(exchange_test
  SOURCES exchange/exchange_test.cpp
  LIBRARIES stencil_tune_exchange stencil_tune_db_testing)
target_compile_definitions(exchange_test PRIVATE STENCIL_TUNE_SOURCE="${PROJECT_SOURCE_DIR}")
stencil_tune_add_test(db_trials_test
  SOURCES commands/db_trials_test.cpp
  LIBRARIES stencil_tune_db_testing)
target_compile_definitions(db_trials_test PRIVATE STENCIL_TUNE_PROGRAM="$<TARGET_FILE:stencil-tune>")
add_dependencies(db_trials_test stencil-tune)

# The trials that scripts/check-exchange exports for other tuners to read.
add_executable(stencil_tune_sample_database EXCLUDE_FROM_ALL exchange/sample_database.cpp)
target_link_libraries(stencil_tune_sample_database PRIVATE stencil_tune_db_testing)
