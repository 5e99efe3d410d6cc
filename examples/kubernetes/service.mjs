// The HTTP side of a service that hands out order numbers, and what Kubernetes asks it.
// It must never say that it is ready while it cannot make IDs.

import { createServer } from 'node:http'
import { format } from 'flakeforge'

const MOST = 4096 // of one request: what takes a millisecond

/** A slot is held, and its window is not over. */
const canMakeIds = (flake) => flake?.state === 'attached' && flake.expires > new Date()

/** `n` IDs as text, for JSON has no integers of 64 bits. */
function idsAsText(flake, n) {
  const bytes = flake.take(n)
  return Array.from({ length: n }, (_, i) => format(bytes.subarray(i * 8, i * 8 + 8)))
}

/** Answers 503 where the generator says no for now: the client may come again, or ask another replica. */
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
  // May this replica get requests?
  '/readyz': (flake) => [canMakeIds(flake) ? 200 : 503, { state: flake?.state ?? 'joining', slot: flake?.slot }],
  // Does it help to start it again? Only where the group has ended; a store that is down comes back by itself.
  '/healthz': (flake) => [flake?.state === 'destroyed' ? 500 : 200, {}],
}

/** A server that is not listening yet. `flake()`: the generator, or undefined before there is one. */
export function createService(flake) {
  return createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://service')
    const [status, body] = ROUTES[pathname]?.(flake(), searchParams) ?? [404, { error: `there is no ${pathname}` }]
    response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`)
  })
}
