'use strict'

// `for await (const id of flake)`: IDs without end, or until a signal aborts, each as nextAsync() gives it.
//
// It must never make return() wait: a generator function would, for the next() that is on its way, and with it for a store
// that does not answer.

const { whenAborted } = require('./abort.js')

class IdIterator {
  #submit
  #signal
  #ignoreSignal // takes the listener back; undefined while no call of next() waits, so that a loop nobody goes on with has none
  #pending = new Set() // calls of next() without an answer
  #isDone = false

  /**
   * @param {(callback: Function) => { cancel(): boolean }} submit asks for one ID
   * @param {AbortSignal} [signal] ends the iteration, without an error
   */
  constructor(submit, signal) {
    this.#submit = submit
    this.#signal = signal
  }

  next() {
    if (this.#signal?.aborted) this.#isDone = true
    return new Promise((resolve, reject) => {
      if (this.#isDone) return resolve({ done: true, value: undefined })
      const call = { resolve, waiter: undefined }
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

  async return(value) {
    this.#end()
    return { done: true, value: await value }
  }

  [Symbol.asyncIterator]() {
    return this
  }

  #answered(call) {
    this.#pending.delete(call)
    if (this.#pending.size === 0) this.#stopListening()
  }

  #stopListening() {
    this.#ignoreSignal?.()
    this.#ignoreSignal = undefined
  }

  /** As a generator function does after return() or an error. Calls that still wait take no ID any more. */
  #end() {
    this.#isDone = true
    this.#stopListening()
    for (const { waiter, resolve } of this.#pending) {
      waiter.cancel()
      resolve({ done: true, value: undefined })
    }
    this.#pending.clear()
  }
}

module.exports = { IdIterator }
