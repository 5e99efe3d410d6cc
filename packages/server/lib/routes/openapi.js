'use strict'
// @ts-check

// GET /openapi.json: the document of this API, made from the routes' schemas when it is first asked for.

const { ALL, COMPILES_NOTHING } = require('../http/schemas.js')
const { version } = require('../../package.json')

const TOKEN = { token: [] }

/** @param {boolean} hasTokens whether a route needs a token unless it says otherwise; else one is taken, and not looked at */
const swaggerOf = (hasTokens) => ({
  openapi: {
    openapi: '3.0.3',
    info: {
      title: 'flakeforge-server',
      description: 'Unique 64-bit IDs. They are text in JSON, because a JSON number would be rounded.',
      version,
      license: { name: 'MIT', url: 'https://github.com/flakeforge/flakeforge/blob/main/LICENSE' },
    },
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    security: hasTokens ? [TOKEN] : [TOKEN, {}],
  },
  refResolver: { buildLocalReference: (/** @type {any} */ json) => json.$id },
})

/** @typedef {import('fastify').RouteOptions} Route */

/**
 * The document, from an app that never listens: so the server need not load what makes it before somebody asks for it.
 * @param {Route[]} known
 * @param {boolean} hasTokens
 */
async function documentOf(known, hasTokens) {
  const app = require('fastify')({ exposeHeadRoutes: false, schemaController: COMPILES_NOTHING })
  for (const schema of ALL) app.addSchema(schema)
  await app.register(require('@fastify/swagger'), /** @type {any} */ (swaggerOf(hasTokens)))
  await app.register(async (routes) => {
    for (const { method, url, schema } of known)
      if (method !== 'HEAD') routes.route({ method, url, schema, handler: () => {} })
  })
  await app.ready()
  return JSON.stringify(app.swagger())
}

/**
 * @param {import('fastify').FastifyInstance} app
 * @param {{ known: Route[], hasTokens: boolean }} options
 */
async function routes(app, { known, hasTokens }) {
  /** @type {Promise<string> | undefined} */
  let text // it does not change
  const schema = {
    summary: 'This document',
    operationId: 'getDocument',
    response: { 200: { description: 'OpenAPI 3.0', content: { 'application/json': { schema: { type: 'object' } } } } },
  }
  app.get('/openapi.json', { schema }, async (_request, reply) => {
    text ??= documentOf(known, hasTokens)
    return reply.header('content-type', 'application/json; charset=utf-8').send(await text)
  })
}

exports.routes = routes
