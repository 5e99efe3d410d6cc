'use strict'

// The candidates for the last word of a command line, for completion in shells: commands, options and their values, all
// from the tables that the commands use. It must never open a store, and never fail.

const { findLayout, optionsOf } = require('./arguments.js')
const { NAMES, OTHERS, choose, load } = require('./commands.js')
const { SCHEMES } = require('./stores.js')

/** Words that tell the shell to complete these itself; each is a line of its own. */
const [FILES, FOLDERS] = [':files', ':folders']

/** Values by the word in `completes`. */
const PLACES = {
  file: () => [FILES],
  store: () => [FOLDERS, ...SCHEMES],
  command: () => NAMES,
}

/**
 * @param {string[]} words the words after `flakeforge`; the last one is being typed, and may be empty
 * @returns {string[]} lines: a candidate, perhaps with a tab and what it is; or FILES or FOLDERS
 */
function candidates(words) {
  const typed = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const all = before.length === 0 ? first(typed) : more(before, typed)
  return all.filter((line) => line.startsWith(':') || line.startsWith(typed))
}

/** The first word: a command, or an option of `new`, which runs if no command is named. */
function first(typed) {
  if (typed.startsWith('-'))
    return [...OTHERS.filter((name) => name.startsWith('-')), ...options(load('new'), [], typed)]
  return [...NAMES.map((name) => `${name}\t${load(name).summary}`), 'help\tprint what a command does']
}

function more(before, typed) {
  if (before[0] === 'help') return before.length === 1 ? NAMES : []
  const chosen = chosenCommand(before)
  if (chosen === undefined) return []
  const { command, rest } = chosen
  const known = knownOptions(command, rest)
  const asked = optionOf(rest.at(-1), known)
  if (asked?.value !== undefined) return valuesOf(asked)
  if (typed.startsWith('-')) return options(command, rest, typed)
  const place = operandsIn(rest, known)
  return valuesOf({ completes: command.completes?.[place] })
}

/** Undefined if the words are not a command. */
function chosenCommand(before) {
  try {
    return choose(before)
  } catch {
    return undefined
  }
}

/** All options of a command, with the node fields of the layout that has been typed; a misspelt layout has none. */
function knownOptions(command, rest) {
  try {
    return optionsOf(command, command.nodeFields ? findLayout(rest) : undefined)
  } catch {
    return optionsOf(command)
  }
}

const nameOf = (word) => /^--?([^=]+)/.exec(word ?? '')?.[1]
const optionOf = (word, known) => (word?.includes('=') ? undefined : known[nameOf(word)])

/** Options that have not been typed yet; after `--name=`, the values of that one. */
function options(command, rest, typed) {
  const known = knownOptions(command, rest)
  const [flag] = /^--[^=]+=/.exec(typed) ?? []
  if (flag !== undefined) {
    return valuesOf(known[nameOf(flag)] ?? {}).map((value) => (value.startsWith(':') ? value : flag + value))
  }
  const used = new Set(rest.map(nameOf))
  return Object.entries(known)
    .filter(([name]) => !used.has(name))
    .map(([name, { about }]) => `${name.length === 1 ? '-' : '--'}${name}\t${about}`)
}

function valuesOf({ among, completes }) {
  if (typeof completes === 'function') return completes()
  return among?.() ?? PLACES[completes]?.() ?? []
}

/** How many words are operands: neither options nor their values. */
const operandsIn = (rest, known) =>
  rest.filter((word, i) => !word.startsWith('-') && optionOf(rest[i - 1], known)?.value === undefined).length

module.exports = { candidates }
