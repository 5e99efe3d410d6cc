// The running service: its names, its HTTP servers, and their end. An unreachable store does not end it, and every slot is
// released at the end.

import type { Server } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Config } from './config/read.ts'
import { readTlsFiles, readTokenFile } from './config/secrets.ts'
import { makeApp, makeMetricsApp, type Parts } from './http/app.ts'
import { Connections } from './http/connections.ts'
import { listen, listenAt } from './http/listen.ts'
import type { Log } from './http/log.ts'
import { Measures } from './http/measures.ts'
import { Tokens } from './http/tokens.ts'
import { Waiting } from './http/waiting.ts'
import { Names } from './ids/names.ts'

/** How often the names are checked until they are ready. */
const LOOK_MS = 25

/** `isEnding`: the end was requested; `isClosing`: no new work is accepted. */
export type State = { isEnding: boolean; isClosing: boolean; isOverloaded: () => boolean }

export class Service {
  #config
  #log
  #names
  #tokens
  #measures
  #state: State = { isEnding: false, isClosing: false, isOverloaded: () => false }
  #apps: FastifyInstance[] = []
  #connections
  #waiting
  url = ''

  constructor(config: Config, log: Log) {
    this.#config = config
    this.#log = log
    this.#tokens = config.tokens && new Tokens(config.tokens)
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
      tokens: this.#tokens,
      state: this.#state,
    }
    const app = await makeApp(parts)
    this.#apps.push(app)
    this.url = await listen(app, this.#config)
    await this.#listenForMetrics(parts)
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
    const { 'token-file': file } = this.#config
    try {
      if (file !== undefined) this.#tokens?.replace(readTokenFile(file))
      const tls = readTlsFiles(this.#config)
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
  #replaceTls(tls: NonNullable<ReturnType<typeof readTlsFiles>>) {
    const { tls: before } = this.#config
    ;(this.#apps[0].server as Server).setSecureContext(tls)
    if (tls.ca !== before.ca) this.#connections.replaceAll()
    this.#config.tls = tls
  }

  async #listenForMetrics(parts: Parts) {
    const { 'metrics-port': port, host } = this.#config
    if (port === undefined) return
    const app = await makeMetricsApp(parts)
    this.#apps.push(app)
    this.#log.warn(`metrics are at ${await listenAt(app, port, host, this.#config.givenAs)}/metrics`)
  }
}
