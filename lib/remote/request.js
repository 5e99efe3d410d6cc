'use strict'
// @ts-check

// One request to one server, with its time limit.
//
// It must never use an answer that came too late or was given up: its IDs are lost. It must never follow a redirect, which
// would carry the token elsewhere, nor let a token into an error. It sets only what every fetch knows: Cloudflare's throws
// where it sees `cache` or `credentials`.

const { throwIfAborted, whenAborted } = require('../base/abort.js')
const { clearTimeout, setTimeout } = require('../base/portable-timers.js')
const { BYTES, networkFault, readBytes, readFault, readIds } = require('./answers.js')

/**
 * @import { Failure } from '../base/errors/remote.js'
 * @import { Fault } from './answers.js'
 * @import { RemoteSettings } from './options.js'
 *
 * Looks at an answer before its IDs are used; what it throws ends the call.
 * @typedef {(response: Response, server: string) => unknown} Accept
 *
 * @typedef {RemoteSettings & { accept?: Accept }} RequestSettings
 * @typedef {{ url: string, method: 'GET' | 'POST', accept: string }} Target
 */

const LARGEST_JSON = 2 ** 24

/**
 * n IDs from this server, 8 bytes each; or why it gave none.
 * @param {string} server
 * @param {number} n
 * @param {RequestSettings} settings
 * @param {AbortSignal} [signal]
 * @returns {Promise<Uint8Array | Failure>}
 */
async function requestIds(server, n, settings, signal) {
  const url = `${server}v1/ids/${encodeURIComponent(settings.name)}?n=${n}`
  const answer = await exchange({ url, method: 'POST', accept: BYTES }, settings, signal, async (response) => {
    if (response.status !== 200) return readFault(response)
    try {
      await settings.accept?.(response, server)
    } catch (refusal) {
      return { refusal }
    }
    return readIds(response, n)
  })
  if ('refusal' in answer) throw answer.refusal
  return answer instanceof Uint8Array ? answer : failureOf(server, answer, settings)
}

/**
 * What a server answers to GET as JSON; or why it answered nothing.
 * @param {string} server
 * @param {string} path
 * @param {RequestSettings} settings
 * @param {AbortSignal} [signal]
 * @returns {Promise<{ json: unknown } | Failure>}
 */
async function requestJson(server, path, settings, signal) {
  const target = /** @type {Target} */ ({ url: server + path, method: 'GET', accept: 'application/json' })
  const answer = await exchange(target, settings, signal, async (response) => {
    if (response.status !== 200) return readFault(response)
    const bytes = await readBytes(response, LARGEST_JSON)
    try {
      return { json: JSON.parse(new TextDecoder().decode(bytes)) }
    } catch {
      return { status: 200, reason: 'answered 200 with something that is no JSON' }
    }
  })
  return 'json' in answer ? answer : failureOf(server, answer, settings)
}

/**
 * What `read` makes of the answer; a fault if there is no answer, or not in time. Rejects only if the signal aborts.
 * @template T
 * @param {Target} target
 * @param {RequestSettings} settings
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
    if (!(first instanceof Uint8Array)) controller.abort() // we may not have read all of it
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
 * A fault with its server, and without the token: the server may have sent it back.
 * @param {string} server
 * @param {Fault} fault
 * @param {RequestSettings} settings
 */
function failureOf(server, fault, { token }) {
  const reason = token === undefined ? fault.reason : fault.reason.replaceAll(token, '…')
  return { server, ...fault, reason }
}

module.exports = { requestIds, requestJson }
