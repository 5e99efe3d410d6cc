'use strict'
// @ts-check

// Reads the command line, runs the checks and prints a line for each. The exit status is 1 if a check failed, and 2 if the
// command line is wrong and nothing was done. It must never use a group that was there before.

/** @import { Result } from './index.js' */

const { existsSync } = require('node:fs')
const { resolve } = require('node:path')
const { parseArgs, styleText } = require('node:util')
const { version } = require('../package.json')
const { checkStore } = require('./index.js')
const { monotonicNow } = require('./time.js')

const [DONE, FAILED, USAGE] = [0, 1, 2]
const WIDTH = 16

const HELP = `Usage: flakeforge-check-store FILE [--json]

Imports the module FILE in several processes and checks that its database can hold slots: that a swap is atomic, that texts
are compared byte by byte, that reads are fresh, that the clock and the identity are right, and more. One line for each
check, half a minute, exit status 1 if a check failed.

The default export of FILE is an async function that opens a client and returns { read, swap, names }, and perhaps groups
and close. FILE may also export wipe(), which makes the database lose everything: then the last check is whether that shows.

Use a database for tests. The command writes into groups of its own, whose names it prints first, and cannot delete them.

      --json     a JSON object for each check
  -h, --help     this help
      --version  the version of this command
`

const OPTIONS = /** @type {const} */ ({
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
})

/** @param {string} text */
const print = (text) => process.stdout.write(`${text}\n`)

/** @param {string} text */
const say = (text) => process.stderr.write(`flakeforge-check-store: ${text}\n`)

/** @param {string} text */
const inOneLine = (text) => text.replaceAll(/\s*\n\s*/g, ' ')

/**
 * A sentence of a finding, on the line of its check.
 * @param {string} label
 * @param {string} text
 */
const sentence = (label, text) => `${label}: ${inOneLine(text).replace(/\.$/, '')}.`

/** @type {typeof styleText} */
const paint = (colour, text) =>
  styleText !== undefined && process.stdout.isTTY && process.stdout.hasColors() ? styleText(colour, text) : text

/** @param {Result} result */
function toLine(result) {
  const name = result.check.padEnd(WIDTH)
  if (result.ok) return `${paint('green', 'ok')}      ${name}${inOneLine(result.text)}`
  const { seen, wanted, todo } = result
  const found = [sentence('Seen', seen), sentence('Wanted', wanted), sentence('To do', todo)]
  return `${paint('red', 'FAILED')}  ${name}${found.join(' ')}`
}

/** @param {string} prefix of the groups' names */
const leaves = (prefix) =>
  `This leaves about a thousand records of 1.2 MB behind, in groups whose names begin with '${prefix}'. Delete them by that name.`

/**
 * @param {string} path of the module
 * @param {boolean} json
 */
async function check(path, json) {
  const start = monotonicNow()
  const results = await checkStore(path, {
    begin: (prefix) => print(json ? JSON.stringify({ groups: prefix }) : leaves(prefix)),
    tell: (result) => print(json ? JSON.stringify(result) : toLine(result)),
  })
  const bad = results.filter(({ ok }) => !ok).map((result) => result.check)
  if (bad.length > 0) {
    say(`${bad.length} of ${results.length} checks failed: ${bad.join(', ')}.`)
    return FAILED
  }
  if (!json) print(`All ${results.length} checks passed in ${Math.ceil((monotonicNow() - start) / 1000)} s.`)
  return DONE
}

/** @param {string[]} args */
function read(args) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true })
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    say(`${message.split('. ')[0]}. 'flakeforge-check-store --help' lists the options.`)
    return undefined
  }
}

/**
 * Gives the exit status.
 * @param {string[]} args
 */
async function main(args) {
  const given = read(args)
  if (given === undefined) return USAGE
  const { values, positionals } = given
  if (values.help) process.stdout.write(HELP)
  if (values.version) print(version)
  if (values.help || values.version) return DONE
  const [file, ...more] = positionals
  if (file === undefined || more.length > 0) {
    say('it takes the path of one module: ./my-store.mjs')
    return USAGE
  }
  if (existsSync(file)) return check(resolve(file), values.json === true)
  say(`There is no file ${resolve(file)}.`)
  return FAILED
}

module.exports = { main }
