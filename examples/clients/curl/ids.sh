#!/bin/sh
# Prints n new IDs (default 1), one a line: ids.sh NAME N URL...
# The first server that answers gives them: after a network error, a timeout or a 5xx the next one is asked. While none
# can answer, it goes round until FLAKEFORGE_WAIT seconds (default 10) are over. Exit status 1: no server gave IDs, or one
# refused the request; its words are on stderr. FLAKEFORGE_TOKEN is the token, where the servers want one.
# It must never print a part of an answer: curl's output goes to a file, and is shown once it is complete.
set -eu

name=$1 n=$2
shift 2
answer=$(mktemp)
trap 'rm -f "$answer" "$answer.headers"' EXIT
give_up=$(($(date +%s) + ${FLAKEFORGE_WAIT:-10}))

# The token comes by standard input: in the arguments, every user of the machine could see it.
ask() {
  { [ -z "${FLAKEFORGE_TOKEN:-}" ] || echo "Authorization: Bearer $FLAKEFORGE_TOKEN"; } |
    curl --silent --show-error --max-time 2 --header @- --header 'Accept: text/plain' --request POST \
      --output "$answer" --dump-header "$answer.headers" --write-out '%{http_code}' "${1%/}/v1/ids/$name?n=$n"
}

while :; do
  pause=1
  for url in "$@"; do
    status=$(ask "$url") || continue # curl has said why
    case $status in
      200)
        cat "$answer"
        exit
        ;;
      408 | 429 | 5??)
        seconds=$(sed -n 's/^[Rr]etry-[Aa]fter: *\([0-9]\{1,6\}\).*/\1/p' "$answer.headers")
        [ "${seconds:-0}" -le "$pause" ] || pause=$seconds
        ;;
      *) break 2 ;; # the request itself is wrong
    esac
    echo "$url: $status $(cat "$answer")" >&2
  done
  [ $(($(date +%s) + pause)) -le "$give_up" ] || { echo 'no server gave IDs' >&2 && exit 1; }
  sleep "$pause"
done
echo "$url: $status $(cat "$answer")" >&2
exit 1
