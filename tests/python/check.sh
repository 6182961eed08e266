#!/usr/bin/env bash
# Installs the Python package from a build into a fresh virtual environment, and runs its tests there, with JAX those that
# need no GPU too. No network: the packages that it takes are those that scripts/setup --tests has downloaded.
#
#   check.sh BUILD PYTHON                   the package of this tree
#   check.sh BUILD PYTHON WHEEL             a wheel, as scripts/wheel builds it
#   check.sh BUILD PYTHON '' ARGUMENT...    what pytest chooses by these arguments, without JAX
set -euo pipefail
build=$(realpath "$1") python=$2 wheel=${3:-}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
wheels=${STENCIL_TUNE_WHEELS:-$root/.cache/wheels}
export PIP_NO_INDEX=1 PIP_FIND_LINKS=$wheels PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_COMPILE=1

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$python" -m venv "$scratch/venv"
install_package() {
  if [[ -n $wheel ]]; then
    "$scratch/venv/bin/pip" install --quiet "${wheel}[test]"
  else
    "$scratch/venv/bin/pip" install --quiet "${root}[test]" --config-settings cmake.source-dir=python/prebuilt \
      --config-settings build-dir="$scratch/build" --config-settings cmake.define.STENCIL_TUNE_BUILD="$build"
  fi
}
install_package || {
  printf 'not installed from %s: scripts/setup --tests downloads what the package and its tests take\n' "$wheels"
  exit 1
}
export STENCIL_TUNE_ON_HOST=$build/tests/python/libstencil_tune_on_host.so
cd "$scratch" # not the checkout: what is tested is what was installed
test_with() { "$scratch/venv/bin/python" -B -m pytest --quiet -p no:cacheprovider --rootdir "$scratch" "$@"; }
test_with "$root/tests/python" "${@:4}"
if (($# > 3)); then exit; fi

# JAX has a CPU, where the reference runs. Apart, so that mypy does not read it.
"$scratch/venv/bin/pip" install --quiet --no-deps --target "$scratch/jax" jax jaxlib ml_dtypes opt_einsum
JAX_PLATFORMS=cpu PYTHONPATH=$scratch/jax test_with "$root/tests/gpu/python/test_jax.py"
