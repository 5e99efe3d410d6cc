// docs/data/databases.md and the page of each library have the results of `npm run databases`, in the locked versions. The
// run itself, in CI, fails where a library behaves differently.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import test from 'ava'
import { OPERATIONS } from '../../lab/databases/check.js'
import { expectId, expectRow, expectRows, Inexact } from '../../lab/databases/compare.js'
import { Ids, SIZES, survivesDouble } from '../../lab/databases/ids.js'
import { allLibraries, WAYS } from '../../lab/databases/libraries.js'
import { byOutcome, changes, recordOf } from '../../lab/databases/outcomes.js'
import { pageOf, places, tableIn } from '../../lab/databases/table.js'
import { blocks } from '../support/documents.mjs'

const { toSigned } = createRequire(import.meta.url)('flakeforge')

const root = join(import.meta.dirname, '..', '..')
const read = (...names) => readFileSync(join(root, ...names), 'utf8')
const libraries = allLibraries()

for (const place of places()) {
  test(`the table '${place.name}' has the results of the runs`, (t) => {
    t.is(tableIn(place), place.table(), 'run `npm run databases -- --write`')
  })
}

test('every library has its program, its results and its page, and every page its library', (t) => {
  for (const library of libraries) {
    const { title, folder } = library
    t.true(existsSync(join(folder, 'program.js')), title)
    t.true(existsSync(join(folder, 'results.json')), title)
    t.true(readFileSync(pageOf(library), 'utf8').startsWith(`# ${title}\n`), title)
  }
  const pages = readdirSync(join(root, 'docs', 'data', 'databases'))
  t.deepEqual(pages.sort(), libraries.map(({ name }) => `${name}.md`).sort())
})

test("a page's code has only calls and options of the programs that run", (t) => {
  for (const library of libraries) {
    const { title, folder } = library
    const files = readdirSync(folder).filter((file) => file.endsWith('.js'))
    const program = files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n')
    for (const { code } of blocks(readFileSync(pageOf(library), 'utf8')).filter(({ language }) => language === 'ts'))
      for (const [name] of code.replaceAll(/'.*?'|<.*?>|\/\/.*/g, '').matchAll(/\w+(?=[(:])/g))
        t.true(new RegExp(`\\b${name}\\b`).test(program), `${title}: ${name}`)
  }
})

test("TypeORM's transformer for integers of SQLite takes every form of an ID, and none that lost digits", (t) => {
  const page = readFileSync(pageOf(libraries.find(({ name }) => name === 'typeorm')), 'utf8')
  const { code } = blocks(page).find(({ language }) => language === 'javascript')
  const { to, from } = new Function('toSigned', `${code}\nreturn transformer`)(toSigned)
  const id = 0x6886_28ab_5f00_0001n
  for (const [given, stored] of [
    [Buffer.from('688628ab5f000001', 'hex'), id],
    [id, id],
    [String(id), String(id)],
    [Buffer.alloc(8, 0xff), -1n],
    ['-1', '-1'],
    [5, 5n],
    [null, null],
    [undefined, undefined],
  ])
    t.deepEqual(to(given), stored)
  t.throws(() => to(Number(id)), { code: 'ERR_FLAKE_ID' })
  t.is(from(id), String(id))
  t.is(from(null), null)
})

test("Prisma 8's generator on the page is the one that runs", (t) => {
  const statements = (code) =>
    code
      .replaceAll(/\/\*\*.*?\*\/|\/\/.*?$|^export /gms, '')
      .split(/\s+/)
      .join(' ')
      .trim()
  const page = readFileSync(pageOf({ name: 'prisma-8' }), 'utf8')
  const [generator] = blocks(page).filter(({ code }) => code.includes('mutationDefaultGenerators'))
  t.is(statements(generator.code), statements(read('lab', 'databases', 'libraries', 'prisma-8', 'flake.js')))
})

test('results are those of the locked versions, of all databases, ways and operations', (t) => {
  for (const library of libraries) {
    const { version, databases } = library.results
    t.is(version, library.version, library.title)
    t.deepEqual(Object.keys(databases), library.databaseNames, library.title)
    for (const found of Object.values(databases)) {
      for (const way of WAYS) t.deepEqual(Object.keys(found[way].operations), Object.keys(OPERATIONS), library.title)
    }
  }
})

test('a default in the database has its program, its results on each database, and its code on the page', (t) => {
  const found = libraries.filter((library) => library.function !== undefined)
  for (const { title, folder, name, function: code, results } of found) {
    t.true(existsSync(join(folder, 'function.js')), title)
    for (const database of Object.keys(code)) t.is(results.databases[database].function.bulk, 'yes', title)
    const shown = /^`+(.*?)`+$/.exec(code.postgres)[1]
    t.true(readFileSync(pageOf({ name }), 'utf8').includes(shown), `${title}: ${shown}`)
  }
  t.is(found.length, libraries.filter(({ folder }) => existsSync(join(folder, 'function.js'))).length)
  t.true(found.length >= 9)
})

test('a setting does what it promises, or about.json says why not', (t) => {
  for (const library of libraries) {
    for (const [database, { exact }] of Object.entries(library.results.databases)) {
      const { inexact, error } = byOutcome(exact)
      const declared = Object.keys(library.known?.[database] ?? {})
      t.deepEqual([...inexact, ...error].sort(), declared.sort(), `${library.title}, ${database}`)
    }
  }
})

test('the versions are exact, and the lock file names no registry', (t) => {
  const { dependencies } = JSON.parse(read('lab', 'databases', 'package.json'))
  const EXACT = /^(?:npm:[\w-]+@)?\d+\.\d+\.\d+(?:-rc\.\d+)?$/ // a second version of a package has another name
  for (const [name, version] of Object.entries(dependencies)) t.regex(version, EXACT, name)
  t.notRegex(read('lab', 'databases', 'package-lock.json'), /"resolved"/)
})

test('libraries/ contains only libraries', (t) => {
  t.is(readdirSync(join(root, 'lab', 'databases', 'libraries')).length, libraries.length)
  t.true(libraries.length >= 5)
})

for (const size of Object.keys(SIZES)) {
  test(`IDs ${size}: a number cannot hold them, and the range of a ms has exactly them`, (t) => {
    const ids = new Ids(size, false)
    const [min, max] = ids.range(1)
    const inside = ids.edge(1)
    for (const id of inside) t.true(id >= min && id <= max)
    t.true(inside.includes(min) && inside.includes(max)) // so a rounded bound loses one ID, or has one too many
    for (const id of [...ids.edge(0), ...ids.edge(2)]) t.true(id < min || id > max)
    const odd = [...inside.filter((id) => id % 2n === 1n), ...Array.from({ length: 20_000 }, () => ids.next())]
    t.deepEqual(odd.filter(survivesDouble), [])
    t.is(new Set(odd).size, odd.length)
  })
}

test('the sizes match their names', (t) => {
  const edges = (size) => [0, 1, 2].flatMap((ms) => new Ids(size, false).edge(ms))
  t.true(edges('past 2^53').includes(2n ** 53n + 1n))
  t.true(edges('near 2^63').includes(2n ** 63n - 1n))
  t.true(edges('near 2^63').every((id) => id < 2n ** 63n))
  t.true(edges('past 2^63').every((id) => id >= 2n ** 63n))
  const signed = [0, 1, 2].flatMap((ms) => new Ids('past 2^63', true).edge(ms))
  t.true(signed.every((id) => id < 0n && edges('past 2^63').includes(BigInt.asUintN(64, id))))
})

const id = 7529332683575394305n

test('an ID is equal as text, bigint and bytes, signed or not', (t) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(id)
  for (const same of [id, String(id), bytes, new Uint8Array(bytes)]) t.notThrows(() => expectId(same, id))
  const late = 2n ** 63n + 5n
  for (const same of [toSigned(late), String(toSigned(late)), late]) t.notThrows(() => expectId(same, late))
  t.notThrows(() => expectId(5, 5n))
})

