#!/usr/bin/env bash
# Installs the real programs that the tests run: Redis, PostgreSQL with PgBouncer, MariaDB, SQLite, etcd, strace to slow
# down disks, libfaketime to speed up time, promtool, a compiler for clocks that can be set and for an npm package
# without a binary, the shells that complete the command line, a browser, two copy-on-write file systems, and the tools
# that create the Debian for building other platforms. For Debian and its derivatives; elsewhere it lists what is
# missing, and the tests fail or are skipped.
set -euo pipefail

# From MariaDB only what a test starts: the package mariadb-server would start a service.
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

# From Prometheus only the program that checks rules: the package prometheus would start a service.
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
