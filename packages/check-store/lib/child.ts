// The program of a child process: it imports the user's module, opens clients for the parent, calls their functions, and does
// work that needs many calls. It returns every answer unchecked; the parent judges it.

import { pathToFileURL } from 'node:url'
import type { RecordStore } from 'flakeforge/lease'
import { checkStore } from './answers.ts'
import * as machine from './machine.ts'
import { inTime, pause, step } from './time.ts'
import { type Call, endWriting, WORKS, type WorkName } from './works.ts'

/** The parent's request, and the reply. */
export type Request = { id: number; operation: keyof Operations; args: unknown[] }

export type Reply = { id: number; value?: unknown; error?: PlainError; halts?: boolean }

type PlainError = { message: string; code?: string; why?: string }

export type Operations = typeof OPERATIONS

/** An error of a user's function, or any other thrown value. */
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

/** Enough for an answer to arrive before the next step. */
const ANSWER_MS = 20

const call: (handle: number, name: string, args: unknown[]) => Promise<unknown> = (handle, name, args) =>
  limited(name, async () => clients[handle][name](...args))

export type Work = (clients: Call[], options: unknown) => Promise<unknown>

/** A client for a function of works.ts. */
const clientOf = (handle: number) => ((name, ...args) => call(handle, name, args)) as Call

const OPERATIONS = {
  /** Imports the module; returns its exports. */
  async load() {
    loaded = await import(pathToFileURL(file).href)
    return { open: typeof loaded.default, wipe: typeof loaded.wipe }
  },

  /** Opens a client; returns its number and its functions. */
  async open() {
    const client = (await limited('the default export', async () => loaded.default())) as UserStore
    checkStore(client)
    clients.push(client)
    return { handle: clients.length - 1, groups: client.groups !== undefined, close: client.close !== undefined }
  },

  call,

  // The results of these two are not used, and may be impossible to copy.
  async close(handle: number) {
    await call(handle, 'close', [])
  },
  async wipe() {
    await limited('wipe', async () => loaded.wipe())
  },

  /**
   * Work with many calls: a function of works.ts.
   * @param options of the work
   */
  work: (name: WorkName, handles: number[], options: unknown) => (WORKS[name] as Work)(handles.map(clientOf), options),

  async endWriting() {
    endWriting()
  },

  /**
   * Makes calls at once, and suspends the process in the middle of them. Returns their answers, undefined for a failed one.
   * @param steps how many answers of the server this process receives first
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
    process.send?.({ halts: true }) // written at once, before this process is suspended
    pause(ms)
    return Object.fromEntries(await Promise.all(answers))
  },

  /** Sets the clock of this process's machine ahead. */
  async setAhead(ms: number) {
    machine.setAhead(ms)
  },

  /** Disconnects from the parent, so that this process ends unless the user's clients keep it alive. */
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

// Without its parent this process is useless. But after leave() it must end without help, because that is being checked.
process.once('disconnect', () => {
  if (!hasLeft) process.exit()
})
