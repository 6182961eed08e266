#!/usr/bin/env bash
# Holds what bench/record keeps of a suite, with a fake of the program.
# Usage: record_test.sh CASE
set -uo pipefail
record=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/bench/record
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fake() { # BODY
  printf '#!/usr/bin/env bash\n%s\n' "$1" >"$scratch/program"
  chmod +x "$scratch/program"
}
fail() {
  printf 'FAILED: %s\n' "$1"
  ls -l "$scratch/records"
  exit 1
}
expect_record() {
  [[ $(cat "$scratch/records/main.json") == '{"cases": []}' ]] || fail 'main.json should be what the program printed'
  [[ $(cat "$scratch/records/main.txt") == *'a table' ]] || fail 'main.txt should end with the table'
  [[ $(cat "$scratch/records/main.txt") != *tried* ]] || fail 'main.txt should have no progress'
}

keeps_json_and_tables_without_progress() {
  fake 'echo "   1 s  5 tried" >&2; echo "a table" >&2; echo "{\"cases\": []}"'
  STENCIL_TUNE=$scratch/program "$record" main "$scratch/records" 2>/dev/null || fail 'status should be 0'
  expect_record
}

keeps_what_an_interrupted_program_has() {
  fake 'trap "echo a table >&2; echo \"{\\\"cases\\\": []}\"; exit 1" TERM
touch '"$scratch"'/runs
while :; do sleep 0.1; done'
  # In a process group of its own, which the signal reaches as a whole, as that of a terminal or of timeout does.
  STENCIL_TUNE=$scratch/program setsid "$record" main "$scratch/records" 2>/dev/null &
  local process=$!
  while [[ ! -e $scratch/runs ]]; do sleep 0.1; done
  kill -TERM -- "-$process"
  if wait "$process"; then fail 'status should not be 0'; fi
  expect_record
}

keeps_nothing_of_a_program_that_printed_nothing() {
  fake 'exit 2'
  if STENCIL_TUNE=$scratch/program "$record" main "$scratch/records" 2>/dev/null; then fail 'status should not be 0'; fi
  [[ ! -e $scratch/records/main.json ]] || fail 'there should be no record'
}

"$1"
