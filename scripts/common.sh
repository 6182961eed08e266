# Shared by the scripts beside it: where the repository is, how to say something, where CUDA is, how tests run.
# shellcheck shell=bash
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

# Runs a command whose words are shown only where it fails.
quietly() {
  local words status=0
  words=$("$@" 2>&1) || status=$?
  if ((status)); then
    printf '%s\n' "$words" >&2
  fi
  return "$status"
}

# A folder serves as a toolkit when it has what building and running need: cuda.h and NVRTC. nvcc is needed by the
# export tests alone.
is_cuda_home() {
  [[ -f $1/include/cuda.h ]] && { compgen -G "$1/lib*/libnvrtc.so*" || compgen -G "$1/lib/*-linux-gnu/libnvrtc.so*"; } >/dev/null
}

# Prints the first toolkit found; fails when there is none. The order is the one that the program itself searches in.
find_cuda_home() {
  local nvcc candidate
  nvcc=$(readlink -f "$(command -v nvcc || true)")
  for candidate in "${CUDA_HOME:-}" "${CUDA_PATH:-}" "${nvcc%/bin/nvcc}" /usr/local/cuda "$root/.venv/cuda"; do
    if [[ -n $candidate ]] && is_cuda_home "$candidate"; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  return 1
}

# Lets everything started from here (CMake, the program, the tests) find that toolkit.
export_cuda_home() {
  local home
  if home=$(find_cuda_home); then
    export CUDA_HOME=$home
  fi
}

# Runs a command, of tests, that compiles each kernel for the host once, whichever of its processes take it.
compile_kernels_once() {
  local kernels status=0
  kernels=$(mktemp -d)
  STENCIL_TUNE_KERNELS=$kernels CXX="$root/tests/compile-once ${CXX:-c++}" "$@" || status=$?
  rm -rf "$kernels"
  return "$status"
}
