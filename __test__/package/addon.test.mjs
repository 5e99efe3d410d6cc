// Which file is the addon, and which package is a client: in a checkout, in an install, in a bundle.

import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { build } from 'esbuild'

const require = createRequire(import.meta.url)
const { cpuOf, targetOf, usesMusl } = require('../../target/rooms/lib/native/addon.js')
const { ownPlatform } = require('../../scripts/pack.js')
const { TARGETS } = require('../../scripts/platforms/targets.js')

const root = path.join(import.meta.dirname, '..', '..')
const { main: file, name: ownPackage } = ownPlatform().manifest

/** A folder with flakeforge in it as npm installs it, but without the addon. */
async function project(t) {
  const folder = await realpath(await mkdtemp(path.join(os.tmpdir(), 'flakeforge-addon-')))
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const installed = path.join(folder, 'node_modules', 'flakeforge')
  for (const part of ['dist', 'package.json']) {
    await cp(path.join(root, part), path.join(installed, part), { recursive: true })
  }
  return { folder, installed }
}

/** A package that prints its own name, and ends the program. */
async function addPackage(folder, name, code = `console.log('${name}'); process.exit()`) {
  const own = path.join(folder, 'node_modules', name)
  await mkdir(own, { recursive: true })
  await writeFile(path.join(own, 'package.json'), JSON.stringify({ name, version: '99.0.0', main: 'index.js' }))
  await writeFile(path.join(own, 'index.js'), code)
}

/** Prints what takes the place of the addon, or the type of the addon's export. */
const PRINT_ADDON = `
  const FlakeId = require('./node_modules/flakeforge/dist/index.cjs')
  console.log(typeof new FlakeId().nextString())`

/** The same for the client of a PostgreSQL server. */
const printClient = (lease) => `require('${lease}').openStore('postgres://localhost/ids')`

const WITH_ADDON = { NAPI_RS_NATIVE_LIBRARY_PATH: path.join(root, file) }

const FILE = 'program.cjs'

/** Runs a program in the folder, from another one. */
async function run(folder, code, env = {}) {
  const program = path.join(folder, FILE)
  await writeFile(program, code)
  const { stdout } = await promisify(execFile)(process.execPath, [program], {
    cwd: os.tmpdir(),
    env: { ...process.env, ...env },
  })
  return stdout.trim()
}

test('the package of this platform is the addon', async (t) => {
  const { folder } = await project(t)
  await addPackage(folder, ownPackage)
  t.is(await run(folder, PRINT_ADDON), ownPackage)
})

test('a package inside flakeforge takes precedence over one next to it, as in Node.js', async (t) => {
  const { folder, installed } = await project(t)
  await addPackage(folder, ownPackage)
  await writeFile(path.join(folder, 'node_modules', ownPackage, file), 'no addon')
  await addPackage(installed, ownPackage)
  await cp(path.join(root, file), path.join(installed, 'node_modules', ownPackage, file))
  t.is(await run(folder, PRINT_ADDON), 'string')
})

test('an addon that was built here takes precedence over the package', async (t) => {
  const { folder, installed } = await project(t)
  await addPackage(folder, ownPackage)
  await cp(path.join(root, file), path.join(installed, file))
  t.is(await run(folder, PRINT_ADDON), 'string')
})

test('NAPI_RS_NATIVE_LIBRARY_PATH takes precedence over both', async (t) => {
  const { folder, installed } = await project(t)
  await addPackage(folder, ownPackage)
  await writeFile(path.join(installed, file), 'no addon')
  t.is(await run(folder, PRINT_ADDON, WITH_ADDON), 'string')
})

test('a broken addon is an error, not a reason to look further', async (t) => {
  const { folder, installed } = await project(t)
  await addPackage(folder, ownPackage)
  await writeFile(path.join(installed, file), 'no addon')
  const { message } = await t.throwsAsync(run(folder, PRINT_ADDON))
  t.regex(message, /ERR_DLOPEN_FAILED/)
  await rm(path.join(installed, file))
  await addPackage(folder, ownPackage, `throw new Error('the package is broken')`)
  await t.throwsAsync(run(folder, PRINT_ADDON), { message: /the package is broken/ })
})

