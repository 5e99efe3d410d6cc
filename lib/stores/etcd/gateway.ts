// etcd's JSON gateway by `fetch`: endpoints, tokens, time limits and the store's clock. Every wait has a limit, and no time
// comes from this machine.

import { forgetSecret, keepSecret, passing, refusedWriteError, said, storeError } from '../../base/errors.ts'
import { ExchangeError, exchange } from '../../base/exchange.ts'
import { monotonicNow } from '../../base/timers.ts'
import { BUDGET } from '../time-budget.ts'
import type { EtcdOptions } from './options.ts'
import type { Part } from './requests.ts'

/** A key and its value, as texts; '' if the value was not asked for. */
type Pair = { key: string; value: string }

/** The body of an answer of etcd, as far as it is used. */
interface Body {
  token?: string
  header?: { cluster_id?: string; revision?: string }
  /** absent if it is false */
  succeeded?: boolean
  responses?: { response_range?: { kvs?: { key: string; value?: string }[] } }[]
  error?: string | { message?: string; code?: number; grpc_code?: number }
  message?: string
  code?: number
  grpc_code?: number
}

/** gRPC codes of a member that cannot serve at present, so that another is asked: cancelled, deadline exceeded, unavailable. */
const NOT_NOW = [1, 4, 14]
/** etcd is overloaded; it has the same code for a full disk. */
const TOO_BUSY = /too many requests/

/** etcd's answers to a request that never changes anything, however often it is sent: no permission, no space, too large. */
const REFUSED = /permission denied|database space exceeded|request is too large|too many operations in txn/

/** etcd's answers to a token that is missing, has expired, or is older than a change of users or roles. */
const STALE_TOKEN = /invalid auth token|user name is empty|revision of auth store is old/

const fromBase64 = (text: string = '') => Buffer.from(text, 'base64').toString()

/** An answer that is an error. */
class Refusal extends Error {
  isElsewhere
  isForNow

  /**
   * @param isElsewhere whether another member may do better
   * @param isForNow whether the reason is temporary, such as an election
   */
  constructor(message: string, isElsewhere: boolean, isForNow: boolean = false) {
    super(message)
    this.isElsewhere = isElsewhere
    this.isForNow = isForNow
  }
}

/** The object in an answer; undefined if it is not an object. */
function parseObject(text: string): Body | undefined {
  try {
    const body = JSON.parse(text)
    return typeof body === 'object' && body !== null ? body : undefined
  } catch {
    // a page of a proxy, perhaps
  }
}

/** The body of an answer; throws if it is an error: `{ error, code }` from a call, `{ error: {…} }` from a stream. */
function parseAnswer(status: number, text: string) {
  const body = parseObject(text)
  if (body === undefined) throw new Refusal(`HTTP ${status} and no JSON: ${said(text)}`, true)
  if (status === 200 && body.error === undefined) return body
  const { message, code, grpc_code } = typeof body.error === 'object' ? body.error : body
  const words = message ?? `HTTP ${status}`
  const isElsewhere = NOT_NOW.includes(code ?? grpc_code ?? 0)
  throw new Refusal(words, isElsewhere, isElsewhere || TOO_BUSY.test(words))
}

/** The refusal that an error of ours is about: its cause is a copy, with a cleaned message. */
const refusals: WeakMap<object, Refusal> = new WeakMap()

function dueTo<Kind extends Error>(failure: unknown, error: Kind) {
  if (failure instanceof Refusal) refusals.set(error, failure)
  return error
}

/** etcd's own message; '' if something else went wrong. */
const wordsOf = (error: unknown) => refusals.get(error as object)?.message ?? ''

const decode = ({ key, value }: { key: string; value?: string }): Pair => ({
  key: fromBase64(key),
  value: fromBase64(value),
})

/** The remedy for a refusal, as a sentence with a full stop before it. */
function wayOutOf(message: string) {
  if (message.includes('permission denied')) return '. Grant the role readwrite on the prefix flakeforge/'
  if (message.includes('database space exceeded')) return '. Compact and defragment etcd, then disarm its alarm'
  return ''
}

/** etcd's refusal, as one of our errors. */
function refusalOf(refusal: Refusal) {
  const { message, isForNow } = refusal
  const make = REFUSED.test(message) ? refusedWriteError : storeError
  const why = `etcd refused: ${said(message)}`.concat(wayOutOf(message))
  const error = dueTo(refusal, make(why, refusal))
  return isForNow ? passing(error) : error
}

/** Why an endpoint gave no answer: the cause explains `fetch failed`. */
function reasonOf(failure: unknown) {
  if (failure instanceof ExchangeError && failure.kind === 'redirect')
    return `HTTP ${failure.status} is a redirect, which is not followed. Use the address that it leads to`
  const { message, cause } = failure as Error & { cause?: Error }
  return said((failure instanceof Refusal ? undefined : cause?.message) || message)
}

/** The longest answer: it lists some 100,000 keys. */
const LARGEST_ANSWER = 32 * 2 ** 20

/** How a request is sent: its token, its time limit, and the signal that gives it up. */
type Sending = { token?: string | null | undefined; until: number; signal?: AbortSignal | undefined }
type Posting = Omit<Sending, 'until'> & { timeoutMs: number }

/**
 * The store's clock is the `Date` header of the answer: whole seconds, rounded down, of the member that answered. etcd writes
 * it after the transaction, so it is at most a second behind the snapshot. The clock moves once per second: an end is seen up
 * to a second late, and a client whose clock is right appears up to a second ahead. The next member is asked only when one
 * fails, and then the clock may step. No window depends on that: each begins after the end in the record. The quiet period
 * does: members' clocks must agree within skewMs, rounded down to seconds.
 */
