#!/usr/bin/env bash
# scripts/miri.sh: runs the unsafe code of mapped pages, and the tests of what lies in them, under Miri, which finds
# undefined behaviour. Miri knows no mapped files, no other processes and no cycle counter, so it runs only these tests.
# Needs `rustup toolchain install nightly --component miri`.
set -euo pipefail
cd "$(dirname "$0")/.."

export MIRIFLAGS=-Zmiri-disable-isolation # the tests make files and read the clock
miri() { cargo +nightly miri test --locked --package flakeforge-core "$@"; }

miri --lib mapped
miri --test generator cursor::
miri --test files presence::
