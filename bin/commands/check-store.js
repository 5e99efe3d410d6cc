'use strict'
// @ts-check

// `flakeforge check-store`: looks whether a user's own database does what a store must do. It must never use a group that
// was there before.

/** @import { CommandFile, Given } from '../parts/command.js' */
/** @import { Result } from '../parts/check-store/index.js' */

const { existsSync } = require('node:fs')
const { resolve } = require('node:path')
const { monotonicNow } = require('../../lib/base/timers.js')
const { failure, usageError } = require('../parts/faults.js')
const { paint, print } = require('../parts/output.js')

const WIDTH = 16

/**
 * A sentence of a finding, on the line of its check.
 * @param {string} label
 * @param {string} text
 */
const sentence = (label, text) => `${label}: ${text.replaceAll(/\s*\n\s*/g, ' ').replace(/\.$/, '')}.`

/** @param {Result} result */
function toLine(result) {
  const name = result.check.padEnd(WIDTH)
  if (result.ok) return `${paint('green', 'ok')}      ${name}${result.text.replaceAll(/\s*\n\s*/g, ' ')}`
  const { seen, wanted, todo } = result
  const found = [sentence('Seen', seen), sentence('Wanted', wanted), sentence('To do', todo)]
  return `${paint('red', 'FAILED')}  ${name}${found.join(' ')}`
}

/** @param {string} prefix of the groups' names */
const leaves = (prefix) =>
  `This leaves a few hundred small records behind, in groups whose names begin with '${prefix}'. Delete them by that name.`

/** @param {Given} given */
async function run({ values, operands }) {
  const [file, ...more] = operands
  if (file === undefined || more.length > 0)
    throw usageError('check-store takes the path of one module: ./my-store.mjs')
  const path = resolve(file)
  if (!existsSync(path)) throw failure(`There is no file ${path}.`)
  const { checkStore } = require('../parts/check-store/index.js') // here, because nothing else may load it
  const start = monotonicNow()
  const results = await checkStore(path, {
    begin: (prefix) => print(`${values.json ? JSON.stringify({ groups: prefix }) : leaves(prefix)}\n`),
    tell: (result) => print(`${values.json ? JSON.stringify(result) : toLine(result)}\n`),
  })
  const bad = results.filter(({ ok }) => !ok).map(({ check }) => check)
  if (bad.length > 0) throw failure(`${bad.length} of ${results.length} checks failed: ${bad.join(', ')}.`)
  if (!values.json)
    await print(`All ${results.length} checks passed in ${Math.ceil((monotonicNow() - start) / 1000)} s.\n`)
}

/** @type {CommandFile} */
module.exports = {
  summary: 'check whether your own database does what a store must do',
  operands: 'FILE',
  about: `Imports the module FILE in several processes and checks that its database can hold slots: that a swap is atomic, that
texts are compared byte by byte, that reads are fresh, that the clock and the identity are right, and more. One line for each
check, a minute at most, exit status 1 if a check failed.

The default export of FILE is an async function that opens a client and returns { read, swap, names }, and perhaps groups and
close. FILE may also export wipe(), which makes the database lose everything: then the command looks whether that shows. It is
the last check.

Use a database for tests. The command writes into groups of its own, whose names it prints first, and cannot delete them.`,
  options: {},
  completes: ['file'],
  examples: [
    ['flakeforge check-store ./my-store.mjs', 'a line for each check'],
    ['flakeforge check-store ./my-store.mjs --json', 'a JSON object for each check'],
  ],
  run,
}
