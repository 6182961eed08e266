# `stencil-tune kernel` and `tune` as a user runs them, on a GPU that is made of the CPU.
add_executable(stencil_tune_on_host_program
  kernel_command/program_on_host.cpp
  measure/host_checks.cpp
  ${PROJECT_SOURCE_DIR}/tuner/commands/program/main.cpp)
target_link_libraries(stencil_tune_on_host_program PRIVATE stencil_tune_commands)
target_include_directories(stencil_tune_on_host_program PRIVATE ${PROJECT_SOURCE_DIR})

add_library(stencil_tune_saxpy_reference SHARED kernel_command/saxpy_reference.cpp)

stencil_tune_add_test(kernel_command_test
  SOURCES kernel_command/kernel_command_test.cpp
  LIBRARIES stencil_tune::tuner stencil_tune_db_testing)
target_compile_definitions(kernel_command_test PRIVATE
  STENCIL_TUNE_PROGRAM="$<TARGET_FILE:stencil_tune_on_host_program>"
  STENCIL_TUNE_TEMPLATES="${PROJECT_BINARY_DIR}/generator/templates"
  STENCIL_TUNE_SAXPY_REFERENCE="$<TARGET_FILE:stencil_tune_saxpy_reference>"
  STENCIL_TUNE_TEST_CACHE="${CMAKE_CURRENT_BINARY_DIR}/kernel_command_cache")
add_dependencies(kernel_command_test stencil_tune_on_host_program stencil_tune_saxpy_reference)
