#!/usr/bin/env bash
# scripts/features.sh: the core builds with each of its features alone, with none and with all, without a warning; and the
# example of its README needs nothing that a user does not see.
set -euo pipefail
cd "$(dirname "$0")/.."

# The compiler's warnings. Clippy denies them in our code alone, so the crates of others are those that the lints have checked.
for features in '' files lease seal internal files,lease,seal,internal; do
  cargo clippy --quiet --locked --package flakeforge-core --lib --no-default-features --features "$features" -- \
    -D warnings -A clippy::all
done

# cargo's own tests turn the feature `internal` on: they would not notice.
cargo build --quiet --locked --package flakeforge-core --lib
rustdoc --test --edition 2024 core/README.md --test-args --quiet \
  -L dependency=target/debug/deps --extern flakeforge_core=target/debug/libflakeforge_core.rlib
