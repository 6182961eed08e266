# Completes stencil-tune in bash. Verbs, options, their values and stencils are asked of the program itself.

_stencil_tune() {
  local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local verb=${COMP_WORDS[1]} verbs help
  verbs=$("$program" help 2>/dev/null | sed -n '/^verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p')
  if ((COMP_CWORD == 1)) && [[ $current != -* ]] || [[ $previous == help ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$verbs help" -- "$current")
    return
  fi
  grep -qx -- "$verb" <<<"$verbs" || verb=tune
  help=$("$program" help "$verb" 2>/dev/null)
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(grep -o -- '--[a-z][a-z-]*' <<<"$help" | sort -u)" -- "$current")
  elif [[ $previous == --stencil || $verb/$previous == stencils/show ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$("$program" stencils 2>/dev/null | sed -n 's/^\([a-z0-9_]*\)  .*D, .*/\1/p')" -- "$current"
      compgen -f -X '!*.toml' -- "$current")
  elif [[ $previous == --boundary ]]; then
    mapfile -t COMPREPLY < <(compgen -W 'hold zero clamp periodic reflect' -- "$current")
  elif [[ $previous == --* ]]; then
    # Values in lower case stand for themselves (f32|f64); others (FILE) are left to bash, which completes files.
    local values
    values=$(sed -nE "s/^  (-[a-z], )?$previous ([a-z0-9|]+)( .*)?\$/\2/p" <<<"$help" | tr '|' '\n' | sort -u)
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current")
  fi
}
complete -o default -F _stencil_tune stencil-tune
