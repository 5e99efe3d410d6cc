// Recognises IDs that went through a floating-point number: it has 53 bits, so an ID of 63 bits becomes a multiple of 1,024.
// Chance yields such IDs too, and counters that are 0 yield many. So only IDs whose last field is not 0 count, and only if there
// are far more of them than chance makes.

import { isNode } from '../../lib/codec/packing.ts'
import type { Layout } from '../../lib/entries/codec.ts'

const EXACT_BITS = 53

/** How many bits a number loses of an ID with this upper half. */
const bitsLost = (high: number) => Math.max(64 - Math.clz32(high) - EXACT_BITS, 0)

/** More than chance explains, even six standard deviations above it. */
export const isFarAbove = (count: number, expected: number) => count > expected + 6 * Math.sqrt(expected) + 3

export class LostDigits {
  #isCounter
  #isNode
  /** IDs above 2^53, and those of them that a number holds exactly */
  large = 0
  round = 0

  #telling = 0 // IDs above 2^53 with a counter other than 0, that a number holds exactly
  #expected = 0
  #nodes: Set<number> = new Set()
  #roundNodes: Set<number> = new Set()
  #expectedNodes = 0

  constructor({ fields }: Layout) {
    const [name] = fields.at(-1) ?? ['zero']
    this.#isCounter = name === 'counter'
    this.#isNode = isNode(name)
  }

  add(high: number, low: number, counter: number, node: number) {
    const bits = bitsLost(high)
    if (bits === 0) return
    const isRound = (low & ((1 << bits) - 1)) === 0
    this.large++
    if (isRound) this.round++
    if (this.#isCounter && counter !== 0) {
      this.#expected += 2 ** -bits
      if (isRound) this.#telling++
    }
    if (this.#isNode && node !== 0) this.#addNode(node, bits, isRound)
  }

  /** One node generates many IDs, so nodes count once. */
  #addNode(node: number, bits: number, isRound: boolean) {
    if (isRound) this.#roundNodes.add(node)
    if (this.#nodes.has(node) || this.#nodes.size > 1e6) return
    this.#nodes.add(node)
    this.#expectedNodes += 2 ** -bits
  }

  /** IDs that show the loss; 0 if chance explains them. */
  get found() {
    if (this.#isCounter) return isFarAbove(this.#telling, this.#expected) ? this.#telling : 0
    return isFarAbove(this.#roundNodes.size, this.#expectedNodes) ? this.round : 0
  }

  /** Whether every ID could be one that lost digits. */
  get couldBeAll() {
    return this.large > 0 && this.round === this.large
  }
}
