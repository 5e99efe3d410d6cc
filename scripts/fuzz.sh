#!/usr/bin/env bash
# scripts/fuzz.sh SECONDS: each fuzz target of the core for that long, one line each. Fails when one crashes.
# Needs Rust and a C++ compiler (for libFuzzer). cargo-fuzz, builds, found inputs and crashes go to target/fuzz and
# nowhere else: the seeds in core/fuzz/corpus are read and stay as they are.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1-}
if [[ ! $seconds =~ ^[1-9][0-9]*$ ]]; then # libFuzzer would take 0 for no end
  echo 'usage: scripts/fuzz.sh SECONDS' >&2
  exit 2
fi
version=0.13.2
home=$PWD/target/fuzz
export RUSTC_BOOTSTRAP=1 # a sanitizer is a nightly flag, which stable Rust takes when told so

if [ ! -x "$home/tools/bin/cargo-fuzz" ]; then
  # Unoptimised: it only starts other programs, and this builds in half the time.
  cargo install "cargo-fuzz@$version" --locked --debug --quiet --root "$home/tools" --target-dir "$home/build-tools"
fi
PATH=$home/tools/bin:$PATH
fuzz() { cargo fuzz "$1" --fuzz-dir core/fuzz --target-dir "$home/build" "${@:2}"; }

mkdir -p "$home"
cargo fetch --quiet --locked --manifest-path core/fuzz/Cargo.toml # cargo-fuzz cannot be told --locked
if ! fuzz build >"$home/build.log" 2>&1; then
  cat "$home/build.log"
  exit 1
fi

status=0
for target in $(cargo fuzz list --fuzz-dir core/fuzz); do
  mkdir -p "$home/corpus/$target" "$home/crashes/$target"
  log=$home/$target.log
  # New inputs go to the first folder; the others are only read.
  if fuzz run "$target" "$home/corpus/$target" "core/fuzz/corpus/$target" -- \
    -max_total_time="$seconds" -artifact_prefix="$home/crashes/$target/" >"$log" 2>&1; then
    runs=$(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$log")
    printf '%-8s %s runs, ok\n' "$target" "$runs"
  else
    status=1
    printf '%-8s FAILED; all of it in %s\n' "$target" "target/fuzz/$target.log"
    grep -A 4 -E 'panicked at|^==[0-9]+==ERROR|Test unit written|^error' "$log" || tail -n 40 "$log"
  fi
done
exit "$status"
