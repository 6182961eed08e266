#!/usr/bin/env bash
# Holds what bash completes, and that zsh's and fish's completions ask the same help, where these shells are.
# Usage: completion_test.sh PROGRAM
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=$1
# shellcheck source=completions/stencil-tune.bash
source "$root/completions/stencil-tune.bash"

fail() {
  printf 'FAILED: %s\n' "$1"
  exit 1
}

# The words so far; the last one is being typed.
complete_words() {
  COMP_WORDS=("$program" "$@")
  COMP_CWORD=$#
  COMPREPLY=()
  _stencil_tune
}
offered() { grep -qx -- "$1" <<<"$(printf '%s\n' "${COMPREPLY[@]}")"; } # no pipe: grep leaves before all is written

verbs=$("$program" help | sed -n '/^verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p')
(($(wc -l <<<"$verbs") > 5)) || fail 'the help should list verbs'
complete_words ''
for verb in $verbs; do offered "$verb" || fail "verb $verb should be offered"; done
complete_words ex
[[ ${COMPREPLY[*]} == 'export explain' || ${COMPREPLY[*]} == 'explain export' ]] || fail "ex: ${COMPREPLY[*]}"

for verb in $verbs; do
  options=$("$program" help "$verb" | grep -oE '^ +(-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+')
  [[ -n $options ]] || fail "the help of $verb should list options"
  complete_words "$verb" --
  for option in $options; do offered "$option" || fail "$verb: $option should be offered"; done
done
complete_words --dims 512 --
offered --budget || fail 'without a verb the options of tune should be offered'
complete_words --type f
[[ ${COMPREPLY[*]} == 'f16 f32 f64' ]] || fail "--type f: ${COMPREPLY[*]}"
complete_words --effort ''
[[ ${COMPREPLY[*]} == 'exhaustive quick standard' ]] || fail "--effort: ${COMPREPLY[*]}"
complete_words --dims ''
((${#COMPREPLY[@]} == 0)) || fail "--dims has no words to offer: ${COMPREPLY[*]}"
complete_words --stencil heat
[[ ${COMPREPLY[*]} == 'heat1d heat2d heat3d' ]] || fail "--stencil heat: ${COMPREPLY[*]}"
complete_words stencils show yee3d_l
[[ ${COMPREPLY[*]} == 'yee3d_layer yee3d_lossy' ]] || fail "stencils show yee3d_l: ${COMPREPLY[*]}"
cd "$root" || exit
complete_words --stencil corpus/heat3d
[[ ${COMPREPLY[*]} == corpus/heat3d.toml ]] || fail "--stencil corpus/heat3d: ${COMPREPLY[*]}"
complete_words --boundary ''
known=$("$program" --dims 8 --boundary none 2>&1 | sed -n 's/.*(known: \(.*\)).*/\1/p')
[[ -n $known && ${COMPREPLY[*]} == "${known//,/}" ]] || fail "--boundary: ${COMPREPLY[*]}, not $known"
for shell in _stencil-tune stencil-tune.fish; do
  grep -q "${known//,/}" "$root/completions/$shell" || fail "$shell should offer $known"
done

if command -v zsh >/dev/null; then
  zsh -n "$root/completions/_stencil-tune" || fail 'zsh'
fi
if command -v fish >/dev/null; then
  PATH=$(dirname "$program"):$PATH
  found=$(HOME=$(mktemp -d) fish -c "source '$root/completions/stencil-tune.fish'; complete -C 'stencil-tune '; \
    complete -C 'stencil-tune export --with'; complete -C 'stencil-tune --stencil heat'; \
    complete -C 'stencil-tune --boundary per'")
  for word in export tune --with-main heat3d periodic; do grep -qE -- "^$word(	|$)" <<<"$found" || fail "fish should offer $word: $found"; done
fi
