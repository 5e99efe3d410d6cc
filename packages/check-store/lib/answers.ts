// Checks a store's answers as flakeforge does at each call. Each function here returns one part of an answer as it is, or
// throws a Finding that names the function, its answer and the requirement.

import type { StoreIdentity } from 'flakeforge/lease'
import { Finding, show } from './finding.ts'

const wrong = (call: string, what: string, given: unknown, wanted: string, todo = `correct the result of ${call}()`) =>
  new Finding(`${call}() of the store returned ${describe(given)} as ${what}`, wanted, todo)

const describe = (value: unknown) =>
  typeof value === 'bigint'
    ? `${value}n`
    : Array.isArray(value)
      ? `an array of ${value.length}`
      : typeof value === 'object' && value !== null
        ? 'an object'
        : show(value)

/** Unix ms from 2001 to the year 5138. Present times in seconds and microseconds are outside, so they are recognised. */
const [FIRST_MS, LAST_MS] = [1e12, 1e14]

/** Other units of the same instant, by how many of them are in a ms. */
const UNITS: [string, number][] = [
  ['seconds', 1e-3],
  ['microseconds', 1e3],
  ['nanoseconds', 1e6],
]

const isTime = (ms: number) => ms >= FIRST_MS && ms < LAST_MS

export function checkNow(now: unknown) {
  if (typeof now === 'number' && Number.isSafeInteger(now) && isTime(now)) return now
  const unit = UNITS.find(([, perMs]) => isTime(Number(now) / perMs))?.[0]
  const todo = unit === undefined ? undefined : `it looks like ${unit}: convert it to ms`
  throw wrong('read', 'now', now, "Unix ms, an integer as returned by JavaScript's Date.now()", todo)
}

export function checkIdentity(identity: unknown): StoreIdentity {
  const { history, process } = (identity ?? {}) as Record<string, unknown>
  if (typeof history !== 'string') throw wrong('read', 'identity.history', history, 'text')
  if (typeof process !== 'string') throw wrong('read', 'identity.process', process, 'text')
  return { history, process }
}

export function checkValues(values: unknown, names: readonly string[]): (string | null)[] {
  if (!Array.isArray(values) || values.length !== names.length)
    throw wrong('read', 'values', values, `an array of ${names.length}, one for each name`)
  // Not with forEach(), which skips the holes of an array.
  for (const [i, name] of names.entries()) {
    if (typeof values[i] === 'string' || values[i] === null) continue
    throw wrong('read', `values[${i}] ('${name}')`, values[i], 'text, or null if there is no such record')
  }
  return values
}

const MOST_POSITION = 2n ** 64n - 1n

export function checkPosition(position: unknown): number | bigint | undefined {
  if (position === undefined) return undefined
  const isWhole = typeof position === 'bigint' || Number.isSafeInteger(position)
  const value = position as number | bigint
  if (isWhole && value >= 0 && value <= MOST_POSITION) return value
  const wanted = 'an integer from 0 to 2^64 - 1, as an exact number or a bigint, or left out'
  throw wrong('read', 'position', position, wanted)
}

export function checkSwapped(swapped: unknown) {
  if (typeof swapped === 'boolean') return swapped
  throw wrong('swap', 'its answer', swapped, 'true or false')
}

export function checkNames(call: 'names' | 'groups', names: unknown): string[] {
  if (!Array.isArray(names)) throw wrong(call, 'its answer', names, 'an array of names')
  const other = names.findIndex((name) => typeof name !== 'string')
  if (other >= 0) throw wrong(call, `name ${other} of its answer`, names[other], 'text')
  return names
}

/**
 * Refuses any value that is not a store.
 * @param given the result of the default export
 */
export function checkStore(given: unknown) {
  const store = (given ?? {}) as Record<string, unknown>
  const isWrong = (name: string) => typeof store[name] !== 'function'
  const missing = ['read', 'swap', 'names'].find(isWrong)
  if (missing !== undefined) throw new Error(`the result of the default export has no ${missing}()`)
  const wrong = ['groups', 'close'].find((name) => store[name] !== undefined && isWrong(name))
  if (wrong !== undefined) throw new Error(`${wrong} is ${describe(store[wrong])}: it must be a function, or left out`)
}
