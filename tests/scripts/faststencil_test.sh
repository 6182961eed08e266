#!/usr/bin/env bash
# Holds how bench/peers/faststencil/side-by-side times both sides and what it keeps: the program, nvcc and what it builds
# are fakes.
# Usage: faststencil_test.sh CASE; exit status 77: no python3 here.
set -uo pipefail
script=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/bench/peers/faststencil/side-by-side
command -v python3 >/dev/null || exit 77
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin" "$scratch/checkout"
export PATH=$scratch/bin:$PATH CUDA_HOME='' TUNES=$scratch/tunes RUNS=$scratch/runs

cat >"$scratch/bin/stencil-tune" <<'END'
#!/usr/bin/env bash
case $1 in
  devices) echo '{"devices": [{"name": "Fake GPU", "driver": "13.0"}]}' ;;
  tune) echo "$*" >>"$TUNES" ;;
  export)
    [[ $* != *--code*temporal.bx32.by1.* ]] || exit 1 # illegal here
    printf '// Candidate systolic.rx13.t32.tg8 for it\n' >"${@: -1}"
    ;;
  *) echo 'stencil-tune 1 (abc)' ;;
esac
END
# Ours run at 2000, FastStencil's at 1600; its 3D is not built.
cat >"$scratch/bin/nvcc" <<'END'
#!/usr/bin/env bash
[[ $* != *3dstencil* ]] || { echo 'error: no'; exit 1; }
rate=2000
while [[ $1 != -o ]]; do [[ $1 != *dstencil* ]] || rate=1600; shift; done
printf '#!/usr/bin/env bash\nwhile read -r rest steps; do echo "%s $rest $steps" >>"$RUNS"; echo "it says %s.5 GStencil/s, and so on"; done\n' \
  "$rate" "$rate" >"$2"
chmod +x "$2"
END
chmod +x "$scratch/bin"/*

run() {
  status=0
  output=$("$script" "$scratch/checkout" "$scratch/folder" --bin "$scratch/bin" "$@" 2>&1) || status=$?
}
fail() {
  printf 'FAILED: %s\n--- status %s, output:\n%s\n' "$1" "$status" "$output"
  exit 1
}

puts_both_rates_side_by_side() {
  run j2d5pt
  ((status == 0)) || fail 'status should be 0'
  [[ $(grep -c '2000.5   1600.5  1.25 x   2000.5   1600.5  1.25 x' "$scratch/folder/faststencil.txt") == 2 ]] ||
    fail 'its own grid and the equal one should have both rates'
  [[ $(cat "$scratch/folder/faststencil.txt") == *'Fake GPU'*'(abc)'* ]] || fail 'the text should say where it is from'
  grep -q -- '--dims 11616x11616 .*--candidates systolic' "$TUNES" || fail 'legal codes alone should race'
}

rests_before_bursts_alone_and_loads_for_long() {
  run j2d5pt
  [[ $(grep -c '^1600 100 320$' "$RUNS") == 10 ]] || fail 'five bursts of ten launches a grid, after rests'
  # 1.5 s of 1600.5 GStencil/s on 11616 x 11616, in whole launches of 32 steps
  grep -q '^1600 0 17792$' "$RUNS" || fail 'a run of 1.5 s under load'
}

says_what_could_not_be_built_and_goes_on() {
  run j3d27pt
  [[ $output == *'nvcc does not build faststencil-3d: error: no'* ]] || fail 'it should say what nvcc said'
  run j3d27pt j2d5pt
  [[ $(grep -c '' "$TUNES") == 4 ]] || fail 'what is known should not run again'
  [[ $(grep -c 'box3d1r.*faststencil: ' "$scratch/folder/faststencil.txt") == 2 ]] || fail 'the rows should say so'
}

"$1"
