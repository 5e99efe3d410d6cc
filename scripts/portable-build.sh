#!/usr/bin/env bash
# scripts/portable-build.sh [TARGET]: builds a binary for Linux as it is published, whatever libc this machine has. For
# glibc that means the version that scripts/platforms/targets.js names. TARGET is x86_64-unknown-linux-gnu by default;
# Rust must have it installed. Needs Node.js, Rust and Python 3. Zig, which contains the symbol lists of every glibc,
# and its cargo command are Python packages; they go only to target/zig.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${1:-x86_64-unknown-linux-gnu}
of_target() { node -p "require('./scripts/platforms/targets.js').TARGETS.find(({ triple }) => triple === '$target')?.$1 ?? ''"; }
name=$(of_target name)
glibc=$(of_target glibc)
if [[ $name != linux-* ]]; then
  echo "$target is no Linux target of scripts/platforms/targets.js" >&2
  exit 2
fi
tools=$(scripts/python-tools.sh zig)

# First in PATH: napi finds cargo-zigbuild there, and cargo-zigbuild the Python that has Zig.
build() { PATH=$tools:$PATH npm run build -- --target "$1" --cross-compile; }

if [[ -n $glibc ]]; then
  build "$target.$glibc"
  node scripts/check-glibc.js "$glibc" "flakeforge.$name.node"
else
  build "$target"
fi
