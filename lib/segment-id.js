'use strict'

// Hazelcast's IdGenerator: small dense numbers, handed out from blocks that a counter on a store grows by. The next block
// is asked for while the present one lasts, so that no call waits for the store.
//
// It must never go on where the store may have lost a block: there is no time in these IDs to save them. Only skipTo()
// says where to go on.

const { setTimeout: sleep } = require('node:timers/promises')
const { checkKeys, isAbsent, readBounded } = require('./check.js')
const { blocksUsedUpError, wentBackError, optionRangeError, optionTypeError } = require('./errors.js')
const { fromBigInt, toBuffer } = require('./hot.js')
const { readName } = require('./join-options.js')
const { openStore } = require('./stores/open.js')
const { Waiters } = require('./waiters.js')

const BLOCK = 10_000 // Hazelcast's
const LARGEST_BLOCK = 2 ** 32
const LAST_ID = 2n ** 64n - 1n
const RETRY_MS = 100 // after a failed call to the store, while somebody waits
const MAKING = Symbol('made by open()')

class SegmentId {
  #name
  #block
  #store
  #onClose
  #known = 0n // the counter was here when we looked last
  #next = 0n
  #left = 0 // IDs of the present block, from #next on
  #fetchAt // how many IDs are left when the next block is asked for
  #ahead // where the block after it starts; undefined: not there yet
  #fetching // the call that brings it
  #failure // why the last such call brought none
  #mayInit = false // whether our block is the counter's first, and no ID of it was given
  #isClosed = false
  #waiters = new Waiters(() => {})

  static async open(given, givenOptions) {
    const { name, block, init } = readOptions(givenOptions)
    const { store, close } = openStore(given)
    const segment = new SegmentId(MAKING, { name, block, store, close })
    try {
      await segment.#begin(init)
      return segment
    } catch (error) {
      await close()
      throw error
    }
  }

  constructor(key, parts) {
    if (key !== MAKING) throw optionTypeError('options', key, 'given to SegmentId.open(), which makes these')
    this.#name = parts.name
    this.#block = parts.block
    this.#fetchAt = parts.block / 2
    this.#store = parts.store
    this.#onClose = parts.close
  }

  next(callback) {
    if (isAbsent(callback)) {
      fromBigInt(this.nextBigInt())
      return toBuffer()
    }
    if (typeof callback !== 'function') throw optionTypeError('callback', callback, 'a function')
    this.#waiters.submit(callback, this.#one)
  }

  nextAsync() {
    return new Promise((resolve, reject) => {
      this.next((error, id) => (error ? reject(error) : resolve(id)))
    })
  }

  nextBigInt() {
    if (this.#left === 0 && !this.#turn()) throw this.#failure ?? blocksUsedUpError(this.#name, this.#block)
    this.#mayInit = false
    if (--this.#left < this.#fetchAt && this.#ahead === undefined) this.#fetch()
    return this.#next++
  }

  async init(given) {
    const first = readId('value', given) + 1n
    if (!this.#mayInit) return false
    this.#mayInit = false
    const left = BigInt(this.#block) - first
    if (left > 0n) this.#use(first, Number(left))
    else await this.#goOnAt(first)
    return true
  }

  async skipTo(given) {
    this.#mayInit = false
    await this.#goOnAt(readId('value', given))
  }

  async close() {
    this.#isClosed = true
    await this.#fetching
    this.#forget()
    this.#waiters.serve()
    await this.#onClose()
  }

  [Symbol.asyncDispose]() {
    return this.close()
  }

  /** What a call that waits for one ID wants. */
  #one = {
    attempt: () => {
      if (this.#left > 0 || this.#turn()) return 0
      if (this.#isClosed || isFinal(this.#failure)) throw this.#failure ?? blocksUsedUpError(this.#name, this.#block)
      return RETRY_MS // a block that comes before that wakes us
    },
    result: () => this.next(),
  }

  async #begin(init) {
    try {
      const start = await this.#advance(init === undefined ? 0n : init + 1n)
      this.#mayInit = init === undefined && start === 0n
      this.#use(start, this.#block)
    } catch (error) {
      if (!isFinal(error)) throw error
      this.#failure = error // the calls say so, until skipTo()
    }
  }

  /** Takes a block of the counter; makes one that begins at `first`, where that is given and there is none. */
  async #advance(first) {
    const start = await this.#store.advance(this.#name, BigInt(this.#block), first)
    // Somebody made it anew after it was lost: what it gives now was handed out before.
    if (start < this.#known) throw wentBackError(this.#name, start, this.#known)
    this.#known = start + BigInt(this.#block)
    return start
  }

  /** The counter goes on at `first` at least, and so do we: with no block that was taken before. */
  async #goOnAt(first) {
    await this.#fetching
    this.#forget()
    await this.#store.advance(this.#name, 0n, first)
    this.#use(await this.#advance(), this.#block)
    this.#waiters.serve()
  }

  #use(first, count) {
    this.#next = first
    this.#left = count
    this.#failure = undefined
  }

  #forget() {
    this.#left = 0
    this.#ahead = undefined
  }

  /** Goes on with the next block; false where it is not there yet. */
  #turn() {
    if (this.#ahead === undefined) {
      this.#fetchAt = this.#block // half a block does not last until the store has answered
      this.#fetch()
      return false
    }
    this.#use(this.#ahead, this.#block)
    this.#ahead = undefined
    return true
  }

  /** Has the next block brought, by one call at a time, and not again at once after one that failed. */
  #fetch() {
    if (this.#ahead !== undefined || this.#fetching !== undefined || this.#isClosed || isFinal(this.#failure)) return
    this.#fetching = this.#bring().finally(() => {
      this.#fetching = undefined
      this.#waiters.serve()
    })
  }

  async #bring() {
    try {
      this.#ahead = await this.#advance()
    } catch (error) {
      this.#failure = error
      await sleep(RETRY_MS)
    }
  }
}

/** Whether asking again does not help: the store answered, and said no. */
const isFinal = (error) =>
  error?.code === 'ERR_FLAKE_FILE' || (error?.code === 'ERR_FLAKE_STORE' && error.cause === undefined)

function readOptions(given) {
  const { name, block, init } = checkKeys('options', given, ['name', 'block', 'init'])
  return {
    name: readName('name', name),
    block: isAbsent(block) ? BLOCK : readBounded('block', block, 1, LARGEST_BLOCK),
    init: isAbsent(init) ? undefined : readId('init', init),
  }
}

/** An ID as a bigint, or as a number that is exact. */
function readId(option, value) {
  const wanted = `a bigint from 0 to ${LAST_ID - 1n}, or a safe integer`
  if (typeof value !== 'bigint' && typeof value !== 'number') throw optionTypeError(option, value, wanted)
  if (typeof value === 'number' && !Number.isSafeInteger(value)) throw optionRangeError(option, value, wanted)
  const id = BigInt(value)
  if (id < 0n || id >= LAST_ID) throw optionRangeError(option, value, wanted)
  return id
}

module.exports = { SegmentId }
