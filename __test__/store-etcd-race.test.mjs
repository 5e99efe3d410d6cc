// What happens between a step's look and its decision: another step, on the real server, right then.

import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import anyTest from 'ava'
import { clockedFetch, startEtcd, wantEtcd } from './servers/etcd.mjs'
import { newOwner } from './store-reference.mjs'

const require = createRequire(import.meta.url)
const { etcdStore } = require('../lib/stores/etcd.js')
const { Gateway } = require('../lib/stores/etcd/gateway.js')
const { counterKey, groupKeys, leaseOf, one, unchanged } = require('../lib/stores/etcd/keys.js')
const { noMemory, remembered } = require('../lib/stores/etcd/memory.js')

const test = wantEtcd() === undefined ? anyTest.skip : anyTest

const START = 1_900_000_000_000
const CONFIG = { fingerprint: 'f', slots: 3, ttlMs: 30_000, skewMs: 5000, create: true }

let server

test.before(async () => {
  server = await startEtcd()
})

test.after.always(async () => {
  await server?.stop()
})

let groups = 0

/** Two clients of a new group. What `intrude` is set to happens once, before the slow one's next deciding transaction. */
function newGroup() {
  groups += 1
  const group = `group ${groups}`
  const clock = { now: START }
  const race = { group, clock, intrude: undefined }
  const answer = clockedFetch(clock)
  async function slowly(url, options) {
    const { intrude } = race
    if (intrude && JSON.parse(options.body).compare?.length > 0) {
      race.intrude = undefined
      await intrude()
    }
    return answer(url, options)
  }
  const clientOf = (fetch) => {
    const store = etcdStore({ endpoints: server.url, fetch })
    return {
      open: (more) => store.open(group, { ...CONFIG, ...more }),
      acquire: (more) => store.acquire(group, { owner: newOwner(), host: 'h', clientNow: clock.now, ...more }),
      renew: (slot, owner) => store.renew(group, { slot, owner, clientNow: clock.now }),
      release: (slot, owner, last) => store.release(group, { slot, owner, last }),
      destroy: () => store.destroy(group),
      list: () => store.list(group),
      advance: (...args) => store.advance(group, ...args),
    }
  }
  return Object.assign(race, { slow: clientOf(slowly), fast: clientOf(answer) })
}

async function openGroup(options) {
  const race = newGroup()
  await race.fast.open(options)
  await race.slow.open(options)
  return race
}

test('both make the group: one record', async (t) => {
  const race = newGroup()
  const key = groupKeys(race.group).record
  let made
  race.intrude = async () => {
    await race.fast.open({ create: false })
    made = await server.readRecord(key)
  }
  await race.slow.open()
  t.deepEqual(await server.readRecord(key), made, 'the one that came first')
  t.true(made.quietUntil > START)
})

test('both take a slot that was never used', async (t) => {
  const race = await openGroup()
  let other
  race.intrude = async () => {
    other = await race.fast.acquire()
  }
  t.is((await race.slow.acquire()).slot, 1)
  t.is(other.slot, 0)
})

test('both take the slot that is free', async (t) => {
  const race = await openGroup({ slots: 1 })
  const owner = newOwner()
  await race.fast.acquire({ owner })
  await race.fast.release(0, owner, START)
  race.clock.now += 1000
  race.intrude = () => race.fast.acquire()
  await t.throwsAsync(race.slow.acquire(), { code: 'ERR_FLAKE_EXHAUSTED' })
})

test('a slot is taken and given back again meanwhile: the window is above that one', async (t) => {
  const race = await openGroup({ slots: 1 })
  const [first, owner] = [newOwner(), newOwner()]
  await race.fast.acquire({ owner: first })
  await race.fast.release(0, first, START - 1)
  race.clock.now += 1000
  race.intrude = async () => {
    const { lo } = await race.fast.acquire({ owner })
    await race.fast.release(0, owner, lo + 500)
    race.clock.now += 1000
  }
  t.true((await race.slow.acquire()).lo > START + 1500)
})

test('a window is renewed and given back meanwhile: lost', async (t) => {
  const race = await openGroup()
  const owner = newOwner()
  const { lo } = await race.fast.acquire({ owner })
  race.intrude = () => race.fast.release(0, owner, lo)
  t.is(await race.slow.renew(0, owner), 'lost')
  t.is((await race.fast.list())[0].hi, lo)
})

