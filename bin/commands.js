'use strict'
// @ts-check

// The commands by name: each is a file of commands/ (parts/command.js says what one exports). Help, completion and the
// reading of arguments all use this table, so nothing about a command is written twice.

/** @import { Chosen, Command } from './parts/command.js' */

const { nearest } = require('../lib/base/nearest.js')
const { usageError } = require('./parts/faults.js')

const NAMES = ['new', 'inspect', 'at', 'layouts', 'slots', 'create', 'destroy', 'restored', 'schema', 'completion']

/** Words that are not commands but may come in place of one. */
const OTHERS = ['help', '--help', '--version']

/**
 * The command with this name.
 * @param {string} name
 * @returns {Command}
 */
function load(name) {
  if (!NAMES.includes(name)) throw unknown(name)
  return { name, ...require(`./commands/${name}.js`) }
}

/** @param {string} name */
function unknown(name) {
  const meant = nearest(name, [...NAMES, ...OTHERS])
  const wayOut = meant === undefined ? "Run 'flakeforge help' for a list." : `Did you mean '${meant}'?`
  return usageError(`Unknown command '${name}'. ${wayOut}`)
}

/**
 * The command that is meant, and its arguments: without a name it is `new`.
 * @param {string[]} args
 * @returns {Chosen}
 */
function choose(args) {
  const [first, ...rest] = args
  if (first === undefined || /^(?:\d+$|-)/.test(first)) return { command: load('new'), rest: args }
  return { command: load(first), rest }
}

module.exports = { NAMES, OTHERS, choose, load }
