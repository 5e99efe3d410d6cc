// An intermediary in front of flakeforge-servers that repeats their answers, like badly configured caches, gateways and
// proxies.

import { createServer, request as httpRequest } from 'node:http'
import { once } from '../support/waits.mjs'

const NONCE = 'flakeforge-nonce'

/** A server's answer to a request. */
async function forwarded({ method, url, headers }, server) {
  const request = httpRequest(new URL(url, server), { method, headers }).end()
  const [answer] = await once(request, 'response')
  const { connection, 'keep-alive': _, 'transfer-encoding': __, ...kept } = answer.headers
  return { status: answer.statusCode, headers: kept, body: Buffer.concat(await answer.toArray()) }
}

const isText = ({ headers }) => /^text/.test(headers['content-type'])

/** The first half of one answer, and the second half of another. */
function halves(one, other) {
  if (!isText(one)) return Buffer.concat([half(one.body, 8, 0), half(other.body, 8, 1)])
  const [first, second] = [one, other].map(({ body }) => String(body).trimEnd().split('\n'))
  return Buffer.from(`${[...half(first, 1, 0), ...half(second, 1, 1)].join('\n')}\n`)
}

function half(list, size, which) {
  const middle = Math.ceil(list.length / size / 2) * size
  return which === 0 ? list.slice(0, middle) : list.slice(middle)
}

/**
 * Starts one in front of these servers: `url`, and `repeated`, the number of answers with IDs of an earlier one. `how` is one
 * of these:
 * - `passes`: it does not; each request goes to the next server, as with a balancer
 * - `caches`: the first answer to a URL is the answer to all its later requests
 * - `renames`: the same, and the answer has the nonce of each request
 * - `overlaps`: every second answer begins with the IDs of the one before, and has the nonce of its request
 */
export async function startIntermediary(t, urls, how) {
  const proxy = { repeated: 0, how }
  const cache = new Map()
  let turn = 0
  const answerTo = async (request) => {
    const fresh = () => forwarded(request, urls[turn++ % urls.length])
    if (proxy.how === 'passes') return fresh()
    const key = `${request.method} ${request.url}`
    const known = cache.get(key)
    if (known === undefined) {
      const answer = await fresh()
      cache.set(key, answer)
      return answer
    }
    proxy.repeated++
    if (proxy.how === 'caches') return known
    const headers = { ...known.headers, [NONCE]: request.headers[NONCE] ?? '' }
    if (proxy.how === 'renames') return { ...known, headers }
    cache.delete(key)
    const answer = await fresh()
    const body = halves(known, answer)
    return { ...answer, headers: { ...answer.headers, 'content-length': body.length }, body }
  }
  const http = createServer(async (request, response) => {
    try {
      const { status, headers, body } = await answerTo(request)
      response.writeHead(status, headers).end(body)
    } catch {
      response.destroy() // the server is down
    }
  }).listen(0, '127.0.0.1')
  await once(http, 'listening')
  t.teardown(() => {
    http.close()
    http.closeAllConnections()
  })
  return Object.assign(proxy, { url: `http://127.0.0.1:${http.address().port}` })
}
