// GET /livez and /readyz, for load balancers and Kubernetes. Alive means that the process answers. Ready means that every
// name can supply IDs now. Only requests with a token see the reason, which may contain the address of a store.

import type { FastifyInstance } from 'fastify'
import type { Listener } from '../http/listen.ts'
import { internal, overloaded, Problem, problemOf } from '../http/problems.ts'
import { answers } from '../http/schemas.ts'
import type { Parts } from '../parts.ts'

const OK = { status: 'ok' }
const STATUS = { 'application/json': { $ref: 'Status#' } }
const OPEN = { security: [] } // of all tokens

const LIVE = {
  summary: 'Check whether the process responds',
  operationId: 'isAlive',
  ...OPEN,
  response: answers(STATUS, 'the process responds', []),
}
const READY = {
  summary: 'Check whether IDs are available for every name',
  operationId: 'isReady',
  ...OPEN,
  response: answers(STATUS, 'IDs are available for every name', [503]),
}

export async function routes(
  app: FastifyInstance,
  { names, state, tokens }: Pick<Parts, 'names' | 'state'> & Pick<Listener, 'tokens'>,
) {
  app.get('/livez', { schema: LIVE }, async () => OK)

  app.get('/readyz', { schema: READY }, async (request) => {
    if (state.isEnding) throw new Problem(503, 'ERR_FLAKE_ENDING', 'This server is shutting down. Ask another one.')
    if (state.isOverloaded()) throw overloaded()
    const trouble = await names.trouble()
    if (trouble === undefined) return OK
    throw tokens?.allow(request.headers.authorization) ? (problemOf(trouble, true) ?? internal()) : silent()
  })
}

const silent = () =>
  new Problem(
    503,
    'ERR_FLAKE_UNREADY',
    'This server has no IDs now. Its log has the reason, and so has this route with a token.',
  )
