// What loading the package loads. Time and memory are measured by bench/load.js; here is what must not come back: modules of
// Node that an empty script does not have, and files that the first ID does not need.

import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import test from 'ava'
import { outputOf } from '../support/index.mjs'

const root = path.join(import.meta.dirname, '..', '..')
const INDEX = path.join(root, 'index.js')

/** Files that a program loads before its first ID; each takes 0.2 ms. */
const MOST_FILES = 17

/** The same for an ES import, which brings the files of all exports. */
const MOST_FILES_OF_IMPORT = 31

// --print and --eval load modules of their own, so each program is a file.
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

test('require and the first ID load no module of Node, and few files of ours', async (t) => {
  const empty = await run(t, 'empty.cjs', TELL)
  const loaded = await run(t, 'first.cjs', `new (require(${JSON.stringify(INDEX)}))().next();${TELL}`)
  t.deepEqual(empty.files, [])
  t.deepEqual(added(empty, loaded), [])
  const files = own(loaded.files)
  t.true(files.includes('index.js') && files.includes(path.join('lib', 'native', 'hot.js')), files.join())
  t.deepEqual(
    files.filter((file) => file.includes(`stores${path.sep}`)),
    [],
  )
  t.true(files.length <= MOST_FILES, `${files.length}: ${files.join(' ')}`)
})

test('an ES import and the first ID load no store, and no module of Node but for the import itself', async (t) => {
  const url = JSON.stringify(pathToFileURL(path.join(root, 'index.mjs')))
  // What an import of any CommonJS file loads is not ours.
  const other = JSON.stringify(pathToFileURL(path.join(root, 'lib', 'base', 'errors.js')))
  const plain = await run(t, 'plain.mjs', `import ${other};${TELL_OF_IMPORT}`)
  const loaded = await run(t, 'first.mjs', `import FlakeId from ${url}; new FlakeId().next();${TELL_OF_IMPORT}`)
  t.deepEqual(added(plain, loaded), [])
  const files = own(loaded.files)
  t.true(files.includes(path.join('lib', 'lease', 'segment', 'segment-id.js')), files.join())
  const stores = files.filter((file) => file.includes(`stores${path.sep}`))
  t.deepEqual(stores, [path.join('lib', 'lease', 'stores', 'open.js')])
  t.true(files.length <= MOST_FILES_OF_IMPORT, `${files.length}: ${files.join(' ')}`)
})

test('an export is loaded when it is first used, and is an ordinary property then', async (t) => {
  const outcome = await run(
    t,
    'export.cjs',
    `
    const FlakeId = require(${JSON.stringify(INDEX)})
    const has = (file) => Object.keys(require.cache).some((path) => path.endsWith(file))
    const before = has('segment-id.js')
    const { SegmentId } = FlakeId
    const { value, ...how } = Object.getOwnPropertyDescriptor(FlakeId, 'SegmentId')
    FlakeId.format = 'replaced'
    console.log(JSON.stringify([before, has('segment-id.js'), value === SegmentId, how, FlakeId.format]))`,
  )
  const how = { writable: true, enumerable: true, configurable: true }
  t.deepEqual(outcome, [false, true, true, how, 'replaced'])
})

test('a class derived from FlakeId has the same exports', async (t) => {
  const source = `
    const FlakeId = require(${JSON.stringify(INDEX)})
    class Derived extends FlakeId {}
    console.log(JSON.stringify([Derived.format === FlakeId.format, Object.keys(Derived)]))`
  t.deepEqual(await run(t, 'derived.cjs', source), [true, []])
})
