'use strict'

// The platforms that flakeforge is made for: the one list. lists.js writes the others from it. A new platform begins with a
// row here.

/**
 * A platform, by the name that packages and files have.
 * @typedef {object} Target
 * @property {string} name as in `@flakeforge/binding-linux-x64-gnu`
 * @property {string} triple what Rust calls it
 * @property {string} [glibc] the oldest that it must load with
 * @property {string} [macos] the oldest that it must load with: that of Node.js 20
 * @property {'zig' | 'mingw' | 'wasm' | 'check'} build how one Linux machine builds it; 'check' only compiles it
 * @property {string} [qemu] the emulator for its CPU
 * @property {string} [cpu] the CPU, as the documentation names it; without it, the platform has no package
 * @property {string} [before] what runs before a release, for the documentation
 * @property {string} [weekly] what runs every week
 */

const REAL = 'all tests, on a machine of this kind'
const ALPINE = 'all tests but those with servers, in Alpine'
const BUILT = 'built only'
const EMULATED = 'smoke, emulated'
const ALL_EMULATED = 'smoke and tests, emulated'
const ZIG = 'built only, with Zig'

/** @type {Target[]} */
const TARGETS = [
  {
    name: 'linux-x64-gnu',
    triple: 'x86_64-unknown-linux-gnu',
    glibc: '2.17',
    build: 'zig',
    cpu: 'x86-64',
    before: REAL,
    weekly: 'smoke, on every runtime',
  },
  {
    name: 'linux-arm64-gnu',
    triple: 'aarch64-unknown-linux-gnu',
    glibc: '2.17',
    build: 'zig',
    qemu: 'aarch64',
    cpu: 'arm64',
    before: REAL,
    weekly: ALL_EMULATED,
  },
  {
    name: 'linux-x64-musl',
    triple: 'x86_64-unknown-linux-musl',
    build: 'zig',
    cpu: 'x86-64',
    before: ALPINE,
    weekly: 'smoke and tests',
  },
  {
    name: 'linux-arm64-musl',
    triple: 'aarch64-unknown-linux-musl',
    build: 'zig',
    qemu: 'aarch64',
    cpu: 'arm64',
    before: ALPINE,
    weekly: ALL_EMULATED,
  },
  {
    name: 'linux-arm-gnueabihf',
    triple: 'armv7-unknown-linux-gnueabihf',
    glibc: '2.17',
    build: 'zig',
    qemu: 'arm',
    cpu: 'ARMv7, hard float',
    before: BUILT,
    weekly: EMULATED,
  },
  {
    // The part of Zig that unwinds the stack calls functions of glibc 2.32 on this CPU.
    name: 'linux-ppc64-gnu',
    triple: 'powerpc64le-unknown-linux-gnu',
    glibc: '2.32',
    build: 'zig',
    qemu: 'ppc64le',
    cpu: 'ppc64le',
    before: BUILT,
    weekly: EMULATED,
  },
  {
    name: 'linux-s390x-gnu',
    triple: 's390x-unknown-linux-gnu',
    glibc: '2.17',
    build: 'zig',
    qemu: 's390x',
    cpu: 's390x, big-endian',
    before: BUILT,
    weekly: EMULATED,
  },
  {
    name: 'linux-riscv64-gnu',
    triple: 'riscv64gc-unknown-linux-gnu',
    glibc: '2.27',
    build: 'zig',
    qemu: 'riscv64',
    cpu: 'riscv64',
    before: BUILT,
    weekly: EMULATED,
  },
  {
    name: 'darwin-x64',
    triple: 'x86_64-apple-darwin',
    macos: '10.15',
    build: 'zig',
    cpu: 'x86-64',
    before: REAL,
    weekly: ZIG,
  },
  {
    name: 'darwin-arm64',
    triple: 'aarch64-apple-darwin',
    macos: '11.0',
    build: 'zig',
    cpu: 'arm64',
    before: REAL,
    weekly: ZIG,
  },
  {
    name: 'win32-x64-msvc',
    triple: 'x86_64-pc-windows-msvc',
    build: 'check',
    cpu: 'x86-64',
    before: REAL,
    weekly: 'compiled only; smoke and tests under Wine with a MinGW build',
  },
  {
    name: 'win32-arm64-msvc',
    triple: 'aarch64-pc-windows-msvc',
    build: 'check',
    cpu: 'arm64',
    before: REAL,
    weekly: 'compiled only',
  },
  {
    name: 'win32-ia32-msvc',
    triple: 'i686-pc-windows-msvc',
    build: 'check',
    cpu: 'x86, 32 bits',
    before: 'smoke, on a machine of this kind',
    weekly: 'compiled only',
  },
  { name: 'win32-x64-gnu', triple: 'x86_64-pc-windows-gnu', build: 'mingw' }, // for runs under Wine
  { name: 'win32-ia32-gnu', triple: 'i686-pc-windows-gnu', build: 'mingw' },
  {
    name: 'wasm32-wasi',
    triple: 'wasm32-wasip1-threads',
    build: 'wasm',
    cpu: 'all others',
    before: 'smoke and tests, in Node',
    weekly: 'the same',
  },
]

/** Those that have a package. */
const PACKAGED = TARGETS.filter(({ cpu }) => cpu !== undefined)
/** Those whose package is a binary. */
const BINARIES = PACKAGED.filter(({ build }) => build !== 'wasm')

module.exports = { BINARIES, PACKAGED, TARGETS }
