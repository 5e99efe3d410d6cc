// Time limits for answers that may never come: clients queue calls forever by default, and a user's own store may not answer.

import { clearTimeout, setImmediate, setTimeout } from './timers.ts'

const LATE: unique symbol = Symbol('late')

/**
 * The result of `call`, or LATE after this many ms; a later result is ignored. After a long turn of the event loop, Node runs
 * timers before it reads pending input, so the limit allows one more turn for that.
 */
async function inTimeOrLate<Result>(call: Result | PromiseLike<Result>, ms: number): Promise<Result | typeof LATE> {
  let timer
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => setImmediate(resolve, LATE), ms)
  })
  try {
    return await Promise.race([call, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Settles as `call` does, or fails after this many ms, with the code ETIMEDOUT. */
export async function inTime<Result>(call: Result | PromiseLike<Result>, ms: number): Promise<Result> {
  const answer = await inTimeOrLate(call, ms)
  if (answer === LATE) throw Object.assign(new Error(`no answer within ${ms} ms`), { code: 'ETIMEDOUT' })
  return answer
}

/** Settles as `call` does, or resolves to undefined after this many ms. */
export async function within<Result>(call: Result | PromiseLike<Result>, ms: number): Promise<Result | undefined> {
  const answer = await inTimeOrLate(call, ms)
  return answer === LATE ? undefined : answer
}
