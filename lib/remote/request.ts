// One request to one server, with its time limit. The IDs of an answer that came too late or was given up are lost. Redirects
// are not followed, because they would carry the token elsewhere, and errors contain no token. It sets only options that
// every fetch supports: Cloudflare's throws on `cache` or `credentials`.

import { throwIfAborted, whenAborted } from '../base/abort.ts'
import type { Failure } from '../base/errors/remote.ts'
import { clearTimeout, setTimeout } from '../base/portable-timers.ts'
import { withoutSecretsIn } from '../base/printable.ts'
import { BYTES, type Fault, isOrdered, networkFault, readFault, readIds } from './answers.ts'
import { NONCE, newNonce } from './nonce.ts'
import type { Origin } from './one-group.ts'
import type { RemoteSettings } from './options.ts'

export type Target = { url: string; method: 'GET' | 'POST'; headers: Record<string, string> }

/** IDs, 8 bytes each, and their origin. */
export type Answer = Origin & { ids: Uint8Array; slot: string | null; isOrdered: boolean }

/** n IDs from this server, or the reason why there are none. */
export async function requestIds(
  server: string,
  n: number,
  settings: RemoteSettings,
  signal?: AbortSignal,
): Promise<Answer | Failure> {
  const url = `${server}v1/ids/${encodeURIComponent(settings.name)}?n=${n}`
  const nonce = newNonce()
  const target: Target = { url, method: 'POST', headers: { accept: BYTES, [NONCE]: nonce } }
  const answer = await exchange(target, settings, signal, async (response) => {
    if (response.status !== 200) return readFault(response)
    const ids = await readIds(response, n, nonce)
    if (!(ids instanceof Uint8Array)) return ids
    const slot = response.headers.get('flakeforge-slot')
    return { ids, slot, isOrdered: isOrdered(response), ...originOf(response, server, settings) }
  })
  return 'ids' in answer ? answer : failureOf(server, answer, settings)
}

/** The origin of a server's IDs, without taking one; undefined if it does not name one. Only groups are asked this way. */
export async function requestOrigin(
  server: string,
  settings: RemoteSettings,
  signal?: AbortSignal,
): Promise<Origin | undefined> {
  const url = `${server}v1/slots/${encodeURIComponent(settings.name)}`
  const target: Target = { url, method: 'GET', headers: { accept: 'application/json' } }
  const answer = await exchange(target, settings, signal, async (response) =>
    response.status === 200 ? originOf(response, server, settings) : readFault(response),
  )
  return 'layout' in answer && answer.group !== null ? answer : undefined
}

function originOf({ headers }: Response, server: string, settings: RemoteSettings): Origin {
  const text = (name: string) => withoutToken(headers.get(name) ?? '', settings) || null
  return { server, layout: text('flakeforge-layout'), group: text('flakeforge-group') }
}

/** The result of `read` for the answer; a fault if there is no answer in time. Rejects only if the signal aborts. */
async function exchange<T>(
  { url, method, headers: asked }: Target,
  settings: RemoteSettings,
  signal: AbortSignal | undefined,
  read: (response: Response) => Promise<T | Fault>,
): Promise<T | Fault> {
  throwIfAborted(signal)
  const { fetch, token, timeoutMs } = settings // fetch must be called without an object before it
  const headers = token === undefined ? asked : { ...asked, authorization: `Bearer ${token}` }
  const controller = new AbortController()
  const answer = async () => read(await fetch(url, { method, headers, redirect: 'manual', signal: controller.signal }))
  const end = endOf(timeoutMs, signal)
  try {
    const first = await Promise.race([answer(), end.promise])
    if (!Object.hasOwn(Object(first), 'ids')) controller.abort() // the body may not have been read completely
    return first
  } catch (error) {
    controller.abort()
    throwIfAborted(signal)
    return networkFault(error)
  } finally {
    end.cancel()
  }
}

/** Resolves to a fault after this many ms; rejects when the signal aborts. */
function endOf(timeoutMs: number, signal: AbortSignal | undefined) {
  let timer: NodeJS.Timeout | undefined
  let ignore = () => {}
  const promise: Promise<Fault> = new Promise((resolve, reject) => {
    const reason = `did not answer within ${timeoutMs} ms`
    timer = setTimeout(() => resolve({ reason, isLate: true }), timeoutMs)
    if (signal !== undefined) ignore = whenAborted(signal, () => reject(signal.reason))
  })
  const cancel = () => {
    clearTimeout(timer)
    ignore()
  }
  return { promise, cancel }
}

/** A fault with its server. */
function failureOf(server: string, fault: Fault, settings: RemoteSettings) {
  const reason = withoutToken(fault.reason, settings)
  return { server, ...fault, reason: reason.length > LONGEST_REASON ? `${reason.slice(0, LONGEST_REASON)}…` : reason }
}

const LONGEST_REASON = 300

/**
 * Text of a server or of fetch without secrets: the token, which a server may echo as it is, as a part of a URL, or in
 * another case, and the secrets of addresses in it. Done before anything is cut: half of a token is still secret.
 */
function withoutToken(text: string, { token }: RemoteSettings) {
  const forms = token === undefined ? [] : [token, encodeURIComponent(token)]
  const literals = forms.map((form) => form.replace(/[^\w]/g, '\\$&'))
  const safe = literals.length === 0 ? text : text.replace(new RegExp(literals.join('|'), 'gi'), '…')
  return withoutSecretsIn(safe)
}
