// What npm installs: the root package and the package of this platform, packed, installed in an empty folder without a
// registry and used from there, as by a user who comes from flake-idgen.

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import fs from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'

const require = createRequire(import.meta.url)
const root = path.join(import.meta.dirname, '..', '..')
const manifest = require('../../package.json')
const { exportsOf, files, typesVersions } = require('../../scripts/entries.js')
const { ownPathsIn } = require('../../scripts/own-paths.js')
const { npm, ownPlatform, packAll, packCheckStore, packServer, platformPackages } = require('../../scripts/pack.js')
const { platform } = process

// Settings of `npm test` for its children must not reach the npm that installs here.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)))

/** Runs a program to its end: its output, or an error that has it. */
async function run(program, args, cwd, options) {
  const { stdout } = await promisify(execFile)(program, args, { cwd, env, ...options })
  return stdout
}

const node = (args, cwd) => run(process.execPath, args, cwd)

async function exists(file) {
  return fs.access(file).then(
    () => true,
    () => false,
  )
}

/** An empty project in `temp` with these tarballs installed; the cache is empty too, so nothing can come from it. */
async function install(temp, name, tarballs) {
  const project = path.join(temp, name)
  await fs.mkdir(project)
  await fs.writeFile(path.join(project, 'package.json'), '{ "private": true }')
  const flags = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--cache', '../cache']
  npm(['install', ...flags, ...tarballs], project)
  return project
}

let temp
let project // has both packages
let halfProject // has no platform package
let installed // where the root package is

test.before(async (t) => {
  t.timeout(240_000)
  temp = await fs.mkdtemp(path.join(os.tmpdir(), 'flakeforge-package-'))
  const tarballs = packAll(path.join(temp, 'tarballs'))
  project = await install(temp, 'project', [tarballs.main, tarballs.platform])
  halfProject = await install(temp, 'half', [tarballs.main])
  installed = path.join(project, 'node_modules', 'flakeforge')
})

test.after.always(() => temp && fs.rm(temp, { recursive: true, maxRetries: 5 }))

/** Runs code in the project and returns the lines it prints. */
async function evaluate(code, type = 'commonjs') {
  return lines(await node([`--input-type=${type}`, '--eval', code], project))
}

const lines = (text) => text.trimEnd().split('\n')

test('the addon contains no path of the machine that built it', async (t) => {
  const bytes = await fs.readFile(path.join(root, ownPlatform().manifest.main))
  t.deepEqual(ownPathsIn(bytes), [])
  const { CARGO_HOME = path.join(os.homedir(), '.cargo') } = process.env
  for (const folder of [os.homedir(), CARGO_HOME, root]) {
    const at = bytes.indexOf(`${folder}${path.sep}`)
    t.is(at, -1, bytes.toString('latin1', at, at + 200))
  }
})

test('paths of a machine are found in a binary, of every system, and permitted ones are not', (t) => {
  const OWN = [
    '/Users/builder/flakeforge/src/hot.rs',
    '/home/runner/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/napi-3.16.1/src/error.rs',
    '/root/.cache/zig/o/5f2/libunwind.o',
    '/build/rust/library/std/src/io/mod.rs',
    'D:\\a\\flakeforge\\target\\release\\deps\\flakeforge.pdb',
    'C:\\Users\\runneradmin\\.cargo\\registry\\src',
    'C:/Users/runneradmin/x',
  ]
  for (const own of OWN) t.deepEqual(ownPathsIn(Buffer.from(`text\0${own}\0text`, 'latin1')), [own])
  const others = [
    'flakeforge/src/hot.rs',
    'cargo/registry/src/index.crates.io-1949cf8c6b5b557f/napi-3.16.1/src/error.rs',
    '/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/std/src/time.rs',
    '/rust/deps/gimli-0.32.3/src/read/abbrev.rs',
    '/proc/self/exe',
    '/usr/lib/libSystem.B.dylib',
    'C:\\Windows\\System32',
  ]
  t.deepEqual(ownPathsIn(Buffer.from(others.join('\0'), 'latin1')), [])
})

