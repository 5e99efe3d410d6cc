// The path of one renewal on each store: the files with a function that it enters, those functions, and its calls of
// the addon. Run `node lab/renewal.mjs` after `npm run dist`; `--files` also lists the files.

import { once } from 'node:events'
import { Session } from 'node:inspector/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import * as etcd from '../__test__/servers/etcd.mjs'
import * as mysql from '../__test__/servers/mysql.mjs'
import * as postgres from '../__test__/servers/postgres.mjs'
import * as redis from '../__test__/servers/redis.mjs'

const require = createRequire(import.meta.url)
const ROOMS = fileURLToPath(new URL('../target/rooms/lib/', import.meta.url))
const native = require(`${ROOMS}native/index.js`)
const { createGroup, join } = require(`${ROOMS}lease/join.js`)
const OPTIONS = { group: 'renewal', ttlMs: 3_000, skewMs: 500 }

/** How to start each server, and its URL. */
const SERVERS = {
  Redis: async () => {
    const server = await redis.startRedis()
    return { server, url: server.url }
  },
  PostgreSQL: async () => {
    const server = await postgres.startPostgres()
    return { server, url: server.url }
  },
  'MySQL or MariaDB': async () => {
    const server = await mysql.startMysql()
    return { server, url: server.urlOf('mysql') }
  },
  etcd: async () => {
    const server = await etcd.startEtcd()
    return { server, url: server.url.replace(/^http:/, 'etcd:') }
  },
}

const session = new Session()
let crossings = 0

/** Counts each call and each property access of an addon's class. */
function countCalls({ prototype }) {
  for (const [name, { value, get, ...other }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (name === 'constructor') continue
    const counted = (inner) =>
      inner &&
      function (...args) {
        crossings++
        return Reflect.apply(inner, this, args)
      }
    const how = get ? { get: counted(get), configurable: true } : { ...other, value: counted(value) }
    Object.defineProperty(prototype, name, how)
  }
}

/** The functions that were entered during `work`, as `{ file, name }`. */
async function entered(work) {
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await session.post('Profiler.takePreciseCoverage') // forgets everything before
  const before = crossings
  await work()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const calls = crossings - before
  await session.post('Profiler.stopPreciseCoverage')
  const ours = result.map(({ url, functions }) => ({
    path: fileURLToPath(url.startsWith('file:') ? url : 'file:///'),
    functions,
  }))
  const functions = ours
    .filter(({ path }) => path.startsWith(ROOMS))
    .flatMap(({ path, functions }) =>
      functions.filter(isEntered).map(({ functionName }) => [path.slice(ROOMS.length), functionName]),
    )
  return { functions, calls }
}

const isEntered = ({ ranges: [{ count }] }) => count > 0

async function measure(start) {
  const { server, url } = await start()
  await createGroup(url, OPTIONS)
  const flake = await join(url, OPTIONS)
  for (let i = 0; i < 2; i++) await once(flake, 'renewed') // work that is done once per connection is done
  const { functions, calls } = await entered(() => once(flake, 'renewed'))
  await flake.close()
  await server.stop()
  return { files: [...new Set(functions.map(([file]) => file))].sort(), functions: functions.length, calls }
}

for (const each of Object.values(native)) if (each?.prototype !== undefined) countCalls(each)
session.connect()
await session.post('Profiler.enable')
const found = {}
for (const [name, start] of Object.entries(SERVERS)) found[name] = await measure(start)
const counts = ({ files, functions, calls }) => ({ files: files.length, functions, 'calls of the addon': calls })
console.table(Object.fromEntries(Object.entries(found).map(([name, each]) => [name, counts(each)])))
if (process.argv.includes('--files')) console.log(found)
process.exit()
