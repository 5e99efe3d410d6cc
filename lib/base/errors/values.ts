// Errors about values that users give: options, arguments, IDs and times. Browsers load them too, so they must never use a
// module of Node, and stay few.

import { nearest } from '../nearest.ts'
import { type ErrorClass, flakeError, instant, show } from './make.ts'

/** `ERR_FLAKE_OPTION`: an option or argument of the wrong type. `wanted` says what it must be. */
export function optionTypeError(option: string, value: unknown, wanted: string) {
  return optionError(TypeError, option, value, `${option} must be ${wanted}, but is ${show(value)}`)
}

/** `ERR_FLAKE_OPTION`: an option or argument of the right type that is out of its bounds. */
export function optionRangeError(option: string, value: unknown, wanted: string) {
  return optionError(RangeError, option, value, `${option} must be ${wanted}, but is ${show(value)}`)
}

/** `ERR_FLAKE_OPTION`: an option that does not go with the others. `why` follows the words `cannot be used`. */
export function unusableOptionError(option: string, value: unknown, why: string) {
  return optionError(TypeError, option, value, `${option} (${show(value)}) cannot be used ${why}`)
}

/** `ERR_FLAKE_OPTION`: the fields of a layout, or one of them. `must`: what they must have. */
export function fieldsError(option: string, value: unknown, must: string) {
  return optionError(RangeError, option, value, `${option} must ${must}`)
}

/** `ERR_FLAKE_OPTION`, if none of the usual sentences fits. */
export function optionError(Type: ErrorClass, option: string, value: unknown, message: string) {
  return flakeError(Type, 'ERR_FLAKE_OPTION', message, { option, value })
}

/** `ERR_FLAKE_OPTION`: a key that is not an option; it may be misspelt. `kind`: what it should have been. */
export function unknownOptionError(option: string, value: unknown, known: readonly string[], kind: string = 'option') {
  return optionError(TypeError, option, value, unknown(kind, option, known))
}

/** `ERR_FLAKE_OPTION`: no layout has this name. */
export function unknownLayoutError(name: string, known: readonly string[]) {
  const message = `${unknown('layout', name, known)} Fields of your own are { epoch, tickMs, fields }.`
  return optionError(RangeError, 'layout', name, message)
}

/** Suggests the name that was probably meant, or lists all names if none is close. */
function unknown(kind: string, name: string, known: readonly string[]) {
  // for errors only
  const meant = nearest(name, known)
  const hint = meant === undefined ? `The ${kind}s are ${known.join(', ')}.` : `Did you mean '${meant}'?`
  return `Unknown ${kind} ${show(name)}. ${hint}`
}

/** `ERR_FLAKE_ID`: a value that is not an ID. `wanted` says what an ID looks like. */
export function idError(value: unknown, wanted: string) {
  return flakeError(TypeError, 'ERR_FLAKE_ID', `${show(value)} is not ${wanted}`, { value })
}

/** `ERR_FLAKE_TIME_RANGE`: the layout cannot express the time. */
export function timeRangeError(timestamp: number, layout: { name: string; epoch: number; end: Date }) {
  const [first, end] = [layout.epoch, layout.end.getTime()]
  const isEarly = timestamp < (first + end) / 2 // an idOffset moves both ends
  const epoch = `the epoch ${instant(first)}`
  const why = timestamp < first ? `before ${epoch}` : `too close to ${epoch} for a negative idOffset`
  const message = isEarly
    ? `The time ${instant(timestamp)} is ${why}. Set the clock, or use an earlier epoch.`
    : `The time ${instant(timestamp)} is too late for layout '${layout.name}', which ends at ${instant(end)}. ` +
      'Use a later epoch.'
  return flakeError(RangeError, 'ERR_FLAKE_TIME_RANGE', message, { timestamp })
}
