// The errors when the native addon cannot be loaded: the cause, and a way out for users. Each cause is a real one.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import test from 'ava'
import { failureOf, Install, PERMISSION, platformPackage, version } from '../support/load.mjs'

const require = createRequire(import.meta.url)
const runtimes = require('../../scripts/runtimes.js')
const manifest = require('../../package.json')
const root = path.join(import.meta.dirname, '..', '..')

const LOAD = ['--eval', `require('flakeforge')`]

/** Code that makes Node.js mistake this machine for another. */
const pretend = (machine) =>
  `require('node:os').endianness = () => 'BE'; ` +
  `Object.defineProperties(process, ${JSON.stringify(toDescriptors(machine))})`
const toDescriptors = (values) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value, configurable: true }]))

const isGlibc = process.platform === 'linux' && platformPackage.endsWith('-gnu')

/** The error of a process that could not load the package. */
function failed(t, outcome) {
  const failure = failureOf(outcome)
  t.not(failure.exit, 0)
  t.is(failure.code, 'ERR_FLAKE_LOAD', failure.printed)
  t.regex(failure.message, /^flakeforge could not load its native addon\. [A-Z].*\.$/)
  t.notRegex(failure.printed, /npm has a bug|issues\/4828/)
  t.notRegex(failure.message, /npm run build/)
  return failure
}

test('an install with its platform package works', async (t) => {
  const { code, stdout } = await new Install(t).node('--print', `new (require('flakeforge'))().next().length`)
  t.deepEqual([code, stdout], [0, '8\n'])
})

test('--no-addons', async (t) => {
  const { message, printed } = failed(t, await new Install(t).node('--no-addons', ...LOAD))
  t.regex(message, /started with --no-addons\. Leave it out/)
  t.notRegex(message, /--allow-addons|install/)
  t.regex(printed, /\[cause\]: Error: Cannot load native addon because loading addons is disabled/)
})

test('--no-addons in NODE_OPTIONS', async (t) => {
  const install = new Install(t)
  const outcome = await install.run(process.execPath, LOAD, { NODE_OPTIONS: '--no-addons' })
  t.regex(failed(t, outcome).message, /--no-addons.*NODE_OPTIONS/)
})

test('the permission model', async (t) => {
  const install = new Install(t)
  const { message } = failed(t, await install.node(PERMISSION, '--allow-fs-read=*', ...LOAD))
  t.regex(message, /permission model.*--allow-addons/)
  t.notRegex(message, /--no-addons|install/)
  const allowed = await install.node(PERMISSION, '--allow-fs-read=*', '--allow-addons', ...LOAD)
  t.is(allowed.code, 0, 'the flag that the message names helps')
})

test('the permission model with minimal rights loads, generates IDs and joins', async (t) => {
  const install = new Install(t)
  const program = path.join(install.folder, 'program.cjs')
  fs.writeFileSync(
    program,
    `const FlakeId = require('flakeforge')
    FlakeId.join('file:${path.join(install.folder, 'ids')}').then(async (flake) => {
      console.log(new FlakeId({ id: 900 }).next().length + flake.next().length)
      await flake.close()
    })
    FlakeId.join().then((flake) => flake.close(), ({ code, message }) => console.log(code, message))`,
  )
  const ids = path.join(install.folder, 'ids')
  const rights = [`--allow-fs-read=${install.folder}${path.sep}`, `--allow-fs-write=${ids}`, '--allow-addons']
  const env = { HOME: install.folder, XDG_STATE_HOME: install.folder }
  const { code, stdout, stderr } = await install.run(process.execPath, [PERMISSION, ...rights, program], env)
  t.is(code, 0, stderr)
  t.regex(stdout, /^16$/m)
  t.notRegex(stdout, /ERR_ACCESS_DENIED/)
})

/** Programs that load an entry. */
const loads = (name) => [
  ['--eval', `require('${name}')`],
  ['--input-type=module', '--eval', `import '${name}'`],
]

const ENTRIES = Object.keys(manifest.exports).filter((name) => name !== './package.json')
const COMMANDS = ['server', 'check-store'].map((name) => `packages/${name}/dist/flakeforge-${name}.mjs`)

