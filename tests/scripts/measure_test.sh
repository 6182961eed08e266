#!/usr/bin/env bash
# Holds how bench/measure runs its steps and what it keeps of them: a copy of it starts fakes of the other scripts.
# Usage: measure_test.sh CASE; exit status 77: no python3 here.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
command -v python3 >/dev/null || exit 77
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch"/{bench/peers/faststencil,bin,db/pretuned,checkout/2dstencil}
cp "$root/bench/measure" "$scratch/bench"
touch "$scratch/db/pretuned/h200.json" "$scratch"/bin/stencil_tune_bench_{kernel_code,shipped_rates}
export RAN=$scratch/ran

cat >"$scratch/bin/stencil-tune" <<'END'
#!/usr/bin/env bash
case $1 in
  devices) echo '{"devices": [{"name": "NVIDIA H200", "uuid": "GPU-1", "driver": "13.0"}]}' ;;
  *) echo 'stencil-tune 1 (abc)' ;;
esac
END
# A fake of each script: says what it was called with, and leaves a file in its folder. HANGS names one that does not end.
cat >"$scratch/fake" <<'END'
#!/usr/bin/env bash
name=$(basename "$0")
echo "$name $*" | tee -a "$RAN"
for word in "$@"; do
  if [[ $word == */build/measure/* ]]; then mkdir -p "$word/built" && date >"$word/$name.json" && touch "$word/built/large"; fi
  if [[ $name == retime && $word == */build/measure/* ]]; then touch "$word/h200.json"; fi
done
if [[ $name == "${HANGS:-}" ]]; then
  trap 'echo "it heard"; exit 143' TERM
  while :; do sleep 0.1; done
fi
END
for script in retime pretune exports record peers/torch_systems.py peers/faststencil/side-by-side; do
  cp "$scratch/fake" "$scratch/bench/$script"
done
chmod +x "$scratch"/bin/* "$scratch"/bench/{retime,pretune,exports,record} "$scratch"/bench/peers/{torch_systems.py,faststencil/side-by-side}

run() {
  status=0
  output=$("$scratch/bench/measure" "$scratch/out" --bin "$scratch/bin" "$@" 2>&1) || status=$?
}
fail() {
  printf 'FAILED: %s\n--- status %s, output:\n%s\n--- ran:\n%s\n' "$1" "$status" "$output" "$(cat "$RAN" 2>/dev/null)"
  exit 1
}
ended() { # STEP: how
  python3 -c 'import json, sys
for step in json.load(open(sys.argv[1]))["steps"]:
    if step["step"] == sys.argv[2]: print(step["status"])' "$scratch/out/measure.json" "$1"
}

prints_the_plan_and_runs_nothing() {
  run --dry-run
  ((status == 0)) || fail 'status should be 0'
  [[ $output == *'contenders'*'bench/retime h200 also'*'faststencil'*'left out: no '*'MiB'* ]] || fail 'it should print the plan'
  [[ ! -e $RAN && ! -e $scratch/out ]] || fail 'nothing should run'
}

keeps_what_steps_made_in_few_files() {
  run exports contenders torch
  ((status == 0)) || fail 'status should be 0'
  [[ $(cut -d ' ' -f 1 "$RAN") == $'retime\nexports\ntorch_systems.py' ]] || fail 'the most valuable should come first'
  grep -q -- '--seconds 120$' "$RAN" || fail 'a step should start nothing in the time that it has to end'
  grep -q '^exports .*--winners .*/shipped/h200.json$' "$RAN" || fail 'what has raced should be exported'
  [[ $(ls "$scratch/out") == $'measure.json\nmeasure.txt\nresults.tar.gz' ]] || fail 'there should be three files'
  local kept
  kept=$(tar -tzf "$scratch/out/results.tar.gz")
  [[ $kept == *results/shipped/retime.json* && $kept == *results/torch-systems.jsonl* ]] || fail "results are missing: $kept"
  [[ $kept != *large* ]] || fail 'what was built should stay'
  grep -q '"program": "stencil-tune 1 (abc)"' "$scratch/out/measure.json" || fail 'the record should name the commit'
}

leaves_out_what_cannot_run() {
  rm "$scratch/db/pretuned/h200.json"
  run contenders exports faststencil --faststencil "$scratch/checkout"
  ((status == 1)) || fail 'status should be 1'
  [[ $(ended contenders) == 'left out' && $(ended exports) == 'done' && $(ended faststencil) == 'done' ]] ||
    fail 'the others should run'
  [[ $output == *'contenders: left out, no db/pretuned/h200.json'* ]] || fail 'it should say what is missing'
}

ends_a_step_that_overruns_and_keeps_it() {
  HANGS=exports run exports torch --seconds 4 --grace 1 # after 3 it is told to end; another would need 3
  [[ $(ended exports) == 'cut short' ]] || fail 'the step should be cut short'
  [[ $(ended torch) == 'no time' ]] || fail 'too little is left for another'
  [[ $(tar -xOzf "$scratch/out/results.tar.gz" results/exports.txt) == *'it heard' ]] || fail 'it should hear before it is killed'
}

goes_on_from_what_another_machine_had() {
  run contenders
  mv "$scratch/out/results.tar.gz" "$scratch/before.tar.gz"
  rm -r "$scratch/build" "$scratch/out"
  run exports --resume "$scratch/before.tar.gz"
  ((status == 0)) || fail 'status should be 0'
  [[ $(tar -tzf "$scratch/out/results.tar.gz") == *results/shipped/retime.json* ]] || fail 'earlier results should be there'
}

"$1"
