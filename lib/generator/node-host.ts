// The Node.js host of lib/calls: callbacks on process.nextTick, in the async context of their call, and the event loop.

import { nextTick } from '../base/timers.ts'
import type { Call, Callback, Host } from '../calls/source.ts'
import { goOnIn, goOnNextTurn, isSliceOver, stopWaiting } from './event-loop.ts'

const { AsyncResource } = process.getBuiltinModule('node:async_hooks')

/**
 * A call with a callback. It is an AsyncResource itself, because a further object would make each call slower; so would
 * fields with the same value in all calls, which are on the prototype.
 */
class CallbackCall extends AsyncResource implements Call<Buffer> {
  declare n: number
  declare isBatch: false
  declare made: number
  declare since: undefined
  into: Buffer | undefined = undefined
  state: Call['state'] = 'waiting'
  error: unknown = undefined
  #callback

  constructor(callback: Callback<Buffer>) {
    super('FLAKEFORGE')
    this.#callback = callback
  }

  tell() {
    if (this.state === 'failed') this.runInAsyncScope(this.#callback, undefined, this.error, undefined)
    else this.runInAsyncScope(this.#callback, undefined, null, this.into)
  }
}

Object.assign(CallbackCall.prototype, { n: 1, isBatch: false, made: 0, since: undefined })

export const NODE: Host<Buffer> = {
  callOf: (callback) => new CallbackCall(callback),
  soon: nextTick,
  isSliceOver,
  goOnNextTurn,
  goOnIn,
  stopWaiting,
}
