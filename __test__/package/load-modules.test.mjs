// Which modules loading the package loads. lab/bench/load.js measures time and memory; this file prevents regressions:
// modules of Node.js that an empty script does not have, and parts that the first ID does not need.

import { spawn } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import test from 'ava'
import { outputOf } from '../support/index.mjs'

const { IMPORTED } = createRequire(import.meta.url)('../../scripts/entries.js')
const root = path.join(import.meta.dirname, '..', '..')
const INDEX = path.join(root, 'dist', 'index.cjs')

// --print and --eval load their own modules, so each program is a file.
async function run(t, name, source) {
  const file = path.join(root, 'target', `load-${process.pid}-${name}`)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, source)
  t.teardown(() => fs.rmSync(file))
  const { code, stdout, stderr } = await outputOf(spawn(process.execPath, [file], { timeout: 60_000 }))
  t.is(code, 0, stderr)
  return JSON.parse(stdout)
}

// fs, because console.log would load streams before they are listed.
const TELL = `
  const files = Object.keys(require.cache).filter((file) => !file.endsWith(require('node:path').basename(__filename)))
  require('node:fs').writeSync(1, JSON.stringify({ modules: process.moduleLoadList, files }))`

const TELL_OF_IMPORT = `
  import { createRequire } from 'node:module'
  import { writeSync } from 'node:fs'
  const files = Object.keys(createRequire(import.meta.url).cache)
  writeSync(1, JSON.stringify({ modules: process.moduleLoadList, files }))`

const own = (files) => files.map((file) => path.relative(root, file)).sort()
const added = (before, after) => after.modules.filter((module) => !before.modules.includes(module))

/** The files for the first ID: not the one with leases and stores, nor the one with the client of the service. */
const LIGHT = ['base', 'core', 'index']

const partsOf = (files) => own(files).map((file) => path.basename(file, '.cjs'))

test('require and the first ID load no module of Node.js, and few files of ours', async (t) => {
  const empty = await run(t, 'empty.cjs', TELL)
  const loaded = await run(t, 'first.cjs', `new (require(${JSON.stringify(INDEX)}))().next();${TELL}`)
  t.deepEqual(empty.files, [])
  t.deepEqual(added(empty, loaded), [])
  t.deepEqual(partsOf(loaded.files), LIGHT)
})

/** The functions with which Node.js searches a CommonJS file for exports, before an ES module gets it. */
const LEXER = /cjs-module-lexer/

/** What programs do all the time. */
const USUAL = `
  const FlakeId = require(${JSON.stringify(INDEX)})
  const { format, layouts, parse } = FlakeId
  for (const options of [{ id: 3 }, { datacenter: 9, worker: 7 }, { layout: 'twitter', id: 1 }, { epoch: 1600000000000, id: 2 }]) {
    const flake = new FlakeId(options)
    for (const call of ['next', 'nextBigInt', 'nextString', 'nextAsync']) flake[call]()
    flake.next(() => {})
    flake.take(9)
  }
  parse(format(parse('7529535382561648640'), 'base62'), 'base62')
  layouts.flake.encode(layouts.flake.decode('7529535382561648640'))`

test('programs load no more files for options, texts and parts, but for what they do seldom and for errors', async (t) => {
  t.deepEqual(partsOf((await run(t, 'usual.cjs', `${USUAL};${TELL}`)).files), LIGHT)
  const seal = `new (require(${JSON.stringify(INDEX)}).Seal)(Buffer.alloc(16)).seal(5n)`
  t.deepEqual(partsOf((await run(t, 'seal.cjs', `${seal};${TELL}`)).files), ['base', 'core-later', 'core', 'index'])
  const wrong = `try { require(${JSON.stringify(INDEX)}).parse('?') } catch {}`
  t.deepEqual(partsOf((await run(t, 'wrong.cjs', `${wrong};${TELL}`)).files), ['base-later', 'base', 'core', 'index'])
})

/** What cannot be loaded once a program runs: it has too many open files, another root, or its package was replaced. */
const CLOSED = `require('node:module')._load = () => { throw new Error('no file can be opened') }`

test('a program that runs opens no file for valid calls, their waits and what ends them', async (t) => {
  const { answers, codes } = await run(
    t,
    'closed.cjs',
    `
    const { writeSync } = require('node:fs')
    const FlakeId = require(${JSON.stringify(INDEX)})
    const { layouts } = FlakeId
    const flake = new FlakeId({ id: 5, seqMask: 1 })
    let now = 1700000000000
    const still = new FlakeId({ id: 6, seqMask: 1, clock: () => now })
    const id = flake.nextBigInt()
    ${CLOSED}
    const { signal } = new AbortController()
    const answers = [
      () => flake.nextAsync(),
      () => flake.nextAsync(),
      () => new Promise((resolve) => flake.next((error, id) => resolve(id))),
      () => flake.nextAsync({ signal }),
      () => flake.takeAsync(3, { signal }),
      async () => { for await (const id of flake) return id },
      () => layouts.flake.fromUuid(layouts.flake.toUuid(id)),
    ]
    const fails = [
      () => still.take(2) && still.next(),
      () => (now -= 5000) && still.next(),
      () => flake.nextAsync({ signal: AbortSignal.abort(Object.assign(new Error(), { code: 'ENDED' })) }),
    ]
    const codeOf = (call) => new Promise((resolve) => resolve(call())).then(() => 'none', ({ code, message }) => code ?? message)
    Promise.all(answers.map((answer) => answer())).then(async ({ length }) => {
      const codes = []
      for (const call of fails) codes.push(await codeOf(call))
      writeSync(1, JSON.stringify({ answers: length, codes }))
    })`,
  )
  t.is(answers, 7)
  t.deepEqual(codes, ['ERR_FLAKE_OVERFLOW', 'ERR_FLAKE_CLOCK_BACKWARDS', 'ENDED'])
})

