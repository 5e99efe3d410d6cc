'use strict'

// etcd's JSON gateway by `fetch`: endpoints, tokens, timeouts, the store's clock, and whether the store went back. It
// must never wait without a limit, decide anything about slots, or take a time from this machine.
//
// The store's clock is the `Date` header of the answer: whole seconds, rounded down, of the member that answered. So a
// window ends up to a second early, a slot becomes free up to a second late, and a quiet period may last a second
// longer than it says. A client's clock is compared with that whole second.
// The next member is asked only when one fails, and then the clock may step. No window depends on that: each begins
// after the end that the record holds. The quiet period does depend on it: members' clocks must agree within skewMs,
// rounded down to seconds.

const { storeError } = require('../../errors')
const { monotonicNow } = require('../../timers.js')

/** One request to one endpoint may take this long; a leader election is over within two seconds. */
const REQUEST_MS = 5000

/**
 * A call may take this long, however many endpoints do not answer: then the step ends, because somebody waits for it.
 */
const CALL_MS = 10_000

/** gRPC codes of a member that cannot serve now, so that we ask another: cancelled, deadline exceeded, unavailable. */
const NOT_NOW = [1, 4, 14]

/** etcd's answers to a token that is missing, has expired, or is older than a change of users or roles. */
const STALE_TOKEN = /invalid auth token|user name is empty|revision of auth store is old/

const toBase64 = (text) => Buffer.from(text).toString('base64')
const fromBase64 = (text = '') => Buffer.from(text, 'base64').toString()

/** An answer that is an error. `isElsewhere`: another member may do better. */
class Refusal extends Error {
  constructor(message, isElsewhere, cause) {
    super(message, { cause })
    this.isElsewhere = isElsewhere
  }
}

/** The body of an answer; throws if it is an error: `{ error, code }` from a call, `{ error: {…} }` from a stream. */
function parseAnswer(status, text) {
  let body
  try {
    body = JSON.parse(text)
  } catch (cause) {
    throw new Refusal(`HTTP ${status} and no JSON: ${text.slice(0, 80)}`, true, cause)
  }
  if (status === 200 && body.error === undefined) return body
  const { message, code, grpc_code } = typeof body.error === 'object' ? body.error : body
  throw new Refusal(message ?? `HTTP ${status}`, NOT_NOW.includes(code ?? grpc_code))
}

/** Whether etcd itself answered with these words, such as 'lease already exists'. */
const saysThat = (error, words) => error.cause instanceof Refusal && error.cause.message.includes(words)

const decode = ({ key, value, mod_revision }) => ({
  key: fromBase64(key),
  value: fromBase64(value),
  revision: Number(mod_revision),
})

class Gateway {
  #endpoints
  #credentials
  #fetch
  #turn = 0 // the endpoint that is asked first
  #token
  #authenticating
  #cluster
  #revision = 0

  /** How often this client saw the store go back: to an older revision, or to another cluster. */
  losses = 0

  constructor({ endpoints, username, password, fetch }) {
    this.#endpoints = endpoints
    this.#credentials = username === undefined ? undefined : { name: username, password }
    this.#fetch = fetch
  }

