// A PostgreSQL that lost what it acknowledged: truncated, restored, failed over. Whatever it was, no window may be granted
// that touches one from before.

import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import anyTest from 'ava'
import { CLIENTS, startPostgres, startStandby, wantPostgres } from '../../servers/postgres.mjs'
import { findProgram, until } from '../../servers/server.mjs'
import { testLosses, withDirectoryPutBack } from './store-loss.mjs'

const require = createRequire(import.meta.url)
const { PostgresRecords } = require('../../../lib/lease/stores/postgres/records.js')
const { openClient } = require('../../../lib/lease/stores/postgres/url.js')

const run = promisify(execFile)

let shared
let databases = 0

anyTest.before(async () => {
  if (wantPostgres() !== undefined) shared = await startPostgres()
})

anyTest.after.always(() => shared?.stop())

/** A database that only this test uses, and `query` for it. */
async function place(t) {
  const name = `database${databases++}`
  await shared.query(`CREATE DATABASE ${name}`)
  const url = shared.url.replace(/postgres$/, name)
  const { client, end } = CLIENTS.pg(url)
  t.teardown(end)
  return { url, query: (...words) => client.query(...words) }
}

async function alone(t) {
  const server = await startPostgres({ fsync: 'on' })
  t.teardown(() => server.stop())
  return { server, url: server.url }
}

async function dumpAndRestore({ url }) {
  const { stdout } = await run(findProgram('pg_dump'), ['--clean', url])
  const restoring = run(findProgram('psql'), ['--no-psqlrc', '--quiet', '-v', 'ON_ERROR_STOP=1', url])
  restoring.child.stdin.end(stdout)
  await restoring
}

testLosses({
  isThere: wantPostgres() !== undefined,
  place,
  alone,
  crash: (server) => server.kill('SIGQUIT'), // ends the processes of its sessions too
  recordsOf: (url) => new PostgresRecords(openClient(url)),
  remove: ({ query }, group, name) =>
    query('DELETE FROM flakeforge_record WHERE group_name = $1 AND name = $2', [group, name]),
  losses: {
    TRUNCATE: ({ query }) => query('TRUNCATE flakeforge_record'),
    'the table dropped': ({ query }) => query('DROP TABLE flakeforge_record'),
    'a dump restored': dumpAndRestore,
  },
  rollbacks: {
    'a data directory put back': async (t) => withDirectoryPutBack(await alone(t), 'SIGINT'),
    'a standby promoted': async (t) => {
      const { server: primary, url } = await alone(t)
      const standby = await startStandby(primary)
      t.teardown(() => standby.stop())
      const lose = async () => {
        await primary.kill('SIGQUIT')
        return standby.url
      }
      const mark = async () => {
        const [{ written }] = await primary.query('SELECT pg_current_wal_lsn()::text AS written')
        await until(async () => {
          const [{ isThere }] = await standby.query('SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS "isThere"', [
            written,
          ])
          return isThere
        })
        await standby.query('SELECT pg_promote(true)')
        return lose
      }
      return { url, mark }
    },
  },
  isLossy: true,
  isFit: false,
})
