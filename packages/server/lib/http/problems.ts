// Errors as the server answers them: application/problem+json (RFC 9457) with our stable `code`. For a code, the table of
// errors has the statuses and a text, since messages may contain what is not for every client: only one with a token gets
// them too. The message of an unexpected error is never shown.

import { STATUS_CODES } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CODES, printable, withoutSecretsIn } from '../../../shared.ts'
import type { Log } from './log.ts'

const WHERE = 'The log of the server has the reason.'

/** A client's own words in an answer to it: a part of them, printable and in quotes. */
export const shown = (text: string) => `'${printable(text.slice(0, 100))}'`

/** The retry time where it is unknown. */
const SOON_MS = 1000

/** Headers of every answer but the page's: nothing is cached, and no browser takes an answer for a page or a script. */
export const ALWAYS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

/** What the table says about a code. */
interface Row {
  answer: string
  needsReason?: true
}

/** A code with which the server answers. */
type AnswerCode = {
  [C in keyof typeof CODES]: (typeof CODES)[C] extends { status: unknown } ? C : never
}[keyof typeof CODES]

/** The statuses of a code. */
type Status<C extends AnswerCode> = (typeof CODES)[C]['status'][number]

/** A fault of a request or the server, as its answer describes it. */
export class Problem<C extends AnswerCode = AnswerCode> extends Error {
  status: Status<C>
  code: C
  headers
  retryAfterMs

  constructor(
    status: Status<C>,
    code: C,
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
  return new Problem(503, code as 'ERR_FLAKE_STORE', detailOf(code, error.message, hasToken), {
    retryAfterMs: retryOf(error),
  })
}

/** An error without an answer is one about an option: the configuration has something that only the store could refuse. */
const { ERR_FLAKE_OPTION: REFUSED } = CODES

const isAnswered = (row?: Partial<Row>): row is Row => row?.answer !== undefined

function detailOf(code: string, message: string, hasToken: boolean) {
  const row = (CODES as Record<string, Partial<Row>>)[code]
  const { answer, needsReason }: Row = isAnswered(row) ? row : REFUSED
  if (!needsReason) return answer
  return `${answer} ${hasToken ? `Reason: ${printable(withoutSecretsIn(message))}` : WHERE}`
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
