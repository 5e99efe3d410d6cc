// The host for runtimes that may not be Node.js: a promise keeps the async context, and microtasks run the callbacks. Its
// sources wake their calls themselves, so it needs no event loop.

import { queueMicrotask } from '../base/portable-timers.ts'
import { PromiseCall } from './promise-call.ts'
import type { Callback, Host } from './source.ts'

export const PORTABLE: Host<Uint8Array> = {
  callOf(callback) {
    let call: PromiseCall<Uint8Array> | undefined
    const id = new Promise<Uint8Array>((resolve, reject) => {
      call = new PromiseCall(undefined, resolve, reject)
    })
    tell(callback, id)
    return call as unknown as PromiseCall<Uint8Array>
  },
  soon: (task) => queueMicrotask(task), // browsers refuse it as a method of another object
  isSliceOver: () => false,
  goOnNextTurn: (queue) => queue.goOn(),
  goOnIn: (_ms, queue) => queue.goOn(),
  stopWaiting() {},
}

/** Calls back with the promise's result, in the current async context. */
export function tell(callback: Callback<Uint8Array>, id: Promise<Uint8Array>) {
  id.then(
    (value) => run(callback, null, value),
    (error) => run(callback, error),
  )
}

/** An error in the callback is thrown as from any callback, and does not become a rejected promise. */
function run(callback: Callback<Uint8Array>, ...result: Parameters<Callback<Uint8Array>>) {
  try {
    callback(...result)
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
