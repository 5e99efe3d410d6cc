// The supply of a client's IDs: those that were fetched, the waiting calls, and the one request for more. It requests more
// when half is used up; calls that find no ID join the next request.
//
// One request is pending at a time, and the answer of one that was given up is not used. Requests stop when no call waits.

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
 * How much later than planned a request may end. Beyond that it was cut off silently: platforms do so to pending work of a
 * function that has answered.
 */
const GRACE_MS = 5_000

/** The most IDs of one call: 1000 requests. */
export const MOST_OF_A_CALL = 10_000_000

export class ClientSupply implements Source<Uint8Array> {
  most = MOST_OF_A_CALL
  /** the waiting calls */
  calls
  /** the fetched IDs; only a client's hot path uses it, too */
  buffer
  #settings
  #servers
  #demand
  #queue
  #attempt: Attempt | undefined
  #failure: { error: Error; isFinal: boolean } | undefined // of the last request
  #verdict = { error: undefined as unknown, since: Number.NEGATIVE_INFINITY } // calls that have waited since then or longer fail
  #restUntil = Number.NEGATIVE_INFINITY // until then nothing is fetched in advance
  #cameAt = Number.NEGATIVE_INFINITY // the last answer
  #groups // how many groups its IDs were of so far
  #goal = 0 // how many IDs a take() lacked
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
    return this.calls.batch(0, { signal }, [])
  }

  /** The next ID, or an error. */
  nextBigInt() {
    if (!this.buffer.look()) throw this.#shortOf(1)
    const id = this.buffer.nextBigInt()
    this.#given()
    return id
  }

  /** The same, written to the first 8 bytes of `into`. */
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

  /** n IDs, if they are buffered and no other call is first. The queue would take as long again. */
  atOnce(n: number) {
    if (this.#isClosed || !this.#queue.isEmpty || !Number.isInteger(n) || n < 0 || n > this.buffer.count)
      return undefined
    const ids = newBytes(n * 8)
    if (!this.buffer.take(ids)) return undefined
    this.#given()
    return ids
  }

  /** Throws unless all buffered IDs are exact as numbers. */
  assertExact() {
    if (!this.buffer.areExact) throw notExactNameError(this.#settings.name)
  }

  /** Gives the buffered IDs to a waiting call. Until the first answer even a call for 0 IDs has to wait. */
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

  /** Supplies no more IDs. */
  close() {
    this.#isClosed = true
    this.#forget()
    this.calls.wake()
  }

  /** Drops the buffered IDs and the pending request. */
  #forget() {
    this.#giveUp()
    this.#drop()
  }

  /** Drops the buffered IDs. */
  #drop() {
    this.#left += this.buffer.count
    this.buffer.clear()
  }

  /** Called after IDs were taken from the buffer. */
  #given() {
    const above = this.buffer.count - this.#demand.low
    if (above <= 0) this.#refill()
    this.buffer.trust(above > 0 ? above - 1 : MOST)
  }

  /** The error of a call that cannot wait; more IDs are requested for later ones. */
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

  /** Requests more, unless a request is pending. */
  #refill(now = monotonicNow()) {
    if (this.#attempt !== undefined) {
      if (now < this.#attempt.until) return
      this.#giveUp()
    }
    if (this.#isClosed || (this.#queue.size === 0 && now < this.#restUntil)) return
    const attempt = { controller: new AbortController(), until: now + GRACE_MS, isResting: false }
    this.#attempt = attempt
    queueMicrotask(() => this.#run(attempt)) // after the other calls of this turn: they join
  }

  /** Gives up the pending request: its answer will not be used. */
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

  /** Fails the calls that have waited since then or longer. */
  #fail(error: unknown, since: number) {
    this.#verdict = { error, since }
    this.calls.wake()
  }

  /** Whether a call is one of them. Its start is unknown if nothing was tried for it. */
  #isTooLate({ since }: Call<Uint8Array>) {
    return since !== undefined && since <= this.#verdict.since
  }

  /** Whether more IDs have to be fetched. */
  #needs() {
    const { short, spare } = this.#balance
    return short > 0 || spare <= this.#demand.low || spare < this.#goal
  }

  /** How many IDs the waiting calls need beyond the buffered ones; or, negated, how many they leave. */
  get #balance() {
    const here = this.buffer.count
    const missing = this.#queue.size === 0 ? 0 : this.#queue.missing
    return { short: Math.max(0, missing - here), spare: Math.max(0, here - missing) }
  }

  /** One round of requests, and the rest after a failed one. Throws if no further round would help. */
  async #step(attempt: Attempt) {
    const start = monotonicNow()
    this.#demand.ask(start)
    const { short, spare } = this.#balance
    const ahead = Math.max(this.#demand.count, this.#goal) - spare
    const n = Math.min(MOST, short + Math.max(0, ahead))
    if (n === 0) return // the demand has just become smaller: enough IDs are buffered
    attempt.until = start + this.#servers.longestRoundMs + GRACE_MS
    const answer = await this.#servers.round(n, { signal: attempt.controller.signal, patience: this.#patience })
    if (attempt !== this.#attempt) return
    if (!(answer instanceof RoundFailure)) this.#came(answer)
    else if (this.#failed(answer, start)) await this.#rest(attempt, answer.restMs)
    else this.#attempt = undefined
  }

  /** When the first call fails. If no ID is buffered, calls that cannot wait fail now. */
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

  /** The group was recreated: the rest of the old group's IDs are dropped. */
  #beginAnew() {
    this.#groups = this.#servers.groups
    this.#drop()
    this.#queue.restart()
  }

  /**
   * All servers have failed. Fails the calls that would wait too long, after each has had all servers asked once. Returns
   * whether other calls remain.
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