export class Gateway {
  #endpoints
  #credentials
  #fetch
  #turn = 0 // the endpoint to ask first
  #token: string | null | undefined // null if authentication is off
  #latest: string | undefined // even while #token is unset
  #authenticating: Promise<void> | undefined

  constructor({ endpoints, username, password, fetch }: EtcdOptions) {
    this.#endpoints = endpoints
    this.#credentials = username === undefined ? undefined : { name: username, password }
    this.#fetch = fetch
  }

  /**
   * A transaction of etcd's v3 API. `isDone`: whether all comparisons held, so that it was carried out; `lists`: if so, the
   * keys and values of each range that was read, in order; `now`: the store's clock just after, Unix ms; `cluster` and
   * `revision`: the cluster that answered, and its revision.
   * @param signal once it has aborted, nothing is sent any more
   */
  async txn({ compare = [], success }: { compare?: Part[]; success: Part[] }, signal?: AbortSignal) {
    const { body, now } = await this.#call('/v3/kv/txn', { compare, success }, signal)
    const { header, succeeded: isDone = false, responses = [] } = body
    const revision = Number(header?.revision)
    const isWhole = !isDone || responses.length === success.length
    if (typeof header?.cluster_id !== 'string' || !Number.isSafeInteger(revision) || !isWhole) {
      throw storeError(`This is not etcd's answer to a transaction: ${said(JSON.stringify(body), 80)}`)
    }
    const ranges = responses.flatMap(({ response_range: range }) => range ?? [])
    const lists = ranges.map(({ kvs = [] }) => kvs.map(decode))
    return { isDone, lists, now, cluster: header.cluster_id, revision }
  }

  /** The endpoints, without a password. */
  get endpoints() {
    return this.#endpoints
  }

  /** One answer. Getting a token counts towards the call's time; calls with more time may share it. */
  async #call(path: string, body: object, signal?: AbortSignal) {
    const until = monotonicNow() + BUDGET.CALL_MS
    const token = await this.#currentToken(until)
    try {
      return await this.#send(path, body, { token, until, signal })
    } catch (error) {
      if (this.#credentials === undefined) throw error
      const isStale = STALE_TOKEN.test(wordsOf(error))
      // Some versions answer a stale token by closing the connection, so the next call requests a new one.
      const isAnswered = refusals.has(error as object)
      if ((isStale || !isAnswered) && this.#token === token) this.#token = undefined
      if (!isStale) throw error
    }
    return this.#send(path, body, { token: await this.#currentToken(until), until, signal })
  }

  /** The token, after a request for one if necessary. Without credentials there is none. */
  async #currentToken(until: number) {
    if (this.#credentials !== undefined && this.#token === undefined) await this.#authenticate(until)
    return this.#token
  }

  /** Gets a token, with one request for all calls that wait for it; the first of them has the least time left. */
  #authenticate(until: number) {
    this.#authenticating ??= this.#send('/v3/auth/authenticate', { ...this.#credentials }, { until })
      .then(({ body: { token } }) => (typeof token === 'string' ? token : undefined))
      .catch((error) => {
        if (wordsOf(error).includes('authentication is not enabled')) return null // if it is enabled later, a call is refused
        throw error
      })
      .then((token) => {
        forgetSecret(this.#latest)
        keepSecret(token ?? undefined)
        this.#latest = token ?? undefined
        this.#token = token
      })
      .finally(() => {
        this.#authenticating = undefined
      })
    return this.#authenticating
  }

  /**
   * Asks the endpoint that answered last, then the others. If all fail, the next call starts with the following endpoint, so
   * that each gets its turn. A failed one may have carried out the request without an answer. So every transaction must be
   * safe to send twice: etcd/records.ts explains why a swap is.
   */
  async #send(path: string, body: object, { token, until, signal }: Sending) {
    const endpoints = this.#endpoints
    let failure: unknown = new Error('the time limit of the call is used up')
    let isForNow = false
    for (let asked = 0; asked < endpoints.length; asked++) {
      const left = Math.trunc(until - monotonicNow())
      if (left <= 0) break
      const index = this.#turn
      try {
        const timeoutMs = Math.min(BUDGET.ANSWER_MS, left)
        return await this.#post(endpoints[index] + path, body, { token, timeoutMs, signal })
      } catch (error) {
        failure = error
        if (signal?.aborted) break
        isForNow ||= error instanceof Refusal && error.isForNow
        if (error instanceof Refusal && !error.isElsewhere) throw refusalOf(error)
        if (this.#turn === index) this.#turn = (index + 1) % endpoints.length // otherwise another call has moved on
      }
    }
    const why = `etcd does not answer at ${endpoints.join(', ')}: ${reasonOf(failure)}`
    const error = dueTo(failure, storeError(why, failure))
    throw isForNow ? passing(error) : error
  }

  #post(url: string, body: object, { token, timeoutMs, signal }: Posting) {
    const headers = { 'content-type': 'application/json', ...(token ? { authorization: token } : {}) }
    const request = {
      fetch: this.#fetch,
      url,
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      timeoutMs,
      signal,
    } as const
    return exchange(request, async ({ status, headers, read }) => {
      const bytes = await read(LARGEST_ANSWER)
      if (bytes.length > LARGEST_ANSWER) throw new Refusal(`HTTP ${status} with more than 32 MiB`, true)
      const answer = parseAnswer(status, new TextDecoder().decode(bytes))
      const now = Date.parse(headers.get('date') ?? '')
      if (Number.isNaN(now)) throw new Refusal('the answer has no Date header, which is the clock of this store', false)
      return { body: answer, now }
    })
  }
}