test('NAPI_RS_NATIVE_LIBRARY_PATH may name JavaScript, as for the WebAssembly', async (t) => {
  const { folder } = await project(t)
  await writeFile(path.join(folder, 'chosen.cjs'), `console.log('chosen'); process.exit()`)
  t.is(await run(folder, PRINT_ADDON, { NAPI_RS_NATIVE_LIBRARY_PATH: path.join(folder, 'chosen.cjs') }), 'chosen')
})

test('without any the error names the package', async (t) => {
  const { folder } = await project(t)
  const { message } = await t.throwsAsync(run(folder, PRINT_ADDON))
  t.true(message.includes(`Cannot find module '${ownPackage}'`))
  t.true(message.includes("code: 'MODULE_NOT_FOUND'"))
})

test('every platform has the name of its package', (t) => {
  t.is(targetOf('linux', 'x64', false), 'linux-x64-gnu')
  t.is(targetOf('linux', 'x64', true), 'linux-x64-musl')
  t.is(targetOf('linux', 'arm64', false), 'linux-arm64-gnu')
  t.is(targetOf('linux', 'arm64', true), 'linux-arm64-musl')
  t.is(targetOf('linux', 'arm', false), 'linux-arm-gnueabihf')
  t.is(targetOf('linux', 'ppc64', false), 'linux-ppc64-gnu')
  t.is(targetOf('linux', 's390x', false), 'linux-s390x-gnu')
  t.is(targetOf('linux', 'riscv64', false), 'linux-riscv64-gnu')
  for (const cpu of ['x64', 'arm64']) t.is(targetOf('darwin', cpu), `darwin-${cpu}`)
  for (const cpu of ['x64', 'arm64', 'ia32']) t.is(targetOf('win32', cpu), `win32-${cpu}-msvc`)
})

test('a platform without a binary has no package name', (t) => {
  const others = [
    ['freebsd', 'x64'],
    ['aix', 'ppc64'],
    ['linux', 'loong64', false],
    ['linux', 'ia32', false],
    ['linux', 'arm', true],
    ['linux', 's390x', true],
    ['linux', cpuOf('ppc64', { endianness: 'BE' }), false],
    ['linux', cpuOf('arm', { armVersion: 6 }), false],
  ]
  for (const other of others)
    t.false(
      TARGETS.some(({ name }) => name === targetOf(...other)),
      other.join(),
    )
})

test('the CPU is that of process.arch, except for big-endian ppc64 and ARMv6', (t) => {
  const little = { endianness: 'LE', armVersion: 7 }
  for (const cpu of ['x64', 'arm64', 'arm', 'ppc64', 's390x', 'riscv64', 'ia32']) t.is(cpuOf(cpu, little), cpu)
  t.is(cpuOf('s390x', { endianness: 'BE' }), 's390x')
  t.is(cpuOf('ppc64', { endianness: 'BE' }), 'ppc64be')
  t.is(cpuOf('arm', { armVersion: 6 }), 'armv6')
  t.is(cpuOf('arm', { armVersion: Number('default') }), 'arm', 'a Node.js without that information')
})

/** A program of 12,000 bytes whose second program header says that the name of its loader is at this position. */
function elf(loader, place) {
  const bytes = Buffer.alloc(12_000)
  bytes.write('\x7fELF\x02\x01\x01', 'latin1')
  bytes.writeBigUInt64LE(64n, 32)
  bytes.writeUInt16LE(56, 54)
  bytes.writeUInt16LE(3, 56)
  for (const [i, type] of [6, 3, 1].entries()) bytes.writeUInt32LE(type, 64 + 56 * i)
  bytes.writeBigUInt64LE(BigInt(place), 64 + 56 + 8)
  bytes.write(`${loader}\0`, place, 'latin1')
  return bytes
}

