#!/bin/sh
# Prints n new IDs, one a line: ids.sh NAME N URL...
# A server that answers gives them, which one by chance: after a network error, a timeout or a 5xx the next one is asked.
# While none can answer, it goes round until FLAKEFORGE_WAIT seconds (default 10) are over. Exit status 1: no server gave
# IDs, or one refused the request; its words are on stderr. FLAKEFORGE_TOKEN is the token, where the servers want one.
#
# It must never print a part of an answer, nor a line that is no ID: curl's output goes to a file, and is shown once it is
# complete. It must never print IDs of two groups or layouts, which could be equal, also if it runs many times: what the
# servers showed is kept in the file FLAKEFORGE_SEEN, by default one in ~/.local/state for each NAME and list of URLs.
set -eu

name=$1 n=$2
shift 2
seen=${FLAKEFORGE_SEEN:-${XDG_STATE_HOME:-$HOME/.local/state}/flakeforge/$(printf '%s\n' "$name" "$@" | sort | cksum | tr ' ' -)}
mkdir -p "$(dirname "$seen")"
answer=$(mktemp)
trap 'rm -f "$answer" "$answer.headers" "$answer.ids" "$seen.$$"' EXIT
give_up=$(($(date +%s) + ${FLAKEFORGE_WAIT:-10}))

# ask URL N: the status and the type of the answer. The token comes by standard input: in the arguments, every user of the
# machine could see it.
ask() {
  { [ -z "${FLAKEFORGE_TOKEN:-}" ] || echo "Authorization: Bearer $FLAKEFORGE_TOKEN"; } |
    curl --silent --show-error --max-time 2 --header @- --header 'Accept: text/plain' --request POST \
      --output "$answer" --dump-header "$answer.headers" --write-out '%{http_code} %{content_type}' \
      "${1%/}/v1/ids/$name?n=$2"
}

# has_ids N: whether the answer is N IDs, each on a line.
has_ids() {
  [ -z "$(tail -c 1 "$answer")" ] &&
    awk -v n="$1" '/[^0-9]/ || length($0) < 1 || length($0) > 20 { bad = 1 } END { exit bad || NR != n }' "$answer"
}

# header NAME: what the answer says there.
header() {
  awk -v name="$1" '{ sub(/\r$/, "") } tolower($1) == name ":" { sub(/^[^:]*: */, ""); print }' "$answer.headers"
}

# Of what its IDs are: their layout, which a segment has not, and random digits of their group.
origin() { echo "layout $(header flakeforge-layout), group $(header flakeforge-group)"; }

# The servers in a random order.
shuffled() {
  seed=$(od -An -N4 -tu4 /dev/urandom)
  printf '%s\n' "$@" | awk -v seed="$seed" 'BEGIN { srand(seed) } { print rand() " " $0 }' | sort -n | cut -d ' ' -f 2-
}

# show URL: prints the IDs that it gave, if they may follow those before, and ends. A group that was made again is taken if
# all servers that answer show it, and among these is the one that gave the last IDs.
show() {
  mv "$answer" "$answer.ids"
  theirs=$(origin)
  printf '%s\n' "$1" "$theirs" >"$seen.$$"
  [ -e "$seen" ] || ln "$seen.$$" "$seen" 2>/dev/null || : # another run may be the first
  rm "$seen.$$"
  last=$(sed -n 1p "$seen") ours=$(sed -n 2p "$seen") left=$(sed 1,2d "$seen")
  if [ "$theirs" != "$ours" ]; then
    what="ERR_FLAKE_CONFIG_MISMATCH $1: '$name' is $theirs; $last, which gave the last IDs, has $ours"
    may_follow "$@" || { echo "$what" >&2 && exit 1; }
    [ -n "$is_last_there" ] || { echo "$what and does not answer" >&2 && return; }
    left=$(printf '%s\n%s' "$ours" "$left")
  fi
  printf '%s\n' "$1" "$theirs" "$left" >"$seen.$$"
  mv "$seen.$$" "$seen"
  cat "$answer.ids"
  exit
}

# Whether all servers that answer show the origin of the first one. is_last_there: whether the last one is among them.
may_follow() {
  is_last_there=
  [ -n "$(header flakeforge-group)" ] && [ "${theirs%, group *}" = "${ours%, group *}" ] || return
  ! printf '%s\n' "$left" | grep -qxF "$theirs" || return
  shift
  for each in "$@"; do
    case $(ask "$each" 1) in '200 text/plain'*) has_ids 1 || continue ;; *) continue ;; esac
    [ "$(origin)" = "$theirs" ] || return
    [ "$each" != "$last" ] || is_last_there=yes
  done
}

pause=1
while :; do
  soonest= # of Retry-After; 0 for a server that did not say
  for url in $(shuffled "$@"); do
    seconds=0
    if status=$(ask "$url" "$n"); then # else curl has said why
      case $status in
        '200 text/plain'*)
          if has_ids "$n"; then show "$url" "$@"; else echo "$url: not $n IDs" >&2; fi
          ;;
        200*) echo "$url: no IDs but ${status#200 }" >&2 ;;
        408* | 429* | 5*)
          seconds=$(header retry-after)
          case $seconds in '' | *[!0-9]* | ???????*) seconds=0 ;; esac
          echo "$url: $status $(cat "$answer")" >&2
          ;;
        *) # the request itself is wrong
          echo "$url: $status $(cat "$answer")" >&2
          exit 1
          ;;
      esac
    fi
    [ "${soonest:-$seconds}" -lt "$seconds" ] || soonest=$seconds
  done
  [ "$soonest" -le "$pause" ] || pause=$soonest
  [ $(($(date +%s) + pause)) -le "$give_up" ] || { echo 'no server gave IDs' >&2 && exit 1; }
  [ "$pause" -le 30 ] || pause=30 # what a server waits for may be over sooner than it said
  sleep "$pause"
  pause=1
done
