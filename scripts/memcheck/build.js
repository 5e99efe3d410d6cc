'use strict'

// Builds what `npm run memcheck` runs, in target/memcheck: the addon with AddressSanitizer, a copy of the checkout with
// that addon in it, and the probe. It must never touch the addon in the checkout.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { MissingRequirement, checkRust } = require('../requirements.js')

const root = path.join(__dirname, '..', '..')
const home = path.join(root, 'target', 'memcheck')
const copy = path.join(home, 'copy')
const LEFT_OUT = new Set(['.git', 'node_modules', 'target'])
const GET_RUNTIME = 'Debian and Ubuntu have it in the package gcc, Fedora in libasan'

/** What a sanitizer needs is for nightly Rust, or for a stable one that is told so. */
const FLAGS = '-Zsanitizer=address -Cforce-frame-pointers=yes -Cdebuginfo=line-tables-only'

/** Runs a program of the build and gives what it prints; what it says on stderr is shown when it fails. */
function run(program, args, env = {}) {
  const options = { cwd: root, encoding: 'utf8', env: { ...process.env, RUSTC_BOOTSTRAP: '1', ...env } }
  const { error, status, stdout, stderr } = spawnSync(program, args, options)
  if (error?.code === 'ENOENT') throw new MissingRequirement(`memcheck needs ${program}: install it. ${GET_RUNTIME}`)
  if (status !== 0) throw new Error(`'${program} ${args.join(' ')}' failed:\n${stderr}`)
  return stdout
}

/**
 * The runtime of AddressSanitizer, to be loaded into Node before everything else. It is gcc's: Rust brings one for
 * executables only, and both speak the same language to the code they watch.
 */
function findRuntime() {
  if (process.platform !== 'linux' || process.report.getReport().header.glibcVersionRuntime === undefined)
    throw new MissingRequirement('memcheck runs on Linux with glibc: there a library can be loaded before all others')
  const file = run('gcc', ['-print-file-name=libasan.so']).trim()
  if (!path.isAbsolute(file))
    // gcc gives the bare name of what it does not have
    throw new MissingRequirement(`memcheck needs libasan, the library of gcc's AddressSanitizer: ${GET_RUNTIME}`)
  return fs.realpathSync(file)
}

/** Only for an explicit target cargo leaves build scripts and macros, which run without the runtime, as they are. */
function buildAddon(host) {
  const options = ['--locked', '--lib', '--package', 'flakeforge', '--target', host, '--target-dir', `${home}/cargo`]
  run('cargo', ['build', ...options], { CARGO_ENCODED_RUSTFLAGS: FLAGS.replaceAll(' ', '\x1f') })
  return path.join(home, 'cargo', host, 'debug', 'libflakeforge.so')
}

/** Like the addon, the probe is never unloaded: the sanitizer could not say any more who took the memory. */
function buildProbe(host) {
  const stays = '-Clink-arg=-Wl,-z,nodelete'
  const options = ['--edition=2024', '--crate-type=cdylib', `--target=${host}`, stays, ...FLAGS.split(' ')]
  run('rustc', [...options, '-o', path.join(home, 'probe.node'), path.join(__dirname, 'probe.rs')])
}

/** The checkout as it is now, but with another addon: tests also copy and link it. */
function copyCheckout(addon) {
  fs.rmSync(copy, { recursive: true, force: true })
  fs.mkdirSync(path.join(copy, 'target'), { recursive: true })
  const names = fs.readdirSync(root).filter((name) => !LEFT_OUT.has(name) && !name.endsWith('.node'))
  const filter = (from) => !LEFT_OUT.has(path.basename(from)) // also the packages of the site and of examples
  for (const name of names) fs.cpSync(path.join(root, name), path.join(copy, name), { recursive: true, filter })
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'))
  fs.copyFileSync(addon, path.join(copy, `flakeforge.linux-${process.arch}-gnu.node`))
}

/** Builds all of it: where the copy is, and the runtime. */
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
