# `stencil-tune kernel` as a user runs it, on a GPU that is made of the CPU.
add_executable(stencil_tune_on_host_program
  kernel_command/program_on_host.cpp
  measure/host_checks.cpp
  ${PROJECT_SOURCE_DIR}/tuner/commands/program/main.cpp)
target_link_libraries(stencil_tune_on_host_program PRIVATE stencil_tune_commands)
target_include_directories(stencil_tune_on_host_program PRIVATE ${PROJECT_SOURCE_DIR})

stencil_tune_add_test(kernel_command_test
  SOURCES kernel_command/kernel_command_test.cpp
  LIBRARIES stencil_tune::tuner stencil_tune_db_testing)
target_compile_definitions(kernel_command_test PRIVATE
  STENCIL_TUNE_PROGRAM="$<TARGET_FILE:stencil_tune_on_host_program>")
add_dependencies(kernel_command_test stencil_tune_on_host_program)
