#!/usr/bin/env bash
# Holds what scripts/check-gpu says of machines with and without a GPU and compute-sanitizer; both are fakes here.
# Usage: check_gpu_test.sh CASE
set -uo pipefail
check_gpu=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/scripts/check-gpu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
program=$scratch/gpu_test
mkdir -p "$scratch/cuda/bin" "$scratch/cuda/include" "$scratch/cuda/lib"
touch "$scratch/cuda/include/cuda.h" "$scratch/cuda/lib/libnvrtc.so.13"

fake() { # PATH BODY
  printf '#!/usr/bin/env bash\n%s\n' "$2" >"$1"
  chmod +x "$1"
}
fake_tests() { fake "$program" "printf '$1'"; }
fake_sanitizer() { # SUMMARY STATUS
  fake "$scratch/cuda/bin/compute-sanitizer" "shift 4; \"\$@\"; echo '========= $1'; exit $2"
}
readonly all_pass='[  PASSED  ] 5 tests.\n'
readonly all_skip='[  PASSED  ] 0 tests.\n[  SKIPPED ] 5 tests, listed below:\n'

run_check() {
  status=0
  output=$(STENCIL_TUNE_GPU_JOBS=${jobs:-1} CUDA_HOME=$scratch/cuda PATH=/usr/bin:/bin "$check_gpu" "$@" 2>&1) || status=$?
}
fail() {
  printf 'FAILED: %s\n--- status %s, output:\n%s\n' "$1" "$status" "$output"
  exit 1
}
expect_status() { [[ $status == "$1" ]] || fail "status should be $1"; }
expect_output() { [[ $output == *"$1"* ]] || fail "output should have: $1"; }

passes_where_tests_and_tools_do() {
  fake_tests "$all_pass"
  fake_sanitizer 'ERROR SUMMARY: 0 errors' 0
  run_check "$program"
  expect_status 0
  expect_output 'GPU tests: 5 passed, 0 failed, 0 skipped'
  expect_output 'synccheck clean'
}

adds_up_what_its_processes_ran() {
  fake "$program" "printf '[  PASSED  ] %s tests.\\n' \$((GTEST_SHARD_INDEX + 1))"
  fake_sanitizer 'ERROR SUMMARY: 0 errors' 0
  jobs=3 run_check "$program"
  expect_status 0
  expect_output 'GPU tests: 6 passed, 0 failed, 0 skipped'
}

repeats_what_tests_found_at_the_end() {
  fake_tests "faults on a GPU: 40 candidates\na kernel of 300 us\n$all_pass"
  fake_sanitizer 'ERROR SUMMARY: 0 errors' 0
  run_check "$program"
  expect_status 0
  expect_output $'\nfaults on a GPU: 40 candidates\na kernel of 300 us\nGPU tests: 5 passed'
}

repeats_what_tests_found_under_ctest() {
  local build=$scratch/build
  mkdir -p "$build/bin"
  program=$build/bin/stencil_tune_gpu_test
  fake_tests "faults on a GPU: 40 candidates\n$all_pass"
  printf 'add_test(GpuFaults.A "%s")\nset_tests_properties(GpuFaults.A PROPERTIES LABELS gpu)\n' "$program" \
    >"$build/CTestTestfile.cmake"
  fake_sanitizer 'ERROR SUMMARY: 0 errors' 0
  run_check "$build"
  expect_status 0
  expect_output $'\nfaults on a GPU: 40 candidates\nGPU tests: 1 passed'
}

fails_where_one_of_its_processes_does() {
  fake "$program" "printf '[  PASSED  ] 1 test.\\n'; exit \$((GTEST_SHARD_INDEX == 1))"
  fake_sanitizer 'ERROR SUMMARY: 0 errors' 0
  jobs=3 run_check "$program"
  expect_status 1
}

fails_where_a_tool_finds_something() {
  fake_tests "$all_pass"
  fake_sanitizer 'ERROR SUMMARY: 3 errors' 1
  run_check "$program"
  expect_status 1
  expect_output 'memcheck FAILED (ERROR SUMMARY: 3 errors'
}

fails_where_a_tool_ran_no_test() {
  fake_tests "$all_pass"
  fake "$scratch/cuda/bin/compute-sanitizer" "printf '$all_skip'; echo '========= ERROR SUMMARY: 0 errors'"
  run_check "$program"
  expect_status 1
}

says_that_there_is_no_gpu() {
  fake_tests "$all_skip"
  fake_sanitizer 'ERROR SUMMARY: 0 errors' 0
  run_check "$program"
  expect_status 77
  expect_output 'no GPU here'
}

says_that_there_is_no_sanitizer() {
  PATH=/usr/bin:/bin command -v compute-sanitizer >/dev/null && exit 0 # this machine's own would be found
  fake_tests "$all_pass"
  run_check "$program"
  expect_status 77
  expect_output 'compute-sanitizer: not run, none here'
}

refuses_a_program_that_is_not_there() {
  run_check "$scratch/nothing"
  expect_status 2
}

"$1"