test("the other packages' tarballs have no script, and only the files that their package.json lists", async (t) => {
  for (const tarball of [packServer(path.join(temp, 'others')), packCheckStore(path.join(temp, 'others'))]) {
    const folder = await fs.mkdtemp(path.join(temp, 'unpacked-'))
    await run('tar', ['xzf', tarball, '-C', folder])
    const packed = JSON.parse(await fs.readFile(path.join(folder, 'package', 'package.json'), 'utf8'))
    t.is(packed.scripts, undefined)
    const listed = packed.files.map((file) => file.split('/')[0])
    t.deepEqual(
      (await fs.readdir(path.join(folder, 'package'))).sort(),
      [...listed, 'LICENSE', 'README.md', 'package.json'].sort(),
    )
    const { bin } = packed
    for (const file of Object.values(bin)) t.true(await exists(path.join(folder, 'package', file)), file)
  }
})

test('package.json exports what scripts/entries.js lists', (t) => {
  const written = (value) => JSON.stringify(value, null, 2)
  t.is(written(manifest.exports), written(exportsOf()), 'run `node scripts/entries.js`')
  t.is(written(manifest.typesVersions), written(typesVersions()), 'run `node scripts/entries.js`')
  t.is(written(manifest.files), written(files()), 'run `node scripts/entries.js`')
})

test('files that package.json lists exist and are not empty', async (t) => {
  for (const file of [...manifest.files, 'README.md', 'LICENSE']) {
    const { size } = await fs.stat(path.join(root, file)).catch(() => ({ size: 0 }))
    t.true(size > 0, `${file} is missing or empty`)
  }
})

