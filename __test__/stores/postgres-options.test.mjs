// The page's table of client options contains every option that the installed pg and postgres.js read. A new version of
// a package may add one that changes where or how a store reads and writes.

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import test from 'ava'
import postgres from 'postgres'

const require = createRequire(import.meta.url)
const PAGE = new URL('../../docs/store/postgresql.md', import.meta.url)

/** The options in the first column of the table. */
async function known() {
  const page = await readFile(PAGE, 'utf8')
  const [, table] = /Options of your own client[^|]*((?:\|.*\n)+)/.exec(page)
  const firsts = table.split('\n').map((line) => line.split('|')[1] ?? '')
  return new Set(firsts.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name)))
}

/** The names that a file of a package reads from its options. */
async function readBy(file, pattern) {
  const text = await readFile(require.resolve(file), 'utf8')
  return [...text.matchAll(pattern)].map(([, ...names]) => names.find(Boolean))
}

const missing = async (names) => {
  const table = await known()
  return [...new Set(names)].filter((name) => !table.has(name))
}

test('pg: every default, and everything that Pool and Client read', async (t) => {
  const read = await Promise.all([
    readBy('pg-pool', /\boptions\.(\w+)/g),
    readBy('pg/lib/client', /\b(?:c|config)\.(\w+)/g),
    readBy('pg/lib/connection', /\bconfig\.(\w+)/g),
    readBy('pg/lib/connection-parameters', /\bconfig\.(\w+)|val\('(\w+)'/g),
  ])
  const names = [...Object.keys(require('pg').defaults), ...read.flat()]
  t.true(names.length > 60)
  t.deepEqual(await missing(names), [])
})

test('postgres.js: every option that it parses, and those of its types', async (t) => {
  const sql = postgres('postgres://localhost/none', { onnotice: () => {} })
  t.teardown(() => sql.end())
  const source = require.resolve('postgres')
  const types = await readFile(join(dirname(source), '..', '..', 'types', 'index.d.ts'), 'utf8')
  const [options] = /interface BaseOptions[\s\S]*?\n}/.exec(types)
  const typed = [...options.matchAll(/^ {2}(\w+)\??: /gm)].map(([, name]) => name)
  const names = [...Object.keys(sql.options), ...typed, ...(await readBy(source, /\bo\.(\w+)/g))]
  t.true(names.length > 60)
  t.deepEqual(await missing(names), [])
})
