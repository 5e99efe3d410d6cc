#!/usr/bin/env bash
# scripts/check-api.sh: compares the API of the core with that of the last release, by cargo-semver-checks, and fails where
# the version does not allow what has changed. Before the first release there is nothing to compare with. The tool goes to
# target/semver and nowhere else; building it takes minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

version=0.51.0 # it must know the Rust that is installed
home=$PWD/target/semver
# A tag of this very commit is the release that is being made, so the one before it counts.
last=$(git tag --list 'v*' --merged HEAD --no-contains HEAD --sort=-version:refname | head -n 1)
if [ -z "$last" ]; then
  echo 'There is no release to compare with.'
  exit 0
fi
if [ "$("$home/bin/cargo-semver-checks" --version 2>/dev/null)" != "cargo-semver-checks $version" ]; then
  cargo install "cargo-semver-checks@$version" --locked --quiet --root "$home" --target-dir "$home/build"
fi
"$home/bin/cargo-semver-checks" semver-checks --package flakeforge-core --default-features --baseline-rev "$last"
