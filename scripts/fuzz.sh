#!/usr/bin/env bash
# scripts/fuzz.sh SECONDS: each fuzz target of the core for that long, one line each. Fails when one crashes.
# scripts/fuzz.sh kept: only the inputs in core/fuzz/corpus. It looks for no new ones, so it needs neither cargo-fuzz
# nor a sanitizer, and an unoptimised build is enough: a quarter of the time. Needs Rust and a C++ compiler (for
# libFuzzer). cargo-fuzz, builds, found inputs and crashes go only to target/fuzz: the seeds in core/fuzz/corpus are
# read and stay unchanged.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1-}
if [[ ! $seconds =~ ^([1-9][0-9]*|kept)$ ]]; then # libFuzzer would treat 0 as no limit
  echo 'usage: scripts/fuzz.sh SECONDS | kept' >&2
  exit 2
fi
version=0.13.2
home=$PWD/target/fuzz

# Runs a target on its saved inputs. Its output is shown only when it fails.
run_kept() {
  local target=$1 program=$home/kept/debug/$1 inputs=(core/fuzz/corpus/"$1"/*) log=$home/$1.log
  if "$program" "${inputs[@]}" >"$log" 2>&1 && are_read "$program" "${inputs[@]}" >>"$log"; then
    printf '%-8s %s kept inputs, ok\n' "$target" "${#inputs[@]}"
  else
    printf '%-8s FAILED; all of it in %s\n' "$target" "target/fuzz/$target.log"
    tail -n 40 "$log"
    return 1
  fi
}

# libFuzzer silently skips inputs that a target cannot read, such as one that is too short since a crate changed.
are_read() {
  local program=$1 input status=0 seen=$home/seen.txt
  for input in "${@:2}"; do
    rm -f "$seen"
    RUST_LIBFUZZER_DEBUG_PATH=$seen "$program" "$input" >/dev/null 2>&1
    if [ ! -e "$seen" ] || grep -q '^Arbitrary Error' "$seen"; then
      echo "$input is no input of this target any more"
      status=1
    fi
  done
  return "$status"
}

if [ "$seconds" = kept ]; then
  RUSTFLAGS='--cfg fuzzing' cargo build --quiet --locked --manifest-path core/fuzz/Cargo.toml --target-dir "$home/kept"
  status=0
  for corpus in core/fuzz/corpus/*/; do run_kept "$(basename "$corpus")" || status=1; done
  exit "$status"
fi

export RUSTC_BOOTSTRAP=1 # a sanitizer is a nightly flag, which stable Rust accepts with this variable

if [ ! -x "$home/tools/bin/cargo-fuzz" ]; then
  # Unoptimised: it only starts other programs, and this builds in half the time.
  cargo install "cargo-fuzz@$version" --locked --debug --quiet --root "$home/tools" --target-dir "$home/build-tools"
fi
PATH=$home/tools/bin:$PATH
fuzz() { cargo fuzz "$1" --fuzz-dir core/fuzz --target-dir "$home/build" "${@:2}"; }

mkdir -p "$home"
cargo fetch --quiet --locked --manifest-path core/fuzz/Cargo.toml # cargo-fuzz has no option --locked
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
