// Interprets the answers of servers: IDs, problems, or a page that is not from our server, such as a captive portal's. An
// answer without exactly the requested number of IDs is refused. Descriptions of an answer contain no token.

import { type Failure, foreignAnswerReason } from '../base/errors/remote.ts'
import { type Answer, ExchangeError } from '../base/exchange.ts'
import { withoutEnd } from '../base/printable.ts'
import { NONCE } from './nonce.ts'

export type Fault = Omit<Failure, 'server'>

export const BYTES = 'application/octet-stream'
const LARGEST_TEXT = 65_536 // of a problem
/** Temporary refusals: timeouts, too early, too many requests. */
const PASSING = [408, 425, 429]

/** Whether the IDs of one slot ascend: a layout may spread them. */
export const isOrdered = ({ headers }: Answer) => headers.get('flakeforge-order') !== 'none'

/**
 * The n IDs of an answer, or the fault in it.
 * @param answer with the status 200
 * @param nonce of the request
 */
export async function readIds(answer: Answer, n: number, nonce: string): Promise<Uint8Array | Fault> {
  const type = typeOf(answer)
  if (type !== BYTES) return { status: 200, reason: `answered 200 with ${type || 'no type'}, which is not ${BYTES}` }
  if (answer.headers.get(NONCE) !== nonce)
    return { status: 200, reason: foreignAnswerReason(), code: 'ERR_FLAKE_REPLAY' }
  const bytes = await answer.read(n * 8)
  if (bytes.length !== n * 8) {
    const what = bytes.length > n * 8 ? 'more bytes than that' : `${bytes.length} bytes`
    return { status: 200, reason: `was asked for ${n} IDs, which are ${n * 8} bytes, and sent ${what}` }
  }
  if (ascend(bytes) || (!isOrdered(answer) && differ(bytes))) return bytes
  return {
    status: 200,
    reason: `sent ${n} IDs that ${isOrdered(answer) ? 'do not ascend' : 'are not all different'}`,
  }
}

const typeOf = ({ headers }: Answer) => (headers.get('content-type') ?? '').split(';')[0].trim().toLowerCase()

/** Whether each ID is larger than the one before. Two halves of 32 bits are faster than a bigint. */
function ascend(bytes: Uint8Array) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let at = 8; at < bytes.length; at += 8) {
    const [high, last] = [view.getUint32(at), view.getUint32(at - 8)]
    if (high < last || (high === last && view.getUint32(at + 4) <= view.getUint32(at - 4))) return false
  }
  return true
}

/** Whether no ID occurs twice. Only layouts that spread their IDs need this. */
function differ(bytes: Uint8Array) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const ids = new Set()
  for (let at = 0; at < bytes.length; at += 8) ids.add(view.getBigUint64(at))
  return ids.size === bytes.length / 8
}

/**
 * Why an answer has no IDs.
 * @param answer with a status other than 200
 */
export async function readFault(answer: Answer): Promise<Fault> {
  const { status } = answer
  const { code, detail, retryAfterMs } = await readProblem(answer)
  const isOurs = code !== undefined
  const said = [isOurs ? ` (${code})` : '', detail === undefined ? '' : `: ${withoutEnd(detail)}`]
  // A 4xx that is not ours is from an intermediary or a different kind of server: another server may do better.
  const isFinal = isOurs && status >= 400 && status < 500 && !PASSING.includes(status)
  const isLate = status === 503 && code === 'ERR_FLAKE_TIMEOUT'
  const reason = `answered ${status}${said.join('')}`
  return {
    status,
    reason,
    ...(isOurs && { code }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(isLate && { isLate }),
    ...(isFinal && { isFinal }),
  }
}

/** The content of a problem (RFC 9457); of any other answer only Retry-After. */
async function readProblem(answer: Answer): Promise<{ code?: string; detail?: string; retryAfterMs?: number }> {
  const retryAfterMs = retryAfter(answer.headers.get('retry-after'))
  const bytes = await answer.read(LARGEST_TEXT)
  const problem = /json$/.test(typeOf(answer)) ? parsed(bytes) : {}
  const { code, detail, retryAfterMs: exactly } = problem
  return {
    code: typeof code === 'string' && /^ERR_FLAKE_[A-Z_]{1,40}$/.test(code) ? code : undefined,
    detail: typeof detail === 'string' && detail !== '' ? detail : undefined,
    retryAfterMs: isDuration(exactly) ? exactly : retryAfterMs,
  }
}

/** @returns an empty object if they are not a JSON object */
function parsed(bytes: Uint8Array): Record<string, unknown> {
  try {
    return Object(JSON.parse(new TextDecoder().decode(bytes)))
  } catch {
    return {}
  }
}

const isDuration = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && Number.isFinite(value)

/**
 * Retry-After in ms; undefined if it is absent or unreadable. A date is by the server's clock, which may be wrong: our server
 * never sends one.
 */
const retryAfter = (text: string | null) => (text !== null && /^\d{1,9}$/.test(text) ? Number(text) * 1000 : undefined)

/** Why there is no answer that counts. */
export function faultOf(thrown: unknown, timeoutMs: number): Fault {
  if (!(thrown instanceof ExchangeError)) return networkFault(thrown)
  if (thrown.kind === 'late') return { reason: `did not answer within ${timeoutMs} ms`, isLate: true }
  const reason = 'answered with a redirect, which is not followed. Use the URL that it leads to'
  return { status: thrown.status as number, reason }
}

/** Why a request got no answer, in short: `fetch` hides the reason in causes. */
function networkFault(thrown: unknown): Fault {
  let error = thrown as { message?: unknown; code?: unknown; cause?: unknown; errors?: unknown[] } | undefined
  let text = ''
  for (let depth = 0; error !== undefined && error !== null && depth < 5; depth++) {
    const { message, code } = error
    if (typeof message === 'string' && message !== '') text = message
    else if (typeof code === 'string') text = code
    error = (error.errors?.[0] ?? error.cause) as typeof error
  }
  return { reason: `could not be reached${text === '' ? '' : ` (${withoutEnd(text)})`}` }
}
