// Parses the command line: Node's parseArgs splits it, and this file checks the parts against the command's options. An
// option that the layout does not have is an error, because an ignored node number would lead to equal IDs.

import { parseArgs } from 'node:util'
import { nearest } from '../../lib/base/nearest.ts'
import {
  type Layout as AnyLayout,
  Layout,
  type LayoutName,
  type LayoutOptions,
  type LayoutSpec,
  layouts,
} from '../../lib/entries/codec.ts'
import { type Command, type Given, optionsOf, type Values } from './command.ts'
import { readDate } from './dates.ts'
import { usageError } from './faults.ts'
import { nodeFields, OF_LAYOUT, type Option, type Options } from './options.ts'

type LayoutValues = Pick<Values, 'layout' | 'epoch' | 'nodes' | 'mode' | 'id-offset'>

/** An option in parseArgs' form. */
type OptionToken = { name: string; rawName: string; value: string | undefined; inlineValue: boolean | undefined }

const NUMBER = /^-(?=\d+n?$)/ // parseArgs would take −5 for an option
const MINUS = '\0' // no argument can hold it

const plain = (text: string) => text.replace(MINUS, '-')

/** Whether help is requested, before any `--`. */
export function wantsHelp(args: string[]) {
  const end = args.indexOf('--')
  return (end < 0 ? args : args.slice(0, end)).some((arg) => arg === '--help' || arg === '-h')
}

/** The arguments of a command, checked. */
export function readArguments(command: Command, args: string[]): Given {
  const layout = command.nodeFields ? findLayout(args, command.name) : undefined
  const options = optionsOf(command, layout)
  const values: Values = {}
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

/** Splits the arguments. Errors about them come from here, not from parseArgs. */
function tokensOf(args: string[], options: Options) {
  return parseArgs({
    options: Object.fromEntries(Object.entries(options).map(([name, option]) => [name, typeOf(option)])),
    strict: false,
    allowPositionals: true,
    tokens: true,
    args: args.map((arg) => arg.replace(NUMBER, MINUS)),
  }).tokens
}

/** An option in parseArgs' form. */
const typeOf = ({ value, short }: Option): { type: 'boolean' | 'string'; short?: string } => ({
  type: value === undefined ? 'boolean' : 'string',
  ...(short && { short }),
})

/**
 * The value of an option, true for a switch.
 * @param options all known options
 * @param command its name
 */
function checkOption({ name, rawName, value, inlineValue }: OptionToken, options: Options, command: string) {
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
 * @param rawName as typed
 * @param options all known options
 * @param command its name
 */
function unknownOption(rawName: string, options: Options, command: string) {
  const others = command === 'new' ? ['version'] : [] // which is no option of it, but stands in its place
  const meant = nearest(rawName.replace(/^-+/, ''), [...Object.keys(options), ...others])
  if (meant !== undefined) return usageError(`Unknown option '${rawName}'. Did you mean '${flag(meant)}'?`)
  const owners = Object.values(layouts)
    .filter((layout) => Object.hasOwn(nodeFields(layout), rawName.slice(2)))
    .map(({ name }) => name)
  if (owners.length > 0 && Object.hasOwn(options, 'layout')) {
    return usageError(`Unknown option '${rawName}' here. It is a node field of layout ${owners.join(', ')}.`)
  }
  return usageError(`Unknown option '${rawName}'. Run 'flakeforge ${command} --help' for a list.`)
}

const flag = (name: string) => (name.length === 1 ? `-${name}` : `--${name}`)

/** `--layout` and its choices; undefined if none of them is given. */
export function readLayout(values: LayoutValues): AnyLayout | undefined
/** The same, with a default layout. */
export function readLayout(values: LayoutValues, absent: string): AnyLayout
export function readLayout({ layout, epoch, nodes, mode, 'id-offset': idOffset }: LayoutValues, absent?: string) {
  const spec = layout ?? absent
  if (spec === undefined) {
    const [choice] =
      Object.entries({ epoch, nodes, mode, 'id-offset': idOffset }).find(([, value]) => value !== undefined) ?? []
    if (choice !== undefined) throw usageError(`--${choice} changes a layout, so name the layout with --layout.`)
    return undefined
  }
  const epochMs = epoch === undefined ? undefined : readDate(epoch, '--epoch').getTime()
  const choices = { epoch: epochMs, nodes, mode, idOffset: readIdOffset(idOffset) }
  return new Layout(readSpec(spec), choices as LayoutOptions) // which checks them
}

function readIdOffset(text: string | undefined) {
  if (text === undefined) return undefined
  if (!/^-?\d+$/.test(text)) throw usageError(`--id-offset must be an integer, not '${text}'.`)
  return BigInt(text)
}

/** A name, or the user's own fields as JSON, both unchecked. */
function readSpec(layout: string): LayoutName | LayoutSpec {
  if (!layout.trim().startsWith('{')) return layout as LayoutName
  try {
    return JSON.parse(layout)
  } catch (error) {
    throw usageError(`--layout is not valid JSON: ${(error as SyntaxError).message}.`)
  }
}

/**
 * The layout in the arguments, read before its node fields are known as options: without an idOffset.
 * @param command its name
 */
export function findLayout(args: string[], command: string) {
  const values: Values = {}
  for (const token of tokensOf(args, OF_LAYOUT)) {
    if (token.kind === 'option' && Object.hasOwn(OF_LAYOUT, token.name)) {
      values[token.name] = checkOption(token, OF_LAYOUT, command)
    }
  }
  return readLayout({ ...values, 'id-offset': undefined }, 'flake')
}
