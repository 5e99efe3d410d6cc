// Which rooms may import which: the rooms of scripts/rooms.js, the lowest floor first. Imports of types count. Biome checks
// that no two files need each other, with types or without.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import test from 'ava'

const require = createRequire(import.meta.url)
const { allFilesOf, filesOf, importsOf, reached, sourcesIn } = require('../../scripts/imports.js')
const { LIB } = require('../../scripts/rooms.js')

const root = path.join(import.meta.dirname, '..', '..')
const nameOf = (file) => path.relative(root, file).split(path.sep).join('/')
const roomOf = (name) => name.split('/')[1]

/** All imports of lib/, as pairs of names. */
const IMPORTS = sourcesIn(path.join(root, 'lib')).flatMap((file) =>
  allFilesOf(file).map((other) => [nameOf(file), nameOf(other)]),
)

const ROOMS = [...Object.keys(LIB), 'entries']

/** Asserts that no import breaks a rule. */
function none(t, isWrong) {
  t.deepEqual(
    IMPORTS.filter(([from, to]) => isWrong(from, to)).map(([from, to]) => `${from} → ${to}`),
    [],
  )
}

test('every file is in a room, and imports none of the rooms above', (t) => {
  t.true(IMPORTS.length > 600)
  for (const [from] of IMPORTS) t.true(ROOMS.includes(roomOf(from)), from)
  none(t, (from, to) => ROOMS.indexOf(roomOf(to)) > ROOMS.indexOf(roomOf(from)))
})

test('lib/ depends on nothing outside it', (t) => none(t, (_, to) => !to.startsWith('lib/')))

