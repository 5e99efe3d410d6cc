'use strict'

// MariaDB under faults: a server, and a replica that follows it. Only the members write to it.

const { ReplicatedServer } = require('./replicated.js')

const helpers = import('../../../__test__/servers/mysql.mjs')

const DATABASE = 'chaos'

let servers = 0

/** Each server has a different number, and may be followed. */
function settings() {
  servers++
  return { 'server-id': servers, 'log-bin': 'log', 'log-slave-updates': 1 }
}

const MYSQL = {
  urlAt: (port) => `mysql://root@127.0.0.1:${port}/${DATABASE}`,
  restartSignals: ['SIGKILL', 'SIGTERM'],
  crashSignal: 'SIGKILL',

  async startPrimary() {
    const { startMysql } = await helpers
    const server = await startMysql(settings())
    await server.query(`CREATE DATABASE ${DATABASE}`)
    return server
  },

  async startReplica(port) {
    const { startReplica } = await helpers
    return startReplica({ port }, settings())
  },

  startAgain: (server) => server.start(),
  // A replica that has just begun to follow may not have the database yet.
  promote: (replica) => replica.query(`STOP SLAVE; RESET SLAVE ALL; CREATE DATABASE IF NOT EXISTS ${DATABASE}`),
}

/** Undefined where MariaDB is not installed. */
async function start(events) {
  const { wantMysql } = await helpers
  return wantMysql() ? ReplicatedServer.start(MYSQL, events) : undefined
}

module.exports = { start }
