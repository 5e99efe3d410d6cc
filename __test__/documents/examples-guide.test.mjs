// The pages about stores in docs/store are correct where a server is needed: their programs run on real servers, the
// rights that they name suffice, and their statements about losses are true.

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import anyTest from 'ava'
import { Cluster } from 'ioredis'
import { createCluster } from 'redis'
import { startEtcd, wantEtcd } from '../servers/etcd.mjs'
import { startMysql, wantMysql } from '../servers/mysql.mjs'
import { startPostgres, wantPostgres } from '../servers/postgres.mjs'
import { CLIENTS, startCluster, startRedis, wantRedis } from '../servers/redis.mjs'
import { freshFolder } from '../servers/server.mjs'
import { agrees, promises } from '../support/documents.mjs'

const require = createRequire(import.meta.url)
const { createGroup, FlakeId } = require('flakeforge')
const { redisStore, SegmentId } = require('flakeforge/lease')

const onlyWith = (...programs) => (programs.some((program) => program === undefined) ? anyTest.skip : anyTest)
const onRedis = onlyWith(wantRedis())
const onPostgres = onlyWith(wantPostgres())
const onAll = onlyWith(wantRedis(), wantPostgres(), wantMysql(), wantEtcd())

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (name) => readFileSync(join(root, 'docs', name), 'utf8')

const STORES = ['redis', 'postgresql', 'mysql', 'etcd']

const blocksOf = (text, language) =>
  [...text.matchAll(new RegExp(`^ *\`\`\`${language}\\n(.*?)^ *\`\`\`$`, 'gms'))].map(([, code]) => code)

const run = (...args) => promisify(execFile)(process.execPath, args)
const command = (...args) => run(join(root, 'dist', 'flakeforge.cjs'), ...args)

/** A folder in which the package and its clients are installed. */
async function installed(t) {
  const folder = await freshFolder('guide')
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await mkdir(join(folder, 'node_modules'))
  const link = (from, name) => symlink(from, join(folder, 'node_modules', name), 'junction')
  await link(root, 'flakeforge')
  await Promise.all(['ioredis', 'pg', 'mysql2'].map((name) => link(join(root, 'node_modules', name), name)))
  return folder
}

async function started(t, start, ...options) {
  const server = await start(...options)
  t.teardown(() => server.stop())
  return server
}

/** Runs a program of the guide, whose servers are at their usual ports; returns its output, line by line. */
async function runBlock(folder, i, code, servers) {
  const file = join(folder, `block-${i}.mjs`)
  const here = Object.entries(servers).reduce((text, [there, url]) => text.replaceAll(`'${there}'`, `'${url}'`), code)
  await writeFile(file, here)
  const { stdout, stderr } = await run(file)
  return { lines: stdout.trimEnd().split('\n'), stderr }
}

onAll('every program of the pages runs, and prints what it shows', async (t) => {
  const [redis, postgres, mysql, etcd] = await Promise.all([
    started(t, startRedis),
    started(t, startPostgres, { fsync: 'on' }), // some programs have such comments
    started(t, startMysql),
    started(t, startEtcd),
  ])
  const mysqlUrl = await mysql.freshUrl('app')
  const servers = {
    'redis://localhost': redis.url,
    'postgres://localhost/postgres': postgres.url,
    'mysql://localhost/app': mysqlUrl,
    'http://localhost:2379': etcd.url,
  }
  const urls = [redis.url, postgres.url, mysqlUrl, etcd.url.replace('http:', 'etcd:')]
  await Promise.all(urls.map((url) => command('create', url, 'checkout')))
  const folder = await installed(t)
  const pages = ['choosing', ...STORES, 'segment-id'].map((name) => blocksOf(read(`store/${name}.md`), 'javascript'))
  t.true(pages.every((blocks) => blocks.length > 0))
  const blocks = pages.flat()
  let kept = 0
  for (const [i, code] of blocks.entries()) {
    const { lines, stderr } = await runBlock(folder, i, code, servers)
    t.is(stderr, '', code)
    for (const [line, value] of promises(code).entries()) {
      if (value === undefined) continue
      t.true(agrees(value, lines[line]), `'${value}' is promised, '${lines[line]}' is printed`)
      kept++
    }
  }
  t.true(kept >= 5)
})

