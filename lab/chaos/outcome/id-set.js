'use strict'

// A set of 64-bit numbers that only says whether a number is new. It has one bit for each number, in pages of 4 096
// neighbours. IDs of the flake layout share their pages with the rest of their millisecond, so a hundred million of them
// fit into a few hundred MB, and a number costs some nanoseconds. It must never forget one.

const PAGE_WORDS = 128
const SHELF_PAGES = 8192 // pages are allocated together: an array for each page would be as large as the page

class IdSet {
  #places = new Map() // of pages, by what the numbers on the page have in common
  #shelves = []
  #page = -1 // the current page; numbers mostly come in order
  #shelf
  #offset

  /** Adds a number, given as its upper and lower 32 bits. Returns whether it is new. */
  add(high, low) {
    const page = high * 0x100000 + (low >>> 12)
    if (page !== this.#page) this.#turnTo(page)
    const word = this.#offset + ((low >>> 5) & (PAGE_WORDS - 1))
    const bit = 1 << (low & 31)
    if ((this.#shelf[word] & bit) !== 0) return false
    this.#shelf[word] |= bit
    return true
  }

  #turnTo(page) {
    let place = this.#places.get(page)
    if (place === undefined) {
      place = this.#places.size
      this.#places.set(page, place)
      if (place % SHELF_PAGES === 0) this.#shelves.push(new Uint32Array(SHELF_PAGES * PAGE_WORDS))
    }
    this.#page = page
    this.#shelf = this.#shelves[Math.floor(place / SHELF_PAGES)]
    this.#offset = (place % SHELF_PAGES) * PAGE_WORDS
  }
}

module.exports = { IdSet }