test('a store reads and swaps records: it knows neither IDs nor the holder of a slot', (t) => {
  const isStore = (name) => name.startsWith('lib/stores/') && !name.endsWith('/file-store.ts') // it warns of misspelt variables
  none(t, (from, to) => isStore(from) && /^lib\/(?:layout|generator)\//.test(to))
})

test('code that two databases need is next to their folders', (t) => {
  const database = (name) => /^lib\/stores\/([^/]+)\//.exec(name)?.[1]
  none(t, (from, to) => database(from) !== undefined && ![undefined, database(from)].includes(database(to)))
})

test('what browsers load needs no module of Node.js', (t) => {
  for (const loaded of [
    ...['browser', 'browser-lease', 'codec', 'remote'].map((name) => `entries/${name}`),
    'reading/ranking',
    'reading/text-forms',
  ]) {
    for (const file of reached(path.join(root, 'lib', `${loaded}.ts`))) {
      t.deepEqual(
        importsOf(file).filter((name) => !name.startsWith('.')),
        [],
        nameOf(file),
      )
      t.notRegex(readFileSync(file, 'utf8'), /process\.getBuiltinModule\(/, nameOf(file))
    }
  }
})

/** What the packages share with the library: it is their only way past its entries. */
const SHARED = 'packages/shared.ts'

/** The walls around what is built of lib/: from where each may import by path, besides itself. */
const WALLS = [
  { folder: 'packages/server/page', may: ['lib/entries', 'lib/reading'] },
  { folder: 'packages/server', may: [SHARED] },
  { folder: 'packages/check-store', may: [SHARED] },
  { folder: SHARED, may: ['lib/base', 'lib/stores/container.ts'] },
  { folder: 'bin', may: ['lib', 'package.json'] },
]

const isIn = (name, folder) => name === folder || name.startsWith(`${folder}/`)

/** The files of git that a program imports by their paths, types included. */
const importedBy = (name) =>
  Array.from(
    readFileSync(path.join(root, name), 'utf8').matchAll(
      /(?:\bfrom |\bimport |\bimport\(|\brequire(?:\.resolve)?\()'(\.{1,2}\/[^'$]*)'/g,
    ),
    ([, to]) => nameOf(path.resolve(root, path.dirname(name), to)),
  )

const SOURCES = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((name) => /\.[cm]?[jt]s$/.test(name) && existsSync(path.join(root, name)))

const within = (folder) => SOURCES.filter((name) => isIn(name, folder))

for (const { folder, may } of WALLS) {
  test(`${folder} imports by path only from ${[folder, ...may].join(', ')}`, (t) => {
    const inner = WALLS.filter((wall) => isIn(wall.folder, folder) && wall.folder !== folder)
    const files = within(folder).filter((name) => !inner.some((wall) => isIn(name, wall.folder)))
    t.true(files.length > 0)
    const over = files.flatMap((from) =>
      importedBy(from)
        .filter((to) => ![folder, ...may].some((place) => isIn(to, place)))
        .map((to) => `${from} → ${to}`),
    )
    t.deepEqual(over, [])
  })
}

test('scripts/ imports no tests', (t) => {
  const over = within('scripts').flatMap((from) => importedBy(from).map((to) => [from, to]))
  t.true(over.length > 100)
  t.deepEqual(
    over.filter(([, to]) => isIn(to, '__test__')),
    [],
  )
})

/** What the command uses from inside lib/. */
const ALLOWED = [
  'lib/base/addresses.ts',
  'lib/base/check.ts',
  'lib/base/errors.ts',
  'lib/base/errors/make.ts',
  'lib/base/nearest.ts',
  'lib/base/printable.ts',
  'lib/base/units.ts',
  'lib/codec/bases.ts',
  'lib/codec/ids.ts',
  'lib/codec/layout.ts',
  'lib/codec/packing.ts',
  'lib/layout/node-number.ts',
  'lib/lease/common-options.ts',
  'lib/lease/join-options.ts',
  'lib/lease/restored.ts',
  'lib/native/hot.ts',
  'lib/stores/address.ts',
  'lib/stores/container.ts',
  'lib/stores/database-function.ts',
  'lib/stores/database-times.ts',
  'lib/stores/file-store.ts',
  'lib/stores/mysql/function.ts',
  'lib/stores/mysql/schema.ts',
  'lib/stores/mysql/times.ts',
  'lib/stores/open.ts',
  'lib/stores/postgres/address.ts',
  'lib/stores/postgres/function.ts',
  'lib/stores/postgres/schema.ts',
  'lib/stores/postgres/times.ts',
  'lib/stores/time-budget.ts',
]

test('the command uses only entries of lib/, the room reading, and the files listed here', (t) => {
  const inside = sourcesIn(path.join(root, 'bin'))
  const taken = inside
    .flatMap((file) => filesOf(file).map(nameOf))
    .filter((name) => /^lib\/(?!entries\/|reading\/)/.test(name))
  t.deepEqual([...new Set(taken)].sort(), ALLOWED)
})

test('lib/base imports nothing from above, not even a type', (t) => {
  const base = path.join(root, 'lib', 'base')
  const above = sourcesIn(base).flatMap((file) => {
    const imported = readFileSync(file, 'utf8').matchAll(/\b(?:from|import\() ?'(\.[^']*)'/g)
    const files = Array.from(imported, ([, other]) => path.resolve(path.dirname(file), other))
    return files.filter((other) => !other.startsWith(base + path.sep)).map((other) => `${nameOf(file)}: ${other}`)
  })
  t.deepEqual(above, [])
})

test('the command loads the addon only where it needs it', (t) => {
  for (const [start, isLight] of [
    ['bin/main.ts', /^(?:bin\/(?!with-addon\/|schema\/)|lib\/(?:base|codec|reading)\/|lib\/entries\/codec\.ts$)/],
    [
      'bin/schema/print-schema.ts',
      /^(?:bin\/(?!with-addon\/)|lib\/(?:base|codec|reading|stores)\/|lib\/entries\/codec\.ts$)/,
    ],
  ]) {
    const loaded = [...reached(path.join(root, start))].map(nameOf)
    t.true(loaded.includes(start) && loaded.includes('lib/codec/layout.ts'))
    t.deepEqual(
      loaded.filter((name) => !isLight.test(name)),
      [],
      start,
    )
  }
})

test('a command loads only its own part', (t) => {
  const owners = new Map()
  for (const file of sourcesIn(path.join(root, 'bin', 'commands'))) {
    const later = Array.from(readFileSync(file, 'utf8').matchAll(/import\('([^']+)'\)/g), ([, name]) => name)
    const own = path.basename(file)
    for (const name of later) {
      t.regex(
        name,
        new RegExp(`^\\.\\./(?:with-addon/[a-z-]+|${own.slice(0, -3)}/print-${own.slice(0, -3)})\\.ts$`),
        own,
      )
      t.is(owners.get(name), undefined, `${own} loads ${name}, as another command does`)
      owners.set(name, own)
    }
  }
})
