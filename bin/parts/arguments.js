'use strict'
// @ts-check

// The command line as values: Node's parseArgs splits it, and this file checks the parts against the table of the
// command's options. It must never guess: an option that the layout does not have is an error, because an ignored node
// number would lead to equal IDs.

const { parseArgs } = require('node:util')
/** @import { Layout as AnyLayout, LayoutName, LayoutOptions, LayoutSpec } from '../../index.d.ts' */
/** @import { Command, Given, Values } from './command.js' */
/** @import { Option, Options } from './options.js' */

/** @typedef {Pick<Values, 'layout' | 'epoch' | 'nodes' | 'mode' | 'id-offset'>} LayoutValues */

/**
 * An option as parseArgs gives it.
 * @typedef {{ name: string, rawName: string, value: string | undefined, inlineValue: boolean | undefined }} OptionToken
 */

const { Layout, layouts } = require('../../index.js')
const { nearest } = require('../../lib/base/nearest.js')
const { readDate } = require('./dates.js')
const { usageError } = require('./faults.js')
const { optionsOf } = require('./command.js')
const { OF_LAYOUT, nodeFields } = require('./options.js')

const NUMBER = /^-(?=\d+n?$)/ // parseArgs would take −5 for an option
const MINUS = '\0' // no argument can hold it

/** @param {string} text */
const plain = (text) => text.replace(MINUS, '-')

/**
 * Whether help is asked for, before any `--`.
 * @param {string[]} args
 */
function wantsHelp(args) {
  const end = args.indexOf('--')
  return (end < 0 ? args : args.slice(0, end)).some((arg) => arg === '--help' || arg === '-h')
}

/**
 * What a command runs with.
 * @param {Command} command
 * @param {string[]} args
 * @returns {Given}
 */
function readArguments(command, args) {
  const layout = command.nodeFields ? findLayout(args, command.name) : undefined
  const options = optionsOf(command, layout)
  /** @type {Values} */
  const values = {}
  const operands = []
  for (const token of tokensOf(args, options)) {
    if (token.kind === 'positional') operands.push(plain(token.value))
    if (token.kind !== 'option') continue
    const value = checkOption(token, options, command.name)
    // One of two values would be ignored, and the user may rely on it.
    if (Object.hasOwn(values, token.name) && value !== true)
      throw usageError(`${token.rawName} is given twice. Give it once.`)
    values[token.name] = value
  }
  return { values, operands }
}

/**
 * Splits the arguments. The errors about them come from here, not from parseArgs.
 * @param {string[]} args
 * @param {Options} options
 */
function tokensOf(args, options) {
  return parseArgs({
    options: Object.fromEntries(Object.entries(options).map(([name, option]) => [name, typeOf(option)])),
    strict: false,
    allowPositionals: true,
    tokens: true,
    args: args.map((arg) => arg.replace(NUMBER, MINUS)),
  }).tokens
}

/**
 * An option as parseArgs takes it.
 * @param {Option} option
 * @returns {{ type: 'boolean' | 'string', short?: string }}
 */
const typeOf = ({ value, short }) => ({ type: value === undefined ? 'boolean' : 'string', ...(short && { short }) })

/**
 * The value of an option, true for a switch.
 * @param {OptionToken} token
 * @param {Options} options all that there are
 * @param {string} command its name
 */
function checkOption({ name, rawName, value, inlineValue }, options, command) {
  const option = Object.hasOwn(options, name) ? options[name] : undefined
  if (option === undefined) throw unknownOption(rawName, options, command)
  if (option.value === undefined) {
    if (value !== undefined) throw usageError(`${rawName} takes no value, so leave out '${plain(value)}'.`)
    return true
  }
  if (value === undefined || (!inlineValue && value.startsWith('-')))
    throw usageError(`${rawName} needs a value, as in '${rawName} ${option.value}'.`)
  return plain(value)
}

/**
 * @param {string} rawName as it was typed
 * @param {Options} options all that there are
 * @param {string} command its name
 */
function unknownOption(rawName, options, command) {
  const meant = nearest(rawName.replace(/^-+/, ''), Object.keys(options))
  if (meant !== undefined) return usageError(`Unknown option '${rawName}'. Did you mean '${flag(meant)}'?`)
  const owners = Object.values(layouts)
    .filter((layout) => Object.hasOwn(nodeFields(layout), rawName.slice(2)))
    .map(({ name }) => name)
  if (owners.length > 0 && Object.hasOwn(options, 'layout')) {
    return usageError(`Unknown option '${rawName}' here. It is a node field of layout ${owners.join(', ')}.`)
  }
  return usageError(`Unknown option '${rawName}'. Run 'flakeforge ${command} --help' for a list.`)
}

/** @param {string} name */
const flag = (name) => (name.length === 1 ? `-${name}` : `--${name}`)

/**
 * `--layout` and its choices; undefined if none of them is given.
 * @overload
 * @param {LayoutValues} values
 * @returns {AnyLayout | undefined}
 */
/**
 * The same, with a layout to take where none is named.
 * @overload
 * @param {LayoutValues} values
 * @param {string} absent
 * @returns {AnyLayout}
 */
/**
 * @param {LayoutValues} values
 * @param {string} [absent]
 */
function readLayout({ layout, epoch, nodes, mode, 'id-offset': idOffset }, absent) {
  const spec = layout ?? absent
  if (spec === undefined) {
    const [choice] =
      Object.entries({ epoch, nodes, mode, 'id-offset': idOffset }).find(([, value]) => value !== undefined) ?? []
    if (choice !== undefined) throw usageError(`--${choice} changes a layout, so say which one with --layout.`)
    return undefined
  }
  const epochMs = epoch === undefined ? undefined : readDate(epoch, '--epoch').getTime()
  const choices = { epoch: epochMs, nodes, mode, idOffset: readIdOffset(idOffset) }
  return new Layout(readSpec(spec), /** @type {LayoutOptions} */ (choices)) // which checks them
}

/** @param {string | undefined} text */
function readIdOffset(text) {
  if (text === undefined) return undefined
  if (!/^-?\d+$/.test(text)) throw usageError(`--id-offset must be an integer, not '${text}'.`)
  return BigInt(text)
}

/**
 * A name, or the user's own fields as JSON, neither of them checked.
 * @param {string} layout
 * @returns {LayoutName | LayoutSpec}
 */
function readSpec(layout) {
  if (!layout.trim().startsWith('{')) return /** @type {LayoutName} */ (layout)
  try {
    return JSON.parse(layout)
  } catch (error) {
    throw usageError(`--layout is not valid JSON: ${/** @type {SyntaxError} */ (error).message}.`)
  }
}

/**
 * The layout that the arguments name, read before its node fields are known as options: without an idOffset.
 * @param {string[]} args
 * @param {string} command its name
 */
function findLayout(args, command) {
  /** @type {Values} */
  const values = {}
  for (const token of tokensOf(args, OF_LAYOUT)) {
    if (token.kind === 'option' && Object.hasOwn(OF_LAYOUT, token.name)) {
      values[token.name] = checkOption(token, OF_LAYOUT, command)
    }
  }
  return readLayout({ ...values, 'id-offset': undefined }, 'flake')
}

module.exports = { findLayout, readArguments, readLayout, wantsHelp }
