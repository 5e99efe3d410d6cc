// AbortSignals of join(), attach() and createGroup(): they end at once, whatever the store does, and hold no slot,
// connection, timer or listener.

import { getEventListeners } from 'node:events'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import test from 'ava'
import { startRedis, wantRedis } from '../servers/redis.mjs'
import { stopAfter, until } from '../servers/server.mjs'
import { FlakeId, jsonOfChild, turn } from '../support/index.mjs'
import { closeAfter, happens, joinAs, joined, leaseOptions } from '../support/lease.mjs'
import { LEASE, MemoryStore } from '../support/store.mjs'
import { once } from '../support/waits.mjs'

const require = createRequire(import.meta.url)
const rooms = require('../../target/rooms/lib/lease/join.js')
const redis = require('../../target/rooms/lib/stores/redis.js')
const { createGroup } = FlakeId
const never = () => new Promise(() => {})
const listenersOf = (signal) => getEventListeners(signal, 'abort').length
/** Windows that do not end within a test, and a wait that only a signal ends. */
const LONG = { ttlMs: 60_000, skewMs: 30_000, waitMs: 600_000 }

/** The reason that a promise is rejected with, of any type; 'it worked' if it is not. */
const rejection = (promise) =>
  promise.then(
    () => 'it worked',
    (reason) => reason,
  )

/** Waits until the store was asked for a step this many times. */
async function asked(store, step, times = 1) {
  await until(() => store.count(step) >= times, { everyMs: 0 })
}

/** Starts a call with a signal that aborts later: the call ends with the reason, and no listener is left. */
async function abortedAt(t, call, isTime) {
  const controller = new AbortController()
  const waiting = rejection(call(controller.signal))
  await isTime(controller.signal)
  controller.abort('enough')
  t.is(await waiting, 'enough')
  t.is(listenersOf(controller.signal), 0)
}

const ownerOf = (store, slot) => store.group()?.slots.get(slot)?.owner

for (const [name, call] of Object.entries({ join: FlakeId.join, createGroup })) {
  test(`${name}: a signal that is already aborted: no step, no client`, async (t) => {
    const store = new MemoryStore()
    const signal = AbortSignal.abort('before')
    t.is(await rejection(call(store, leaseOptions({ signal }))), 'before')
    t.deepEqual(store.calls, [])
    t.is(listenersOf(signal), 0)
  })

  for (const signal of [5, 'x', true, {}, { aborted: false }, new AbortController()]) {
    test(`${name}: an invalid signal: ${inspect(signal, { depth: 0 })}`, async (t) => {
      const error = await t.throwsAsync(call(new MemoryStore(), leaseOptions({ signal })), { code: 'ERR_FLAKE_OPTION' })
      t.is(error.option, 'signal')
      t.is(error.value, signal)
    })
  }

  test(`${name}: an absent signal is ignored, and one that is not aborted changes nothing`, async (t) => {
    const controller = new AbortController()
    for (const signal of [undefined, null, controller.signal]) {
      const made = await call(new MemoryStore(), leaseOptions({ signal }))
      if (made !== true) closeAfter(t, made)
    }
    t.is(listenersOf(controller.signal), 0)
  })

  test.serial(
    `${name} by URL: no client is created for an aborted signal, and an existing one is closed`,
    async (t) => {
      const { openRedis } = redis
      t.teardown(() => Object.assign(redis, { openRedis }))
      const made = []
      redis.openRedis = () => {
        const store = new MemoryStore()
        store.before = () => new Promise((_, reject) => (store.fail = reject))
        store.close = async () => store.calls.push(['close'])
        made.push(store)
        return store
      }
      t.is(
        await rejection(rooms[name]('redis://localhost', { ...LEASE, signal: AbortSignal.abort('before') })),
        'before',
      )
      t.is(made.length, 0)
      const controller = new AbortController()
      const waiting = rejection(rooms[name]('redis://localhost', { ...LEASE, signal: controller.signal }))
      await turn()
      controller.abort('now')
      t.is(await waiting, 'now')
      const [store] = made
      store.fail(new Error('the server has gone'))
      await until(() => store.calls.at(-1)[0] === 'close', { everyMs: 0 })
      t.is(listenersOf(controller.signal), 0)
    },
  )
}

for (const [name, step, call] of [
  ['join', 'acquire', FlakeId.join],
  ['createGroup', 'create', createGroup],
]) {
  test(`${name}: an abort while ${step}() does not answer`, async (t) => {
    const store = new MemoryStore()
    store.before = never
    const begin = (signal) => call(store, leaseOptions({ ...LONG, signal }))
    await abortedAt(t, begin, async (signal) => {
      await asked(store, step)
      t.is(listenersOf(signal), 1)
    })
  })
}

