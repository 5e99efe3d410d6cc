// The IDs that every library has to keep: flakes of four sizes. Those with an odd counter are not representable as
// JavaScript numbers. IDs with counter 0 are multiples of 4096: they survive a conversion to a number and would hide
// the fault.

import { layouts, toBigInt, toSigned } from 'flakeforge'

const layout = layouts.flake
const PER_NODE = 2048 // odd counters

/** `at`: the ms of the size's first IDs; `step`: the distance to the next ms. Near 2^63 the last ID is 2^63 - 1. */
export const SIZES = {
  today: { at: Date.UTC(2026, 10, 20), step: 1 },
  'past 2^53': { at: 2 ** 31, step: 1 },
  'near 2^63': { at: 2 ** 41 - 1, step: -1 },
  'past 2^63': { at: 2 ** 41, step: 1 },
}

export const survivesDouble = (id) => BigInt(Number(id)) === id

function encode(timestamp, node, counter) {
  const id = toBigInt(layout.encode({ timestamp, id: node, counter }))
  if (counter % 2 === 1 && survivesDouble(id)) throw new Error(`${id} is a JavaScript number: it would show nothing`)
  return id
}

/** The IDs of one size, in the form of the column: signed or unsigned, always bigints. */
export class Ids {
  #form
  #size
  #given = 0

  constructor(size, isSigned) {
    this.#size = SIZES[size]
    this.#form = isSigned ? toSigned : toBigInt
  }

  /** A Date, because a number may look like seconds. */
  #at = (ms) => new Date(this.#size.at + ms * this.#size.step)

  /** The first and the last IDs of a ms. A rounded bound hits the very first one, at the end. */
  edge(ms) {
    const corners = [
      [0, 1],
      [0, 3],
      [1023, 4093],
      [1023, 4095],
      [0, 0],
    ]
    return corners.map(([node, counter]) => this.#form(encode(this.#at(ms), node, counter)))
  }

  /** The bounds of a ms. */
  range(ms) {
    const { min, max } = layout.range(this.#at(ms))
    return [this.#form(min), this.#form(max)]
  }

  /** A new ID at each call, from ms 10 on, as from a generator. */
  next() {
    const [ms, node] = [10 + Math.floor(this.#given / PER_NODE / 8), Math.floor(this.#given / PER_NODE) % 8]
    const counter = (this.#given++ % PER_NODE) * 2 + 1
    return this.#form(encode(this.#at(ms), node, counter))
  }
}
