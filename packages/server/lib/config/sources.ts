// The sources of options: the command line, the environment, and the JSON file that one of these names. The first one that
// has an option wins. Unknown words are errors everywhere: a misspelt token file must not mean a server without tokens.

import { parseArgs } from 'node:util'
import { layouts } from 'flakeforge'
import { hasSecret, nearest } from '../../../shared.ts'
import { ConfigError, unknown } from './config-error.ts'
import { readText } from './files.ts'
import { keyOf, OPTIONS, variableOf } from './options.ts'
import { readValue, show } from './values.ts'

const NAMES = Object.keys(OPTIONS)
const PREFIX = 'FLAKEFORGE_'

/**
 * Kubernetes and Docker set such variables in every container beside a service that is called flakeforge, flakeforge-server
 * or the like, and such values of others. They are not for the server.
 */
const OF_SERVICE = /_(?:SERVICE_HOST|SERVICE_PORT(?:_.+)?|PORT_\d+_.+)$/
const OF_LINK = /^(?:tcp|udp|sctp):\/\//

/** Variables of new FlakeId() and of the server's clients, for programs that share their environment with the server. */
const OF_OTHERS = new Set([
  'FLAKEFORGE_ID',
  'FLAKEFORGE_TOKEN',
  'FLAKEFORGE_CA',
  'FLAKEFORGE_CERT',
  'FLAKEFORGE_KEY',
  ...Object.values(layouts)
    .flatMap(({ fields }) => fields)
    .map(([field]) => `${PREFIX}${field.toUpperCase()}`),
])

export type Values = Record<string, any>

/** The command line. `help` and `version` are switches. */
export function ofArguments(args: string[]): Values {
  const switches = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean', short: 'v' } }
  const options = Object.fromEntries(NAMES.map((name) => [name, { type: 'string', multiple: true }]))
  const { tokens } = parseArgs({
    args,
    options: { ...options, ...switches } as any,
    strict: false,
    tokens: true,
    allowPositionals: true,
  })
  const values: Values = {}
  for (const token of tokens as any[]) takeToken(token, values, Object.keys(switches))
  return values
}

function takeToken(
  {
    kind,
    name,
    rawName,
    value,
    inlineValue,
  }: { kind: string; name: string; rawName: string; value?: string; inlineValue?: boolean },
  values: Values,
  switches: string[],
) {
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
  const read = (name === 'name' ? [value] : readValue(name, value, rawName)) as string[]
  values[name] = isList ? [...(values[name] ?? []), ...read] : read
}

/** The environment; an empty variable counts as absent. */
export function ofEnvironment(env: NodeJS.ProcessEnv): Values {
  const values: Values = {}
  const known = new Set(NAMES.map(variableOf))
  for (const [variable, value] of Object.entries(env)) {
    const isOurs = variable.startsWith(PREFIX) && value && !OF_LINK.test(value) && !OF_SERVICE.test(variable)
    if (isOurs && !known.has(variable) && !OF_OTHERS.has(variable)) throw unknownVariable(variable)
  }
  for (const name of NAMES) {
    const value = env[variableOf(name)]
    if (value && !OF_LINK.test(value)) values[name] = readValue(name, value, variableOf(name))
  }
  return values
}

/** Compares the option's name alone, because the words before it are the same in all variables, if perhaps misspelt. */
function unknownVariable(variable: string) {
  const word = variable
    .slice(PREFIX.length)
    .replace(/^([A-Z]+)_(?=.)/, (start, word) => (nearest(word, ['SERVER']) === undefined ? start : ''))
    .replaceAll('_', '-')
  return unknown(`variable ${variable}`, word, NAMES, variableOf)
}

/** The JSON file: options by their keys, and `names` as it is. */
export function ofFile(file: string): Values {
  const given = parse(file)
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new ConfigError(`${file} must have an object, such as { "names": { "orders": {} } }, not ${show(given)}.`)
  }
  const keys = new Map(NAMES.filter((name) => !OPTIONS[name].onlyCommand).map((name) => [keyOf(name), name]))
  const values: Values = {}
  for (const [key, value] of Object.entries(given)) {
    const name = keys.get(key)
    if (key === 'names') values.names = value
    else if (name === undefined) throw unknown(`key '${key}' in ${file}`, key, ['names', ...keys.keys()])
    else values[name] = readValue(name, value, `${key} in ${file}`)
  }
  return values
}

/** Whether an address in it has a password. A text that is not JSON is refused in any case. */
function hasPassword(text: string) {
  let found = false
  const look = (_key: string, value: unknown) => {
    found ||= typeof value === 'string' && hasSecret(value)
    return value
  }
  try {
    JSON.parse(text, look)
  } catch {}
  return found
}

function parse(file: string) {
  const text = readText(file, 'configuration', { isSecret: hasPassword })
  try {
    return JSON.parse(text)
  } catch (error) {
    const why = (error as Error).message.replace(/(?:, )?(?:\.{3})?".*/s, '') // it may quote a part of a password
    throw new ConfigError(`${file} is not JSON${why && `: ${why}`}.`)
  }
}
