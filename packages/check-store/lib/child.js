'use strict'
// @ts-check

// The program of a child process: it imports the user's module and does what the parent asks for: opens clients, calls
// their functions, and does work that needs many calls. It passes every answer on as it is. It must never judge one.

/** @import { RecordStore } from '../../../index.d.ts' */
/** @import { Call, WorkName } from './works.js' */

/**
 * What the parent asks for, and what it is answered.
 * @typedef {{ id: number, operation: keyof Operations, args: unknown[] }} Request
 * @typedef {{ id: number, value?: unknown, error?: PlainError, halts?: boolean }} Reply
 * @typedef {{ message: string, code?: string, why?: string }} PlainError
 * @typedef {typeof OPERATIONS} Operations
 */

/**
 * What a user's function throws: an error, and whatever else.
 * @typedef {{ message?: string, code?: string, cause?: { message?: string } }} Thrown
 */

/** @typedef {RecordStore & Record<string, (...args: unknown[]) => unknown>} UserStore */

const { pathToFileURL } = require('node:url')
const { inTime, pause, step } = require('./time.js')
const { checkStore } = require('./answers.js')
const machine = require('./machine.js')
const works = require('./works.js')

const [file, callMs, place] = process.argv.slice(2)
if (place === 'elsewhere') machine.moveAway()
/** @type {UserStore[]} */
const clients = []
/** @type {{ default: () => unknown, wipe: () => unknown }} */
let loaded
let hasLeft = false

/**
 * The result of a call, or an error that names the call if it takes too long.
 * @param {string} name
 * @param {() => Promise<unknown>} call
 */
async function limited(name, call, ms = Number(callMs)) {
  try {
    return await inTime(call(), ms)
  } catch (cause) {
    const error = /** @type {{ code?: string } | null | undefined} */ (cause)
    if (error?.code !== 'ETIMEDOUT') throw cause
    throw Object.assign(new Error(`${name}() did not answer within ${ms / 1000} s`), { code: 'ETIMEDOUT' })
  }
}

/** For an answer to be there before the next step. */
const ANSWER_MS = 20

/** @type {(handle: number, name: string, args: unknown[]) => Promise<unknown>} */
const call = (handle, name, args) => limited(name, async () => clients[handle][name](...args))

/** @typedef {(clients: Call[], options: unknown) => Promise<unknown>} Work */

/**
 * A client for a function of works.js.
 * @param {number} handle
 */
const clientOf = (handle) => /** @type {Call} */ ((name, ...args) => call(handle, name, args))

const OPERATIONS = {
  /** Imports the module; gives what it exports. */
  async load() {
    loaded = await import(pathToFileURL(file).href)
    return { open: typeof loaded.default, wipe: typeof loaded.wipe }
  },

  /** Opens a client; gives its number, and which functions it has. */
  async open() {
    const client = /** @type {UserStore} */ (await limited('the default export', async () => loaded.default()))
    checkStore(client)
    clients.push(client)
    return { handle: clients.length - 1, groups: client.groups !== undefined, close: client.close !== undefined }
  },

  call,

  // Nobody looks at what these two give, and it may be something that cannot be copied.
  /** @param {number} handle */
  async close(handle) {
    await call(handle, 'close', [])
  },
  async wipe() {
    await limited('wipe', async () => loaded.wipe())
  },

  /**
   * Work with many calls: one of works.js.
   * @param {WorkName} name
   * @param {number[]} handles
   * @param {unknown} options of the work
   */
  work: (name, handles, options) => /** @type {Work} */ (works[name])(handles.map(clientOf), options),

  async endWriting() {
    works.endWriting()
  },

  /**
   * Makes calls at once, and stands still in the middle of them. Gives their answers, undefined for one that failed.
   * @param {number} handle
   * @param {number} steps how many answers of the server this process takes before
   * @param {Record<string, unknown[]>} calls the arguments of each function
   * @param {number} ms
   */
  async halt(handle, steps, calls, ms) {
    const answers = Object.entries(calls).map(async ([name, args]) => {
      const made = limited(name, async () => clients[handle][name](...args), ms + Number(callMs))
      return [name, await made.catch(() => undefined)]
    })
    for (let i = 0; i < steps; i++) {
      await step()
      pause(ANSWER_MS)
    }
    process.send?.({ halts: true }) // is written at once, before this process stands still
    pause(ms)
    return Object.fromEntries(await Promise.all(answers))
  },

  /**
   * Sets the clock of this process's machine ahead.
   * @param {number} ms
   */
  async setAhead(ms) {
    machine.setAhead(ms)
  },

  /** Lets go of the parent, so that this process ends unless the user's clients keep it. */
  async leave() {
    hasLeft = true
    setImmediate(() => process.disconnect())
  },
}

/** @type {(error: Thrown | undefined) => PlainError} */
const toPlain = (error) => ({
  message: error?.message ?? String(error),
  code: error?.code,
  why: error?.cause?.message,
})

/**
 * An answer that cannot be copied to the parent, such as a function, is an error too.
 * @param {number} id
 * @param {Omit<Reply, 'id'>} answer
 */
function reply(id, answer) {
  if (!process.connected) return
  try {
    send({ id, ...answer })
  } catch (error) {
    send({ id, error: toPlain(/** @type {Thrown} */ (error)) })
  }
}

/** @param {Reply} answer */
const send = (answer) => process.send?.(answer)

process.on('message', async (message) => {
  const { id, operation, args } = /** @type {Request} */ (message)
  const run = /** @type {(...args: unknown[]) => Promise<unknown>} */ (OPERATIONS[operation])
  try {
    reply(id, { value: await run(...args) })
  } catch (error) {
    reply(id, { error: toPlain(/** @type {Thrown} */ (error)) })
  }
})

// If the parent is gone, nobody needs us. But after leave() we must end by ourselves, because that is what is looked at.
process.once('disconnect', () => {
  if (!hasLeft) process.exit()
})
