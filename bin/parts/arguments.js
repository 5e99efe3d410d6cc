'use strict'

// The command line as values: options are read by Node's parseArgs, layouts are made of them. Nothing is guessed: an
// option that the layout does not have is an error, because a node number that went unnoticed is somebody else's.

const { parseArgs } = require('node:util')
const { Layout } = require('../../index.js')
const { readDate } = require('./dates.js')

const text = { type: 'string' }
const LAYOUT = { layout: text, epoch: text, nodes: text, mode: text, 'id-offset': text }
const COMMON = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } }
const NUMBER = /^-(?=\d+n?$)/ // parseArgs would take −5 for an option
const MINUS = '\0' // what no argument can hold

/** A fault of the caller's: one sentence, exit status 2. */
const usageError = (message) => Object.assign(new Error(message), { isUsage: true })

/** Options and positionals, strictly; `own` are the command's options. */
const readArguments = (args, own = {}) => parse(args, { ...COMMON, ...own }, true)

/** As parseArgs does, but for numbers below 0. */
function parse(args, options, strict) {
  const config = { args: args.map((arg) => arg.replace(NUMBER, MINUS)), options, strict, allowPositionals: true }
  const { values, positionals } = parseArgs(config)
  const plain = (arg) => (typeof arg === 'string' ? arg.replace(MINUS, '-') : arg)
  return {
    values: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, plain(value)])),
    positionals: positionals.map(plain),
  }
}

/** `--layout` and the choices it has; undefined when none of them is there. */
function readLayout({ layout, epoch, nodes, mode, 'id-offset': idOffset }, absent) {
  if (layout === undefined && absent === undefined) {
    const [choice] =
      Object.entries({ epoch, nodes, mode, 'id-offset': idOffset }).find(([, value]) => value !== undefined) ?? []
    if (choice !== undefined) throw usageError(`--${choice} is a choice of a layout: say which, with --layout`)
    return undefined
  }
  const epochMs = epoch === undefined ? undefined : readDate(epoch, '--epoch').getTime()
  return new Layout(readSpec(layout ?? absent), { epoch: epochMs, nodes, mode, idOffset: readIdOffset(idOffset) })
}

function readIdOffset(text) {
  if (text === undefined) return undefined
  if (!/^-?\d+$/.test(text)) throw usageError(`--id-offset must be an integer, not '${text}'`)
  return BigInt(text)
}

/** A name, or fields of one's own as JSON. */
function readSpec(layout) {
  if (!layout.trim().startsWith('{')) return layout
  try {
    return JSON.parse(layout)
  } catch (error) {
    throw usageError(`--layout is not JSON: ${error.message}`)
  }
}

/** The layout that the arguments name, before its node fields are known as options: without an offset of its IDs. */
function findLayout(args, absent) {
  const { values } = parse(args, LAYOUT, false)
  for (const name of Object.keys(LAYOUT)) {
    if (values[name] === true) throw usageError(`--${name} needs a value`)
  }
  return readLayout({ ...values, 'id-offset': undefined }, absent)
}

/** The node fields of a layout are what is in a decoded ID beside these. */
const NO_NODES = ['timestamp', 'date', 'tick', 'counter', 'id', 'mode']

const nodeFields = (layout) =>
  Object.keys(layout.decode(layout.encode({ tick: 0n }))).filter((name) => !NO_NODES.includes(name))

module.exports = { LAYOUT, usageError, readArguments, readLayout, findLayout, nodeFields }
