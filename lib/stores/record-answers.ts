// Checks the answers of a user's own database (RecordStore). Each function here returns one part of an answer as it is, or
// throws an ERR_FLAKE_STORE that names the function, its answer and the requirement. Answers are not repaired: a misread
// clock leads to windows that overlap.

import * as errors from '../base/errors.ts'

/** Unix ms from 2001 to the year 5138. Present times in seconds and microseconds are outside, so they are recognised. */
const [SINCE, UNTIL] = [1e12, 1e14]

/** Other units of the same instant, by how many of them are in a ms. */
const UNITS: [string, number][] = [
  ['seconds', 1e-3],
  ['microseconds', 1e3],
  ['nanoseconds', 1e6],
]

const isTime = (ms: number) => ms >= SINCE && ms < UNTIL

/** A hint at the probable unit of an invalid time; '' without one. */
function unitOf(value: number | bigint) {
  const [unit] = UNITS.find(([, perMs]) => isTime(Number(value) / perMs)) ?? []
  return unit === undefined ? '' : ` It looks like ${unit}.`
}

const MS = "the clock of the server in Unix ms, an integer as returned by JavaScript's Date.now()"

/** The time of an answer to read(). */
export function checkNow(now: unknown) {
  if (typeof now === 'number' && Number.isSafeInteger(now) && isTime(now)) return now
  const isNumber = typeof now === 'number' || typeof now === 'bigint'
  throw errors.answerError('read', 'now', now, MS, isNumber ? unitOf(now) : '')
}

/** The identity of an answer to read(), without other properties of the object. */
export function checkIdentity(identity: unknown) {
  const { history, process } = (identity ?? {}) as Record<string, unknown>
  return { history: checkText('identity.history', history), process: checkText('identity.process', process) }
}

function checkText(what: string, value: unknown) {
  if (typeof value === 'string') return value
  throw errors.answerError('read', what, value, 'text')
}

/** The values of an answer to read(names). */
export function checkValues(values: unknown, names: readonly string[]): (string | null)[] {
  if (!Array.isArray(values)) throw errors.answerError('read', 'values', values, 'an array')
  if (values.length !== names.length) {
    throw errors.answerError('read', 'values', values, `an array of ${names.length}, one for each name`)
  }
  // Not with forEach(), which skips the holes of an array.
  for (const [i, name] of names.entries()) {
    if (typeof values[i] === 'string' || values[i] === null) continue
    throw errors.answerError('read', `values[${i}] ('${name}')`, values[i], 'text, or null if there is no such record')
  }
  return values
}

/** The core keeps positions in 64 bits. */
const MOST_POSITION = 2n ** 64n - 1n

/** The position of an answer to read(). */
export function checkPosition(position: unknown) {
  if (position === undefined) return undefined
  const isWhole = typeof position === 'bigint' || Number.isSafeInteger(position)
  const value = position as number | bigint
  if (isWhole && value >= 0 && value <= MOST_POSITION) return value
  throw errors.answerError(
    'read',
    'position',
    position,
    'an integer from 0 to 2^64 - 1, as an exact number or a bigint, or left out',
  )
}

/** The answer to read(names). */
export function checkAnswer(answer: unknown, names: readonly string[]) {
  if (typeof answer !== 'object' || answer === null) {
    throw errors.answerError('read', 'its answer', answer, '{ now, identity, values }')
  }
  const { now, identity, values, position } = answer as Record<string, unknown>
  return {
    now: checkNow(now),
    identity: checkIdentity(identity),
    values: checkValues(values, names),
    position: checkPosition(position),
  }
}

/** The answer to swap(): any other value could be mistaken for a completed swap. */
export function checkSwapped(swapped: unknown) {
  if (typeof swapped === 'boolean') return swapped
  throw errors.answerError('swap', 'its answer', swapped, 'true or false')
}

/**
 * The answer to names() or groups().
 * @param call which of the two
 */
export function checkNames(call: 'names' | 'groups', names: unknown): string[] {
  if (!Array.isArray(names)) throw errors.answerError(call, 'its answer', names, 'an array of names')
  const wrong = names.findIndex((name) => typeof name !== 'string')
  if (wrong >= 0) throw errors.answerError(call, `name ${wrong} of its answer`, names[wrong], 'text')
  return names
}
