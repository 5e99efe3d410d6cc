// Where a client's IDs come from: what was fetched, the calls that wait, and the one request that brings more. It asks for
// more when half is used up; calls that find nothing join the next request.
//
// It must never have two requests under way, and never use the answer of one that it gave up. It must never ask without
// end for calls that nobody awaits any more.

import { sleepUnlessAborted } from '../base/abortable-sleep.ts'
import { Demand } from '../base/demand.ts'
import { closedRemoteError, fetchedUsedUpError, notExactNameError } from '../base/errors/remote.ts'
import { newBytes } from '../base/objects.ts'
import { monotonicNow, queueMicrotask } from '../base/portable-timers.ts'
import { Calls } from '../calls/calls.ts'
import { PORTABLE } from '../calls/portable-host.ts'
import type { Call, Source } from '../calls/source.ts'
import { IdBuffer } from './buffer.ts'
import { MOST, type RemoteSettings } from './options.ts'
import { LONGEST_REST_MS, RoundFailure, Servers } from './servers.ts'
import { whenCopied } from './snapshot.ts'

type Attempt = { controller: AbortController; until: number; isResting: boolean }

/**
 * How much later than planned a request may end. Beyond that it was cut off without a word: platforms do so to what a
 * function leaves behind when it has answered.
 */
const GRACE_MS = 5_000

/** The most IDs of one call: 1000 requests. */
export const MOST_OF_A_CALL = 10_000_000

export class ClientSupply implements Source<Uint8Array> {
  most = MOST_OF_A_CALL
  /** the calls that wait */
  calls
  /** what was fetched; only the hot path of a client uses it, too */
  buffer
  #settings
  #servers
  #demand
  #queue
  #attempt: Attempt | undefined
  #failure: { error: Error; isFinal: boolean } | undefined // of the last request
  #verdict = { error: undefined as unknown, since: Number.NEGATIVE_INFINITY } // calls that wait since then or longer fail
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
    this.calls = new Calls<Uint8Array>(this, PORTABLE)
    this.#queue = this.calls.queue
    whenCopied(() => this.#forget())
  }

  /** Resolves with the first answer. */
  begin(signal?: AbortSignal) {
    return this.calls.batch(0, { signal })
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
    if (this.#isClosed || this.#queue.size > 0 || !this.buffer.take(into)) throw this.#shortOf(into.length / 8)
    this.#given()
  }

  /** n IDs, if they are here and no other call comes first. The queue would take as long again. */
  atOnce(n: number) {
    if (this.#isClosed || !this.#queue.isEmpty || !Number.isInteger(n) || n < 0 || n > this.buffer.count)
      return undefined
    const ids = newBytes(n * 8)
    if (!this.buffer.take(ids)) return undefined
    this.#given()
    return ids
  }

  /** Throws if the IDs that are here are not all exact as numbers. */
  assertExact() {
    if (!this.buffer.areExact) throw notExactNameError(this.#settings.name)
  }

  /** Gives the IDs that are here to a call that waits. Until the first answer not even one for none has what it wants. */
  claim(call: Call<Uint8Array>) {
    if (this.#isClosed || this.#cameAt === Number.NEGATIVE_INFINITY) return false
    call.into ??= newBytes(call.n * 8)
    call.made = this.buffer.fill(call.into, call.made * 8) / 8
    if (call.made < call.n) return false
    this.#given()
    return true
  }

  /** A call waits for an answer, unless it has waited for too long. */
  lack(call: Call<Uint8Array>) {
    if (this.#isClosed) throw closedRemoteError(this.#settings.name)
    const now = monotonicNow()
    call.since ??= now
    if (this.#isTooLate(call)) throw this.#verdict.error
    this.#refill(now)
    return Number.POSITIVE_INFINITY
  }

  queued(call: Call<Uint8Array>) {
    call.since = monotonicNow()
    this.#refill(call.since)
  }

  idle() {
    if (this.#attempt?.isResting) this.#giveUp()
  }

  get stats() {
    this.buffer.look()
    const [buffered, { requests, retries }] = [this.buffer.count, this.#servers]
    const dropped = this.buffer.dropped + this.#queue.lost + this.#left
    const ids = this.#received - buffered - dropped - (this.#queue.first?.made ?? 0)
    return { ids, requests, retries, dropped, buffered, server: this.#servers.current }
  }

  /** Gives no more IDs. */
  close() {
    this.#isClosed = true
    this.#forget()
    this.calls.wake()
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
    if (this.#isClosed || (this.#queue.size === 0 && now < this.#restUntil)) return
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
      const now = monotonicNow()
      this.#restUntil = now + LONGEST_REST_MS
      this.#fail(error, now)
    }
    if (attempt === this.#attempt) this.#attempt = undefined
  }

  /** Ends the calls that wait since then or longer. */
  #fail(error: unknown, since: number) {
    this.#verdict = { error, since }
    this.calls.wake()
  }

  /** Whether a call is one of them. It does not know since when it waits if nothing was tried for it. */
  #isTooLate({ since }: Call<Uint8Array>) {
    return since !== undefined && since <= this.#verdict.since
  }

  /** Whether more IDs are to be fetched. */
  #needs() {
    const { short, spare } = this.#balance
    return short > 0 || spare <= this.#demand.low || spare < this.#goal
  }

  /** How many IDs the calls that wait need beyond those that are here, or how many those will leave. */
  get #balance() {
    const here = this.buffer.count
    const missing = this.#queue.size === 0 ? 0 : this.#queue.missing
    return { short: Math.max(0, missing - here), spare: Math.max(0, here - missing) }
  }

  /** One round of requests, and the rest after one in vain. Throws if no other one would help. */
  async #step(attempt: Attempt) {
    const start = monotonicNow()
    this.#demand.ask(start)
    const { short, spare } = this.#balance
    const ahead = Math.max(this.#demand.count, this.#goal) - spare
    const n = Math.min(MOST, short + Math.max(0, ahead))
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
    const { first } = this.#queue
    if (first !== undefined) return Math.max(first.since ?? monotonicNow(), this.#cameAt) + this.#settings.waitMs
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
    this.calls.wake()
    if (this.#balance.spare >= this.#goal) this.#goal = 0
  }

  /** The group was made again: nothing that is left of the old one is handed out. */
  #beginAnew() {
    this.#groups = this.#servers.groups
    this.#drop()
    this.#queue.restart()
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
    if (this.#cameAt < tooLate) this.#fail(error, Math.min(start, tooLate))
    const last = this.#queue.last
    return last !== undefined && !this.#isTooLate(last)
  }

  async #rest(attempt: Attempt, ms: number) {
    attempt.until = monotonicNow() + ms + GRACE_MS
    attempt.isResting = true
    await sleepUnlessAborted(attempt.controller.signal, ms)
    attempt.isResting = false
  }
}