test('join: no timer is left, whatever it waits for', async (t) => {
  const source = `
    import { MemoryStore } from ${JSON.stringify(new URL('../support/store.mjs', import.meta.url).href)}
    import { exhaustedError } from ${JSON.stringify(new URL('../../target/rooms/lib/base/errors/leases.js', import.meta.url).href)}
    const LONG = ${JSON.stringify(LONG)}
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const counts = {}
    const abortAfter = async (what, store, step, options) => {
      const controller = new AbortController()
      const waiting = FlakeId.join(store, { ...LONG, epoch: 1e6 + Object.keys(counts).length, ...options, signal: controller.signal }).catch((reason) => reason)
      while (store.count(step) < 1) await new Promise((resolve) => setImmediate(resolve))
      await new Promise((resolve) => setImmediate(resolve))
      const before = timers()
      controller.abort(what)
      counts[what] = [before > 0, await waiting === what, timers()]
    }
    const silent = new MemoryStore()
    silent.before = () => new Promise(() => {})
    await abortAfter('silent', silent, 'acquire')
    const failing = new MemoryStore()
    const full = exhaustedError('default', Date.now() + 3e5, Date.now())
    failing.before = async (step) => { if (step === 'acquire') throw full }
    await abortAfter('full', failing, 'acquire')
    await abortAfter('ahead', new MemoryStore({ offsetMs: 20_000 }), 'acquire')
    console.log(JSON.stringify(counts))
  `
  const ended = [true, true, 0]
  t.deepEqual(await jsonOfChild(t, source), { silent: ended, full: ended, ahead: ended })
})

test('join: a slot that is granted after the abort is released, unused', async (t) => {
  const store = new MemoryStore()
  let answer
  store.before = (step) => step === 'acquire' && new Promise((resolve) => (answer = resolve))
  const join = (signal) => FlakeId.join(store, leaseOptions({ ...LONG, signal }))
  await abortedAt(t, join, () => asked(store, 'acquire'))
  answer()
  await asked(store, 'release')
  await turn()
  t.is(ownerOf(store, 0), undefined)
  t.is(store.calls.at(-1)[2].last, -1)
})

test('join: a held slot whose window has not begun is released', async (t) => {
  const store = new MemoryStore({ offsetMs: 20_000 })
  const join = (signal) => FlakeId.join(store, leaseOptions({ ...LONG, signal }))
  await abortedAt(t, join, async () => {
    await until(() => ownerOf(store, 0) !== undefined, { everyMs: 0 })
    await turn()
  })
  await asked(store, 'release')
  t.is(ownerOf(store, 0), undefined)
})

test('join: an abort while the group is full; the next free slot goes to the one still waiting', async (t) => {
  const { store, flake, options } = await joined(t, { ...LONG, slots: 1 })
  const join = (signal) => FlakeId.join(store, { ...options, signal })
  await abortedAt(t, join, () => asked(store, 'acquire', 2))
  await flake.close()
  const other = await joinAs(t, store, options)
  t.is(other.slot, 0)
})

test('join: an abort after the end changes nothing', async (t) => {
  const controller = new AbortController()
  const { flake } = await joined(t, { signal: controller.signal })
  controller.abort()
  await turn()
  t.is(flake.state, 'attached')
  t.is(flake.next().length, 8)
})

test('attach: a signal that is already aborted, and one that aborts while it waits', async (t) => {
  const { flake, store } = await joined(t, LONG)
  await flake.detach()
  const before = store.calls.length
  t.is(await rejection(flake.attach({ signal: AbortSignal.abort('before') })), 'before')
  t.is(store.calls.length, before)
  store.before = never
  const attach = (signal) => flake.attach({ signal })
  await abortedAt(t, attach, () => asked(store, 'acquire', 2))
  t.is(flake.state, 'detached')
  t.throws(() => flake.next(), { code: 'ERR_FLAKE_DETACHED' })
})

test('attach: after an abort it works again, with the answer that was on its way', async (t) => {
  const { flake, store } = await joined(t, LONG)
  await flake.detach()
  let answer
  store.before = (step) => step === 'acquire' && new Promise((resolve) => (answer = resolve))
  const attach = (signal) => flake.attach({ signal })
  await abortedAt(t, attach, () => asked(store, 'acquire', 2))
  const attached = flake.attach()
  answer()
  await attached
  t.is(flake.state, 'attached')
  t.is(store.count('acquire'), 2)
})

