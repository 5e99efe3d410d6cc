// format() on runtimes with an addon, which writes digits faster: 8 bytes, the usual case, through the scratch array. The
// rest is lib/codec/text.ts.

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
