// How long a leased generator waits for a silent store: join() and attach() end soon after waitMs, detach() and close()
// within 5 s, whatever the store does; and late grants are released.

import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import pg from 'pg'
import { jsonOfChild, lease } from '../support/index.mjs'
import { joined, leaseOptions, tryJoin } from '../support/lease.mjs'
import { LEASE, MemoryStore } from '../support/store.mjs'
import { once, until } from '../support/waits.mjs'

/** For the `--import` of a child whose clocks are replaced. */
const CLOCKS = import.meta.resolve('../support/clocks.mjs')

const require = createRequire(import.meta.url)
const { join } = require('../../target/rooms/lib/lease/join.js')
const redis = require('../../target/rooms/lib/stores/redis.js')
const { postgresStore, etcdStore } = lease
/** So that a late answer still counts as one. */
const PATIENT = { ttlMs: 60_000, skewMs: 30_000 }
const never = () => new Promise(() => {})

/** The error of `call`, and its time in ms; the test fails if that is far beyond `ms`. */
async function fails(t, ms, call, code) {
  const start = performance.now()
  const late = sleep(ms + 20_000, { code: 'it never ends' }, { ref: false })
  const error = await Promise.race([
    call().then(
      () => ({ code: 'it worked' }),
      (error) => error,
    ),
    late,
  ])
  t.is(error.code, code, error.message)
  t.true(performance.now() - start < ms, `after ${Math.round(performance.now() - start)} ms`)
  return error
}

/** Room for a busy machine; each bound is 1 s at most. */
const WAIT = 300
const SOON = WAIT + 1000 + 2000

test.serial('join: a store that never answers', async (t) => {
  const store = new MemoryStore()
  store.before = never
  const error = await fails(t, SOON, () => tryJoin(store, leaseOptions({ waitMs: WAIT })), 'ERR_FLAKE_STORE')
  t.regex(error.message, /group 'default'.*did not answer/)
  t.is(store.count('acquire'), 1)
})

test.serial('attach: a store that never answers, and one that answers too late', async (t) => {
  const { flake, store } = await joined(t, { waitMs: WAIT, ...PATIENT })
  await flake.detach()
  let answer
  store.before = (step) => step === 'acquire' && new Promise((resolve) => (answer = resolve))
  await fails(t, SOON, () => flake.attach(), 'ERR_FLAKE_STORE')
  t.is(flake.state, 'detached')
  store.work()
  answer()
  await until(() => store.count('release') >= 2)
  t.is(store.group().slots.get(0).owner, undefined, 'the late slot was released')
  await flake.attach()
  t.is(flake.state, 'attached')
})

test.serial('the store’s clock is ahead by more than waitMs', async (t) => {
  const store = new MemoryStore({ offsetMs: 20_000 })
  const options = leaseOptions({ waitMs: 0, ...PATIENT })
  const error = await fails(t, SOON, () => tryJoin(store, options), 'ERR_FLAKE_CLOCK_SKEW')
  t.regex(error.message, /begins in .* ms by the clock of this machine/)
  t.true(error.skewMs < -10_000 && error.skewMs > -20_000, String(error.skewMs))
  t.is(store.count('release'), 1)
  t.is(store.group().slots.get(0).owner, undefined)
  t.is(store.calls.at(-1)[2].last, -1)
})

test.serial('a clock that is set back by an hour after the grant', async (t) => {
  const source = `
    import { MemoryStore, LEASE } from ${JSON.stringify(new URL('../support/store.mjs', import.meta.url).href)}
    import { clocks } from '${CLOCKS}'
    const store = new MemoryStore({ offsetMs: 50 })
    const { acquire } = store
    store.acquire = async function (...request) {
      const grant = await acquire.apply(this, request)
      clocks.unixNow = () => Date.now() - 3600e3
      return grant
    }
    const start = performance.now()
    const { code } = await FlakeId.join(store, { ...LEASE, waitMs: 500 }).catch((error) => error)
    console.log(JSON.stringify({ code, inTime: performance.now() - start < 4500, released: store.count('release') }))
    process.exit()
  `
  const said = await jsonOfChild(t, source, ['--import', CLOCKS])
  t.deepEqual(said, { code: 'ERR_FLAKE_CLOCK_SKEW', inTime: true, released: 1 })
})