test('attach: of several calls only the one whose signal aborts ends, and the last one ends the search', async (t) => {
  const { flake, store } = await joined(t, LONG)
  await flake.detach()
  let answer
  store.before = (step) => step === 'acquire' && new Promise((resolve) => (answer = resolve))
  const controllers = [1, 2, 3].map(() => new AbortController())
  const calls = controllers.map(({ signal }) => rejection(flake.attach({ signal })))
  const plain = flake.attach()
  await asked(store, 'acquire', 2)
  controllers[0].abort('first')
  controllers[2].abort('third')
  t.deepEqual(await Promise.all([calls[0], calls[2]]), ['first', 'third'])
  answer()
  await plain
  t.is(await calls[1], 'it worked')
  t.is(flake.state, 'attached')
  await flake.detach()
  const released = store.count('release')
  const more = [1, 2].map(() => new AbortController())
  const ended = more.map(({ signal }) => rejection(flake.attach({ signal })))
  await asked(store, 'acquire', 3)
  for (const controller of more) controller.abort('both')
  t.deepEqual(await Promise.all(ended), ['both', 'both'])
  answer()
  await asked(store, 'release', released + 1)
  t.is(flake.state, 'detached')
})

test('attach: an abort that arrives together with the slot is too late, and the slot is held', async (t) => {
  const { flake, store } = await joined(t, LONG)
  await flake.detach()
  const controller = new AbortController()
  const waiting = rejection(flake.attach({ signal: controller.signal }))
  while (flake.state !== 'attached') await null
  controller.abort('late')
  t.is(await waiting, 'it worked')
  t.is(store.count('release'), 1)
})

for (const options of [5, 'x', [], { sginal: 1 }, { signal: 1 }]) {
  test(`attach: bad options: ${inspect(options)}`, async (t) => {
    const { flake } = await joined(t)
    await t.throwsAsync(flake.attach(options), { code: 'ERR_FLAKE_OPTION' })
  })
}

test('calls of a leased generator that wait for a slot end with their signal', async (t) => {
  const { flake, store } = await joined(t)
  const lost = happens(flake, 'lost')
  store.before = (step) => step === 'acquire' && never()
  store.group().slots.clear()
  await lost
  const controller = new AbortController()
  const { signal } = controller
  const calls = [flake.nextAsync({ signal }), flake.takeAsync(5, { signal })].map(rejection)
  const loop = (async () => {
    for await (const id of flake.ids({ signal })) return id
    return 'the end'
  })()
  await turn()
  controller.abort('enough')
  t.deepEqual(await Promise.all([...calls, loop]), ['enough', 'enough', 'the end'])
  t.is(listenersOf(signal), 0)
})

test('join by URL: an abort closes the connection to a silent server, long before it is given up', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const controller = new AbortController()
  const url = `redis://127.0.0.1:${server.address().port}`
  const waiting = rejection(FlakeId.join(url, { ...LEASE, ...LONG, signal: controller.signal }))
  const [socket] = await once(server, 'connection')
  socket.on('error', () => {})
  await once(socket, 'data')
  const start = performance.now()
  controller.abort('enough')
  t.is(await waiting, 'enough')
  await once(socket, 'close')
  t.true(performance.now() - start < 4000, 'a step is given up after 5 s')
})

const testOnRedis = wantRedis() === undefined ? test.skip : test.serial

testOnRedis('join by URL on a real Redis: after an abort there is no connection, and no slot is held', async (t) => {
  const server = stopAfter(t, await startRedis())
  const connections = async () => (await server.cli('CLIENT', 'LIST')).split('\n').length - 1 // the connection of redis-cli is one
  const options = { ...LONG, skewMs: 500, slots: 1, group: 'one' } // a slot rests for skewMs after close()
  await createGroup(server.url, options)
  const holder = await FlakeId.join(server.url, options)
  const before = await connections()
  const controller = new AbortController()
  const waiting = rejection(FlakeId.join(server.url, { ...options, signal: controller.signal }))
  await until(async () => (await connections()) > before)
  await sleep(50) // so that it learns that the group is full
  controller.abort('enough')
  t.is(await waiting, 'enough')
  await until(async () => (await connections()) === before)
  await holder.close()
  const next = await FlakeId.join(server.url, { ...options, waitMs: 20_000 }) // less than a held slot lasts
  t.is(next.slot, 0)
  await next.close()
})
