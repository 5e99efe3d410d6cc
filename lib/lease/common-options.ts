// The options that a group (FlakeId.join) and a counter (SegmentId.open) have in common, validated here.

import { isAbsent } from '../base/check.ts'
import { optionRangeError, optionTypeError } from '../base/errors.ts'

/** The name of a group or counter: it becomes part of keys and of a folder's name. */
export function readName(option: string, name: unknown) {
  const wanted = 'a name of 1 to 128 characters without braces or control characters'
  if (typeof name !== 'string') throw optionTypeError(option, name, wanted)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: we look for them
  if (name.length < 1 || name.length > 128 || !name.isWellFormed() || /[\u0000-\u001f\u007f{}]/.test(name)) {
    throw optionRangeError(option, name, wanted)
  }
  return name
}

/** An option that is false unless it is given. */
export function readSwitch(option: string, given: unknown) {
  if (isAbsent(given)) return false
  if (typeof given !== 'boolean') throw optionTypeError(option, given, 'true or false')
  return given
}
