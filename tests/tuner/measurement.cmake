# Workers, verification and timing: what needs no GPU. A fake worker plays the faults.
add_executable(stencil_tune_fake_worker fake_worker.cpp)
target_link_libraries(stencil_tune_fake_worker PRIVATE stencil_tune::tuner)

stencil_tune_add_test(stencil_tune_measurement_test
  SOURCES
    awkward_test.cpp
    check_kernels_test.cpp
    compile_pool_test.cpp
    device_proxy_test.cpp
    field_set_test.cpp
    gpu_lock_test.cpp
    measurement_test.cpp
    process_test.cpp
    protocol_test.cpp
    reference_program_test.cpp
    reference_test.cpp
    storage_test.cpp
    wire_test.cpp
  LIBRARIES stencil_tune::tuner)
add_dependencies(stencil_tune_measurement_test stencil_tune_fake_worker)
target_compile_definitions(stencil_tune_measurement_test PRIVATE
  STENCIL_TUNE_FAKE_WORKER="$<TARGET_FILE:stencil_tune_fake_worker>")
