'use strict'

// Hazelcast's IdGenerator: small dense numbers, handed out from blocks that a counter on a store grows by. It asks for
// the next block while the present one lasts, so that no call waits for the store.
//
// It must never continue if the store may have lost a block: these IDs hold no time that would keep them apart. Only
// skipTo() says where to continue.
//
// Only the class is loaded with the package, since an ES import of any export loads them all. open() loads what a
// member is made of.

const { abortableBy, signalOf } = require('../../base/abort.js')
const { checkKeys, isAbsent, readBounded } = require('../../base/check.js')
const { baseCode } = require('../../layout/format.js')
const { fromBigInt, toBuffer, toTexts } = require('../../generator/hot.js')
const { INSPECT, look } = require('../../base/inspect.js')
const { readCount } = require('../../generator/options.js')
const { monotonicNow, sleep } = require('../../base/timers.js')

const errors = () => require('../../base/errors.js') // loaded when the first one is made

const BLOCK = 10_000 // Hazelcast's
const LARGEST_BLOCK = 2 ** 32
/** How long close() waits: for a call to the store that is under way, and for our own client to end. */
const [STORE_MS, CLIENT_MS] = [4_000, 900]
const RETRY_MS = 100 // after a failed call to the store, while calls wait
const END = 2n ** 64n - 1n // not an ID: the value of a counter that is used up
const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1
const MAKING = Symbol('made by open()')

class SegmentId {
  #name
  #block
  #onClose
  #counter
  #demand
  #hand
  #fetchAt // when fewer IDs than this are left of the last block, we ask for the next one
  #isLate = false // whether a block ever came too late, because half a block did not last until the store answered
  #isFetching = false // whether a call that brings blocks is on its way, or failed a moment ago
  #failure // why the last call brought no block; undefined while another call is on its way
  #mayInit = false // whether we have the counter's first block, have given no ID of it, and asked for no other
  #closing
  #isClosed = false
  #hasEnded = false // whether close() has stopped waiting: a block that comes now is too late
  #waiters

  static async open(given, givenOptions) {
    const { checkStore, openStore } = require('../stores/open.js')
    checkStore(given, 'SegmentId.open')
    const { name, block, init, durable } = readOptions(givenOptions)
    const { store, close } = openStore(given)
    const segment = new SegmentId(MAKING, { name, block, durable, store, close })
    try {
      await segment.#begin(init)
      return segment
    } catch (error) {
      await close()
      throw error
    }
  }

  constructor(key, parts) {
    if (key !== MAKING) {
      throw errors().optionError(
        TypeError,
        'options',
        key,
        'SegmentId is made by await SegmentId.open(store, { name })',
      )
    }
    const { Blocks } = require('./blocks.js')
    const { Counter } = require('./counter.js')
    const { Demand } = require('./demand.js')
    const { Waiters } = require('../../generator/waiters.js')
    this.#name = parts.name
    this.#block = parts.block
    this.#counter = new Counter(parts.store, parts.name, parts.durable)
    this.#demand = new Demand()
    this.#hand = new Blocks()
    this.#waiters = new Waiters(() => {})
    this.#onClose = parts.close
  }

  next(callback) {
    if (isAbsent(callback)) {
      fromBigInt(this.nextBigInt())
      return toBuffer()
    }
    if (typeof callback !== 'function') throw errors().optionTypeError('callback', callback, 'a function')
    this.#waiters.submit(callback, this.#one)
  }

  nextAsync(options) {
    return this.#promised(options, () => this.#one)
  }

  nextBigInt() {
    if (this.#hand.left === 0) this.#insist(1)
    const id = this.#hand.next()
    this.#given()
    return id
  }

  take(n) {
    return bigEndian(this.takeBigInts(n))
  }

  takeBigInts(n) {
    return this.#fill(memoryFor(n))
  }

  takeStrings(n, base) {
    const code = baseCode(base)
    return toTexts(this.take(n), n, code)
  }

  takeAsync(n, options) {
    return this.#promised(options, () => {
      const ids = memoryFor(n)
      return { attempt: () => this.#attempt(n), result: () => bigEndian(this.#fill(ids)) }
    })
  }

