// What keeps a process alive after close() of a generator, on the user's own client whose server has stopped answering:
// nothing of ours. Each case runs in a separate process, which stops the server itself.

import anyTest from 'ava'
import { startEtcd, wantEtcd } from '../servers/etcd.mjs'
import { startMysql, wantMysql } from '../servers/mysql.mjs'
import { startPostgres, wantPostgres } from '../servers/postgres.mjs'
import { startRedis, wantRedis } from '../servers/redis.mjs'
import { stopAfter } from '../servers/server.mjs'
import { jsonOfChild } from '../support/index.mjs'
import { testInTurn } from '../support/turns.mjs'

const OPTIONS = `{ group: 'g', slots: 2, ttlMs: 6000, skewMs: 1000 }`

const stops = ({ pid }) => `process.kill(${pid}, 'SIGSTOP')`
const resumes = ({ pid }) => process.kill(pid, 'SIGCONT')

/** `makes()`: the store of a client that has no timers itself. `stops()`: makes its server stop answering. */
const CASES = {
  'a Pool of pg': {
    isThere: wantPostgres(),
    start: startPostgres,
    makes: ({ url }) => `
      const { default: pg } = await import('pg')
      const store = lease.postgresStore(new pg.Pool({ connectionString: '${url}', idleTimeoutMillis: 0 }))`,
    // A commit that waits for a standby.
    stops: ({ url }) => `
      const admin = new pg.Client({ connectionString: '${url}' })
      await admin.connect()
      await admin.query("ALTER SYSTEM SET synchronous_standby_names = 'absent'")
      await admin.query('SELECT pg_reload_conf()')
      await admin.end()`,
  },
  'a pool of mysql2': {
    isThere: wantMysql(),
    start: () => startMysql(),
    makes: ({ url }) => `
      const { default: mysql2 } = await import('mysql2/promise')
      const store = lease.mysqlStore(mysql2.createPool({ uri: '${url}ids', connectTimeout: 0 }))`,
    prepare: (server) => server.query('CREATE DATABASE ids'),
    stops,
    resumes,
  },
  ioredis: {
    isThere: wantRedis(),
    start: () => startRedis(),
    makes: ({ url }) => `
      const { Redis } = await import('ioredis')
      const store = lease.redisStore(new Redis('${url}'))`,
    stops,
    resumes,
  },
  'the endpoints of etcd': {
    isThere: wantEtcd(),
    start: () => startEtcd(),
    makes: ({ url }) => `const store = lease.etcdStore({ endpoints: '${url}' })`,
    stops,
    resumes,
  },
}

for (const [name, { isThere, start, prepare = () => {}, makes, stops, resumes = () => {} }] of Object.entries(CASES)) {
  const test = testInTurn(isThere === undefined ? anyTest.skip : anyTest, 2)
  for (const when of ['while a renewal has no answer', 'when nothing is in progress']) {
    test(`${name}: close() ${when} leaves nothing waiting`, async (t) => {
      const server = stopAfter(t, await start())
      await prepare(server)
      t.teardown(() => resumes(server))
      const waits = when.startsWith('while')
        ? `await new Promise((resolve) => flake.on('renewal-failed', resolve))`
        : ''
      const left = await jsonOfChild(
        t,
        `${makes(server)}
        await FlakeId.createGroup(store, ${OPTIONS})
        const flake = await FlakeId.join(store, ${OPTIONS})
        const alive = setInterval(() => {}, 1_000_000)
        ${stops(server)}
        ${waits}
        clearInterval(alive)
        await flake.close().catch(() => {})
        for (let i = 0; i < 5; i++) await new Promise(setImmediate)
        console.log(JSON.stringify(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout')))
        process.exit()`,
        ['--no-warnings'],
      )
      t.deepEqual(left, [])
    })
  }
}
