// The answers for a missing route or method, and for input that is not HTTP. A connection is closed if it is unclear where
// its next request begins.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { FastifyInstance, FastifyRequest, RouteOptions as Route } from 'fastify'
import { Problem, shown } from './problems.ts'

/** The rest of the client's input is suspect too. */
const CLOSE = { headers: { connection: 'close' } }

/** The routes of an app, as they are added. */
export function collectRoutes(app: FastifyInstance) {
  const routes: Route[] = []
  app.addHook('onRoute', (route) => void routes.push(route))
  return routes
}

/** Returns a function that makes the problem of a request without a route. */
export function refusals(routes: Route[]) {
  return ({ url }: FastifyRequest) => {
    const path = url.split('?', 1)[0].split('/')
    const methods = routes.filter((route) => fits(path, route.url.split('/'))).flatMap(({ method }) => method)
    return methods.length === 0 ? noRoute() : noMethod(methods)
  }
}

const fits = (path: string[], parts: string[]) =>
  path.length === parts.length && parts.every((part, i) => (part.startsWith(':') ? path[i] !== '' : part === path[i]))

const noRoute = () => new Problem(404, 'ERR_FLAKE_ROUTE', 'There is no such route. GET /openapi.json lists the routes.')

function noMethod(methods: string[]) {
  const allowed = methods.sort().join(', ')
  const why = methods.includes('POST') ? ' IDs are requested with POST, because a cached answer would repeat them.' : ''
  return new Problem(405, 'ERR_FLAKE_METHOD', `Only ${allowed} can be used here.${why}`, {
    headers: { allow: allowed },
  })
}

/** By the code of Node's error. */
const OF_NODE = {
  HPE_HEADER_OVERFLOW: () => new Problem(431, 'ERR_FLAKE_REQUEST', 'The headers are too long.'),
  ERR_HTTP_REQUEST_TIMEOUT: () => new Problem(408, 'ERR_FLAKE_TIMEOUT', 'The request took too long to arrive.'),
}

/** Answers bytes that are not a request, and ends the connection. */
export function refuseClient(error: NodeJS.ErrnoException, socket: Socket) {
  if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy()
  const make = OF_NODE[error.code as keyof typeof OF_NODE]
  end(socket, make?.() ?? new Problem(400, 'ERR_FLAKE_REQUEST', 'This is not an HTTP/1.1 request.'))
}

/** Answers CONNECT, after which a connection no longer carries HTTP. */
export function refuseConnect(socket: Duplex) {
  socket.on('error', () => socket.destroy())
  end(socket, new Problem(405, 'ERR_FLAKE_METHOD', 'This server is not a proxy. GET /openapi.json lists the routes.'))
}

/** Throws if a header violates HTTP/1.1, or asks for a feature that this server lacks (RFC 9110, 9112). */
export function refuseMalformed({ headers, rawHeaders, httpVersion }: IncomingMessage) {
  const { host, expect } = headers
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') throw unmet(expect)
  if (host === undefined && httpVersion !== '1.0') throw malformed('The request has no Host header.')
  if (host !== undefined && !HOST.test(host))
    throw malformed('The Host header is not a name or address, with or without a port.')
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) if (isHost(rawHeaders[i])) hosts++
  if (hosts > 1) throw malformed(`The request has ${hosts} Host headers. Send one.`)
}

/** The valid forms of a host and its port; an empty one is allowed (RFC 9112, 3.2). */
const HOST = /^[^\s/?#@\\,<>"{}|^`]*$/

const isHost = (name: string) => name.length === 4 && name.toLowerCase() === 'host'

const malformed = (detail: string) => new Problem(400, 'ERR_FLAKE_REQUEST', detail, CLOSE)

const unmet = (expect: string) =>
  new Problem(
    417,
    'ERR_FLAKE_REQUEST',
    `This server does not support the Expect header ${shown(expect)}. Leave it out.`,
    CLOSE,
  )

/** Sends a problem without fastify, and ends the connection. */
function end(socket: Duplex, problem: Problem) {
  const body = JSON.stringify(problem)
  const headers = { ...problem.allHeaders(), 'content-length': String(Buffer.byteLength(body)), connection: 'close' }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${problem.status} ${problem.toJSON().title}\r\n${lines.join('')}\r\n${body}`, () =>
    socket.destroy(),
  )
}
