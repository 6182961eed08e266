#!/usr/bin/env bash
# Holds what bench/exports makes of what the programs, nvcc and exported files say: all of them are fakes.
# Usage: exports_test.sh CASE; exit status 77: no python3 here.
set -uo pipefail
exports=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/bench/exports
command -v python3 >/dev/null || exit 77
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
export PATH=$scratch/bin:$PATH CUDA_HOME=
cd "$scratch" || exit 1

printf '#!/usr/bin/env bash\necho "stencil-tune 1 (abc)"\n' >bin/stencil-tune
# Writes what it is told to by $winners: NAME MS RATE a line, the median that the exported file will print.
cat >bin/stencil_tune_bench_kernel_code <<'END'
#!/usr/bin/env bash
while read -r name said; do
  printf '// Build: nvcc -O3 -arch=sm_90 %s.cu (runs)\n// %s\n' "$name" "$said" >"$2/$name.cu"
done <"$WINNERS"
END
# What it builds prints the second line of its source; of "broken" it builds nothing.
cat >bin/nvcc <<'END'
#!/usr/bin/env bash
echo "$*" >>"$BUILDS"
[[ $* == *broken* ]] && { echo 'error: no'; exit 1; }
sed -n '2s|^// \(.*\)|#!/usr/bin/env bash\necho "self-check: right"\necho "64 x 32 x 1: \1 GStencil/s, 9 GB/s"|p' "${@: -1}" >"${@: -2:1}"
chmod +x "${@: -2:1}"
END
cat >bin/stencil_tune_bench_shipped_rates <<'END'
#!/usr/bin/env bash
echo '{"gpu": "Fake GPU", "driver": "13.0", "winners": 2}'
while read -r name; do
  if [[ $name == *lost* ]]; then echo '{"problem": "no kernel"}'; else echo '{"ms_a_step": 0.25, "gstencils": 400.0}'; fi
done
END
chmod +x bin/*
export WINNERS=$scratch/winners BUILDS=$scratch/builds

run() {
  status=0
  output=$("$exports" "$scratch/folder" --bin "$scratch/bin" --jobs 2 2>&1) || status=$?
}
fail() {
  printf 'FAILED: %s\n--- status %s, output:\n%s\n' "$1" "$status" "$output"
  exit 1
}
shares() {
  python3 - "$scratch/folder/exports.json" <<'END'
import json, sys
for row in json.load(open(sys.argv[1]))["exports"]:
    print(row["winner"], "%.1f" % (100 * row.get("share", 0)))
END
}

compares_times_of_a_step() {
  printf 'run.n100.temporal.t4.mb1 1.0 ms, 399.0\nsweep.n1.direct.tb2 0.25 ms, 400.0\n' >"$WINNERS"
  run
  ((status == 0)) || fail 'status should be 0 where all are as fast'
  [[ $(shares) == $'run.n100.temporal.t4.mb1 100.0\nsweep.n1.direct.tb2 100.0' ]] || fail "four steps a launch: $(shares)"
  [[ $(cat folder/exports.txt) == *'Fake GPU'*'(abc)'*'0 below 97 %'* ]] || fail 'the text should say where it is from'
}

fails_where_one_is_slower_or_cannot_be_built() {
  printf 'slow.direct 0.26 ms, 385.0\n' >"$WINNERS"
  run
  ((status == 1)) || fail 'status should be 1 where one is slower'
  [[ $output == *'96.2 %'* ]] || fail 'it should say how fast'
  rm -r folder
  printf 'broken.direct 0.25 ms, 400.0\nlost.direct 0.25 ms, 400.0\n' >"$WINNERS"
  run
  ((status == 1)) || fail 'status should be 1 where none was timed'
  [[ $output == *'error: no'* && $output == *'no kernel'* ]] || fail 'it should say why'
}

goes_on_where_it_stopped() {
  printf 'a.direct 0.25 ms, 400.0\n' >"$WINNERS"
  run
  printf 'a.direct 0.25 ms, 400.0\nb.direct 0.25 ms, 400.0\n' >"$WINNERS"
  run
  [[ $(shares) == $'a.direct 100.0\nb.direct 100.0' ]] || fail "both should be there: $(shares)"
  [[ $(grep -c a.direct "$BUILDS") == 1 ]] || fail 'a should be built once'
}

"$1"
