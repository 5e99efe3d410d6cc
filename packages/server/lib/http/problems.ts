// Errors as the server answers them: application/problem+json (RFC 9457) with our stable `code`. Messages of errors may contain
// addresses, roles and paths of stores, and JavaScript calls that mean nothing in other languages. So a code becomes a text of
// this file, and only clients with a token also get the message. That of an unexpected error is never shown.

import { STATUS_CODES } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { printable, withoutSecretsIn } from '../../../../lib/base/printable.ts'
import type { Log } from './log.ts'

/** What flakeforge's errors mean to a client, which can retry later, here or at another server. */
const MEANINGS: Record<string, string> = {
  ERR_FLAKE_OVERFLOW: 'All IDs of this moment are used up. Ask again after Retry-After, or ask another server.',
  ERR_FLAKE_EXHAUSTED:
    'All slots of this group are taken. Stop servers that are not needed. For more slots, destroy the group and create it again.',
  ERR_FLAKE_QUIET:
    'This group is new, or its store may have lost it, so there are no IDs until Retry-After. The log of the server has the ' +
    'command that creates a new group without this wait.',
  ERR_FLAKE_LEASE_EXPIRED:
    "The group's store does not answer, or gave the slot to another server. IDs are available again when it answers.",
  ERR_FLAKE_DETACHED:
    'This server has no slot of the group at the moment, and is looking for one. Ask again after Retry-After.',
  ERR_FLAKE_DESTROYED: 'This group was destroyed. Restart the server to create a new group of that name.',
}

/** The same for errors whose message names the cause, which is for the server's operator. */
const MEANINGS_WITH_CAUSE: Record<string, string> = {
  ERR_FLAKE_CLOCK_BACKWARDS: "This server's clock is behind its last ID.",
  ERR_FLAKE_CLOCK_SKEW: 'The clocks of this server and of its store are too far apart.',
  ERR_FLAKE_STORE: 'The store of this name does not answer, or refuses a call.',
  ERR_FLAKE_RECORD: 'The store has a record that this server cannot read.',
  ERR_FLAKE_CONFIG_MISMATCH: 'This server has other options than the group that it serves.',
  ERR_FLAKE_FILE: 'A file of this group is damaged or out of reach.',
  ERR_FLAKE_TIME_RANGE: "This server's clock shows a time that the layout cannot hold.",
}

/** For all other errors of flakeforge: the configuration has something that only the store could refuse. */
const REFUSED = 'This server cannot make these IDs with its present configuration.'

const WHERE = 'The log of the server has the reason.'

/** A client's own words in an answer to it: a part of them, printable and in quotes. */
export const shown = (text: string) => `'${printable(text.slice(0, 100))}'`

/** The retry time where it is unknown. */
const SOON_MS = 1000

/** Headers of every answer but the page's: nothing is cached, and no browser takes an answer for a page or a script. */
export const ALWAYS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

/** A fault of a request or the server, as its answer describes it. */
export class Problem extends Error {
  status
  code
  headers
  retryAfterMs

  constructor(
    status: number,
    code: string,
    detail: string,
    { retryAfterMs, headers }: { retryAfterMs?: number; headers?: Record<string, string> } = {},
  ) {
    super(detail)
    this.status = status
    this.code = code
    this.headers = headers
    this.retryAfterMs = retryAfterMs ?? (status === 503 || status === 429 ? SOON_MS : undefined)
  }

  /** The body. */
  toJSON() {
    const { status, code, message, retryAfterMs } = this
    const title = STATUS_CODES[status]
    return {
      type: 'about:blank',
      title,
      status,
      detail: message,
      code,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    }
  }

  send(reply: FastifyReply) {
    reply.code(this.status).headers(this.allHeaders()).send(JSON.stringify(this))
    return reply
  }

  allHeaders() {
    const { headers, retryAfterMs } = this
    const retry = retryAfterMs === undefined ? {} : { 'retry-after': String(secondsOf(retryAfterMs)) }
    return {
      'content-type': 'application/problem+json; charset=utf-8',
      ...ALWAYS,
      ...retry,
      ...headers,
    }
  }
}

const secondsOf = (ms: number) => Math.max(1, Math.ceil(ms / 1000))

/** Our texts for fastify's and Node's errors about a request. */
const OF_FASTIFY = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => new Problem(413, 'ERR_FLAKE_BODY', 'The request has a body, which is not allowed.'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new Problem(415, 'ERR_FLAKE_BODY', 'The request has a body, which is not allowed.'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new Problem(400, 'ERR_FLAKE_BODY', 'The body is not as long as its Content-Length. Send none.'),
  FST_ERR_BAD_URL: () =>
    new Problem(400, 'ERR_FLAKE_ROUTE', 'The path has a % that is not followed by two hex digits of UTF-8.'),
}

/** An error with fields for programs: flakeforge's errors, and in part those of Node and fastify. */
export type Coded = Error & { code?: string; retryAfterMs?: number; retryAt?: Date; storeNow?: number }

/**
 * The problem for an error; undefined for an unexpected one.
 * @param hasToken whether the client may read the error's message
 */
export function problemOf(error: Coded, hasToken: boolean) {
  if (error instanceof Problem) return error
  const { code = '' } = error
  const ofFastify = OF_FASTIFY[code as keyof typeof OF_FASTIFY]
  if (ofFastify !== undefined) return ofFastify()
  if (!code.startsWith('ERR_FLAKE_')) return undefined
  return new Problem(503, code, detailOf(code, error.message, hasToken), { retryAfterMs: retryOf(error) })
}

function detailOf(code: string, message: string, hasToken: boolean) {
  const complete = MEANINGS[code]
  if (complete !== undefined) return complete
  const meaning = MEANINGS_WITH_CAUSE[code] ?? REFUSED
  return `${meaning} ${hasToken ? `Reason: ${printable(withoutSecretsIn(message))}` : WHERE}`
}

/** In how many ms to retry, as far as an error shows it. */
function retryOf({ retryAfterMs, retryAt, storeNow }: Coded) {
  if (retryAfterMs !== undefined) return retryAfterMs
  return retryAt === undefined ? SOON_MS : Math.max(1, retryAt.getTime() - (storeNow ?? Date.now()))
}

/** What the makers of answers to errors need. */
export interface Audience {
  log: Log
  /** those of the listener, if it requires one */
  tokens: { allow(authorization: string | undefined): boolean } | undefined
}

/** The answer to an error; an unexpected one is logged. If the client went away during its request, the answer is never read. */
export function answerTo(error: Error, request: FastifyRequest, { log, tokens }: Audience) {
  if (request.raw.errored === error) return GONE
  const problem = problemOf(error, tokens?.allow(request.headers.authorization) ?? false)
  if (problem === undefined) log.failure(error)
  return problem ?? internal()
}

/** The client never reads it. */
export const GONE = new Problem(499, 'ERR_FLAKE_REQUEST', 'The client went away.')

export const internal = () =>
  new Problem(500, 'ERR_FLAKE_INTERNAL', 'The server failed. See its error output, and please report it.')

export const overloaded = () =>
  new Problem(503, 'ERR_FLAKE_BUSY', 'This server is overloaded. Ask again later, or ask another server.')
