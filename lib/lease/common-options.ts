// The options that a group (FlakeId.join) and a counter (SegmentId.open) have in common, validated here.

import { isAbsent } from '../base/check.ts'
import { optionRangeError, optionTypeError } from '../base/errors.ts'

/** The name of a group or counter: it becomes part of keys and of a folder's name. */
export function readName(option: string, name: unknown) {
  const wanted = 'a name of 1 to 128 characters without braces and control characters'
  if (typeof name !== 'string') throw optionTypeError(option, name, wanted)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: we look for them
  if (name.length < 1 || name.length > 128 || !name.isWellFormed() || /[\u0000-\u001f\u007f{}]/.test(name)) {
    throw optionRangeError(option, name, wanted)
  }
  return name
}

/** Whether the user vouches for the store's durability. */
export function readDurable(durable: unknown) {
  if (isAbsent(durable)) return false
  if (typeof durable !== 'boolean') throw optionTypeError('durable', durable, 'true or false')
  return durable
}
