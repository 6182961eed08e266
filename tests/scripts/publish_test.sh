#!/usr/bin/env bash
# Holds what bench/publish does to docs/performance.md and README.md: a copy of it works on made-up records in a folder of
# its own.
# Usage: publish_test.sh CASE; exit status 77: no python3 here.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
command -v python3 >/dev/null || exit 77
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/bench" "$scratch/docs" "$scratch/records"
cp -r "$root/bench/publish" "$root/bench/publishing" "$root/bench/rivals.json" "$scratch/bench"
cat >"$scratch/README.md" <<'END'
first
<!-- figures: gains -->
old gains
<!-- end of figures: gains -->
last
END
cat >"$scratch/docs/performance.md" <<'END'
before
<!-- figures: one sweep -->
old sweep
<!-- end of figures: one sweep -->
between
<!-- figures: other systems, one sweep -->
old systems
<!-- end of figures: other systems, one sweep -->
<!-- figures: time steps -->
old steps
<!-- end of figures: time steps -->
<!-- figures: systems -->
old equations
<!-- end of figures: systems -->
after
END

gpus=1  # that a record's cases take turns on
first=1 # the number of its first case
note=   # that its cases have

# NAME STEPS CASE...; a case is STENCIL TYPE DIMS PITCH RATE_OF_THE_WINNER [COMPARED_WITH]
record() {
  local name=$1 steps=$2 cases=() stencil type dims pitch rate against
  shift 2
  for words in "$@"; do
    read -r stencil type dims pitch rate against <<<"$words"
    cases+=("{\"stencil\":\"$stencil\",\"type\":\"$type\",\"dims\":\"$dims\",\"pitch\":$pitch,\"boundary\":\"hold\",
      \"steps\":$steps,\"device\":{\"name\":\"Fake GPU\",\"uuid\":\"GPU-$((${#cases[@]} % gpus))\"},\"copy_ceiling_gstencils\":500,\"fits_in_l2\":false,
      \"case\":$((${#cases[@]} + first)),\"notes\":[\"$note\"],${against:+\"compared_with_case\":$against,}\"kernels\":[
      {\"kernel\":\"winner\",\"code\":\"temporal.bx32.t4.ch2\",\"gstencils\":$rate},
      {\"kernel\":\"one sweep\",\"code\":\"direct.bx32\",\"gstencils\":450},
      {\"kernel\":\"naive\",\"code\":\"direct.bx64\",\"gstencils\":250},
      {\"kernel\":\"pmpp-register\",\"not_available\":\"no\"}]}")
  done
  local joined
  joined=$(printf '%s,' "${cases[@]}")
  printf '{"date":"2026-01-02T03:04","commit":"abc","cases":[%s]}' "${joined%,}" >"$scratch/records/$name.json"
}

publish() {
  status=0
  output=$("$scratch/bench/publish" "$scratch/records" 2>&1) || status=$?
  page=$(<"$scratch/docs/performance.md")
  readme=$(<"$scratch/README.md")
}
fail() {
  printf 'FAILED: %s\n--- status %s, output:\n%s\n--- page:\n%s\n--- README:\n%s\n' "$1" "$status" "$output" "$page" "$readme"
  exit 1
}
expect_line() { grep -qxF -- "$1" <<<"$page" || fail "the page should have the line: $1"; }
expect_no() { [[ $page != *"$1"* ]] || fail "the page should not have: $1"; }

puts_runs_beside_what_others_reach() {
  record temporal 100 'star3d1r f32 512x512x512 512 1083' 'star3d1r f32 509x487x601 509 866.4 1'
  publish
  ((status == 0)) || fail 'status should be 0'
  expect_line '| 3D star, order 1, f32, 512³ | **1083** | – | 4 | 450 | 1.50 x | 286 | 722 | – | – |'
  expect_line '| 3D star, order 1, f32, 509 x 487 x 601 | **866** | – | 4 | 450 | 80 % of 512³ |'
  expect_no 'old steps'
  expect_line 'old sweep'
  for line in before between after; do expect_line "$line"; done
  grep -q '>1083</text>' "$scratch/docs/temporal.svg" || fail 'the plot should name our rate'
}

puts_the_sweep_tuned_for_the_same_grid_beside_runs() {
  note='one sweep: direct.bx32 (match: nearest size): tuned at 512x512x512'
  record temporal 100 'star3d1r f32 512x512x512 512 1083' 'star3d1r f32 509x487x601 509 866.4 1'
  note=
  publish
  expect_line '| 3D star, order 1, f32, 509 x 487 x 601 | **866** | – | 4 | – | 80 % of 512³ |'
  record single-sweep 1 'star3d1r f32 512x512x512 512 440' 'star3d1r f32 509x487x601 509 423'
  publish
  expect_line '| 3D star, order 1, f32, 509 x 487 x 601 | **866** | – | 4 | 423 | 80 % of 512³ |'
  note='one sweep: direct.bx32 (match: exact): tuned at 512x512x512'
  record temporal 100 'star3d1r f32 512x512x512 512 1083' 'star3d1r f32 509x487x601 509 866.4 1'
  publish
  expect_line '| 3D star, order 1, f32, 512³ | **1083** | – | 4 | 450 | 1.50 x | 286 | 722 | – | – |'
}

puts_shares_of_the_copy() {
  record single-sweep 1 'box2d1r f64 16384x16384 16384 460' 'star3d4r f32 509x487x601 512 400'
  publish
  ((status == 0)) || fail 'status should be 0'
  expect_line '| 2D box, order 1, f64, 16384² | **460** | 92 % | 250 | – | – | – | – |'
  expect_line '| 3D star, order 4, f32, 509 x 487 x 601, rows padded | **400** | 80 % | 250 | – | – | – | – |'
  expect_line 'old steps'
  [[ ! -e $scratch/docs/temporal.svg ]] || fail 'no plot without a record of runs'
}

leaves_out_what_did_not_run() {
  record temporal 100 'star3d1r f32 512x512x512 512 0' 'star3d1r f32 509x487x601 509 866.4 1'
  publish
  ((status == 0)) || fail 'status should be 0'
  expect_no '| 3D star, order 1, f32, 512³'
  expect_line '| 3D star, order 1, f32, 509 x 487 x 601 | **866** | – | 4 | 450 |  |'
}

compares_with_the_case_of_that_number() {
  first=4
  record temporal 100 'star3d1r f32 512x512x512 512 1083' 'star3d1r f32 509x487x601 509 866.4 4'
  publish
  expect_line '| 3D star, order 1, f32, 509 x 487 x 601 | **866** | – | 4 | 450 | 80 % of 512³ |'
}

says_how_many_gpus_it_took() {
  record temporal 100 'star3d1r f32 512x512x512 512 1083' 'star3d1r f32 509x487x601 509 866.4 1'
  publish
  [[ $page == *', one Fake GPU)'* ]] || fail 'the page should say: one Fake GPU'
  gpus=2
  record temporal 100 'star3d1r f32 512x512x512 512 1083' 'star3d1r f32 509x487x601 509 866.4 1'
  publish
  [[ $page == *', each row on one of 2 Fake GPU)'* ]] || fail 'the page should say: each row on one of 2'
}

# CREATED_AT BURST UNDER_LOAD: the only winner that ships
ship() {
  mkdir -p "$scratch/db/pretuned"
  printf '{"winners":[{"trial":{"stencil_name":"star3d1r","stage":0,"type":"f32","rank":3,"nx":512,"ny":512,"nz":512,"pitch":512,
    "steps":100,"boundary_x":"hold","boundary_y":"hold","boundary_z":"hold","created_at":"%s","gstencils":%s,
    "sustained_gstencils":%s,"code":"temporal.bx32.t8.ch2"}}]}' "$@" >"$scratch/db/pretuned/records.json"
}

