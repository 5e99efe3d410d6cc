// The HTTP server: fastify with its limits, its error answers, and the routes. The handlers of a request are added here in
// their order: probes bypass the guards, and the page needs no token.

import type { Socket } from 'node:net'
import accepts from '@fastify/accepts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fastify from 'fastify'
import type { Parts } from '../parts.ts'
import * as health from '../routes/health.ts'
import * as ids from '../routes/ids.ts'
import * as metrics from '../routes/metrics.ts'
import * as names from '../routes/names.ts'
import * as openapi from '../routes/openapi.ts'
import * as page from '../routes/page.ts'
import type { Listener } from './listen.ts'
import { NONCE } from './nonce.ts'
import { ALWAYS, type Audience, answerTo, Problem } from './problems.ts'
import { trustOf } from './proxies.ts'
import { collectRoutes, refusals, refuseClient, refuseMalformed } from './refusals.ts'
import { ALL, COMPILES_NOTHING, MADE } from './schemas.ts'
import { makeServer } from './server.ts'
import { refuseStrangers } from './strangers.ts'
import type { Tokens } from './tokens.ts'
import { Turns } from './turns.ts'

/** No request has a body. This many bytes are read in order to refuse it; more end the connection. */
const BODY_BYTES = 1024

/** Over how long the event loop's delay is measured, at least. */
const SAMPLE_MS = 250

export async function makeApp(parts: Parts, listener: Listener) {
  const { config } = parts
  const { tokens } = listener
  const { app, known, refusalOf } = bareApp(parts, listener)
  await app.register(accepts)
  if (config.cors !== undefined) await app.register((await import('@fastify/cors')).default, corsOf(config.cors))
  await app.register(health.routes, { ...parts, tokens })
  await app.register(async (guarded) => {
    if (config.rate > 0) await addRate(guarded, config.rate)
    refuseStrangers(guarded, listener, config.cors)
    await guarded.register(page.routes)
    await guarded.register(async (own) => {
      if (tokens !== undefined) refuseWithout(tokens, own)
      own.setNotFoundHandler((request, reply) => refusalOf(request).send(reply))
      await own.register(addIds, parts)
      await own.register(names.routes, parts)
      await own.register(metrics.routes, parts)
      await own.register(openapi.routes, { known, hasTokens: tokens !== undefined })
    })
  })
  return app
}

/** An app for metrics only, without a rate. */
export async function makeMetricsApp(parts: Parts, listener: Listener) {
  const { app, refusalOf } = bareApp(parts, listener)
  refuseStrangers(app, listener, parts.config.cors)
  if (listener.tokens !== undefined) refuseWithout(listener.tokens, app)
  app.setNotFoundHandler((request, reply) => refusalOf(request).send(reply))
  await app.register(metrics.routes, parts)
  return app
}

