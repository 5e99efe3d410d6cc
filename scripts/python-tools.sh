#!/usr/bin/env bash
# scripts/python-tools.sh NAME [FOLDER]: installs the Python packages of scripts/python/NAME.txt into FOLDER (by default
# target/NAME) and nowhere else, and prints the folder with their programs. Does nothing if they are already installed there:
# the programs of a folder that was copied or moved name the Python of the first one.
# pip accepts only files whose hashes are in the list, and only wheels: to build a package from its source, it would
# download build tools that no hash pins. After a change of a version in LIST, this prints the list with its hashes:
#
#   grep -o '^[^ ]*==[^ ]*' LIST | uv pip compile - --universal --python-version 3.11 --no-deps --generate-hashes --no-annotate --no-header
set -euo pipefail
cd "$(dirname "$0")/.."

list=scripts/python/$1.txt
home=$PWD/${2:-target/$1}
installed() { cat "$list" && echo "# in $home"; }
is_installed() { installed | cmp --silent - "$home/installed.txt" && "$home/bin/python3" -c ''; }
if ! is_installed 2>/dev/null; then
  rm -rf "$home"
  python3 -m venv "$home"
  "$home/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: --requirement "$list"
  installed >"$home/installed.txt"
fi
echo "$home/bin"
