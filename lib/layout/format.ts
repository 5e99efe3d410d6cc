// format() on runtimes with an addon, which writes digits faster: what IDs usually are, 8 bytes, a bigint or decimal text,
// through the scratch array. The rest is lib/codec/text.ts.

import { isUint8Array } from '../base/objects.ts'
import { type Format, formatBy } from '../codec/text.ts'
import { putBigInt } from '../native/hot.ts'
import native from '../native/index.ts'
import { baseCode, spellPut, toText } from '../native/texts.ts'

const formatOther = formatBy((bytes, base) =>
  bytes.length === 8 ? toText(bytes, baseCode(base)) : (native.digits(bytes, base) as string),
)

/** Writes up to 65,536 bytes as text: see {@link Format}. */
export const format: Format = (id, base, options) => {
  if (options !== undefined) return formatOther(id, base, options)
  if (isUint8Array(id) && id.length === 8) return toText(id, baseCode(base))
  const value = typeof id === 'string' && SHORT.test(id) ? BigInt(id) : id
  if (typeof value !== 'bigint' || BigInt.asUintN(64, value) !== value) return formatOther(id, base, options)
  const code = baseCode(base)
  putBigInt(value)
  return spellPut(code)
}

/** Decimal text that has 64 bits at most. */
const SHORT = /^\d{1,19}$/
