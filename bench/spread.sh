# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by scripts that tune many problems: all GPUs of the machine share the work. Needs $program and `set -e`.
# at_once: programs that share one GPU; one compiles while another, which holds the GPU's lock, measures.
at_once=${at_once:-1}

gpus=$("$program" devices --json | grep -c '"uuid"' || true)
with_gpu=$((gpus > 0)) # without one, predictions
gpus=$((gpus > 0 ? gpus : 1))
workers_in_all=$((gpus * at_once))
jobs=$(($(nproc) > workers_in_all ? $(nproc) / workers_in_all : 1))

# Runs the commands on standard input, one a line: each worker takes every so manieth of them, in their order. A command
# gives tune the options ${on_gpu[@]}: its GPU and its part of the cores. A worker stops where a command fails; then this
# fails once all have ended.
spread() {
  local lines place line words on_gpu worker ended status=0 workers=()
  mapfile -t lines
  for ((place = 0; place < workers_in_all; ++place)); do
    (
      on_gpu=(--jobs "$jobs")
      if ((with_gpu)); then on_gpu+=(--device "$((place % gpus))"); fi
      for ((line = place; line < ${#lines[@]}; line += workers_in_all)); do
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
