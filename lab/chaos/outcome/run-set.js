'use strict'

// Runs of numbers, each a first number and a count, and which of them overlap. A run takes 16 bytes, however long it
// is: 10,000 million IDs of a wide layout are about a million runs. Every run is kept.

class RunSet {
  #firsts = new BigUint64Array(1024)
  #counts = new BigUint64Array(1024)
  size = 0

  add(first, count) {
    if (this.size === this.#firsts.length) this.#grow()
    this.#firsts[this.size] = first
    this.#counts[this.size] = count
    this.size++
  }

  #grow() {
    const [firsts, counts] = [this.#firsts, this.#counts]
    this.#firsts = new BigUint64Array(firsts.length * 2)
    this.#counts = new BigUint64Array(firsts.length * 2)
    this.#firsts.set(firsts)
    this.#counts.set(counts)
  }

  /**
   * Calls `look(first, count)` with each stretch of numbers that is already in an earlier run, in the order of numbers.
   */
  forEachOverlap(look) {
    const firsts = this.#firsts
    const order = Uint32Array.from({ length: this.size }, (_, i) => i)
    order.sort((a, b) => (firsts[a] < firsts[b] ? -1 : firsts[a] > firsts[b] ? 1 : 0))
    let end = 0n
    for (const i of order) {
      const [first, last] = [firsts[i], firsts[i] + this.#counts[i]]
      if (first < end) look(first, (last < end ? last : end) - first)
      if (last > end) end = last
    }
  }
}

module.exports = { RunSet }
