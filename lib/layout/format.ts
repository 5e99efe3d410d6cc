// format() where there is an addon, which writes the digits sooner: 8 bytes, what most calls have, through the scratch
// array. Everything else of it is lib/codec/text.ts.

import { isUint8Array } from '../base/objects.ts'
import { type Format, formatBy } from '../codec/text.ts'
import native from '../native/index.ts'
import { baseCode, toText } from '../native/texts.ts'

const formatOther = formatBy((bytes, base) =>
  bytes.length === 8 ? toText(bytes, baseCode(base)) : (native.digits(bytes, base) as string),
)

/** Writes up to 65 536 bytes as text: see {@link Format}. */
export const format: Format = (id, base, options) => {
  if (options === undefined && isUint8Array(id) && id.length === 8) return toText(id, baseCode(base))
  return formatOther(id, base, options)
}
