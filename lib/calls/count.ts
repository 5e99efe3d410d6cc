// How many IDs one call may ask for.

import * as errors from '../base/errors/values.ts'
import { readBounded } from '../base/values.ts'

/** The `n` of `take(n)` and the like. */
export function checkCount(n: unknown, most: number) {
  if (typeof n !== 'number') throw errors.optionTypeError('n', n, 'the number of IDs to take')
  return readBounded('n', n, 0, most)
}
