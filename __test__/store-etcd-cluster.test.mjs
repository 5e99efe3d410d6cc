// Many clients at once, many slots, several members, and members that do not answer; one after the other, for the load.

import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import anyTest from 'ava'
import { startCluster, startEtcd, wantEtcd } from './servers/etcd.mjs'
import { freePort, until } from './servers/server.mjs'
import { newOwner } from './store-reference.mjs'

const require = createRequire(import.meta.url)
const { etcdStore } = require('../lib/stores/etcd.js')

const test = wantEtcd() === undefined ? anyTest.skip : anyTest

const CONFIG = { fingerprint: 'f', slots: 8, ttlMs: 2000, skewMs: 5000, create: true }
const storeDown = { code: 'ERR_FLAKE_STORE' }

let server

test.before(async () => {
  server = await startEtcd()
})

test.after.always(async () => {
  await server?.stop()
})

const request = (more) => ({ owner: newOwner(), host: 'h', clientNow: Date.now(), ...more })

/** Stores of their own on the same group. */
async function openStores(count, group, config) {
  const stores = Array.from({ length: count }, () => etcdStore({ endpoints: server.url }))
  for (const store of stores) await store.open(group, config)
  return stores
}

/** Whether no two windows of one slot have a ms in common. */
function areDisjoint(windows) {
  const sorted = windows.toSorted((a, b) => a.slot - b.slot || a.lo - b.lo)
  return sorted.every(({ slot, lo }, i) => i === 0 || sorted[i - 1].slot !== slot || sorted[i - 1].hi < lo)
}

test.serial('eight clients at once, the first time: eight slots', async (t) => {
  const stores = await openStores(8, 'at once', CONFIG)
  const grants = await Promise.all(stores.map((store) => store.acquire('at once', request())))
  t.deepEqual(grants.map(({ slot }) => slot).sort(), [0, 1, 2, 3, 4, 5, 6, 7])
})

test.serial('eight clients that make the same group at once: one record', async (t) => {
  const stores = Array.from({ length: 8 }, () => etcdStore({ endpoints: server.url }))
  await Promise.all(stores.map((store) => store.open('made at once', CONFIG)))
  const grants = await Promise.all(stores.map((store) => store.acquire('made at once', request())))
  t.is(new Set(grants.map(({ slot }) => slot)).size, 8)
})

test.serial('eight clients take, renew and give back three slots: no two windows of a slot overlap', async (t) => {
  const group = 'contended'
  const stores = await openStores(8, group, { ...CONFIG, slots: 3 })
  const windows = []
  async function life(store) {
    for (let round = 0; round < 6; ) {
      const owner = newOwner()
      const grant = await store.acquire(group, request({ owner })).catch((error) => {
        if (error.code !== 'ERR_FLAKE_EXHAUSTED') throw error
      })
      if (grant === undefined) {
        await new Promise((resolve) => setTimeout(resolve, 50))
        continue
      }
      const renewed = await store.renew(group, { slot: grant.slot, owner, clientNow: Date.now() })
      const last = renewed.lo + 200
      await store.release(group, { slot: grant.slot, owner, last })
      windows.push({ ...renewed, hi: last })
      round++
    }
  }
  await Promise.all(stores.map(life))
  t.is(windows.length, 48)
  t.true(areDisjoint(windows))
  t.true(
    windows.some((a) => !areDisjoint([a, { ...a, lo: a.hi, hi: a.hi }])),
    'the check finds an overlap',
  )
})

