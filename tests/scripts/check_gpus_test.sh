#!/usr/bin/env bash
# Holds what scripts/check-gpus says of machines with and without two GPUs and NCCL; all programs are fakes here.
# Usage: check_gpus_test.sh CASE
set -uo pipefail
check_gpus=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/scripts/check-gpus
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/path" "$scratch/build/bin" "$scratch/build/runtime"

fake() { # PATH BODY
  printf '#!/usr/bin/env bash\n%s\n' "$2" >"$1"
  chmod +x "$1"
}
gpus() { fake "$scratch/path/nvidia-smi" "[[ \$1 != -L ]] || for ((i = 0; i < $1; ++i)); do echo \"GPU \$i: made up\"; done"; }

run_check() {
  status=0
  output=$(STENCIL_TUNE_NCCL=$scratch/libnccl.so.2 PATH=$scratch/path:/usr/bin:/bin "$check_gpus" "$@" 2>&1) || status=$?
}
fail() {
  printf 'FAILED: %s\n--- status %s, output:\n%s\n' "$1" "$status" "$output"
  exit 1
}
expect_status() { [[ $status == "$1" ]] || fail "status should be $1"; }
expect_output() { [[ $output == *"$1"* ]] || fail "output should have: $1"; }

touch "$scratch/libnccl.so.2"
gpus 2
fake "$scratch/build/bin/stencil_tune_nccl_test" "echo '[  PASSED  ] 8 tests.'"
fake "$scratch/build/bin/stencil_tune_bench_scaling" "echo 'a table' >\$1/scaling.txt"
fake "$scratch/build/bin/stencil-tune" 'case "$*" in
*"--device 0,1"*) echo "190 trials in 60 s (budget)" ;;
*--device*) echo "100 trials in 60 s (budget)" ;;
*) echo stencil-tune 0 ;;
esac'
# Neither MPI nor a Python with what the examples need.
fake "$scratch/path/mpirun" 'exit 3'
fake "$scratch/path/python3" 'exit 1'

says_what_ran_and_what_did_not() {
  run_check "$scratch/out" "$scratch/build"
  expect_status 0
  expect_output 'cells through NCCL:    passed'
  expect_output 'a table'
  expect_output '100 on one GPU, 190 on two: 1.90 x (target 1.90 x): reached'
  expect_output 'C++ over NCCL:         NOT RUN: no example_nccl_heat'
  expect_output 'Python over mpi:       NOT RUN'
  expect_output 'passed, but for what was not run'
  grep -q 'cells through NCCL' "$scratch/out/check-gpus.txt" || fail 'the output should be kept'
}

checks_nothing_on_one_gpu() {
  gpus 1
  run_check "$scratch/out" "$scratch/build"
  expect_status 77
  expect_output 'NOT CHECKED: two GPUs are needed, 1 found'
}

is_not_fooled_by_tests_that_skip_themselves() {
  fake "$scratch/build/bin/stencil_tune_nccl_test" "printf '[  PASSED  ] 0 tests.\n[  SKIPPED ] 8 tests, listed below:\n'"
  run_check "$scratch/out" "$scratch/build"
  expect_status 77
  expect_output 'cells through NCCL:    NOT RUN: 8 tests skipped themselves'
}

fails_where_a_cell_is_wrong() {
  fake "$scratch/build/bin/stencil_tune_nccl_test" "echo '[  FAILED  ] 1 test, listed below:'; exit 1"
  run_check "$scratch/out" "$scratch/build"
  expect_status 1
  expect_output 'cells through NCCL:    FAILED: exit status 1'
}

says_a_target_that_was_missed() {
  fake "$scratch/build/bin/stencil-tune" 'echo "100 trials in 60 s (budget)"'
  run_check "$scratch/out" "$scratch/build"
  expect_status 0
  expect_output '1.00 x (target 1.90 x): MISSED'
}

fails_where_an_example_does() {
  cp /bin/true "$scratch/build/bin/example_mpi_halos"
  run_check "$scratch/out" "$scratch/build"
  expect_status 1
  expect_output 'C++ over MPI:          FAILED: exit status 3'
}

packs_what_a_machine_without_a_compiler_needs() {
  local name
  for name in stencil-tune stencil_tune_bench_scaling stencil_tune_nccl_test; do cp /bin/true "$scratch/build/bin/$name"; done
  run_check --pack "$scratch/packed" "$scratch/build"
  expect_status 0
  expect_output 'without example_nccl_heat'
  "$scratch/packed/bin/stencil_tune_nccl_test" || fail 'a packed program should run'
  rm "$scratch/build/bin/stencil_tune_nccl_test"
  run_check --pack "$scratch/again" "$scratch/build"
  expect_status 2
}

refuses_programs_that_are_not_there() {
  run_check "$scratch/out" "$scratch/nowhere"
  expect_status 2
}

"$1"
