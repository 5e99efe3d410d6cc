// Commands that only look at a store create nothing there: no table, key, folder or transaction. Each store counts all
// its writes.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import anyTest from 'ava'
import { startEtcd, wantEtcd } from '../servers/etcd.mjs'
import { startMysql, wantMysql } from '../servers/mysql.mjs'
import { startPostgres, wantPostgres } from '../servers/postgres.mjs'
import { startRedis, wantRedis } from '../servers/redis.mjs'
import { stopAfter } from '../servers/server.mjs'
import { run } from '../support/command.mjs'
import { diskFolder } from '../support/processes.mjs'

const { openStore } = createRequire(import.meta.url)('../../target/rooms/lib/stores/open.js')

const STORES = {
  redis: {
    isInstalled: () => wantRedis() !== undefined,
    start: () => startRedis(),
    urlOf: ({ url }) => url,
    written: async ({ cli }) => /rdb_changes_since_last_save:(\d+)/.exec(await cli('INFO', 'persistence'))[1],
  },
  postgres: {
    isInstalled: () => wantPostgres() !== undefined,
    start: () => startPostgres({ autovacuum: 'off' }),
    urlOf: ({ url }) => url,
    written: async (server) =>
      (await server.query('SELECT txid_snapshot_xmax(txid_current_snapshot()) AS next'))[0].next,
  },
  mysql: {
    isInstalled: () => wantMysql() !== undefined,
    start: async () => {
      const server = await startMysql({ 'log-bin': 'log', 'sync-binlog': 0 })
      await server.query('CREATE DATABASE ids')
      return server
    },
    urlOf: (server) => server.urlOf('ids'),
    written: async (server) => (await server.query('SELECT @@gtid_binlog_pos AS gtid'))[0].gtid,
  },
  etcd: {
    isInstalled: () => wantEtcd() !== undefined,
    start: () => startEtcd(),
    urlOf: ({ url }) => url.replace(/^http:/, 'etcd:'),
    written: async (server) => JSON.parse(await server.ctl('get', 'nothing', '-w', 'json')).header.revision,
  },
}

const LOOKS = (store) => [
  ['slots', store],
  ['slots', store, '--json'],
  ['slots', store, '--group', 'g'],
]

for (const [name, { isInstalled, start, urlOf, written }] of Object.entries(STORES)) {
  const test = isInstalled() ? anyTest : anyTest.skip
  test(`${name}: commands that look write nothing, and report that nothing is there`, async (t) => {
    const server = stopAfter(t, await start())
    const before = await written(server)
    for (const args of LOOKS(urlOf(server))) {
      const { stdout, stderr } = await run(args)
      t.regex(stdout + stderr, args.includes('--json') ? /^$|no group/ : /no group/i, args.join(' '))
      t.is(await written(server), before, args.join(' '))
    }
    const store = openStore(urlOf(server)) // the commands first ask for the names of groups
    t.teardown(() => store.close())
    t.deepEqual(await store.list('g'), [])
    t.false(await store.has('g'))
    t.is(await written(server), before)
    t.is((await run(['create', urlOf(server), 'g', '--skew', '0'])).code, 0)
    t.not(await written(server), before, 'this does count writes')
    const made = await written(server)
    t.is((await run(['slots', urlOf(server), '--group', 'g'])).code, 0)
    t.is(await written(server), made)
  })
}

anyTest('a folder: commands that look create nothing in it', async (t) => {
  const folder = path.join(diskFolder(t), 'ids')
  for (const isThere of [false, true]) {
    if (isThere) fs.mkdirSync(folder)
    for (const args of LOOKS(folder)) {
      await run(args)
      t.is(fs.existsSync(folder), isThere, args.join(' '))
      if (isThere) t.deepEqual(fs.readdirSync(folder), [], args.join(' '))
    }
  }
})
