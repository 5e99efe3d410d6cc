// The servers of a client: which one is asked, and what happens when it fails. It begins with a random one. After a failure
// it continues with another random one, and from time to time it makes a new choice: so all clients together use all servers,
// even after each of them was restarted.
//
// Two servers are asked at once only to compare them. After a round in which all have failed it returns how long to wait.

import { sleepUnlessAborted } from '../base/abortable-sleep.ts'
import { type Failure, noServerError, refusedError, repeatedReason } from '../base/errors/remote.ts'
import { monotonicNow } from '../base/portable-timers.ts'
import { OneGroup, type Own } from './one-group.ts'
import { MOST, type RemoteSettings } from './options.ts'
import { Repeats } from './repeats.ts'
import { type Answer, requestIds, requestOrigin } from './request.ts'

export type Server = { url: string; failure?: Failure; since: number; until: number }

/** The rest after the first round in which all servers have failed, and the longest after many. */
const FIRST_REST_MS = 50
export const LONGEST_REST_MS = 1000
/** A server may recover sooner than it announced: after this time it is asked again. */
const LONGEST_LEAVE_MS = 30_000
/** How long a client stays with a server: a random time from half of it to one and a half. */
const STAY_MS = 120_000

/** The result of a round in which all servers have failed. */
export class RoundFailure {
  error
  againAt
  restMs

  /**
   * @param againAt when a server can be asked again, by their announcements and the clock of monotonicNow()
   * @param restMs how long to rest, which may be less
   */
  constructor(error: Error, againAt: number, restMs: number) {
    this.error = error
    this.againAt = againAt
    this.restMs = restMs
  }
}

export class Servers {
  requests = 0
  /** requests that were made because a previous one had failed */
  retries = 0
  #settings
  #group
  #servers: Server[]
  #repeats = new Repeats()
  #current
  #moveAt = nextMove()
  #most = MOST // how many to request at once: a layout with few IDs per tick takes long for many
  #hasFailed = false // the last request
  #failedRounds = 0 // since the last success
  #failingSince: number | undefined // undefined: the last request succeeded

  /** @param own the group of a caller that generates IDs itself */
  constructor(settings: RemoteSettings, own?: () => Own) {
    this.#settings = settings
    this.#group = new OneGroup(settings.name, own)
    this.#servers = settings.servers.map((url) => ({ url, since: 0, until: 0 }))
    this.#current = shuffled(this.#servers)[0]
  }

  /** The URL of the next server to ask. */
  get current() {
    return this.#current.url
  }

  /** How many groups the IDs were of so far, one group after the other. */
  get groups() {
    return this.#group.count
  }

  /** The longest duration of a round in ms; within it, all servers may be compared. */
  get longestRoundMs() {
    return this.#settings.timeoutMs * (this.#servers.length + 1)
  }

  /**
   * n IDs of one group, 8 bytes each, by as many requests as needed. If all servers fail it retries within `waitMs` of the
   * last answer. Throws a server's refusal, or one error with the failure of each server.
   */
  async take(n: number, { signal }: { signal?: AbortSignal } = {}) {
    const ids = new Uint8Array(n * 8)
    const { waitMs } = this.#settings
    let [made, groups, patience] = [0, this.groups, monotonicNow() + waitMs]
    while (made < n) {
      const bytes = await this.round(Math.min(n - made, MOST), { signal, patience })
      if (bytes instanceof RoundFailure) {
        if (bytes.againAt >= patience) throw bytes.error
        await sleepUnlessAborted(signal, bytes.restMs)
        continue
      }
      if (this.groups !== groups) [made, groups] = [0, this.groups]
      ids.set(bytes, made * 8)
      made += bytes.length / 8
      patience = monotonicNow() + waitMs
    }
    return ids
  }

