'use strict'

// The commands by name. Each is a file of bin/commands/ that exports:
//
//   summary    what it does, in a line of the overview
//   operands   what it takes beside options, as its usage line shows it
//   about      what its help says
//   options    its options, out of parts/options.js; those of all commands come by themselves
//   nodeFields true if the node fields of the layout are options too
//   completes  what the operands can be: see parts/candidates.js
//   examples   [command line, what it does]
//   run        ({ values, operands, layout }) => Promise
//
// Help, completion and the reading of arguments all use this table, so nothing about a command is written twice.

const { nearest } = require('../../lib/base/nearest.js')
const { usageError } = require('./faults.js')

const NAMES = ['new', 'inspect', 'at', 'layouts', 'slots', 'create', 'destroy', 'schema', 'check-store', 'completion']

/** Words that are not commands but may come in place of one. */
const OTHERS = ['help', '--help', '--version']

/** The command with this name. */
function load(name) {
  if (!NAMES.includes(name)) throw unknown(name)
  return { name, ...require(`../commands/${name}.js`) }
}

function unknown(name) {
  const meant = nearest(name, [...NAMES, ...OTHERS])
  const wayOut = meant === undefined ? "Run 'flakeforge help' for a list." : `Did you mean '${meant}'?`
  return usageError(`Unknown command '${name}'. ${wayOut}`)
}

/** The command that is meant, and its arguments: without a name it is `new`. */
function choose(args) {
  const [first, ...rest] = args
  const isNew = first === undefined || /^(?:\d+$|-)/.test(first)
  return isNew ? { command: load('new'), rest: args } : { command: load(first), rest }
}

module.exports = { NAMES, OTHERS, choose, load }
