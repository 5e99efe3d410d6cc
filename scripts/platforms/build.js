'use strict'

// Builds one target in the build root: target/platforms/out/flakeforge.NAME.node, from the locked sources with the
// release profile, standard library included. A file there is always complete: it is written next to its place and
// renamed.

const fs = require('node:fs')
const path = require('node:path')
const { renaming } = require('../own-paths.js')
const wasm = require('./build-wasm.js')
const { INSIDE, runInRoot } = require('./root.js')

const checkout = path.join(__dirname, '..', '..')
const home = path.join(checkout, 'target', 'platforms')

/** `X86_64_UNKNOWN_LINUX_GNU`, the form in the names of Cargo's settings. */
const inCapitals = (triple) => triple.toUpperCase().replaceAll('-', '_')

/** Where the binary of a target is. */
const fileOf = (target) => path.join(home, 'out', `flakeforge.${target.name}.node`)

/** Whether a lane has built a part of a target: then it is the quickest. */
const isStarted = ({ triple }, lane) => fs.existsSync(path.join(home, `cargo-${lane}`, triple))

/** The folders of the build root that a binary would contain. */
const FOLDERS = { checkout: INSIDE, cargo: '/cargo', rust: '/usr/lib/rustlib/src/rust' }

/** Flags of rustc for a target. */
function flagsFor({ triple, build }) {
  const kind = build === 'wasm' ? wasm.FLAGS : triple.endsWith('-musl') ? ['-Ctarget-feature=-crt-static'] : []
  return [...renaming(FOLDERS), ...kind].join(' ')
}

/** The environment of a build. `lane` separates concurrent builds. */
function settingsFor(target, lane) {
  const { triple, build, macos } = target
  const settings = {
    [`CARGO_TARGET_${inCapitals(triple)}_RUSTFLAGS`]: flagsFor(target),
    RUSTC_BOOTSTRAP: '1', // a stable compiler builds its standard library only with this
    CARGO_TARGET_DIR: `${INSIDE}/target/platforms/cargo-${lane}`,
    CARGO_TERM_COLOR: 'never',
    XDG_CACHE_HOME: `${INSIDE}/target/platforms/cache`,
    PATH: `${INSIDE}/target/platforms/zig/bin:${INSIDE}/target/platforms/bin:/usr/bin:/bin`,
  }
  const [machine] = triple.split('-')
  if (macos) settings.MACOSX_DEPLOYMENT_TARGET = macos
  if (build === 'mingw') {
    settings.LIBNODE_PATH = `${INSIDE}/target/platforms/node/${machine}`
    settings[`CARGO_TARGET_${inCapitals(triple)}_LINKER`] = `${machine}-w64-mingw32-gcc`
  }
  return settings
}

/** Cargo's command line for a target. */
function commandFor({ triple, glibc, build }) {
  const verb = { zig: 'zigbuild', mingw: 'build', wasm: 'build', check: 'check' }[build]
  const linked = build === 'zig' && glibc ? `${triple}.${glibc}` : triple
  const std = build === 'wasm' ? 'std,panic_abort' : 'std'
  return ['cargo', verb, '--release', '--locked', '--package', 'flakeforge', `-Zbuild-std=${std}`, '--target', linked]
}

/** The library from Cargo. */
function madeBy({ triple }, lane) {
  const folder = path.join(home, `cargo-${lane}`, triple, 'release')
  const names = ['libflakeforge.so', 'libflakeforge.dylib', 'flakeforge.dll', 'flakeforge.wasm']
  const found = names.map((name) => path.join(folder, name)).filter((file) => fs.existsSync(file))
  if (found.length !== 1)
    throw new Error(`${folder} has ${found.length} of ${names.join(', ')}: exactly one was expected`)
  return found[0]
}

/** A program may have loaded the old file: it keeps that one. */
function replace(from, to) {
  fs.mkdirSync(path.dirname(to), { recursive: true })
  const aside = `${to}.${process.pid}`
  fs.copyFileSync(from, aside)
  fs.renameSync(aside, to)
}

/** The C functions that only the WebAssembly needs. */
async function prepareWasm(root) {
  insist(
    await wasm.compileLibc(root),
    path.join(home, 'log', 'wasm-libc.log'),
    "the build of WebAssembly's C functions",
  )
}

/** Throws with the end of a command's output, if it failed. `log` has all of it. */
function insist({ status, output }, log, what) {
  fs.mkdirSync(path.dirname(log), { recursive: true })
  fs.writeFileSync(log, output)
  if (status === 0) return
  const end = output.trim().split('\n').slice(-25).join('\n')
  throw new Error(`${what} failed with status ${status}, see ${path.relative(checkout, log)}:\n${end}`)
}

/** The requirements of the first build. */
async function prepare(root) {
  const result = await runInRoot(root, ['bash', `${INSIDE}/scripts/platforms/prepare.sh`])
  insist(result, path.join(home, 'log', 'prepare.log'), 'the preparation of the build root')
}

/** The version of a program in the root; the first one that it prints. */
async function versionOf(root, command) {
  const { output } = await runInRoot(root, command)
  return output.match(/\d+(?:\.\d+)*/)?.[0] ?? '?'
}

/** The tools that the targets are built with, as the table shows them: by the kind of build. */
async function compilers(root) {
  const rust = await versionOf(root, ['rustc', '--version'])
  const zig = fs.readFileSync(path.join(checkout, 'scripts', 'python', 'zig.txt'), 'utf8').match(/^ziglang==(\S+)/m)[1]
  const gcc = await versionOf(root, ['x86_64-w64-mingw32-gcc', '-dumpfullversion'])
  const clang = await versionOf(root, ['clang', '--version'])
  return {
    zig: `${rust}, zig ${zig}`,
    mingw: `${rust}, mingw GCC ${gcc}`,
    wasm: `${rust}, Clang ${clang}`,
    check: `${rust}, compiled only`,
  }
}

/**
 * Builds a target, and returns the path of its binary; undefined for one that is only compiled.
 * @param {string} root
 * @param {import('./targets.js').Target} target
 * @param {number} lane builds in different lanes can run at the same time
 */
async function build(root, target, lane) {
  if (target.build === 'wasm') await prepareWasm(root)
  const result = await runInRoot(root, commandFor(target), settingsFor(target, lane))
  insist(result, path.join(home, 'log', `${target.name}.log`), `the build of ${target.name}`)
  if (target.build === 'check') return undefined
  if (target.build === 'wasm') return wasm.completeWasm(madeBy(target, lane), path.join(home, 'out', target.name))
  replace(madeBy(target, lane), fileOf(target))
  return fileOf(target)
}

module.exports = { build, commandFor, compilers, fileOf, isStarted, prepare, settingsFor }
