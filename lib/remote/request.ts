// One request to one server. The IDs of an answer that came too late or was given up are lost. Errors contain no token.

import { throwIfAborted } from '../base/abort.ts'
import { clean, said } from '../base/errors/foreign.ts'
import type { Failure, Origin } from '../base/errors/remote.ts'
import { exchange, type Answer as HttpAnswer } from '../base/exchange.ts'
import { BYTES, type Fault, faultOf, isOrdered, readFault, readIds } from './answers.ts'
import { NONCE, newNonce } from './nonce.ts'
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
  const answer = await ask(target, settings, signal, async (response) => {
    if (response.status !== 200) return readFault(response)
    const ids = await readIds(response, n, nonce)
    if (!(ids instanceof Uint8Array)) return ids
    const slot = response.headers.get('flakeforge-slot')
    return { ids, slot, isOrdered: isOrdered(response), ...originOf(response, server) }
  })
  return 'ids' in answer ? answer : failureOf(server, answer)
}

/** The origin of a server's IDs, without taking one; undefined if it does not name one. Only groups are asked this way. */
export async function requestOrigin(
  server: string,
  settings: RemoteSettings,
  signal?: AbortSignal,
): Promise<Origin | undefined> {
  const url = `${server}v1/slots/${encodeURIComponent(settings.name)}`
  const target: Target = { url, method: 'GET', headers: { accept: 'application/json' } }
  const answer = await ask(target, settings, signal, async (response) =>
    response.status === 200 ? originOf(response, server) : readFault(response),
  )
  return 'layout' in answer && answer.group !== null ? answer : undefined
}

function originOf({ headers }: HttpAnswer, server: string): Origin {
  const text = (name: string) => clean(headers.get(name) ?? '') || null
  return { server, layout: text('flakeforge-layout'), group: text('flakeforge-group') }
}

/** The result of `read` for the answer; a fault if there is none that counts. Rejects only if the signal aborts. */
async function ask<T>(
  { url, method, headers: asked }: Target,
  { fetch, token, timeoutMs }: RemoteSettings,
  signal: AbortSignal | undefined,
  read: (answer: HttpAnswer) => Promise<T | Fault>,
): Promise<T | Fault> {
  const headers = token === undefined ? asked : { ...asked, authorization: `Bearer ${token}` }
  try {
    return await exchange({ fetch, url, method, headers, timeoutMs, signal }, read)
  } catch (error) {
    throwIfAborted(signal)
    return faultOf(error, timeoutMs)
  }
}

/** A fault with its server. */
const failureOf = (server: string, fault: Fault): Failure => ({ server, ...fault, reason: said(fault.reason) })
