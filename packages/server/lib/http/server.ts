// The HTTP server under fastify, with the limits that Node enforces: how long a request may take, and the number of
// connections. Fastify creates one for each address of the host.
//
// server.timeout, a timeout for all connections of a server, stays off: Node would reset it at each read and write of each
// request, which is 5 % of the cost of a request for one ID.

import type { IncomingMessage, ServerResponse } from 'node:http'
import http from 'node:http'
import type { ServerOptions } from 'node:https'
import https from 'node:https'
import type { Socket } from 'node:net'
import type { Config } from '../config/read.ts'
import type { Connections } from './connections.ts'
import type { Listener } from './listen.ts'
import { refuseConnect } from './refusals.ts'
import type { Turns } from './turns.ts'

/** How often slow connections are checked. */
const LOOK_MS = 1000

export function makeServer(
  {
    config,
    connections,
    turns,
    tls,
  }: { config: Config; connections: Connections; turns: Turns } & Pick<Listener, 'tls'>,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
) {
  const { 'request-ms': requestMs } = config
  const handler = turns.of(handle)
  const options = {
    ServerResponse: lastAnswers(connections),
    requireHostHeader: false, // the app refuses it, with a code
    maxHeaderSize: config['max-header-bytes'],
    headersTimeout: requestMs,
    requestTimeout: requestMs,
    keepAliveTimeout: config['keep-alive-ms'],
    connectionsCheckingInterval: Math.min(LOOK_MS, Math.ceil(requestMs / 4)),
  }
  const server =
    tls === undefined
      ? http.createServer(options, handler)
      : makeSecure({ ...options, ...tls } as ServerOptions, handler)
  server.maxConnections = config['max-connections']
  server.maxHeadersCount = 0 // their bytes are limited, and those beyond a count would be ignored
  const served = tls === undefined ? 'connection' : 'secureConnection'
  server
    .on(served, (socket: Socket) => turns.begin(socket))
    .on('checkExpectation', handler)
    .on('connect', (_request, socket) => turns.end(socket as Socket, () => refuseConnect(socket)))
  connections.watch(server, served)
  return server
}

/** Adds `Connection: close` to the last answers of their connection. */
const lastAnswers = (connections: Connections) =>
  class extends http.ServerResponse {
    override writeHead(...args: any): this {
      if (connections.isLast(this.socket)) this.shouldKeepAlive = false
      return Reflect.apply(super.writeHead, this, args)
    }
  }

/** With TLS. A client that does not finish its handshake cannot read an answer, and Node leaves its connection to us. */
function makeSecure(options: ServerOptions, handler: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = https.createServer({ ...options, handshakeTimeout: options.headersTimeout }, handler)
  return server.prependListener('tlsClientError', (_error, socket) => socket.destroy())
}
