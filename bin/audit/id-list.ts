// IDs with their line numbers, in the order of the input: 12 bytes each, and 8 more once they are sorted. So ten million take
// 200 MB, far less than as bigints or strings.

import { totalmem } from 'node:os'
import { HIGH, LOW } from '../../lib/codec/ids.ts'
import { unreadable } from './unreadable.ts'

const CHUNK = 1 << 18
const BYTES = 20 // for each ID
const SHARE = 0.6 // of the memory: the rest is for the program and for others

/** How many IDs fit into the memory of this machine or container. */
function mostIds() {
  const limit = process.constrainedMemory?.() || Number.POSITIVE_INFINITY // 0 without one
  return Math.floor((Math.min(totalmem(), limit) * SHARE) / BYTES)
}

export class IdList {
  #ids: BigUint64Array[] = []
  #halves = new Uint32Array() // of the last chunk
  #lines: Uint32Array[] = []
  #most = mostIds()
  length = 0

  /** Adds an ID by its halves. */
  push(high: number, low: number, line: number) {
    const at = this.length % CHUNK
    if (at === 0) this.#grow()
    const last = this.#ids.length - 1
    this.#halves[2 * at + HIGH] = high
    this.#halves[2 * at + LOW] = low
    this.#lines[last][at] = line
    this.length++
  }

  #grow() {
    if (this.length >= this.#most)
      throw unreadable(
        `it has more than ${this.length} IDs, and this machine has memory for about ${this.#most}. Check it in parts that are ranges of IDs, such as WHERE id BETWEEN with the bounds that 'flakeforge at' prints for each month: equal IDs have equal times, so they are in the same part.`,
      )
    const ids = new BigUint64Array(CHUNK)
    this.#ids.push(ids)
    this.#halves = new Uint32Array(ids.buffer)
    this.#lines.push(new Uint32Array(CHUNK))
  }

  id(at: number) {
    return this.#ids[Math.floor(at / CHUNK)][at % CHUNK]
  }

  line(at: number) {
    return this.#lines[Math.floor(at / CHUNK)][at % CHUNK]
  }

  /** All IDs, the smallest first. V8 sorts typed arrays natively: ten million take about a second. */
  sorted() {
    const all = new BigUint64Array(this.length)
    for (let at = 0; at < this.length; at += CHUNK) {
      all.set(this.#ids[at / CHUNK].subarray(0, Math.min(CHUNK, this.length - at)), at)
    }
    return all.sort()
  }

  /** At most this many IDs from all parts of the list. */
  sample(most: number) {
    const count = Math.min(most, this.length)
    return Array.from({ length: count }, (_, i) => this.id(Math.floor((i * this.length) / count)))
  }
}
