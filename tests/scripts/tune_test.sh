#!/usr/bin/env bash
# Holds what scripts/tune does around the program, in a tree whose CMake, Ninja and program are fakes.
# Usage: tune_test.sh CASE
set -uo pipefail

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../scripts" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
program=$scratch/build/default/bin/stencil-tune

fake() { # FILE BODY
  mkdir -p "${1%/*}"
  printf '#!/usr/bin/env bash\n%s\n' "$2" >"$1"
  chmod +x "$1"
}

# A tree that is not built yet. Its program prints its arguments, and ends with status 3.
mkdir "$scratch/scripts"
cp "$source/tune" "$source/common.sh" "$scratch/scripts"
fake "$scratch/scripts/setup" ''
fake "$scratch/program" 'echo "table $*"; exit 3'
fake "$scratch/bin/cmake" 'echo "many words of CMake"; touch build/default/build.ninja'
fake "$scratch/bin/ninja" "echo 'many words of Ninja'; mkdir -p build/default/bin; cp '$scratch/program' '$program'"

run_tune() {
  status=0
  printed=$(PATH=$scratch/bin:$PATH "$scratch/scripts/tune" "$@" 2>"$scratch/said") || status=$?
  said=$(<"$scratch/said")
}

expect_same() { # WHAT IS SHOULD-BE
  [[ $2 == "$3" ]] || { printf 'FAILED: %s is\n%s\nand should be\n%s\n' "$1" "$2" "$3"; exit 1; }
}

says_a_line_for_each_stage_and_where_the_program_is() {
  run_tune --dims 64
  expect_same 'standard output' "$printed" 'table --dims 64'
  expect_same 'what it says' "$said" $'tune: configuring\ntune: building\ntune: the program is '"$program"
  expect_same 'its status, the program'\''s,' "$status" 3
  run_tune
  expect_same 'what it says once all is built' "$said" "tune: the program is $program"
}

shows_the_words_of_a_build_that_fails() {
  fake "$scratch/bin/ninja" 'echo "error: no such header"; exit 4'
  run_tune
  expect_same 'standard output' "$printed" ''
  expect_same 'what it says' "$said" $'tune: configuring\ntune: building\nerror: no such header'
  expect_same 'its status' "$status" 4
}

"$1"
