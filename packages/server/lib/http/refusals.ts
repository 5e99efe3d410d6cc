// What is answered where there is no such route, or none for this method; and what is answered to those that do not speak
// HTTP. It must never keep a connection on which it is unclear where the next request begins.

import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest, RouteOptions as Route } from 'fastify'
import { Problem } from './problems.ts'

/** The routes of an app, as they are added. */
export function collectRoutes(app: FastifyInstance) {
  const routes: Route[] = []
  app.addHook('onRoute', (route) => void routes.push(route))
  return routes
}

/** What gives the problem of a request that has no route. */
export function refusals(routes: Route[]) {
  return ({ url }: FastifyRequest) => {
    const path = url.split('?', 1)[0].split('/')
    const methods = routes.filter((route) => fits(path, route.url.split('/'))).flatMap(({ method }) => method)
    return methods.length === 0 ? noRoute() : noMethod(methods)
  }
}

const fits = (path: string[], parts: string[]) =>
  path.length === parts.length && parts.every((part, i) => (part.startsWith(':') ? path[i] !== '' : part === path[i]))

const noRoute = () =>
  new Problem(404, 'ERR_FLAKE_ROUTE', 'There is nothing here. GET /openapi.json lists what there is.')

function noMethod(methods: string[]) {
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

/** Answers bytes that are no request, and ends the connection. */
export function refuseClient(error: NodeJS.ErrnoException, socket: Socket) {
  if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy()
  const make = OF_NODE[error.code as keyof typeof OF_NODE]
  const problem = make?.() ?? new Problem(400, 'ERR_FLAKE_REQUEST', 'This is not a request of HTTP/1.1.')
  const body = JSON.stringify(problem)
  const headers = { ...problem.allHeaders(), 'content-length': String(Buffer.byteLength(body)), connection: 'close' }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${problem.status} ${problem.toJSON().title}\r\n${lines.join('')}\r\n${body}`, () =>
    socket.destroy(),
  )
}
