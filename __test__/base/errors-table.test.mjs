// The table of errors, and the pages that are written from it.

import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import test from 'ava'

const require = createRequire(import.meta.url)
const { PAGES, withTables } = require('../../scripts/errors.js')
const { CODES, WARNINGS } = require('../../target/rooms/lib/base/errors/codes.js')

const root = path.join(import.meta.dirname, '..', '..')

for (const page of PAGES) {
  test(`${path.relative(root, page)} has the table's errors: \`node scripts/errors.js\` writes them`, (t) => {
    const text = readFileSync(page, 'utf8')
    t.is(text, withTables(page, text))
  })
}

/** The strings in code that begin with `start`, without comments. */
function namesIn(folder, start) {
  const files = readdirSync(path.join(root, folder), { recursive: true }).filter((name) => /(?<!\.d)\.ts$/.test(name))
  const own = files.filter((name) => !name.includes(`dist${path.sep}`) && !name.endsWith(`errors${path.sep}codes.ts`))
  const texts = own.map((name) => readFileSync(path.join(root, folder, name), 'utf8'))
  const found = texts.join('\n').matchAll(new RegExp(`'(${start}[A-Z_]+)'`, 'g'))
  return new Set(Array.from(found, ([, name]) => name))
}

test('every code in the sources has a row, and every row is used', (t) => {
  const used = new Set([...namesIn('lib', 'ERR_FLAKE_'), ...namesIn('packages/server/lib', 'ERR_FLAKE_')])
  t.deepEqual([...used].filter((code) => !(code in CODES)).sort(), [])
  t.deepEqual(
    Object.keys(CODES)
      .filter((code) => !used.has(code))
      .sort(),
    [],
  )
})

test('every warning in the table is emitted somewhere', (t) => {
  const used = namesIn('lib', 'FLAKEFORGE_')
  t.deepEqual(
    Object.keys(WARNINGS).filter((code) => !used.has(code)),
    [],
  )
})