// npm has these for Linux on x64. Node.js 12 and 14 do not know the syntax of most files; 18 lacks a function.
for (const version of [12, 14, 18]) {
  const run = isGlibc && process.arch === 'x64' ? test : test.skip
  run(`Node.js ${version} gets one sentence, from each entry and each command`, async (t) => {
    t.timeout(180_000)
    const old = runtimes.install(runtimes.node(version))
    const install = new Install(t)
    const needs = new RegExp(`^flakeforge needs Node\\.js \\^20\\.16 \\|\\| >=22\\.3, and this is v${version}\\.\\S+$`)
    for (const program of ENTRIES.flatMap((name) => loads(path.posix.join('flakeforge', name)))) {
      const { exit, code, message, printed } = failureOf(await install.run(old, program))
      t.deepEqual([exit, code], [1, 'ERR_FLAKE_LOAD'], printed)
      t.regex(message, needs)
    }
    const commands = [
      path.join(install.package, 'dist', 'flakeforge.cjs'),
      ...COMMANDS.map((file) => path.join(root, file)),
    ]
    for (const command of commands) {
      const { code, stdout, stderr } = await install.run(old, [command, '1'])
      t.deepEqual([code, stdout], [1, ''])
      const [name, sentence] = stderr.trimEnd().split(': ')
      t.is(name, path.parse(command).name)
      t.regex(sentence, needs)
    }
  })
}

test('a Node.js without the function that every release since 20.16 has gets the sentence too', async (t) => {
  const install = new Install(t)
  const old = path.join(install.folder, 'old.cjs')
  fs.writeFileSync(old, 'delete process.getBuiltinModule')
  for (const program of loads('flakeforge/lease')) {
    const { message, code } = failureOf(await install.node('-r', old, ...program))
    t.deepEqual(
      [message, code],
      [`flakeforge needs Node.js ${manifest.engines.node}, and this is ${process.version}`, 'ERR_FLAKE_LOAD'],
    )
  }
})

/** Changes the release that an addon belongs to. */
function setVersion(install, to) {
  const file = path.join(install.package, 'dist', 'core.cjs')
  const text = fs.readFileSync(file, 'utf8')
  fs.writeFileSync(file, text.replaceAll(`"${version}"`, `"${to}"`))
}

test('an addon of another release', async (t) => {
  const install = new Install(t)
  setVersion(install, '99.1.0')
  for (const program of [LOAD, ['--input-type=module', '--eval', `import 'flakeforge'`]]) {
    const { message } = failed(t, await install.node(...program))
    t.true(message.includes(`The addon is from flakeforge ${version}, and its JavaScript,`), message)
    t.regex(message, /is from flakeforge 99\.1\.0\. They must be of the same release\..*override/)
  }
})

/** Compiles an addon in C that exports nothing of ours. */
function compile(file, code = 'void *napi_register_module_v1(void *env, void *exports) { return exports; }') {
  const { status, stderr } = spawnSync('cc', ['-shared', '-fPIC', '-o', file, '-xc', '-'], { input: code })
  if (status !== 0) throw new Error(String(stderr))
}

const hasCompiler = spawnSync('cc', ['--version']).status === 0
if (!hasCompiler) console.warn('\n!!! SKIPPED: there is no C compiler: tests with addons of others do not run !!!\n')
const ccTest = hasCompiler && process.platform === 'linux' ? test : test.skip

ccTest("NAPI_RS_NATIVE_LIBRARY_PATH that names another package's addon", async (t) => {
  const install = new Install(t)
  const env = { NAPI_RS_NATIVE_LIBRARY_PATH: path.join(install.folder, 'another.node') }
  compile(env.NAPI_RS_NATIVE_LIBRARY_PATH)
  const { message } = failed(t, await install.run(process.execPath, LOAD, env))
  t.regex(
    message,
    /The loaded file is not an addon of flakeforge.*NAPI_RS_NATIVE_LIBRARY_PATH names .*another\.node.*Unset it/,
  )
})

test('NAPI_RS_NATIVE_LIBRARY_PATH that names a file that is not an addon, or a folder', async (t) => {
  const install = new Install(t)
  const script = path.join(install.folder, 'some.js')
  fs.writeFileSync(script, 'module.exports = {}'.repeat(1000))
  for (const chosen of [script, install.folder]) {
    const env = { NAPI_RS_NATIVE_LIBRARY_PATH: chosen }
    const { message } = failed(t, await install.run(process.execPath, LOAD, env))
    t.true(message.includes(`NAPI_RS_NATIVE_LIBRARY_PATH names ${chosen}, and every package`), message)
    t.notRegex(message, /node_modules/)
  }
})

