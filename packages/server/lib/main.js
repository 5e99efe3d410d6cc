'use strict'
// @ts-check

// From the command line to a service that runs, and from a signal to its end. stdout gets one line, once it is ready; all
// else goes to stderr.

const { ConfigError } = require('./config/config-error.js')
const { ofArguments } = require('./config/sources.js')
const { isLoopback } = require('./http/loopback.js')

/** What a shell expects of a program that could not read its options. */
const BAD_CONFIGURATION = 2

/**
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} env
 */
async function main(args, env) {
  try {
    const given = ofArguments(args)
    if (given.help) return process.stdout.write(require('./config/help.js').helpText())
    if (given.version) return process.stdout.write(`${require('../package.json').version}\n`)
    await serve(given, env)
  } catch (error) {
    fail(/** @type {NodeJS.ErrnoException} */ (error))
  }
}

/**
 * @param {import('./config/sources.js').Values} given
 * @param {NodeJS.ProcessEnv} env
 */
async function serve(given, env) {
  const { readConfig } = require('./config/read.js')
  const { Log } = require('./http/log.js')
  const { Service } = require('./service.js')
  require('./http/ticks.js').keepTicksFast()
  const config = await readConfig(given, env)
  const log = new Log(config.log)
  const service = new Service(config, log)
  listenToSignals(service, log)
  await service.start()
  for (const text of warnings(config)) log.warn(text)
  const isReady = await service.ready((/** @type {Error} */ trouble) =>
    log.warn(`listens at ${service.url}, but is not ready: ${trouble.message}`),
  )
  if (isReady) process.stdout.write(`flakeforge-server is ready at ${service.url}\n`)
}

/**
 * @param {import('./service.js').Service} service
 * @param {import('./http/log.js').Log} log
 */
function listenToSignals(service, log) {
  let isEnding = false
  const end = async (/** @type {NodeJS.Signals} */ signal) => {
    if (isEnding) process.exit(128 + (signal === 'SIGINT' ? 2 : 15)) // whoever asks twice does not want to wait
    isEnding = true
    try {
      await service.end()
      process.exit(0)
    } catch (error) {
      log.failure(/** @type {Error} */ (error))
      process.exit(1)
    }
  }
  process.on('SIGTERM', end)
  process.on('SIGINT', end)
  if (process.platform !== 'win32') process.on('SIGHUP', () => service.reload())
}

/**
 * What can be wished for, but hardly is.
 * @param {import('./config/read.js').Config} config
 */
function warnings({ host, socket, tokens, cors, entries }) {
  const isOpen = socket === undefined && !isLoopback(host)
  const { isFolder } = require('./ids/stores.js')
  const isAlone = entries.some((/** @type {import('./config/names.js').Entry} */ { store }) => isFolder(store))
  return [
    ...(isOpen && tokens === undefined
      ? [
          `${host} can be reached from other machines, and there are no tokens: everybody there can take IDs. See --token-file.`,
        ]
      : []),
    ...(isOpen && isAlone
      ? [
          'The slots are in a folder of this machine. A second server elsewhere would make the same IDs: give both a common store, such as --store redis://…',
        ]
      : []),
    ...(cors?.includes('*') ? ['cors is *: every web page that somebody opens beside this server can take IDs.'] : []),
  ]
}

/** @param {NodeJS.ErrnoException} error */
function fail(error) {
  const isConfiguration = error instanceof ConfigError
  const text = isConfiguration || error.syscall === 'listen' ? listenText(error) : error.stack
  process.stderr.write(`flakeforge-server: ${text}\n`)
  process.exit(isConfiguration ? BAD_CONFIGURATION : 1)
}

/** @param {NodeJS.ErrnoException & { port?: number, address?: string }} error */
function listenText({ code, message, port, address }) {
  if (code === 'EADDRINUSE' && port !== undefined) return `Port ${port} is in use already. --port 0 takes any free one.`
  if (code === 'EADDRINUSE') return `The socket ${address} is in use already, by a server that runs.`
  return message
}

exports.main = main
