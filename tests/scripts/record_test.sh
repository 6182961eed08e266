#!/usr/bin/env bash
# Holds what bench/record keeps of a suite, with a fake of the program.
# Usage: record_test.sh CASE
set -uo pipefail
record=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/bench/record
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

gpus=1
# shellcheck disable=SC2016 # the fake's own variables
fake() { # BODY of `bench`
  printf '#!/usr/bin/env bash\nif [[ $1 == devices ]]; then for ((i = 0; i < %s; ++i)); do echo "\\"uuid\\""; done; exit; fi\n%s\n' \
    "$gpus" "$1" >"$scratch/program"
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
  fake 'trap "sleep 0.3; echo a table >&2; echo \"{\\\"cases\\\": []}\"; exit 1" TERM
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

shares_the_cases_among_all_gpus() {
  command -v python3 >/dev/null || exit 77
  gpus=2
  # shellcheck disable=SC2016
  # Case N of the part that --cases N-/2 chooses, and the one after the next.
  fake 'while [[ $1 != --cases ]]; do if [[ $1 == --device ]]; then device=$2; fi; shift; done
first=${2%%-*}
echo "   1 s  5 tried" >&2
echo "table $first" >&2
echo "{\"commit\": \"abc\", \"cases\": [{\"case\": $first, \"device\": $device}, {\"case\": $((first + 2)), \"device\": $device}]}"
exit $((first == 2))'
  if STENCIL_TUNE=$scratch/program "$record" main "$scratch/records" 2>/dev/null; then fail 'status should not be 0'; fi
  local cases
  cases=$(python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["commit"], [(c["case"], c["device"]) for c in r["cases"]])' \
    "$scratch/records/main.json")
  [[ $cases == 'abc [(1, 0), (2, 1), (3, 0), (4, 1)]' ]] || fail "cases should be in order, each from its GPU: $cases"
  [[ $(cat "$scratch/records/main.txt") == $'table 1\ntable 2' ]] || fail 'main.txt should have the tables of both parts'
  STENCIL_TUNE=$scratch/program "$record" main "$scratch/records" --device 1 --cases 3-/2 2>/dev/null || fail 'status should be 0'
  [[ $(cat "$scratch/records/main.txt") == 'table 3' ]] || fail 'with --cases one GPU should do it all'
}

keeps_the_parts_that_got_as_far_as_a_case() {
  command -v python3 >/dev/null || exit 77
  gpus=3
  # Nothing came of the first part, and no case of the second.
  # shellcheck disable=SC2016
  fake 'while [[ $1 != --cases ]]; do shift; done
case $2 in
  1-*) exit 1 ;;
  2-*) echo "{\"commit\": \"abc\"}"; exit 1 ;;
  *) echo "{\"commit\": \"abc\", \"cases\": [{\"case\": 3}]}" ;;
esac'
  if STENCIL_TUNE=$scratch/program "$record" main "$scratch/records" 2>/dev/null; then fail 'status should not be 0'; fi
  python3 -c 'import json, sys; assert json.load(open(sys.argv[1])) == {"commit": "abc", "cases": [{"case": 3}]}' \
    "$scratch/records/main.json" || fail 'the third part should be kept'
}

keeps_nothing_of_a_program_that_printed_nothing() {
  fake 'exit 2'
  if STENCIL_TUNE=$scratch/program "$record" main "$scratch/records" 2>/dev/null; then fail 'status should not be 0'; fi
  [[ ! -e $scratch/records/main.json ]] || fail 'there should be no record'
}

"$1"
