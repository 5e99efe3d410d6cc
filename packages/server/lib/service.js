'use strict'
// @ts-check

// The running service: its names, its HTTP servers, and their end. It must never end because a store is away, and never
// keep a slot that it could have given back.

const { setTimeout: sleep } = require('node:timers/promises')
const fastify = require('fastify')
const { readTlsFiles, readTokenFile } = require('./config/secrets.js')
const { makeApp } = require('./http/app.js')
const { Connections } = require('./http/connections.js')
const { listen, listenAt } = require('./http/listen.js')
const { Measures } = require('./http/measures.js')
const { COMPILES_NOTHING } = require('./http/schemas.js')
const { Tokens } = require('./http/tokens.js')
const { Waiting } = require('./http/waiting.js')
const { Names } = require('./ids/names.js')

/** How often we look whether the names are ready, until they are. */
const LOOK_MS = 25

/**
 * `isEnding`: the end was asked for; `isClosing`: no new work is taken.
 * @typedef {{ isEnding: boolean, isClosing: boolean, isOverloaded: () => boolean }} State
 */

class Service {
  #config
  #log
  #names
  #tokens
  #measures
  /** @type {State} */
  #state = { isEnding: false, isClosing: false, isOverloaded: () => false }
  /** @type {import('fastify').FastifyInstance[]} */
  #apps = []
  #connections
  #waiting
  url = ''

  /**
   * @param {import('./config/read.js').Config} config
   * @param {import('./http/log.js').Log} log
   */
  constructor(config, log) {
    this.#config = config
    this.#log = log
    this.#tokens = config.tokens && new Tokens(config.tokens)
    this.#connections = new Connections(config['request-ms'] + config['wait-ms'])
    this.#waiting = new Waiting({ maxWaiting: config['max-waiting'], waitMs: config['wait-ms'] })
    this.#names = new Names(config.entries, this.#waiting, (text) => log.warn(text))
    this.#measures = new Measures(this.#waiting)
  }

  /** Opens what can be wrong with the configuration, and listens. From then on slots are taken in the background. */
  async start() {
    this.#names.open()
    const parts = {
      ...{ config: this.#config, names: this.#names, connections: this.#connections, waiting: this.#waiting },
      ...{ measures: this.#measures, log: this.#log, tokens: this.#tokens, state: this.#state },
    }
    const app = await makeApp(parts)
    this.#apps.push(app)
    this.url = await listen(app, this.#config)
    await this.#listenForMetrics()
    this.#names.start()
  }

  /**
   * Resolves once every name gives IDs, or the end has begun. `tell` is called with the first reason why not.
   * @param {(trouble: Error) => void} tell
   */
  async ready(tell) {
    for (let hasTold = false; !this.#state.isEnding; ) {
      const trouble = await this.#names.trouble()
      if (trouble === undefined && !this.#state.isOverloaded()) return true
      if (trouble !== undefined && !hasTold && !this.#names.isStarting) {
        hasTold = true
        tell(/** @type {Error} */ (trouble))
      }
      await sleep(LOOK_MS)
    }
    return false
  }

  /** Reads the files with secrets again. What is wrong with them changes nothing. */
  reload() {
    const { 'token-file': file, tls } = this.#config
    try {
      if (file !== undefined) this.#tokens?.replace(readTokenFile(file))
      if (tls !== undefined) /** @type {any} */ (this.#apps[0].server).setSecureContext(readTlsFiles(this.#config))
      this.#log.warn('SIGHUP: the files were read again.')
    } catch (error) {
      this.#log.warn(`SIGHUP: ${/** @type {Error} */ (error).message} What was read before still counts.`)
    }
  }

  /** Finishes the requests in progress, and gives the slots back. */
  async end() {
    this.#state.isEnding = true
    await sleep(this.#config['drain-ms'])
    this.#state.isClosing = true
    const closed = Promise.all(this.#apps.map((app) => app.close()))
    this.#connections.cutOffSilent()
    const late = setTimeout(() => this.#connections.cutOff(), this.#config['end-ms'])
    await closed
    clearTimeout(late)
    await this.#names.close()
  }

  async #listenForMetrics() {
    const { 'metrics-port': port, host } = this.#config
    if (port === undefined) return
    const app = fastify({ forceCloseConnections: true, schemaController: COMPILES_NOTHING })
    await app.register(require('./routes/metrics.js').routes, { measures: this.#measures })
    this.#apps.push(app)
    this.#log.warn(`metrics are at ${await listenAt(app, port, host, this.#config.givenAs)}/metrics`)
  }
}

exports.Service = Service
