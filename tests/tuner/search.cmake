stencil_tune_add_test(model_test
  SOURCES
    model/calibration_test.cpp
    model/device_model_test.cpp
    model/model_test.cpp
    model/occupancy_test.cpp
  LIBRARIES stencil_tune_fitter)
target_link_libraries(model_test PRIVATE CudaHeaders::CudaHeaders)
stencil_tune_add_test(predict_test SOURCES session/predict_test.cpp LIBRARIES stencil_tune::tuner)
stencil_tune_add_test(report_test
  SOURCES
    report/report_page_test.cpp
    session/report_test.cpp
    session/run_plan_test.cpp
    session/stage_by_stage_test.cpp
    session/text_table_test.cpp
  LIBRARIES stencil_tune::tuner GTest::gmock)
stencil_tune_add_test(session_test SOURCES session/session_test.cpp session/warm_starts_test.cpp LIBRARIES stencil_tune::tuner)
stencil_tune_add_test(strategy_test SOURCES search/strategy_test.cpp LIBRARIES stencil_tune::tuner)
stencil_tune_add_test(suites_test
  SOURCES suites/suites_test.cpp
  LIBRARIES stencil_tune_suites)

stencil_tune_add_test(winner_lookup_test
  SOURCES
    commands/winner_lookup_test.cpp
    ${PROJECT_SOURCE_DIR}/tuner/commands/winner_lookup.cpp
  LIBRARIES stencil_tune::tuner)

stencil_tune_add_test(interrupt_test
  SOURCES
    commands/interrupt_test.cpp
    ${PROJECT_SOURCE_DIR}/tuner/commands/interrupt.cpp
  LIBRARIES stencil_tune::tuner)

stencil_tune_add_test(output_file_test
  SOURCES
    commands/output_file_test.cpp
    ${PROJECT_SOURCE_DIR}/tuner/commands/output_file.cpp
  LIBRARIES stencil_tune::tuner ${STENCIL_TUNE_FMT})

stencil_tune_add_test(command_line_test SOURCES commands/command_line_test.cpp LIBRARIES stencil_tune::tuner stencil_tune_db_testing)
target_compile_definitions(command_line_test PRIVATE STENCIL_TUNE_PROGRAM="$<TARGET_FILE:stencil-tune>")
add_dependencies(command_line_test stencil-tune)