test.serial('a thousand slots: taken, none left, given back, taken again in order', async (t) => {
  const group = 'a thousand'
  const clients = 10
  const stores = await openStores(clients, group, { ...CONFIG, slots: 1000, ttlMs: 60_000 })
  const held = []
  await Promise.all(
    stores.map(async (store, i) => {
      for (let n = 0; n < 1000 / clients; n++) {
        const owner = newOwner()
        const grant = await store.acquire(group, request({ owner, host: `host ${i}` }))
        held.push({ store, owner, ...grant })
      }
    }),
  )
  t.is(new Set(held.map(({ slot }) => slot)).size, 1000)
  const [first] = stores
  const listed = await first.list(group)
  t.deepEqual(
    listed.map(({ slot }) => slot),
    Array.from({ length: 1000 }, (_, i) => i),
  )
  const { retryAt } = await t.throwsAsync(first.acquire(group, request()), { code: 'ERR_FLAKE_EXHAUSTED' })
  t.is(retryAt.getTime(), Math.min(...listed.map(({ hi }) => hi)) + 1)

  const last = Math.max(...held.map(({ lo }) => lo))
  await Promise.all(
    stores.map(async (store) => {
      for (const { slot, owner } of held.filter((each) => each.store === store)) {
        await store.release(group, { slot, owner, last })
      }
    }),
  )
  await until(() => Date.now() > last + 1000)
  const free = (await first.list(group)).sort((a, b) => a.hi - b.hi || a.slot - b.slot)
  t.true(free.every(({ owner }) => owner === undefined))
  for (let i = 0; i < 30; i++) t.is((await first.acquire(group, request())).slot, free[i].slot)
  t.is(
    (await first.acquire(group, request({ host: 'host 7' }))).slot,
    free.slice(30).find(({ host }) => host === 'host 7').slot,
  )
})

test.serial('three members, one is killed and comes back: the others carry on', async (t) => {
  const members = await startCluster()
  t.teardown(() => Promise.all(members.map((member) => member.stop())))
  const store = etcdStore({ endpoints: members.map(({ url }) => url) })
  const group = 'orders'
  await store.open(group, { ...CONFIG, ttlMs: 30_000 })
  const owner = newOwner()
  const { slot, lo } = await store.acquire(group, request({ owner }))
  const renew = () => store.renew(group, { slot, owner, clientNow: Date.now() })
  for (const member of members) {
    await member.kill()
    let renewed
    await until(async () => {
      renewed = await renew().catch((error) => t.is(error.code, 'ERR_FLAKE_STORE')) // while they elect a leader
      return typeof renewed === 'object'
    })
    t.is(renewed.lo, lo, 'no loss')
    t.is((await renew()).lo, lo)
    await member.start()
  }
  await members[0].kill()
  await members[1].kill()
  await t.throwsAsync(renew(), storeDown, 'one of three may not decide')
})

test.serial('an endpoint that refuses: the next one; one that answers is asked first from then on', async (t) => {
  const asked = []
  const down = `http://127.0.0.1:${await freePort()}`
  const spy = (url, ...args) => {
    asked.push(new URL(url).origin)
    return fetch(url, ...args)
  }
  const store = etcdStore({ endpoints: [down, `${server.url}/`], fetch: spy })
  await store.advance('endpoints', 1n, 0n)
  t.deepEqual(asked, [down, server.url, server.url])
})

test.serial('a server that is down is an error with its cause, at every step', async (t) => {
  const down = `http://127.0.0.1:${await freePort()}`
  const store = etcdStore({ endpoints: down })
  for (const step of [store.open('g', CONFIG), store.destroy('g'), store.list('g'), store.advance('c', 1n)]) {
    const error = await t.throwsAsync(step, storeDown)
    t.true(error.message.includes(down), error.message)
    t.regex(error.message, /ECONNREFUSED/)
    t.true(error.cause instanceof TypeError)
  }
})

/** A server that answers so. */
async function fake(t, answer) {
  const http = createServer(answer)
  await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    http.closeAllConnections()
    http.close()
  })
  return `http://127.0.0.1:${http.address().port}`
}

test.serial('a member that takes the call and never answers: the next one; alone, an error', async (t) => {
  const hung = await fake(t, () => {})
  const store = etcdStore({ endpoints: [hung, server.url] })
  t.is(await store.advance('hung', 1n, 0n), 0n)
  const error = await t.throwsAsync(etcdStore({ endpoints: hung }).list('g'), storeDown)
  t.is(error.cause.name, 'TimeoutError')
})

