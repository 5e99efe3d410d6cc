# Completion of flakeforge for bash, printed by: flakeforge completion bash
# It asks the command itself: a line is a candidate, a tab and its description; or :files or :folders for bash's own.

_flakeforge() {
  local IFS=$' \t\n' words typed breaks prefix candidate about
  read -r -a words <<<"${COMP_LINE:0:COMP_POINT}"
  [[ ${COMP_LINE:0:COMP_POINT} == *[[:space:]] ]] && words+=("")
  typed="${words[${#words[@]} - 1]}"
  # By default bash also splits words at = and :, and inserts the candidate after the last of them.
  breaks="${COMP_WORDBREAKS//[^=:]/}"
  prefix=""
  [[ -n $breaks ]] && prefix="${typed%"${typed##*[$breaks]}"}"
  COMPREPLY=()
  while IFS=$'\t' read -r candidate about; do
    local IFS=$'\n'
    case "$candidate" in
      :files) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -f -- "${typed#"$prefix"}")) ;;
      :folders) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -d -- "${typed#"$prefix"}")) ;;
      *://) compopt -o nospace 2>/dev/null; COMPREPLY+=("${candidate#"$prefix"}") ;;
      *) COMPREPLY+=("${candidate#"$prefix"}") ;;
    esac
  done < <("$1" completion -- "${words[@]:1}" 2>/dev/null)
}

complete -F _flakeforge flakeforge
