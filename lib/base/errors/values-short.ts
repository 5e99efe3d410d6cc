// Replaces errors/values.ts in browsers (scripts/dist.js): the same errors with the same codes and properties. Their messages
// name the value and the requirement, without further help. Node never loads it.

import { branded, withValue } from './brand.ts'

/** Not by String(): an object without a prototype has no text, and one of a user may throw. */
const show = (value: unknown) =>
  typeof value === 'string' ? `'${value.slice(0, 60)}'` : Object(value) === value ? 'an object' : String(value)

export const optionError = (Type: ErrorConstructor, option: string, value: unknown, message: string) =>
  withValue(Object.assign(branded(new Type(message)), { code: 'ERR_FLAKE_OPTION', option }), value)

const refusal = (Type: ErrorConstructor, verb: string) => (option: string, value: unknown, wanted: string) =>
  optionError(Type, option, value, `${option} ${verb} ${wanted}, but is ${show(value)}`)

export const unknownOptionError = (option: string, value: unknown, known: readonly string[]) =>
  optionError(TypeError, option, value, `Unknown option '${option}': not ${known}`)

export const moreError = (call: string, value: unknown, takes: string) =>
  optionError(TypeError, 'options', value, `${call}() takes ${takes}, and was also given ${show(value)}`)

export const idError = (value: unknown, wanted: string) =>
  withValue(Object.assign(branded(new TypeError(`${show(value)} is not ${wanted}`)), { code: 'ERR_FLAKE_ID' }), value)

export const timeRangeError = (timestamp: number, { name, begin, end }: { name: string; begin: number; end: number }) =>
  Object.assign(branded(new RangeError(`The time ${timestamp} is not from ${begin} to ${end} (layout '${name}')`)), {
    code: 'ERR_FLAKE_TIME_RANGE',
    timestamp,
  })

export const timeUnitError = (what: string, time: number | bigint) =>
  Object.assign(branded(new RangeError(`${what} must be Unix ms, or Unix ns as a bigint, but is ${time}`)), {
    code: 'ERR_FLAKE_TIME_RANGE',
    timestamp: typeof time === 'bigint' ? Number(time) / 1e6 : time,
  })

/** Seconds, µs, ns, a year or a date, as in `likelyUnit` of ../units.ts; of a bigint ms, seconds or µs. */
export const isOfOtherUnit = (time: number | bigint) =>
  /^[12]\d{3}(\d{4})?$/.test(`${time}`) ||
  [1e3, 1e-3, typeof time === 'bigint' ? 1 : 1e-6].some((inMs) => isLikelyMs(Number(time) * inMs))

const isLikelyMs = (ms: number) => ms > 1e11 && ms < 4.2e12

/** Pages show no warnings. */
export const warnOfUnit = (_option: string, _value: unknown, _ms: number) => {}
export const warnOfTime = (_what: string, _time: unknown) => {}

export const optionTypeError = /* @__PURE__ */ refusal(TypeError, 'must be')
export const optionRangeError = /* @__PURE__ */ refusal(RangeError, 'must be')

export const unknownLayoutError = (name: string, known: readonly string[]) =>
  optionRangeError('layout', name, `one of ${known}`)

export const fieldsError = /* @__PURE__ */ refusal(RangeError, 'must')
export const unusableOptionError = /* @__PURE__ */ refusal(TypeError, 'cannot be used')
