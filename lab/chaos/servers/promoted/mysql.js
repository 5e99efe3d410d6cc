'use strict'

// MariaDB with semi-sync, promoted by hand. Its only replica is promoted; then, on the old primary, a watchdog kills
// commits that wait for a replica, and a monitor resets the counters that show it. In the control, the primary has two
// semi-sync replicas, one of which has a replica of its own and is promoted: two primaries, both with replicas.

const { setTimeout: sleep } = require('node:timers/promises')
const { within } = require('../../faults/within.js')

const helpers = import('../../../../__test__/servers/mysql.mjs')

const DATABASE = 'chaos'
const LONGEST_MS = 60_000
const WATCHDOG_MS = 500
/** LOCAL: otherwise it is written to the binary log, and waits for a replica itself. */
const RESET = 'FLUSH LOCAL STATUS'
const WAITING = `SELECT ID AS id FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for semi-sync%'`
const NO_SUCH_SESSION = 1094

const settingsOf = (id) => ({
  'server-id': id,
  'log-bin': 'log',
  'log-slave-updates': 1,
  'sync-binlog': 1,
  'gtid-strict-mode': 1,
  'rpl-semi-sync-slave-enabled': 1,
  'rpl-semi-sync-master-timeout': 3_600_000,
  'rpl-semi-sync-master-wait-point': 'AFTER_SYNC',
})

/** Its commits wait for a replica from now on; it must have this many. */
async function enable(server, replicas) {
  await server.query('SET GLOBAL rpl_semi_sync_master_enabled = 1')
  await within(LONGEST_MS, `no ${replicas} semi-sync replicas`, async () => {
    const [{ Value }] = await server.query(`SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_master_clients'`)
    return Number(Value) === replicas
  })
}

/** Kills what waits, and resets the counters before and afterwards. */
async function meddle(server, count) {
  const waiting = await server.query(WAITING)
  await server.query(RESET)
  count('counters reset')
  for (const { id } of waiting) {
    await server.query(`KILL QUERY ${id}`).catch((error) => {
      if (error.errno !== NO_SUCH_SESSION) throw error
    })
    count('commits killed')
  }
  await server.query(RESET)
  count('counters reset')
}

async function startMysql({ isSafe, count }) {
  const { startMysql, startReplica } = await helpers
  const old = await startMysql(settingsOf(1))
  await old.query(`CREATE DATABASE ${DATABASE}`)
  const next = await startReplica(old, settingsOf(2))
  const others = isSafe ? [] : [await startReplica(old, settingsOf(3)), await startReplica(next, settingsOf(4))]
  await enable(old, isSafe ? 1 : 2)
  let isOver = false
  let meddling
  return {
    urlAt: (port) => `mysql://root@127.0.0.1:${port}/${DATABASE}`,
    old,
    next,
    async promote() {
      await next.query('STOP SLAVE; RESET SLAVE ALL')
      count('promotions')
      if (!isSafe) return enable(next, 1)
      const go = async () => {
        for (; !isOver; await sleep(Math.random() * WATCHDOG_MS)) await meddle(old, count)
      }
      meddling = go()
      meddling.catch(() => {}) // stop() reports it
    },
    async stop() {
      isOver = true
      try {
        await meddling
      } finally {
        await Promise.all([old, next, ...others].map((server) => server.stop()))
      }
    },
  }
}

module.exports = {
  want: async () => (await helpers).wantMysql() !== undefined,
  safe: 'one replica; commits are killed and counters reset',
  control: 'mysql, two replicas, one with a replica of its own',
  start: startMysql,
}
