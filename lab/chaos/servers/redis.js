'use strict'

// Redis under faults: it saves its data every few seconds, so that a kill loses what it acknowledged since. Only the
// members and the faults write to it.

const { ReplicatedServer } = require('./replicated.js')

const helpers = import('../../../__test__/servers/redis.mjs')

const SAVES = '3 1' // after this many seconds with a change

const saveOften = (server) => server.cli('CONFIG', 'SET', 'save', SAVES)

const REDIS = {
  urlAt: (port) => `redis://127.0.0.1:${port}`,
  restartSignals: ['SIGKILL', 'SIGTERM'],
  crashSignal: 'SIGKILL',
  losses: [{ count: 'FLUSHALL', lose: (server) => server.cli('FLUSHALL') }],

  async startPrimary() {
    const { startRedis } = await helpers
    const server = await startRedis()
    await saveOften(server)
    return server
  },

  async startReplica(port) {
    const { startRedis, untilLinked } = await helpers
    const replica = await startRedis('--replicaof', `127.0.0.1 ${port}`) // through a proxy, which answers no questions
    await untilLinked(replica)
    return replica
  },

  async startAgain(server) {
    await server.start()
    await saveOften(server)
  },

  async promote(replica) {
    await replica.cli('REPLICAOF', 'NO', 'ONE')
    leadItself(replica)
    await saveOften(replica)
  },
}

/** After a restart too, a server that was promoted is no longer a replica. */
function leadItself(server) {
  const at = server.command.indexOf('--replicaof')
  server.command.splice(at, 2)
}

/** Undefined where Redis is not installed. */
async function start(events) {
  const { wantRedis } = await helpers
  return wantRedis() ? ReplicatedServer.start(REDIS, events) : undefined
}

module.exports = { start }