  ids(options) {
    const { IdIterator } = require('../../generator/id-iterator.js')
    return new IdIterator((callback) => this.#waiters.submitLater(callback, this.#one), signalOf(options))
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
    this.#hand.clear() // at once: calls from here on wait for the answer
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

  [INSPECT](...how) {
    return look(this, { name: this.#name, block: this.#block, left: this.#hand.total, isClosed: this.#isClosed }, how)
  }

  /** The wish of a call that waits for one ID. */
  #one = { attempt: () => this.#attempt(1), result: () => this.next() }

  /** 0 if n IDs are here, or else in how many ms to try again; throws if waiting does not help. */
  #attempt(n) {
    if (this.#has(n)) return 0
    const reason = this.#reason()
    if (isFinal(reason)) throw reason
    return RETRY_MS // a block that comes earlier wakes us
  }

  #promised(options, wish) {
    if (options !== undefined) return abortableBy(options, (callback) => this.#waiters.submitLater(callback, wish()))
    return new Promise((resolve, reject) => {
      this.#waiters.submit((error, result) => (error ? reject(error) : resolve(result)), wish())
    })
  }

  /** Fills `ids` completely or throws: then the IDs that are here stay for other calls. */
  #fill(ids) {
    if (ids.length === 0) return ids
    this.#insist(ids.length)
    for (let rest = this.#hand.fill(ids); rest.length > 0; rest = this.#hand.fill(rest)) this.#turn()
    this.#given()
    return ids
  }

  /** Makes sure that n IDs are here, the first of them in the present block; or throws. */
  #insist(n) {
    const reason = this.#reason() // before it is asked for again
    if (!this.#has(n)) throw reason ?? errors().blocksUsedUpError(this.#name, this.#block, n, this.#hand.total)
    if (this.#hand.left === 0) this.#turn()
  }

  /** Whether n IDs are here. Asks for the missing ones. */
  #has(n) {
    const missing = n - this.#hand.total
    if (missing <= 0) return true
    this.#isLate = true
    this.#mayInit = false
    this.#fetch(missing)
    return false
  }

  #turn() {
    this.#hand.turn()
    const size = Math.max(this.#hand.left, this.#block)
    this.#fetchAt = this.#isLate ? size : size / 2
  }

  /** To be called after IDs were given. */
  #given() {
    this.#mayInit = false
    if (this.#hand.left < this.#fetchAt && this.#hand.isLast) this.#fetch(0)
  }

  /** Why there is no ID, and none on its way. */
  #reason() {
    return this.#isClosed ? errors().closedError(this.#name) : (this.#counter.lost ?? this.#failure)
  }

  #assertOpen() {
    if (this.#isClosed) throw errors().closedError(this.#name)
  }

  async #begin(init) {
    try {
      const start = await this.#take(this.#block, init === undefined ? 0n : init + 1n)
      this.#mayInit = init === undefined && start === 0n
      this.#use(start, this.#block)
    } catch (error) {
      if (!isStandstill(error)) throw error
      this.#failure = error // calls throw it, until skipTo()
    }
  }

  async #end() {
    const { within } = require('../../base/in-time.js')
    this.#isClosed = true
    await within(this.#counter.idle, STORE_MS)
    this.#hasEnded = true
    this.#hand.clear()
    this.#waiters.serve()
    await within(this.#onClose(), CLIENT_MS)
  }

  /** Does this work in turn, but only for an open member: it may have been closed while the work waited. */
  async #alone(work) {
    try {
      return await this.#counter.inTurn(() => {
        this.#assertOpen()
        return work()
      })
    } finally {
      this.#waiters.serve()
    }
  }

