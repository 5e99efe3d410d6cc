#!/bin/sh
# Prints n new IDs, one per line: ids.sh NAME N URL...
# A randomly chosen server provides them; after a network error, a timeout or a 5xx, the next one is asked.
# While no server responds, the script retries until FLAKEFORGE_WAIT seconds (default 10) are over. Exit status 1: no server
# returned IDs, or one rejected the request; its message is on stderr. FLAKEFORGE_TOKEN is the token, if the servers require
# one. FLAKEFORGE_CA is a file with the CA of https servers, FLAKEFORGE_CERT and FLAKEFORGE_KEY name a client certificate.
set -eu

name=$1 n=$2
shift 2
# It prints only complete responses: curl's output goes to a file. It never mixes IDs of two groups or layouts, which could be
# equal, and prints no replayed IDs, even across runs: it keeps what the servers have shown in the file FLAKEFORGE_SEEN, by
# default one in ~/.local/state for each NAME and list of URLs, and next to it in .slots and .ids.
seen=${FLAKEFORGE_SEEN:-${XDG_STATE_HOME:-$HOME/.local/state}/flakeforge/$(printf '%s\n' "$name" "$@" | sort | cksum | tr ' ' -)}
mkdir -p "$(dirname "$seen")"
answer=$(mktemp)
trap 'rm -f "$answer" "$answer.headers" "$answer.ids" "$answer.slots" "$seen.$$"' EXIT
give_up=$(($(date +%s) + ${FLAKEFORGE_WAIT:-10}))

# ask URL N: the status and the type of the response. The token is passed on standard input: every user of the machine could
# see it in the arguments. The response has to echo $nonce.
ask() {
  { [ -z "${FLAKEFORGE_TOKEN:-}" ] || echo "Authorization: Bearer $FLAKEFORGE_TOKEN"; } |
    curl --silent --show-error --max-time 2 ${FLAKEFORGE_CA:+--cacert "$FLAKEFORGE_CA"} \
      ${FLAKEFORGE_CERT:+--cert "$FLAKEFORGE_CERT" --key "$FLAKEFORGE_KEY"} \
      --header @- --header 'Accept: text/plain' --header "Flakeforge-Nonce: $nonce" --request POST \
      --output "$answer" --dump-header "$answer.headers" --write-out '%{http_code} %{content_type}' \
      "${1%/}/v1/ids/$name?n=$2"
}

new_nonce() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }

# has_ids N: whether the response is N IDs, one per line, that ascend or are all different. They are padded to one length and
# compared as texts, because awk's numbers are too short.
has_ids() {
  [ -z "$(tail -c 1 "$answer")" ] &&
    LC_ALL=C awk -v n="$1" -v order="$(header flakeforge-order)" '
      /[^0-9]/ || length($0) < 1 || length($0) > 20 { bad = 1 }
      { id = sprintf("%20s", $0) "" }
      order == "none" ? id in all : NR > 1 && id <= last { bad = 1 }
      { last = id; if (order == "none") all[id] }
      END { exit bad || NR != n }' "$answer"
}

# header NAME: its value in the response.
header() {
  awk -v name="$1" '{ sub(/\r$/, "") } tolower($1) == name ":" { sub(/^[^:]*: */, ""); print }' "$answer.headers"
}

# The slot in which the IDs ascend from response to response; empty if they do not.
slot() {
  [ "$(header flakeforge-order)" = none ] || [ -z "$(header flakeforge-group)" ] || [ -z "$(header flakeforge-slot)" ] ||
    echo "$(header flakeforge-group) $(header flakeforge-slot)"
}

# An ID that was known before the request. The last ID of each slot is kept; without slots, the most recent IDs.
repeated() {
  if [ -n "$slot" ]; then
    head -n 1 "$answer" | LC_ALL=C awk -v slot="$slot" '
      NR == FNR { if ($1 " " $2 == slot) last = sprintf("%20s", $3); next }
      sprintf("%20s", $0) "" <= last "" { print }' "$answer.slots" -
  elif [ -e "$seen.ids" ]; then
    awk 'NR == FNR { seen[$0]; next } $0 in seen { print; exit }' "$seen.ids" "$answer"
  fi
}

# Saves what repeated() needs. Another run may have received later IDs.
remember() {
  if [ -n "$slot" ]; then
    { cat "$seen.slots" 2>/dev/null || :; echo "$slot $(tail -n 1 "$answer.ids")"; } | LC_ALL=C awk -v slot="$slot" '
      $1 " " $2 != slot { print; next }
      sprintf("%20s", $3) "" > sprintf("%20s", last) "" { last = $3 }
      END { print slot " " last }' | tail -n 1000 >"$seen.$$"
    mv "$seen.$$" "$seen.slots"
  else
    { cat "$seen.ids" 2>/dev/null || :; cat "$answer.ids"; } | tail -n 65536 >"$seen.$$"
    mv "$seen.$$" "$seen.ids"
  fi
}

# The origin of the IDs: their layout (a segment has none), and the random digits of their group.
origin() { echo "layout $(header flakeforge-layout), group $(header flakeforge-group)"; }

# The servers in a random order.
shuffled() {
  seed=$(od -An -N4 -tu4 /dev/urandom)
  printf '%s\n' "$@" | awk -v seed="$seed" 'BEGIN { srand(seed) } { print rand() " " $0 }' | sort -n | cut -d ' ' -f 2-
}

# show URL: prints the IDs from this server and exits, if they may follow the earlier ones. A recreated group is accepted if
# every server that responds shows it, and one of them is the server that returned the last IDs.
show() {
  mv "$answer" "$answer.ids"
  theirs=$(origin)
  printf '%s\n' "$1" "$theirs" >"$seen.$$"
  [ -e "$seen" ] || ln "$seen.$$" "$seen" 2>/dev/null || : # another run may be first
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
  remember
  cat "$answer.ids"
  exit
}

# refuse_copy URL WHAT: reports a replayed response.
refuse_copy() {
  echo "$1: ERR_FLAKE_REPLAY $2: configure every proxy and cache on the way not to cache POST, and to pass on the header" \
    flakeforge-nonce >&2
}

# Whether every server that responds shows the origin of the first one. is_last_there: whether the last one is among them.
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
  soonest= # Retry-After of the server that asks for the least; 0 if one sent none
  for url in $(shuffled "$@"); do
    seconds=0 nonce=$(new_nonce)
    cat "$seen.slots" >"$answer.slots" 2>/dev/null || : # its state before the request
    if status=$(ask "$url" "$n"); then # else curl has printed the reason
      case $status in
        '200 text/plain'*)
          slot=$(slot)
          if [ "$(header flakeforge-nonce)" != "$nonce" ]; then
            refuse_copy "$url" 'a response without the nonce of this request may be a copy of an earlier one'
          elif ! has_ids "$n"; then
            echo "$url: expected $n IDs" >&2
          elif old=$(repeated) && [ -n "$old" ]; then
            refuse_copy "$url" "the ID $old was sent before, or is not after the last ID of its slot"
          else
            show "$url" "$@"
          fi
          ;;
        200*) echo "$url: expected IDs, got ${status#200 }" >&2 ;;
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
  [ "$pause" -le 30 ] || pause=30 # a server may be ready sooner than it said
  sleep "$pause"
  pause=1
done
