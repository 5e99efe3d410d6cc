'use strict'
// @ts-check

// The whole configuration: what the command line, the environment and the file say, with the defaults for the rest.

const { ConfigError } = require('./config-error.js')
const { groupsOf, readNames } = require('./names.js')
const { OPTIONS, keyOf, variableOf } = require('./options.js')
const { ofEnvironment, ofFile } = require('./sources.js')
const { readTlsFiles, readTokenFile } = require('./secrets.js')

/** @typedef {import('./sources.js').Values} Config with the names as `entries`, the tokens and what TLS needs */

/**
 * @param {import('./sources.js').Values} given what ofArguments() has read
 * @param {NodeJS.ProcessEnv} env
 */
async function readConfig(given, env) {
  const environment = ofEnvironment(env)
  const file = given.config ?? environment.config
  const sources = [given, environment, file === undefined ? {} : ofFile(file)]
  const values = withDefaults(sources)
  const socket = socketOf(sources)
  checkTogether(values)
  return {
    ...values,
    socket,
    givenAs: givenAs(sources, file),
    entries: await entriesOf(values, file),
    tokens: values['token-file'] && readTokenFile(values['token-file']),
    tls: readTlsFiles(values),
  }
}

/** @param {import('./sources.js').Values[]} sources the first one counts */
function withDefaults(sources) {
  const defaults = Object.fromEntries(Object.entries(OPTIONS).map(([name, { absent }]) => [name, absent]))
  return Object.assign(defaults, ...[...sources].reverse())
}

/**
 * The unix socket, unless a source that counts more has a port or host.
 * @param {import('./sources.js').Values[]} sources
 */
function socketOf(sources) {
  for (const { socket, port, host } of sources) {
    const isAddress = port !== undefined || host !== undefined
    if (socket !== undefined && isAddress) {
      throw new ConfigError('A server listens on a socket or on a port. Give socket alone, or port and host.')
    }
    if (socket !== undefined) return socket
    if (isAddress) return undefined
  }
}

/** @param {import('./sources.js').Values} values */
function checkTogether(values) {
  const { 'tls-cert': cert, 'tls-key': key, 'tls-ca': ca } = values
  if ((cert === undefined) !== (key === undefined))
    throw new ConfigError('tls-cert and tls-key belong together. Give both.')
  if (ca !== undefined && cert === undefined) throw new ConfigError('tls-ca needs tls-cert and tls-key.')
}

/**
 * How an option was given, for messages: as '--host', 'HOST' or 'host in server.json'.
 * @param {import('./sources.js').Values[]} sources
 * @param {string | undefined} file
 * @returns {(name: string) => string}
 */
function givenAs([given, environment, ofFile], file) {
  return (name) => {
    if (name in given) return `--${name}`
    if (name in environment) return variableOf(name)
    return name in ofFile ? `${keyOf(name)} in ${file}` : `--${name}`
  }
}

/**
 * @param {import('./sources.js').Values} values
 * @param {string | undefined} file
 */
function entriesOf({ names, name, layout, store }, file) {
  if (names === undefined) return groupsOf(name ?? ['default'], readLayout(layout), store)
  if (name !== undefined) throw new ConfigError(`${file} has the names. Give no --name beside it.`)
  if (layout !== undefined) throw new ConfigError(`${file} has a layout for each name. Give no --layout beside it.`)
  return readNames(names, store)
}

/** @param {string | undefined} layout a name, or the user's own fields as JSON */
function readLayout(layout) {
  if (layout === undefined || !layout.trim().startsWith('{')) return layout
  try {
    return JSON.parse(layout)
  } catch (error) {
    throw new ConfigError(`--layout is not JSON: ${/** @type {Error} */ (error).message}.`)
  }
}

exports.readConfig = readConfig