test('any other value is inexact, even a number that only looks equal', (t) => {
  const others = [
    id + 1n,
    String(id - 1n),
    Number(id),
    `${id}.0`,
    Buffer.alloc(8),
    Buffer.alloc(4),
    null,
    undefined,
    {},
    '',
  ]
  for (const other of others) t.throws(() => expectId(other, id), { instanceOf: Inexact })
  t.throws(() => expectId(2 ** 60, 2n ** 60n), { instanceOf: Inexact }) // its JSON ends in other digits
})

test('a row is compared as a whole, and rows one by one', (t) => {
  const row = { id, name: 'a' }
  t.notThrows(() => expectRow({ id: String(id), name: 'a' }, row))
  for (const other of [undefined, null, { id: id + 1n, name: 'a' }, { id, name: 'b' }])
    t.throws(() => expectRow(other, row), { instanceOf: Inexact })
  for (const rows of [[], [row, row]]) t.throws(() => expectRows(rows, [row], 'it'), { instanceOf: Inexact })
})

test('a record has one outcome where sizes agree, and the detail of the worst', (t) => {
  const record = recordOf({
    read: { today: { outcome: 'exact' }, later: { outcome: 'exact' } },
    filter: { today: { outcome: 'error', detail: 'loud' }, later: { outcome: 'inexact', detail: 'silent' } },
    order: { today: { outcome: 'not offered' }, later: { outcome: 'not offered' } },
  })
  t.deepEqual(record.operations, { read: 'exact', filter: { today: 'error', later: 'inexact' }, order: 'not offered' })
  t.deepEqual(record.details, { filter: 'later: silent' })
  t.deepEqual(byOutcome(record), { 'not offered': ['order'], inexact: ['filter'], error: [], exact: ['read'] })
})

test('a change is seen at each size, and so is a new or a missing result', (t) => {
  const was = { operations: { read: 'exact', filter: { today: 'exact', later: 'error' } } }
  t.deepEqual(changes(was, structuredClone(was)), [])
  t.deepEqual(changes(was, { operations: { read: 'exact', filter: 'exact' } }), ['filter'])
  t.deepEqual(changes(was, { operations: { read: 'exact' } }), ['filter'])
  t.deepEqual(changes(undefined, { operations: { read: 'exact' } }), ['read'])
})
