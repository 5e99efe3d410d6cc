// Errors of running generators: why they generate no ID, or none of the wanted form.

import { flakeError, inMs, instant } from './make.ts'
import { optionError } from './values.ts'

/** `ERR_FLAKE_OVERFLOW`: the tick's counter is used up. */
export function overflowError(retryAfterMs: number, perTick: number) {
  const message =
    `This tick is used up: it has at most ${perTick} IDs. The next ID can be generated in ${inMs(retryAfterMs)}. ` +
    'next(callback) and nextAsync() wait for it, and so does next() if maxWaitMs allows it.'
  return flakeError('ERR_FLAKE_OVERFLOW', message, { retryAfterMs: Math.ceil(retryAfterMs) })
}

/** `ERR_FLAKE_CLOCK_BACKWARDS`: the clock is behind the last ID. */
export function clockBackwardsError(behindMs: number, retryAfterMs: number) {
  const message =
    `The clock is ${inMs(behindMs)} behind the last ID. The next ID can be generated in ${inMs(retryAfterMs)}. ` +
    'next(callback) and nextAsync() wait for it. With maxAheadMs, IDs may run ahead of the clock.'
  return flakeError('ERR_FLAKE_CLOCK_BACKWARDS', message, { behindMs, retryAfterMs: Math.ceil(retryAfterMs) })
}

const BEYOND = 'above 2^53 − 1 (9007199254740991), where a number loses digits'
const WAY_OUT =
  "Use nextBigInt() or takeBigInts(). Layout 'safe' supports numbers, but its IDs need a separate table or column."

/** `ERR_FLAKE_OPTION`: the layout's IDs are too large for numbers, or soon will be. `end`: from when, in Unix ms. */
export function notExactError(name: string, end: number) {
  const message =
    `Layout '${name}' cannot return IDs as numbers. They must stay exact for the next ten years, but from ${instant(end)} on ` +
    `they may be ${BEYOND}. ${WAY_OUT}`
  return optionError(RangeError, 'layout', name, message)
}

/** `ERR_FLAKE_TIME_RANGE`: the layout's IDs have become too large for numbers. */
export function noLongerExactError(name: string, end: number) {
  const message =
    `Layout '${name}' can no longer return IDs as numbers: since ${instant(end)} they may be ${BEYOND}. ` +
    'Use nextBigInt() or takeBigInts().'
  return flakeError('ERR_FLAKE_TIME_RANGE', message, { timestamp: end })
}
