'use strict'
// @ts-check

// One request to one server, with its time limit.
//
// It must never use an answer that came too late or was given up: its IDs are lost. It must never follow a redirect, which
// would carry the token elsewhere, nor let a token into an error. It sets only what every fetch knows: Cloudflare's throws
// where it sees `cache` or `credentials`.

const { throwIfAborted, whenAborted } = require('../base/abort.js')
const { clearTimeout, setTimeout } = require('../base/portable-timers.js')
const { BYTES, networkFault, readFault, readIds } = require('./answers.js')

/**
 * @import { Failure } from '../base/errors/remote.js'
 * @import { Fault } from './answers.js'
 * @import { Origin } from './one-group.js'
 * @import { RemoteSettings } from './options.js'
 *
 * @typedef {{ url: string, method: 'GET' | 'POST', accept: string }} Target
 */

/**
 * n IDs from this server, 8 bytes each, and of what they are; or why it gave none.
 * @param {string} server
 * @param {number} n
 * @param {RemoteSettings} settings
 * @param {AbortSignal} [signal]
 * @returns {Promise<Origin & { ids: Uint8Array } | Failure>}
 */
async function requestIds(server, n, settings, signal) {
  const url = `${server}v1/ids/${encodeURIComponent(settings.name)}?n=${n}`
  const answer = await exchange({ url, method: 'POST', accept: BYTES }, settings, signal, async (response) => {
    if (response.status !== 200) return readFault(response)
    const ids = await readIds(response, n)
    return ids instanceof Uint8Array ? { ids, ...originOf(response, server, settings) } : ids
  })
  return 'ids' in answer ? answer : failureOf(server, answer, settings)
}

/**
 * Of what the IDs of a server are, without taking one; undefined if it does not say. Only groups are asked so.
 * @param {string} server
 * @param {RemoteSettings} settings
 * @param {AbortSignal} [signal]
 * @returns {Promise<Origin | undefined>}
 */
async function requestOrigin(server, settings, signal) {
  const url = `${server}v1/slots/${encodeURIComponent(settings.name)}`
  const target = /** @type {Target} */ ({ url, method: 'GET', accept: 'application/json' })
  const answer = await exchange(target, settings, signal, async (response) =>
    response.status === 200 ? originOf(response, server, settings) : readFault(response),
  )
  return 'layout' in answer && answer.group !== null ? answer : undefined
}

/**
 * @param {Response} response
 * @param {string} server
 * @param {RemoteSettings} settings
 * @returns {Origin}
 */
function originOf({ headers }, server, settings) {
  const text = (/** @type {string} */ name) => withoutToken(headers.get(name) ?? '', settings) || null
  return { server, layout: text('flakeforge-layout'), group: text('flakeforge-group') }
}

/**
 * What `read` makes of the answer; a fault if there is no answer, or not in time. Rejects only if the signal aborts.
 * @template T
 * @param {Target} target
 * @param {RemoteSettings} settings
 * @param {AbortSignal | undefined} signal
 * @param {(response: Response) => Promise<T | Fault>} read
 * @returns {Promise<T | Fault>}
 */
async function exchange({ url, method, accept }, settings, signal, read) {
  throwIfAborted(signal)
  const { fetch, token, timeoutMs } = settings // fetch must be called without an object before it
  /** @type {Record<string, string>} */
  const headers = token === undefined ? { accept } : { accept, authorization: `Bearer ${token}` }
  const controller = new AbortController()
  const answer = async () => read(await fetch(url, { method, headers, redirect: 'manual', signal: controller.signal }))
  const end = endOf(timeoutMs, signal)
  try {
    const first = await Promise.race([answer(), end.promise])
    if (!Object.hasOwn(Object(first), 'ids')) controller.abort() // we may not have read all of it
    return first
  } catch (error) {
    controller.abort()
    throwIfAborted(signal)
    return networkFault(error)
  } finally {
    end.cancel()
  }
}

/**
 * Resolves to a fault after so many ms; rejects when the signal aborts.
 * @param {number} timeoutMs
 * @param {AbortSignal | undefined} signal
 */
function endOf(timeoutMs, signal) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  let ignore = () => {}
  /** @type {Promise<Fault>} */
  const promise = new Promise((resolve, reject) => {
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

/**
 * A fault with its server.
 * @param {string} server
 * @param {Fault} fault
 * @param {RemoteSettings} settings
 */
function failureOf(server, fault, settings) {
  return { server, ...fault, reason: withoutToken(fault.reason, settings) }
}

/**
 * A server's words without the token: it may have sent it back.
 * @param {string} text
 * @param {RemoteSettings} settings
 */
const withoutToken = (text, { token }) => (token === undefined ? text : text.replaceAll(token, '…'))

module.exports = { requestIds, requestOrigin }
