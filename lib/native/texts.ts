// IDs as text: the bases, and the raw functions that write digits. The core writes them; this file sets its input, and splits
// its output for many IDs at once. The given IDs are not changed.

import * as errors from '../base/errors.ts'
import { DECIMAL } from '../codec/bases.ts'
import * as hot from './hot.ts'
import native from './index.ts'

export const BASES = native.bases()

/** How many IDs one call writes. */
const SOME = hot.some.length / 8

/** The number of a base in the raw functions; the default is that of 'dec'. */
export function baseCode(base: string | null | undefined) {
  if (DECIMAL.includes(base)) return 0
  const code = BASES.indexOf(base as string)
  if (code < 0) throw errors.optionRangeError('base', base, `one of '${BASES.join("', '")}'`)
  return code
}

/**
 * 8 bytes, big-endian, in the base with this code: through the scratch array, because an argument and a method call cost 300
 * ns.
 */
export function toText(id: Uint8Array, code: number) {
  hot.putBytes(id)
  return spellPut(code)
}

/** The same for the ID that was put there last. */
export function spellPut(code: number) {
  hot.base[0] = code
  return hot.spell()
}

/**
 * The first n IDs of an array as texts, in the base with this code. Native code writes many into one text, which is split
 * here: 20 ns for each ID, instead of 60 if native code makes an array of texts.
 */
export function toTexts(ids: Uint8Array, n: number, code: number) {
  const texts: string[] = new Array(n)
  hot.base[0] = code
  for (let first = 0; first < n; first += SOME) {
    const end = Math.min(first + SOME, n)
    hot.batch[0] = first
    hot.batch[1] = end
    cut(hot.spellSome(ids), texts, first, end)
  }
  return texts
}

/**
 * Copies the pieces of a text, each followed by a space, into the array from `first` to `end`. The scratch array has the
 * width of each, or 0 if they differ.
 */
function cut(text: string, texts: string[], first: number, end: number) {
  const width = hot.batch[0]
  let from = 0
  for (let i = first; i < end; i++) {
    const to = width > 0 ? from + width : text.indexOf(' ', from)
    texts[i] = text.slice(from, to)
    from = to + 1
  }
}
