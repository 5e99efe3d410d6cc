'use strict'

// `for await (const id of flake)`: IDs without end, each as nextAsync() gives it.
//
// It must never make return() wait: a generator function would, for the next() that is on its way, and with it for a store
// that does not answer.

class IdIterator {
  #submit
  #pending = new Set() // calls of next() without an answer
  #isDone = false

  /** @param {(callback: Function) => { cancel(): void }} submit asks for one ID */
  constructor(submit) {
    this.#submit = submit
  }

  next() {
    return new Promise((resolve, reject) => {
      if (this.#isDone) return resolve({ done: true, value: undefined })
      const call = { resolve, waiter: undefined }
      call.waiter = this.#submit((error, value) => {
        this.#pending.delete(call)
        if (!error) return resolve({ done: false, value })
        reject(error)
        this.#end()
      })
      this.#pending.add(call)
    })
  }

  async return(value) {
    this.#end()
    return { done: true, value: await value }
  }

  [Symbol.asyncIterator]() {
    return this
  }

  /** As a generator function does after return() or an error. Calls that still wait take no ID any more. */
  #end() {
    this.#isDone = true
    for (const { waiter, resolve } of this.#pending) {
      waiter.cancel()
      resolve({ done: true, value: undefined })
    }
    this.#pending.clear()
  }
}

module.exports = { IdIterator }