test('a window is given back while it is renewed: its new end counts', async (t) => {
  const race = await openGroup()
  const owner = newOwner()
  const { lo } = await race.fast.acquire({ owner })
  race.clock.now += 1000
  race.intrude = () => race.fast.renew(0, owner)
  await race.slow.release(0, owner, lo + 100_000)
  t.like((await race.fast.list())[0], { hi: START + 31_000, lo })
})

test('a grant while the group is destroyed: either it is refused, or the tombstone is above it', async (t) => {
  const refused = await openGroup()
  refused.intrude = () => refused.fast.destroy()
  await t.throwsAsync(refused.slow.acquire(), { code: 'ERR_FLAKE_DESTROYED' })
  t.deepEqual(await server.keysUnder(groupKeys(refused.group).slots), [])

  const granted = await openGroup()
  granted.intrude = async () => {
    granted.clock.now += 2000
    await granted.fast.acquire()
  }
  await granted.slow.destroy()
  t.like(await server.readRecord(groupKeys(granted.group).record), { destroyed: true, floor: START + 32_000 })
  t.deepEqual(await server.keysUnder(groupKeys(granted.group).slots), [])
})

test('a grant or a renewal while somebody finds out about a loss: quiet', async (t) => {
  for (const step of ['acquire', 'renew']) {
    const race = await openGroup()
    const owner = newOwner()
    const { hi } = await race.fast.acquire({ owner })
    race.intrude = async () => {
      race.clock.cluster = '12345'
      await t.throwsAsync(race.fast.renew(0, owner), { code: 'ERR_FLAKE_QUIET' })
    }
    race.clock.now += 1000
    const late = step === 'acquire' ? race.slow.acquire() : race.slow.renew(0, owner)
    await t.throwsAsync(late, { code: 'ERR_FLAKE_QUIET' })
    t.deepEqual(
      (await race.fast.list()).map((slot) => slot.hi),
      [hi],
    )
  }
})

test('a grant while the group is lost, and made anew: quiet', async (t) => {
  const race = await openGroup()
  race.intrude = async () => {
    await server.ctl('del', '--prefix', groupKeys(race.group).record.replace(/record$/, ''))
    await race.fast.open({ create: false })
  }
  await t.throwsAsync(race.slow.acquire(), { code: 'ERR_FLAKE_QUIET' })
  t.deepEqual(await race.fast.list(), [])
})

test('the etcd lease runs out before the decision: it is made anew', async (t) => {
  const race = await openGroup()
  const owner = newOwner()
  const leases = async () =>
    (await server.ctl('lease', 'list')).includes(BigInt(leaseOf(race.group, owner)).toString(16))
  const revoke = () => server.ctl('lease', 'revoke', BigInt(leaseOf(race.group, owner)).toString(16))
  race.intrude = revoke
  const { slot } = await race.slow.acquire({ owner })
  t.true(await leases())
  race.intrude = revoke
  race.clock.now += 1000
  t.is((await race.slow.renew(slot, owner)).hi, race.clock.now + 30_000)
  t.true(await leases())
  t.is((await server.keysUnder(groupKeys(race.group).alive)).length, 1)
})

test('an etcd lease that was just made is not kept alive again for another attempt', async (t) => {
  const race = await openGroup()
  race.clock.keptAlive = 0
  race.intrude = () => race.fast.acquire()
  t.is((await race.slow.acquire()).slot, 1)
  t.is(race.clock.keptAlive, 0)
})

test('an etcd lease is kept alive again for an attempt that begins much later', async (t) => {
  const race = await openGroup()
  race.clock.keptAlive = 0
  race.intrude = async () => {
    await race.fast.acquire()
    await sleep(1100) // it may be about to run out
  }
  t.is((await race.slow.acquire()).slot, 1)
  t.is(race.clock.keptAlive, 1)
})

test('the etcd lease of an answer that was lost is taken over', async (t) => {
  const race = await openGroup()
  const owner = newOwner()
  await new Gateway({ endpoints: [server.url], fetch }).makeLease(leaseOf(race.group, owner), 30)
  t.is((await race.slow.acquire({ owner })).slot, 0)
})

