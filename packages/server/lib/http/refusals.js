'use strict'
// @ts-check

// What is answered where there is no such route, or none for this method; and what is answered to those that do not speak
// HTTP. It must never keep a connection on which it is unclear where the next request begins.

const { Problem } = require('./problems.js')

/** @typedef {import('fastify').RouteOptions} Route */

/**
 * The routes of an app, as they are added.
 * @param {import('fastify').FastifyInstance} app
 */
function collectRoutes(app) {
  /** @type {Route[]} */
  const routes = []
  app.addHook('onRoute', (route) => void routes.push(route))
  return routes
}

/**
 * What gives the problem of a request that has no route.
 * @param {Route[]} routes
 */
function refusals(routes) {
  return (/** @type {import('fastify').FastifyRequest} */ { url }) => {
    const path = url.split('?', 1)[0].split('/')
    const methods = routes.filter((route) => fits(path, route.url.split('/'))).flatMap(({ method }) => method)
    return methods.length === 0 ? noRoute() : noMethod(methods)
  }
}

/**
 * @param {string[]} path
 * @param {string[]} parts
 */
const fits = (path, parts) =>
  path.length === parts.length && parts.every((part, i) => (part.startsWith(':') ? path[i] !== '' : part === path[i]))

const noRoute = () =>
  new Problem(404, 'ERR_FLAKE_ROUTE', 'There is nothing here. GET /openapi.json lists what there is.')

/** @param {string[]} methods */
function noMethod(methods) {
  const allowed = methods.sort().join(', ')
  const why = methods.includes('POST')
    ? ' IDs are taken with POST, because an answer that a cache repeats would give them twice.'
    : ''
  return new Problem(405, 'ERR_FLAKE_METHOD', `Here only ${allowed} can be used.${why}`, {
    headers: { allow: allowed },
  })
}

/** By the code of Node's error. */
const OF_NODE = {
  HPE_HEADER_OVERFLOW: () => new Problem(431, 'ERR_FLAKE_REQUEST', 'The headers are too long.'),
  ERR_HTTP_REQUEST_TIMEOUT: () => new Problem(408, 'ERR_FLAKE_TIMEOUT', 'The request took too long to arrive.'),
}

/**
 * Answers bytes that are no request, and ends the connection.
 * @param {NodeJS.ErrnoException} error
 * @param {import('node:net').Socket} socket
 */
function refuseClient(error, socket) {
  if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy()
  const make = OF_NODE[/** @type {keyof typeof OF_NODE} */ (error.code)]
  const problem = make?.() ?? new Problem(400, 'ERR_FLAKE_REQUEST', 'This is not a request of HTTP/1.1.')
  const body = JSON.stringify(problem)
  const headers = { ...problem.allHeaders(), 'content-length': String(Buffer.byteLength(body)), connection: 'close' }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${problem.status} ${problem.toJSON().title}\r\n${lines.join('')}\r\n${body}`, () =>
    socket.destroy(),
  )
}

module.exports = { collectRoutes, refuseClient, refusals }
