'use strict'

// The command line as values: Node's parseArgs splits it, and this file checks the parts against the table of the
// command's options. It must never guess: an option that the layout does not have is an error, because an ignored node
// number would lead to equal IDs.

const { parseArgs } = require('node:util')
const { Layout, layouts } = require('../../index.js')
const { nearest } = require('../../lib/base/nearest.js')
const { readDate } = require('./dates.js')
const { usageError } = require('./faults.js')
const { COMMON, OF_LAYOUT, nodeFields } = require('./options.js')

const NUMBER = /^-(?=\d+n?$)/ // parseArgs would take −5 for an option
const MINUS = '\0' // no argument can hold it

const plain = (text) => text?.replace(MINUS, '-')

/** Whether help is asked for, before any `--`. */
function wantsHelp(args) {
  const end = args.indexOf('--')
  return (end < 0 ? args : args.slice(0, end)).some((arg) => arg === '--help' || arg === '-h')
}

/**
 * What a command runs with.
 * @returns {{ values: object, operands: string[], layout: Layout | undefined }} `layout`: of a command with node fields
 */
function readArguments(command, args) {
  const layout = command.nodeFields ? findLayout(args) : undefined
  const options = optionsOf(command, layout)
  const values = {}
  const operands = []
  for (const token of tokensOf(args, options)) {
    if (token.kind === 'positional') operands.push(plain(token.value))
    if (token.kind !== 'option') continue
    const value = checkOption(token, options, command)
    // One of two values would be ignored, and the user may rely on it.
    if (Object.hasOwn(values, token.name) && value !== true)
      throw usageError(`${token.rawName} is given twice. Give it once.`)
    values[token.name] = value
  }
  return { values, operands, layout: layout && readLayout(values, 'flake'), options }
}

/** All options that a command has with this layout. */
const optionsOf = (command, layout) => ({
  ...command.options,
  ...(layout && nodeFields(layout)),
  ...COMMON,
})

/** Splits the arguments. The errors about them come from here, not from parseArgs. */
function tokensOf(args, options) {
  const types = Object.entries(options).map(([name, { value, short }]) => [
    name,
    { type: value === undefined ? 'boolean' : 'string', ...(short && { short }) },
  ])
  const config = { options: Object.fromEntries(types), strict: false, allowPositionals: true, tokens: true }
  return parseArgs({ ...config, args: args.map((arg) => arg.replace(NUMBER, MINUS)) }).tokens
}

/** The value of an option, true for a switch. */
function checkOption({ name, rawName, value, inlineValue }, options, command) {
  const option = Object.hasOwn(options, name) ? options[name] : undefined
  if (option === undefined) throw unknownOption(rawName, options, command)
  if (option.value === undefined) {
    if (value !== undefined) throw usageError(`${rawName} takes no value, so leave out '${plain(value)}'.`)
    return true
  }
  const isMissing = value === undefined || (!inlineValue && value.startsWith('-'))
  if (isMissing) throw usageError(`${rawName} needs a value, as in '${rawName} ${option.value}'.`)
  return plain(value)
}

function unknownOption(rawName, options, { name: command }) {
  const meant = nearest(rawName.replace(/^-+/, ''), Object.keys(options))
  if (meant !== undefined) return usageError(`Unknown option '${rawName}'. Did you mean '${flag(meant)}'?`)
  const owners = Object.keys(layouts).filter((name) => Object.hasOwn(nodeFields(layouts[name]), rawName.slice(2)))
  if (owners.length > 0 && Object.hasOwn(options, 'layout')) {
    return usageError(`Unknown option '${rawName}' here. It is a node field of layout ${owners.join(', ')}.`)
  }
  return usageError(`Unknown option '${rawName}'. Run 'flakeforge ${command} --help' for a list.`)
}

const flag = (name) => (name.length === 1 ? `-${name}` : `--${name}`)

/** `--layout` and its choices; undefined if none of them is given. */
function readLayout({ layout, epoch, nodes, mode, 'id-offset': idOffset }, absent) {
  if (layout === undefined && absent === undefined) {
    const [choice] =
      Object.entries({ epoch, nodes, mode, 'id-offset': idOffset }).find(([, value]) => value !== undefined) ?? []
    if (choice !== undefined) throw usageError(`--${choice} changes a layout, so say which one with --layout.`)
    return undefined
  }
  const epochMs = epoch === undefined ? undefined : readDate(epoch, '--epoch').getTime()
  return new Layout(readSpec(layout ?? absent), { epoch: epochMs, nodes, mode, idOffset: readIdOffset(idOffset) })
}

function readIdOffset(text) {
  if (text === undefined) return undefined
  if (!/^-?\d+$/.test(text)) throw usageError(`--id-offset must be an integer, not '${text}'.`)
  return BigInt(text)
}

/** A name, or the user's own fields as JSON. */
function readSpec(layout) {
  if (!layout.trim().startsWith('{')) return layout
  try {
    return JSON.parse(layout)
  } catch (error) {
    throw usageError(`--layout is not valid JSON: ${error.message}.`)
  }
}

/** The layout that the arguments name, read before its node fields are known as options: without an idOffset. */
function findLayout(args) {
  const values = {}
  for (const token of tokensOf(args, OF_LAYOUT)) {
    if (token.kind === 'option' && Object.hasOwn(OF_LAYOUT, token.name)) {
      values[token.name] = checkOption(token, OF_LAYOUT)
    }
  }
  return readLayout({ ...values, 'id-offset': undefined }, 'flake')
}

module.exports = { findLayout, flag, optionsOf, readArguments, readLayout, wantsHelp }