test.serial(
  'a step ends before all of many members that never answer are asked, and the next goes on after them',
  async (t) => {
    const asked = []
    const hung = (name) => fake(t, () => asked.push(name))
    const endpoints = [await hung('one'), await hung('two'), await hung('three'), server.url]
    const store = etcdStore({ endpoints })
    await t.throwsAsync(store.advance('many hung', 1n, 0n), storeDown)
    t.deepEqual(asked.slice(0, 2), ['one', 'two'])
    t.is(await store.advance('many hung', 1n, 0n), 0n)
    t.is(asked[2], 'three') // for the rest of the first step's time, or by the second
  },
)

test.serial('a member that begins an answer and never ends it is an error too', async (t) => {
  const hung = await fake(t, (_, response) => response.writeHead(200).write('{'))
  const error = await t.throwsAsync(etcdStore({ endpoints: hung }).list('g'), storeDown)
  t.is(error.cause.name, 'TimeoutError')
})

test.serial('what is no etcd, or hides the Date header, is an error that says so', async (t) => {
  const page = await fake(t, (_, response) => response.writeHead(404).end('<html>Not here</html>'))
  await t.throwsAsync(etcdStore({ endpoints: page }).list('g'), {
    ...storeDown,
    message: /HTTP 404 and no JSON: <html>/,
  })
  const odd = await fake(t, (_, response) => response.writeHead(418).end('{}'))
  await t.throwsAsync(etcdStore({ endpoints: odd }).list('g'), { ...storeDown, message: /HTTP 418/ })
  const timeless = await fake(t, (_, response) => {
    response.sendDate = false
    response.end('{"header":{"cluster_id":"1","revision":"1"}}')
  })
  await t.throwsAsync(etcdStore({ endpoints: timeless }).list('g'), { ...storeDown, message: /no Date header/ })
})

test.serial('an endpoint that fails only after a while is no skew of clocks', async (t) => {
  let isSlow = false
  async function slowly(url, options) {
    if (!isSlow) return fetch(url, options)
    isSlow = false
    await new Promise((resolve) => setTimeout(resolve, 1500))
    throw new TypeError('cut')
  }
  const store = etcdStore({ endpoints: [server.url, server.url], fetch: slowly })
  await store.open('slow', { ...CONFIG, skewMs: 400 })
  isSlow = true
  const { slot } = await store.acquire('slow', request())
  t.is(slot, 0)
})

test.serial('an answer lost on its way: the retry at the next endpoint gets the grant that was made', async (t) => {
  let isCut = false
  const cut = async (url, options) => {
    const response = await fetch(url, options)
    const isDeciding = JSON.parse(options.body).success?.some(({ request_put }) => request_put)
    if (!isCut || !isDeciding) return response
    isCut = false
    throw new TypeError('cut')
  }
  const store = etcdStore({ endpoints: [server.url, server.url], fetch: cut })
  await store.open('cut', CONFIG)
  const owner = newOwner()
  isCut = true
  const grant = await store.acquire('cut', request({ owner }))
  t.false(isCut)
  t.deepEqual(await store.list('cut'), [{ slot: 0, owner, host: 'h', lo: grant.lo, hi: grant.hi }])
  isCut = true
  t.is((await store.renew('cut', { slot: 0, owner, clientNow: Date.now() })).lo, grant.lo)
  isCut = true
  await store.release('cut', { slot: 0, owner, last: grant.lo })
  t.deepEqual(await store.list('cut'), [{ slot: 0, host: 'h', lo: grant.lo, hi: grant.lo }])
  isCut = true
  t.is(await store.advance('cut', 5n, 0n), 5n, 'the block whose answer was lost is never given again')
})

test.serial('a key that never stays is an error in the end', async (t) => {
  const [, cluster] = /"cluster_id":(\d+)/.exec(await server.ctl('get', 'nothing', '-w', 'json'))
  let turns = 0
  async function meddle(url, options) {
    const { compare } = JSON.parse(options.body)
    if (compare?.length > 0) {
      turns++
      const key = Buffer.from(compare[0].key, 'base64').toString()
      await server.ctl('put', key, JSON.stringify({ value: String(turns), nonce: 'n', cluster }))
    }
    return fetch(url, options)
  }
  const store = etcdStore({ endpoints: server.url, fetch: meddle })
  await t.throwsAsync(store.advance('restless', 1n, 0n), { ...storeDown, message: /restless.*64 attempts/ })
  t.is(turns, 64)
})
