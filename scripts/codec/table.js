'use strict'

// `npm run codec:table` writes lib/codec/dialects.ts, the table of layouts that plain JavaScript uses, and their types in
// lib/codec/node-fields.ts, from the core's table, which it keeps in __test__/vectors/dialects.jsonl. Tests of both sides fail
// if one of them differs.

const { execFileSync } = require('node:child_process')
const { readFileSync, writeFileSync } = require('node:fs')
const path = require('node:path')
const { printed, rows } = require('./rows.js')
const { declarations } = require('./types.js')

const ROOT = path.join(__dirname, '..', '..')
const TABLE = path.join(ROOT, '__test__', 'vectors', 'dialects.jsonl')
const EXAMPLE = ['run', '--quiet', '--locked', '--package', 'flakeforge-core', '--example', 'dialects']
const [FILE, TYPES] = ['dialects.ts', 'node-fields.ts'].map((name) => path.join(ROOT, 'lib', 'codec', name))

writeFileSync(TABLE, execFileSync('cargo', EXAMPLE, { cwd: ROOT }))

/** What the file says before its rows stays. */
const [opening] = readFileSync(FILE, 'utf8').split('export default')

/** JSON has no Infinity. */
const text = JSON.stringify(rows(), (_, value) => (value === Infinity ? 'forever' : value)).replaceAll(
  '"forever"',
  'Number.POSITIVE_INFINITY',
)
writeFileSync(FILE, `${opening}export default ${text} as Dialect[]\n`)

const MARKS = /(\/\/ written by `npm run codec:table`\n)[\s\S]*(\/\/ the end of what it writes\n)/
const types = readFileSync(TYPES, 'utf8')
if (!MARKS.test(types)) throw new Error(`${TYPES} has no marks for the types of dialects`)
writeFileSync(
  TYPES,
  types.replace(MARKS, (_, start, end) => `${start}${declarations(printed())}\n${end}`),
)

const BIOME = [require.resolve('@biomejs/biome/bin/biome'), 'check', '--write', FILE, TYPES]
execFileSync(process.execPath, BIOME, { cwd: ROOT })
