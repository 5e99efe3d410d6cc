// The blocks that a member holds: runs of numbers, handed out once, one by one or many at a time, in the order of their
// arrival. It does not use the store.

export class Blocks {
  /** how many numbers of the present block are left */
  left = 0
  /** whether no block follows the present one */
  isLast = true
  // The next number. It is in a typed array because V8 adds to a bigint there in a register: 9 ns for each number, and 25 for
  // a bigint in a field. `next[0]++` would also cost 24.
  #next = new BigUint64Array(1)
  #ahead: Array<[first: bigint, count: number]> = [] // the blocks that follow
  #added = 0 // how many numbers came, without those that were cleared; counted here, so that next() need not

  /** How many numbers are left. */
  get total() {
    return this.#ahead.reduce((total, [, count]) => total + count, this.left)
  }

  /** How many were handed out. */
  get given() {
    return this.#added - this.total
  }

  add(first: bigint, count: number) {
    this.#added += count
    this.#ahead.push([first, count])
    this.isLast = false
  }

  clear() {
    this.#added -= this.total
    this.left = 0
    this.isLast = true
    this.#ahead = []
  }

  /** Continues with the next block. There must be one. */
  turn() {
    const [first, count] = this.#ahead.shift() as [bigint, number]
    this.#next[0] = first
    this.left = count
    this.isLast = this.#ahead.length === 0
  }

  /** A number of the present block, which must have one left. */
  next() {
    const number = this.#next[0]
    this.#next[0] = number + 1n
    this.left--
    return number
  }

  /** Fills `ids` with numbers of the present block; returns the part of `ids` that is still empty. */
  fill(ids: BigUint64Array) {
    const count = Math.min(ids.length, this.left)
    for (let i = 0; i < count; i++) ids[i] = this.next()
    return ids.subarray(count)
  }
}
