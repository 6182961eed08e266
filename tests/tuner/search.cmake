stencil_tune_add_test(predict_test SOURCES session/predict_test.cpp LIBRARIES stencil_tune::tuner)
stencil_tune_add_test(final_table_test
  SOURCES
    report/report_page_test.cpp
    report/suite_page_test.cpp
    session/stage_by_stage_test.cpp
    session/text_table_test.cpp
    session/zone_tuning_test.cpp
    terminal/csv_test.cpp
    terminal/terminal_test.cpp
    terminal/wrap_test.cpp
  APART session/final_table_test.cpp session/run_plan_test.cpp
  LIBRARIES stencil_tune::tuner GTest::gmock)
stencil_tune_add_test(session_test
  SOURCES
    session/assembly_test.cpp
    session/contenders_test.cpp
    session/several_devices_test.cpp
    session/warm_starts_test.cpp
  APART session/session_test.cpp
  LIBRARIES stencil_tune::tuner)
stencil_tune_add_test(strategy_test
  SOURCES search/strategy_test.cpp
  LIBRARIES stencil_tune::tuner
  LONG
    StrategyTest.ASmallSpaceIsTriedWholeByEveryStrategyAndThenThereIsNoMore
    StrategyTest.LocalSearchComesNearTheBestThatRandomSearchFindsInAHundredTimesTheTrials
    StrategyTest.LocalSearchLeavesChangesAloneThatWereBadBefore
    StrategyTest.LocalSearchWorksWithProposalsFarAheadOfReports)
stencil_tune_add_test(suites_test
  SOURCES suites/suites_test.cpp
  LIBRARIES stencil_tune_suites)

stencil_tune_add_test(winner_lookup_test
  SOURCES
    commands/winner_lookup_test.cpp
    ${PROJECT_SOURCE_DIR}/tuner/commands/winner/winner_lookup.cpp
  LIBRARIES stencil_tune::tuner)

stencil_tune_add_test(interrupt_test
  SOURCES
    commands/interrupt_test.cpp
    ${PROJECT_SOURCE_DIR}/tuner/commands/program/interrupt.cpp
  LIBRARIES stencil_tune::tuner)

find_package(Boost REQUIRED COMPONENTS program_options)
stencil_tune_add_test(target_test
  SOURCES
    commands/target_test.cpp
    ${PROJECT_SOURCE_DIR}/tuner/commands/program/command_line.cpp
    ${PROJECT_SOURCE_DIR}/tuner/commands/program/help_text.cpp
    ${PROJECT_SOURCE_DIR}/tuner/commands/options/target.cpp
  LIBRARIES stencil_tune::tuner Boost::program_options)

stencil_tune_add_test(command_line_test
  SOURCES
    commands/command_line_test.cpp
    commands/on_a_terminal_test.cpp
    commands/user_kernel_winners_test.cpp
    commands/prediction_test.cpp
    commands/pseudo_terminal.cpp
    commands/shipped_winners_test.cpp
    commands/site_winners_test.cpp
  LIBRARIES stencil_tune::tuner stencil_tune_db_testing)
target_compile_definitions(command_line_test PRIVATE
  STENCIL_TUNE_PROGRAM="$<TARGET_FILE:stencil-tune>"
  STENCIL_TUNE_BENCH_RECORD="${PROJECT_SOURCE_DIR}/bench/results/h200/single-sweep.json"
  STENCIL_TUNE_SHIPPED_WINNERS="${PROJECT_SOURCE_DIR}/db/pretuned/h200.json")
add_dependencies(command_line_test stencil-tune)