test.serial('a full group whose store falls silent stays full', async (t) => {
  const { store, options } = await joined(t, { slots: 1, ...PATIENT })
  store.before = (step) => step === 'acquire' && store.count('acquire') > 2 && never()
  const error = await fails(t, 2 * SOON, () => tryJoin(store, { ...options, waitMs: 1500 }), 'ERR_FLAKE_EXHAUSTED')
  t.is(error.group, options.group ?? 'default')
})

test.serial('servers that accept the connection and never answer', async (t) => {
  const server = createServer(() => {}).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  const sockets = new Set()
  server.on('connection', (socket) => sockets.add(socket))
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'x', database: 'x' })
  const stores = {
    'a Pool': postgresStore(pool),
    postgres: `postgres://x@127.0.0.1:${port}/x`,
    redis: `redis://127.0.0.1:${port}`,
    etcd: etcdStore({ endpoints: [1, 2, 3].map(() => `http://127.0.0.1:${port}`) }),
  }
  const joins = Object.entries(stores).map(async ([name, store]) => {
    const error = await fails(t, SOON, () => tryJoin(store, { ...LEASE, waitMs: WAIT }), 'ERR_FLAKE_STORE')
    t.truthy(error.message, name)
  })
  await Promise.all(joins)
})

test.serial('a URL: a slot that is granted too late is released before the client is closed', async (t) => {
  const { openRedis } = redis
  t.teardown(() => Object.assign(redis, { openRedis }))
  const store = new MemoryStore()
  redis.openRedis = () => store
  const done = []
  let answer
  store.before = (step) => {
    done.push(step)
    return step === 'acquire' && new Promise((resolve) => (answer = resolve))
  }
  store.close = async () => done.push('close')
  const options = leaseOptions({ waitMs: 0, ...PATIENT })
  await fails(t, SOON, () => join('redis://localhost', options), 'ERR_FLAKE_STORE')
  answer()
  await until(() => done.includes('close'))
  t.deepEqual(done, ['acquire', 'release', 'close'])
})

// --- the end ---

const END = 5000 + 2000

for (const call of ['detach', 'close']) {
  test.serial(`${call}: a store whose release() never answers`, async (t) => {
    const { flake, store } = await joined(t, PATIENT)
    store.before = (step) => step === 'release' && never()
    flake.next()
    const error = await fails(t, END, () => flake[call](), 'ERR_FLAKE_STORE')
    t.regex(error.message, /slot 0 .*becomes free when its window ends/)
    t.is(flake.state, 'detached')
    await t.notThrowsAsync(flake[call](), 'there is nothing left to wait for')
    if (call === 'close') return
    store.work()
    await flake.attach()
    t.is(flake.state, 'attached')
    t.is(flake.slot, 1, 'the first slot is free after its window')
  })
}

// --- errors after a window ---

test.serial('ERR_FLAKE_LEASE_EXPIRED while a renewal is unanswered names that as the cause', async (t) => {
  const { flake, store } = await joined(t)
  store.before = (step) => step === 'renew' && never()
  await until(() => store.count('renew') !== 0)
  await sleep(LEASE.ttlMs)
  const error = t.throws(() => flake.nextBigInt(), { code: 'ERR_FLAKE_LEASE_EXPIRED' })
  t.is(error.cause?.code, 'ERR_FLAKE_STORE')
  t.regex(error.cause.message, /did not answer the request for a renewal/)
})

test.serial('an earlier failure of the slot is not the cause', async (t) => {
  const { flake, store } = await joined(t)
  let fail
  store.before = (step) => step === 'renew' && new Promise((_, reject) => (fail = reject))
  await until(() => store.count('renew') !== 0)
  await flake.detach()
  store.work()
  await flake.attach()
  store.before = (step) => step === 'renew' && never()
  fail(new Error('of the slot before'))
  const renewals = store.count('renew')
  await until(() => store.count('renew') !== renewals)
  await sleep(LEASE.ttlMs)
  const error = t.throws(() => flake.nextBigInt(), { code: 'ERR_FLAKE_LEASE_EXPIRED' })
  t.regex(error.cause.message, /did not answer/)
  t.is(error.cause.cause, undefined)
})
