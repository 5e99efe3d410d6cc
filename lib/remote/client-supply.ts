// Where a client's IDs come from: what was fetched, the calls that wait, and the one request that brings more. It asks for
// more when half is used up; calls that find nothing join the next request.
//
// It must never have two requests under way, and never use the answer of one that it gave up. It must never ask without
// end for calls that nobody awaits any more.

import { abortable } from '../base/abort.ts'
import { sleepUnlessAborted } from '../base/abortable-sleep.ts'
import { Demand } from '../base/demand.ts'
import { closedRemoteError, fetchedUsedUpError } from '../base/errors/remote.ts'
import { monotonicNow, queueMicrotask } from '../base/portable-timers.ts'
import { IdBuffer } from './buffer.ts'
import { type Callback, Calls } from './calls.ts'
import { MOST, type RemoteSettings } from './options.ts'
import { LONGEST_REST_MS, RoundFailure, Servers } from './servers.ts'
import { whenCopied } from './snapshot.ts'

type Attempt = { controller: AbortController; until: number; isResting: boolean }

/**
 * How much later than planned a request may end. Beyond that it was cut off without a word: platforms do so to what a
 * function leaves behind when it has answered.
 */
const GRACE_MS = 5_000

export class ClientSupply {
  /** what was fetched; only the hot path of a client uses it, too */
  buffer
  #settings
  #servers
  #demand
  #calls = new Calls()
  #attempt: Attempt | undefined
  #failure: { error: Error; isFinal: boolean } | undefined // of the last request
  #restUntil = Number.NEGATIVE_INFINITY // until then nothing is fetched in advance
  #cameAt = Number.NEGATIVE_INFINITY // the last answer
  #groups // of how many groups its IDs were so far
  #goal = 0 // so many IDs a take() did not find
  #received = 0
  #left = 0 // how many were here when all was dropped
  #isClosed = false

