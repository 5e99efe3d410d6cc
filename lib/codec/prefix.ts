// The option `prefix` of everything that reads IDs or writes them as text.

import * as errors from '../base/errors/values.ts'
import * as wanted from '../base/errors/wanted.ts'
import { isAbsent, type Options, refuseUnknown } from '../base/values.ts'
import { read } from './bases.ts'

export interface PrefixOptions {
  /**
   * text before the digits: 2 to 16 characters of a–z, 0–9 and _, from a letter to a final _, such as `'ord_'`. `hex`, `bin` and `oct`
   * take any text that does not end in one of their digits, such as `'0x'`
   */
  prefix?: string | undefined
}

/** It ends where the digits begin: no base has _ as a digit, so no prefix can be read as another one with more digits. */
export const PREFIX = /^[a-z][a-z\d_]{0,14}_$/

/** Options of a text; these are the known keys. */
export function readTextOptions(options: unknown, known: string[]) {
  if (typeof options !== 'object') throw errors.optionTypeError('options', options, 'an object')
  return refuseUnknown(options as Options, known)
}

/**
 * Digits of hex, binary and octal often have a mark such as 0x. In front of other bases it would change the number. This is the
 * prefix of text that is only written, as biguint-format writes it.
 */
export function readPrefix(given: unknown, base: string) {
  const prefix = stringOf(given, '')
  if (!prefix || /hex|bin|oct/.test(base) || PREFIX.test(prefix)) return prefix
  throw errors.optionRangeError('prefix', given, wanted.PREFIX)
}

export const stringOf = (value: unknown, absent: string) => (isAbsent(value) ? absent : String(value))

/** The prefix of IDs, from options that have no other key. It is a whole word, so that it can be read again. */
export function prefixOf(options: unknown, base: string) {
  if (isAbsent(options)) return ''
  const { prefix: given } = readTextOptions(options, ['prefix'])
  const prefix = readPrefix(given, base)
  if (read(prefix.slice(-1), base, '') !== undefined)
    throw errors.optionRangeError('prefix', given, wanted.prefixIn(base))
  return prefix
}

/** The texts, each with this prefix. */
export const prefixed = (prefix: string, texts: string[]) =>
  prefix === '' ? texts : texts.map((text) => prefix + text)
