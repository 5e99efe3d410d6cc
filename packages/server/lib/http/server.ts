// The HTTP server under fastify, with the limits that Node keeps: how long a request may take, and how many connections there
// are. Fastify makes one for each address of the host.
//
// A server has a timeout for all its connections too (server.timeout). It must stay off: Node would set it back at each read
// and write of each request, which is 5 % of what a request for one ID costs.

import type { IncomingMessage, ServerResponse } from 'node:http'
import http from 'node:http'
import type { ServerOptions } from 'node:https'
import https from 'node:https'
import type { Config } from '../config/read.ts'
import type { Connections } from './connections.ts'

/** How often connections are looked at that are too slow. */
const LOOK_MS = 1000

export function makeServer(
  config: Config,
  connections: Connections,
  handler: (request: IncomingMessage, response: ServerResponse) => void,
) {
  const { 'request-ms': requestMs, tls } = config
  const options = {
    maxHeaderSize: config['max-header-bytes'],
    headersTimeout: requestMs,
    requestTimeout: requestMs,
    keepAliveTimeout: config['keep-alive-ms'],
    connectionsCheckingInterval: Math.min(LOOK_MS, Math.ceil(requestMs / 4)),
  }
  const server = tls === undefined ? http.createServer(options, handler) : makeSecure({ ...options, ...tls }, handler)
  server.maxConnections = config['max-connections']
  connections.watch(server, tls === undefined ? 'connection' : 'secureConnection')
  return server
}

/** With TLS. Whoever does not finish its handshake cannot read an answer, and Node leaves its connection to us. */
function makeSecure(options: ServerOptions, handler: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = https.createServer({ ...options, handshakeTimeout: options.headersTimeout }, handler)
  return server.prependListener('tlsClientError', (_error, socket) => socket.destroy())
}
