'use strict'
// @ts-check

// The HTTP server: fastify with its limits, its answers to what is wrong, and the routes. What a request passes on its way
// is here, in the order in which it does: probes get by without guards, and the page without a token.

const fastify = require('fastify')
const { Problem, answerTo, overloaded } = require('./problems.js')
const { trustOf } = require('./proxies.js')
const { collectRoutes, refuseClient, refusals } = require('./refusals.js')
const { ALL, COMPILES_NOTHING } = require('./schemas.js')
const { makeServer } = require('./server.js')
const { refuseStrangers } = require('./strangers.js')

/** No request has a body. So many bytes are read to say so; more end the connection. */
const BODY_BYTES = 1024

/** Over how long the event loop's delay is measured, at least. */
const SAMPLE_MS = 250

/**
 * @typedef {object} Parts
 * @property {import('../config/read.js').Config} config
 * @property {import('../ids/names.js').Names} names
 * @property {import('./connections.js').Connections} connections
 * @property {import('./waiting.js').Waiting} waiting
 * @property {import('./measures.js').Measures} measures
 * @property {import('./log.js').Log} log
 * @property {import('./tokens.js').Tokens} [tokens]
 * @property {import('../service.js').State} state
 */

/** @param {Parts} parts */
async function makeApp(parts) {
  const { config, log, tokens } = parts
  const app = fastify(optionsOf(parts))
  app.setErrorHandler((error, request, reply) => {
    // fastify says so of each request with the method QUERY that has no body, before it looks for a route; there is none
    const hasNoRoute = /** @type {{ code?: string }} */ (error).code === 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE'
    const problem = hasNoRoute ? refusalOf(request) : answerTo(/** @type {Error} */ (error), request, log)
    return problem.send(reply)
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, refuseBody)
  const known = collectRoutes(app)
  const refusalOf = refusals(known)
  for (const schema of ALL) app.addSchema(schema)
  addHooks(app, parts)
  await app.register(require('@fastify/accepts'))
  if (config.cors !== undefined) await app.register(require('@fastify/cors'), corsOf(config.cors))
  await app.register(require('../routes/health.js').routes, parts)
  await app.register(async (guarded) => {
    if (config.rate > 0) await addRate(guarded, config.rate)
    refuseStrangers(guarded, config)
    await guarded.register(require('../routes/page.js').routes)
    await guarded.register(async (own) => {
      if (tokens !== undefined) refuseWithout(tokens, own)
      own.setNotFoundHandler((request, reply) => refusalOf(request).send(reply))
      await own.register(addIds, parts)
      await own.register(require('../routes/names.js').routes, parts)
      await own.register(require('../routes/metrics.js').routes, parts)
      await own.register(require('../routes/openapi.js').routes, { known, hasTokens: tokens !== undefined })
    })
  })
  return app
}

/**
 * What happens to each answer.
 * @param {import('fastify').FastifyInstance} app
 * @param {Parts} parts
 */
function addHooks(app, { log, measures }) {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store')
    done()
  })
  app.addHook('onResponse', ({ method, routeOptions }, { statusCode, elapsedTime }, done) => {
    const route = routeOptions.url ?? '(none)'
    measures.answered(method, route, statusCode, elapsedTime)
    log.answered(method, route, statusCode, elapsedTime)
    done()
  })
}

/** @param {Parts} parts */
function optionsOf({ config, connections, log }) {
  const { 'trust-proxy': proxies } = config
  return {
    ...(config.tls !== undefined && { https: config.tls }), // for the URL; makeServer() has it too
    serverFactory: (/** @type {any} */ handler) => makeServer(config, connections, handler),
    bodyLimit: BODY_BYTES,
    return503OnClosing: false,
    forceCloseConnections: /** @type {const} */ ('idle'),
    schemaController: COMPILES_NOTHING,
    routerOptions: { maxParamLength: config['max-header-bytes'] }, // routes say more of a long name than the router does
    trustProxy: proxies === undefined ? false : trustOf(proxies),
    clientErrorHandler: refuseClient,
    frameworkErrors: (/** @type {Error} */ error, /** @type {any} */ request, /** @type {any} */ reply) =>
      answerTo(error, request, log).send(reply),
  }
}

/**
 * @param {import('./tokens.js').Tokens} tokens
 * @param {import('fastify').FastifyInstance} app
 */
function refuseWithout(tokens, app) {
  app.addHook('onRequest', (request, _reply, done) => {
    tokens.check(request.headers.authorization)
    done()
  })
}

/**
 * Counts every request, also what has no route or no token.
 * @param {import('fastify').FastifyInstance} app
 * @param {number} rate
 */
async function addRate(app, rate) {
  await app.register(require('@fastify/rate-limit'), rateOf(rate))
  const count = app.rateLimit()
  app.addHook('onRequest', (request, reply) => count.call(app, addressed(request), reply))
}

/**
 * Those who come over a unix socket have no address, and count as one client.
 * @param {import('fastify').FastifyRequest} request
 * @returns {import('fastify').FastifyRequest}
 */
const addressed = (request) =>
  request.ip === undefined ? Object.create(request, { ip: { value: 'without an address' } }) : request

/**
 * The route of IDs, which an overloaded server refuses.
 * @param {import('fastify').FastifyInstance} app
 * @param {Parts} parts
 */
async function addIds(app, { config, names, waiting, state }) {
  const maxDelay = config['max-delay-ms']
  if (maxDelay > 0) {
    await app.register(require('@fastify/under-pressure'), pressureOf(maxDelay))
    state.isOverloaded = () => app.isUnderPressure()
  }
  await app.register(require('../routes/ids.js').routes, { names, waiting, state })
}

/** @param {string[]} origins */
const corsOf = (origins) => ({
  origin: origins.includes('*') ? '*' : origins,
  methods: ['GET', 'POST'],
  allowedHeaders: ['authorization', 'accept', 'content-type'],
  exposedHeaders: ['flakeforge-layout', 'flakeforge-group', 'flakeforge-slot', 'retry-after'],
  maxAge: 600,
})

/** @param {number} rate */
const rateOf = (rate) => ({
  global: false,
  max: rate,
  timeWindow: 1000,
  errorResponseBuilder: (/** @type {unknown} */ _, /** @type {{ ttl: number }} */ { ttl }) =>
    new Problem(
      429,
      'ERR_FLAKE_RATE',
      `This server takes ${rate} requests per second of one address. Ask for more IDs at once.`,
      {
        retryAfterMs: ttl,
      },
    ),
})

/** @param {number} maxDelay */
const pressureOf = (maxDelay) => ({
  maxEventLoopDelay: maxDelay,
  // The plugin takes a time without a sample for an endless delay. That is right only if the time is not shorter.
  sampleInterval: Math.max(SAMPLE_MS, maxDelay),
  pressureHandler: () => {
    throw overloaded()
  },
})

/**
 * Any body but an empty one.
 * @param {unknown} _request
 * @param {Buffer} body
 * @param {(error: Error | null, body?: unknown) => void} done
 */
function refuseBody(_request, body, done) {
  if (body.length === 0) return done(null, undefined)
  done(
    new Problem(
      400,
      'ERR_FLAKE_BODY',
      `The request has a body of ${body.length} bytes, and must have none. n goes after the question mark.`,
    ),
  )
}

exports.makeApp = makeApp
