#!/usr/bin/env bash
# One way to install what scripts/release made, on the bare machine of scripts/check-fresh, to the first prediction; or
# programs linked with what was installed. Says the seconds of each part.
#
#   release.sh wheel|tarball|package|linked      in this order: NVRTC comes with the first, the last takes the others
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
release=/root/release
tarball=/opt/stencil-tune
venv=/root/venv

# Runs a command; its words are shown where it fails.
timed() {
  local name=$1 words start=$EPOCHREALTIME
  shift
  words=$("$@" 2>&1) || { printf '%s\nFAILED: %s\n' "$words" "$name"; exit 1; }
  awk -v name="$name" -v start="$start" -v end="$EPOCHREALTIME" 'BEGIN { printf "%-40s %6.1f s\n", name, end - start }'
}

install_debian() {
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}

# README's line that installs by pip or apt-get, run beside what a release holds.
as_readme_says() {
  local line
  line=$(sed -n "s/ *#.*//; s/^sudo //; /^$1 install/{p;q}" "$root/README.md")
  printf '%s\n' "$line"
  (cd "$release" && bash -c "${line:?}" <<<y)
}

# A table of predicted rates, which have a `~`. Each way begins with no database and nothing compiled.
predict() {
  local words
  words=$(HOME=$(mktemp -d) "$@" --dims 64 --budget 3s) || return
  printf '%s\n' "$words"
  [[ $words == *GStencil/s*\~* ]]
}

try_wheel() {
  timed 'wheel: python3-venv from Debian' install_debian python3-venv
  timed 'wheel: pip install' install_wheel
  timed 'wheel: first prediction' predict "$venv/bin/stencil-tune"
  timed 'wheel: import' "$venv/bin/python" -c 'import stencil_tune; print(stencil_tune.stencil("star3d1r").show())'
}
install_wheel() { python3 -m venv "$venv" && PATH=$venv/bin:$PATH as_readme_says pip; }

try_tarball() {
  timed 'tarball: unpack' unpack
  timed 'tarball: first prediction' with_nvrtc predict "$tarball/bin/stencil-tune"
}
unpack() { mkdir "$tarball" && tar -xzf "$release"/stencil-tune-*.tar.gz -C "$tarball" --strip-components 1; }
with_nvrtc() { STENCIL_TUNE_NVRTC=$(echo "$venv"/lib/python3*/site-packages/nvidia/cu13/lib/libnvrtc.so.13) "$@"; }

try_package() {
  timed 'package: apt-get update' apt-get update
  timed 'package: apt-get install' as_readme_says apt-get
  timed 'package: first prediction' with_nvrtc predict stencil-tune
}

try_linked() {
  timed 'linked: compilers from Debian' install_debian cmake g++ gcc gfortran libsqlite3-dev libxxhash-dev make man-db pkg-config
  timed 'linked: manual' man --warnings stencil-tune
  timed 'linked: package, by CMake' by_cmake /usr
  timed 'linked: package, by pkg-config' by_pkg_config /usr
  timed 'linked: package, removed' apt-get purge -y -qq stencil-tune
  timed 'linked: tarball, by CMake' by_cmake "$tarball"
  timed 'linked: tarball, by pkg-config' by_pkg_config "$tarball"
}

# C++, C and Fortran with the archives; they run what needs no GPU.
by_cmake() {
  local build program
  build=$(mktemp -d)
  cmake -S "$root/tests/package/consumer" -B "$build" -D CMAKE_PREFIX_PATH="$1" -D stencil_tune_INCLUDE="$1/include" \
    -D CONSUMERS="$root/tests/runtime/consumers" && cmake --build "$build" --target consumer c_consumer fortran_consumer || return
  for program in consumer c_consumer fortran_consumer; do
    "$build/$program" || return
  done
}

# C with the shared library.
by_pkg_config() {
  local program flags
  program=$(mktemp)
  read -ra flags < <(PKG_CONFIG_PATH="$1/lib/pkgconfig" pkg-config --cflags --libs stencil_tune-c)
  gcc "$root/tests/runtime/consumers/consumer.c" "${flags[@]}" -lm -o "$program" && LD_LIBRARY_PATH=$1/lib "$program"
}

cd /root # not in the checkout, whose files are not installed
"try_$1"