shows_the_winner_that_ships_where_it_raced_since() {
  record temporal 100 'star3d1r f32 512x512x512 512 1083' 'star3d1r f32 509x487x601 509 866.4 1'
  ship 2026-01-01T00:00 1444 1300
  publish
  expect_line '| 3D star, order 1, f32, 512³ | **1083** | – | 4 | 450 | 1.50 x | 286 | 722 | – | – |'
  ship 2026-02-03T00:00 1444 1300
  publish
  expect_line '| 3D star, order 1, f32, 512³ | **1444** | 1300 | 8 | 450 | 2.00 x | 286 | 722 | – | – |'
  expect_line '| 3D star, order 1, f32, 509 x 487 x 601 | **866** | – | 4 | 450 | 60 % of 512³ |'
  [[ $page == *'until 2026-02-03'* ]] || fail 'the page should say until when they raced'
}

writes_the_same_again() {
  record temporal 100 'star3d1r f32 512x512x512 512 1083'
  publish
  ((status == 0)) || fail 'status should be 0'
  local once=$page
  publish
  [[ $page == "$once" ]] || fail 'the second time should change nothing'
}

draws_what_tuning_gains_where_both_records_have_it() {
  record single-sweep 1 'star3d1r f32 512x512x512 512 440'
  publish
  [[ $readme == *'old gains'* && ! -e $scratch/docs/gains.svg ]] || fail 'nothing to draw without a record of runs'
  record temporal 100 'star3d1r f32 512x512x512 512 1083'
  publish
  ((status == 0)) || fail 'status should be 0'
  for figure in 250 440 722 1083; do
    grep -q ">$figure</text>" "$scratch/docs/gains.svg" || fail "the bars should say $figure"
  done
  [[ $readme == first*'](docs/gains.svg)'*'Fake GPU'*'2026-01-02'*last ]] || fail 'README should show them and say where they are from'
}

