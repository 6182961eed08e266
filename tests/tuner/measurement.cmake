# Workers, verification and timing: what needs no GPU. A fake worker plays the faults.
add_executable(stencil_tune_fake_worker workers/fake_worker.cpp)
target_link_libraries(stencil_tune_fake_worker PRIVATE stencil_tune::tuner)

stencil_tune_add_test(stencil_tune_measurement_test
  SOURCES
    verify/awkward_test.cpp
    verify/check_kernels_test.cpp
    workers/compile_pool_test.cpp
    verify/field_set_test.cpp
    measure/gpu_lock_test.cpp
    measure/load_race_test.cpp
    measure/measurement_test.cpp
    workers/process_test.cpp
    workers/protocol_test.cpp
    session/storage_test.cpp
    workers/wire_test.cpp
  APART workers/device_proxy_test.cpp workers/device_team_test.cpp
  LIBRARIES stencil_tune::tuner)
add_dependencies(stencil_tune_measurement_test stencil_tune_fake_worker)
target_compile_definitions(stencil_tune_measurement_test PRIVATE
  STENCIL_TUNE_FAKE_WORKER="$<TARGET_FILE:stencil_tune_fake_worker>")

# The reference and the numbers that kernels are checked on, apart: much is built upon them.
stencil_tune_add_test(reference_test
  SOURCES
    verify/adjoint_test.cpp
    verify/bounds_test.cpp
    verify/check_numbers_test.cpp
    verify/reference_expression_test.cpp
    verify/reference_program_test.cpp
    verify/reference_test.cpp
    verify/sharpness_cases.cpp
  APART verify/sharpness_test.cpp
  LIBRARIES stencil_tune::reference
  LONG
    Sharpness.IsEnoughUnderEveryBoundary
    Sharpness.OfTheCorpusAndOfSmallBuiltInsIsEnoughForEveryTypeAndNumberOfSweeps)
target_compile_definitions(reference_test PRIVATE STENCIL_TUNE_CORPUS="${PROJECT_SOURCE_DIR}/corpus")

# Verification and timing as on a GPU, on a device made of the CPU.
stencil_tune_add_test(device_bench_test
  SOURCES measure/corpus_steps_test.cpp measure/device_bench_test.cpp measure/host_checks.cpp measure/host_device.cpp
          measure/placed_bench_test.cpp measure/slab_checks_test.cpp measure/system_bench_test.cpp
          user_kernel/host_trial_test.cpp
          user_kernel/user_kernel_bench_test.cpp
          suites/verified_race_test.cpp
  APART measure/written_form_test.cpp
  LIBRARIES stencil_tune_suites
  LONG
    PlacedBench.KnowsRightKernelsFromWrongOnes
    Systems/CorpusStep.IsVerifiedAndTimed/acoustic3d_sponge
    Systems/CorpusStep.IsVerifiedAndTimed/lbm_d3q19
    Systems/CorpusStep.IsVerifiedAndTimed/tti3d
    Systems/CorpusStep.IsVerifiedAndTimed/variable_diffusion3d
    Systems/CorpusStep.IsVerifiedAndTimed/yee3d_*)
target_compile_definitions(device_bench_test PRIVATE STENCIL_TUNE_SOURCE="${PROJECT_SOURCE_DIR}")

# How sharp the checks of every built-in stencil are: built and run by scripts/check-long.
add_executable(sharpness_table EXCLUDE_FROM_ALL verify/sharpness_cases.cpp verify/sharpness_table.cpp)
target_link_libraries(sharpness_table PRIVATE stencil_tune::reference ${STENCIL_TUNE_FMT})
