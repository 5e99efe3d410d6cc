// The calls that wait: with a callback, as a promise, with a signal, for a batch, and in a loop. Each class of generators has
// one `Calls` over its source of IDs.

import type { IterationOptions, SignalOptions } from '../base/abort.ts'
import { reasonOf, signalOf, throwIfAborted, whenAborted } from '../base/abort.ts'
import * as errors from '../base/errors/values.ts'
import { refuseMore } from '../base/values.ts'
import { checkCount } from './count.ts'
import { IdIterator } from './id-iterator.ts'
import { PromiseCall } from './promise-call.ts'
import { Queue } from './queue.ts'
import type { Callback, Host, Source } from './source.ts'

export class Calls<Bytes extends Uint8Array> {
  /** the waiting calls */
  queue
  #source
  #host

  constructor(source: Source<Bytes>, host: Host<Bytes>) {
    this.queue = new Queue(source, host)
    this.#source = source
    this.#host = host
  }

  /** `next(callback)`. */
  call(callback: unknown) {
    if (typeof callback !== 'function') throw errors.optionTypeError('callback', callback, 'a function')
    this.queue.submit(this.#host.callOf(callback as Callback<Bytes>))
  }

  /** `nextAsync(options, ...more)`. Invalid options reject the promise, and so do more arguments. */
  one(options: SignalOptions | null | undefined, more: readonly unknown[]): Promise<Bytes> {
    return new Promise((resolve, reject) => {
      refuseMore('nextAsync', more, 'only options')
      this.#submit(new PromiseCall<Bytes>(undefined, resolve, reject), options, reject)
    })
  }

  /** `takeAsync(n, options, ...more)`, in the same way. */
  batch(n: number, options: SignalOptions | null | undefined, more: readonly unknown[]): Promise<Bytes> {
    return new Promise((resolve, reject) => {
      refuseMore('takeAsync', more, 'only a number of IDs and options')
      const call = new PromiseCall<Bytes>(checkCount(n, this.#source.most), resolve, reject)
      this.#submit(call, options, reject)
    })
  }

  /** `ids(options, ...more)`. */
  iterate(options?: IterationOptions | null, more: readonly unknown[] = []): AsyncIterableIterator<Bytes> {
    refuseMore('ids', more, 'only options')
    return new IdIterator(this.queue, options === undefined ? undefined : signalOf(options))
  }

  /** Retries the waiting calls, because something has changed. */
  wake() {
    this.queue.serve()
  }

  #submit(call: PromiseCall<Bytes>, options: SignalOptions | null | undefined, reject: (reason: unknown) => void) {
    if (options === undefined) return this.queue.submit(call)
    const signal = signalOf(options)
    throwIfAborted(signal)
    this.queue.submitLater(call)
    if (signal === undefined) return
    call.ignoreSignal = whenAborted(signal, () => {
      if (this.queue.cancel(call)) reject(reasonOf(signal))
    })
  }
}
