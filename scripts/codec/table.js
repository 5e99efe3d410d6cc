'use strict'

// `npm run codec:table` writes lib/codec/dialects.js, the table of layouts that plain JavaScript uses, from the core's.
// __test__/codec/table.test.mjs fails where the two differ.

const { execFileSync } = require('node:child_process')
const { writeFileSync } = require('node:fs')
const path = require('node:path')
const { rows } = require('./rows.js')

const ROOT = path.join(__dirname, '..', '..')
const FILE = path.join(ROOT, 'lib', 'codec', 'dialects.js')

const OPENING = `'use strict'
// @ts-check

// The layouts that have a name, the default first: the rows of core/src/layout/dialects.rs, which cites where each is
// specified. \`npm run codec:table\` writes this file. What a row leaves out is: epoch 0 (Unix ms), ticks of 1 000 000 ns,
// hasNodes false, maxAheadMs and maxWaitMs 0. Instead of fields, a decimal layout has the name of its node field.

/**
 * @typedef {object} Dialect
 * @property {string} name
 * @property {number} [epoch]
 * @property {number} [tickNs]
 * @property {boolean} [hasNodes]
 * @property {number} [maxAheadMs]
 * @property {number} [maxWaitMs]
 * @property {[name: string, bits: number][]} [fields]
 * @property {string} [host]
 */

/** @type {Dialect[]} */
`

/** JSON has no Infinity. */
const text = JSON.stringify(rows(), (_, value) => (value === Infinity ? 'for ever' : value)).replaceAll(
  '"for ever"',
  'Number.POSITIVE_INFINITY',
)
writeFileSync(FILE, `${OPENING}module.exports = ${text}\n`)
execFileSync(process.execPath, [require.resolve('@biomejs/biome/bin/biome'), 'check', '--write', FILE], { cwd: ROOT })
