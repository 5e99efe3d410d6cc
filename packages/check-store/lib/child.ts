// The program of a child process: it imports the user's module, opens clients for the parent, calls their functions, and does
// work that needs many calls. It calls them as flakeforge does, through recordStore(), which checks every answer and waits no
// longer than a lease would. The parent judges what they answered.

import { pathToFileURL } from 'node:url'
import { quorumStore, type RecordStore, recordStore } from 'flakeforge/lease'
import { addressesIn, isAddress } from './address.ts'
import * as machine from './machine.ts'
import { pause, sleep, step } from './time.ts'
import { type Call, endWriting, type Failure, failureOf, WORKS, type WorkName } from './works.ts'

/** The parent's request, and the reply. */
export type Request = { id: number; operation: keyof Operations; args: unknown[] }

export type Reply = { id: number; value?: unknown; error?: Failure; halts?: boolean }

export type Operations = typeof OPERATIONS

type Functions = Record<string, (...args: unknown[]) => Promise<unknown>>

const [file, callMs, place] = process.argv.slice(2)
if (place === 'elsewhere') machine.moveAway()
/** Each as flakeforge calls it, and as the user made it. */
const clients: { checked: Functions; raw: Functions }[] = []
let loaded: { default: () => unknown; wipe?: () => unknown }
let hasLeft = false

/** What a module would export for these servers. */
const moduleFor = (addresses: string[]) => ({ default: async () => quorumStore(addresses).records })

/** Enough for an answer to arrive before the next step. */
const ANSWER_MS = 20

const call: (handle: number, name: string, args: unknown[]) => Promise<unknown> = (handle, name, args) =>
  clients[handle].checked[name](...args)

export type Work = (clients: Call[], options: unknown) => Promise<unknown>

/** A client for a function of works.ts. */
const clientOf = (handle: number) => ((name, ...args) => call(handle, name, args)) as Call

const OPERATIONS = {
  /** Imports the module; returns its exports. */
  async load() {
    loaded = isAddress(file) ? moduleFor(addressesIn(file)) : await import(pathToFileURL(file).href)
    return { open: typeof loaded.default, wipe: typeof loaded.wipe }
  },

  /** Opens a client; returns its number and its functions. */
  async open() {
    const raw = (await loaded.default()) as RecordStore
    const checked = recordStore(raw).records
    clients.push({ checked: checked as unknown as Functions, raw: raw as unknown as Functions })
    return { handle: clients.length - 1, groups: checked.groups !== undefined, close: raw.close !== undefined }
  },

  call,

  // The results of these two are not used, and may be impossible to copy.
  async close(handle: number) {
    await call(handle, 'close', [])
  },
  async wipe() {
    await loaded.wipe?.()
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
   * Makes calls at once, and suspends the process in the middle of them, for longer than flakeforge waits: what they do then
   * must be right too. Returns their answers, undefined for a failed one.
   * @param steps how many answers of the server this process receives first
   * @param calls the arguments of each function
   */
  async halt(handle: number, steps: number, calls: Record<string, unknown[]>, ms: number) {
    const late = sleep(ms + Number(callMs))
    const answers = Object.entries(calls).map(async ([name, args]) => {
      const made = (async () => clients[handle].raw[name](...args))()
      return [name, await Promise.race([made, late]).catch(() => undefined)]
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

/** An answer that cannot be copied to the parent, such as a function, is an error too. */
function reply(id: number, answer: Omit<Reply, 'id'>) {
  if (!process.connected) return
  try {
    send({ id, ...answer })
  } catch (error) {
    send({ id, error: failureOf(error) })
  }
}

const send = (answer: Reply) => process.send?.(answer)

process.on('message', async (message) => {
  const { id, operation, args } = message as Request
  const run = OPERATIONS[operation] as (...args: unknown[]) => Promise<unknown>
  try {
    reply(id, { value: await run(...args) })
  } catch (error) {
    reply(id, { error: failureOf(error) })
  }
})

// Without its parent this process is useless. But after leave() it must end without help, because that is being checked.
process.once('disconnect', () => {
  if (!hasLeft) process.exit()
})
