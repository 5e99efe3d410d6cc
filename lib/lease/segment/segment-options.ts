// The options and numbers that users give to a SegmentId, validated here.

import { checkKeys, isAbsent, MAX_U64, readBounded } from '../../base/check.ts'
import { optionRangeError, optionTypeError } from '../../base/errors.ts'
import { readName, readSwitch } from '../common-options.ts'

const BLOCK = 10_000 // Hazelcast's
const LARGEST_BLOCK = 2 ** 32

/** The options of SegmentId.open(), checked. */
export function readOptions(given: unknown) {
  const { name, block, init, durable } = checkKeys('options', given, ['name', 'block', 'init', 'durable'])
  return {
    name: readName('name', name),
    block: isAbsent(block) ? BLOCK : readBounded('block', block, 1, LARGEST_BLOCK),
    init: isAbsent(init) ? undefined : readId('init', init),
    durable: readSwitch('durable', durable),
  }
}

/** An ID as a bigint, or as a number that is exact. The largest 64-bit number is not one: a counter with it is used up. */
export function readId(option: string, value: unknown) {
  const wanted = `a bigint from 0 to ${MAX_U64 - 1n}, or a safe integer`
  if (typeof value !== 'bigint' && typeof value !== 'number') throw optionTypeError(option, value, wanted)
  if (typeof value === 'number' && !Number.isSafeInteger(value)) throw optionRangeError(option, value, wanted)
  const id = BigInt(value)
  if (id < 0n || id >= MAX_U64) throw optionRangeError(option, value, wanted)
  return id
}
