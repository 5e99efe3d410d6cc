// Shared by the tests of flakeforge-server: requests whose answers are checked against the server's own /openapi.json,
// and raw connections for what no HTTP client would send.

import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Ajv from 'ajv'
import formats from 'ajv-formats'
import { limited, until } from './waits.mjs'

/** Checks answers against an OpenAPI document. */
class Contract {
  #paths
  #ajv = new Ajv.default({ strict: false, allErrors: true })

  constructor(document) {
    formats.default(this.#ajv)
    this.#ajv.addSchema(document, 'api')
    this.#paths = Object.entries(document.paths).map(([path, methods]) => ({
      pattern: new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`),
      pointer: `api#/paths/${path.replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D')}`,
      methods,
    }))
  }

  /** The errors of an answer, as a list of texts. */
  faults(method, url, answer) {
    const { status, type, body } = answer
    if (status >= 400) return this.#problemFaults(answer)
    const found = this.#paths.find(({ pattern }) => pattern.test(new URL(url).pathname))
    const documented = found?.methods[method.toLowerCase()]?.responses[status]
    if (documented === undefined) return [`${method} ${url} answers ${status}, and the document does not say so`]
    const schema = documented.content?.[type]?.schema
    if (schema === undefined) return [`${method} ${url} answers ${type}, and the document does not say so`]
    if (schema.format === 'binary') return Buffer.isBuffer(body) ? [] : ['not bytes']
    return this.#check(schema, body)
  }

  #problemFaults({ status, type, body, headers }) {
    const faults = this.#check({ $ref: 'api#/components/schemas/Problem' }, body)
    if (type !== 'application/problem+json') faults.push(`a problem of type ${type}`)
    if (body?.status !== status) faults.push(`status ${status}, and the problem says ${body?.status}`)
    const retry = headers.get('retry-after')
    const mustRetry = status === 503 || status === 429
    if (mustRetry !== (retry !== null)) faults.push(`${status} with Retry-After ${retry}`)
    if (mustRetry && !/^[1-9]\d*$/.test(retry)) faults.push(`Retry-After: ${retry}`)
    if (mustRetry && !(body.retryAfterMs > 0)) faults.push(`retryAfterMs: ${body.retryAfterMs}`)
    return faults
  }

  #check(schema, body) {
    const resolved = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/'))
    return this.#ajv.validate(resolved, body) ? [] : this.#ajv.errors.map((error) => JSON.stringify(error))
  }
}

/** The contract that a server publishes. */
async function contractOf(url, headers = {}) {
  const response = await fetch(`${url}/openapi.json`, { headers })
  return new Contract(await response.json())
}

const bodyOf = async (response, type) => {
  const bytes = Buffer.from(await response.arrayBuffer())
  if (type === 'application/octet-stream') return bytes
  return /json$/.test(type) ? JSON.parse(bytes.toString()) : bytes.toString()
}

/**
 * A function that sends a request and asserts that the answer matches its document: `ask(t, 'POST', '/v1/ids/x')`
 * returns `{ status, type, body, headers }`.
 */
export async function asker(url, { token, ...more } = {}) {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const contract = await contractOf(url, authorization)
  return async (t, method, path, { headers, ...init } = {}) => {
    const all = { ...more, ...init, method, headers: { ...authorization, ...headers } }
    const response = await fetch(url + path, all)
    const type = response.headers.get('content-type')?.split(';')[0] ?? ''
    const answer = { status: response.status, type, headers: response.headers, body: await bodyOf(response, type) }
    t.deepEqual(contract.faults(method, url + path, answer), [], `${method} ${path}`)
    t.is(response.headers.get('cache-control'), 'no-store')
    t.is(response.headers.get('x-content-type-options'), 'nosniff')
    return answer
  }
}

/** The IDs of an octet-stream. */
export const idsIn = (bytes) => Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readBigUInt64BE(i * 8))

/**
 * A connection that sends what it is told to: `text()` is the answer so far, `closed` resolves at its end. With
 * `allowHalfOpen` it does not end when the server does.
 */
export function rawConnection(port, options) {
  const socket = connect({ port, host: '127.0.0.1', ...options })
  let got = ''
  socket.setEncoding('latin1').on('data', (text) => {
    got += text
  })
  socket.on('error', () => {})
  const happened = Object.fromEntries(
    ['close', 'end', 'connect'].map((event) => [event, new Promise((resolve) => socket.once(event, resolve))]),
  )
  const told = (event) => limited(happened[event], () => `'${event}' of a connection to port ${port}, after: ${got}`)
  return {
    socket,
    get closed() {
      return told('close')
    },
    get ended() {
      return told('end')
    },
    get connected() {
      return told('connect')
    },
    text: () => got,
    send: (text) => socket.write(text),
  }
}

/** Resolves once the answer matches. */
export async function arrived(raw, pattern) {
  const found = () => pattern.exec(raw.text())
  await until(() => found() !== null || raw.socket.closed, { state: raw.text, everyMs: 1 })
  if (found() === null) throw new Error(`closed after: ${raw.text()}`)
  return found()
}

const folders = []
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A new empty folder, removed with this process. */
export function passingFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'flakeforge-service-'))
  folders.push(folder)
  return folder
}
