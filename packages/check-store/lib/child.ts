// The program of a child process: it imports the user's module and does what the parent asks for: opens clients, calls
// their functions, and does work that needs many calls. It passes every answer on as it is. It must never judge one.

import { pathToFileURL } from 'node:url'
import type { RecordStore } from 'flakeforge/lease'
import { checkStore } from './answers.ts'
import * as machine from './machine.ts'
import { inTime, pause, step } from './time.ts'
import { type Call, endWriting, WORKS, type WorkName } from './works.ts'

/** What the parent asks for, and what it is answered. */
export type Request = { id: number; operation: keyof Operations; args: unknown[] }

export type Reply = { id: number; value?: unknown; error?: PlainError; halts?: boolean }

type PlainError = { message: string; code?: string; why?: string }

export type Operations = typeof OPERATIONS

/** What a user's function throws: an error, and whatever else. */
type Thrown = { message?: string; code?: string; cause?: { message?: string } }

type UserStore = RecordStore & Record<string, (...args: unknown[]) => unknown>

const [file, callMs, place] = process.argv.slice(2)
if (place === 'elsewhere') machine.moveAway()
const clients: UserStore[] = []
let loaded: { default: () => unknown; wipe: () => unknown }
let hasLeft = false

/** The result of a call, or an error that names the call if it takes too long. */
async function limited(name: string, call: () => Promise<unknown>, ms = Number(callMs)) {
  try {
    return await inTime(call(), ms)
  } catch (cause) {
    const error = cause as { code?: string } | null | undefined
    if (error?.code !== 'ETIMEDOUT') throw cause
    throw Object.assign(new Error(`${name}() did not answer within ${ms / 1000} s`), { code: 'ETIMEDOUT' })
  }
}

/** For an answer to be there before the next step. */
const ANSWER_MS = 20

const call: (handle: number, name: string, args: unknown[]) => Promise<unknown> = (handle, name, args) =>
  limited(name, async () => clients[handle][name](...args))

export type Work = (clients: Call[], options: unknown) => Promise<unknown>

/** A client for a function of works.ts. */
const clientOf = (handle: number) => ((name, ...args) => call(handle, name, args)) as Call

const OPERATIONS = {
  /** Imports the module; gives what it exports. */
  async load() {
    loaded = await import(pathToFileURL(file).href)
    return { open: typeof loaded.default, wipe: typeof loaded.wipe }
  },

  /** Opens a client; gives its number, and which functions it has. */
  async open() {
    const client = (await limited('the default export', async () => loaded.default())) as UserStore
    checkStore(client)
    clients.push(client)
    return { handle: clients.length - 1, groups: client.groups !== undefined, close: client.close !== undefined }
  },

  call,

  // Nobody looks at what these two give, and it may be something that cannot be copied.
  async close(handle: number) {
    await call(handle, 'close', [])
  },
  async wipe() {
    await limited('wipe', async () => loaded.wipe())
  },

  /**
   * Work with many calls: one of works.ts.
   * @param options of the work
   */
  work: (name: WorkName, handles: number[], options: unknown) => (WORKS[name] as Work)(handles.map(clientOf), options),

  async endWriting() {
    endWriting()
  },

  /**
   * Makes calls at once, and stands still in the middle of them. Gives their answers, undefined for one that failed.
   * @param steps how many answers of the server this process takes before
   * @param calls the arguments of each function
   */
  async halt(handle: number, steps: number, calls: Record<string, unknown[]>, ms: number) {
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

  /** Sets the clock of this process's machine ahead. */
  async setAhead(ms: number) {
    machine.setAhead(ms)
  },

  /** Lets go of the parent, so that this process ends unless the user's clients keep it. */
  async leave() {
    hasLeft = true
    setImmediate(() => process.disconnect())
  },
}

const toPlain: (error: Thrown | undefined) => PlainError = (error) => ({
  message: error?.message ?? String(error),
  code: error?.code,
  why: error?.cause?.message,
})

/** An answer that cannot be copied to the parent, such as a function, is an error too. */
function reply(id: number, answer: Omit<Reply, 'id'>) {
  if (!process.connected) return
  try {
    send({ id, ...answer })
  } catch (error) {
    send({ id, error: toPlain(error as Thrown) })
  }
}

const send = (answer: Reply) => process.send?.(answer)

process.on('message', async (message) => {
  const { id, operation, args } = message as Request
  const run = OPERATIONS[operation] as (...args: unknown[]) => Promise<unknown>
  try {
    reply(id, { value: await run(...args) })
  } catch (error) {
    reply(id, { error: toPlain(error as Thrown) })
  }
})

// If the parent is gone, nobody needs us. But after leave() we must end by ourselves, because that is what is looked at.
process.once('disconnect', () => {
  if (!hasLeft) process.exit()
})
