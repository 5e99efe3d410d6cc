// A call that resolves a promise with its IDs. A promise keeps the async context by itself.

import type { Call } from './source.ts'

export class PromiseCall<Bytes extends Uint8Array> implements Call<Bytes> {
  n
  isBatch
  made = 0
  into: Bytes | undefined = undefined
  state: Call['state'] = 'waiting'
  error: unknown = undefined
  since: number | undefined = undefined
  /** removes the listener of the call's signal */
  ignoreSignal: (() => void) | undefined = undefined
  #resolve
  #reject

  /** @param n of a batch; undefined for one ID */
  constructor(n: number | undefined, resolve: (ids: Bytes) => void, reject: (error: unknown) => void) {
    this.n = n ?? 1
    this.isBatch = n !== undefined
    this.#resolve = resolve
    this.#reject = reject
  }

  tell() {
    this.ignoreSignal?.()
    if (this.state === 'failed') this.#reject(this.error)
    else this.#resolve(this.into as Bytes)
  }
}
