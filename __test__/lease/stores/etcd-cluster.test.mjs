// Many clients at once, many slots, several members, and members that do not answer.

import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import anyTest from 'ava'
import { clockedFetch, startCluster, startEtcd, wantEtcd } from '../../servers/etcd.mjs'
import { freePort, until } from '../../servers/server.mjs'
import { edited, newOwner } from '../../support/records.mjs'
import { openGroup, stepsOf } from '../../support/steps.mjs'

const require = createRequire(import.meta.url)
const { etcdStore } = require('../../../target/rooms/lib/lease/stores/etcd.js')

const test = wantEtcd() === undefined ? anyTest.skip : anyTest

const storeDown = { code: 'ERR_FLAKE_STORE' }

let server

test.before(async () => {
  server = await startEtcd()
})

test.after.always(async () => {
  await server?.stop()
})

/** etcd's own clock has whole seconds. */
const clock = {
  get now() {
    return Date.now()
  },
}

/** Stores of their own on the same group: the steps of each. */
async function openStores(count, group, options) {
  const endpoints = server.url
  const stores = Array.from({ length: count }, () => etcdStore({ endpoints, fetch: clockedFetch(clock) }))
  await openGroup(stores[0], group, options)
  return stores.map((store) => stepsOf(store, group, options))
}

/** Whether no two windows of one slot have a ms in common. */
function areDisjoint(windows) {
  const sorted = windows.toSorted((a, b) => a.slot - b.slot || a.lo - b.lo)
  return sorted.every(({ slot, lo }, i) => i === 0 || sorted[i - 1].slot !== slot || sorted[i - 1].hi < lo)
}

test('eight clients at once, the first time: eight slots', async (t) => {
  const members = await openStores(8, 'at once', { slots: 8 })
  const grants = await Promise.all(members.map(({ acquire }) => acquire()))
  t.deepEqual(grants.map(({ slot }) => slot).sort(), [0, 1, 2, 3, 4, 5, 6, 7])
})

test('eight clients that make the same group at once: one group, and eight slots', async (t) => {
  const stores = Array.from({ length: 8 }, () => etcdStore({ endpoints: server.url }))
  const members = stores.map((store) => stepsOf(store, 'made at once', { slots: 8, durable: true }))
  const made = await Promise.all(members.map(({ create }) => create()))
  t.true(made.includes(true))
  const grants = await Promise.all(members.map(({ acquire }) => acquire()))
  t.is(new Set(grants.map(({ slot }) => slot)).size, 8)
})

test('four clients take, renew and give back two slots: no two windows of a slot overlap', async (t) => {
  const members = await openStores(4, 'contended', { slots: 2, ttlMs: 2000 })
  const windows = []
  async function life({ acquire, renew, release }) {
    for (let round = 0; round < 12; ) {
      const owner = newOwner()
      const grant = await acquire({ owner }).catch((error) => {
        if (error.code !== 'ERR_FLAKE_EXHAUSTED') throw error
      })
      if (grant === undefined) {
        await new Promise((resolve) => setTimeout(resolve, 50))
        continue
      }
      const renewed = await renew(grant.slot, owner)
      const last = renewed.lo + 200
      await release(grant.slot, owner, last)
      windows.push({ ...renewed, hi: last })
      round++
    }
  }
  await Promise.all(members.map(life))
  t.is(windows.length, 48)
  t.true(areDisjoint(windows))
  t.true(
    windows.some((a) => !areDisjoint([a, { ...a, lo: a.hi, hi: a.hi }])),
    'the check finds an overlap',
  )
})

test('hundreds of slots: taken, none left, given back, taken again', async (t) => {
  const [clients, slots] = [10, 250]
  const members = await openStores(clients, 'hundreds', { slots })
  const [{ acquire, list }] = members
  const held = []
  await Promise.all(
    members.map(async (member, i) => {
      for (let n = 0; n < slots / clients; n++) {
        const owner = newOwner()
        held.push({ member, owner, ...(await member.acquire({ owner, host: `host ${i}` })) })
      }
    }),
  )
  const listed = await list()
  t.deepEqual(
    listed.map(({ slot }) => slot),
    Array.from({ length: slots }, (_, i) => i),
  )
  const { retryAt } = await t.throwsAsync(acquire(), { code: 'ERR_FLAKE_EXHAUSTED' })
  t.is(retryAt.getTime(), Math.min(...listed.map(({ hi }) => hi)) + 1)

  const last = Math.max(...held.map(({ lo }) => lo))
  await Promise.all(
    members.map(async (member) => {
      for (const one of held.filter((each) => each.member === member)) await member.release(one.slot, one.owner, last)
    }),
  )
  await until(() => Date.now() > last)
  const free = await list()
  t.is(free.length, slots)
  t.true(free.every(({ owner, hi }) => owner === undefined && hi === last))
  const again = []
  for (let i = 0; i < 30; i++) again.push(await acquire())
  t.is(new Set(again.map(({ slot }) => slot)).size, 30)
  t.true(again.every(({ lo }) => lo > last))
})

