'use strict'

// `npm run codec:table` writes lib/codec/dialects.ts, the table of layouts that plain JavaScript uses, from the core's.
// __test__/codec/table.test.mjs fails where the two differ.

const { execFileSync } = require('node:child_process')
const { writeFileSync } = require('node:fs')
const path = require('node:path')
const { rows } = require('./rows.js')

const ROOT = path.join(__dirname, '..', '..')
const FILE = path.join(ROOT, 'lib', 'codec', 'dialects.ts')

const OPENING = `// The layouts that have a name, the default first: the rows of core/src/layout/dialects.rs, which cites where each is
// specified. \`npm run codec:table\` writes this file. What a row leaves out is: epoch 0 (Unix ms), ticks of 1 000 000 ns,
// hasNodes false, maxAheadMs and maxWaitMs 0. Instead of fields, a decimal layout has the name of its node field.

export interface Dialect {
  name: string
  epoch?: number
  tickNs?: number
  hasNodes?: boolean
  maxAheadMs?: number
  maxWaitMs?: number
  fields?: [name: string, bits: number][]
  host?: string
}

`

/** JSON has no Infinity. */
const text = JSON.stringify(rows(), (_, value) => (value === Infinity ? 'for ever' : value)).replaceAll(
  '"for ever"',
  'Number.POSITIVE_INFINITY',
)
writeFileSync(FILE, `${OPENING}export default ${text} as Dialect[]\n`)
execFileSync(process.execPath, [require.resolve('@biomejs/biome/bin/biome'), 'check', '--write', FILE], { cwd: ROOT })
