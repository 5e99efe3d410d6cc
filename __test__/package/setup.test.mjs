// The first command in a clone: the messages of `npm start` when the machine lacks something, and that it builds only
// when it has to. Everything happens in a copy of the repository, with the real npm.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import test from 'ava'

const require = createRequire(import.meta.url)
const root = path.join(import.meta.dirname, '..', '..')
const runtimes = require('../../scripts/runtimes.js')

// On Windows a folder of PATH cannot be assembled from links without rights that a test should not need.
const unixTest = process.platform === 'win32' ? test.skip : test

let temp
let tools // a folder with node and npm, and nothing else

test.before(() => {
  temp = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-setup-'))
  tools = path.join(temp, 'tools')
  fs.mkdirSync(tools)
  if (process.platform === 'win32') return
  for (const program of ['node', 'npm', 'sh']) fs.symlinkSync(which(program), path.join(tools, program))
})

test.after.always(() => temp && fs.rmSync(temp, { recursive: true }))

/** Where a program is. Not in node_modules/.bin, which npm and ava put in front. */
function which(program) {
  const folders = process.env.PATH.split(path.delimiter).filter((folder) => !folder.includes('node_modules'))
  return folders.map((folder) => path.join(folder, program)).find((file) => fs.existsSync(file))
}

/** What neither a build nor `npm start` reads. */
const UNREAD = ['docs', 'examples', 'lab', 'npm', 'site']
const LEFT_OUT = ['.git', '__test__', 'node_modules', 'target', ...UNREAD]

/**
 * A copy of the repository in its present state, with the installed packages and the addon. It is removed after the
 * test.
 */
function clone(t) {
  const folder = fs.mkdtempSync(path.join(temp, 'clone-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true }))
  // In every folder: the packages of the site alone would be 150 MB for each test.
  const filter = (from) => !LEFT_OUT.includes(path.basename(from))
  fs.cpSync(root, folder, { recursive: true, preserveTimestamps: true, filter })
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), 'junction')
  fs.utimesSync(path.join(folder, 'package-lock.json'), 0, 0) // or the copy installs, through the link, into ours
  return folder
}

/** Runs a program in the copy, on a machine with only Node.js unless `env` adds more. */
function run(folder, program, args, more = {}) {
  const quiet = { npm_config_update_notifier: 'false', NO_COLOR: '1' }
  const env = { PATH: tools, HOME: path.join(temp, 'home'), ...quiet, ...more }
  return spawnSync(program, args, { cwd: folder, env, encoding: 'utf8' })
}

const node = (folder, args, more) => run(folder, process.execPath, args, more)
const script = (folder, code) => node(folder, ['--eval', code])

/** Records that the addon in the copy was built from the copy's source, as `npm run build` does. */
function pretendBuilt(folder) {
  const { status, stderr } = script(
    folder,
    `const { hashOfSource, recordBuild } = require('./scripts/built.js'); recordBuild(hashOfSource())`,
  )
  if (status !== 0) throw new Error(stderr)
}

const isBuilt = (folder, more) => node(folder, ['scripts/built.js'], more).status === 0

/** npm's output without the lines that npm itself writes. */
const said = (output) => output.split('\n').filter((line) => line && !/^(?:npm |> )/.test(line))

for (const command of [['start'], ['test'], ['run', 'bench']]) {
  unixTest(`without Rust, npm ${command.join(' ')} says in one sentence what to install and where from`, (t) => {
    const { status, stdout, stderr } = run(clone(t), 'npm', command)
    t.is(status, 1)
    t.deepEqual(said(stdout + stderr), [
      'flakeforge is built from source here and needs Rust 1.89 or newer: install it from https://rustup.rs',
    ])
  })
}

unixTest('Rust that is installed but not in PATH is found', (t) => {
  const bin = path.join(temp, 'cargo-home', 'bin')
  fs.mkdirSync(bin, { recursive: true })
  fs.writeFileSync(path.join(bin, 'cargo'), '')
  const { status, stderr } = node(clone(t), ['scripts/setup.js'], { CARGO_HOME: path.dirname(bin) })
  t.is(status, 1)
  t.deepEqual(said(stderr), [
    `Rust is installed, but ${bin} is not in your PATH: open a new terminal, or add it to PATH`,
  ])
})

/** A substitute program in PATH: a machine with exactly this Rust is not available. */
function withRust(version) {
  const folder = fs.mkdtempSync(path.join(temp, 'rust-'))
  for (const program of ['cargo', 'rustc'])
    fs.writeFileSync(path.join(folder, program), `#!/bin/sh\n${version}\n`, { mode: 0o755 })
  return { PATH: `${folder}${path.delimiter}${tools}` }
}

unixTest('the message for an outdated Rust names its version and the required one', (t) => {
  const { status, stderr } = node(clone(t), ['scripts/setup.js'], withRust('echo "cargo 1.88.9 (abc 2025-01-01)"'))
  t.is(status, 1)
  t.deepEqual(said(stderr), [
    "flakeforge needs Rust 1.89 or newer and this is cargo 1.88.9: run 'rustup update', or install it from https://rustup.rs",
  ])
})