/** An app without routes: its limits, and its error answers. */
function bareApp(parts: Parts, listener: Listener) {
  const audience = { log: parts.log, tokens: listener.tokens }
  const app = fastify(optionsOf(parts, listener, audience))
  app.setErrorHandler((error, request, reply) => {
    // fastify answers this to each request with the method QUERY that has no body, before it looks for a route, and none
    // exists
    const hasNoRoute = (error as { code?: string }).code === 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE'
    const problem = hasNoRoute ? refusalOf(request) : answerTo(error as Error, request, audience)
    return problem.send(reply)
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, refuseBody)
  const known = collectRoutes(app)
  const refusalOf = refusals(known)
  for (const schema of ALL) app.addSchema(schema)
  addHooks(app, parts)
  return { app, known, refusalOf }
}

/** Runs for each request and its answer. */
function addHooks(app: FastifyInstance, { log, measures, connections }: Parts) {
  app.addHook('onRequest', (request, reply, done) => {
    const begin = performance.now()
    // One listener. For a hook onResponse, fastify would add two and remove them, which takes 0.9 µs more.
    reply.raw.on('finish', () => {
      const { method, routeOptions } = request
      const [route, ms] = [routeOptions.url ?? '(none)', performance.now() - begin]
      measures.answered(method, route, reply.statusCode, ms)
      log.answered(method, route, reply.statusCode, ms)
    })
    reply.headers(ALWAYS)
    connections.used(request.raw.socket)
    refuseMalformed(request.raw)
    done()
  })
}

function optionsOf({ config, connections }: Parts, { tls }: Listener, audience: Audience) {
  const { 'trust-proxy': proxies } = config
  const turns = new Turns()
  return {
    ...(tls !== undefined && { https: tls }), // for the URL; makeServer() has it too
    serverFactory: (handler: any) => makeServer({ config, connections, turns, tls }, handler),
    bodyLimit: BODY_BYTES,
    return503OnClosing: false,
    schemaController: COMPILES_NOTHING,
    routerOptions: { maxParamLength: config['max-header-bytes'] }, // routes describe a long name better than the router does
    trustProxy: proxies === undefined ? false : trustOf(proxies),
    clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket) =>
      turns.end(socket, () => refuseClient(error, socket), error.code === 'ERR_HTTP_REQUEST_TIMEOUT'),
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) =>
      answerTo(error, request, audience).send(reply),
  }
}

function refuseWithout(tokens: Tokens, app: FastifyInstance) {
  app.addHook('onRequest', (request, _reply, done) => {
    tokens.check(request.headers.authorization)
    done()
  })
}

/** Counts every request, also those without a route or a token. */
async function addRate(app: FastifyInstance, rate: number) {
  await app.register((await import('@fastify/rate-limit')).default, rateOf(rate))
  const count = app.rateLimit()
  app.addHook('onRequest', (request, reply) => count.call(app, addressed(request), reply))
}

/** Clients on a unix socket have no address, and count as one client. */
const addressed = (request: FastifyRequest): FastifyRequest =>
  request.ip === undefined ? Object.create(request, { ip: { value: 'without an address' } }) : request

/** The route of IDs, which an overloaded server refuses. */
async function addIds(app: FastifyInstance, { config, names, waiting, state, connections }: Parts) {
  const maxDelay = config['max-delay-ms']
  if (maxDelay > 0) {
    // The plugin asks each request of its scope in a slower way than the route does, so it gets one without routes.
    await app.register(async (scope) => {
      await scope.register((await import('@fastify/under-pressure')).default, pressureOf(maxDelay))
      state.isOverloaded = () => scope.isUnderPressure()
    })
  }
  await app.register(ids.routes, { names, waiting, state, connections })
}

const corsOf = (origins: string[]) => ({
  origin: origins.includes('*') ? '*' : origins,
  methods: ['GET', 'POST'],
  allowedHeaders: ['authorization', 'accept', 'content-type', NONCE],
  exposedHeaders: [...Object.keys(MADE), 'retry-after'],
  maxAge: 600,
})

const rateOf = (rate: number) => ({
  global: false,
  max: rate,
  timeWindow: 1000,
  errorResponseBuilder: (_: unknown, { ttl }: { ttl: number }) =>
    new Problem(
      429,
      'ERR_FLAKE_RATE',
      `This server accepts ${rate} requests per second from one address. Request more IDs at once.`,
      {
        retryAfterMs: ttl,
      },
    ),
})

const pressureOf = (maxDelay: number) => ({
  maxEventLoopDelay: maxDelay,
  // The plugin treats a time without a sample as an endless delay. That is right only if the time is not shorter.
  sampleInterval: Math.max(SAMPLE_MS, maxDelay),
})

/** Refuses any body but an empty one. */
function refuseBody(_request: unknown, body: Buffer, done: (error: Error | null, body?: unknown) => void) {
  if (body.length === 0) return done(null, undefined)
  done(
    new Problem(
      400,
      'ERR_FLAKE_BODY',
      `The request has a body of ${body.length} bytes, which is not allowed. Put n after the question mark.`,
    ),
  )
}