  constructor(settings: RemoteSettings) {
    this.#settings = settings
    this.#servers = new Servers(settings)
    this.#groups = this.#servers.groups
    this.#demand = new Demand(settings.prefetch, () => MOST)
    this.buffer = new IdBuffer(settings)
    whenCopied(() => this.#forget())
  }

  /** Resolves with the first answer. */
  begin(signal?: AbortSignal): Promise<void> {
    return abortable(signal, (callback) => this.submit(new Uint8Array(0), callback))
  }

  /** The next ID, or an error. */
  nextBigInt() {
    if (!this.buffer.look()) throw this.#shortOf(1)
    const id = this.buffer.nextBigInt()
    this.#given()
    return id
  }

  /** The same, as the first 8 bytes of `into`. */
  copyTo(into: Uint8Array) {
    if (!this.buffer.look()) throw this.#shortOf(1)
    this.buffer.copyTo(into)
    this.#given()
  }

  /** Fills all of `into`, or throws and takes none. */
  fill(into: Uint8Array) {
    if (!this.claim(into)) throw this.#shortOf(into.length / 8)
  }

  /** Fills all of `into` if so many IDs are here and no other call waits for them. Returns whether it did. */
  claim(into: Uint8Array) {
    if (this.#isClosed) throw closedRemoteError(this.#settings.name)
    if (this.#calls.size > 0 || !this.buffer.take(into)) return false
    this.#given()
    return true
  }

  /** Calls back when `into` is filled, never at once. Returns the call, which can be cancelled. */
  submit(into: Uint8Array, callback: Callback) {
    const now = monotonicNow()
    const call = this.#calls.add(into, now, callback)
    if (this.#calls.size === 1 && into.length > 0) this.#calls.serve(this.buffer) // takes what is here
    this.#refill(now)
    const cancel = () => {
      const isCancelled = this.#calls.cancel(call)
      if (this.#calls.size === 0 && this.#attempt?.isResting) this.#giveUp()
      return isCancelled
    }
    return { cancel }
  }

  get stats() {
    this.buffer.look()
    const [buffered, { requests, retries }] = [this.buffer.count, this.#servers]
    const dropped = this.buffer.dropped + this.#calls.lost + this.#left
    const ids = this.#received - buffered - dropped - this.#calls.held
    return { ids, requests, retries, dropped, buffered, server: this.#servers.current }
  }

  /** Gives no more IDs. */
  close() {
    this.#isClosed = true
    this.#forget()
    this.#calls.fail(closedRemoteError(this.#settings.name))
  }

  /** Drops what is here and what is on its way. */
  #forget() {
    this.#giveUp()
    this.#drop()
  }

  /** Drops what is here. */
  #drop() {
    this.#left += this.buffer.count
    this.buffer.clear()
  }

  /** To be called after IDs were taken from the buffer. */
  #given() {
    const above = this.buffer.count - this.#demand.low
    if (above <= 0) this.#refill()
    this.buffer.trust(above > 0 ? above - 1 : MOST)
  }

  /** The error of a call that cannot wait; the IDs are on their way for a later one. */
  #shortOf(n: number) {
    const { name } = this.#settings
    if (this.#isClosed) return closedRemoteError(name)
    const failure = this.#failure
    const here = this.buffer.count
    this.#goal = Math.max(this.#goal, n)
    this.#refill()
    if (failure?.isFinal) return failure.error
    const retryAfterMs = Math.max(0, this.#restUntil - monotonicNow()) + this.#demand.tookMs
    return fetchedUsedUpError(name, { wanted: n, here, retryAfterMs, cause: failure?.error })
  }

  /** Asks for more, unless that is under way. */
  #refill(now = monotonicNow()) {
    if (this.#attempt !== undefined) {
      if (now < this.#attempt.until) return
      this.#giveUp()
    }
    if (this.#isClosed || (this.#calls.size === 0 && now < this.#restUntil)) return
    const attempt = { controller: new AbortController(), until: now + GRACE_MS, isResting: false }
    this.#attempt = attempt
    queueMicrotask(() => this.#run(attempt)) // after the other calls that this turn makes: they join
  }

  /** The answer of the request that is under way will not be used. */
  #giveUp() {
    const attempt = this.#attempt
    this.#attempt = undefined
    attempt?.controller.abort()
  }

  async #run(attempt: Attempt) {
    try {
      while (attempt === this.#attempt && this.#needs()) await this.#step(attempt)
    } catch (error) {
      if (attempt !== this.#attempt) return
      this.#failure = { error: error as Error, isFinal: true }
      this.#restUntil = monotonicNow() + LONGEST_REST_MS
      this.#calls.fail(error)
    }
    if (attempt === this.#attempt) this.#attempt = undefined
  }

  /** Whether more IDs are to be fetched. */
  #needs() {
    const { count } = this.buffer
    return this.#calls.size > 0 || count <= this.#demand.low || count < this.#goal
  }

  /** One round of requests, and the rest after one in vain. Throws if no other one would help. */
  async #step(attempt: Attempt) {
    const start = monotonicNow()
    this.#demand.ask(start)
    const ahead = Math.max(this.#demand.count, this.#goal) - this.buffer.count
    const n = Math.min(MOST, this.#calls.missing + Math.max(0, ahead))
    if (n === 0) return // the demand has just become smaller: what is here is enough
    attempt.until = start + this.#servers.longestRoundMs + GRACE_MS
    const answer = await this.#servers.round(n, { signal: attempt.controller.signal, patience: this.#patience })
    if (attempt !== this.#attempt) return
    if (!(answer instanceof RoundFailure)) this.#came(answer)
    else if (this.#failed(answer, start)) await this.#rest(attempt, answer.restMs)
    else this.#attempt = undefined
  }

  /** When the first call fails. If nothing is here, calls that cannot wait fail now. */
  get #patience() {
    const { since } = this.#calls
    if (since !== undefined) return Math.max(since, this.#cameAt) + this.#settings.waitMs
    return this.buffer.count > 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
  }

  #came(bytes: Uint8Array) {
    if (this.#servers.groups !== this.#groups) this.#beginAnew()
    this.#cameAt = monotonicNow()
    this.#demand.came(this.#cameAt)
    this.#failure = undefined
    this.#restUntil = Number.NEGATIVE_INFINITY
    this.#received += bytes.length / 8
    this.buffer.add(bytes)
    this.#calls.serve(this.buffer)
    if (this.buffer.count >= this.#goal) this.#goal = 0
  }

  /** The group was made again: nothing that is left of the old one is handed out. */
  #beginAnew() {
    this.#groups = this.#servers.groups
    this.#drop()
    this.#calls.restart()
  }

  /**
   * All servers have failed. Ends the calls that would wait too long; each has had all servers asked once. Returns whether
   * there are others.
   * @param start of the round
   */
  #failed({ error, againAt, restMs }: InstanceType<typeof RoundFailure>, start: number) {
    this.#failure = { error, isFinal: false }
    this.#restUntil = monotonicNow() + Math.min(restMs, LONGEST_REST_MS)
    const tooLate = againAt - this.#settings.waitMs
    if (this.#cameAt < tooLate) this.#calls.fail(error, Math.min(start, tooLate))
    return this.#calls.size > 0
  }

  async #rest(attempt: Attempt, ms: number) {
    attempt.until = monotonicNow() + ms + GRACE_MS
    attempt.isResting = true
    await sleepUnlessAborted(attempt.controller.signal, ms)
    attempt.isResting = false
  }
}
