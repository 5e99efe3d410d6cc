// The HTTP server under fastify, with the limits that Node keeps: how long a request may take, and how many connections there
// are. Fastify makes one for each address of the host.
//
// A server has a timeout for all its connections too (server.timeout). It must stay off: Node would set it back at each read
// and write of each request, which is 5 % of what a request for one ID costs.

import type { IncomingMessage, ServerResponse } from 'node:http'
import http from 'node:http'
import type { ServerOptions } from 'node:https'
import https from 'node:https'
import type { Parts } from './app.ts'
import type { Connections } from './connections.ts'
import { refuseConnect } from './refusals.ts'

/** How often connections are looked at that are too slow. */
const LOOK_MS = 1000

export function makeServer(
  { config, connections }: Pick<Parts, 'config' | 'connections'>,
  handler: (request: IncomingMessage, response: ServerResponse) => void,
) {
  const { 'request-ms': requestMs, tls } = config
  const options = {
    ServerResponse: lastAnswers(connections),
    requireHostHeader: false, // the app refuses it, with a code
    maxHeaderSize: config['max-header-bytes'],
    headersTimeout: requestMs,
    requestTimeout: requestMs,
    keepAliveTimeout: config['keep-alive-ms'],
    connectionsCheckingInterval: Math.min(LOOK_MS, Math.ceil(requestMs / 4)),
  }
  const server = tls === undefined ? http.createServer(options, handler) : makeSecure({ ...options, ...tls }, handler)
  server.maxConnections = config['max-connections']
  server.maxHeadersCount = 0 // their bytes are limited, and what is beyond a count would not be seen
  server.on('checkExpectation', handler).on('connect', refuseConnect)
  connections.watch(server, tls === undefined ? 'connection' : 'secureConnection')
  return server
}

/** Answers that say `Connection: close` where they are the last ones of their connection. */
const lastAnswers = (connections: Connections) =>
  class extends http.ServerResponse {
    override writeHead(...args: any): this {
      if (connections.isLast(this.socket)) this.shouldKeepAlive = false
      return Reflect.apply(super.writeHead, this, args)
    }
  }

/** With TLS. Whoever does not finish its handshake cannot read an answer, and Node leaves its connection to us. */
function makeSecure(options: ServerOptions, handler: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = https.createServer({ ...options, handshakeTimeout: options.headersTimeout }, handler)
  return server.prependListener('tlsClientError', (_error, socket) => socket.destroy())
}
