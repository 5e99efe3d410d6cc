// Shared by the tests of several stores that are one: their servers, members that make IDs all the time, and how a server
// fails.

import { createRequire } from 'node:module'
import { startEtcd, wantEtcd } from '../servers/etcd.mjs'
import { startMysql, wantMysql } from '../servers/mysql.mjs'
import { startPostgres, wantPostgres } from '../servers/postgres.mjs'
import { startRedis, wantRedis } from '../servers/redis.mjs'
import { stopAfter, until } from '../servers/server.mjs'
import { FlakeId } from '../support/index.mjs'
import { closeAfter, happens } from '../support/lease.mjs'

const require = createRequire(import.meta.url)
const { openGiven } = require('../../target/rooms/lib/stores/open.js')

/** Short windows, so that a test sees several, and long enough for a busy machine. */
export const GROUP = { ttlMs: 6000, skewMs: 2000, waitMs: 30_000 }

/** One server of each kind, with nothing that survives a restart of Redis. */
export const STARTS = {
  redis: { want: wantRedis, start: startRedis, urlOf: ({ url }) => url },
  postgres: { want: wantPostgres, start: startPostgres, urlOf: ({ url }) => url },
  etcd: { want: wantEtcd, start: startEtcd, urlOf: ({ url }) => url.replace(/^http:/, 'etcd:') },
  mysql: { want: wantMysql, start: startMysql, urlOf: (server) => server.freshUrl('ids') },
}

export const isThere = (...kinds) => kinds.every((kind) => STARTS[kind].want() !== undefined)

/** Servers of these kinds for one test, in this order. */
export async function startAll(t, ...kinds) {
  return Promise.all(
    kinds.map(async (kind) => {
      const { start, urlOf } = STARTS[kind]
      const server = stopAfter(t, await start())
      return Object.assign(server, { address: await urlOf(server) })
    }),
  )
}

export const addressesOf = (servers) => servers.map(({ address }) => address)

let groups = 0

/** A new group on these stores, and this many members, each with its own connections. */
export async function members(t, list, count, options) {
  const own = { ...GROUP, group: `quorum ${process.pid} ${groups}`, epoch: 2_000_000 + groups++, ...options }
  await FlakeId.createGroup(list, own)
  const flakes = await Promise.all(Array.from({ length: count }, () => FlakeId.join(list, own)))
  for (const flake of flakes) closeAfter(t, flake)
  return { group: own.group, options: own, flakes }
}

/** Makes IDs until `end()`, which returns all of them. A member that has to wait for its window throws. */
export function flowOf(flakes) {
  let isOver = false
  const flows = flakes.map(async (flake) => {
    const ids = []
    while (!isOver) {
      ids.push(flake.nextBigInt())
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    return ids
  })
  for (const each of flows) each.catch(() => {}) // awaited at the end
  return {
    async end() {
      isOver = true
      return (await Promise.all(flows)).flat()
    },
  }
}

/** A slow machine generates few in the time of a test. */
export function isUnique(t, ids) {
  t.true(ids.length > 100)
  t.is(new Set(ids).size, ids.length)
}

/** Each member renews its window from here on, this often. */
export async function renewals(flakes, count = 1) {
  for (let i = 0; i < count; i++) await Promise.all(flakes.map((flake) => happens(flake, 'renewed')))
}

/** How each store takes part in a group, by a client that changes nothing. */
export async function statesOf(list, group) {
  const { store, close } = openGiven(list)
  try {
    return (await store.storeStates(group)).map(({ state }) => state)
  } finally {
    await close()
  }
}

/** Waits until every store takes part again, which members bring about. */
export async function untilWhole(list, group) {
  let states = []
  await until(
    async () => {
      states = await statesOf(list, group)
      return states.every((state) => state === 'votes' || state === 'behind')
    },
    { state: () => `all take part: ${states.join(', ')}`, everyMs: 100, limitMs: 60_000 },
  )
}

/** The warnings of this process with this code that name one of these addresses, as they come. */
export function warningsOf(t, code, list) {
  const texts = []
  const names = (text) => list.some((address) => text.includes(address))
  const listener = ({ code: its, message }) => its === code && names(message) && texts.push(message)
  process.on('warning', listener)
  t.teardown(() => process.off('warning', listener))
  return texts
}
