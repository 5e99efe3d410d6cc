// Many members at once on a real PostgreSQL: whatever the isolation level, no two windows of a slot have a ms in
// common.

import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import anyTest from 'ava'
import pg from 'pg'
import { CLIENTS, startPgbouncer, startPostgres, wantPgbouncer, wantPostgres } from './servers/postgres.mjs'
import { newOwner } from './store-reference.mjs'

const { postgresStore } = createRequire(import.meta.url)('../lib/stores/postgres.js')

const test = wantPostgres() === undefined ? anyTest.skip : anyTest
const bouncerTest = wantPostgres() === undefined || wantPgbouncer() === undefined ? anyTest.skip : anyTest

const MEMBERS = 8
const ROUNDS = 40
const CONFIG = { fingerprint: 'f', slots: 5, ttlMs: 25, skewMs: 60_000, create: true }

let server

anyTest.before(async () => {
  if (wantPostgres() === undefined) return
  server = await startPostgres()
})

anyTest.after.always(() => server?.stop())

const isRefusal = ({ code }) => ['ERR_FLAKE_EXHAUSTED', 'ERR_FLAKE_DESTROYED'].includes(code)

/** One member that takes, keeps, loses and gives back slots; every window that it had goes to `windows`. */
async function live(store, group, windows) {
  for (let round = 0; round < ROUNDS; round++) {
    const owner = newOwner()
    const window = await store
      .acquire(group, { owner, host: `host ${round % 3}`, clientNow: Date.now() })
      .catch((error) => {
        if (!isRefusal(error)) throw error
      })
    if (window === undefined) {
      await sleep(Math.random() * 20)
      continue
    }
    // Any later beginning would mean that the slot was not free.
    if (window.lo !== window.storeNow) throw new Error(`a window from ${window.lo}, given at ${window.storeNow}`)
    await keep(store, group, { owner, window, windows })
  }
}

async function keep(store, group, { owner, window, windows }) {
  const renewals = Math.floor(Math.random() * 4)
  for (let i = 0; i < renewals; i++) {
    await sleep(Math.random() * 40) // longer than the ttl at times: then another may have the slot
    const renewed = await store.renew(group, { slot: window.slot, owner, clientNow: Date.now() })
    if (typeof renewed === 'string') return void windows.push(window)
    if (renewed.lo !== window.lo) windows.push(window)
    window = renewed
  }
  if (Math.random() < 0.5) return void windows.push(window)
  const last = window.lo + Math.floor(Math.random() * 10)
  windows.push({ ...window, hi: Math.min(window.hi, last) })
  await store.release(group, { slot: window.slot, owner, last })
}

/** Pairs of windows of one slot that have a ms in common. */
function overlaps(windows) {
  const sorted = windows.toSorted((a, b) => a.slot - b.slot || a.lo - b.lo)
  return sorted.flatMap((next, i) => {
    const before = sorted[i - 1]
    return before?.slot === next.slot && next.lo <= before.hi ? [[before, next]] : []
  })
}

/** Members that live at the same time, each on a store of its own; their windows. */
async function crowd(t, { group, clients, also = async () => {} }) {
  const stores = clients.map((client) => postgresStore(client))
  await Promise.all(stores.map((store) => store.open(group, CONFIG)))
  const windows = []
  const members = Promise.all(stores.map((store) => live(store, group, windows)))
  let isOver = false
  const finish = members.finally(() => {
    isOver = true
  })
  await Promise.all([finish, also(stores[0], () => isOver)])
  t.true(windows.length > MEMBERS * 5, `${windows.length} windows`)
  t.true(new Set(windows.map(({ slot }) => slot)).size > 1)
  t.deepEqual(overlaps(windows), [])
}

function pools(t, url, options) {
  return Array.from({ length: MEMBERS }, () => {
    const pool = new pg.Pool({ connectionString: url, max: 1, options })
    t.teardown(() => pool.end())
    return pool
  })
}

for (const level of ['read committed', 'repeatable read', 'serializable']) {
  const options = `-c default_transaction_isolation=${level.replace(' ', '\\ ')}`

  test.serial(`${level}: members at once never share a slot`, async (t) => {
    await crowd(t, { group: level, clients: pools(t, server.url, options) })
  })

  test.serial(`${level}: nor where the group is destroyed and made again under them`, async (t) => {
    const group = `${level}, destroyed`
    let times = 0
    const also = async (store, isOver) => {
      for (; !isOver(); times++) {
        await sleep(Math.random() * 60)
        await store.destroy(group)
        await store.open(group, CONFIG)
      }
    }
    await crowd(t, { group, clients: pools(t, server.url, options), also })
    t.true(times > 3, `destroyed ${times} times`)
  })

  test.serial(`${level}: blocks of a counter at once do not overlap`, async (t) => {
    const stores = pools(t, server.url, options).map((client) => postgresStore(client))
    const take = (store) => Promise.all(Array.from({ length: 10 }, () => store.advance(level, 1000n, 0n)))
    const starts = (await Promise.all(stores.map(take))).flat()
    t.deepEqual(
      starts.toSorted((a, b) => Number(a - b)),
      starts.map((_, i) => BigInt(i) * 1000n),
    )
  })
}

bouncerTest.serial('behind PgBouncer, which gives each statement another connection', async (t) => {
  const bouncer = await startPgbouncer(server)
  t.teardown(() => bouncer.stop())
  const clients = Array.from({ length: MEMBERS }, (_, i) => {
    const { client, end } = Object.values(CLIENTS)[i % 2](bouncer.url)
    t.teardown(end)
    return client
  })
  await crowd(t, { group: 'bouncer', clients })
})

for (const [name, connect] of Object.entries(CLIENTS)) {
  test.serial(`${name}: members that come first at the same time make the tables together`, async (t) => {
    const database = `fresh_${name.replace('.', '')}`
    await server.query(`CREATE DATABASE ${database}`)
    const stores = Array.from({ length: MEMBERS }, () => {
      const { client, end } = connect(server.url.replace(/postgres$/, database))
      t.teardown(end)
      return postgresStore(client)
    })
    await Promise.all(stores.map((store) => store.open('g', { ...CONFIG, ttlMs: 60_000 })))
    const owners = stores.map(newOwner)
    const take = (store, i) => store.acquire('g', { owner: owners[i], host: 'host', clientNow: Date.now() })
    const grants = await Promise.all(stores.slice(0, 5).map(take))
    t.deepEqual(
      grants.map(({ slot }) => slot).sort((a, b) => a - b),
      [0, 1, 2, 3, 4],
    )
  })
}

test('one request twice at the same time gets windows of its own', async (t) => {
  const [one, other] = pools(t, server.url).map((client) => postgresStore(client))
  for (const store of [one, other]) await store.open('twice', { ...CONFIG, slots: 1000, ttlMs: 60_000 })
  const seen = new Set()
  for (let i = 0; i < 30; i++) {
    const request = { owner: newOwner(), host: 'host', clientNow: Date.now() }
    const grants = await Promise.all([one, other].map((store) => store.acquire('twice', request)))
    for (const { slot } of grants) t.false(seen.has(slot))
    for (const { slot } of grants) seen.add(slot)
  }
})
