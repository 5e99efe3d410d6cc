// `for await (const id of flake)`: an endless series of IDs, or until a signal aborts, each from nextAsync().
//
// It must never make return() wait. A generator function would: for the next() that is under way, and so for a store
// that does not answer. It must never use a module of Node: browsers load it too.

import { whenAborted } from './abort.ts'

export type Callback = (error: any, id?: any) => unknown

/** A call of next() without an answer. */
export type Call = { resolve(result: IteratorResult<Buffer, unknown>): void; waiter?: { cancel(): boolean } }

export class IdIterator {
  #submit
  #signal
  #ignoreSignal: (() => void) | undefined // removes the listener; undefined while no next() waits, so an abandoned loop leaves none
  #pending: Set<Call> = new Set()
  #isDone = false

  /**
   * @param submit asks for one ID
   * @param signal ends the iteration, without an error
   */
  constructor(submit: (callback: Callback) => { cancel(): boolean }, signal?: AbortSignal) {
    this.#submit = submit
    this.#signal = signal
  }

  next(): Promise<IteratorResult<any>> {
    if (this.#signal?.aborted) this.#isDone = true
    return new Promise((resolve, reject) => {
      if (this.#isDone) return resolve({ done: true, value: undefined })
      const call: Call = { resolve, waiter: undefined }
      call.waiter = this.#submit((error, value) => {
        this.#answered(call)
        if (!error) return resolve({ done: false, value })
        reject(error)
        this.#end()
      })
      this.#pending.add(call)
      if (this.#signal !== undefined) this.#ignoreSignal ??= whenAborted(this.#signal, () => this.#end())
    })
  }

  async return(value?: unknown): Promise<IteratorResult<any>> {
    this.#end()
    return { done: true, value: await value }
  }

  [Symbol.asyncIterator]() {
    return this
  }

  #answered(call: Call) {
    this.#pending.delete(call)
    if (this.#pending.size === 0) this.#stopListening()
  }

  #stopListening() {
    this.#ignoreSignal?.()
    this.#ignoreSignal = undefined
  }

  /** Ends the iteration, as in a generator function after return() or an error. Calls that still wait take no ID. */
  #end() {
    this.#isDone = true
    this.#stopListening()
    for (const { waiter, resolve } of this.#pending) {
      waiter?.cancel()
      resolve({ done: true, value: undefined })
    }
    this.#pending.clear()
  }
}
