// The running service: its names, its HTTP servers, and their end. An unreachable store does not end it, and every slot is
// released at the end.

import type { Server } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Config } from './config/read.ts'
import { readTlsFiles, readTokenFile, type TlsFiles } from './config/secrets.ts'
import { makeApp, makeMetricsApp } from './http/app.ts'
import { Connections } from './http/connections.ts'
import { type Listener, listen } from './http/listen.ts'
import type { Log } from './http/log.ts'
import { Measures } from './http/measures.ts'
import { Waiting } from './http/waiting.ts'
import { Names } from './ids/names.ts'
import type { State } from './parts.ts'

/** How often the names are checked until they are ready. */
const LOOK_MS = 25

export class Service {
  #config
  #log
  #names
  #measures
  #state: State = { isEnding: false, isClosing: false, isOverloaded: () => false }
  #apps: FastifyInstance[] = []
  #connections
  #waiting
  url = ''

  constructor(config: Config, log: Log) {
    this.#config = config
    this.#log = log
    this.#connections = new Connections(config['request-ms'] + config['wait-ms'])
    this.#waiting = new Waiting({ maxWaiting: config['max-waiting'], waitMs: config['wait-ms'] })
    this.#names = new Names(config.entries, this.#waiting, (text) => log.warn(text))
    this.#measures = new Measures(this.#waiting)
  }

  /** Opens everything that may be misconfigured, and listens. From then on slots are acquired in the background. */
  async start() {
    this.#names.open()
    const parts = {
      config: this.#config,
      names: this.#names,
      connections: this.#connections,
      waiting: this.#waiting,
      measures: this.#measures,
      log: this.#log,
      state: this.#state,
    }
    const { main, metrics } = this.#config.listeners
    this.url = await this.#listen(await makeApp(parts, main), main)
    if (metrics !== undefined) {
      const url = await this.#listen(await makeMetricsApp(parts, metrics), metrics)
      this.#log.warn(`metrics are at ${url}/metrics`)
    }
    this.#names.start()
  }

  /** Resolves once every name supplies IDs, or the end has begun. `tell` is called once it is known that this takes longer. */
  async ready(tell: () => void) {
    for (let hasTold = false; !this.#state.isEnding; ) {
      const trouble = await this.#names.trouble()
      if (trouble === undefined && !this.#state.isOverloaded()) return true
      if (trouble !== undefined && !hasTold && !this.#names.isStarting) {
        hasTold = true
        tell()
      }
      await sleep(LOOK_MS)
    }
    return false
  }

  /** Reads the files with secrets again. If that fails, nothing changes. */
  reload() {
    const { 'token-file': file, 'metrics-token-file': metricsFile, listeners } = this.#config
    const again = { mayBeHalfWritten: true }
    try {
      const tokens = file && readTokenFile(file, again)
      const metricsTokens = metricsFile && readTokenFile(metricsFile, again)
      const tls = readTlsFiles(this.#config)
      listeners.main.tokens?.replace(tokens)
      listeners.metrics?.tokens?.replace(metricsTokens)
      if (tls !== undefined) this.#replaceTls(tls)
      this.#log.warn('SIGHUP: reloaded the files.')
    } catch (error) {
      this.#log.warn(`SIGHUP: ${(error as Error).message} The previous files stay in use.`)
    }
  }

  /** Finishes the requests in progress, and releases the slots. */
  async end() {
    const { 'drain-ms': drainMs, 'end-ms': endMs } = this.#config
    this.#state.isEnding = true
    this.#connections.beginEnd()
    await sleep(drainMs)
    this.#state.isClosing = true
    const late = setTimeout(() => this.#connections.cutOff(), endMs)
    await this.#connections.end(endMs)
    clearTimeout(late)
    await Promise.all(this.#apps.map((app) => app.close()))
    await this.#names.close()
  }

  /** Ends connections whose certificate was checked by another CA. */
  #replaceTls(tls: TlsFiles) {
    const { main } = this.#config.listeners
    for (const { server } of this.#apps) (server as Server).setSecureContext(tls)
    if (tls.ca !== main.tls?.ca) this.#connections.replaceAll()
    main.tls = tls
  }

  #listen(app: FastifyInstance, listener: Listener) {
    this.#apps.push(app)
    return listen(app, listener, this.#config.givenAs)
  }
}
