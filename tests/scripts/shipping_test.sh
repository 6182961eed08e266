#!/usr/bin/env bash
# Holds what bench/retime and bench/pretune do to the winners that ship: a copy of them works on made-up winners in a
# folder of its own, with a fake of the program.
# Usage: shipping_test.sh CASE; exit status 77: no python3 here.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
command -v python3 >/dev/null || exit 77
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/bench" "$scratch/db/pretuned" "$scratch/corpus"
cp "$root"/bench/{retime,pretune,shipping.sh,shipped.py,spread.sh} "$scratch/bench"
touch "$scratch/corpus/wave.toml"
export FAKE_GPU='NVIDIA H200' FAKE_TUNES=$scratch/tunes
export STENCIL_TUNE=$scratch/program

# A database is a file with a winner a line; the last candidate of a race wins it.
cat >"$scratch/program" <<'END'
#!/usr/bin/env python3
import json, os, pathlib, signal, sys, time
arguments = sys.argv[1:]
option = lambda name, otherwise="": arguments[arguments.index(name) + 1] if name in arguments else otherwise
if arguments[0] == "devices":
    gpus = [{"name": os.environ["FAKE_GPU"], "uuid": "GPU-1"}] if os.environ["FAKE_GPU"] else []
    print(json.dumps({"devices": gpus}, indent=1))
elif arguments[0] == "list":
    print(json.dumps([{"code": "stale", "created_at": "then", "stale": True}]))
elif arguments[0] == "db":
    lines = pathlib.Path(option("--db")).read_text().splitlines()
    pathlib.Path(arguments[2]).write_text(json.dumps({"format": "winners", "winners": [json.loads(x) for x in lines]}))
else:
    with open(os.environ["FAKE_TUNES"], "a") as tunes:
        print(*arguments, file=tunes)
    if os.environ.get("FAKE_HANGS_AT", "nothing") in arguments:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        pathlib.Path(os.environ["FAKE_TUNES"] + ".hangs").touch()
        time.sleep(60)
    sys.path.insert(0, os.path.dirname(os.environ["FAKE_TUNES"]))
    from made_up import winner
    stencil = pathlib.Path(option("--stencil")).stem
    objective = option("--objective", "time" if int(option("--steps")) > 1 else "burst")
    new = winner(stencil, int(option("--steps")), option("--candidates", "found").split(",")[-1], objective)
    with open(option("--db"), "a") as database:
        print(json.dumps(dict(new, trials_seen=1)), file=database)
    print(f"  winner  {new['trial']['code']}")
END
chmod +x "$scratch/program"
cat >"$scratch/made_up.py" <<'END'
import json, os, sys

def winner(stencil, steps, code, objective):
    trial = {"stencil_name": stencil, "stencil_key": stencil, "stage": 0, "type": "f32", "rank": 2, "nx": 64, "ny": 32,
             "nz": 1, "pitch": 64, "boundary_x": "hold", "boundary_y": "hold", "boundary_z": "hold", "steps": steps,
             "gpu": os.environ["FAKE_GPU"], "code": code, "objective": objective, "created_at": "then", "raced": True,
             "sustained_gstencils": 90.0 if objective == "time" else 0.0}
    return {"trials_seen": 50, "trial": trial}

if __name__ == "__main__":  # FILE, then STENCIL:STEPS:CODE:OBJECTIVE...
    winners = []
    for words in sys.argv[2:]:
        stencil, steps, code, objective = words.split(":")
        winners.append(winner(stencil, int(steps), code, objective))
    json.dump({"format": "winners", "winners": winners}, open(sys.argv[1], "w"))
END

ships() { python3 "$scratch/made_up.py" "$scratch/db/pretuned/h200.json" "$@"; }
# The winners of a file as it stands, in its order: STENCIL:STEPS:CODE:OBJECTIVE:TRIALS.
winners() {
  python3 -c 'import json, sys
for w in json.load(open(sys.argv[1]))["winners"]:
    print(w["trial"]["stencil_name"], w["trial"]["steps"], w["trial"]["code"], w["trial"]["objective"], w["trials_seen"], sep=":")' \
    "${1:-$scratch/db/pretuned/h200.json}"
}
fail() {
  printf 'FAILED: %s\n--- winners:\n%s\n--- tunes:\n%s\n--- output:\n%s\n' "$1" "$(winners)" \
    "$(cat "$FAKE_TUNES" 2>/dev/null)" "${output:-}"
  exit 1
}
run() {
  status=0
  output=$("$scratch/bench/$1" "${@:2}" 2>&1) || status=$?
}
expect_winners() { # FILE WINNER...
  [[ $(winners "$1") == "$(printf '%s\n' "${@:2}")" ]] || fail "$1 should have ${*:2}"
}
here=$scratch/db/pretuned/h200.json

keeps_what_did_not_race() {
  ships heat:1:old:burst star:1:stale:burst
  run retime h200 stale
  ((status == 0)) || fail 'status should be 0'
  expect_winners "$here" heat:1:old:burst:50 star:1:stale:burst:50
  [[ $(grep -c '' "$FAKE_TUNES") == 1 ]] || fail 'only what is stale should race'
}

refuses_another_gpu() {
  ships heat:1:old:burst
  FAKE_GPU='NVIDIA H100 80GB HBM3' run retime h200
  ((status != 0)) || fail 'the GPU is another'
  [[ $output == *'h200 has winners of NVIDIA H200, and this is NVIDIA H100 80GB HBM3'* ]] ||
    fail 'it should say which GPU this is'
  FAKE_GPU='' run retime h200
  ((status != 0)) || fail 'without a GPU there is nothing to measure'
  FAKE_GPU='NVIDIA GH200 480GB' run pretune h100
  ((status != 0)) || fail 'a new name should be a word of the GPU'\''s'
  [[ ! -e $FAKE_TUNES ]] || fail 'nothing should be tuned'
}

