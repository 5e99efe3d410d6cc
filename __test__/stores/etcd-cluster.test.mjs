// Several members of an etcd, and members that do not answer.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import { fake, startCluster, startEtcd, wantEtcd } from '../servers/etcd.mjs'
import { until } from '../servers/server.mjs'
import { newOwner } from '../support/records.mjs'
import { openGroup } from '../support/steps.mjs'

const require = createRequire(import.meta.url)
const { etcdStore } = require('../../target/rooms/lib/stores/etcd.js')

const test = wantEtcd() === undefined ? anyTest.skip : anyTest

const storeDown = { code: 'ERR_FLAKE_STORE' }

let server

anyTest.before(async () => {
  server = await startEtcd()
})

anyTest.after.always(async () => {
  await server?.stop()
})

test('three members, one is killed and comes back: the others continue', async (t) => {
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

test('a member that accepts the call and never answers: the next one is asked; alone, an error', async (t) => {
  const hung = await fake(t, () => {})
  const store = etcdStore({ endpoints: [hung, server.url] })
  t.is((await store.advance('hung', 1n, 0n)).number, 0n)
  const error = await t.throwsAsync(etcdStore({ endpoints: hung }).list('g'), storeDown)
  t.is(error.cause.name, 'TimeoutError')
})

test('a step ends before all of many silent members are asked, and the next continues after them', async (t) => {
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

test('an endpoint that fails only after a while does not look like clock skew', async (t) => {
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
