'use strict'

// MariaDB with a semi-synchronous and an asynchronous replica under faults. Every other server writes its binary log to
// disk at each commit (sync_binlog 1), the others leave that to the system (0). Only the members write to it.

const { StandbysUnderFaults } = require('./standbys.js')

const helpers = import('../../../__test__/servers/mysql.mjs')

const DATABASE = 'chaos'
/** Longer than any run: a primary without a replica's answer must not continue alone. */
const FOR_EVER_MS = 3_600_000

let servers = 0

/** Each server has a different number, and may lead. */
function settingsOf({ port }) {
  servers++
  return {
    port,
    'server-id': servers,
    'log-bin': 'log',
    'log-slave-updates': 1,
    'sync-binlog': servers % 2,
    'rpl-semi-sync-master-timeout': FOR_EVER_MS,
    'rpl-semi-sync-master-wait-point': 'AFTER_SYNC',
  }
}

const MARIADB = {
  urlAt: ({ host, port }) => `mysql://root@${host}:${port}/${DATABASE}`,
  crashSignal: 'SIGKILL',

  async startPrimary(place) {
    const { startMysql } = await helpers
    const server = await startMysql(settingsOf(place), {}, place.machine)
    await server.query(`CREATE DATABASE ${DATABASE}`)
    return server
  },

  async follow(lead, others) {
    const { startReplica, untilCaughtUp } = await helpers
    await wait(lead, true)
    for (const [i, place] of others.entries()) {
      const settings = { ...settingsOf(place), 'rpl-semi-sync-slave-enabled': i === 0 ? 1 : 0 }
      place.server = await startReplica(lead.address, settings, place.machine)
    }
    for (const { server } of others) await untilCaughtUp(server, lead.server)
  },

  waitForNobody: (lead) => wait(lead, false),

  /** Received writes must be executed before it leads: acknowledged ones may be only there. */
  async promote(server) {
    await server.query('STOP SLAVE IO_THREAD')
    const [{ Gtid_IO_Pos: received }] = await server.query('SHOW SLAVE STATUS')
    await server.query('SELECT MASTER_GTID_WAIT(?, 60)', [received])
    await server.query('STOP SLAVE; RESET SLAVE ALL')
  },

  endCommits: { 'killed commits': killWaiting },
}

const WAITING = `SELECT ID AS id FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for semi-sync%'`
const NO_SUCH_SESSION = 1094

/** MariaDB answers such a statement with an ordinary OK. */
async function killWaiting(server) {
  const waiting = await server.query(WAITING)
  for (const { id } of waiting) await server.query(`KILL QUERY ${id}`).catch(ignoreEnded)
  return waiting.length
}

function ignoreEnded(error) {
  if (error.errno !== NO_SUCH_SESSION) throw error
}

/** Whether commits wait for a replica, after a restart too. */
async function wait({ server }, isOn) {
  await server.query(`SET GLOBAL rpl_semi_sync_master_enabled = ${isOn ? 1 : 0}`)
  server.command.push(`--rpl-semi-sync-master-enabled=${isOn ? 1 : 0}`)
}

/** Undefined where MariaDB is not installed. */
async function start(events) {
  const { wantMysql } = await helpers
  return wantMysql() ? StandbysUnderFaults.start(MARIADB, events) : undefined
}

module.exports = { start }
