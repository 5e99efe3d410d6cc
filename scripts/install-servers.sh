#!/usr/bin/env bash
# Installs what the tests run as real processes: Redis, PostgreSQL with PgBouncer, MariaDB, SQLite, etcd, strace to make disks
# slow, libfaketime to make time run faster, promtool, a compiler for clocks that can be set and for an npm package that brings no
# binary, the shells that complete the command line, a browser, two file systems that write to new places, and what makes the Debian
# that other platforms are built in.
# On Debian and its like; elsewhere it says what is missing, and the tests fail or skip by themselves.
set -euo pipefail

# Of MariaDB only what a test starts: the package mariadb-server would start a service.
packages=(redis-server redis-tools postgresql pgbouncer mariadb-server-core mariadb-client sqlite3 etcd-server etcd-client strace faketime build-essential python3 zsh fish chromium btrfs-progs xfsprogs debootstrap)

missing() {
  for package in "${packages[@]}"; do
    dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null | grep -q '^installed$' || echo "$package"
  done
}

if ! command -v apt-get >/dev/null; then
  echo "no apt-get here: install ${packages[*]} by hand" >&2
  exit 0
fi
has_promtool() { command -v promtool >/dev/null; }

# Of Prometheus only the program that checks rules: the package prometheus would start a service.
install_promtool() {
  folder=$(mktemp -d)
  cd "$folder"
  apt-get download -qq prometheus
  dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x ./usr/bin/promtool
  as_root install usr/bin/promtool /usr/local/bin/promtool
  rm -r "$folder"
}

mapfile -t wanted < <(missing)
[ ${#wanted[@]} -gt 0 ] || ! has_promtool || exit 0
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }
export DEBIAN_FRONTEND=noninteractive
as_root apt-get update -qq
[ ${#wanted[@]} -eq 0 ] || as_root apt-get install -qq -y --no-install-recommends "${wanted[@]}" >/dev/null
has_promtool || install_promtool