const redisPage = read('store/redis.md')
const setUser = /^(ACL SETUSER .*)$/m.exec(redisPage)[1].split(' ')
const [, cluster, forSettings] =
  /A cluster also needs `(.+?)`, and `durable` and `min-replicas-to-write` need `(.+?)`/.exec(
    redisPage.replace(/\s+/g, ' '),
  )
const USER = { username: 'flakeforge', password: 'PASSWORD' }

/** Joins, generates an ID, and leaves. */
async function use(t, store, durable = false) {
  const options = { group: 'orders', skewMs: 100, durable }
  await createGroup(store, options)
  const flake = await FlakeId.join(store, options)
  t.is(flake.next().length, 8)
  await flake.close()
  const segment = await SegmentId.open(store, { name: 'invoices', durable })
  t.is(segment.next().length, 8)
  await segment.close()
}

onRedis('the ACL of the guide suffices on a single server', async (t) => {
  const server = await started(t, startRedis, '--appendonly', 'yes', '--appendfsync', 'always')
  t.is(await server.cli(...setUser), 'OK')
  const url = server.url.replace('redis://', 'redis://flakeforge:PASSWORD@')
  for (const connect of Object.values(CLIENTS)) {
    const { client, end } = await connect({ url })
    client.on('error', (error) => t.fail(error.message))
    await use(t, redisStore(client))
    end()
  }
  await use(t, `${url}/1`)
  await command('slots', `${url}/1`, '--group', 'orders')
  await command('destroy', `${url}/1`, 'orders', '--yes')
  await t.throwsAsync(use(t, `${url}/2`, true), { code: 'ERR_FLAKE_OPTION', message: /config\|get/ })
  await server.cli('ACL', 'SETUSER', 'flakeforge', forSettings)
  await use(t, `${url}/2`, true)
  t.regex(await server.cli('--user', 'flakeforge', '--pass', 'PASSWORD', 'GET', 'flakeforge:x'), /NOPERM/)
})

onRedis('the ACL of the guide suffices on a cluster', async (t) => {
  const nodes = await startCluster()
  t.teardown(() => Promise.all(nodes.map((node) => node.stop())))
  for (const { cli } of nodes) t.is(await cli(...setUser, ...cluster.split(' ')), 'OK')
  // Its own limit of 1 s for the cluster's slots is short on a busy machine.
  const io = new Cluster([nodes[0].url], { redisOptions: USER, slotsRefreshTimeout: 30_000 })
  io.on('error', (error) => t.fail(error.message))
  t.teardown(() => io.disconnect())
  await use(t, redisStore(io))
  const node = createCluster({ rootNodes: [{ url: nodes[0].url }], defaults: USER })
  node.on('error', (error) => t.fail(error.message))
  await node.connect()
  t.teardown(() => node.destroy())
  await use(t, redisStore(node))
})

onPostgres('the table of `flakeforge schema` and the GRANT of the guide suffice', async (t) => {
  const server = await started(t, startPostgres)
  await server.query(require('../../target/rooms/lib/stores/postgres/schema.js').schemaFor('public').text)
  const [grant] = blocksOf(read('store/postgresql.md'), 'sql')
  await server.query(`CREATE ROLE member LOGIN; ${grant}`)
  const url = server.urlOf('member')
  await use(t, url)
  await command('destroy', url, 'orders', '--yes')
})

onRedis('after a restart of Redis a counter stops until the store is told where to continue', async (t) => {
  const server = await started(t, startRedis, '--appendonly', 'yes')
  const open = () => SegmentId.open(server.url, { name: 'invoices' })
  const before = await open()
  t.is(before.nextBigInt(), 0n)
  await before.close()
  await server.kill('SIGTERM')
  await server.start()
  const stopped = await open()
  t.throws(() => stopped.next(), { code: 'ERR_FLAKE_STORE', message: /skipTo/ })
  await t.throwsAsync(stopped.nextAsync(), { code: 'ERR_FLAKE_STORE', message: /skipTo/ })
  await stopped.close()
  const code = blocksOf(read('store/segment-id.md'), 'javascript').find((block) => block.includes('.skipTo('))
  const ofRedis = code.replace('postgres://localhost/postgres', 'redis://localhost').replace(', durable: true', '')
  await runBlock(await installed(t), 0, ofRedis, { 'redis://localhost': server.url })
  const after = await open()
  t.is(after.nextBigInt(), 5_010_000n)
  await after.close()
})