  /**
   * A transaction of etcd's v3 API. `lists`: the key-values of each range that was read, in order; `revision`: what
   * they show; `now`: the store's clock just after, Unix ms; `sentAt`: when it was asked, by `monotonicNow()`;
   * `losses`: the count, with a loss that this answer shows.
   */
  async txn({ compare = [], success }) {
    const sent = { losses: this.losses, revision: this.#revision }
    const { body, now, sentAt } = await this.#call('/v3/kv/txn', { compare, success })
    this.#watch(body.header, sent)
    const ranges = (body.responses ?? []).filter((response) => response.response_range !== undefined)
    const lists = ranges.map((response) => (response.response_range.kvs ?? []).map(decode))
    const { cluster_id: cluster, revision } = body.header
    const isDone = body.succeeded === true
    return { isDone, lists, now, sentAt, cluster, revision: Number(revision), losses: this.losses }
  }

  /**
   * Whether a transaction was done; it is not if something that it compares has changed, or if its etcd lease has just
   * run out.
   */
  async commit(transaction) {
    try {
      const { isDone } = await this.txn(transaction)
      return { isDone, isLeaseGone: false }
    } catch (error) {
      if (saysThat(error, 'lease not found')) return { isDone: false, isLeaseGone: true }
      throw error
    }
  }

  /** Makes an etcd lease. If it exists already, because an earlier answer was lost, keeps it alive. */
  async makeLease(id, seconds) {
    try {
      await this.#call('/v3/lease/grant', { ID: id, TTL: seconds })
    } catch (error) {
      if (!saysThat(error, 'lease already exists')) throw error
      await this.keepLease(id, seconds)
    }
  }

  /** Keeps an etcd lease alive; if it has run out (etcd answers when it is gone), makes it again. */
  async keepLease(id, seconds) {
    const { body } = await this.#call('/v3/lease/keepalive', { ID: id })
    if (body.result?.TTL === undefined) await this.makeLease(id, seconds)
  }

  async dropLease(id) {
    try {
      await this.#call('/v3/lease/revoke', { ID: id })
    } catch (error) {
      if (!saysThat(error, 'lease not found')) throw error
    }
  }

  /**
   * Revisions only grow, and a read through any member shows at least what was answered before it was sent. (A read
   * that was sent at the same time may show less. So we compare with what was known when it was sent.)
   */
  #watch({ cluster_id, revision }, sent) {
    if (sent.losses !== this.losses) return // it was sent before a loss that is already counted
    const isBack = Number(revision) < sent.revision || (this.#cluster ?? cluster_id) !== cluster_id
    if (isBack) this.losses++
    this.#revision = isBack ? Number(revision) : Math.max(this.#revision, Number(revision))
    this.#cluster = cluster_id
  }

  async #call(path, body) {
    if (this.#credentials !== undefined && this.#token === undefined) await this.#authenticate()
    const token = this.#token
    try {
      return await this.#send(path, body, token)
    } catch (error) {
      if (this.#credentials === undefined || !STALE_TOKEN.test(error.cause?.message)) throw error
    }
    if (this.#token === token) await this.#authenticate()
    return this.#send(path, body, this.#token)
  }

  /** Gets a token, with one request for all calls that wait for it. */
  #authenticate() {
    this.#authenticating ??= this.#send('/v3/auth/authenticate', this.#credentials)
      .then(({ body }) => body.token)
      .catch((error) => {
        if (saysThat(error, 'authentication is not enabled')) return null // if it is enabled later, a call is refused
        throw error
      })
      .then((token) => {
        this.#token = token
      })
      .finally(() => {
        this.#authenticating = undefined
      })
    return this.#authenticating
  }

  /**
   * Asks the endpoint that answered last, then the others. If all fail, the next call starts with the endpoint after
   * them, so that each gets its turn. A failed one may have carried out the request without an answer. So each step
   * must work if it is sent twice, and the comparisons in it make sure of that.
   */
  async #send(path, body, token) {
    const endpoints = this.#endpoints
    const until = monotonicNow() + CALL_MS
    let failure
    for (let asked = 0, left = CALL_MS; asked < endpoints.length && left > 0; asked++) {
      const index = this.#turn
      try {
        return await this.#post(endpoints[index] + path, body, token, Math.min(REQUEST_MS, left))
      } catch (error) {
        failure = error
        if (error instanceof Refusal && !error.isElsewhere) throw storeError(`etcd refused: ${error.message}`, error)
        if (this.#turn === index) this.#turn = (index + 1) % endpoints.length // otherwise another call has moved on
      }
      left = Math.trunc(until - monotonicNow())
    }
    const isWord = failure instanceof Refusal
    const why = (isWord ? undefined : failure.cause?.message) || failure.message // the cause explains `fetch failed`
    throw storeError(`etcd does not answer at ${endpoints.join(', ')}: ${why}`, failure)
  }

  async #post(url, body, token, ms) {
    const sentAt = monotonicNow()
    const response = await this.#fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token ? { authorization: token } : {}) },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ms),
    })
    const answer = parseAnswer(response.status, await response.text())
    const now = Date.parse(response.headers.get('date'))
    if (Number.isNaN(now)) throw new Refusal('the answer has no Date header, which is the clock of this store', false)
    return { body: answer, now, sentAt }
  }
}

module.exports = { Gateway, toBase64 }
