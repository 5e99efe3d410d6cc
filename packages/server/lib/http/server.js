'use strict'
// @ts-check

// The HTTP server under fastify, with the limits that Node keeps: how long a request may take, how many connections there
// are, and when one is cut off that does not read its answer. Fastify makes one for each address of the host.
//
// A server has a timeout for all its connections too (server.timeout). It must stay off: Node would set it back at each read
// and write of each request, which is 5 % of what a request for one ID costs.

const http = require('node:http')
const https = require('node:https')

/** How often connections are looked at that are too slow. */
const LOOK_MS = 1000

/**
 * @param {import('../config/read.js').Config} config
 * @param {(request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => void} handler
 */
function makeServer(config, handler) {
  const { 'request-ms': requestMs, 'wait-ms': waitMs, tls } = config
  const options = {
    maxHeaderSize: config['max-header-bytes'],
    headersTimeout: requestMs,
    requestTimeout: requestMs,
    keepAliveTimeout: config['keep-alive-ms'],
    connectionsCheckingInterval: Math.min(LOOK_MS, Math.ceil(requestMs / 4)),
  }
  const server =
    tls === undefined ? http.createServer(options, handler) : https.createServer({ ...options, ...tls }, handler)
  server.maxConnections = config['max-connections']
  cutOffUnread(server, tls === undefined ? 'connection' : 'secureConnection', requestMs + waitMs)
  return server
}

/**
 * Sets a timeout on connections on which an answer waits to be read, and on no others. Node closes them then, and takes the
 * timeout away once the answers are out.
 * @param {import('node:net').Server} server
 * @param {'connection' | 'secureConnection'} event
 * @param {number} ms
 */
function cutOffUnread(server, event, ms) {
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set()
  server.on(event, (/** @type {import('node:net').Socket} */ socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const look = () => {
    for (const socket of sockets) if (socket.writableLength > 0 && !socket.timeout) socket.setTimeout(ms)
  }
  const timer = setInterval(look, Math.min(LOOK_MS, Math.ceil(ms / 4))).unref()
  server.once('close', () => clearInterval(timer))
}

exports.makeServer = makeServer
