'use strict'

// A member whose own client, of either package, finds the primary: by asking Sentinels, or in a cluster. The client is
// set up as the docs say.

const FlakeId = require('flakeforge')
const { redisStore } = require('flakeforge/lease')

const SILENT_MS = 5000 // after that, a silent connection is replaced

/** Each returns a connected client, and how to end it. */
const CLIENTS = {
  async ioredis({ sentinels, name, addresses }) {
    const { Redis } = require('ioredis')
    const client = new Redis({
      sentinels,
      name,
      natMap: addresses,
      socketTimeout: SILENT_MS,
      sentinelRetryStrategy: () => 100,
      reconnectOnError: (error) => error.message.startsWith('READONLY'),
    })
    return { client, end: () => client.disconnect() }
  },
  async 'node-redis'({ sentinels, name, addresses }) {
    const socket = { socketTimeout: SILENT_MS }
    const client = require('redis').createSentinel({
      name,
      sentinelRootNodes: sentinels,
      nodeAddressMap: addresses,
      scanInterval: 1000,
      nodeClientOptions: { socket, pingInterval: 1000 },
      sentinelClientOptions: { socket, pingInterval: 1000 },
    })
    return connected(client)
  },
  async 'cluster of ioredis'({ nodes, addresses }) {
    const { Cluster } = require('ioredis')
    const client = new Cluster(nodes, {
      natMap: addresses,
      clusterRetryStrategy: () => 100,
      redisOptions: { socketTimeout: SILENT_MS },
    })
    client.on('error', () => {}) // it retries without help
    return { client, end: () => client.disconnect() }
  },
  async 'cluster of node-redis'({ nodes, addresses }) {
    const client = require('redis').createCluster({
      rootNodes: nodes.map((socket) => ({ socket })),
      nodeAddressMap: addresses,
      defaults: { socket: { socketTimeout: SILENT_MS }, pingInterval: 1000 },
    })
    return connected(client)
  },
}

/** A client of node-redis. One that does not get a connection keeps trying unless it is destroyed. */
async function connected(client) {
  client.on('error', () => {}) // it retries without help
  try {
    await client.connect()
  } catch (error) {
    client.destroy()
    throw error
  }
  return { client, end: () => client.destroy() }
}

async function connect(join) {
  try {
    return await CLIENTS[join.client](join)
  } catch (cause) {
    throw Object.assign(new Error('no primary is known', { cause }), { code: 'ERR_FLAKE_STORE' })
  }
}

/**
 * @param {{ join: { client: string, name?: string, sentinels?: object[], nodes?: object[], addresses: object },
 *   options: object }} task `addresses`: where to connect to, for each address that servers announce
 */
async function joinByOwnClient({ join, options }) {
  const { client, end } = await connect(join)
  try {
    const flake = await FlakeId.join(redisStore(client), options)
    return { flake, close: () => flake.close().finally(end) }
  } catch (error) {
    end()
    throw error
  }
}

module.exports = { joinByOwnClient }
