'use strict'

// Hazelcast's IdGenerator: small dense numbers, handed out from blocks that a counter on a store grows by. The next block
// is asked for while the present one lasts, so that no call waits for the store.
//
// It must never go on where the store may have lost a block: there is no time in these IDs to save them. Only skipTo()
// says where to go on.

const { setTimeout: sleep } = require('node:timers/promises')
const { checkKeys, isAbsent, readBounded } = require('./check.js')
const {
  blocksUsedUpError,
  closedError,
  optionRangeError,
  optionTypeError,
  storeError,
  wentBackError,
} = require('./errors.js')
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
  #isFetching = false // whether a call that brings it is on its way
  #skips = 0 // how many skipTo() are on their way: no block is asked for meanwhile, it could be from below
  #hasGoneBack = false // whether the counter was made anew below us: that it passes us says nothing
  #turns = Promise.resolve() // ends with the last call to the store; it never fails
  #closing
  #failure // why the last call brought no block
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
    if (this.#left === 0 && !this.#turn()) throw this.#refusal()
    this.#mayInit = false
    if (--this.#left < this.#fetchAt && this.#ahead === undefined) this.#fetch()
    return this.#next++
  }

  async init(given) {
    const first = readId('value', given) + 1n
    this.#assertOpen()
    if (!this.#mayInit) return false
    this.#mayInit = false
    const left = BigInt(this.#block) - first
    if (left > 0n) {
      this.#use(first, Number(left))
      return true
    }
    this.#forget() // now: what is asked for from here on waits for the answer
    return this.#alone(() => this.#beginBeyond(first))
  }

  async skipTo(given) {
    const first = readId('value', given)
    this.#assertOpen()
    this.#mayInit = false
    await this.#alone(() => this.#goOnAt(first))
  }

  close() {
    this.#closing ??= this.#end()
    return this.#closing
  }

  [Symbol.asyncDispose]() {
    return this.close()
  }

  /** What a call that waits for one ID wants. */
  #one = {
    attempt: () => {
      if (this.#left > 0 || this.#turn()) return 0
      if (this.#isClosed || isFinal(this.#failure)) throw this.#refusal()
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
      if (!isStandstill(error)) throw error
      this.#failure = error // the calls say so, until skipTo()
    }
  }

  async #end() {
    this.#isClosed = true
    this.#mayInit = false
    await this.#turns
    this.#forget()
    this.#waiters.serve()
    await this.#onClose()
  }

  #assertOpen() {
    if (this.#isClosed) throw closedError(this.#name)
  }

  #refusal() {
    if (this.#isClosed) return closedError(this.#name)
    return this.#failure ?? blocksUsedUpError(this.#name, this.#block)
  }

  /** A step of the store's. It may be the user's own: what is no place of a counter must not become an ID. */
  async #ask(by, first) {
    try {
      const value = await this.#store.advance(this.#name, by, first)
      if (typeof value === 'bigint' && value >= 0n && value <= LAST_ID) return value
      throw new TypeError(`advance() gave ${typeof value} ${String(value)}, which is no place of a counter`)
    } catch (error) {
      if (error?.code?.startsWith?.('ERR_FLAKE_')) throw error
      throw storeError(`the store of counter '${this.#name}' failed`, error)
    }
  }

  /** Takes a block of the counter; makes one that begins at `first`, where that is given and there is none. */
  async #advance(first) {
    const start = await this.#ask(BigInt(this.#block), first)
    // Somebody made it anew after it was lost: what it gives now was handed out before.
    this.#hasGoneBack = start < this.#known
    if (this.#hasGoneBack) throw wentBackError(this.#name, start, this.#known)
    this.#known = start + BigInt(this.#block)
    return start
  }

  /** One call to the store after the other: their answers could come in another order. */
  #inTurn(work) {
    const done = this.#turns.then(work)
    this.#turns = done.catch(() => {})
    return done
  }

  /** In turn, and with no block asked for until it is done. */
  async #alone(work) {
    this.#skips++
    try {
      return await this.#inTurn(() => {
        this.#assertOpen() // it may have been closed while others were first
        return work()
      })
    } finally {
      this.#skips--
      this.#waiters.serve()
    }
  }

  /** The counter goes on at `first` at least, and so do we: with no block that was taken before. */
  async #goOnAt(first) {
    this.#forget()
    await this.#ask(0n, first)
    this.#use(await this.#advance(), this.#block)
  }

  /** The counter goes on at `first`, or where another member has been there already, as if nobody had asked. */
  async #beginBeyond(first) {
    let isFirst = false
    try {
      isFirst = (await this.#ask(0n, first)) === first
    } finally {
      if (!isFirst) this.#use(0n, this.#block) // whole, as init() put it aside
    }
    if (isFirst) this.#use(await this.#advance(), this.#block)
    return isFirst
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
    if (this.#ahead !== undefined || this.#isFetching || this.#skips > 0 || this.#isClosed || this.#hasGoneBack) return
    this.#isFetching = true
    this.#inTurn(() => this.#bring()).finally(() => {
      this.#isFetching = false
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

/** Whether the store answered that it may have lost blocks, or has no more. */
const isStandstill = (error) => error?.code === 'ERR_FLAKE_STORE' && error.cause === undefined

/** Whether waiting does not help, only what somebody does: skipTo() by any member, a folder put right. */
const isFinal = (error) => error?.code === 'ERR_FLAKE_FILE' || isStandstill(error)

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
