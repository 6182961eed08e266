# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by scripts that tune what ships: where it is kept, and what is done already. Needs $program, $root, $name,
# $into (a folder, or empty), $seconds and `set -e`; the options of all tunes are in $options.
source "$root/bench/spread.sh"

# With $into all is kept there, and db/pretuned/ stays as it is: the same command goes on where it stopped.
work=$into
if [[ -z $work ]]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work"
database=$work/$name.db
source=$root/db/pretuned/$name.json
shipped=$source
if [[ -n $into ]]; then
  if [[ ! -e $into/$name.json && -e $source ]]; then cp "$source" "$into/$name.json"; fi
  shipped=$into/$name.json
fi
touch "$work/$name.done"

python3 "$root/bench/shipped.py" check "$name" "$shipped" "$("$program" devices --json)"

# One tune, in a worker of `spread`, which ends where there is no time left. What an interruption met is made again by the
# next call.
# shellcheck disable=SC2031 # spread's own shell sets on_gpu, and calls this
tune() {
  local log=$work/$name.$BASHPID.log status=0 said
  if ((seconds > 0 && SECONDS >= seconds)); then exit 1; fi
  trap : INT TERM # the program ends in good order
  "$program" tune "$@" --db "$database" "${on_gpu[@]}" ${options[@]+"${options[@]}"} >"$log" 2>&1 || status=$?
  case $status in
    0) said=$(sed -n 's/^ *winner  *\(.*\)/\1/p' "$log" | tr -s ' ') ;;
    129 | 130 | 143) exit 1 ;;
    *) said="no winner: $(tail -n 1 "$log")" ;;
  esac
  printf '%s: %s\n' "$*" "$said" | tee -a "$work/$name.txt"
  printf 'tune %s\n' "$*" >>"$work/$name.done"
}

# Runs the tunes on standard input, one a line, but those that were made before, and puts what won into the file, also
# where they were cut short.
tune_all() {
  local status=0
  trap : INT TERM # as in each tune
  grep -vxFf "$work/$name.done" >"$work/$name.todo" || true
  spread <"$work/$name.todo" || status=$?
  rm -f "$work/$name".*.log "$work/$name.todo"
  if [[ -e $database ]]; then
    "$program" db export "$work/$name.raced.json" --db "$database"
    python3 "$root/bench/shipped.py" merge "$shipped" "$work/$name.raced.json"
  fi
  if ((status > 0)); then printf 'not finished%s\n' "${into:+: the same command goes on}"; fi
  printf '%d s\n' "$SECONDS"
  return "$status"
}
