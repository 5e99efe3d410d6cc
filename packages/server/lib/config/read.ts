// The whole configuration: the options of the command line, the environment and the file, with defaults for the rest.

import { listenersOf } from '../http/listen.ts'
import { ConfigError } from './config-error.ts'
import { groupsOf, readNames } from './names.ts'
import { keyOf, OPTIONS, variableOf } from './options.ts'
import { readTlsFiles, readTokenFile } from './secrets.ts'
import { ofEnvironment, ofFile, type Values } from './sources.ts'

/** with the names as `entries`, the tokens, the TLS files, and the `listeners` */
export type Config = Values

/** @param given the result of ofArguments() */
export async function readConfig(given: Values, env: NodeJS.ProcessEnv) {
  const environment = ofEnvironment(env)
  const file = given.config ?? environment.config
  const sources = [given, environment, file === undefined ? {} : ofFile(file)]
  const values = withDefaults(sources)
  const socket = socketOf(sources)
  checkTogether(values)
  const entries = await entriesOf(values, file)
  const config: Values = {
    ...values,
    socket,
    givenAs: givenAs(sources, file),
    entries,
    tokens: values['token-file'] && readTokenFile(values['token-file']),
    metricsTokens: values['metrics-token-file'] && readTokenFile(values['metrics-token-file']),
    tls: readTlsFiles(values),
  }
  return { ...config, listeners: await listenersOf(config) } as Config
}

/** @param sources in order of precedence */
function withDefaults(sources: Values[]) {
  const defaults = Object.fromEntries(Object.entries(OPTIONS).map(([name, { absent }]) => [name, absent]))
  return Object.assign(defaults, ...[...sources].reverse())
}

/**
 * The unix socket, unless a source with precedence has a port or host. The variable PORT does not decide: platforms and shells
 * set it for whatever they start.
 */
function socketOf([given, { port: _port, ...environment }, file]: Values[]) {
  for (const { socket, port, host } of [given, environment, file]) {
    const isAddress = port !== undefined || host !== undefined
    if (socket !== undefined && isAddress) {
      throw new ConfigError('A server listens on a socket or on a port. Set socket alone, or port and host.')
    }
    if (socket !== undefined) return socket
    if (isAddress) return undefined
  }
}

function checkTogether(values: Values) {
  const { 'tls-cert': cert, 'tls-key': key, 'tls-ca': ca } = values
  if ((cert === undefined) !== (key === undefined))
    throw new ConfigError('tls-cert and tls-key need each other. Set both.')
  if (ca !== undefined && cert === undefined) throw new ConfigError('tls-ca needs tls-cert and tls-key.')
  for (const name of ['metrics-host', 'metrics-token-file']) {
    if (values['metrics-port'] === undefined && values[name] !== undefined)
      throw new ConfigError(`${name} needs metrics-port.`)
  }
}

/** How an option was given, for messages: as '--port', 'PORT' or 'port in server.json'. */
function givenAs([given, environment, ofFile]: Values[], file: string | undefined): (name: string) => string {
  return (name) => {
    if (name in given) return `--${name}`
    if (name in environment) return variableOf(name)
    return name in ofFile ? `${keyOf(name)} in ${file}` : `--${name}`
  }
}

function entriesOf({ names, name, layout, store }: Values, file: string | undefined) {
  if (names === undefined) return groupsOf(name ?? ['default'], readLayout(layout), store)
  if (name !== undefined) throw new ConfigError(`The names are in ${file}. Leave out --name.`)
  if (layout !== undefined) throw new ConfigError(`${file} has a layout for each name. Leave out --layout.`)
  return readNames(names, store)
}

/** @param layout a name, or the user's own fields as JSON */
function readLayout(layout: string | undefined) {
  if (layout === undefined || !layout.trim().startsWith('{')) return layout
  try {
    return JSON.parse(layout)
  } catch (error) {
    throw new ConfigError(`--layout is not JSON: ${(error as Error).message}.`)
  }
}
