# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by scripts that tune many problems: all GPUs of the machine share the work. Needs $program and `set -e`.

gpus=$("$program" devices --json | grep -c '"uuid"' || true)
with_gpu=$((gpus > 0)) # without one, predictions
gpus=$((gpus > 0 ? gpus : 1))
jobs=$(($(nproc) > gpus ? $(nproc) / gpus : 1))

# Runs the commands on standard input, one a line: each GPU takes every so manieth of them, in their order. A command
# gives tune the options ${on_gpu[@]}: its GPU and its part of the cores. A GPU stops where a command fails; then this
# fails once all have ended.
spread() {
  local lines gpu line words on_gpu worker ended status=0 workers=()
  mapfile -t lines
  for ((gpu = 0; gpu < gpus; ++gpu)); do
    (
      on_gpu=(--jobs "$jobs")
      if ((with_gpu)); then on_gpu+=(--device "$gpu"); fi
      for ((line = gpu; line < ${#lines[@]}; line += gpus)); do
        read -r -a words <<<"${lines[line]}"
        "${words[@]}" </dev/null
      done
    ) &
    workers+=($!)
  done
  for worker in "${workers[@]}"; do
    while :; do
      ended=0
      wait "$worker" || ended=$?
      # A signal that is caught ends the wait, not the worker.
      if ((ended <= 128)) || ! kill -0 "$worker" 2>/dev/null; then break; fi
    done
    if ((ended > 0)); then status=$ended; fi
  done
  return "$status"
}
