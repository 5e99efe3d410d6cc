// A MariaDB that lost what it acknowledged: truncated, restored, failed over. Whatever it was, no window may be granted that
// touches one from before.

import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import anyTest from 'ava'
import { startMysql, startReplica, untilCaughtUp, wantMysql } from '../../servers/mysql.mjs'
import { findProgram, until } from '../../servers/server.mjs'
import { testLosses, withDirectoryPutBack } from './store-loss.mjs'

const require = createRequire(import.meta.url)
const { MysqlRecords } = require('../../../lib/lease/stores/mysql/records.js')
const { openClient } = require('../../../lib/lease/stores/mysql/url.js')

const run = promisify(execFile)

let shared
let databases = 0

anyTest.before(async () => {
  if (wantMysql() !== undefined) shared = await startMysql()
})

anyTest.after.always(() => shared?.stop())

/** A database that only this test uses. */
async function place() {
  const database = `database${databases++}`
  return { database, url: await shared.freshUrl(database) }
}

async function alone(t, settings) {
  const server = await startMysql({ 'innodb-flush-method': 'fsync', ...settings })
  t.teardown(() => server.stop())
  return { server, url: await server.freshUrl('ids') }
}

async function dumpAndRestore({ database }) {
  const options = ['--host=127.0.0.1', `--port=${shared.port}`, '--user=root', database]
  const now = async () => (await shared.query('SELECT UNIX_TIMESTAMP() AS now'))[0].now
  const { stdout } = await run(findProgram('mariadb-dump'), options)
  const dumped = await now()
  await until(async () => (await now()) > dumped) // what tells the new table from the old one has whole seconds
  const restoring = run(findProgram('mariadb'), options)
  restoring.child.stdin.end(stdout)
  await restoring
}

testLosses({
  isThere: wantMysql() !== undefined,
  place,
  alone,
  crash: (server) => server.kill(),
  recordsOf: (url) => new MysqlRecords(openClient(url)),
  remove: ({ database }, group, name) =>
    shared.query(`DELETE FROM ${database}.flakeforge_record WHERE group_name = ? AND name = ?`, [group, name]),
  losses: {
    TRUNCATE: ({ database }) => shared.query(`TRUNCATE ${database}.flakeforge_record`),
    'the table dropped': ({ database }) => shared.query(`DROP TABLE ${database}.flakeforge_record`),
    'a dump restored': dumpAndRestore,
  },
  rollbacks: {
    'a data directory put back': async (t) => withDirectoryPutBack(await alone(t), 'SIGTERM'),
    'a replica promoted': async (t) => {
      const { server: primary, url } = await alone(t, { 'server-id': 1, 'log-bin': 'log' })
      const replica = await startReplica(primary, { 'log-bin': 'log', 'read-only': 1 })
      t.teardown(() => replica.stop())
      const lose = async () => {
        await primary.kill()
        return replica.urlOf('ids')
      }
      const mark = async () => {
        await untilCaughtUp(replica, primary)
        await replica.query('STOP SLAVE; RESET SLAVE ALL; SET GLOBAL read_only = 0')
        return lose
      }
      return { url, mark }
    },
  },
  isLossy: true,
  isFit: false,
})
