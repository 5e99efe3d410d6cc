'use strict'

// Builds the inputs of `npm run memcheck`, in target/memcheck: the addon with AddressSanitizer, a copy of the checkout
// with that addon in it, and the probe. The addon in the checkout stays unchanged.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { MissingRequirement, checkRust } = require('../requirements.js')

const root = path.join(__dirname, '..', '..')
const home = path.join(root, 'target', 'memcheck')
const copy = path.join(home, 'copy')
const LEFT_OUT = new Set(['.git', 'node_modules', 'target'])
const GET_RUNTIME = 'Debian and Ubuntu have it in the package gcc, Fedora in libasan'

/** A sanitizer needs nightly Rust, or a stable one with this variable. */
const FLAGS = '-Zsanitizer=address -Cforce-frame-pointers=yes -Cdebuginfo=line-tables-only'

/** Runs a program of the build and returns its output; its stderr is shown when it fails. */
function run(program, args, env = {}) {
  const options = { cwd: root, encoding: 'utf8', env: { ...process.env, RUSTC_BOOTSTRAP: '1', ...env } }
  const { error, status, stdout, stderr } = spawnSync(program, args, options)
  if (error?.code === 'ENOENT') throw new MissingRequirement(`memcheck needs ${program}: install it. ${GET_RUNTIME}`)
  if (status !== 0) throw new Error(`'${program} ${args.join(' ')}' failed:\n${stderr}`)
  return stdout
}

/**
 * The runtime of AddressSanitizer, to be loaded into Node.js before everything else. It is gcc's: Rust has one for
 * executables only, and both have the same interface to the watched code.
 */
function findRuntime() {
  if (process.platform !== 'linux' || process.report.getReport().header.glibcVersionRuntime === undefined)
    throw new MissingRequirement('memcheck runs on Linux with glibc: there a library can be loaded before all others')
  const file = run('gcc', ['-print-file-name=libasan.so']).trim()
  if (!path.isAbsolute(file))
    // gcc prints only the name of a library that it does not have
    throw new MissingRequirement(`memcheck needs libasan, the library of gcc's AddressSanitizer: ${GET_RUNTIME}`)
  return fs.realpathSync(file)
}

/** Only for an explicit target does cargo leave build scripts and macros, which run without the runtime, unchanged. */
function buildAddon(host) {
  const options = ['--locked', '--lib', '--package', 'flakeforge', '--target', host, '--target-dir', `${home}/cargo`]
  run('cargo', ['build', ...options], { CARGO_ENCODED_RUSTFLAGS: FLAGS.replaceAll(' ', '\x1f') })
  return path.join(home, 'cargo', host, 'debug', 'libflakeforge.so')
}

/**
 * Like the addon, the probe is never unloaded: the sanitizer could no longer name the code that allocated the memory.
 */
function buildProbe(host) {
  const stays = '-Clink-arg=-Wl,-z,nodelete'
  const options = ['--edition=2024', '--crate-type=cdylib', `--target=${host}`, stays, ...FLAGS.split(' ')]
  run('rustc', [...options, '-o', path.join(home, 'probe.node'), path.join(__dirname, 'probe.rs')])
}

/** The present checkout, but with another addon: tests also copy and link it. */
function copyCheckout(addon) {
  fs.rmSync(copy, { recursive: true, force: true })
  fs.mkdirSync(path.join(copy, 'target'), { recursive: true })
  const names = fs.readdirSync(root).filter((name) => !LEFT_OUT.has(name) && !name.endsWith('.node'))
  const filter = (from) => !LEFT_OUT.has(path.basename(from)) // also the packages of the site and of examples
  for (const name of names) fs.cpSync(path.join(root, name), path.join(copy, name), { recursive: true, filter })
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'))
  fs.copyFileSync(addon, path.join(copy, `flakeforge.linux-${process.arch}-gnu.node`))
}

/** Builds everything: returns where the copy is, and the runtime. */
function build() {
  checkRust()
  const runtime = findRuntime()
  const [, host] = run('rustc', ['-vV']).match(/^host: (.*)$/m)
  fs.mkdirSync(home, { recursive: true })
  copyCheckout(buildAddon(host))
  buildProbe(host)
  return { copy, home, runtime }
}

module.exports = { build }
