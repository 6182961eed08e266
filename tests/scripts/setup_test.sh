#!/usr/bin/env bash
# Holds what scripts/setup does on machines other than this one: each case builds a PATH of its own, in which the
# package tools are fakes that record how they were called. Usage: setup_test.sh CASE
set -uo pipefail

python_packages='jax mypy numpy pytest scikit-build-core scipy'
setup=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/scripts/setup
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bin=$scratch/bin
calls=$scratch/calls

fake() { # NAME BODY
  printf '#!%s/bash\n%s\n' "$bin" "$2" >"$bin/$1"
  chmod +x "$bin/$1"
}

# A machine with everything but the packages named in $1, and a CUDA toolkit.
make_machine() {
  local tool
  mkdir -p "$bin" "$scratch/cuda/include" "$scratch/cuda/lib"
  touch "$scratch/cuda/include/cuda.h" "$scratch/cuda/lib/libnvrtc.so.13" "$calls"
  for tool in bash cat comm dirname env readlink sed sort; do
    ln -s "$(command -v "$tool")" "$bin/$tool"
  done
  for tool in c++ cmake ninja pkg-config; do
    fake "$tool" ''
  done
  fake dpkg-query "
    for package in \"\$@\"; do
      case \" -W -f $1 \" in *\" \$package \"*) ;; *) echo \"installed \$package\" ;; esac
    done"
  fake apt-get "echo \"apt-get \$*\" >>$calls"
  fake id 'echo 0'
  fake python3 'echo 3.11'
  mkdir -p "$scratch/wheels"
  printf '%s\n' "$python_packages" >"$scratch/wheels/complete-3.11"
}

run_setup() {
  status=0
  output=$(env -i PATH="$bin" CUDA_HOME="$scratch/cuda" STENCIL_TUNE_WHEELS="$scratch/wheels" \
    STENCIL_TUNE_DOCS_PACKAGES="$scratch/docs" "$bin/bash" "$setup" "$@" 2>&1) || status=$?
}

fail() {
  printf 'FAILED: %s\n--- status %s, output:\n%s\n--- calls:\n%s\n' "$1" "$status" "$output" "$(cat "$calls")"
  exit 1
}
expect_status() { [[ $status == "$1" ]] || fail "status should be $1"; }
expect_output() { [[ $output == *"$1"* ]] || fail "output should have: $1"; }
expect_call() { grep -qE -- "$1" "$calls" || fail "should have called: $1"; }
expect_no_calls() { [[ ! -s $calls ]] || fail "should have called nothing"; }

says_nothing_and_installs_nothing_when_nothing_is_missing() {
  make_machine ''
  run_setup
  expect_status 0
  [[ -z $output ]] || fail "should be silent"
  expect_no_calls
}

installs_exactly_what_is_missing_as_root() {
  make_machine 'libfmt-dev libxxhash-dev'
  rm "$bin/ninja"
  run_setup
  expect_status 0
  expect_call '^apt-get update'
  expect_call '^apt-get install .*--no-install-recommends ninja-build libfmt-dev libxxhash-dev$'
}

shows_the_words_of_apt_only_where_it_fails() {
  make_machine 'libfmt-dev'
  fake apt-get "echo Unpacking"
  run_setup
  expect_status 0
  [[ $output != *Unpacking* ]] || fail "should not show apt's words"
  fake apt-get "[[ \$* != *install* ]] || { echo 'Unable to locate'; exit 100; }"
  run_setup
  expect_status 100
  expect_output 'Unable to locate'
}

leaves_the_packages_of_tests_to_their_option() {
  make_machine 'libgmock-dev libgtest-dev libpng-dev clang debootstrap shellcheck'
  run_setup
  expect_status 0
  expect_no_calls
  run_setup --tests
  expect_status 0
  expect_call '^apt-get install .*--no-install-recommends git gfortran libgmock-dev libgtest-dev libpng-dev$'
}

downloads_the_python_packages_of_tests_once() {
  make_machine ''
  rm "$scratch/wheels/complete-3.11"
  fake gfortran ''
  fake git ''
  mkdir -p "$scratch/wheels/venv/bin"
  fake python3 "case \$1 in -m) echo \"python3 \$*\" >>$calls ;; *) echo 3.11 ;; esac"
  printf '#!%s/bash\necho "pip $*" >>%s\n' "$bin" "$calls" >"$scratch/wheels/venv/bin/pip"
  chmod +x "$scratch/wheels/venv/bin/pip"
  run_setup
  expect_status 0
  expect_no_calls
  run_setup --tests
  expect_status 0
  expect_call "^pip download .*--dest $scratch/wheels $python_packages$"
  : >"$calls"
  run_setup --tests
  expect_status 0
  expect_no_calls
}

checks_include_tests() {
  make_machine 'libgmock-dev shellcheck'
  mkdir -p "$scratch/docs/bin"
  printf '#!%s/bash\necho "pip $*" >>%s\n' "$bin" "$calls" >"$scratch/docs/bin/pip"
  chmod +x "$scratch/docs/bin/pip"
  run_setup --checks
  expect_status 0
  expect_call '^pip install .*sphinx'
  expect_call '^apt-get install .* libgmock-dev shellcheck$'
}

uses_sudo_where_it_asks_for_no_password() {
  make_machine libfmt-dev
  fake id 'echo 1000'
  fake sudo "echo \"sudo \$*\" >>$calls; [[ \$1 == -n ]] && shift && \"\$@\""
  run_setup
  expect_status 0
  expect_call '^sudo -n env .*apt-get install .*libfmt-dev$'
}

says_what_it_needs_where_it_has_no_rights() {
  make_machine libfmt-dev
  fake id 'echo 1000'
  fake sudo 'exit 1'
  run_setup
  expect_status 1
  expect_output 'sudo apt-get install libfmt-dev'
  expect_no_calls
}

says_what_it_needs_where_there_is_no_apt_get() {
  make_machine libfmt-dev
  rm "$bin/apt-get" "$bin/cmake"
  run_setup
  expect_status 1
  expect_output 'cmake libfmt-dev'
  expect_output 'no apt-get'
}

refuses_an_unknown_option() {
  make_machine ''
  run_setup --check
  expect_status 2
  expect_output "unknown option '--check'"
}

"$1"
