// The option `prefix` of everything that reads IDs or writes them as text.

import * as errors from '../base/errors/values.ts'
import * as wanted from '../base/errors/wanted.ts'
import { isAbsent, type Options, refuseUnknown } from '../base/values.ts'

export interface PrefixOptions {
  /**
   * text before the digits: 1 to 16 of a–z, 0–9 and _, beginning with a letter, such as `'ord_'`. `hex`, `bin` and `oct` take any
   * text, such as `'0x'`
   */
  prefix?: string | undefined
}

export const PREFIX = /^[a-z][a-z\d_]{0,15}$/

/** Options of a text; these are the known keys. */
export function readTextOptions(options: unknown, known: string[]) {
  if (typeof options !== 'object') throw errors.optionTypeError('options', options, 'an object')
  return refuseUnknown(options as Options, known)
}

/** Digits of hex, binary and octal often have a mark such as 0x. In front of other bases it would change the number. */
export function readPrefix(given: unknown, base: string) {
  const prefix = stringOf(given, '')
  if (!prefix || /hex|bin|oct/.test(base) || PREFIX.test(prefix)) return prefix
  throw errors.optionRangeError('prefix', given, wanted.PREFIX)
}

export const stringOf = (value: unknown, absent: string) => (isAbsent(value) ? absent : String(value))

/** The prefix from options that have no other key. */
export const prefixOf = (options: unknown, base: string) =>
  isAbsent(options) ? '' : readPrefix(readTextOptions(options, ['prefix']).prefix, base)

/** The texts, each with this prefix. */
export const prefixed = (prefix: string, texts: string[]) =>
  prefix === '' ? texts : texts.map((text) => prefix + text)