onRedis('a restart of Redis stops no process that has a slot; new members wait', async (t) => {
  const server = await started(t, startRedis, '--appendonly', 'yes')
  const options = { group: 'orders', ttlMs: 12_000, skewMs: 500 }
  await createGroup(server.url, options)
  const flake = await FlakeId.join(server.url, options)
  const ids = new Set([flake.nextBigInt()])
  await server.kill('SIGTERM')
  ids.add(flake.nextBigInt())
  await server.start()
  const quiet = await t.throwsAsync(FlakeId.join(server.url, { ...options, waitMs: 1000 }), { code: 'ERR_FLAKE_QUIET' })
  t.true(quiet.retryAt.getTime() - quiet.storeNow > 59_000)
  for (let renewals = 0; renewals < 2; ) {
    const { expires } = flake
    while (flake.expires.getTime() === expires.getTime()) {
      ids.add(flake.nextBigInt())
      await sleep(5)
    }
    renewals++
    ids.add(flake.nextBigInt())
  }
  t.true(Date.now() < quiet.retryAt.getTime(), 'both renewals were in the quiet period')
  t.is(flake.state, 'attached')
  await flake.close()
})

onRedis('with durable, a restart of Redis stops no counter, and a new group needs no create', async (t) => {
  const server = await started(t, startRedis, '--appendonly', 'yes', '--appendfsync', 'always')
  const first = async () => {
    const segment = await SegmentId.open(server.url, { name: 'invoices', durable: true })
    const id = segment.nextBigInt()
    await segment.close()
    return id
  }
  const join = async () => (await FlakeId.join(server.url, { group: 'orders', durable: true, waitMs: 20_000 })).close()
  t.is(await first(), 0n)
  await join()
  await server.kill('SIGTERM')
  await server.start()
  t.is(await first(), 10_000n)
  await join()
})

onRedis('a counter that was lost with its server starts again, above `init` if that is given', async (t) => {
  const server = await started(t, startRedis)
  const first = async (options) => {
    const segment = await SegmentId.open(server.url, { name: 'invoices', ...options })
    const id = segment.nextBigInt()
    await segment.close()
    return id
  }
  t.is(await first(), 0n)
  t.is(await first(), 10_000n)
  await server.cli('FLUSHALL')
  t.is(await first(), 0n)
  await server.cli('FLUSHALL')
  t.is(await first({ init: 50_000 }), 50_001n)
})

/** Keeps the owner of each file, since the server is not ours. */
const copyFolder = (from, to) => promisify(execFile)('cp', ['-a', from, to])

/** A server, and its data before the counter advanced. */
async function withSnapshot(t, durable) {
  const server = await started(t, startPostgres, { fsync: 'on', full_page_writes: 'on' })
  const [data, copy] = [join(server.folder, 'data'), join(server.folder, 'copy')]
  const advance = async () => {
    const segment = await SegmentId.open(server.url, { name: 'c', durable })
    try {
      return await segment.nextAsync().then((id) => id.readBigUInt64BE())
    } finally {
      await segment.close()
    }
  }
  await advance()
  await server.kill('SIGINT')
  await copyFolder(data, copy)
  await server.start()
  const restore = async () => {
    await server.kill('SIGINT')
    await rm(data, { recursive: true })
    await copyFolder(copy, data)
    await server.start()
  }
  return { advance, restore }
}

onPostgres('a restored disk snapshot of PostgreSQL is noticed; with durable it is not', async (t) => {
  const noticed = await withSnapshot(t, false)
  await noticed.restore()
  await t.throwsAsync(noticed.advance(), { code: 'ERR_FLAKE_STORE', message: /skipTo/ })

  const unnoticed = await withSnapshot(t, true)
  t.is(await unnoticed.advance(), 10_000n)
  await unnoticed.restore()
  t.is(await unnoticed.advance(), 10_000n, 'given twice')
})