test('an ES import and the first ID load the same files, and no other module of Node.js', async (t) => {
  const url = JSON.stringify(pathToFileURL(path.join(root, 'dist', 'index.mjs')))
  const plain = await run(t, 'plain.mjs', TELL_OF_IMPORT)
  const loaded = await run(t, 'first.mjs', `import FlakeId from ${url}; new FlakeId().next();${TELL_OF_IMPORT}`)
  const others = added(plain, loaded).filter((module) => !LEXER.test(module))
  t.deepEqual(others, [])
  t.deepEqual(partsOf(loaded.files), LIGHT)
})

test('join() loads the file with leases', async (t) => {
  const folder = path.join(root, 'target', `load-${process.pid}-ids`)
  t.teardown(() => fs.rmSync(folder, { recursive: true, force: true }))
  const source = `require(${JSON.stringify(INDEX)}).join(${JSON.stringify(`file:${folder}`)}).then(async (flake) => {
    await flake.close();${TELL} })`
  const { files } = await run(t, 'join.cjs', source)
  t.deepEqual(partsOf(files), ['base-later', 'base', 'client', 'core', 'index', 'join', 'leases', 'sql'])
})

test('import gives the same values as require, with the same names', async (t) => {
  for (const name of IMPORTED) {
    const [required, imported] = ['cjs', 'mjs'].map((ext) => path.join(root, 'dist', `${name}.${ext}`))
    const answer = await run(
      t,
      `${name}.mjs`,
      `import { createRequire } from 'node:module'
      import * as imported from ${JSON.stringify(pathToFileURL(imported))}
      const required = createRequire(import.meta.url)(${JSON.stringify(required)})
      const { default: byDefault, ...named } = imported
      const isSame = Object.keys(named).every((each) => named[each] === required[each])
      console.log(JSON.stringify([Object.keys(named), Object.keys(required), isSame, byDefault === required]))`,
    )
    const [named, all, isSame, hasDefault] = answer
    t.true(named.length > 1 && isSame, name)
    t.deepEqual(named.sort(), all.filter((each) => each !== 'default').sort(), name)
    t.is(hasDefault, name === 'index', name)
  }
})

// Searching a part takes Node.js 20 40 ms.
test('of the imported files, Node.js searches only short ones for exports', (t) => {
  for (const name of IMPORTED) {
    const [, file] = /from "\.\/(\w+\.cjs)"/.exec(fs.readFileSync(path.join(root, 'dist', `${name}.mjs`), 'utf8'))
    const text = fs.readFileSync(path.join(root, 'dist', file), 'utf8')
    t.true(text.length < 2000, `${file} has ${text.length} characters`)
    t.notRegex(text, /module\.exports = require\(|__exportStar|\.\.\.require/, `${file} passes on another file`)
  }
})

test('state that copies share is hidden from a program that lists or clears globalThis, as jest does', async (t) => {
  const source = `
    const before = Reflect.ownKeys(globalThis)
    new (require(${JSON.stringify(INDEX)}))().next()
    const added = Reflect.ownKeys(globalThis).filter((key) => !before.includes(key))
    const isSeen = (key) => Object.getOwnPropertyDescriptor(globalThis, key).enumerable
    console.log(JSON.stringify([added.length, added.filter(isSeen).length]))`
  t.deepEqual(await run(t, 'seen.cjs', source), [1, 0])
})

test('an export is an ordinary property of the class', async (t) => {
  const source = `
    const FlakeId = require(${JSON.stringify(INDEX)})
    const { value, ...how } = Object.getOwnPropertyDescriptor(FlakeId, 'format')
    FlakeId.format = 'replaced'
    console.log(JSON.stringify([typeof value, how, FlakeId.format]))`
  const how = { writable: true, enumerable: true, configurable: true }
  t.deepEqual(await run(t, 'export.cjs', source), ['function', how, 'replaced'])
})

test('a class derived from FlakeId has the same exports', async (t) => {
  const source = `
    const FlakeId = require(${JSON.stringify(INDEX)})
    class Derived extends FlakeId {}
    console.log(JSON.stringify([Derived.format === FlakeId.format, Object.keys(Derived)]))`
  t.deepEqual(await run(t, 'derived.cjs', source), [true, []])
})
