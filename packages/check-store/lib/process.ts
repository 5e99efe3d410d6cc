// A child process that has imported the user's module, seen from the parent, and clients in it. Every request has a time
// limit. The parent never calls the user's module, so it keeps running whatever that does.

import { type ForkOptions, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { StoreIdentity } from 'flakeforge/lease'
import { checkIdentity, checkSwapped, checkValues } from './answers.ts'
import type { Operations, Reply } from './child.ts'
import { Finding, show } from './finding.ts'
import { inTime } from './time.ts'
import type { WorkName, Works } from './works.ts'

/** The unchecked result of a user's read(). */
type RawAnswer = { now?: unknown; identity?: unknown; values?: unknown; position?: unknown } | undefined

/** those of each group, as texts */
export type Identities = Map<string, Set<string>>

/** The bundle of child.ts, next to that of this file. */
const CHILD = join(import.meta.dirname, 'child.mjs')

/** How much longer the parent waits for a request than its calls may take: a blocked process never answers. */
const GRACE_MS = 2000
/** How long a process may take to start and to import the module. */
const LOAD_MS = 10_000
/** A swap may occasionally be answered false, after a conflict; not more often than this without any other writer. */
const TRIES = 3

export class Process {
  #child
  #callMs
  #requests = 0
  #waiting: Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }> = new Map()
  /** why it cannot continue */
  #ended: string | undefined
  #halts: () => void = () => {}
  /** Every identity that a client of this run has read of each group. */
  identities

  /**
   * @param file the path of the user's module
   * @param options `callMs`: how long one call of its functions may take; `place`: whether it simulates another machine
   */
  constructor(
    file: string,
    { callMs, identities, place }: { callMs: number; identities: Identities; place: 'here' | 'elsewhere' },
  ) {
    this.#callMs = callMs
    this.identities = identities
    // Its output must not be in the report.
    const options: ForkOptions = { serialization: 'advanced', stdio: ['ignore', 2, 2, 'ipc'] }
    this.#child = fork(CHILD, [file, String(callMs), place], options)
    this.#child.on('message', (message) => this.#settle(message as Reply))
    this.#child.once('error', (error) => this.#end(error.message))
    this.#child.once('exit', (code, signal) => this.#end(`it ended with ${signal ?? `exit status ${code}`}`))
  }

  /** Requests an operation of child.ts, which takes `ms` at most, besides one call of the user's function. */
  async ask(operation: keyof Operations, args: unknown[] = [], ms = 0): Promise<unknown> {
    if (this.#ended !== undefined) throw this.#goneError()
    const limitMs = ms + this.#callMs + GRACE_MS
    const id = this.#requests++
    const answer = new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
    })
    this.#child.send({ id, operation, args }, () => {}) // if it cannot be sent, the process has ended, which is noticed
    try {
      return await inTime(answer, limitMs)
    } catch (cause) {
      const error = cause as Error & { code?: string; isTheirs?: boolean }
      if (error.code !== 'ETIMEDOUT' || error.isTheirs) throw error
      this.kill()
      throw new Finding(
        `a process that uses the store did not answer within ${limitMs / 1000} s`,
        'functions that do not block their process',
        'look for a loop, or for a call that waits synchronously',
      )
    }
  }

  /** Resolves when this process is next suspended. */
  whenHalted() {
    return new Promise((resolve) => {
      this.#halts = resolve
    }) as Promise<void>
  }

  #settle({ id, value, error, halts }: Reply) {
    if (halts) return this.#halts()
    const { resolve, reject } = this.#waiting.get(id) ?? {}
    this.#waiting.delete(id)
    if (error === undefined) resolve?.(value)
    else reject?.(Object.assign(new Error(error.message), error, { isTheirs: true }))
  }

  #end(why: string) {
    this.#ended ??= why
    for (const { reject } of this.#waiting.values()) reject(this.#goneError())
    this.#waiting.clear()
  }

  #goneError() {
    return new Finding(
      `a process that uses the store cannot continue: ${this.#ended}`,
      'a process that runs until it is asked to end',
      'see its output above; a client usually needs a listener for its errors',
    )
  }

  /** Imports the module; returns its exports. */
  async load() {
    return (await this.ask('load', [], LOAD_MS)) as Awaited<ReturnType<Operations['load']>>
  }

  /**
   * Runs work that takes many calls of these clients, and `ms` at most.
   * @param name of a function of works.ts
   * @param handles of the clients
   */
  async work<N extends WorkName>(name: N, handles: number[], options: Parameters<Works[N]>[1], ms: number) {
    return (await this.ask('work', [name, handles, options], ms)) as Awaited<ReturnType<Works[N]>>
  }

  /** Opens a separate client. */
  async open() {
    return new Client(this, (await this.ask('open')) as Awaited<ReturnType<Operations['open']>>)
  }

  /** Whether it ends on its own within `ms` after leave(); and with which exit status. */
  async ends(ms: number) {
    const exit = once(this.#child, 'exit')
    await this.ask('leave')
    try {
      const [code, signal] = await inTime(exit, ms)
      return { ended: true, with: signal ?? code }
    } catch {
      return { ended: false }
    }
  }

  /** Ends it at once, as a crash would, and resolves when it has ended. */
  async kill() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exit = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exit
  }
}

