// The server as the page sees it: asks it, and notices when it is gone and when it is back. The token is kept in this tab only,
// and sent in the header only. It must never wait for a server without an end.

const TIMEOUT_MS = 5000
const LOOK_MS = 4000 // between two looks at a server that answers
const AGAIN_MS = 2000 // at one that does not
const KEY = 'flakeforge token'

let token = sessionStorage.getItem(KEY) ?? ''
let state = 'asking'
let told = '' // what the listeners know
let isRefused = false // the token, or that there is none
let timer
let aheadMs = 0 // the server's clock before this one's
const listeners = new Set()

/** The server's answer was an error: what its body says of it. */
export class Problem extends Error {
  constructor(status, { detail, title, code, retryAfterMs } = {}) {
    super(detail ?? title ?? `the server answers with ${status}`)
    Object.assign(this, { status, code, retryAfterMs })
  }
}

/** The server did not answer: it is stopped, cut off or slow, or something else answered in its place. */
export class NoAnswer extends Error {}

/**
 * Calls `listener(state, detail, names)` at each change: of the state, 'ready', 'unready', 'gone' or 'token', or of the names,
 * as /v1/names has them.
 */
export const onChange = (listener) => listeners.add(listener)

/** The server's present, in Unix ms: what it says of times is compared with this. */
export const serverNow = () => Date.now() + aheadMs

export const hasToken = () => token !== ''

function become(next, detail = '', names = undefined) {
  const key = JSON.stringify([next, detail, names])
  if (key === told) return
  told = key
  state = next
  for (const listener of listeners) listener(next, detail, names)
}

/** Takes a token, or none; and asks the server again. */
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
    throw new NoAnswer('the server does not answer', { cause })
  }
}

function noteClock({ headers }) {
  const date = Date.parse(headers.get('date') ?? '')
  const difference = date - Date.now()
  if (Number.isNaN(difference)) return
  aheadMs = Math.abs(difference) < 2000 ? 0 : difference // the header has whole seconds
}

/**
 * The JSON that the server answers with.
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

/** Looks whether the server is there, whether it is ready, and which names it has. */
async function look() {
  clearTimeout(timer)
  try {
    const { response, body } = await request('readyz')
    noteClock(response)
    if (!response.ok && response.status !== 503) throw new NoAnswer('something else answers there')
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
    names.map(({ name, kind, layout }) => ({ name, kind, layout })), // not the lease, which changes all the time
  )
}

/** Starts to look. A tab that nobody sees does not. */
export function watchServer() {
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) clearTimeout(timer)
    else look()
  })
  look()
}
