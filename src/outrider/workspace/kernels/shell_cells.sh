# Run commands in one bash, each after the other.
#
# It is the argument of `bash -c` in the sandbox. Each line of standard input is a request: the mark, a tab, and the command as `printf %b`
# reads it. Replies are those of python_cells.py. The argument is a file for what outlives `exit` and `set -e`, which end
# the shell: it then begins anew, with the same variables, functions and folder. Only builtins are used, and all names
# start with `outrider_`, so that commands find nothing changed.

outrider_state=$1
if [[ -s $outrider_state ]]; then
  . "$outrider_state" 2>/dev/null
  : >"$outrider_state"
else
  exec 7<&0 8>&1 9>&2
  outrider_hidden=" $(compgen -v | while read -r outrider_name; do printf '%s ' "$outrider_name"; done)"
  readonly OUTRIDER_WORKSPACE=$PWD
fi
exec </dev/null

outrider_list_names() {
  local outrider_name
  builtin compgen -v | while builtin read -r outrider_name; do
    case $outrider_name in
    outrider_* | OUTRIDER_WORKSPACE | BASH* | FUNCNAME | PIPESTATUS | OLDPWD | COLUMNS | LINES | _) ;;
    *) [[ $outrider_hidden == *" $outrider_name "* ]] || builtin printf '%s\n' "$outrider_name" ;;
    esac
  done
  builtin compgen -A function | while builtin read -r outrider_name; do
    [[ $outrider_name == outrider_* || $outrider_name == *[^A-Za-z0-9_.:-]* ]] || builtin printf '%s\n' "$outrider_name"
  done
}

outrider_reply() {
  local outrider_names outrider_json
  outrider_names=$(outrider_list_names)
  outrider_names=${outrider_names:+\"${outrider_names//$'\n'/\",\"}\"}
  outrider_json="{\"exit_code\":$1,\"value\":null,\"names\":[$outrider_names]}"
  builtin printf '%s' "$outrider_mark" >&9
  builtin printf '%s%08x%s' "$outrider_mark" "${#outrider_json}" "$outrider_json" >&8
  outrider_mark=
}

outrider_save() {
  local outrider_name
  for outrider_name in $(IFS=$' \n'; outrider_list_names) outrider_hidden OUTRIDER_WORKSPACE; do
    builtin declare -p "$outrider_name" 2>/dev/null
  done
  builtin declare -f
  builtin alias -p
  builtin shopt -p
}

outrider_restart() {
  { local outrider_code=$?; set +euxv +o pipefail; } 2>/dev/null
  [[ $outrider_mark ]] || return
  IFS=$' \t\n' outrider_save >"$outrider_state"
  outrider_reply "$outrider_code"
  exec "$BASH" -c "$BASH_EXECUTION_STRING" bash "$outrider_state" >&8 2>&9
}

trap outrider_restart EXIT
while IFS= builtin read -r outrider_request <&7; do
  outrider_mark=${outrider_request%%$'\t'*}
  builtin printf -v outrider_request %b "${outrider_request#*$'\t'}"
  builtin eval "$outrider_request" 7<&- 8>&- 9>&-
  { outrider_code=$?; set +euxv +o pipefail; } 2>/dev/null
  exec </dev/null >&8 2>&9
  outrider_reply "$outrider_code"
done
exit