// It has the name of the addon, so it may be one, but its registry cannot be found.
ccTest('another copy in the process whose registry cannot be found', async (t) => {
  const install = new Install(t)
  const other = path.join(install.folder, 'flakeforge.other.node')
  compile(other)
  const load = `process.dlopen({ exports: {} }, ${JSON.stringify(other)}); ${LOAD[1]}`
  const { message } = failed(t, await install.node('--eval', load))
  t.true(
    message.includes(`This process has already loaded ${other}, and ${fs.realpathSync(install.addon)} cannot share`),
    message,
  )
  const renamed = path.join(install.folder, 'another.node')
  fs.renameSync(other, renamed)
  const { code, stderr } = await install.node('--eval', load.replace(other, renamed))
  t.is(code, 0, stderr)
})

const isRoot = process.getuid?.() === 0
const rootTest = isRoot && process.platform === 'linux' ? test : test.skip
if (!isRoot) console.warn('\n!!! SKIPPED: not root: tests of mounts and of other users do not run !!!\n')

rootTest('an addon on a file system that is mounted with noexec', async (t) => {
  const install = new Install(t)
  const script = 'mount -t tmpfs -o noexec tmpfs "$1" && cp -r "$2" "$1/" && shift 2 && exec "$@"'
  const place = path.join(install.folder, 'mount')
  fs.mkdirSync(place)
  const args = ['--mount', 'sh', '-c', script, 'sh', place, path.join(install.folder, 'node_modules')]
  const load = ['--eval', `require(${JSON.stringify(path.join(place, 'node_modules', 'flakeforge'))})`]
  const { message } = failed(t, await install.run('unshare', [...args, process.execPath, ...load]))
  t.regex(message, /noexec.*Install the program on another one/)
  t.notRegex(message, /supports Linux/)
})

rootTest('an addon, or its folder, that another user may not read', async (t) => {
  const install = new Install(t)
  fs.chmodSync(install.folder, 0o755)
  const asNobody = (...args) => install.run('setpriv', ['--reuid=65534', '--clear-groups', process.execPath, ...args])
  fs.chmodSync(install.addon, 0o600)
  t.regex(failed(t, await asNobody(...LOAD)).message, /This user has no right to read the file.*chmod/)
  fs.chmodSync(install.addon, 0o644)
  fs.chmodSync(install.platform, 0o700)
  const { message } = failed(t, await asNobody(...LOAD))
  t.true(message.includes(fs.realpathSync(install.platform)), message)
  t.notRegex(message, /not installed/)
})

test('a deleted current folder', async (t) => {
  const install = new Install(t)
  const program = path.join(install.folder, 'program.cjs')
  fs.writeFileSync(program, `console.log(new (require('flakeforge'))().next().length)`)
  const gone = path.join(install.folder, 'gone')
  const script = 'mkdir "$1" && cd "$1" && rmdir "$1" && shift && exec "$@"'
  const { stdout, stderr } = await install.run('sh', ['-c', script, 'sh', gone, process.execPath, program])
  t.is(stdout, '8\n', stderr)
})

// Older versions of Node.js load what they may not read.
const permissionTest = PERMISSION === '--permission' ? test : test.skip

permissionTest('the permission model, with an addon outside the readable folders', async (t) => {
  const [install, store] = [new Install(t), new Install(t)]
  fs.rmSync(install.platform, { recursive: true })
  fs.symlinkSync(store.platform, install.platform)
  const flags = [PERMISSION, `--allow-fs-read=${install.folder}`, '--allow-addons']
  const { message } = failed(t, await install.node(...flags, ...LOAD))
  t.regex(message, /permission model.*--allow-fs-read/)
})

test('a damaged file', async (t) => {
  const install = new Install(t)
  for (const content of ['', 'not an addon', 'not an addon '.repeat(10_000)]) {
    fs.writeFileSync(install.addon, content)
    const { message } = failed(t, await install.node(...LOAD))
    t.regex(message, /The file is damaged.*install again/)
    t.true(message.includes(path.basename(install.addon)), message)
  }
})

const MACHINE = 18 // the byte of an ELF header that names the processor

;(process.platform === 'linux' ? test : test.skip)('a file for another processor', async (t) => {
  const install = new Install(t)
  const addon = fs.readFileSync(install.addon)
  addon[MACHINE] = addon[MACHINE] === 0xb7 ? 0x3e : 0xb7 // arm64 or x64
  fs.writeFileSync(install.addon, addon)
  const { message } = failed(t, await install.node(...LOAD))
  t.regex(message, /built for another platform.*install again/)
})