/** A client in a child process: the functions of a RecordStore, with the unchanged answers of the user's functions. */
export class Client {
  process
  handle
  has

  /** from the last read of each group */
  #identities: Map<string, unknown> = new Map()

  /** @param opened its number there, and its functions */
  constructor(process: Process, { handle, groups, close }: { handle: number; groups: boolean; close: boolean }) {
    this.process = process
    this.handle = handle
    this.has = { groups, close }
  }

  /** The raw answer to read(). */
  async read(group: string, names: string[]) {
    const answer = (await this.#call('read', group, names)) as RawAnswer
    this.#identities.set(group, answer?.identity)
    const { history, process } = (answer?.identity ?? {}) as Partial<StoreIdentity>
    const known = this.process.identities.get(group) ?? new Set()
    this.process.identities.set(group, known.add(JSON.stringify({ history, process })))
    return answer
  }

  /** The values of these records, checked. */
  async values(group: string, names: string[]): Promise<readonly (string | null)[]> {
    return checkValues((await this.read(group, names))?.values, names)
  }

  async value(group: string, name: string) {
    return (await this.values(group, [name]))[0]
  }

  /** The identity that this client reads, checked. */
  async identity(group: string): Promise<StoreIdentity> {
    return checkIdentity((await this.read(group, ['group']))?.identity)
  }

  /** With the identity that this client last read of the group, unless another one is given. */
  async swap(
    group: string,
    name: string,
    from: string | null,
    to: string,
    identity: unknown = this.#identities.get(group),
  ): Promise<boolean> {
    if (identity === undefined) return this.swap(group, name, from, to, await this.identity(group))
    return checkSwapped(await this.#call('swap', group, name, from, to, identity))
  }

  /** A swap without a competitor, so that it must be answered true: after a conflict, at the next attempt. */
  async change(group: string, name: string, from: string | null, to: string) {
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

  /** Runs work of works.ts with this client alone, for `ms` at most. */
  work<N extends WorkName>(name: N, options: Parameters<Works[N]>[1], ms: number) {
    return this.process.work(name, [this.handle], options, ms)
  }

  /**
   * Makes a read and a swap, and suspends the process for `ms` after this many answers of the server. `begun` resolves when
   * it is suspended, or has failed.
   * @param calls the arguments of each
   */
  halt(steps: number, calls: Record<string, unknown[]>, ms: number) {
    const halted = this.process.whenHalted()
    const answers = this.process.ask('halt', [this.handle, steps, calls, ms], ms)
    const begun = Promise.race([halted, answers])
    return { begun, answers: answers as ReturnType<Operations['halt']> }
  }

  names(group: string) {
    return this.#call('names', group)
  }

  groups() {
    return this.#call('groups')
  }

  close() {
    return this.process.ask('close', [this.handle])
  }

  #call(name: string, ...args: unknown[]) {
    return this.process.ask('call', [this.handle, name, args])
  }
}
