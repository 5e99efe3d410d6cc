#!/usr/bin/env bash
# prepare.sh: run in the build root before the first build. Puts into target/platforms what Debian's packages lack: Zig
# with its cargo command (Python packages), and the import libraries of node.exe. Does nothing twice.
set -euo pipefail

home=target/platforms
mkdir -p "$home"
exec 9>"$home/prepare.lock" # two commands in one checkout wait for each other here, and then share the files
flock 9

scripts/python-tools.sh zig "$home/zig" >/dev/null

# cargo-zigbuild strips with a program that rustup has under this name.
mkdir -p "$home/bin"
ln -sf /usr/bin/llvm-objcopy "$home/bin/rust-objcopy"

# napi-build insists on linking node.exe. The addon looks up the functions that it calls when it is loaded, so one name
# is enough here; if it ever imported more, the linker would report that.
node_library() {
  local machine=$1 folder=$2
  printf 'LIBRARY node.exe\nEXPORTS\nnapi_get_version\n' >"$folder/node.def"
  "$machine-w64-mingw32-dlltool" --input-def "$folder/node.def" --output-lib "$folder/libnode.dll"
}

# The objects that Rust puts first and last into a library for 32-bit Windows. It also looks for them in the folder of
# libnode.dll.
unwind_objects() {
  local folder=$1 name
  for name in rsbegin rsend; do
    RUSTC_BOOTSTRAP=1 rustc --target i686-pc-windows-gnu --crate-type lib --emit obj --out-dir "$folder" \
      "/usr/lib/rustlib/src/rust/library/rtstartup/$name.rs"
  done
}

for machine in x86_64 i686; do
  folder=$home/node/$machine
  if [ -e "$folder" ]; then continue; fi
  rm -rf "$folder.unfinished"
  mkdir -p "$folder.unfinished"
  node_library "$machine" "$folder.unfinished"
  if [ "$machine" = i686 ]; then unwind_objects "$folder.unfinished"; fi
  mv "$folder.unfinished" "$folder"
done
