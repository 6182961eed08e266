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
complete_words --stencil ''
((${#COMPREPLY[@]} == 0)) || fail '--stencil should be left to file names'

if command -v zsh >/dev/null; then
  zsh -n "$root/completions/_stencil-tune" || fail 'zsh'
fi
if command -v fish >/dev/null; then
  PATH=$(dirname "$program"):$PATH
  found=$(HOME=$(mktemp -d) fish -c "source '$root/completions/stencil-tune.fish'; complete -C 'stencil-tune '; \
    complete -C 'stencil-tune export --with'")
  for word in export tune --with-main; do grep -qE -- "^$word(	|$)" <<<"$found" || fail "fish should offer $word: $found"; done
fi
