// A small HTTP server for what no flakeforge-server does on purpose: it answers late, wrong or not at all, as its
// script says. Without a script it gives IDs, ascending and never twice, also among all servers of a test file. Like a
// flakeforge-server it repeats the nonce of each request.

import { createServer } from 'node:http'
import { RemoteFlakeId } from 'flakeforge/remote'
import { limited, once, until } from '../support/waits.mjs'

let last = 2n ** 60n

/** n IDs as a server sends them. */
export function makeIds(n) {
  const bytes = Buffer.alloc(n * 8)
  for (let i = 0; i < n; i++) bytes.writeBigUInt64BE(last++, i * 8)
  return bytes
}

/** Answers with IDs, as a server does. */
export function giveIds(_request, response, n) {
  response.setHeader('content-type', 'application/octet-stream').end(makeIds(n))
}

/** Answers with a problem. */
export const problem =
  (status, body, headers = {}) =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/problem+json', ...headers })
    response.end(JSON.stringify({ type: 'about:blank', title: 'a problem', status, ...body }))
  }

/** Never answers. */
export const hang = () => {}

/** Answers without any HTTP. */
export const cut = (request) => request.socket.destroy()

/**
 * Starts one. `counts`: the n of each request so far; `seen`: its headers; `script`: how to answer, `(request,
 * response, n)`; `most`: the maximum in progress at once. `asked(i)` resolves when the ith request has arrived.
 */
export async function startScripted(t, script = giveIds) {
  const server = { script, counts: [], seen: [], paths: [], most: 0 }
  let underWay = 0
  const watchers = new Set()
  const http = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://localhost')
    const n = Number(searchParams.get('n') ?? 1)
    server.counts.push(n)
    server.seen.push(request.headers)
    server.paths.push(`${request.method} ${pathname}`)
    underWay++
    server.most = Math.max(server.most, underWay)
    response.once('close', () => underWay--)
    for (const watch of watchers) watch()
    request.resume()
    const nonce = request.headers['flakeforge-nonce']
    if (nonce !== undefined) response.setHeader('flakeforge-nonce', nonce)
    server.script(request, response, n)
  })
  http.keepAliveTimeout = 0 // on a busy machine, a connection may be idle for long before its next request
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  server.port = http.address().port
  server.url = `http://127.0.0.1:${server.port}/`
  server.stop = () => {
    http.close()
    http.closeAllConnections()
  }
  server.asked = (count) => {
    const arrived = new Promise((resolve) => {
      const watch = () => {
        if (server.counts.length < count) return
        watchers.delete(watch)
        resolve()
      }
      watchers.add(watch)
      watch()
    })
    return limited(arrived, () => `${count} requests, after ${server.counts.length}`)
  }
  t.teardown(server.stop)
  return server
}

/** Longer than any intended answer takes, on a busy machine too. */
const PATIENT_MS = 30_000

/** A client of these servers, closed with the test. */
export async function connect(t, servers, options) {
  const urls = [servers].flat().map((server) => server.url ?? server)
  const remote = await RemoteFlakeId.connect(urls, { name: 'orders', timeoutMs: PATIENT_MS, ...options })
  t.teardown(() => remote.close())
  return remote
}

/** A client that starts with the first of these servers, whichever one it chose at random. */
export async function connectToFirst(t, servers, options) {
  for (;;) {
    const remote = await connect(t, servers, options)
    if (remote.stats.server === new URL(servers[0].url).href) return remote
    await remote.close()
  }
}

/** Lets the event loop turn until `isTrue` returns true. */
export async function turns(isTrue) {
  await until(isTrue, { everyMs: 0 })
}

/** The IDs in these bytes, as bigints. */
export function idsIn(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return Array.from({ length: bytes.length / 8 }, (_, i) => view.getBigUint64(i * 8))
}