unixTest('the message for a Rust that cannot start includes its own error', (t) => {
  const { status, stderr } = node(clone(t), ['scripts/setup.js'], withRust('echo "no toolchain" >&2; exit 1'))
  t.is(status, 1)
  t.deepEqual(said(stderr), ["Rust does not work here, 'cargo --version' fails: no toolchain"])
})

for (const version of ['1.89.0', '1.100.0', '2.0.0']) {
  unixTest(`Rust ${version} is new enough`, (t) => {
    const folder = clone(t)
    const code = `require('./scripts/requirements.js').checkRust()`
    const { status, stderr } = node(folder, ['--eval', code], withRust(`echo "rust ${version}"`))
    t.is(status, 0, stderr)
  })
}

// As on Ubuntu 22.04, where `apt install nodejs` gives Node.js 12.
const hasOldNode = process.platform === 'linux' && process.arch === 'x64' && !isMusl()
function isMusl() {
  return process.report.getReport().header.glibcVersionRuntime === undefined
}
;(hasOldNode ? test : test.skip)('Node.js 12 gets the message that it is too old, and not a syntax error', (t) => {
  t.timeout(120_000)
  const program = runtimes.install(runtimes.node(12))
  const { status, stdout, stderr } = run(clone(t), program, ['scripts/setup.js'])
  t.is(status, 1)
  t.is(stdout, '')
  t.regex(
    stderr,
    /^flakeforge needs Node\.js \^20\.16 \|\| >=22\.3 and this is 12\.\d+\.\d+: install a newer one from https:\/\/nodejs\.org\n$/,
  )
})

unixTest('npm start builds nothing when everything is built', (t) => {
  const folder = clone(t)
  pretendBuilt(folder)
  const { status, stdout, stderr } = run(folder, 'npm', ['start', '--silent', '--', '1', '--id', '1']) // no Rust in PATH
  t.is(status, 0, stderr)
  t.regex(stdout, /\b\d{17,20}\b/)
  t.deepEqual(said(stderr), [])
})

const edit = (file, change) => (folder) => {
  const full = path.join(folder, file)
  fs.writeFileSync(full, change(fs.readFileSync(full)))
}
const append = (file) => edit(file, (content) => Buffer.concat([content, Buffer.from('\n')]))
const remove = (pattern) => (folder) => {
  const names = fs.readdirSync(folder).filter((name) => pattern.test(name))
  if (names.length === 0) throw new Error(`nothing is called ${pattern}`)
  for (const name of names) fs.rmSync(path.join(folder, name))
}
const addon = fs.readdirSync(root).find((name) => name.startsWith(`flakeforge.${process.platform}-${process.arch}`))
const inPackage = (change) =>
  edit('package.json', (text) => {
    const manifest = JSON.parse(text)
    change(manifest)
    return JSON.stringify(manifest)
  })

const REASONS = {
  'a changed file of the addon': append('src/lib.rs'),
  'a changed file of the core': append('core/src/generator/cursor.rs'),
  'a new file': (folder) => fs.writeFileSync(path.join(folder, 'core/src/new.rs'), ''),
  'a removed file': (folder) => fs.rmSync(path.join(folder, 'core/src/generator/clock.rs')),
  'a renamed file': (folder) =>
    fs.renameSync(path.join(folder, 'core/src/generator/cursor.rs'), path.join(folder, 'core/src/other.rs')),
  'another version of a crate': append('Cargo.lock'),
  'a changed profile': append('Cargo.toml'),
  'a changed manifest of the core': append('core/Cargo.toml'),
  'a changed build script': append('build.rs'),
  'a chosen toolchain': (folder) => fs.writeFileSync(path.join(folder, 'rust-toolchain.toml'), ''),
  'another version of flakeforge': inPackage((manifest) => Object.assign(manifest, { version: '99.0.0' })),
  'another napi': inPackage(({ devDependencies }) => Object.assign(devDependencies, { '@napi-rs/cli': '99.0.0' })),
  'another addon, from `npm run build:debug` for one': append(addon),
  'no record of the last build': (folder) => fs.rmSync(path.join(folder, 'target'), { recursive: true }),
  'a truncated record': edit('target/built.json', (content) => content.subarray(0, 20)),
  'no addon': remove(/\.node$/),
}

test('changes that make a build necessary', (t) => {
  const folder = clone(t)
  const { hashOfSource, isBuilt, recordBuild } = require(path.join(folder, 'scripts', 'built.js'))
  for (const [reason, change] of Object.entries(REASONS)) {
    recordBuild(hashOfSource())
    t.true(isBuilt())
    change(folder)
    t.false(isBuilt(), reason)
  }
})

test('other compiler flags make a build necessary', (t) => {
  const folder = clone(t)
  pretendBuilt(folder)
  t.true(isBuilt(folder))
  t.false(isBuilt(folder, { RUSTFLAGS: '-C target-cpu=native' }))
})

test('files with new times, as after a switch to another branch and back, make no build necessary', (t) => {
  const folder = clone(t)
  pretendBuilt(folder)
  const now = new Date()
  for (const file of ['src/lib.rs', 'core/src/generator/cursor.rs', 'Cargo.lock', 'package.json'])
    fs.utimesSync(path.join(folder, file), now, now)
  t.true(isBuilt(folder))
})