test('no package of the platform, and a file above ours that no package brought', async (t) => {
  const install = new Install(t)
  fs.renameSync(install.addon, path.join(install.folder, 'node_modules', path.basename(install.addon)))
  fs.rmSync(install.platform, { recursive: true })
  const { message, printed } = failed(t, await install.node(...LOAD))
  t.regex(
    message,
    new RegExp(`The package ${platformPackage} is not installed\\. Run \`npm install --include=optional\``),
  )
  t.regex(message, /lock file/)
  t.true(printed.includes(`[cause]: Error: Cannot find module '${platformPackage}'`), printed)
})

test('a file that the environment names, and that does not exist', async (t) => {
  const env = { NAPI_RS_NATIVE_LIBRARY_PATH: path.join(os.tmpdir(), 'nowhere', 'some.node') }
  const { message } = failed(t, await new Install(t).run(process.execPath, LOAD, env))
  t.regex(message, /NAPI_RS_NATIVE_LIBRARY_PATH names .*some\.node, which does not exist/)
  t.notRegex(message, /install/)
})

test('an ES import gives the same error', async (t) => {
  const install = new Install(t)
  fs.rmSync(install.platform, { recursive: true })
  const outcome = await install.node('--input-type=module', '--eval', `import 'flakeforge'`)
  t.regex(failed(t, outcome).message, /is not installed/)
})

test('it is a FlakeError, which flakeforge/codec exports', async (t) => {
  const source = `
    const { FlakeError } = require('flakeforge/codec')
    try {
      require('flakeforge')
    } catch (error) {
      console.log(error instanceof FlakeError && error.code)
    }`
  const { stdout } = await new Install(t).node('--no-addons', '--eval', source)
  t.is(stdout, 'ERR_FLAKE_LOAD\n')
})

test('the error in a source checkout without an addon says how to build one', async (t) => {
  const install = new Install(t)
  fs.rmSync(install.platform, { recursive: true })
  fs.writeFileSync(path.join(install.package, 'Cargo.toml'), '')
  const { code, message } = failureOf(await install.node(...LOAD))
  t.is(code, 'ERR_FLAKE_LOAD')
  t.regex(message, /npm run build/)
})

for (const [platform, arch, target] of [
  ['freebsd', 'x64', 'freebsd-x64'],
  ['linux', 'loong64', 'linux-loong64-gnu'],
  ['linux', 'ppc64', 'linux-ppc64be-gnu'],
]) {
  test(`neither a binary nor the WebAssembly: ${target}`, async (t) => {
    const { message } = failed(t, await new Install(t).node('--eval', `${pretend({ platform, arch })}; ${LOAD[1]}`))
    t.true(
      message.includes(`There is no binary for ${target}, and the package @flakeforge/binding-wasm32-wasi`),
      message,
    )
    t.regex(message, /flakeforge supports Linux .*glibc.*musl.*macOS.*Windows.*\. Run `npm install --include=optional`/)
  })
}

test('the error on a platform with a binary says to install it, also for a new platform', async (t) => {
  const code = `${pretend({ platform: 'linux', arch: 's390x' })}; ${LOAD[1]}`
  const { message } = failed(t, await new Install(t).node('--eval', code))
  t.regex(
    message,
    /The package @flakeforge\/binding-linux-s390x-gnu is not installed\. Run `npm install --include=optional`/,
  )
  t.notRegex(message, /WebAssembly/)
})

test('JavaScript that the environment names, and that does not exist or does not load', async (t) => {
  const install = new Install(t)
  const env = { NAPI_RS_NATIVE_LIBRARY_PATH: path.join(install.folder, 'some.cjs') }
  const { message } = failed(t, await install.run(process.execPath, LOAD, env))
  t.regex(message, /NAPI_RS_NATIVE_LIBRARY_PATH names .*some\.cjs, which does not exist/)
  fs.writeFileSync(env.NAPI_RS_NATIVE_LIBRARY_PATH, `require('what-it-needs')`)
  t.regex(failed(t, await install.run(process.execPath, LOAD, env)).message, /Cannot find module 'what-it-needs'/)
})

test('the command prints the sentence and no stack', async (t) => {
  const install = new Install(t)
  fs.rmSync(install.platform, { recursive: true })
  const { code, stdout, stderr } = await install.node(path.join(install.package, 'dist', 'flakeforge.cjs'), '1')
  t.not(code, 0)
  t.is(stdout, '')
  t.regex(stderr, /^flakeforge: .*could not load its native addon\. The package .* is not installed.*\n$/)
  t.is(stderr.trimEnd().split('\n').length, 1, stderr)
})

