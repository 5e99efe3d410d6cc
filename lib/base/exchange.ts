// The only place that sends HTTP requests: to etcd, and to servers of the ID service. An answer counts only if the server that
// was named sent it, in time, and no larger than asked for.
//
// - Redirects are not followed: they would carry a token or a password elsewhere.
// - The time limit does not rely on `fetch`, which may be the user's own and ignore its signal.
// - A body is read up to a bound, which applies to what a compressed one expands to.
//
// It sets only options that every `fetch` supports: Cloudflare's throws on `cache` or `credentials`. Uses no module of Node:
// browsers load this file too.

import { reasonOf, throwIfAborted, whenAborted } from './abort.ts'
import { clearTimeout, setTimeout } from './portable-timers.ts'

/** A request, and how long its answer may take. */
export interface Request {
  /** the global one, or the user's own */
  fetch: typeof globalThis.fetch
  url: string
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string
  timeoutMs: number
  signal?: AbortSignal | undefined
}

/**
 * An answer. `read(most)`: its body; if that is longer than `most` bytes, the result is incomplete but longer than `most` too.
 */
export type Answer = Pick<Response, 'status' | 'headers'> & { read: (most: number) => Promise<Uint8Array> }

/** Why an answer does not count. `status`: of a redirect. */
export class ExchangeError extends Error {
  kind
  status

  constructor(kind: 'late' | 'redirect', message: string, status?: number) {
    super(message)
    if (kind === 'late') this.name = 'TimeoutError'
    this.kind = kind
    this.status = status
  }
}

/** Some `fetch` hide a redirect's status; some follow it all the same, and then the answer is another server's. */
const isRedirect = ({ status, type, redirected }: Response) =>
  type === 'opaqueredirect' || redirected || (status >= 300 && status < 400)

/** A body is a stream of the web, or of Node as in node-fetch; without streams, its size is known once it has been read. */
type Body = (ReadableStream<Uint8Array> & AsyncIterable<Uint8Array>) | null | undefined

async function* partsOf(response: Response): AsyncGenerator<Uint8Array> {
  const body = response.body as Body
  if (typeof body?.getReader !== 'function') {
    if (body?.[Symbol.asyncIterator] === undefined) yield new Uint8Array(await response.arrayBuffer())
    else yield* body
    return
  }
  const reader = body.getReader()
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value
  } finally {
    reader.cancel().catch(() => {})
  }
}

async function readUpTo(most: number, response: Response) {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of partsOf(response)) {
    parts.push(part.subarray(0, most + 1 - size))
    size = Math.min(most + 1, size + part.length)
    if (size > most) break
  }
  const bytes = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** Rejects after this many ms, or when the signal aborts. */
function endOf({ timeoutMs, signal }: Request) {
  let timer: NodeJS.Timeout | undefined
  let ignore = () => {}
  const promise = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ExchangeError('late', `no answer within ${timeoutMs} ms`)), timeoutMs)
    if (signal !== undefined) ignore = whenAborted(signal, () => reject(reasonOf(signal)))
  })
  promise.catch(() => {})
  const cancel = () => {
    clearTimeout(timer)
    ignore()
  }
  return { promise, cancel }
}

/**
 * What `use` makes of the answer. Rejects with an ExchangeError, with the signal's reason, or as `fetch` does. What arrives
 * later is lost, and whatever `use` did not read of the answer is not waited for.
 */
export async function exchange<Result>(request: Request, use: (answer: Answer) => Promise<Result>): Promise<Result> {
  throwIfAborted(request.signal)
  const { fetch, url, method, headers, body } = request // fetch must be called without an object before it
  const controller = new AbortController()
  let isRead = false
  const answered = async () => {
    const init: RequestInit = { method, headers, redirect: 'manual', signal: controller.signal }
    const response = await fetch(url, body === undefined ? init : { ...init, body })
    if (isRedirect(response)) throw new ExchangeError('redirect', 'a redirect, which is not followed', response.status)
    const read = async (most: number) => {
      const bytes = await readUpTo(most, response)
      isRead = bytes.length <= most
      return bytes
    }
    return use({ status: response.status, headers: response.headers, read })
  }
  const end = endOf(request)
  try {
    return await Promise.race([answered(), end.promise])
  } finally {
    end.cancel()
    if (!isRead) controller.abort()
  }
}
