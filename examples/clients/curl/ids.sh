#!/bin/sh
# Prints n new IDs, one a line: ids.sh NAME N URL...
# A server that answers gives them, which one by chance: after a network error, a timeout or a 5xx the next one is asked.
# While none can answer, it goes round until FLAKEFORGE_WAIT seconds (default 10) are over. Exit status 1: no server gave
# IDs, or one refused the request; its words are on stderr. FLAKEFORGE_TOKEN is the token, where the servers want one.
# FLAKEFORGE_CA is a file with the CA of https servers, FLAKEFORGE_CERT and FLAKEFORGE_KEY are those of a client certificate.
#
# It prints complete answers only: curl's output goes to a file. It prints no IDs of two groups or layouts, which could be
# equal, and none that a cache repeats, also if it runs many times: what the servers showed is kept in the file
# FLAKEFORGE_SEEN, by default one in ~/.local/state for each NAME and list of URLs, and beside it in .slots and .ids.
set -eu

name=$1 n=$2
shift 2
seen=${FLAKEFORGE_SEEN:-${XDG_STATE_HOME:-$HOME/.local/state}/flakeforge/$(printf '%s\n' "$name" "$@" | sort | cksum | tr ' ' -)}
mkdir -p "$(dirname "$seen")"
answer=$(mktemp)
trap 'rm -f "$answer" "$answer.headers" "$answer.ids" "$answer.slots" "$seen.$$"' EXIT
give_up=$(($(date +%s) + ${FLAKEFORGE_WAIT:-10}))

# ask URL N: the status and the type of the answer. The token comes by standard input: in the arguments, every user of the
# machine could see it. The answer must repeat $nonce.
ask() {
  { [ -z "${FLAKEFORGE_TOKEN:-}" ] || echo "Authorization: Bearer $FLAKEFORGE_TOKEN"; } |
    curl --silent --show-error --max-time 2 ${FLAKEFORGE_CA:+--cacert "$FLAKEFORGE_CA"} \
      ${FLAKEFORGE_CERT:+--cert "$FLAKEFORGE_CERT" --key "$FLAKEFORGE_KEY"} \
      --header @- --header 'Accept: text/plain' --header "Flakeforge-Nonce: $nonce" --request POST \
      --output "$answer" --dump-header "$answer.headers" --write-out '%{http_code} %{content_type}' \
      "${1%/}/v1/ids/$name?n=$2"
}

new_nonce() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }

# has_ids N: whether the answer is N IDs, each on a line, that ascend or are all different. Padded to one length they compare
# as texts: awk's numbers are too short.
has_ids() {
  [ -z "$(tail -c 1 "$answer")" ] &&
    LC_ALL=C awk -v n="$1" -v order="$(header flakeforge-order)" '
      /[^0-9]/ || length($0) < 1 || length($0) > 20 { bad = 1 }
      { id = sprintf("%20s", $0) "" }
      order == "none" ? id in all : NR > 1 && id <= last { bad = 1 }
      { last = id; if (order == "none") all[id] }
      END { exit bad || NR != n }' "$answer"
}

# header NAME: what the answer says there.
header() {
  awk -v name="$1" '{ sub(/\r$/, "") } tolower($1) == name ":" { sub(/^[^:]*: */, ""); print }' "$answer.headers"
}

# What its IDs ascend in, from answer to answer: a group's slot. Empty where they do not.
slot() {
  [ "$(header flakeforge-order)" = none ] || [ -z "$(header flakeforge-group)" ] || [ -z "$(header flakeforge-slot)" ] ||
    echo "$(header flakeforge-group) $(header flakeforge-slot)"
}

# An ID that was here before the request. Of a slot its last one is kept; of those without one, the most recent IDs.
repeated() {
  if [ -n "$slot" ]; then
    head -n 1 "$answer" | LC_ALL=C awk -v slot="$slot" '
      NR == FNR { if ($1 " " $2 == slot) last = sprintf("%20s", $3); next }
      sprintf("%20s", $0) "" <= last "" { print }' "$answer.slots" -
  elif [ -e "$seen.ids" ]; then
    awk 'NR == FNR { seen[$0]; next } $0 in seen { print; exit }' "$seen.ids" "$answer"
  fi
}

# Keeps what repeated() needs. Another run may have got later ones.
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
  remember
  cat "$answer.ids"
  exit
}

# refuse_copy URL WHAT: says that an answer was given twice.
refuse_copy() {
  echo "$1: ERR_FLAKE_REPLAY $2: configure every proxy and cache on the way not to cache POST, and to pass on the header" \
    flakeforge-nonce >&2
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
    seconds=0 nonce=$(new_nonce)
    cat "$seen.slots" >"$answer.slots" 2>/dev/null || : # as it is before the request
    if status=$(ask "$url" "$n"); then # else curl has said why
      case $status in
        '200 text/plain'*)
          slot=$(slot)
          if [ "$(header flakeforge-nonce)" != "$nonce" ]; then
            refuse_copy "$url" 'an answer without the nonce of this request may be a copy of an earlier one'
          elif ! has_ids "$n"; then
            echo "$url: not $n IDs" >&2
          elif old=$(repeated) && [ -n "$old" ]; then
            refuse_copy "$url" "the ID $old was sent before, or is not after the last one of its slot"
          else
            show "$url" "$@"
          fi
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
