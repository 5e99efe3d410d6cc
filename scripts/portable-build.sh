#!/usr/bin/env bash
# Builds the linux-x64-gnu binary as it is published: against glibc 2.17, whatever glibc this machine has.
# Needs Node, Rust and Python 3. Zig, which carries the symbol lists of every glibc, and its cargo command are Python
# packages; they go to target/zig and nowhere else.
set -euo pipefail
cd "$(dirname "$0")/.."

glibc=2.17
tools=$PWD/target/zig

if [ ! -x "$tools/bin/cargo-zigbuild" ]; then
  python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check ziglang==0.17.0 cargo-zigbuild==0.24.0
fi

# First in PATH: napi finds cargo-zigbuild there, and cargo-zigbuild the Python that has Zig.
PATH=$tools/bin:$PATH npm run build -- --target "x86_64-unknown-linux-gnu.$glibc" --cross-compile

node scripts/check-glibc.js "$glibc" flakeforge.linux-x64-gnu.node
