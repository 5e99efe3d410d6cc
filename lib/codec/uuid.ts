// An ID as a UUID of version 8, for uuid columns, and the way back. `Layout.toUuid` in layout.ts explains each bit. UUIDs of
// other layouts are refused.

import * as errors from '../base/errors/values.ts'
import * as wanted from '../base/errors/wanted.ts'
import type { LayoutFacts } from './facts.ts'
import { type IdLike, toBigInt, toBytes } from './ids.ts'

/**
 * The mark of a layout, the last 58 bits of its UUIDs: `0b01`, and the last 56 bits of the 64-bit FNV-1a hash of a text that
 * describes how the layout reads times.
 */
function markOf({ epoch, tickNs, fields, mode, hasModeBit, packing: { time, offset } }: LayoutFacts) {
  const order = mode === undefined || hasModeBit ? '' : ' reversed' // IDs with the bit say it themselves
  const place = !fields.length ? 'decimal' : `timestamp${order} ${time.width} bits at ${time.shift}`
  const text = `flakeforge: epoch ${epoch} ms, tick ${tickNs} ns, ${place}, idOffset ${offset}`
  let hash = 0xcbf29ce484222325n
  for (const letter of text) hash = BigInt.asUintN(64, (hash ^ BigInt(letter.charCodeAt(0))) * 0x100000001b3n)
  return (1n << 56n) | BigInt.asUintN(56, hash)
}

function knownMark(facts: LayoutFacts) {
  facts.mark ??= markOf(facts)
  return facts.mark
}

export function toUuid(given: unknown, facts: LayoutFacts) {
  const id = toBigInt(given as IdLike) // leaves it in `word`
  if (!facts.packing.unpack()) throw errors.idError(given, wanted.idOfLayout(facts.name))
  const bits = ((id >> 16n) << 80n) | (8n << 76n) | (((id >> 4n) & 0xfffn) << 64n) | (2n << 62n) | ((id & 15n) << 58n)
  const digits = (bits | knownMark(facts)).toString(16).padStart(32, '0')
  return digits.replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

export function fromUuid(text: unknown, facts: LayoutFacts) {
  const isForm = typeof text === 'string' && /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)
  if (!isForm) throw errors.idError(text, wanted.UUID)
  const bits = BigInt(`0x${text.replaceAll('-', '')}`)
  const { name } = facts
  const mark = knownMark(facts)
  if (((bits >> 76n) & 15n) !== 8n || BigInt.asUintN(64, bits) !== ((2n << 62n) | (bits & (15n << 58n)) | mark))
    throw errors.idError(text, wanted.uuidOfLayout(name, bits, mark))
  const id = ((bits >> 80n) << 16n) | (((bits >> 64n) & 0xfffn) << 4n) | ((bits >> 58n) & 15n)
  const bytes = toBytes(id) // leaves it in `word`
  if (!facts.packing.unpack()) throw errors.idError(text, wanted.uuidOfId(name, id))
  return bytes
}