test('three members, one is killed and comes back: the others carry on', async (t) => {
  const members = await startCluster()
  t.teardown(() => Promise.all(members.map((member) => member.stop())))
  const store = etcdStore({ endpoints: members.map(({ url }) => url) })
  const steps = await openGroup(store, 'orders')
  const owner = newOwner()
  const { slot, lo } = await steps.acquire({ owner })
  const renew = () => steps.renew(slot, owner)
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

test('an endpoint that refuses: the next one; one that answers is asked first from then on', async (t) => {
  const asked = []
  const down = `http://127.0.0.1:${await freePort()}`
  const spy = (url, ...args) => {
    asked.push(new URL(url).origin)
    return fetch(url, ...args)
  }
  const store = etcdStore({ endpoints: [down, `${server.url}/`], fetch: spy })
  await store.advance('endpoints', 1n, 0n)
  t.is(asked[0], down)
  t.true(asked.length > 2)
  t.true(asked.slice(1).every((origin) => origin === server.url))
})

test('a server that is down is an error with its cause, at every step', async (t) => {
  const down = `http://127.0.0.1:${await freePort()}`
  const store = etcdStore({ endpoints: down })
  const { create, acquire, renew, release, list, destroy } = stepsOf(store, 'g')
  const ofSlot = [() => renew(0, newOwner()), () => release(0, newOwner(), 0)]
  for (const step of [create, acquire, ...ofSlot, list, destroy, () => store.advance('c', 1n, 0n)]) {
    const error = await t.throwsAsync(step(), storeDown)
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

test('a member that takes the call and never answers: the next one; alone, an error', async (t) => {
  const hung = await fake(t, () => {})
  const store = etcdStore({ endpoints: [hung, server.url] })
  t.is((await store.advance('hung', 1n, 0n)).number, 0n)
  const error = await t.throwsAsync(etcdStore({ endpoints: hung }).list('g'), storeDown)
  t.is(error.cause.name, 'TimeoutError')
})

test('a step ends before all of many members that never answer are asked, and the next goes on after them', async (t) => {
  const asked = []
  const hung = (name) => fake(t, () => asked.push(name))
  const endpoints = [await hung('one'), await hung('two'), await hung('three'), server.url]
  const store = etcdStore({ endpoints })
  await t.throwsAsync(store.advance('many hung', 1n, 0n), storeDown)
  t.deepEqual(asked.slice(0, 2), ['one', 'two'])
  let next
  // A step may end just before the endpoint that it waits for is given up, and then the next one asks it once more.
  for (let i = 0; i < 2 && next === undefined; i++) {
    next = await store.advance('many hung', 1n, 0n).catch(({ code }) => void t.is(code, storeDown.code))
  }
  t.is(next.number, 0n)
  t.true(asked.includes('three')) // for the rest of the first step's time, or later
})

test('a member that begins an answer and never ends it is an error too', async (t) => {
  const hung = await fake(t, (_, response) => response.writeHead(200).write('{'))
  const error = await t.throwsAsync(etcdStore({ endpoints: hung }).list('g'), storeDown)
  t.is(error.cause.name, 'TimeoutError')
})

test('what is no etcd, or hides the Date header, is an error that says so', async (t) => {
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

test('an endpoint that fails only after a while is no skew of clocks', async (t) => {
  let isSlow = false
  async function slowly(url, options) {
    if (!isSlow) return fetch(url, options)
    isSlow = false
    await new Promise((resolve) => setTimeout(resolve, 1500))
    throw new TypeError('cut')
  }
  const store = etcdStore({ endpoints: [server.url, server.url], fetch: slowly })
  const { acquire, list } = await openGroup(store, 'slow', { skewMs: 400 })
  isSlow = true
  const { slot } = await acquire()
  t.false(isSlow)
  t.like(await list(), [{ slot }])
})

test('an answer lost on its way: the retry at the next endpoint gets the grant that was made', async (t) => {
  let isCut = false
  const cut = async (url, options) => {
    const response = await fetch(url, options)
    const isDeciding = JSON.parse(options.body).success?.some(({ request_put }) => request_put)
    if (!isCut || !isDeciding) return response
    isCut = false
    throw new TypeError('cut')
  }
  const store = etcdStore({ endpoints: [server.url, server.url], fetch: cut })
  const { acquire, renew, release, list } = await openGroup(store, 'cut')
  const owner = newOwner()
  isCut = true
  const { slot, lo, hi } = await acquire({ owner, host: 'h' })
  t.false(isCut)
  t.deepEqual(await list(), [{ slot, owner, host: 'h', lo, hi }], 'one slot')
  isCut = true
  t.is((await renew(slot, owner)).lo, lo)
  isCut = true
  await release(slot, owner, lo)
  t.deepEqual(await list(), [{ slot, host: 'h', lo, hi: lo }])
  for (const first of [0n, 5n, 10n]) {
    isCut = true
    t.is((await store.advance('cut', 5n, 0n)).number, first, 'what is in the store is the block that was asked for')
    t.false(isCut)
  }
})

test('a key that never stays is an error in the end, which says how often it was tried', async (t) => {
  let turns = 0
  async function meddle(url, options) {
    const [comparison] = JSON.parse(options.body).compare
    if (comparison?.value !== undefined) {
      turns++
      const [key, text] = [comparison.key, comparison.value].map((part) => Buffer.from(part, 'base64').toString())
      await server.ctl('put', key, edited(text, { nonce: newOwner().slice(0, 16) }))
    }
    return fetch(url, options)
  }
  await etcdStore({ endpoints: server.url }).advance('restless', 1n, 0n)
  const store = etcdStore({ endpoints: server.url, fetch: meddle })
  const start = performance.now()
  const { message } = await t.throwsAsync(store.advance('restless', 1n, 0n), storeDown)
  t.true(performance.now() - start < 15_000)
  const [, tried] = /'restless' did not finish a step within 10000 ms\. It tried to write (\d+) times/.exec(message)
  t.true(tried > 1)
  t.true(Math.abs(turns - tried) <= 1, `${turns}`)
  t.is((await etcdStore({ endpoints: server.url }).advance('restless', 1n, 0n)).number, 1n, 'nothing was taken')
})
