'use strict'
// @ts-check

// A child process that has imported the user's module, seen from the parent, and clients in it. Every request has a time
// limit. It must never call the user's module itself: the parent has to go on whatever that does.

/** @import { ForkOptions } from 'node:child_process' */
/** @import { StoreIdentity } from '../../../index.d.ts' */
/** @import { Operations, Reply } from './child.js' */
/** @import { WorkName, Works } from './works.js' */

/**
 * What a user's read() gives: nobody has looked at it yet.
 * @typedef {{ now?: unknown, identity?: unknown, values?: unknown, position?: unknown } | undefined} RawAnswer
 */

/** @typedef {Map<string, Set<string>>} Identities those of each group, as texts */

const { fork } = require('node:child_process')
const { once } = require('node:events')
const { join } = require('node:path')
const { inTime } = require('./time.js')
const { checkIdentity, checkSwapped, checkValues } = require('./answers.js')
const { Finding, show } = require('./finding.js')

/** How much longer the parent waits for a request than its calls may take: a process that is blocked never answers. */
const GRACE_MS = 2000
/** How long a process may take to start and to import the module. */
const LOAD_MS = 10_000
/** A swap may be answered false once in a while, after a conflict; not more often than this without any other writer. */
const TRIES = 3

class Process {
  #child
  #callMs
  #requests = 0
  /** @type {Map<number, { resolve: (value: unknown) => void, reject: (error: Error) => void }>} */
  #waiting = new Map()
  /** @type {string | undefined} why it cannot go on */
  #ended
  /** @type {() => void} */
  #halts = () => {}
  /** Every identity that a client of this run has read of each group. */
  identities

  /**
   * @param {string} file the path of the user's module
   * @param {{ callMs: number, identities: Identities, place: 'here' | 'elsewhere' }} options `callMs`: how long one call
   *   of its functions may take; `place`: whether it believes that it is on another machine
   */
  constructor(file, { callMs, identities, place }) {
    this.#callMs = callMs
    this.identities = identities
    /** @type {ForkOptions} */
    const options = { serialization: 'advanced', stdio: ['ignore', 2, 2, 'ipc'] } // what it prints must not be in the report
    this.#child = fork(join(__dirname, 'child.js'), [file, String(callMs), place], options)
    this.#child.on('message', (message) => this.#settle(/** @type {Reply} */ (message)))
    this.#child.once('error', (error) => this.#end(error.message))
    this.#child.once('exit', (code, signal) => this.#end(`it ended with ${signal ?? `exit status ${code}`}`))
  }

  /**
   * Asks for an operation of child.js, which takes `ms` at most, besides one call of the user's function.
   * @param {keyof Operations} operation
   * @param {unknown[]} args
   * @returns {Promise<unknown>}
   */
  async ask(operation, args = [], ms = 0) {
    if (this.#ended !== undefined) throw this.#goneError()
    const limitMs = ms + this.#callMs + GRACE_MS
    const id = this.#requests++
    const answer = new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
    })
    this.#child.send({ id, operation, args }, () => {}) // if it cannot be sent, the process has ended, which is seen
    try {
      return await inTime(answer, limitMs)
    } catch (cause) {
      const error = /** @type {Error & { code?: string, isTheirs?: boolean }} */ (cause)
      if (error.code !== 'ETIMEDOUT' || error.isTheirs) throw error
      this.kill()
      throw new Finding(
        `a process that uses the store did not answer within ${limitMs / 1000} s`,
        'functions that do not block their process',
        'look for a loop, or for a call that waits synchronously',
      )
    }
  }

  /** Resolves when this process stands still, for the next time. */
  whenHalted() {
    return /** @type {Promise<void>} */ (
      new Promise((resolve) => {
        this.#halts = resolve
      })
    )
  }

  /** @param {Reply} reply */
  #settle({ id, value, error, halts }) {
    if (halts) return this.#halts()
    const { resolve, reject } = this.#waiting.get(id) ?? {}
    this.#waiting.delete(id)
    if (error === undefined) resolve?.(value)
    else reject?.(Object.assign(new Error(error.message), error, { isTheirs: true }))
  }

  /** @param {string} why */
  #end(why) {
    this.#ended ??= why
    for (const { reject } of this.#waiting.values()) reject(this.#goneError())
    this.#waiting.clear()
  }

  #goneError() {
    return new Finding(
      `a process that uses the store cannot go on: ${this.#ended}`,
      'a process that goes on until it is told to end',
      'see what it printed above; a client usually needs a listener for its errors',
    )
  }

  /** Imports the module; gives what it exports. */
  async load() {
    return /** @type {Awaited<ReturnType<Operations['load']>>} */ (await this.ask('load', [], LOAD_MS))
  }

  /**
   * Does work that takes many calls of these clients, and `ms` at most.
   * @template {WorkName} N
   * @param {N} name of a function of works.js
   * @param {number[]} handles of the clients
   * @param {Parameters<Works[N]>[1]} options
   * @param {number} ms
   */
  async work(name, handles, options, ms) {
    return /** @type {Awaited<ReturnType<Works[N]>>} */ (await this.ask('work', [name, handles, options], ms))
  }

  /** Opens a client of its own. */
  async open() {
    return new Client(this, /** @type {Awaited<ReturnType<Operations['open']>>} */ (await this.ask('open')))
  }

  /**
   * Whether it ends by itself within `ms`, once it is let go; and with which exit status.
   * @param {number} ms
   */
  async ends(ms) {
    const exit = once(this.#child, 'exit')
    await this.ask('leave')
    try {
      const [code, signal] = await inTime(exit, ms)
      return { ended: true, with: signal ?? code }
    } catch {
      return { ended: false }
    }
  }

  /** Ends it at once, as a crash would, and resolves when it is gone. */
  async kill() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exit = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exit
  }
}

