// The HTTP side of a service that hands out order numbers, with the endpoints for Kubernetes' probes and for Prometheus.
// It reports ready only while it can generate IDs.

import { createServer } from 'node:http'
import { format } from 'flakeforge'
import { prometheusMetrics } from 'flakeforge/metrics'
import client from 'prom-client' // or '@prometheus-io/client', its new name

const MOST = 4096 // IDs per request: those of one millisecond

prometheusMetrics(client) // every lease of this process, while it is joining too

/** Whether a slot is held and its window is not over. */
const canMakeIds = (flake) => flake?.state === 'attached' && flake.expires > new Date()

/** `n` IDs as text, because JSON has no 64-bit integers. */
function idsAsText(flake, n) {
  const bytes = flake.take(n)
  return Array.from({ length: n }, (_, i) => format(bytes.subarray(i * 8, i * 8 + 8)))
}

/** Responds with 503 if the generator refuses for now: the client may retry, or ask another replica. */
function ids(flake, query) {
  const n = Number(query.get('n') ?? 1)
  if (!Number.isInteger(n) || n < 1 || n > MOST) return [400, { error: `n must be 1 to ${MOST}` }]
  if (flake === undefined) return [503, { error: 'not joined yet' }]
  try {
    return [200, { ids: idsAsText(flake, n) }]
  } catch (error) {
    if (!error.code?.startsWith('ERR_FLAKE_')) throw error
    return [503, { error: error.message, code: error.code }]
  }
}

const ROUTES = {
  '/ids': ids,
  // Whether this replica should get requests.
  '/readyz': (flake) => [canMakeIds(flake) ? 200 : 503, { state: flake?.state ?? 'joining', slot: flake?.slot }],
  // Whether a restart would help: only if the group has ended. It recovers from a store outage without one.
  '/healthz': (flake) => [flake?.state === 'destroyed' ? 500 : 200, {}],
}

/** What Prometheus scrapes, as text. */
async function metrics(response) {
  const text = await client.register.metrics()
  response.writeHead(200, { 'content-type': client.register.contentType }).end(text)
}

/** A server that is not listening yet. `flake()`: the generator, or undefined before there is one. */
export function createService(flake) {
  return createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://service')
    if (pathname === '/metrics') return metrics(response)
    const [status, body] = ROUTES[pathname]?.(flake(), searchParams) ?? [404, { error: `there is no ${pathname}` }]
    response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`)
  })
}