test('the tarball has what a user needs and nothing else', async (t) => {
  const top = await fs.readdir(installed)
  const listed = manifest.files.map((file) => file.split('/')[0])
  t.deepEqual(top.sort(), [...listed, 'package.json', 'README.md', 'LICENSE'].sort())
  const all = await fs.readdir(installed, { recursive: true })
  for (const file of JSON.stringify(manifest.exports).match(/(?<="\.\/)[^"]+(?=")/g))
    t.true(all.includes(path.normalize(file)) || !file.includes('/'), `${file} is missing`)
  t.true(all.includes(path.join('dist', 'flakeforge.cjs')))
  t.deepEqual(
    all.filter((file) =>
      /\.(?:node|rs|toml|tgz|test\.mjs)$|(?<!\.d)\.ts$|__test__|^src|npmignore|binding\.gyp/.test(file),
    ),
    [],
  )
})

test('biguint-format is available under its own name, by require and by import', async (t) => {
  const call = "console.log(format('10'), format([1, 0], 'hex', { prefix: '0x' }))"
  t.deepEqual(await evaluate(`const format = require('flakeforge/biguint-format'); ${call}`), ['16 0x100'])
  t.deepEqual(await evaluate(`import format from 'flakeforge/biguint-format'; ${call}`, 'module'), ['16 0x100'])
})

test('an install runs no script and fetches nothing else', async (t) => {
  const packed = JSON.parse(await fs.readFile(path.join(installed, 'package.json'), 'utf8'))
  t.deepEqual(packed.dependencies ?? {}, {})
  t.is(packed.scripts, undefined)
  t.deepEqual(packed.optionalDependencies, { [ownPlatform().manifest.name]: manifest.version })
  const modules = await fs.readdir(path.join(project, 'node_modules'))
  t.deepEqual(modules.filter((name) => !name.startsWith('.')).sort(), ['@flakeforge', 'flakeforge'])
  const bindings = await fs.readdir(path.join(project, 'node_modules', '@flakeforge'))
  t.deepEqual(bindings, [path.basename(ownPlatform().manifest.name)])
})

test('every target has a package of this version, for its platform, with one binary', (t) => {
  const packages = platformPackages()
  t.is(packages.length, manifest.napi.targets.length)
  for (const { folder, manifest: theirs } of packages) {
    const name = path.basename(folder)
    const { version, main, files, os: systems, cpu } = theirs
    t.is(theirs.name, `@flakeforge/binding-${name}`)
    t.is(version, manifest.version)
    t.is(main, `flakeforge.${name}.node`)
    t.deepEqual(files, [main, 'THIRD-PARTY'])
    t.deepEqual([...systems, ...cpu], name.split('-').slice(0, 2))
  }
})

test('the platform package holds the binary, its texts and nothing else', async (t) => {
  const { name, main } = ownPlatform().manifest
  const folder = path.join(project, 'node_modules', name)
  t.deepEqual((await fs.readdir(folder)).sort(), [main, 'LICENSE', 'README.md', 'THIRD-PARTY', 'package.json'].sort())
  t.deepEqual(await fs.readFile(path.join(folder, 'LICENSE')), await fs.readFile(path.join(root, 'LICENSE')))
})

const PROPERTIES = [
  'FlakeId',
  'default',
  'FlakeError',
  'createGroup',
  'Layout',
  'layouts',
  'Seal',
  'format',
  'idType',
  'isId',
  'parse',
  'toBigInt',
  'toSigned',
  'fromSigned',
  'compare',
  'jsonReplacer',
  'jsonReviver',
]

test('require gives the class, with every export as a property', async (t) => {
  const printed = await evaluate(`
    const FlakeId = require('flakeforge')
    console.log(new FlakeId({ worker: 3 }).next() instanceof Buffer, new FlakeId({ worker: 3 }) instanceof FlakeId)
    console.log(FlakeId === FlakeId.default, FlakeId === FlakeId.FlakeId)
    console.log(Object.keys(FlakeId).sort().join())
    console.log(FlakeId.toBigInt(FlakeId.parse('123')), FlakeId.format(5n, 'hex', { prefix: '0x' }))
    console.log(require('flakeforge/package.json').version)`)
  t.deepEqual(printed, ['true true', 'true true', PROPERTIES.toSorted().join(), '123n 0x5', manifest.version])
})

test('import gives the same class, by default and by name, and every other export by name', async (t) => {
  const printed = await evaluate(
    `
    import { createRequire } from 'node:module'
    import FlakeId, * as all from 'flakeforge'
    import { FlakeId as Named, format } from 'flakeforge'
    const required = createRequire(process.cwd() + '/x.js')('flakeforge')
    console.log(FlakeId === Named, FlakeId === required, format === required.format)
    console.log(Object.keys(all).sort().join(), Object.keys(all).every((name) => all[name] === required[name]))
    console.log(Named.name, new FlakeId().next().length)`,
    'module',
  )
  t.deepEqual(printed, ['true true true', `${PROPERTIES.toSorted().join()} true`, 'FlakeId 8'])
})

test('import() from CommonJS works too', async (t) => {
  const code = `import('flakeforge').then((all) => console.log(all.default === require('flakeforge')))`
  t.deepEqual(await evaluate(code), ['true'])
})

test('the command prints as many IDs as requested', async (t) => {
  const command = path.join(project, 'node_modules', '.bin', platform === 'win32' ? 'flakeforge.cmd' : 'flakeforge')
  t.true(await exists(command))
  const printed = await node([path.join(installed, manifest.bin.flakeforge), '3'], project)
  const { toBigInt, decode } = decoder()
  const ids = [...new Set(printed.match(/\b\d{17,20}\b/g))].map(toBigInt)
  t.is(ids.length, 3, printed)
  for (const id of ids) t.is(decode(id).date.getUTCFullYear(), new Date().getUTCFullYear())
  t.true(ids[0] < ids[1] && ids[1] < ids[2])
})

/** Reads IDs. Not with the installed copy: Windows removes no folder whose addon this process has loaded. */
function decoder(options) {
  const FlakeId = require('flakeforge')
  const flake = new FlakeId(options)
  return { toBigInt: FlakeId.toBigInt, decode: (id) => flake.decode(id) }
}

for (const [type, code] of [
  ['commonjs', `require('flakeforge')`],
  ['module', `import 'flakeforge'`],
]) {
  test(`without the platform package the error says what to do: ${type}`, async (t) => {
    const failed = await t.throwsAsync(node([`--input-type=${type}`, '--eval', code], halfProject))
    const message = failed.stderr.match(/^Error: (flakeforge .*)$/m)?.[1]
    t.regex(
      message,
      /could not load its native addon\. The package .* is not installed\. Run `npm install --include=optional`/,
    )
    t.true(failed.stderr.includes(`Cannot find module '${ownPlatform().manifest.name}'`), 'the cause is not shown')
  })
}

// The README of flake-idgen

const readme = readFileSync(path.join(root, 'node_modules', 'flake-idgen', 'README.md'), 'utf8')
const examples = [...readme.matchAll(/```js\r?\n(.*?)```/gs)]
  .map(([, code]) => code)
  .filter((code) => code.includes(`require('flake-idgen')`))

/** Runs an example with one of the two packages; its formatter is biguint-format either way. */
async function runExample(code, name) {
  const folder = name === 'flakeforge' ? project : root
  const withFormatter = code.replace(`'biguint-format'`, () => JSON.stringify(require.resolve('biguint-format')))
  return lines(await node(['--eval', withFormatter.replaceAll(`'flake-idgen'`, `'${name}'`)], folder))
}

/** A line with an x for every digit, since no two IDs are the same. */
const shape = (line) => line.replace(/\b(?:0x)?[\da-f]+\b/g, (number) => number.replace(/[\da-f]/g, 'x'))

const bufferToBigInt = (line) => BigInt(`0x${line.match(/^<Buffer((?: [\da-f]{2}){8})>$/)[1].replaceAll(' ', '')}`)
const isAscending = (ids) => ids.every((id, i) => i === 0 || id > ids[i - 1])

test('the README of flake-idgen has as many examples as this file tests', (t) => {
  t.is(examples.length, 7)
})

for (const [i, code] of examples.entries()) {
  test(`example ${i + 1} prints the same as with flake-idgen, except for digits`, async (t) => {
    const [ours, theirs] = await Promise.all([runExample(code, 'flakeforge'), runExample(code, 'flake-idgen')])
    t.deepEqual(ours.map(shape), theirs.map(shape))
  })
}

test('example 1: three IDs, in order', async (t) => {
  const ids = (await runExample(examples[0], 'flakeforge')).map(bufferToBigInt)
  t.is(ids.length, 3)
  t.true(isAscending(ids))
})

test('example 2: two IDs by callback, in order', async (t) => {
  const ids = (await runExample(examples[1], 'flakeforge')).map(bufferToBigInt)
  t.is(ids.length, 2)
  t.true(isAscending(ids))
})

test('example 3: the second ID has datacenter 9 and worker 7', async (t) => {
  const [first, second] = (await runExample(examples[2], 'flakeforge')).map((line) =>
    decoder().decode(bufferToBigInt(line)),
  )
  t.like(first, { datacenter: 0, worker: 0, counter: 0 })
  t.like(second, { datacenter: 9, worker: 7, counter: 0 })
})

test('example 4: the second ID counts from its own epoch', async (t) => {
  const epoch = 1300000000000
  const [first, second] = (await runExample(examples[3], 'flakeforge')).map(bufferToBigInt)
  const [{ timestamp }, later] = [decoder().decode(first), decoder({ epoch }).decode(second)]
  t.true(second < first)
  t.true(later.timestamp >= timestamp)
  t.is(later.tick, BigInt(later.timestamp - epoch))
})

test('example 5: the properties', async (t) => {
  const printed = await runExample(examples[4], 'flakeforge')
  t.is(printed.join(' '), '100 undefined undefined 9 7 295 0 0 0')
})

test('example 6: decimal and hexadecimal text of the same generators', async (t) => {
  const printed = await runExample(examples[5], 'flakeforge')
  for (const [i, form] of [/^\d+$/, /^0x[\da-f]+$/, /^\d+$/, /^0x[\da-f]+$/].entries()) t.regex(printed[i], form)
  const [first, second, third, fourth] = printed.map(BigInt)
  t.true(first < second && third < fourth && fourth < first)
})

test('example 7: five IDs as groups of four bits', async (t) => {
  const printed = await runExample(examples[6], 'flakeforge')
  t.is(printed.length, 5)
  for (const line of printed) t.regex(line, /^[01]{4}(?: [01]{4}){15}$/)
  t.true(isAscending(printed.map((line) => BigInt(`0b${line.replaceAll(' ', '')}`))))
})
