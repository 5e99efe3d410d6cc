'use strict'
// @ts-check

// IDs of a segment: small dense numbers, from blocks of a counter on a store. It opens the counter in the background, and
// tries for as long as the server runs. It must never take a number only to see whether it can: the numbers are dense.

const { SegmentId } = require('flakeforge')
const { Keeper } = require('./keeper.js')

/** How long an answer of the store counts, and how long it may take. */
const [FRESH_MS, ANSWER_MS] = [2_000, 2_000]

class Segment {
  kind = 'segment'
  /** @type {Record<string, string>} */
  #headers = {}
  #options
  #store
  /** @type {SegmentId | undefined} */
  #numbers
  /** @type {Promise<Error | undefined> | undefined} */
  #probe
  #probedAt = 0

  /**
   * @param {{ name: string, options: Record<string, any>, store: InstanceType<typeof import('./stores.js').SharedStore> }} entry
   * @param {import('../http/waiting.js').Waiting} _waiting
   * @param {(text: string) => void} warn
   */
  constructor({ name, options, store }, _waiting, warn) {
    this.name = name
    this.json = JSON.stringify(name)
    const { segment, ...rest } = options
    this.segment = segment
    this.block = rest.block ?? 10_000
    this.#options = { ...rest, name: segment }
    this.#store = store
    /** What takes it of the store, and keeps it. */
    this.keeper = new Keeper(`Segment '${segment}'`, warn, {
      take: () => this.#take(),
      untilGone: () => new Promise(() => {}), // an open counter needs nobody's care
      end: () => this.#numbers?.close(),
    })
  }

  /** Why it gives no numbers now, if its store does not answer; undefined if it does. */
  trouble() {
    if (this.#numbers === undefined) return this.keeper.trouble
    if (Date.now() - this.#probedAt > FRESH_MS) {
      this.#probedAt = Date.now()
      this.#probe = this.#ask()
    }
    return this.#probe
  }

  /** Only requests show whether there are numbers: to try would use one up. */
  look() {}

  /** The headers of an answer with its IDs. Another object when they have changed. */
  get headers() {
    const { lineage } = this.#numbers ?? {}
    if (lineage !== undefined && lineage !== this.#headers['flakeforge-group'])
      this.#headers = { 'flakeforge-group': lineage }
    return this.#headers
  }

  one() {
    return String(this.#opened().nextBigInt())
  }

  /** What is here is handed out without a wait; it never blocks. */
  isFew() {
    return true
  }

  /** @param {number} n */
  texts(n) {
    return this.#opened().takeStrings(n)
  }

  /** @param {number} n */
  bytes(n) {
    return this.#opened().take(n)
  }

  /**
   * @param {number} n
   * @param {AbortSignal} signal
   */
  later(n, signal) {
    return this.#opened().takeAsync(n, { signal })
  }

  facts() {
    return { name: this.name, kind: 'segment', segment: this.segment, block: this.block }
  }

  #opened() {
    if (this.#numbers === undefined) throw this.keeper.trouble
    return this.#numbers
  }

  async #take() {
    this.#numbers = await SegmentId.open(this.#store.open(), this.#options)
  }

  /** @returns {Promise<Error | undefined>} */
  async #ask() {
    /** @type {NodeJS.Timeout | undefined} */
    let timer
    const late = new Promise((resolve) => {
      timer = setTimeout(() => resolve(lateError(this.segment)), ANSWER_MS)
    })
    const asked = this.#store.list(this.segment).then(
      () => undefined,
      (/** @type {Error} */ error) => error,
    )
    const trouble = await Promise.race([asked, late])
    clearTimeout(timer)
    return trouble
  }
}

/** @param {string} segment */
const lateError = (segment) =>
  Object.assign(new Error(`The store of segment '${segment}' has not answered for ${ANSWER_MS} ms.`), {
    code: 'ERR_FLAKE_STORE',
  })

exports.Segment = Segment
