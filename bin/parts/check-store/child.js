'use strict'
// @ts-check

// The program of a child process: it imports the user's module and does what the parent asks for: opens clients, calls
// their functions, and does work that needs many calls. It passes every answer on as it is. It must never judge one.

/** @import { RecordStore } from '../../../index.d.ts' */
/** @import { Call, Works } from './works.js' */

/**
 * What the parent asks for, and what it is answered.
 * @typedef {{ id: number, operation: keyof Operations, args: unknown[] }} Request
 * @typedef {{ id: number, value?: unknown, error?: PlainError }} Reply
 * @typedef {{ message: string, code?: string, why?: string }} PlainError
 * @typedef {typeof OPERATIONS} Operations
 */

/**
 * What a user's function throws: an error, and whatever else.
 * @typedef {{ message?: string, code?: string, cause?: { message?: string } }} Thrown
 */

/** @typedef {RecordStore & Record<string, (...args: unknown[]) => unknown>} UserStore */

const { pathToFileURL } = require('node:url')
const { inTime } = require('../../../lib/base/in-time.js')
const { checkRecordStore } = require('../../../lib/lease/stores/record-store.js')
const works = require('./works.js')

const [file, callMs] = process.argv.slice(2)
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
async function limited(name, call) {
  try {
    return await inTime(call(), Number(callMs))
  } catch (cause) {
    const error = /** @type {{ code?: string } | null | undefined} */ (cause)
    if (error?.code !== 'ETIMEDOUT') throw cause
    throw Object.assign(new Error(`${name}() did not answer within ${Number(callMs) / 1000} s`), { code: 'ETIMEDOUT' })
  }
}

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
    checkRecordStore(client)
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
   * @param {keyof Works} name
   * @param {number[]} handles
   * @param {unknown} options of the work
   */
  work: (name, handles, options) => /** @type {Work} */ (works[name])(handles.map(clientOf), options),

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
