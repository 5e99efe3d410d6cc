'use strict'

// The harness's control of one member through all its lives. It starts, pauses and ends the process, knows its files,
// and notices an unrequested exit. run.js and the faults decide when.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const { endsInTime } = require('./ends-in-time.js')
const { Clock } = require('../faults/clock.js')
const { madeIn } = require('../member/run-file.js')

const SCRIPT = path.join(__dirname, '..', 'member', 'main.js')
/** They only report errors that a member handles anyway. */
const SILENT = [
  'FLAKEFORGE_QUIET',
  'FLAKEFORGE_RENEWAL',
  'FLAKEFORGE_ELSE_FROM',
  'FLAKEFORGE_SPLIT_BRAIN',
  'FLAKEFORGE_STORE_AWAY',
  'FLAKEFORGE_WAIT',
]
const FLAGS = SILENT.map((code) => `--disable-warning=${code}`)
const LONGEST_END_MS = 30_000 // for a process that was asked to end: close() takes 5 s, and a busy machine some more

/** A paused process would outlive the harness, because it cannot notice that the harness is gone. */
const running = new Set()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** The size in bytes; 0 if there is no file yet. */
const sizeOf = (file) => fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0

class MemberProcess {
  #name
  #tasks
  #folder
  #onTrouble
  #offsetMs
  #clock = new Clock()
  #child
  #exit // a promise
  #isEnding = false
  #stepEnds = 0
  lives = []
  /** The last error or warning of its first thread in this life, as text. */
  lastError

  /**
   * @param {{ name: string, folder: string, tasks: object[], onTrouble: (trouble: { who: string, what: string }) =>
   *   void, offsetMs?: () => number, proxy?: object }} member `offsetMs`: how far off its clock is whenever it is set;
   *   `proxy`: its own, to a server
   */
  constructor({ name, folder, tasks, onTrouble, offsetMs = () => 0, proxy }) {
    this.#offsetMs = offsetMs
    this.proxy = proxy
    this.#name = name
    this.#folder = folder
    this.#tasks = tasks
    this.#onTrouble = onTrouble
  }

  /** Starts the process, with a clock that is wrong by this many ms. */
  start(offsetMs) {
    this.setClock(offsetMs)
    const files = this.#tasks.map((_, thread) => path.join(this.#folder, this.#fileName(thread)))
    const tasks = this.#tasks.map((task, thread) => ({ ...task, file: files[thread] }))
    const child = spawn(process.execPath, [...FLAGS, SCRIPT, JSON.stringify(tasks)], {
      env: { ...process.env, ...this.#clock.environment },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    this.lives.push({ files })
    this.lastError = undefined
    child.on('message', (text) => {
      this.lastError = text
    })
    this.isPaused = false
    this.#isEnding = false
    this.#child = child
    this.#exit = this.#watch(child)
  }

  #fileName(thread) {
    return `${this.#name.replaceAll(' ', '-')}-life${this.lives.length + 1}-thread${thread + 1}.ids`
  }

  async #watch(child) {
    let stderr = ''
    running.add(child)
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text
    })
    const [code, signal] = await once(child, 'close')
    running.delete(child)
    if (!this.#isEnding || stderr !== '') this.trouble(`ended with ${signal ?? `status ${code}`}: ${stderr.trim()}`)
  }

  trouble(what) {
    this.#onTrouble({ who: `${this.#name}, life ${this.lives.length}`, what })
  }

  get isRunning() {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** How many bytes each thread of the present life has written. */
  get sizes() {
    return this.lives.at(-1).files.map(sizeOf)
  }

  /** How many IDs all threads of all lives have generated. */
  get made() {
    return this.lives.flatMap(({ files }) => files).reduce((sum, file) => sum + madeIn(file), 0)
  }

  async kill() {
    this.#isEnding = true
    this.#child.kill('SIGKILL')
    await this.#exit
  }

  setClock(offsetMs = this.#offsetMs()) {
    const stepMs = Math.abs(offsetMs - this.#clock.offsetMs)
    this.#clock.set(offsetMs)
    this.#stepEnds = performance.now() + stepMs
  }

  /** Whether its clock is still before its last ID, or may be beyond its window, after a step. */
  get isStepping() {
    return performance.now() < this.#stepEnds
  }

  /** Whether its clock is wrong. */
  get isOff() {
    return this.#clock.offsetMs !== 0
  }

  pause() {
    this.isPaused = true
    this.#child.kill('SIGSTOP')
  }

  resume() {
    this.isPaused = false
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

module.exports = { MemberProcess }
