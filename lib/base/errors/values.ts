// Errors about values that users give: options, arguments, IDs and times. Uses no module of Node and stays small: browsers
// load this file too.

import { nearest } from '../nearest.ts'
import { withoutSecrets } from '../printable.ts'
import { isLikelyMs, likelyUnit } from '../units.ts'
import { withValue } from './brand.ts'
import type { ErrorClass } from './codes.ts'
import { warn } from './foreign.ts'
import { flakeError, instant, show } from './make.ts'

/** `ERR_FLAKE_OPTION`: an option or argument of the wrong type. `wanted` is the required one. */
export function optionTypeError(option: string, value: unknown, wanted: string) {
  return optionError(TypeError, option, value, `${option} must be ${wanted}, but is ${show(value)}`)
}

/** `ERR_FLAKE_OPTION`: an option or argument of the right type that is out of bounds. */
export function optionRangeError(option: string, value: unknown, wanted: string) {
  return optionError(RangeError, option, value, `${option} must be ${wanted}, but is ${show(value)}`)
}

/** `ERR_FLAKE_OPTION`: an option that conflicts with the others. `why` follows the words `cannot be used`. */
export function unusableOptionError(option: string, value: unknown, why: string) {
  return optionError(TypeError, option, value, `${option} (${show(value)}) cannot be used ${why}`)
}

/** `ERR_FLAKE_OPTION`: the fields of a layout, or one of them. `must`: the requirement. */
export function fieldsError(option: string, value: unknown, must: string) {
  return optionError(RangeError, option, value, `${option} must ${must}`)
}

/** `ERR_FLAKE_OPTION`, where none of the usual sentences fits. */
export function optionError(Type: ErrorClass, option: string, value: unknown, message: string) {
  return withValue(flakeError('ERR_FLAKE_OPTION', message, { option }, Type), safe(value))
}

/** `ERR_FLAKE_OPTION`: an argument after the last one that a call takes. */
export function moreError(call: string, value: unknown, takes: string, wayOut: string = 'Leave it out.') {
  const message = `${call}() takes ${takes}, and was also given ${show(value)}. ${wayOut}`
  return optionError(TypeError, 'options', value, message)
}

const safe = (value: unknown) => (typeof value === 'string' ? withoutSecrets(value) : value)

/** `ERR_FLAKE_OPTION`: an unknown key, perhaps a misspelt option. `kind`: what it should have been. */
export function unknownOptionError(option: string, value: unknown, known: readonly string[], kind: string = 'option') {
  return optionError(TypeError, option, value, unknown(kind, option, known))
}

/** `ERR_FLAKE_OPTION`: no layout has this name. */
export function unknownLayoutError(name: string, known: readonly string[]) {
  const message = `${unknown('layout', name, known)} For your own fields, pass { epoch, tickMs, fields }.`
  return optionError(RangeError, 'layout', name, message)
}

/** Suggests the name that was probably meant, or lists all names if none is close. */
function unknown(kind: string, name: string, known: readonly string[]) {
  const meant = nearest(name, known)
  const hint = meant === undefined ? `The ${kind}s are ${known.join(', ')}.` : `Did you mean '${meant}'?`
  return `Unknown ${kind} ${show(name)}. ${hint}`
}

/** `ERR_FLAKE_ID`: a value that is not an ID. `wanted` describes an ID. */
export function idError(value: unknown, wanted: string) {
  return withValue(flakeError('ERR_FLAKE_ID', `${show(value)} is not ${wanted}`, {}), safe(value))
}

/** `begin`: the start of its first tick; that is the epoch, unless a negative idOffset excludes some. */
type Ends = { name: string; epoch: number; begin: number; end: number; idOffset: bigint }

/**
 * `ERR_FLAKE_TIME_RANGE`: the layout cannot express the time.
 * @param argument the argument that held the time; without it, the time is the clock's
 */
export function timeRangeError(timestamp: number, layout: Ends, argument?: string) {
  const isEarly = timestamp < (layout.begin + layout.end) / 2
  const advice = argument === undefined ? adviceFor(timestamp, layout, isEarly) : otherTime(timestamp, isEarly)
  const time = argument === undefined ? `time ${instant(timestamp)}` : `time of ${argument}, ${instant(timestamp)},`
  const message = `The ${time} is ${placeOf(layout, isEarly)}. ${advice}`
  return flakeError('ERR_FLAKE_TIME_RANGE', message, { timestamp })
}