  /**
   * IDs from the first server that supplies them; each is asked once. Servers that asked for time are skipped, unless all
   * did, or a call would fail now. There are n IDs, at most 10,000, or fewer if that many take too long. Throws a server's
   * refusal, or the signal's reason.
   * @param options `patience`: when the first call would fail
   */
  async round(
    n: number,
    { signal, patience }: { signal?: AbortSignal; patience: number },
  ): Promise<Uint8Array | RoundFailure> {
    const start = monotonicNow()
    this.#failingSince ??= start
    const [now, later] = this.#inTurn(start)
    const ids = await this.#askEach(now, n, signal)
    if (ids !== undefined) return ids
    this.#failedRounds++
    const failure = this.#roundFailure()
    if (later.length === 0 || failure.againAt < patience) return failure
    return (await this.#askEach(later, n, signal)) ?? this.#roundFailure()
  }

  /**
   * Asks all servers for their group, without taking an ID. Resolves with an error for each server whose group is not the
   * caller's.
   */
  async strangers(signal: AbortSignal) {
    const urls = this.#servers.map(({ url }) => url)
    const origins = await Promise.all(
      urls.map((url) => requestOrigin(url, this.#settings, signal).catch(() => undefined)),
    )
    return origins.flatMap((origin) => (origin && this.#group.refusal(origin)) ?? [])
  }

  /** The servers of a round, the present one first and then the others in random order; and those that asked for time. */
  #inTurn(now: number) {
    const isReady = ({ since, until }: Server) => Math.min(until, since + LONGEST_LEAVE_MS) <= now
    const all = shuffled(this.#servers)
    const ready = all.filter(isReady)
    if (now >= this.#moveAt && ready.length > 0) {
      this.#current = ready[0]
      this.#moveAt = nextMove()
    }
    const rank = (server: Server) => (server === this.#current ? 0 : server.failure === undefined ? 1 : 2)
    for (const list of [all, ready]) list.sort((a, b) => rank(a) - rank(b))
    return ready.length === 0 ? [all, []] : [ready, all.filter((server) => !isReady(server))]
  }

  /** IDs from the first of these servers that supplies them. */
  async #askEach(servers: Server[], n: number, signal?: AbortSignal) {
    for (const server of servers) {
      this.#current = server
      const count = Math.min(n, this.#most)
      const askedAt = monotonicNow()
      const answer = await this.#ask(server, count, signal)
      if ('ids' in answer) {
        const tookMs = monotonicNow() - askedAt
        const fault = await this.#group.compare(answer, () => this.#askAll(signal))
        if (fault !== undefined) return this.#failed(server, fault) // all servers were asked, and none of our group answers
        const repeated = this.#repeated(answer)
        if (repeated === undefined) {
          this.#succeeded(count, tookMs)
          return answer.ids
        }
        this.#failed(server, repeated)
        continue
      }
      if (answer.isFinal) throw refusedError(answer)
      if (answer.isLate) this.#most = Math.max(1, count >> 2)
    }
  }

  /** The reason to refuse the IDs of an answer, if they were received before. */
  #repeated(answer: Answer): Failure | undefined {
    const id = this.#repeats.find(answer)
    if (id === undefined) return undefined
    return { server: answer.server, status: 200, reason: repeatedReason(id), code: 'ERR_FLAKE_REPLAY' }
  }

  async #ask(server: Server, n: number, signal?: AbortSignal) {
    this.requests++
    if (this.#hasFailed) this.retries++
    const answer = await requestIds(server.url, n, this.#settings, signal)
    if ('ids' in answer) Object.assign(server, { failure: undefined, until: 0 })
    else this.#failed(server, answer)
    return answer
  }

  /** Takes an ID of each server that supplies one: only then its description of itself counts. */
  async #askAll(signal?: AbortSignal) {
    const answers = await Promise.all(this.#servers.map((server) => this.#ask(server, 1, signal)))
    return answers.flatMap((answer) => ('ids' in answer ? answer : []))
  }

  #succeeded(count: number, tookMs: number) {
    if (count === this.#most && tookMs * 2 < this.#settings.timeoutMs) this.#most = Math.min(count * 2, MOST)
    this.#hasFailed = false
    this.#failedRounds = 0
    this.#failingSince = undefined
  }

  #failed(server: Server, { isLate, isFinal, ...failure }: Failure) {
    const now = monotonicNow()
    Object.assign(server, { failure, since: now, until: now + (failure.retryAfterMs ?? 0) })
    this.#hasFailed = true
  }

  #roundFailure() {
    const now = monotonicNow()
    const failures = this.#servers.flatMap(({ failure }) => failure ?? [])
    const asked = Math.min(...this.#servers.map(({ until }) => until)) - now
    const most = Math.min(FIRST_REST_MS * 2 ** (this.#failedRounds - 1), LONGEST_REST_MS)
    // Half of it is random, so that not all clients come back at once.
    const rest = most * (0.5 + Math.random() / 2)
    const error = noServerError(this.#settings.name, failures, now - (this.#failingSince ?? now))
    return new RoundFailure(error, now + Math.max(asked, rest), Math.max(Math.min(asked, LONGEST_LEAVE_MS), rest))
  }
}

/** When to choose another server. Random, or all clients that began together would move together. */
const nextMove = () => monotonicNow() + STAY_MS * (0.5 + Math.random())

/** The same in a random order. */
function shuffled<T>(list: T[]) {
  const all = [...list]
  for (let i = all.length - 1; i > 0; i--) {
    const other = Math.floor(Math.random() * (i + 1))
    ;[all[i], all[other]] = [all[other], all[i]]
  }
  return all
}
