// A call that gives its IDs to a promise. A promise keeps the async context by itself.

import type { Call } from './source.ts'

export class PromiseCall<Bytes extends Uint8Array> implements Call<Bytes> {
  n
  made = 0
  into: Bytes | undefined = undefined
  state: Call['state'] = 'waiting'
  error: unknown = undefined
  since: number | undefined = undefined
  /** removes the listener of the call's signal */
  ignoreSignal: (() => void) | undefined = undefined
  #resolve
  #reject

  constructor(n: number, resolve: (ids: Bytes) => void, reject: (error: unknown) => void) {
    this.n = n
    this.#resolve = resolve
    this.#reject = reject
  }

  tell() {
    this.ignoreSignal?.()
    if (this.state === 'failed') this.#reject(this.error)
    else this.#resolve(this.into as Bytes)
  }
}