keeps_winners_by_other_objectives() {
  ships heat:100:old:time star:1:old:burst
  run retime h200 runs --objective energy
  expect_winners "$here" heat:100:old:energy:1 heat:100:old:time:50 star:1:old:burst:50
}

puts_a_race_under_load_in_the_place_of_one_in_bursts() {
  ships heat:100:old:burst star:100:old:time
  run retime h200 bursts
  expect_winners "$here" heat:100:old:time:50 star:100:old:time:50
  [[ $(grep -c '' "$FAKE_TUNES") == 1 ]] || fail 'what has raced under load should not race again'
}

takes_a_part() {
  ships a:1:old:burst b:1:old:burst c:1:old:burst
  run retime h200 2/2
  [[ $(cat "$FAKE_TUNES") == *'--stencil b '* && $(grep -c '' "$FAKE_TUNES") == 1 ]] || fail 'only b should race'
}

races_the_winners_of_another_gpu() {
  ships heat:100:old:time star:1:old:burst
  FAKE_GPU='NVIDIA H100 80GB HBM3' run retime h100 runs --like h200
  ((status == 0)) || fail 'status should be 0'
  expect_winners "$scratch/db/pretuned/h100.json" heat:100:old:time:1
  expect_winners "$here" heat:100:old:time:50 star:1:old:burst:50
}

races_further_codes_with_what_ships() {
  ships heat:100:old:time star:1:old:burst
  printf '# more\nheat f32 64x32 100 new # of today\nwave f32 64x32 100 other\n' >"$scratch/more"
  run retime h200 also --also "$scratch/more"
  grep -q -- '--stencil heat .*--candidates old,new ' "$FAKE_TUNES" || fail 'new should race beside old'
  grep -q -- '--stencil corpus/wave.toml .*--candidates other ' "$FAKE_TUNES" || fail 'a new problem should race too'
  expect_winners "$here" heat:100:new:time:1 star:1:old:burst:50 wave:100:other:time:1
}

races_the_winners_of_another_gpu_beside_its_own() {
  ships heat:100:new:time sweep:1:other:burst wave:100:third:time
  cp "$here" "$scratch/others.json"
  ships heat:100:old:time star:1:old:burst
  run retime h200 runs --also "$scratch/others.json"
  grep -q -- '--stencil heat .*--candidates old,new ' "$FAKE_TUNES" || fail 'new should race beside old'
  expect_winners "$here" heat:100:new:time:1 star:1:old:burst:50 wave:100:third:time:1
}

keeps_what_was_done_when_cut_short() {
  ships a:1:old:burst b:1:old:burst c:1:old:burst
  printf 'a f32 64x32 1 new\nc f32 64x32 1 new2\n' >"$scratch/more"
  # In a process group of its own, which the signal reaches as a whole, as that of a terminal or of timeout does. Of
  # two workers one takes a and c, in this order.
  FAKE_HANGS_AT=old,new2 setsid "$scratch/bench/retime" h200 --also "$scratch/more" --into "$scratch/kept" >"$scratch/said" 2>&1 &
  local process=$!
  while [[ ! -e $FAKE_TUNES.hangs || $(grep -c '' "$scratch/kept/h200.done") != 2 ]]; do sleep 0.1; done
  kill -TERM -- "-$process"
  if wait "$process"; then fail 'status should not be 0'; fi
  expect_winners "$scratch/kept/h200.json" a:1:new:burst:1 b:1:old:burst:50 c:1:old:burst:50
  expect_winners "$here" a:1:old:burst:50 b:1:old:burst:50 c:1:old:burst:50
  rm "$FAKE_TUNES"
  run retime h200 --also "$scratch/more" --into "$scratch/kept"
  ((status == 0)) || fail 'the same command should go on'
  [[ $(grep -c '' "$FAKE_TUNES") == 1 ]] || fail 'only what was left should race'
  expect_winners "$scratch/kept/h200.json" a:1:new:burst:1 b:1:old:burst:50 c:1:new2:burst:1
}

tunes_without_losing_what_ships() {
  ships heat:1:old:burst
  STENCIL_TUNE_PRETUNE_ONLY=star1d2r run pretune h200 --budget 1s
  ((status == 0)) || fail 'status should be 0'
  expect_winners "$here" heat:1:old:burst:50 star1d2r:1:found:burst:1
}

tunes_for_a_gpu_of_which_nothing_ships() {
  ships heat:1:old:burst
  export FAKE_GPU='NVIDIA H100 80GB HBM3'
  STENCIL_TUNE_PRETUNE_ONLY=star1d2r run pretune h100
  ((status == 0)) || fail 'status should be 0'
  expect_winners "$scratch/db/pretuned/h100.json" star1d2r:1:found:burst:1
  expect_winners "$here" heat:1:old:burst:50
}

starts_nothing_after_its_time() {
  ships heat:1:old:burst
  printf '#!/usr/bin/env bash\nsleep 1.2\nexec python3 "%s" "$@"\n' "$scratch/program" >"$scratch/slow"
  chmod +x "$scratch/slow"
  STENCIL_TUNE=$scratch/slow run retime h200 --seconds 1
  ((status != 0)) || fail 'status should not be 0'
  [[ $output == *'not finished'* ]] || fail 'it should say that something is left'
  [[ ! -e $FAKE_TUNES ]] || fail 'nothing should start any more'
}

"$1"
