'use strict'

// The platforms that flakeforge is made for: the one list that the builds, the runs, the packages under npm/, the workflows
// and the documentation are compared with. A new platform begins with a row here.

/**
 * A platform, by the name that packages and files have.
 * @typedef {object} Target
 * @property {string} name as in `@flakeforge/binding-linux-x64-gnu`
 * @property {string} triple what Rust calls it
 * @property {string} [glibc] the oldest that it must load with
 * @property {string} [macos] the oldest that it must load with: that of Node.js 20
 * @property {'zig' | 'mingw' | 'wasm' | 'check'} build how one Linux machine builds it; 'check' only compiles it
 * @property {string} [qemu] the emulator for its CPU
 */

/** @type {Target[]} */
const TARGETS = [
  { name: 'linux-x64-gnu', triple: 'x86_64-unknown-linux-gnu', glibc: '2.17', build: 'zig' },
  { name: 'linux-arm64-gnu', triple: 'aarch64-unknown-linux-gnu', glibc: '2.17', build: 'zig', qemu: 'aarch64' },
  { name: 'linux-x64-musl', triple: 'x86_64-unknown-linux-musl', build: 'zig' },
  { name: 'linux-arm64-musl', triple: 'aarch64-unknown-linux-musl', build: 'zig', qemu: 'aarch64' },
  { name: 'linux-arm-gnueabihf', triple: 'armv7-unknown-linux-gnueabihf', glibc: '2.17', build: 'zig', qemu: 'arm' },
  // The part of Zig that unwinds the stack calls functions of glibc 2.32 on this CPU.
  { name: 'linux-ppc64-gnu', triple: 'powerpc64le-unknown-linux-gnu', glibc: '2.32', build: 'zig', qemu: 'ppc64le' },
  { name: 'linux-s390x-gnu', triple: 's390x-unknown-linux-gnu', glibc: '2.17', build: 'zig', qemu: 's390x' },
  { name: 'linux-riscv64-gnu', triple: 'riscv64gc-unknown-linux-gnu', glibc: '2.27', build: 'zig', qemu: 'riscv64' },
  { name: 'darwin-x64', triple: 'x86_64-apple-darwin', macos: '10.15', build: 'zig' },
  { name: 'darwin-arm64', triple: 'aarch64-apple-darwin', macos: '11.0', build: 'zig' },
  { name: 'win32-x64-msvc', triple: 'x86_64-pc-windows-msvc', build: 'check' },
  { name: 'win32-arm64-msvc', triple: 'aarch64-pc-windows-msvc', build: 'check' },
  { name: 'win32-ia32-msvc', triple: 'i686-pc-windows-msvc', build: 'check' },
  { name: 'win32-x64-gnu', triple: 'x86_64-pc-windows-gnu', build: 'mingw' },
  { name: 'win32-ia32-gnu', triple: 'i686-pc-windows-gnu', build: 'mingw' },
  { name: 'wasm32-wasi', triple: 'wasm32-wasip1-threads', build: 'wasm' },
]

module.exports = { TARGETS }
