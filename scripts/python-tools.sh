#!/usr/bin/env bash
# scripts/python-tools.sh NAME: installs the Python packages of scripts/python/NAME.txt into target/NAME and nowhere
# else, and prints the folder with their programs. Does nothing if they are already installed.
set -euo pipefail
cd "$(dirname "$0")/.."

list=scripts/python/$1.txt
home=$PWD/target/$1
is_installed() { cmp --silent "$list" "$home/installed.txt" && "$home/bin/python3" -c ''; }
if ! is_installed 2>/dev/null; then
  rm -rf "$home"
  python3 -m venv "$home"
  "$home/bin/pip" install --quiet --disable-pip-version-check --requirement "$list"
  cp "$list" "$home/installed.txt"
fi
echo "$home/bin"