/** A client in a child process: the functions of a RecordStore. The answers are as the user's functions gave them. */
class Client {
  /** @type {Map<string, unknown>} as the last read of each group gave it */
  #identities = new Map()

  /**
   * @param {Process} process
   * @param {{ handle: number, groups: boolean, close: boolean }} opened its number there, and which functions it has
   */
  constructor(process, { handle, groups, close }) {
    this.process = process
    this.handle = handle
    this.has = { groups, close }
  }

  /**
   * The raw answer to read().
   * @param {string} group
   * @param {string[]} names
   */
  async read(group, names) {
    const answer = /** @type {RawAnswer} */ (await this.#call('read', group, names))
    this.#identities.set(group, answer?.identity)
    const { history, process } = /** @type {Partial<StoreIdentity>} */ (answer?.identity ?? {})
    const known = this.process.identities.get(group) ?? new Set()
    this.process.identities.set(group, known.add(JSON.stringify({ history, process })))
    return answer
  }

  /**
   * The values of these records, checked.
   * @param {string} group
   * @param {string[]} names
   * @returns {Promise<readonly (string | null)[]>}
   */
  async values(group, names) {
    return checkValues((await this.read(group, names))?.values, names)
  }

  /**
   * @param {string} group
   * @param {string} name
   */
  async value(group, name) {
    return (await this.values(group, [name]))[0]
  }

  /**
   * The identity that this client reads, checked.
   * @param {string} group
   * @returns {Promise<StoreIdentity>}
   */
  async identity(group) {
    return checkIdentity((await this.read(group, ['group']))?.identity)
  }

  /**
   * With the identity that this client read last of the group, unless another one is given.
   * @param {string} group
   * @param {string} name
   * @param {string | null} from
   * @param {string} to
   * @param {unknown} identity
   * @returns {Promise<boolean>}
   */
  async swap(group, name, from, to, identity = this.#identities.get(group)) {
    if (identity === undefined) return this.swap(group, name, from, to, await this.identity(group))
    return checkSwapped(await this.#call('swap', group, name, from, to, identity))
  }

  /**
   * A swap that nothing stands against, so that it must be answered true: after a conflict, at the next try.
   * @param {string} group
   * @param {string} name
   * @param {string | null} from
   * @param {string} to
   */
  async change(group, name, from, to) {
    for (let i = 0; i < TRIES; i++) {
      if (await this.swap(group, name, from, to)) return
    }
    const seen = await this.value(group, name)
    throw new Finding(
      `swap of '${name}' in group ${show(group)} from ${show(from)} was answered false ${TRIES} times; the record is ${show(seen)}`,
      'true: the record was that text, and no other client wrote it',
      'compare all bytes of the record with `from`, and the identity with that of read()',
    )
  }

  /**
   * Does work of works.js with this client alone, for `ms` at most.
   * @template {WorkName} N
   * @param {N} name
   * @param {Parameters<Works[N]>[1]} options
   * @param {number} ms
   */
  work(name, options, ms) {
    return this.process.work(name, [this.handle], options, ms)
  }

  /**
   * Makes a read and a swap, and lets the process stand still for `ms` after so many answers of the server. `begun`
   * resolves when it does, or has failed.
   * @param {number} steps
   * @param {Record<string, unknown[]>} calls the arguments of each
   * @param {number} ms
   */
  halt(steps, calls, ms) {
    const halted = this.process.whenHalted()
    const answers = this.process.ask('halt', [this.handle, steps, calls, ms], ms)
    const begun = Promise.race([halted, answers])
    return { begun, answers: /** @type {ReturnType<Operations['halt']>} */ (answers) }
  }

  /** @param {string} group */
  names(group) {
    return this.#call('names', group)
  }

  groups() {
    return this.#call('groups')
  }

  close() {
    return this.process.ask('close', [this.handle])
  }

  /**
   * @param {string} name
   * @param {unknown[]} args
   */
  #call(name, ...args) {
    return this.process.ask('call', [this.handle, name, args])
  }
}

exports.Client = Client
exports.Process = Process
