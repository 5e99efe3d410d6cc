#!/usr/bin/env bash
# scripts/features.sh: the core builds with each of its features alone, with none and with all, without a warning; and the
# example of its README needs nothing that a user does not see.
set -euo pipefail
cd "$(dirname "$0")/.."

target=target/features
check() { RUSTFLAGS='-D warnings' cargo check --quiet --locked --package flakeforge-core --lib --target-dir "$target" "$@"; }
for features in '' files lease seal internal files,lease,seal,internal; do
  check --no-default-features --features "$features"
done

# cargo's own tests turn the feature `internal` on: they would not notice.
RUSTFLAGS='-D warnings' cargo build --quiet --locked --package flakeforge-core --lib --target-dir "$target"
rustdoc --test --edition 2024 core/README.md --test-args --quiet \
  -L "dependency=$target/debug/deps" --extern "flakeforge_core=$target/debug/libflakeforge_core.rlib"
