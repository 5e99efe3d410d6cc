#compdef flakeforge
# Completion of flakeforge for zsh, printed by: flakeforge completion zsh
# It asks the command itself: a line is a candidate, a tab and its description; or :files or :folders for zsh's own.

_flakeforge() {
  local line candidate
  local -a described
  for line in "${(@f)$("${(Q)words[1]}" completion -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    candidate="${line%%$'\t'*}"
    case "$candidate" in
      '') ;;
      :files) _files ;;
      :folders) _files -/ ;;
      *://) compadd -S '' -- "$candidate" ;;
      *) if [[ "$line" == *$'\t'* ]]; then
           described+=("${candidate//:/\\:}:${line#*$'\t'}")
         else
           described+=("${candidate//:/\\:}")
         fi ;;
    esac
  done
  (( ${#described} )) && _describe 'flakeforge' described
}

if [[ "${funcstack[1]}" == _flakeforge ]]; then
  _flakeforge "$@"
else
  (( ${+functions[compdef]} )) || { autoload -Uz compinit && compinit }
  compdef _flakeforge flakeforge
fi
