'use strict'
// @ts-check

// GET /livez and /readyz, for load balancers and Kubernetes. Alive means that the process answers. Ready means that every
// name can give IDs now.

const { Problem, internal, overloaded, problemOf } = require('../http/problems.js')
const { answers } = require('../http/schemas.js')

const OK = { status: 'ok' }
const STATUS = { 'application/json': { $ref: 'Status#' } }
const LIVE = { summary: 'Whether the process answers', security: [], response: answers(STATUS, 'it does', []) }
const READY = { summary: 'Whether every name gives IDs', security: [], response: answers(STATUS, 'they do', [503]) }

/**
 * @param {import('fastify').FastifyInstance} app
 * @param {{ names: import('../ids/names.js').Names, state: import('../service.js').State }} options
 */
async function routes(app, { names, state }) {
  app.get('/livez', { config: { open: true, rateLimit: false }, schema: LIVE }, async () => OK)

  app.get('/readyz', { config: { open: true, rateLimit: false }, schema: READY }, async () => {
    if (state.isEnding) throw new Problem(503, 'ERR_FLAKE_ENDING', 'This server is ending. Ask another one.')
    if (state.isOverloaded()) throw overloaded()
    const trouble = await names.trouble()
    if (trouble !== undefined) throw unready(trouble)
    return OK
  })
}

/** @param {any} trouble */
function unready(trouble) {
  const { code, message, retryAfterMs } = problemOf(trouble) ?? internal()
  return new Problem(503, code, message, { retryAfterMs })
}

exports.routes = routes