  /** The counter continues at `first` or above, and so do we. Blocks that were taken before are dropped. */
  async #goOnAt(first) {
    this.#hand.clear()
    await this.#counter.raise(first)
    this.#use(await this.#take(this.#block), this.#block)
  }

  /** The counter continues at `first`; but if another member has used it already, nothing changes. */
  async #beginBeyond(first) {
    let isFirst = false
    try {
      isFirst = (await this.#counter.raise(first)) === first
    } finally {
      if (!isFirst) this.#use(0n, this.#block) // the whole block, which init() had put aside
    }
    if (isFirst) this.#use(await this.#take(this.#block), this.#block)
    return isFirst
  }

  /** Continues with this block, and drops all others. */
  #use(first, count) {
    if (this.#hasEnded) return
    this.#hand.clear()
    this.#hand.add(first, count)
    this.#turn()
  }

  /** Fetches at least so many IDs. Only one call runs at a time, and after a failed one the next has to wait. */
  #fetch(least) {
    if (this.#isFetching || this.#isClosed) return
    this.#isFetching = true
    if (!isFinal(this.#failure)) this.#failure = undefined // the trouble may be over
    this.#counter
      .inTurn(() => this.#bring(least))
      .finally(() => {
        this.#isFetching = false
        this.#waiters.serve()
      })
  }

  /** Takes so many numbers from the counter, and forgets earlier failures. */
  async #take(count, init) {
    const first = await this.#counter.take(count, init)
    this.#failure = undefined
    return first
  }

  async #bring(least) {
    try {
      const wanted = Math.max(this.#demand.ask(monotonicNow()), Math.ceil(least / this.#block))
      const blocks = Math.max(1, Math.min(wanted, Math.floor(this.#counter.room / this.#block)))
      const count = blocks * this.#block
      const first = await this.#take(count)
      if (this.#hasEnded) return
      this.#hand.add(first, count)
      this.#demand.came(monotonicNow(), blocks)
    } catch (error) {
      this.#failure = error
      await sleep(RETRY_MS)
    }
  }
}

/** Whether the store answered that it may have lost blocks, or has no more. */
const isStandstill = (error) => error?.code === 'ERR_FLAKE_STORE' && error.cause === undefined

/** Whether waiting does not help: somebody has to act. Any member calls skipTo(), or somebody repairs the folder. */
const isFinal = (error) => ['ERR_FLAKE_DETACHED', 'ERR_FLAKE_FILE'].includes(error?.code) || isStandstill(error)

/** Memory for so many IDs. It is not zeroed; a new BigUint64Array would be. */
function memoryFor(n) {
  const bytes = Buffer.allocUnsafeSlow(readCount(n) * 8)
  return new BigUint64Array(bytes.buffer, bytes.byteOffset, n)
}

/** Turns these IDs, which are in this machine's byte order, into big-endian bytes, in place. */
function bigEndian(ids) {
  const bytes = Buffer.from(ids.buffer, ids.byteOffset, ids.byteLength)
  return IS_LITTLE_ENDIAN ? bytes.swap64() : bytes
}

function readOptions(given) {
  const { readDurable, readName } = require('../join-options.js')
  const { name, block, init, durable } = checkKeys('options', given, ['name', 'block', 'init', 'durable'])
  return {
    name: readName('name', name),
    block: isAbsent(block) ? BLOCK : readBounded('block', block, 1, LARGEST_BLOCK),
    init: isAbsent(init) ? undefined : readId('init', init),
    durable: readDurable(durable),
  }
}

/** An ID as a bigint, or as a number that is exact. */
function readId(option, value) {
  const wanted = `a bigint from 0 to ${END - 1n}, or a safe integer`
  if (typeof value !== 'bigint' && typeof value !== 'number') throw errors().optionTypeError(option, value, wanted)
  if (typeof value === 'number' && !Number.isSafeInteger(value)) throw errors().optionRangeError(option, value, wanted)
  const id = BigInt(value)
  if (id < 0n || id >= END) throw errors().optionRangeError(option, value, wanted)
  return id
}

module.exports = { SegmentId }
