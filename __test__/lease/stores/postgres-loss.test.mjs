// A PostgreSQL that lost what it acknowledged: truncated, restored, failed over. Whatever it was, no window may be granted
// that touches one from before.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import anyTest from 'ava'
import { CLIENTS, startPostgres, startStandby } from '../../servers/postgres.mjs'
import { findProgram, until } from '../../servers/server.mjs'
import { DATABASES, startDurable } from './databases.mjs'
import { testLosses, withDirectoryPutBack } from './loss.mjs'

const run = promisify(execFile)
const { postgres } = DATABASES

let shared
let databases = 0

anyTest.before(async () => {
  if (postgres.isInstalled()) shared = await startPostgres()
})

anyTest.after.always(() => shared?.stop())

/** A database that only this test uses. */
async function place(t) {
  const name = `database${databases++}`
  await shared.query(`CREATE DATABASE ${name}`)
  const url = shared.url.replace(/postgres$/, name)
  const { client, end } = CLIENTS.pg(url)
  t.teardown(end)
  return { server: { query: (...words) => client.query(...words) }, url }
}

async function dumpAndRestore({ url }) {
  const { stdout } = await run(findProgram('pg_dump'), ['--clean', url])
  const restoring = run(findProgram('psql'), ['--no-psqlrc', '--quiet', '-v', 'ON_ERROR_STOP=1', url])
  restoring.child.stdin.end(stdout)
  await restoring
}

testLosses(postgres, {
  place,
  losses: {
    TRUNCATE: ({ server }) => server.query('TRUNCATE flakeforge_record'),
    'the table dropped': ({ server }) => server.query('DROP TABLE flakeforge_record'),
    'a dump restored': dumpAndRestore,
  },
  rollbacks: {
    'a data directory put back': async (t) => withDirectoryPutBack(await startDurable(t, postgres), 'SIGINT'),
    'a standby promoted': async (t) => {
      const { server: primary, url } = await startDurable(t, postgres)
      const standby = await startStandby(primary)
      t.teardown(() => standby.stop())
      const lose = async () => {
        await postgres.crash(primary)
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
  isFit: false,
})
