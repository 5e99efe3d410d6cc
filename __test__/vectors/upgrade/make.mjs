// The program that wrote the files next to this one: `node __test__/vectors/upgrade/make.mjs BUILD files` and the same with
// redis, postgres, mysql and etcd, where BUILD is a folder with the version of flakeforge that writes them. They belong to
// that version forever: write new ones into another folder.
//
// Everything happens in 2090, or in 2037 where MariaDB's dates end earlier: a release that restarts a cursor or a group, and
// not above these values, generates IDs of its own time, which shows.

import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { clockedFetch, startEtcd } from '../../servers/etcd.mjs'
import { startMysql } from '../../servers/mysql.mjs'
import { startPostgres } from '../../servers/postgres.mjs'
import { startRedis } from '../../servers/redis.mjs'

const require = createRequire(import.meta.url)
const { Clock } = require('../../../lab/chaos/faults/clock.js')

const here = path.dirname(fileURLToPath(import.meta.url))
const GROUP = { group: 'orders', slots: 2, host: 'vector' }
/**
 * Three slots: one is held, one was released, and one was never used. A durable group was never quiet, so it is not in our
 * time either. etcd's clock has whole seconds.
 */
const LEASE = { ...GROUP, slots: 3, ttlMs: 4000, skewMs: 1500, durable: true }
const ENDED = { ...LEASE, group: 'ended' }
const COUNTER = { name: 'invoices', block: 100 }

const write = (name, value) => fs.writeFileSync(path.join(here, name), `${JSON.stringify(value, undefined, 2)}\n`)

/** Takes a slot, some IDs and a block, and releases nothing, like a killed process. */
async function use({ FlakeId, lease }, store, options, counter = COUNTER) {
  const flake = await FlakeId.join(store, options)
  const last = String(flake.takeBigInts(10).at(-1))
  const segment = await lease.SegmentId.open(store, counter)
  return { options, counter, slot: flake.slot, last, lastOfCounter: String(segment.nextBigInt()) }
}

async function makeFiles(build) {
  const shared = path.join(here, 'shared')
  const folder = path.join(here, 'folder')
  for (const old of [shared, folder]) fs.rmSync(old, { recursive: true, force: true })
  const options = { id: 7, maxAheadMs: Number.POSITIVE_INFINITY }
  const flake = new build.FlakeId({ ...options, shared })
  const last = String(flake.takeBigInts(10).at(-1))
  const used = await use(build, `file:${folder}`, GROUP)
  write('files.json', { shared: { id: 7, last }, folder: used })
}

/** The same on a database, whose other group has ended, and a released slot. */
async function useDatabase(build, store) {
  for (const options of [LEASE, ENDED]) await build.FlakeId.createGroup(store, options)
  const used = await use(build, store, LEASE, { ...COUNTER, durable: true })
  await (await build.FlakeId.join(store, LEASE)).close()
  await (await build.FlakeId.join(store, ENDED)).destroy()
  return { ...used, ended: ENDED.group }
}

async function makeRedis(build) {
  const server = await startRedis('--appendonly', 'yes', '--appendfsync', 'always')
  const used = await useDatabase(build, server.url)
  const keys = {}
  for (const key of (await server.cli('KEYS', '*')).split('\n').sort()) {
    const words = (await server.cli('HGETALL', key)).split('\n')
    keys[key] = Object.fromEntries(words.flatMap((word, i) => (i % 2 === 0 ? [[word, words[i + 1]]] : [])))
  }
  write('redis.json', { ...used, keys })
  await server.stop()
}

/** The tables as a migration creates them. */
const schemaOf = (folder, kind) =>
  execFileSync(process.execPath, [path.join(folder, 'dist', 'flakeforge.cjs'), 'schema', kind], { encoding: 'utf8' })

async function makePostgres(build, folder) {
  const server = await startPostgres({ fsync: 'on' })
  const used = await useDatabase(build, server.url)
  const rows = await server.query('SELECT * FROM flakeforge_record ORDER BY group_name, name')
  write('postgres.json', { ...used, schema: schemaOf(folder, 'postgres'), rows })
  await server.stop()
}

async function makeMysql(build, folder) {
  const server = await startMysql({ 'innodb-flush-method': 'fsync' })
  const used = await useDatabase(build, await server.freshUrl('ids'))
  const columns = 'CONVERT(group_name USING utf8mb4) AS group_name, CONVERT(name USING utf8mb4) AS name'
  const rows = await server.query(
    `SELECT ${columns}, CONVERT(value USING utf8mb4) AS value, CAST(undumped AS DOUBLE) AS undumped
      FROM ids.flakeforge_record ORDER BY group_name, name`,
  )
  write('mysql.json', { ...used, schema: schemaOf(folder, 'mysql'), rows })
  await server.stop()
}

async function makeEtcd(build) {
  const server = await startEtcd()
  const clock = { get now() { return Date.now() } } // etcd itself is not in another year
  const used = await useDatabase(build, build.lease.etcdStore({ endpoints: server.url, fetch: clockedFetch(clock) }))
  const { kvs } = JSON.parse(await server.ctl('get', '--prefix', '', '-w', 'json'))
  const textOf = (base64) => Buffer.from(base64, 'base64').toString()
  write('etcd.json', { ...used, keys: Object.fromEntries(kvs.map(({ key, value }) => [textOf(key), textOf(value)])) })
  await server.stop()
}

const MAKERS = { files: makeFiles, redis: makeRedis, postgres: makePostgres, mysql: makeMysql, etcd: makeEtcd }

/** This whole process, in another year. */
async function makeOne(folder, kind) {
  const build = { FlakeId: require(folder), lease: require(path.join(folder, 'dist', 'lease.cjs')) }
  await MAKERS[kind](build, folder)
  process.kill(process.pid, 'SIGKILL') // nothing is given back
}

/** Runs this program, and its children, in another year. */
function makeAhead(script, folder, kind) {
  const clock = new Clock(Date.UTC(kind === 'files' ? 2090 : 2037, 0) - Date.now())
  const env = { ...process.env, ...clock.environment, MAKE_AHEAD: '1' }
  spawnSync(process.execPath, [script, folder, kind], { env, stdio: 'inherit' })
}

const [, script, folder, kind] = process.argv
if (!(kind in MAKERS)) {
  console.error(`usage: node make.mjs BUILD ${Object.keys(MAKERS).join('|')}`)
  process.exitCode = 2
} else if (process.env.MAKE_AHEAD === undefined) makeAhead(script, path.resolve(folder), kind)
else await makeOne(folder, kind)
