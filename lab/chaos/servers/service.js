'use strict'

// A flakeforge-server under faults, through all its lives at one port: it can be killed, paused, stopped properly and
// restarted, like a member. The faults decide when.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { endsInTime } = require('../run/ends-in-time.js')
const { Clock } = require('../faults/clock.js')

const PROGRAM = path.join(__dirname, '..', '..', '..', 'packages', 'server', 'dist', 'flakeforge-server.mjs')
const READY = /flakeforge-server is ready at \S+:(\d+)/
const LISTENS = /listens at \S+:(\d+)/
/** Without the harness's own variables: a server rejects variables of ours that it does not know. */
const OUTSIDE = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('FLAKEFORGE_')))
const LONGEST_END_MS = 10_000 // for a server that was asked to end: it finishes the requests in progress

/** A paused server would outlive the harness. */
const running = new Set()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

class Service {
  #args
  #offsetMs
  #clock = new Clock()
  #onTrouble
  #child
  #exit // a promise
  #isEnding = false
  name
  lives = 0
  /** the same in all lives */
  port = 0
  /** its own, to the store */
  proxy

  /**
   * @param {{ name: string, args: string[], proxy?: object, offsetMs?: () => number, onTrouble: (trouble: { who:
   *   string, what: string }) => void }} service `args`: of the command, besides --port
   */
  constructor({ name, args, proxy, offsetMs = () => 0, onTrouble }) {
    this.name = name
    this.proxy = proxy
    this.#args = args
    this.#offsetMs = offsetMs
    this.#onTrouble = onTrouble
  }

  /** Resolves when its port is known; it may not be ready. */
  async start() {
    this.lives++
    this.#clock.set(this.#offsetMs())
    this.#isEnding = false
    const child = spawn(process.execPath, [PROGRAM, '--port', String(this.port), ...this.#args], {
      env: { ...OUTSIDE, ...this.#clock.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    this.#exit = this.#watch(child)
    if (this.port === 0) this.port = await portOf(child)
  }

  async #watch(child) {
    let stderr = ''
    running.add(child)
    child.stdout.resume()
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr = (stderr + text).slice(-2000)
    })
    const [code, signal] = await once(child, 'close')
    running.delete(child)
    if (!this.#isEnding) this.trouble(`ended with ${signal ?? `status ${code}`}: ${stderr.trim()}`)
  }

  trouble(what) {
    this.#onTrouble({ who: `${this.name}, life ${this.lives}`, what })
  }

  get pid() {
    return this.#child.pid
  }

  /** Resolves when the present life is over. */
  get over() {
    return this.#exit
  }

  get isRunning() {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  async kill() {
    this.#isEnding = true
    this.#child?.kill('SIGKILL')
    await this.#exit
  }

  pause() {
    this.#child.kill('SIGSTOP')
  }

  resume() {
    this.#child.kill('SIGCONT')
  }

  /** Asks the process to end, and kills it if it does not. */
  async end() {
    this.#isEnding = true
    this.#child.kill('SIGTERM')
    if (await endsInTime(this.#exit, LONGEST_END_MS)) return
    this.trouble(`hangs: did not end within ${LONGEST_END_MS / 1000} s of SIGTERM`)
    await this.kill()
  }
}

/** The port that a new server has chosen. Throws if it ends first. */
function portOf(child) {
  return new Promise((resolve, reject) => {
    let text = ''
    const look = (more) => {
      text += more
      const [, port] = READY.exec(text) ?? LISTENS.exec(text) ?? []
      if (port !== undefined) resolve(Number(port))
    }
    child.stdout.setEncoding('utf8').on('data', look)
    child.stderr.on('data', look)
    child.once('close', (code) => reject(new Error(`flakeforge-server ended with ${code}: ${text.trim()}`)))
  })
}

module.exports = { Service }
