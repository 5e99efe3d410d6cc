// A MariaDB that lost acknowledged writes: truncated, restored, failed over. In each case, no window may be granted
// that touches an earlier one.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { startReplica, untilCaughtUp } from '../servers/mysql.mjs'
import { findProgram, stopAfter, until } from '../servers/server.mjs'
import { DATABASES, startDurable } from './databases.mjs'
import { testLosses, withDirectoryPutBack } from './loss.mjs'
import { freshUrl, server as shared } from './mysql-shared.mjs'

const run = promisify(execFile)
const { mysql } = DATABASES

/** A database that only this test uses. */
async function place() {
  const url = await freshUrl()
  const database = new URL(url).pathname.slice(1)
  return { server: { database, query: (...words) => shared.query(...words) }, url }
}

async function dumpAndRestore({ server: { database } }) {
  const options = ['--host=127.0.0.1', `--port=${shared.port}`, '--user=root', database]
  const now = async () => (await shared.query('SELECT UNIX_TIMESTAMP() AS now'))[0].now
  const { stdout } = await run(findProgram('mariadb-dump'), options)
  const dumped = await now()
  await until(async () => (await now()) > dumped) // the times that distinguish the new table from the old one are whole seconds
  const restoring = run(findProgram('mariadb'), options)
  restoring.child.stdin.end(stdout)
  await restoring
}

testLosses(mysql, {
  place,
  losses: {
    TRUNCATE: ({ server: { database } }) => shared.query(`TRUNCATE ${database}.flakeforge_record`),
    'the table dropped': ({ server: { database } }) => shared.query(`DROP TABLE ${database}.flakeforge_record`),
    'a dump restored': dumpAndRestore,
  },
  rollbacks: {
    'a data directory restored': async (t) => withDirectoryPutBack(await startDurable(t, mysql), 'SIGTERM'),
    'a replica promoted': async (t) => {
      const { server: primary, url } = await startDurable(t, mysql, { 'server-id': 1, 'log-bin': 'log' })
      const replica = stopAfter(t, await startReplica(primary, { 'log-bin': 'log', 'read-only': 1 }))
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
  isFit: false,
})
