// The Redis store's errors when the server definitely refuses, and how much it leaves behind on a paused server.

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import anyTest from 'ava'
import { Redis } from 'ioredis'
import { createClient, createClientPool } from 'redis'
import { CLIENTS, startRedis, wantRedis } from '../servers/redis.mjs'
import { stopAfter, until } from '../servers/server.mjs'
import { put } from '../support/records.mjs'
import { stepsOf } from '../support/steps.mjs'
import { stopProcess } from '../support/stop-process.mjs'
import { testInTurn } from '../support/turns.mjs'

const require = createRequire(import.meta.url)
const { isRefusedWrite } = require('../../target/rooms/lib/base/errors.js')
const { redisStore } = require('../../target/rooms/lib/stores/redis.js')

const test = testInTurn(wantRedis() === undefined ? anyTest.skip : anyTest, 8)

const RIGHTS = '+evalsha +eval +time +info +select +wait +client|info +hget +hmget +hset +hkeys'

async function start(t, ...options) {
  return stopAfter(t, await startRedis(...options))
}

/** Records over a client of this package for a user with these rights. */
async function connectAs(t, name, server, rights) {
  await server.cli('ACL', 'SETUSER', 'app', 'on', '>pw', 'resetkeys', '~flakeforge:*', '-@all', ...rights)
  const { client, end } = await CLIENTS[name]({ url: server.url.replace('//', '//app:pw@') })
  t.teardown(end)
  return redisStore(client).records
}

/** The error of a swap that the server definitely refuses, which ends a step. */
async function refused(t, swap, message) {
  const error = await t.throwsAsync(swap, { code: 'ERR_FLAKE_STORE', message })
  t.true(isRefusedWrite(error))
  t.true(error.cause instanceof Error)
}

for (const name of Object.keys(CLIENTS)) {
  test(`${name}: a user without a right gets an error with the required rights`, async (t) => {
    const server = await start(t)
    const all = RIGHTS.split(' ')
    for (const missing of ['+hset', '+info', '+hget', '+time', '+evalsha']) {
      const records = await connectAs(
        t,
        name,
        server,
        all.filter((right) => right !== missing),
      )
      await refused(t, put(records, 'g', 'group', 'text'), new RegExp(RIGHTS.replaceAll(/[+|]/g, '\\$&')))
      await server.cli('ACL', 'DELUSER', 'app')
    }
  })

  test(`${name}: a user without the keys gets an error with the required keys`, async (t) => {
    const server = await start(t)
    const records = await connectAs(t, name, server, ['resetkeys', '~other:*', '+@all'])
    await refused(t, put(records, 'g', 'group', 'text'), /~flakeforge:\*/)
  })

  test(`${name}: a server that cannot save refuses`, async (t) => {
    const server = await start(t, '--save', '3600 1', '--dbfilename', 'dump.rdb')
    const { client, end } = await CLIENTS[name](server)
    t.teardown(end)
    const { records } = redisStore(client)
    await put(records, 'g', 'group', 'text')
    await server.cli('CONFIG', 'SET', 'rdb-key-save-delay', '10000000')
    await server.cli('BGSAVE')
    await until(async () => (await server.cli('INFO', 'persistence')).includes('rdb_bgsave_in_progress:1'))
    await endChildren(server)
    await until(async () => (await server.cli('INFO', 'persistence')).includes('rdb_last_bgsave_status:err'))
    await refused(t, put(records, 'g', 'group', 'other'), /MISCONF.*disk/)
  })
}

/** Kills the process that saves, which a server treats as a failure. */
async function endChildren({ pid }) {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  for (const child of children.split(' ').filter(Boolean)) process.kill(Number(child), 'SIGKILL')
}

test('the rights in the errors are those in the docs', async (t) => {
  const page = await readFile(new URL('../../docs/store/redis.md', import.meta.url), 'utf8')
  t.true(page.includes(`-@all ${RIGHTS}\n`))
})

test('a step whose write is refused ends at once', async (t) => {
  const server = await start(t)
  const client = new Redis(server.port)
  t.teardown(() => client.disconnect())
  const store = redisStore(client)
  await server.cli('CONFIG', 'SET', 'maxmemory', '1')
  await t.throwsAsync(stepsOf(store, 'g').acquire({ joins: true }), { code: 'ERR_FLAKE_STORE', message: /OOM/ })
  const [, calls] = /cmdstat_evalsha:calls=(\d+)/.exec(await server.cli('INFO', 'commandstats')) ?? [null, '0']
  t.true(Number(calls) < 10, `${calls} scripts`)
})

// A paused server

const numberOf = async (server, pattern) => Number(pattern.exec(await server.cli('INFO', 'all'))?.[1] ?? 0)
const connectionsOf = (server) => numberOf(server, /connected_clients:(\d+)/)

const GIVEN_UP = { code: 'ERR_FLAKE_STORE', message: /aborted/ }
const MEMBERS = 20

/** How a user opens each: one client for all members. */
const SHARED = {
  ioredis: async ({ port }) => {
    const client = new Redis(port)
    return { client, end: () => client.disconnect() }
  },
  'node-redis': async ({ url }) => {
    const client = await createClient({ url }).connect()
    return { client, end: () => client.destroy() }
  },
  'a pool of node-redis': async ({ url }) => {
    const client = await createClientPool({ url }, { minimum: 1, maximum: 100 }).connect()
    return { client, end: () => client.destroy() }
  },
}

for (const [name, connect] of Object.entries(SHARED)) {
  test(`${name}: a paused server gets one call of each member when it resumes`, async (t) => {
    const server = await start(t)
    const { client, end } = await connect(server)
    t.teardown(end)
    const all = Array.from({ length: MEMBERS }, () => redisStore(client).records)
    await Promise.all(all.map((records) => records.read('g', ['group'])))
    const { identity } = await all[0].read('g', ['group'])
    await put(all[0], 'g', 'other', 'text') // the server knows the script
    await server.cli('CONFIG', 'RESETSTAT')
    const before = await connectionsOf(server)
    await stopProcess(server.pid)
    for (let i = 0; i < 5; i++) {
      const swaps = all.map((records, n) =>
        records.swap('g', 'group', null, `${i} ${n}`, identity, AbortSignal.timeout(50)),
      )
      for (const swap of swaps) await t.throwsAsync(swap, GIVEN_UP)
    }
    process.kill(server.pid, 'SIGCONT')
    await until(async () => (await numberOf(server, /cmdstat_evalsha:calls=(\d+)/)) === MEMBERS)
    const connections = await connectionsOf(server)
    t.true(connections <= before, `${connections} connections instead of ${before}`)
    await all[0].read('g', ['group'])
    t.is(await numberOf(server, /cmdstat_evalsha:calls=(\d+)/), MEMBERS + 1, 'nothing was kept for later')
  })
}