test('a key that has the revision that was seen, but another value, has changed: after a restore it may', async (t) => {
  const gateway = new Gateway({ endpoints: [server.url], fetch })
  const key = 'flakeforge/counter/of two values'
  await server.ctl('put', key, 'one')
  const [[seen]] = (await gateway.txn({ success: [one(key)] })).lists
  const isUnchanged = async (seen) => (await gateway.txn({ compare: unchanged(key, seen), success: [] })).isDone
  t.true(await isUnchanged(seen))
  t.false(await isUnchanged({ ...seen, value: 'two' }))
})

test('both take a block', async (t) => {
  const race = newGroup()
  let other
  race.intrude = async () => {
    other = await race.fast.advance(10n, 0n)
  }
  t.deepEqual([await race.slow.advance(10n, 0n), other], [10n, 0n])
})

/** A `fetch` by which the next answer to a read stays on its way until `go` is called. */
function lateRead() {
  const late = {}
  const wait = new Promise((resolve) => {
    late.go = resolve
  })
  late.fetch = async (url, options) => {
    const isNext = !late.isTaken && JSON.parse(options.body).compare?.length === 0
    if (isNext) late.isTaken = true
    const answer = await fetch(url, options)
    if (isNext) await wait
    return answer
  }
  return late
}

test('a look that another step of the same client has overtaken is no sign of a loss', async (t) => {
  for (const made of [false, true]) {
    const name = `overtaken ${made}`
    const late = lateRead()
    const store = etcdStore({ endpoints: server.url, fetch: late.fetch })
    late.isTaken = made // then the counter is there already
    if (made) t.is(await store.advance(name, 10n, 0n), 0n)
    late.isTaken = false
    const slow = store.advance(name, 10n, 0n)
    const next = await store.advance(name, 10n, 0n)
    late.go()
    t.is(await slow, next + 10n)
  }
})

test('a look that somebody who made the counter anew has overtaken is decided on once more', async (t) => {
  const late = lateRead()
  late.isTaken = true
  const name = 'overtaken, anew'
  const store = etcdStore({ endpoints: server.url, fetch: late.fetch })
  await store.advance(name, 10n, 0n)
  late.isTaken = false
  const slow = store.advance(name, 10n)
  await server.ctl('del', counterKey(name))
  t.is(await store.advance(name, 0n, 500n), 500n)
  late.go()
  t.is(await slow, 500n)
})

test('two steps of one client that see the same loss at once: it is answered for once', async (t) => {
  const race = await openGroup()
  race.clock.cluster = '12345'
  const steps = Array.from({ length: 6 }, () => t.throwsAsync(race.slow.acquire(), { code: 'ERR_FLAKE_QUIET' }))
  await Promise.all(steps)
  race.clock.now += 40_000
  t.is((await race.slow.acquire()).slot, 0)
})

anyTest('calls of one client that were sent before it knew of a loss count no second one', async (t) => {
  const answers = []
  const gateway = new Gateway({ endpoints: ['http://etcd'], fetch: () => new Promise((done) => answers.push(done)) })
  const reply = (revision, cluster_id = '1') => {
    const body = JSON.stringify({ header: { revision, cluster_id } })
    answers.shift()(new Response(body, { headers: { date: new Date(START).toUTCString() } }))
  }
  const read = () => gateway.txn({ success: [] })
  const losses = async (revisions) => {
    const calls = revisions.map(read)
    for (const revision of revisions) reply(revision)
    return (await Promise.all(calls)).map((answer) => answer.losses)
  }
  t.deepEqual(await losses(['100', '90', '101']), [0, 0, 0], 'sent at once, they may be answered in any order')
  t.deepEqual(await losses(['50', '51', '102']), [1, 1, 1])
  t.deepEqual(await losses(['51']), [1])
  t.deepEqual(await losses(['50']), [2])
  t.deepEqual(await losses(['70', '60']), [2, 2])
  t.deepEqual(await losses(['65']), [3], 'what was seen last was not the highest')
  const call = read()
  reply('80', '2')
  t.is((await call).losses, 4)
})

anyTest('steps of one client that end in another order do not bring a loss back, nor a lower value', (t) => {
  const [early, late] = [{ losses: 0 }, { losses: 1 }]
  const counter = (value) => ({ nonce: 'n', value })
  const seen = remembered(remembered(noMemory(0), late, counter('18446744073709551615')), early, counter('7'))
  t.like(seen, { losses: 1, value: 2n ** 64n - 1n })
  t.is(remembered(seen, late, { nonce: 'another', value: '7' }).value, 7n, 'somebody said where to go on')
})
