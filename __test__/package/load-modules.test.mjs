// What loading the package loads. Time and memory are measured by lab/bench/load.js; here is what must not come back: modules
// of Node that an empty script does not have, and parts that the first ID does not need.

import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import test from 'ava'
import { outputOf } from '../support/index.mjs'

const root = path.join(import.meta.dirname, '..', '..')
const INDEX = path.join(root, 'dist', 'index.cjs')

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

/** What is loaded for both formats: not the file with leases and stores, nor that with the client of the service. */
const LIGHT = ['base', 'index']

const partsOf = (files) => own(files).map((file) => path.basename(file).replace(/\.[cm]js$/, ''))

test('require and the first ID load no module of Node, and few files of ours', async (t) => {
  const empty = await run(t, 'empty.cjs', TELL)
  const loaded = await run(t, 'first.cjs', `new (require(${JSON.stringify(INDEX)}))().next();${TELL}`)
  t.deepEqual(empty.files, [])
  t.deepEqual(added(empty, loaded), [])
  t.deepEqual(partsOf(loaded.files), LIGHT)
})

test('an ES import and the first ID load no module of Node, and no file of CommonJS', async (t) => {
  const url = JSON.stringify(pathToFileURL(path.join(root, 'dist', 'index.mjs')))
  const plain = await run(t, 'plain.mjs', TELL_OF_IMPORT)
  const loaded = await run(t, 'first.mjs', `import FlakeId from ${url}; new FlakeId().next();${TELL_OF_IMPORT}`)
  t.deepEqual(added(plain, loaded), [])
  t.deepEqual(own(loaded.files), [])
})

test('join() loads the file with leases', async (t) => {
  const folder = path.join(root, 'target', `load-${process.pid}-ids`)
  t.teardown(() => fs.rmSync(folder, { recursive: true, force: true }))
  const source = `require(${JSON.stringify(INDEX)}).join(${JSON.stringify(`file:${folder}`)}).then(async (flake) => {
    await flake.close();${TELL} })`
  const { files } = await run(t, 'join.cjs', source)
  t.deepEqual(partsOf(files), ['base', 'client', 'index', 'leases-once', 'leases'])
})

const FROM_COPIES = /^\s*const \{(?<names>[^}]*)\} = (?:\(globalThis\[.*\]\)|copies)\.(?<part>\w+);$/gm

/** What each file takes from which other, as [file, other, name], without their ends. */
function* taken(ext, wanted) {
  for (const file of fs.readdirSync(path.join(root, 'dist')).filter((name) => name.endsWith(ext))) {
    for (const { groups } of fs.readFileSync(path.join(root, 'dist', file), 'utf8').matchAll(wanted)) {
      for (const name of groups.names.split(','))
        yield [file.slice(0, -ext.length), groups.part, name.trim().split(/[ :]/)[0]]
    }
  }
}

// Of a process that has both formats, the files that are loaded first serve both: share-copies.js. The command has one.
test('what files of one format take from each other, those of the other have too', async (t) => {
  const commonjs = [...taken('.cjs', /\brequire_(?<part>\w+)\.(?<names>\w+)/g)]
  const modules = [
    ...taken('.mjs', /^import \{(?<names>[^}]*)\} from "\.\/(?<part>\w+)\.mjs"/gm),
    ...['.mjs', '-once.cjs'].flatMap((end) => [...taken(end, FROM_COPIES)]),
  ]
  const parts = [...new Set(commonjs.map(([, other]) => other))].sort()
  t.deepEqual(parts, ['base', 'client', 'index', 'leases', 'meters'])
  const version = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')).version
  const has = ([format, ext]) =>
    run(
      t,
      `parts-${format}.cjs`,
      `const files = ${JSON.stringify(parts.map((part) => path.join(root, 'dist', part + ext)))}
      const tell = () => console.log(JSON.stringify(Object.fromEntries(
        Object.entries(globalThis[Symbol.for('flakeforge@${version}')]).map(([part, made]) => [part, Object.keys(made)]))))
      Promise.all(files.map((file) => ${format}(file))).then(tell)`,
    )
  const [cjs, mjs] = await Promise.all(Object.entries({ require: '.cjs', import: '.mjs' }).map(has))
  t.deepEqual(
    commonjs.filter(([, part, name]) => !mjs[part].includes(name)),
    [],
  )
  const ofUsers = modules.filter(
    ([file, part]) => part in cjs && !/^(?:command|faults|flakeforge|main|with-addon)$/.test(file),
  )
  t.true(ofUsers.length > 50 && ofUsers.some(([file, part]) => file === 'leases' && part === 'index'))
  t.deepEqual(
    ofUsers.filter(([file, part, name]) => file !== part && !cjs[part].includes(name)),
    [],
  )
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
