'use strict'

// `npm run codec:table` writes lib/codec/dialects.ts, the table of layouts that plain JavaScript uses, from the core's, and
// keeps the latter in __test__/vectors/dialects.jsonl. Tests of both sides fail if one of the three differs.

const { execFileSync } = require('node:child_process')
const { readFileSync, writeFileSync } = require('node:fs')
const path = require('node:path')
const { rows } = require('./rows.js')

const ROOT = path.join(__dirname, '..', '..')
const TABLE = path.join(ROOT, '__test__', 'vectors', 'dialects.jsonl')
const EXAMPLE = ['run', '--quiet', '--locked', '--package', 'flakeforge-core', '--example', 'dialects']
const FILE = path.join(ROOT, 'lib', 'codec', 'dialects.ts')

writeFileSync(TABLE, execFileSync('cargo', EXAMPLE, { cwd: ROOT }))

/** What the file says before its rows stays. */
const [opening] = readFileSync(FILE, 'utf8').split('export default')

/** JSON has no Infinity. */
const text = JSON.stringify(rows(), (_, value) => (value === Infinity ? 'forever' : value)).replaceAll(
  '"forever"',
  'Number.POSITIVE_INFINITY',
)
writeFileSync(FILE, `${opening}export default ${text} as Dialect[]\n`)
execFileSync(process.execPath, [require.resolve('@biomejs/biome/bin/biome'), 'check', '--write', FILE], { cwd: ROOT })
