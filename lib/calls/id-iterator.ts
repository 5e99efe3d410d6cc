// `for await (const id of flake)`: an endless series of IDs, or until a signal aborts, each from a nextAsync(). It is not a
// generator function, whose return() waits for the pending next(), and so for a store that does not answer.

import { whenAborted } from '../base/abort.ts'
import { PromiseCall } from './promise-call.ts'
import type { Queue } from './queue.ts'

export class IdIterator<Bytes extends Uint8Array> implements AsyncIterableIterator<Bytes> {
  #queue
  #signal
  #ignoreSignal: (() => void) | undefined // removes the listener; undefined while no next() waits, so that an abandoned loop leaves no listener
  #pending: Map<PromiseCall<Bytes>, (end: IteratorResult<Bytes>) => void> = new Map()
  #isDone = false

  /** @param signal ends the iteration, without an error */
  constructor(queue: Queue<Bytes>, signal?: AbortSignal) {
    this.#queue = queue
    this.#signal = signal
  }

  next(): Promise<IteratorResult<Bytes>> {
    if (this.#signal?.aborted) this.#isDone = true
    return new Promise((resolve, reject) => {
      if (this.#isDone) return resolve({ done: true, value: undefined })
      const call: PromiseCall<Bytes> = new PromiseCall(
        undefined,
        (value) => {
          this.#answered(call)
          resolve({ done: false, value })
        },
        (error) => {
          this.#answered(call)
          reject(error)
          this.#end()
        },
      )
      this.#pending.set(call, resolve)
      if (this.#signal === undefined) return this.#queue.submit(call)
      this.#queue.submitLater(call)
      this.#ignoreSignal ??= whenAborted(this.#signal, () => this.#end())
    })
  }

  async return(value?: unknown): Promise<IteratorResult<Bytes>> {
    this.#end()
    return { done: true, value: await value }
  }

  [Symbol.asyncIterator]() {
    return this
  }

  #answered(call: PromiseCall<Bytes>) {
    this.#pending.delete(call)
    if (this.#pending.size === 0) this.#stopListening()
  }

  #stopListening() {
    this.#ignoreSignal?.()
    this.#ignoreSignal = undefined
  }

  /** Ends the iteration, as in a generator function after return() or an error. Waiting calls take no ID. */
  #end() {
    this.#isDone = true
    this.#stopListening()
    for (const [call, resolve] of this.#pending) {
      this.#queue.cancel(call)
      resolve({ done: true, value: undefined })
    }
    this.#pending.clear()
  }
}
