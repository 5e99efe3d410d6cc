// The IDs that were fetched and not yet handed out, the oldest first. Those older than `validityMs` are dropped.
//
// A copy of this memory would hand out IDs twice. A page from the browser's back/forward cache is the same page, a fork of
// Node begins with an empty memory, and a structured clone has no private fields. snapshot.ts handles the only way to copy
// it.

import { queueMicrotask, unixNow } from '../base/portable-timers.ts'

/**
 * How many IDs may be taken one by one before the clock is read again: reading it takes twice as long as an ID. Within one
 * turn of the event loop a program that computes for long may get up to this many that are too old.
 */
const TRUSTED = 16

/** `since`: Unix ms. `isExact`: whether all its IDs are exact as numbers; undefined until a call needs it. */
export type Batch = { bytes: Uint8Array; since: number; isExact?: boolean }

export class IdBuffer {
  /** how many IDs `nextBigInt()` or `copyTo()` may take before `look()` must be called again */
  ready = 0
  /** how many were dropped because they were too old */
  dropped = 0
  #validityMs
  #ahead: Batch[] = [] // the batches after the present one
  // The present batch. A DataView reads a bigint as fast as a BigUint64Array, without a change of byte order.
  #bytes: Uint8Array = new Uint8Array(0)
  #view: DataView = new DataView(new ArrayBuffer(0))
  #at = 0
  #present: Batch = { bytes: this.#bytes, since: 0 }
  #isTrusting = false // whether distrust() is to run at the end of this turn

  /** @param options Infinity: forever */
  constructor({ validityMs }: { validityMs: number }) {
    this.#validityMs = validityMs
  }

  /** How many IDs are buffered; some may be too old. */
  get count() {
    return this.#ahead.reduce((total, { bytes }) => total + bytes.length / 8, this.#left)
  }

  /** Adds IDs that have just arrived, 8 bytes each. From here on the buffer owns them. */
  add(bytes: Uint8Array) {
    this.#ahead.push({ bytes, since: unixNow() })
  }

  /**
   * Drops IDs that are too old. Returns whether an ID is left. The clock is read once: IDs that are counted afterwards stay
   * available, even if the clock steps.
   */
  look() {
    const now = unixNow()
    if (this.#isTooOld(this.#present.since, now)) this.#drop()
    if (this.#ahead.some(({ since }) => this.#isTooOld(since, now))) this.#dropAhead(now)
    return this.#hasMore()
  }

  /**
   * Lets this many IDs be taken without a look, if they are here; only until the end of this turn, since the machine may then
   * sleep for hours.
   */
  trust(most: number) {
    this.ready = Math.max(0, Math.min(most, this.#left, TRUSTED))
    if (this.#isTrusting || this.ready === 0) return
    this.#isTrusting = true
    queueMicrotask(this.#distrust)
  }

  /** Whether all buffered IDs are exact as numbers. */
  get areExact() {
    return isExact(this.#present) && this.#ahead.every(isExact)
  }

  /** The next ID, which must be here. */
  nextBigInt() {
    const id = this.#view.getBigUint64(this.#at)
    this.#at += 8
    this.ready--
    return id
  }

  /**
   * Writes the next ID, which must be here, to the first 8 bytes of `into`. It copies byte by byte, because `set` costs 20 ns
   * more.
   */
  copyTo(into: Uint8Array) {
    const [from, at] = [this.#bytes, this.#at]
    into[0] = from[at]
    into[1] = from[at + 1]
    into[2] = from[at + 2]
    into[3] = from[at + 3]
    into[4] = from[at + 4]
    into[5] = from[at + 5]
    into[6] = from[at + 6]
    into[7] = from[at + 7]
    this.#at = at + 8
    this.ready--
  }

  /** Fills all of `into` with IDs, or takes none and returns false. */
  take(into: Uint8Array) {
    this.look()
    if (this.count * 8 < into.length) return false
    this.#copy(into, 0)
    return true
  }

  /** Fills `into` from this byte on, as far as there are IDs; returns the end of the filled part. */
  fill(into: Uint8Array, from: number) {
    this.look()
    return this.#copy(into, from)
  }

  /** The same, without reading the clock. */
  #copy(into: Uint8Array, from: number) {
    let filled = from
    while (filled < into.length && this.#hasMore()) {
      if (into.length === 8) {
        this.copyTo(into) // without the array that subarray() makes
        filled = 8
      } else {
        const end = Math.min(this.#at + into.length - filled, this.#bytes.length)
        into.set(this.#bytes.subarray(this.#at, end), filled)
        filled += end - this.#at
        this.#at = end
      }
    }
    this.ready = 0
    return filled
  }

  /** Whether there is an ID; if so, moves to its batch. */
  #hasMore() {
    if (this.#left > 0) return true
    const next = this.#ahead.shift()
    if (next !== undefined) this.#use(next)
    return next !== undefined
  }

  /** Drops all IDs. */
  clear() {
    this.#ahead = []
    this.#use({ bytes: new Uint8Array(0), since: 0 })
  }

  /** How many are left of the present batch. */
  get #left() {
    return (this.#bytes.length - this.#at) / 8
  }

  /** True also if the clock was set back, because the age is then unknown. */
  #isTooOld(since: number, now: number) {
    const age = now - since
    return !(age >= 0 && age <= this.#validityMs)
  }

  /** Drops the present batch. */
  #drop() {
    this.dropped += this.#left
    this.#use({ bytes: new Uint8Array(0), since: this.#present.since })
  }

  /** Drops batches that are too old after the present one. */
  #dropAhead(now: number) {
    const here = this.count
    this.#ahead = this.#ahead.filter(({ since }) => !this.#isTooOld(since, now))
    this.dropped += here - this.count
  }

  #use(batch: Batch) {
    const { bytes } = batch
    this.ready = 0
    this.#present = batch
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#at = 0
  }

  #distrust = () => {
    this.#isTrusting = false
    this.ready = 0
  }
}

function isExact(batch: Batch) {
  batch.isExact ??= areExact(batch.bytes)
  return batch.isExact
}

/** Whether these IDs are below 2^53: their first 11 bits are 0. */
function areExact(bytes: Uint8Array) {
  for (let at = 0; at < bytes.length; at += 8) if (bytes[at] > 0 || bytes[at + 1] > 31) return false
  return true
}
