#!/usr/bin/env bash
# Installs what the tests run as real processes: Redis, PostgreSQL with PgBouncer, MariaDB, SQLite, etcd, libfaketime to turn
# clocks, a compiler for an npm package that brings no binary, the shells that complete the command line, a browser, and
# what makes the Debian that other platforms are built in.
# On Debian and its like; elsewhere it says what is missing, and the tests fail or skip by themselves.
set -euo pipefail

# Of MariaDB only what a test starts: the package mariadb-server would start a service.
packages=(redis-server redis-tools postgresql pgbouncer mariadb-server-core mariadb-client sqlite3 etcd-server etcd-client faketime build-essential python3 zsh fish chromium debootstrap)

missing() {
  for package in "${packages[@]}"; do
    dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null | grep -q '^installed$' || echo "$package"
  done
}

if ! command -v apt-get >/dev/null; then
  echo "no apt-get here: install ${packages[*]} by hand" >&2
  exit 0
fi
mapfile -t wanted < <(missing)
[ ${#wanted[@]} -gt 0 ] || exit 0
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }
export DEBIAN_FRONTEND=noninteractive
as_root apt-get update -qq
as_root apt-get install -qq -y --no-install-recommends "${wanted[@]}" >/dev/null
