// Time limits for answers that may never come: clients queue calls forever by default, and a user's own store may not answer.

import { reasonOf, throwIfAborted, whenAborted } from './abort.ts'
import { clearTimeout, setImmediate, setTimeout } from './timers.ts'

const LATE: unique symbol = Symbol('late')

/**
 * The result of `call`, or LATE after this many ms; a later result is ignored. After a long turn of the event loop, Node runs
 * timers before it reads pending input, so the limit allows one more turn for that.
 */
async function inTimeOrLate<Result>(
  call: Result | PromiseLike<Result>,
  ms: number,
  signal?: AbortSignal,
): Promise<Result | typeof LATE> {
  throwIfAborted(signal)
  let timer
  let ignore = () => {}
  const late = new Promise<typeof LATE>((resolve, reject) => {
    timer = setTimeout(() => setImmediate(resolve, LATE), ms)
    if (signal) ignore = whenAborted(signal, () => reject(reasonOf(signal)))
  })
  try {
    return await Promise.race([call, late])
  } finally {
    clearTimeout(timer)
    ignore()
  }
}

/**
 * Settles as `call` does, or fails after this many ms, with the code ETIMEDOUT.
 * @param signal when it aborts, this fails at once, with its reason
 */
export async function inTime<Result>(
  call: Result | PromiseLike<Result>,
  ms: number,
  signal?: AbortSignal,
): Promise<Result> {
  const answer = await inTimeOrLate(call, ms, signal)
  if (answer === LATE) throw Object.assign(new Error(`no answer within ${ms} ms`), { code: 'ETIMEDOUT' })
  return answer
}

/** Settles as `call` does, or resolves to undefined after this many ms. */
export async function within<Result>(call: Result | PromiseLike<Result>, ms: number): Promise<Result | undefined> {
  const answer = await inTimeOrLate(call, ms)
  return answer === LATE ? undefined : answer
}
