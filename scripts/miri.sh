#!/usr/bin/env bash
# scripts/miri.sh: runs the unsafe code of mapped pages, and the tests of their contents, under Miri, which finds
# undefined behaviour. Miri supports no mapped files, no other processes and no cycle counter, so it runs only these
# tests: on this machine's CPU, on a big-endian one (s390x) and on a 32-bit one (i686). Needs `rustup toolchain install
# nightly --component miri`.
set -euo pipefail
cd "$(dirname "$0")/.."

# The tests create files and read the clock; the entries of a registry are never freed.
export MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-ignore-leaks"
miri() { cargo +nightly miri test --locked --package flakeforge-core "$@"; }

host=$(rustc +nightly -vV | sed -n 's/^host: //p')
for target in "$host" s390x-unknown-linux-gnu i686-unknown-linux-gnu; do
  miri --target "$target" --lib mapped
  miri --target "$target" --test generator cursor::
  miri --target "$target" --test files presence::
done

# With many seeds, each of which gives another order of the threads, and another choice of the values that weak memory
# may show them.
export MIRIFLAGS="$MIRIFLAGS -Zmiri-many-seeds=0..16"
miri --test generator cursor:: -- --skip claims_match_the_model # alone it takes longer than all others
miri --lib generator::registry
miri --lib while_another_thread_writes_it # only the holder of a slot: everything else about slots needs file locks