test('a program that names the loader of musl uses musl', async (t) => {
  t.is(usesMusl(process.execPath), process.report.getReport().header.glibcVersionRuntime === undefined)
  const { folder } = await project(t)
  const program = path.join(folder, 'program')
  for (const [loader, expected] of [
    ['/lib/ld-musl-x86_64.so.1', true],
    ['/lib/ld-musl-aarch64.so.1', true],
    ['/lib64/ld-linux-x86-64.so.2', false],
  ]) {
    for (const place of [600, 11_900]) {
      const bytes = elf(loader, place)
      bytes.write('/lib/ld-musl-x86_64.so.1', 1000) // only a text
      await writeFile(program, bytes)
      t.is(usesMusl(program), expected, `${loader} at ${place}`)
    }
  }
  for (const bytes of ['', '#!/bin/sh', Buffer.alloc(5000), Buffer.alloc(5000, 0xff), elf('', 600).subarray(0, 70)]) {
    await writeFile(program, bytes)
    t.false(usesMusl(program))
  }
  t.false(usesMusl(path.join(folder, 'nothing')), 'an unreadable program is assumed to use glibc')
})

test('traced.cjs knows every platform and every client; bundled.mjs gives none, and its own name', async (t) => {
  const { folder, installed } = await project(t)
  const platforms = await readdir(path.join(root, 'npm'))
  const clients = ['ioredis', 'iovalkey', 'redis', 'pg', 'postgres', 'mariadb', 'mysql2']
  const all = [...platforms.map((platform) => `@flakeforge/binding-${platform}`), ...clients]
  const code = (name) => `
    import('./node_modules/flakeforge/dist/${name}').then(({ loadAddon, loadClient, filename }) => {
      const loaded = [...${JSON.stringify(platforms)}.map(loadAddon), ...${JSON.stringify(clients)}.map(loadClient)]
      console.log([...loaded, filename].map(String).join())
    })`
  const none = all.map(() => 'undefined')
  t.is(await run(folder, code('traced.cjs')), [...none, 'undefined'].join())
  for (const each of all) await addPackage(folder, each, `module.exports = '${each}'`)
  t.is(await run(folder, code('traced.cjs')), [...all, 'undefined'].join())
  t.is(await run(folder, code('bundled.mjs')), [...none, path.join(installed, 'dist', 'bundled.mjs')].join())
})

/** flakeforge's own file replaces a bundle: this is its folder. */
test('in a bundle, an addon next to it takes precedence over the package', async (t) => {
  const { folder, installed } = await project(t)
  await addPackage(folder, ownPackage)
  await cp(path.join(root, file), path.join(installed, 'dist', file))
  t.is(await run(folder, PRINT_ADDON), 'string')
})

/** As pnpm lays packages out: the project sees only its own dependencies, and flakeforge only flakeforge's. */
async function isolated(t) {
  const [{ folder }, store] = await Promise.all([project(t), project(t)])
  await addPackage(store.folder, ownPackage)
  await addPackage(folder, 'postgres')
  const link = path.join(folder, 'node_modules', 'flakeforge')
  await rm(link, { recursive: true })
  await symlink(store.installed, link, 'junction')
  return folder
}

test('where packages are isolated, flakeforge finds its addon and the client of the project', async (t) => {
  const folder = await isolated(t)
  t.is(await run(folder, PRINT_ADDON), ownPackage)
  t.is(await run(folder, printClient('./node_modules/flakeforge/dist/lease.cjs'), WITH_ADDON), 'postgres')
})

test('where packages are isolated, a bundle finds both too', async (t) => {
  const folder = await isolated(t)
  await writeFile(path.join(folder, 'package.json'), '{}')
  const entryPoints = ['index', 'lease'].map((name) => path.join(root, 'dist', `${name}.cjs`))
  await build({
    entryPoints,
    bundle: true,
    platform: 'node',
    outdir: path.join(folder, 'dist'),
    outExtension: { '.js': '.cjs' },
  })
  t.is(await run(folder, PRINT_ADDON.replace('node_modules/flakeforge/', '')), ownPackage)
  t.is(await run(folder, printClient('./dist/lease.cjs'), WITH_ADDON), 'postgres')
})
