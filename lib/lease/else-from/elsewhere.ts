// What a generator takes from servers when its slot gives no ID: the IDs come to where the addon would have put them.
//
// It must never give an ID while the slot could, nor after the user wanted no more: the lease says when.

import { unixNow } from '../../base/timers.ts'
import type { LayoutFacts } from '../../codec/facts.ts'
import { batch, fillFloats, fillNumbers, float, id, nativeLayout, putId, STATUS } from '../../native/hot.ts'
import type { Lease } from '../lease.ts'
import type { ServerSupply } from './server-supply.ts'

/** A status of our own, beside those of the addon: too few IDs are here, and servers were asked. */
export const ASKED = 100
const TEN_YEARS_MS = 3_653 * 86_400_000 // as core/src/generator/numbers.rs has it
const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

export class Elsewhere {
  #lease
  #supply
  #facts
  #windows = 0 // how many windows the lease had when the IDs here were fetched
  #one = new Uint8Array(8)
  /** the status of the last refusal: why the slot gave no ID */
  refusal = STATUS.OK
  /** how many IDs the last call wanted */
  wanted = 0

  constructor(lease: Lease, supply: ServerSupply, facts: LayoutFacts) {
    this.#lease = lease
    this.#supply = supply
    this.#facts = facts
  }

  /** After a refusal with this status. */
  claim(status: number) {
    if (!this.#lease.lacks(status)) return status
    if (!this.#take(this.#one, status)) return ASKED
    putId(this.#one)
    return STATUS.OK
  }

  claimFloat(status: number) {
    if (!this.#lease.lacks(status)) return status
    if (!this.#isExact()) return STATUS.NOT_EXACT
    const other = this.claim(status)
    if (other === STATUS.OK) float[0] = Number(id[0])
    return other
  }

  fill(status: number, fill: (ids: Uint8Array) => unknown, ids: Uint8Array) {
    if (!this.#lease.lacks(status)) return status
    if (fill === fillFloats && !this.#isExact()) return STATUS.NOT_EXACT
    const [made, wanted] = batch
    const rest = Buffer.from(ids.buffer, ids.byteOffset + made * 8, (wanted - made) * 8)
    if (!this.#take(rest, status)) return ASKED
    if (fill === fillNumbers && IS_LITTLE_ENDIAN) rest.swap64()
    if (fill === fillFloats) toFloats(rest)
    batch[0] = wanted
    return STATUS.OK
  }

  #take(into: Uint8Array, status: number) {
    const { windows } = this.#lease
    if (windows !== this.#windows) this.#supply.clear() // a slot has made IDs since
    this.#windows = windows
    this.refusal = status
    this.wanted = into.length / 8
    return this.#supply.take(into)
  }

  /** Whether the layout's IDs are numbers, and stay so for as long as those that are made here must. */
  #isExact() {
    return nativeLayout(this.#facts).exactEnd >= unixNow() + TEN_YEARS_MS
  }
}

/** Turns these IDs, big-endian, into floats in the byte order of this machine, in place. */
function toFloats(ids: Buffer) {
  for (let at = 0; at < ids.length; at += 8) {
    const value = Number(ids.readBigUInt64BE(at))
    if (IS_LITTLE_ENDIAN) ids.writeDoubleLE(value, at)
    else ids.writeDoubleBE(value, at)
  }
}
