// IDs of a source that backs a lease's slot. They are put where the addon would have put them, so a generator's calls need
// not know the origin of an ID.

import { unixNow } from '../base/timers.ts'
import type { LayoutFacts } from '../codec/facts.ts'
import { batch, fillFloats, fillNumbers, float, id, nativeLayout, putId, STATUS } from '../native/hot.ts'

/** Fills all of `into` with IDs, 8 bytes each; or takes none, requests more and returns false. */
export type OtherSource = { take(into: Uint8Array): boolean }

/** A status besides those of the addon: the source has too few IDs, and more were requested. */
export const ASKED = 100

const TEN_YEARS_MS = 3_653 * 86_400_000 // as in core/src/generator/numbers.rs
const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1
const one = new Uint8Array(8)

/** The ID is then in the scratch array. */
export function claimFrom(source: OtherSource) {
  if (!source.take(one)) return ASKED
  putId(one)
  return STATUS.OK
}

/** The same, if it is exact as a float. */
export function claimFloatFrom(source: OtherSource, facts: LayoutFacts) {
  if (!isExact(facts)) return STATUS.NOT_EXACT
  const status = claimFrom(source)
  if (status === STATUS.OK) float[0] = Number(id[0])
  return status
}

/** The rest of a batch, as `fill` would take it, and as `batch` in the scratch array describes. */
export function fillFrom(source: OtherSource, facts: LayoutFacts, fill: (ids: Uint8Array) => unknown, ids: Uint8Array) {
  if (fill === fillFloats && !isExact(facts)) return STATUS.NOT_EXACT
  const [made, wanted] = batch
  const rest = Buffer.from(ids.buffer, ids.byteOffset + made * 8, (wanted - made) * 8)
  if (!source.take(rest)) return ASKED
  if (fill === fillNumbers && IS_LITTLE_ENDIAN) rest.swap64()
  if (fill === fillFloats) toFloats(rest)
  batch[0] = wanted
  return STATUS.OK
}

/** Whether the layout's IDs are exact as numbers, and stay so for as long as required. */
const isExact = (facts: LayoutFacts) => nativeLayout(facts).exactEnd >= unixNow() + TEN_YEARS_MS

/** Converts these IDs, big-endian, into floats in the byte order of this machine, in place. */
function toFloats(ids: Buffer) {
  for (let at = 0; at < ids.length; at += 8) {
    const value = Number(ids.readBigUInt64BE(at))
    if (IS_LITTLE_ENDIAN) ids.writeDoubleLE(value, at)
    else ids.writeDoubleBE(value, at)
  }
}
