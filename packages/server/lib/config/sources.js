'use strict'
// @ts-check

// Where options come from: the command line, the environment, and the JSON file that one of these names. The first of
// them that has an option counts. A word that nobody knows is an error everywhere: a misspelt token file must not mean a
// server without tokens.

const { readFileSync } = require('node:fs')
const { parseArgs } = require('node:util')
const { layouts } = require('flakeforge')
const { ConfigError, unknown } = require('./config-error.js')
const { OPTIONS, keyOf, variableOf } = require('./options.js')
const { readValue, show } = require('./values.js')

const NAMES = Object.keys(OPTIONS)
const PREFIX = 'FLAKEFORGE_'

/**
 * Kubernetes and Docker set such variables in every container beside a service that is called flakeforge, flakeforge-server
 * or the like, and such values of others. They are not for us.
 */
const OF_SERVICE = /_(?:SERVICE_HOST|SERVICE_PORT(?:_.+)?|PORT_\d+_.+)$/
const OF_LINK = /^(?:tcp|udp|sctp):\/\//

/** What new FlakeId() reads, for programs that have their environment in common with the server: node numbers. */
const OF_GENERATORS = new Set([
  'FLAKEFORGE_ID',
  ...Object.values(layouts)
    .flatMap(({ fields }) => fields)
    .map(([field]) => `${PREFIX}${field.toUpperCase()}`),
])

/** @typedef {Record<string, any>} Values */

/**
 * The command line. `help` and `version` are switches.
 * @param {string[]} args
 * @returns {Values}
 */
function ofArguments(args) {
  const switches = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean', short: 'v' } }
  const options = Object.fromEntries(NAMES.map((name) => [name, { type: 'string', multiple: true }]))
  const { tokens } = parseArgs({
    args,
    options: /** @type {any} */ ({ ...options, ...switches }),
    strict: false,
    tokens: true,
    allowPositionals: true,
  })
  /** @type {Values} */
  const values = {}
  for (const token of /** @type {any[]} */ (tokens)) takeToken(token, values, Object.keys(switches))
  return values
}

/**
 * @param {{ kind: string, name: string, rawName: string, value?: string, inlineValue?: boolean }} token
 * @param {Values} values
 * @param {string[]} switches
 */
function takeToken({ kind, name, rawName, value, inlineValue }, values, switches) {
  if (kind === 'option-terminator') return
  if (kind === 'positional')
    throw new ConfigError(`flakeforge-server takes options only, not ${show(value)}. --help lists them.`)
  if (switches.includes(name)) {
    if (value !== undefined) throw new ConfigError(`${rawName} takes no value.`)
    values[name] = true
    return
  }
  if (!NAMES.includes(name)) throw unknown(`option '${rawName}'`, name, [...NAMES, ...switches], (each) => `--${each}`)
  if (value === undefined || (!inlineValue && value.startsWith('--'))) {
    throw new ConfigError(`${rawName} needs a value: ${rawName} ${OPTIONS[name].value}.`)
  }
  const isList = OPTIONS[name].type === 'texts'
  if (!isList && name in values) throw new ConfigError(`${rawName} was given twice.`)
  const read = /** @type {any} */ (name === 'name' ? [value] : readValue(name, value, rawName))
  values[name] = isList ? [...(values[name] ?? []), ...read] : read
}

/**
 * The environment; an empty variable is none.
 * @param {NodeJS.ProcessEnv} env
 * @returns {Values}
 */
function ofEnvironment(env) {
  /** @type {Values} */
  const values = {}
  const known = new Set(NAMES.map(variableOf))
  for (const [variable, value] of Object.entries(env)) {
    const isOurs = variable.startsWith(PREFIX) && value && !OF_LINK.test(value) && !OF_SERVICE.test(variable)
    if (isOurs && !known.has(variable) && !OF_GENERATORS.has(variable)) throw unknownVariable(variable)
  }
  for (const name of NAMES) {
    const value = env[variableOf(name)]
    if (value && !OF_LINK.test(value)) values[name] = readValue(name, value, variableOf(name))
  }
  return values
}

/**
 * By the option's name alone: before it, all variables are alike.
 * @param {string} variable
 */
function unknownVariable(variable) {
  const word = variable
    .slice(PREFIX.length)
    .replace(/^SERVER_/, '')
    .replaceAll('_', '-')
  return unknown(`variable ${variable}`, word, NAMES, variableOf)
}

/**
 * The JSON file: options by their keys, and `names` as it is.
 * @param {string} file
 * @returns {Values}
 */
function ofFile(file) {
  const given = parse(file)
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new ConfigError(`${file} must have an object, such as { "names": { "orders": {} } }, not ${show(given)}.`)
  }
  const keys = new Map(NAMES.filter((name) => !OPTIONS[name].onlyCommand).map((name) => [keyOf(name), name]))
  /** @type {Values} */
  const values = {}
  for (const [key, value] of Object.entries(given)) {
    const name = keys.get(key)
    if (key === 'names') values.names = value
    else if (name === undefined) throw unknown(`key '${key}' in ${file}`, key, ['names', ...keys.keys()])
    else values[name] = readValue(name, value, `${key} in ${file}`)
  }
  return values
}

/** @param {string} file */
function parse(file) {
  let text
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError(`The configuration ${file} cannot be read: ${/** @type {Error} */ (error).message}.`)
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ConfigError(`${file} is not JSON: ${/** @type {Error} */ (error).message}.`)
  }
}

module.exports = { ofArguments, ofEnvironment, ofFile }
