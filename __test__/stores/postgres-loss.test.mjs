// A PostgreSQL that lost acknowledged writes: truncated, restored, failed over. In each case, no window may be granted
// that touches an earlier one.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import anyTest from 'ava'
import { CLIENTS, startPostgres, startStandby, stopWalWriter, takeBackup } from '../servers/postgres.mjs'
import { startProxy } from '../servers/proxy.mjs'
import { findProgram, stopAfter, until } from '../servers/server.mjs'
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

/** Writes that a standby or a backup does not have. */
const writeMore = (server) => server.query("SELECT pg_logical_emit_message(false, 'more', repeat('x', 100000))")

const { test, hold, memberOf } = testLosses(postgres, {
  place,
  losses: {
    TRUNCATE: ({ server }) => server.query('TRUNCATE flakeforge_record'),
    'the table dropped': ({ server }) => server.query('DROP TABLE flakeforge_record'),
    'a dump restored': dumpAndRestore,
  },
  rollbacks: {
    'a data directory restored': async (t) => withDirectoryPutBack(await startDurable(t, postgres), 'SIGINT'),
    'a base backup started in its place, and durable': async (t) => {
      const { server, url } = await startDurable(t, postgres)
      const mark = async () => {
        const putBack = await takeBackup(server)
        return async () => {
          await writeMore(server)
          await putBack()
          return url
        }
      }
      return { url, mark, durable: true }
    },
    'a standby promoted': async (t) => {
      const { server: primary, url } = await startDurable(t, postgres)
      const standby = stopAfter(t, await startStandby(primary))
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

const DURABLE = { fingerprint: 'f', slots: 4, ttlMs: 60_000, skewMs: 500, durable: true }

test('durable: a crash that loses only unacknowledged writes is not a loss', async (t) => {
  const { server, url } = await startDurable(t, postgres)
  const member = await hold(t, url, DURABLE)
  t.is(await member.advance(10n, 0n), 0n)
  const pid = await stopWalWriter(server) // or it would write that to disk soon
  await writeMore(server)
  await member.store.list('orders') // sees the position of the log
  process.kill(pid, 'SIGKILL') // the server treats it as a crash
  await postgres.crash(server)
  await server.start()
  t.is((await member.renew()).lo, member.grant.lo)
  t.is(await member.advance(10n), 10n)
  t.truthy(await memberOf(t, url, DURABLE).acquire(), 'not quiet')
})

test('durable: a promotion that rewinds the log is one quiet period, and no more', async (t) => {
  const { server: primary } = await startDurable(t, postgres)
  const proxy = stopAfter(t, await startProxy(primary.port))
  const url = primary.url.replace(String(primary.port), String(proxy.port))
  const member = await hold(t, url, DURABLE)
  const standby = stopAfter(t, await startStandby(primary, { fsync: 'on' }))
  await standby.kill('SIGQUIT')
  await writeMore(primary)
  await member.renew()
  await primary.kill('SIGQUIT')
  await standby.start()
  await standby.query('SELECT pg_promote(true)')
  proxy.leadTo(standby.port)

  const { lo } = member.grant
  t.is((await member.renew()).lo, lo)
  const newcomer = memberOf(t, url, DURABLE)
  await t.throwsAsync(newcomer.acquire(), { code: 'ERR_FLAKE_QUIET' })
  await member.endQuiet()
  for (let i = 0; i < 2; i++) {
    t.is((await member.renew()).lo, lo)
    t.is((await member.store.list('orders')).length, i + 1)
    t.truthy(await (i === 0 ? newcomer : memberOf(t, url, DURABLE)).acquire())
  }
})
