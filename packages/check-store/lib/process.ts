// A child process that has imported the user's module, seen from the parent, and clients in it. Every request has a time
// limit. The parent never calls the user's module, so it keeps running whatever that does.

import { type ForkOptions, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { RecordStore, StoreIdentity } from 'flakeforge/lease'
import type { Operations, Reply } from './child.ts'
import { Finding, show } from './finding.ts'
import type { WorkName, Works } from './works.ts'

type Answer = Awaited<ReturnType<RecordStore['read']>>

/** those of each group, as texts */
export type Identities = Map<string, Set<string>>

/** The bundle of child.ts, next to that of this file. */
const CHILD = join(import.meta.dirname, 'child.mjs')

/** How much longer the parent waits for a request than flakeforge waits for a call: a blocked process never answers. */
const GRACE_MS = 2000
/** A swap may occasionally be answered false, after a conflict; not more often than this without any other writer. */
const TRIES = 3

/** For a user, who knows only the functions of the store. */
const WORDS: { [operation in keyof Operations]?: string } = {
  load: 'the import of the module',
  open: 'the default export',
}

const gone = (why: string) =>
  new Finding(
    `a process that uses the store cannot continue: ${why}`,
    'a process that runs until it is asked to end',
    'see its output above; a client usually needs a listener for its errors',
  )

export class Process {
  #child
  #callMs
  #checkMs
  #requests = 0
  #waiting: Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void; timer: NodeJS.Timeout }> =
    new Map()
  /** why it cannot continue */
  #ended: Finding | undefined
  #halts: () => void = () => {}
  /** Every identity that a client of this run has read of each group. */
  identities

  /**
   * @param file the path of the user's module
   * @param options `callMs`: how long one call of its functions may take; `checkMs`: the same for a check; `place`: whether it
   * simulates another machine
   */
  constructor(
    file: string,
    options: { callMs: number; checkMs: number; identities: Identities; place: 'here' | 'elsewhere' },
  ) {
    const { callMs, checkMs, identities, place } = options
    this.#callMs = callMs
    this.#checkMs = checkMs
    this.identities = identities
    // Its output must not be in the report.
    const how: ForkOptions = { serialization: 'advanced', stdio: ['ignore', 2, 2, 'ipc'] }
    this.#child = fork(CHILD, [file, String(callMs), place], how)
    this.#child.on('message', (message) => this.#settle(message as Reply))
    this.#child.once('error', (error) => this.#end(gone(error.message)))
    this.#child.once('exit', (code, signal) => this.#end(gone(`it ended with ${signal ?? `exit status ${code}`}`)))
  }

  /** Requests an operation of child.ts, which takes `ms` at most, besides one call of the user's function. */
  ask(operation: keyof Operations, args: unknown[] = [], ms = 0): Promise<unknown> {
    return this.#request(operation, args, ms + this.#callMs + GRACE_MS)
  }

  async #request(operation: keyof Operations, args: unknown[], limitMs: number): Promise<unknown> {
    if (this.#ended !== undefined) throw this.#ended
    const id = this.#requests++
    const answer = new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#giveUp(operation, args, limitMs), limitMs)
      this.#waiting.set(id, { resolve, reject, timer })
    })
    this.#child.send({ id, operation, args }, () => {}) // if it cannot be sent, the process has ended, which is noticed
    return answer
  }

  /** Ends a process that is blocked, or waits for a function that flakeforge does not limit, such as the default export. */
  #giveUp(operation: keyof Operations, args: unknown[], limitMs: number) {
    const what = WORDS[operation] ?? `${operation === 'call' ? args[1] : operation}()`
    const finding = new Finding(
      `${what} did not answer within ${limitMs / 1000} s`,
      'an answer, or an error, from a function that does not block its process',
      'give each call a time limit; look for a loop, or for a call that waits synchronously',
    )
    this.#end(finding)
    this.kill()
  }

  /** Resolves when this process is next suspended. */
  whenHalted() {
    return new Promise((resolve) => {
      this.#halts = resolve
    }) as Promise<void>
  }

  #settle({ id, value, error, halts }: Reply) {
    if (halts) return this.#halts()
    const { resolve, reject, timer } = this.#waiting.get(id) ?? {}
    clearTimeout(timer)
    this.#waiting.delete(id)
    if (error === undefined) resolve?.(value)
    else reject?.(Object.assign(new Error(error.message), error))
  }

  #end(why: Finding) {
    this.#ended ??= why
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer)
      reject(this.#ended)
    }
    this.#waiting.clear()
  }

  /**
   * Imports the module; returns its exports. This may take almost as long as a check: how fast processes start on this
   * machine says nothing about the store.
   */
  async load() {
    return (await this.#request('load', [], this.#checkMs - GRACE_MS)) as Awaited<ReturnType<Operations['load']>>
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
    const exit = once(this.#child, 'exit', { signal: AbortSignal.timeout(ms) })
    exit.catch(() => {}) // awaited later
    await this.ask('leave')
    try {
      const [code, signal] = await exit
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

/** A client in a child process: the functions of a RecordStore. */
export class Client {
  process
  handle
  has

  /** from the last read of each group */
  #identities: Map<string, StoreIdentity> = new Map()

  /** @param opened its number there, and its functions */
  constructor(process: Process, { handle, groups, close }: { handle: number; groups: boolean; close: boolean }) {
    this.process = process
    this.handle = handle
    this.has = { groups, close }
  }

  async read(group: string, names: string[]) {
    const answer = (await this.#call('read', group, names)) as Answer
    this.#identities.set(group, answer.identity)
    const known = this.process.identities.get(group) ?? new Set()
    this.process.identities.set(group, known.add(JSON.stringify(answer.identity)))
    return answer
  }

  async values(group: string, names: string[]) {
    return (await this.read(group, names)).values
  }

  async value(group: string, name: string) {
    return (await this.values(group, [name]))[0]
  }

  async identity(group: string) {
    return (await this.read(group, ['group'])).identity
  }

  /** With the identity that this client last read of the group, unless another one is given. */
  async swap(
    group: string,
    name: string,
    from: string | null,
    to: string,
    identity: StoreIdentity | undefined = this.#identities.get(group),
  ): Promise<boolean> {
    if (identity === undefined) return this.swap(group, name, from, to, await this.identity(group))
    return (await this.#call('swap', group, name, from, to, identity)) as boolean
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

  async names(group: string) {
    return (await this.#call('names', group)) as string[]
  }

  async groups() {
    return (await this.#call('groups')) as string[]
  }

  close() {
    return this.process.ask('close', [this.handle])
  }

  #call(name: string, ...args: unknown[]) {
    return this.process.ask('call', [this.handle, name, args])
  }
}