puts_whole_steps_beside_torch_compile_and_other_grids() {
  record systems 100 'yee3d f32 512x512x512 512 150' 'yee3d f32 509x487x601 509 120 1' 'yee3d f32 509x487x601 512 135 1' \
    'fdtd2d f32 8192x8192 8192 700'
  publish
  ((status == 0)) || fail 'status should be 0'
  expect_line "| Maxwell, Yee's grid, six fields and a coefficient, f32, 512³ | **150** | – | 4 | – | – |  |"
  expect_line "| Maxwell, Yee's grid, six fields and a coefficient | 80 % | 90 % |"
  expect_no 'old equations'
  printf '%s\n' '{"torch": "2.11", "date": "2026-01-03"}' \
    '{"case": "yee3d", "extents": "512x512x512", "type": "f32", "gstencils": 50.0}' >"$scratch/records/torch-systems.jsonl"
  publish
  expect_line "| Maxwell, Yee's grid, six fields and a coefficient, f32, 512³ | **150** | – | 4 | – | 50 | 3.0 x |"
  [[ $page == *'PyTorch 2.11, 2026-01-03'* ]] || fail 'the page should say where the others are from'
  record single-sweep 1 'star3d1r f32 512x512x512 512 440'
  record temporal 100 'star3d1r f32 512x512x512 512 1083'
  publish
  grep -q '>150</text>' "$scratch/docs/gains.svg" || fail 'the bars should show a system'
}

puts_one_sweep_beside_other_systems() {
  record single-sweep 1 'star3d1r f32 512x512x512 512 440'
  publish
  expect_line '| 3D star, order 1, f32, 512³ | **440** | 368 | 355 | 208 | 216 | 23 | 83 | – |'
  expect_no 'old systems'
}

changes_nothing_without_records_or_markers() {
  local before
  before=$(<"$scratch/docs/performance.md")
  publish
  ((status == 1)) || fail 'status should be 1 where there is no record'
  [[ $page == "$before" ]] || fail 'the page should stay'
  printf 'no markers\n' >"$scratch/docs/performance.md"
  record temporal 100 'star3d1r f32 512x512x512 512 1083'
  publish
  ((status == 1)) || fail 'status should be 1 where the page has no place for it'
  [[ $page == 'no markers' ]] || fail 'the page should stay'
  [[ ! -e $scratch/docs/temporal.svg ]] || fail 'no plot either'
}

"$1"
