// The server as the page sees it: sends requests, and detects when the server is gone and when it is back. The token is kept
// only in this tab and sent only in the header. Every request has a timeout.

const TIMEOUT_MS = 5000
const LOOK_MS = 4000 // between two checks of a server that responds
const AGAIN_MS = 2000 // of one that does not
const KEY = 'flakeforge token'

let token = sessionStorage.getItem(KEY) ?? ''
let state = 'asking'
let told = '' // the last state that the listeners got
let isRefused = false // the server rejected the token, or requires one
let timer
let aheadMs = 0 // the server's clock minus this one
const listeners = new Set()

/** The server answered with an error: the content of its body. */
export class Problem extends Error {
  constructor(status, { detail, title, code, retryAfterMs } = {}) {
    super(detail ?? title ?? `the server answered with status ${status}`)
    Object.assign(this, { status, code, retryAfterMs })
  }
}

/** The server did not respond: it is stopped, cut off or slow, or another program responded at its address. */
export class NoAnswer extends Error {}

/**
 * Calls `listener(state, detail, names)` at each change of the state ('ready', 'unready', 'gone' or 'token') or of the names,
 * as in /v1/names.
 */
export const onChange = (listener) => listeners.add(listener)

/** The server's current time in Unix ms, to compare its timestamps with. */
export const serverNow = () => Date.now() + aheadMs

export const hasToken = () => token !== ''

function become(next, detail = '', names = undefined) {
  const key = JSON.stringify([next, detail, names])
  if (key === told) return
  told = key
  state = next
  for (const listener of listeners) listener(next, detail, names)
}

/** Sets or clears the token, and checks the server again. */
export function useToken(text) {
  token = text
  if (text === '') sessionStorage.removeItem(KEY)
  else sessionStorage.setItem(KEY, text)
  isRefused = false
  look()
}

async function request(path, { method = 'GET', signal } = {}) {
  const headers = { accept: 'application/json', ...(token === '' ? {} : { authorization: `Bearer ${token}` }) }
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  const options = { method, headers, cache: 'no-store', redirect: 'error', credentials: 'omit' }
  try {
    const response = await fetch(path, { ...options, signal: signal ? AbortSignal.any([signal, timeout]) : timeout })
    return { response, body: await response.json() }
  } catch (cause) {
    if (signal?.aborted) throw cause
    throw new NoAnswer('the server does not respond', { cause })
  }
}

function noteClock({ headers }) {
  const date = Date.parse(headers.get('date') ?? '')
  const difference = date - Date.now()
  if (Number.isNaN(difference)) return
  aheadMs = Math.abs(difference) < 2000 ? 0 : difference // the header has whole seconds
}

/**
 * Resolves to the JSON of the server's answer.
 * @throws {Problem | NoAnswer}
 */
export async function ask(path, options) {
  try {
    const { response, body } = await request(path, options)
    noteClock(response)
    if (response.ok) return body
    throw new Problem(response.status, body)
  } catch (error) {
    if (error instanceof NoAnswer) become('gone')
    if (error.status === 401) {
      isRefused = true
      become('token', hasToken() ? error.message : '')
    }
    throw error
  }
}

/** Checks whether the server responds, whether it is ready, and which names it has. */
async function look() {
  clearTimeout(timer)
  try {
    const { response, body } = await request('readyz')
    noteClock(response)
    if (!response.ok && response.status !== 503) throw new NoAnswer('another program responds at this address')
    if (isRefused) become('token', hasToken() ? 'it is not one of its tokens.' : '')
    else await tellOfNames(response.ok ? 'ready' : 'unready', body.detail)
  } catch (error) {
    if (error instanceof NoAnswer) become('gone')
    else if (!isRefused) become('unready', error.message)
  }
  clearTimeout(timer)
  if (!document.hidden) timer = setTimeout(look, state === 'gone' ? AGAIN_MS : LOOK_MS)
}

async function tellOfNames(next, detail) {
  const { names } = await ask('v1/names')
  become(
    next,
    detail,
    names.map(({ name, kind, layout }) => ({ name, kind, layout })), // without the lease, which changes constantly
  )
}

/** Starts checking the server. A hidden tab pauses the checks. */
export function watchServer() {
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) clearTimeout(timer)
    else look()
  })
  look()
}
