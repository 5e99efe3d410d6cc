#!/usr/bin/env bash
# scripts/lint-crates.sh [CHECK...]: checks the crates of the addon, its tests and its fuzz targets with cargo-deny, by
# scripts/deny.toml. CHECK is one of advisories, bans, licenses and sources; by default all of them. Needs the network
# for advisories. cargo-deny goes only to target/deny; building it takes minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

version=0.20.2
home=$PWD/target/deny
if [ "$("$home/bin/cargo-deny" --version 2>/dev/null)" != "cargo-deny $version" ]; then
  cargo install "cargo-deny@$version" --locked --quiet --root "$home" --target-dir "$home/build"
fi
deny() { "$home/bin/cargo-deny" --locked --config scripts/deny.toml "$@"; }

deny --workspace check "$@"
deny --manifest-path core/fuzz/Cargo.toml check "$@"