function placeOf({ name, epoch, begin, end, idOffset }: Ends, isEarly: boolean) {
  const layout = `layout '${name}'${idOffset === 0n ? '' : ` with idOffset ${idOffset}n`}`
  if (!isEarly) return `too late for ${layout}, which ends at ${instant(end)}`
  return begin > epoch
    ? `too early for ${layout}, which begins at ${instant(begin)}`
    : `before the epoch ${instant(epoch)} of ${layout}`
}

/** What to do if the clock is out of range. */
function adviceFor(timestamp: number, { epoch, idOffset }: Ends, isEarly: boolean) {
  if (isEarly) return timestamp < epoch ? SET_CLOCK : LESS_OFFSET
  return idOffset > 0n ? `${MOVE} ${NO_IDS_YET}` : MOVE
}

// For users whose IDs are in use: another epoch would duplicate existing IDs, or change the times of the existing ones.
const SET_CLOCK =
  'Set the clock. An earlier epoch is safe only if no ID has been generated yet, because it changes the time of all IDs.'
const MOVE =
  'If the clock is right, use a layout that ends later, and keep its IDs in another table or column. Do not use a later ' +
  'epoch for the same IDs: it repeats old ones.'

const LESS_OFFSET =
  'If the clock is right, use an idOffset that is closer to 0. That is safe only if no ID has been generated yet, because it changes ' +
  'all IDs.'
const NO_IDS_YET = 'A smaller idOffset is safe only if no ID has been generated yet, because it changes all IDs.'

/** `ERR_FLAKE_TIME_RANGE`: a number that looks like another unit than Unix ms, or a bigint like another than Unix ns. */
export function timeUnitError(what: string, time: number | bigint) {
  const message = `${readAs(what, time)} ${guess(time)}`
  return flakeError('ERR_FLAKE_TIME_RANGE', message, { timestamp: msOf(time) })
}

type Meant = { unit: string; ms: number }

/** The probable unit of a number that should be Unix ms, or of a bigint that should be Unix ns. */
function unitOf(time: number | bigint): Meant | undefined {
  if (typeof time === 'number') return likelyUnit(time)
  const number = Number(time)
  if (isLikelyMs(number)) return { unit: 'milliseconds', ms: number }
  const meant = likelyUnit(number)
  return meant?.unit === 'nanoseconds' ? undefined : meant
}

const msOf = (time: number | bigint) => (typeof time === 'bigint' ? Number(time) / 1e6 : time)

const readAs = (what: string, time: number | bigint) =>
  `${what} must be ${typeof time === 'bigint' ? 'Unix ns if it is a bigint' : 'Unix ms'}, and ${show(time)} is then ` +
  `${instant(Math.floor(msOf(time)))}.`

/** What was probably meant, and what to give. */
function guess(time: number | bigint) {
  const meant = unitOf(time)
  if (meant === undefined) return SINCE_START
  const given = typeof time === 'bigint' ? `${BigInt(meant.ms) * 1_000_000n}n` : meant.ms
  return `It looks like ${meant.unit}: give ${given}, or a Date.`
}

const SINCE_START =
  'Times of performance.now() and process.hrtime() do not count from 1970 and begin again in each process, so IDs generated from ' +
  'them would repeat. Use Date.now().'

const doubted = new Set<string>()

/** Warns, once for each source of times, of one that is probably a mistake. */
export function warnOfTime(what: string, time: number | bigint) {
  if (doubted.has(what)) return
  doubted.add(what)
  const message = `${readAs(what, time)} ${guess(time)}`
  warn('FLAKEFORGE_TIME', message)
}

/** What to do about an argument that is out of range. */
function otherTime(time: number, isEarly: boolean) {
  const meant = likelyUnit(time)
  if (meant !== undefined) return `It looks like ${meant.unit}: give Unix ms.`
  return `Give ${isEarly ? 'a later' : 'an earlier'} time.`
}

/** Whether a number is unlikely to be Unix ms, or a bigint to be Unix ns. */
export const isOfOtherUnit = (time: number | bigint) => unitOf(time) !== undefined

const warned = new Set<unknown>()

/**
 * Warns, once for each value, of an epoch that was probably not meant as Unix ms. It is not an error: users may have IDs with
 * this epoch and need it to read them.
 */
export function warnOfUnit(option: string, value: unknown, ms: number) {
  const meant = likelyUnit(ms)
  if (meant === undefined || warned.has(ms)) return
  warned.add(ms)
  const given = typeof value === 'object' ? 'this Date' : show(value)
  const message =
    `${option} is Unix ms, and ${given} is ${instant(ms)}. It looks like ${meant.unit}: give ${meant.ms} for ` +
    `${new Date(meant.ms).toISOString()}. Change it only before the first ID: with another epoch, IDs can repeat.`
  warn('FLAKEFORGE_EPOCH', message)
}
