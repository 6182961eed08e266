#!/usr/bin/env bash
# Runs the tests of bench/'s subcommands by pytest, which scripts/setup --tests has downloaded. No network.
#
#   check.sh PYTHON [ARGUMENT of pytest...]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$1" -m venv "$scratch"
"$scratch/bin/pip" install --quiet --no-index --find-links "${STENCIL_TUNE_WHEELS:-$here/../../.cache/wheels}" pytest
"$scratch/bin/python" -B -m pytest --quiet -p no:cacheprovider --rootdir "$here" "$here" "${@:2}"
