'use strict'

// The program of a child process: it imports the user's module and does what the parent asks for: opens clients, calls
// their functions, and does work that needs many calls. It passes every answer on as it is. It must never judge one.

const { pathToFileURL } = require('node:url')
const { inTime } = require('../../../lib/base/in-time.js')
const { checkRecordStore } = require('../../../lib/lease/stores/record-store.js')
const works = require('./works.js')

const [file, callMs] = process.argv.slice(2)
const clients = []
let loaded
let hasLeft = false

/** The result of a call, or an error that names the call if it takes too long. */
async function limited(name, call) {
  try {
    return await inTime(call(), Number(callMs))
  } catch (error) {
    if (error?.code !== 'ETIMEDOUT') throw error
    throw Object.assign(new Error(`${name}() did not answer within ${callMs / 1000} s`), { code: 'ETIMEDOUT' })
  }
}

const call = (handle, name, args) => limited(name, async () => clients[handle][name](...args))

const OPERATIONS = {
  /** Imports the module; gives what it exports. */
  async load() {
    loaded = await import(pathToFileURL(file))
    return { open: typeof loaded.default, wipe: typeof loaded.wipe }
  },

  /** Opens a client; gives its number, and which functions it has. */
  async open() {
    const client = await limited('the default export', async () => loaded.default())
    checkRecordStore(client)
    clients.push(client)
    return { handle: clients.length - 1, groups: client.groups !== undefined, close: client.close !== undefined }
  },

  call,

  // Nobody looks at what these two give, and it may be something that cannot be copied.
  async close(handle) {
    await call(handle, 'close', [])
  },
  async wipe() {
    await limited('wipe', async () => loaded.wipe())
  },

  /** Work with many calls: one of works.js. */
  work: (name, handles, options) =>
    works[name](
      handles.map(
        (handle) =>
          (fn, ...args) =>
            call(handle, fn, args),
      ),
      options,
    ),

  /** Lets go of the parent, so that this process ends unless the user's clients keep it. */
  async leave() {
    hasLeft = true
    setImmediate(() => process.disconnect())
  },
}

const toPlain = (error) => ({
  message: error?.message ?? String(error),
  code: error?.code,
  why: error?.cause?.message,
})

/** An answer that cannot be copied to the parent, such as a function, is an error too. */
function reply(id, answer) {
  if (!process.connected) return
  try {
    process.send({ id, ...answer })
  } catch (error) {
    process.send({ id, error: toPlain(error) })
  }
}

process.on('message', async ({ id, operation, args }) => {
  try {
    reply(id, { value: await OPERATIONS[operation](...args) })
  } catch (error) {
    reply(id, { error: toPlain(error) })
  }
})

// If the parent is gone, nobody needs us. But after leave() we must end by ourselves, because that is what is looked at.
process.once('disconnect', () => {
  if (!hasLeft) process.exit()
})
