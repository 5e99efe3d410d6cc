// The candidates for the last word of a command line, for completion in shells: commands, options and their values, all from
// the commands' tables. It opens no store, and does not fail.

import { findLayout } from './arguments.ts'
import { type Command, type Commands, type Completes, optionsOf } from './command.ts'
import type { Option, Options } from './options.ts'

/** Words that tell the shell to complete files or folders itself; each is on a separate line. */
const [FILES, FOLDERS] = [':files', ':folders']

/** Beginnings of stores' URLs, for completion: the usual ones. The list of all belongs to the code that needs the addon. */
const PROTOCOLS = [
  'redis',
  'rediss',
  'redis-sentinel',
  'redis-cluster',
  'valkey',
  'valkeys',
  'postgres',
  'mysql',
  'mariadb',
  'etcd',
  'etcds',
]
const SCHEMES = PROTOCOLS.map((name) => `${name}://`)

/** Values by the word in `completes`. */
const PLACES = {
  file: () => [FILES],
  store: () => [FOLDERS, ...SCHEMES],
}

/**
 * @param words the words after `flakeforge`; the last one is being typed, and may be empty
 * @returns lines: a candidate, perhaps with a tab and its description; or FILES or FOLDERS
 */
export function candidates(words: string[], commands: Commands): string[] {
  const typed = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const all = before.length === 0 ? first(typed, commands) : more(before, typed, commands)
  return all.filter((line) => line.startsWith(':') || line.startsWith(typed))
}

/** The first word: a command, or an option of `new`, the default command. */
function first(typed: string, { NAMES, OTHERS, load }: Commands) {
  if (typed.startsWith('-'))
    return [...OTHERS.filter((name) => name.startsWith('-')), ...options(load('new'), [], typed)]
  return [...NAMES.map((name) => `${name}\t${load(name).summary}`), 'help\tprint the help of a command']
}

function more(before: string[], typed: string, commands: Commands) {
  if (before[0] === 'help') return before.length === 1 ? commands.NAMES : []
  const chosen = chosenCommand(before, commands)
  if (chosen === undefined) return []
  const { command, rest } = chosen
  const known = knownOptions(command, rest)
  const asked = optionOf(rest.at(-1), known)
  if (asked?.value !== undefined) return valuesOf(asked)
  if (typed.startsWith('-')) return options(command, rest, typed)
  return textsOf(command.completes?.[operandsIn(rest, known)])
}

/** Undefined if the words are not a command. */
function chosenCommand(before: string[], { choose }: Commands) {
  try {
    return choose(before)
  } catch {
    return undefined
  }
}

/** All options of a command, with the node fields of the typed layout; a misspelt layout has none. */
function knownOptions(command: Command, rest: string[]) {
  try {
    return optionsOf(command, command.nodeFields ? findLayout(rest, command.name) : undefined)
  } catch {
    return optionsOf(command)
  }
}

const nameOf = (word: string) => /^--?([^=]+)/.exec(word)?.[1]

/** The option in a word, if it is one without a value. */
const optionOf = (word: string | undefined = '', known: Options): Option | undefined =>
  word.includes('=') ? undefined : known[nameOf(word) ?? '']

/** Options that have not been typed yet; after `--name=`, the values of that one. */
function options(command: Command, rest: string[], typed: string) {
  const known = knownOptions(command, rest)
  const [flag] = /^--[^=]+=/.exec(typed) ?? []
  if (flag !== undefined) {
    return valuesOf(known[nameOf(flag) ?? '']).map((value) => (value.startsWith(':') ? value : flag + value))
  }
  const used = new Set(rest.map(nameOf))
  return Object.entries(known)
    .filter(([name]) => !used.has(name))
    .map(([name, { about }]) => `${name.length === 1 ? '-' : '--'}${name}\t${about}`)
}

/** The values of an option. */
const valuesOf = (option?: Option) => option?.among?.() ?? textsOf(option?.completes)

function textsOf(completes?: Completes) {
  if (typeof completes === 'function') return completes()
  return completes === undefined ? [] : PLACES[completes]()
}

/** How many words are operands: neither options nor their values. */
const operandsIn = (rest: string[], known: Options) =>
  rest.filter((word, i) => !word.startsWith('-') && optionOf(rest[i - 1], known)?.value === undefined).length