/** Links a shared library with a dependency that no system has, so that the real linker rejects it. */
function link(t, addon, { library, script, code }) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-link-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true }))
  const file = (name, text) => {
    fs.writeFileSync(path.join(folder, name), text)
    return path.join(folder, name)
  }
  const cc = (...args) => {
    const { status, stderr } = spawnSync('cc', ['-shared', '-fPIC', '-nostdlib', ...args], { encoding: 'utf8' })
    t.is(status, 0, stderr)
  }
  const stub = path.join(folder, 'libstub.so')
  const versions = script === undefined ? [] : [`-Wl,--version-script=${file('stub.map', script)}`]
  cc('-o', stub, `-Wl,-soname,${library}`, ...versions, file('stub.c', 'void wanted(void) {}'))
  cc('-o', addon, file('addon.c', code), `-L${folder}`, '-lstub')
}

const CALLS = 'void wanted(void); void init(void) { wanted(); }'
const glibcTest = isGlibc ? test : test.skip

glibcTest('a glibc that is too old', async (t) => {
  const install = new Install(t)
  link(t, install.addon, { library: 'libc.so.6', script: 'GLIBC_9.99 { global: wanted; };', code: CALLS })
  const { message } = failed(t, await install.node(...LOAD))
  t.regex(
    message,
    /needs glibc 9\.99 or newer, which this system does not have.*flakeforge supports Linux.*glibc 2\.17/,
  )
})

glibcTest('a binary for musl on glibc', async (t) => {
  const install = new Install(t)
  link(t, install.addon, { library: 'libc.musl-x86_64.so.1', code: CALLS })
  const { message } = failed(t, await install.node(...LOAD))
  t.regex(message, /for another C library, glibc or musl.*install again/)
})

/** Commands that never need the addon: those that read IDs or print SQL, and those that describe the command. */
const WITHOUT = [
  ['inspect', '175928847299117063'],
  ['inspect', '175928847299117063', '--layout', 'discord', '--json'],
  ['at', '2026-11-20', '--layout', 'discord', '--column', 'uuid'],
  ['layouts'],
  ['schema'],
  ['schema', 'postgres://localhost/app?schema=ids', '--function', 'flake_id', '--node', '1023', '--json'],
  ['schema', 'mysql', '--function', 'flake_id', '--node', '7', '--layout', 'discord'],
  ['schema', '--times', 'flake'],
  ['help'],
  ['new', '--help'],
  ['completion', 'bash'],
  ['completion', '--', 'create', ''],
  ['--version'],
]

/** Those that hold slots or make IDs, with the operands that they need. */
const WITH = [
  ['new'],
  ['slots'],
  ['stores', 'add', 'redis://d', 'redis://e', 'redis://a', 'redis://b', 'redis://c'],
  ['counters'],
  ['create', 'file:/nowhere'],
  ['destroy', 'shop', '--yes'],
  ['restored', 'redis://localhost'],
]

for (const [what, spoil] of [
  ['missing', ({ platform }) => fs.rmSync(platform, { recursive: true })],
  ['no library', ({ addon }) => fs.writeFileSync(addon, 'not a library')],
]) {
  test(`the command reads IDs where the addon is ${what}`, async (t) => {
    const [whole, install] = [new Install(t), new Install(t)]
    spoil(install)
    const run = (where, args) => where.node(path.join(where.package, 'dist', 'flakeforge.cjs'), ...args)
    for (const args of WITHOUT) {
      const found = await run(install, args)
      t.is(found.code, 0, `${args.join(' ')}: ${found.stderr}`)
      // The age may change between the two.
      const lines = ({ stdout }) => stdout.replaceAll(/[\d.]+ (?:year|day|hour|minute|second)s? ago/g, 'ago')
      t.is(lines(found), lines(await run(whole, args)), args.join(' '))
    }
    for (const args of [['1'], ...WITH]) {
      const { code, stderr } = await run(install, args)
      t.is(code, 1, args.join(' '))
      t.regex(stderr, /^flakeforge: flakeforge could not load its native addon\. [^\n]*\n$/, args.join(' '))
    }
  })
}

test('without the addon, inspect reads stdin and names the invalid line', async (t) => {
  const install = new Install(t)
  fs.rmSync(install.platform, { recursive: true })
  const command = path.join(install.package, 'dist', 'flakeforge.cjs')
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, 'inspect', '--layout', 'twitter'], {
    input: '1541815603606036480\nnothing\n',
    encoding: 'utf8',
  })
  t.is(status, 1)
  t.regex(stdout, /^1541815603606036480 +twitter {2}2022-06-28T16:07:40\.105Z/)
  t.regex(stderr, /^flakeforge: line 2: 'nothing' is not an ID/)
})
