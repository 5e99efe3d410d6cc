// The events of a leased generator, as an ordinary EventEmitter emits them, and when.

import events, { EventEmitter } from 'node:events'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { FlakeId, throwsCode } from '../support/index.mjs'
import { afterEvents, closeAfter, EVENTS, happens, joined, named, record } from '../support/lease.mjs'
import { diskFolder } from '../support/processes.mjs'
import { giveAway, LEASE, MemoryStore } from '../support/store.mjs'
import { until } from '../support/waits.mjs'

const require = createRequire(import.meta.url)
const { STATUS } = require('../../target/rooms/lib/native/hot.js')
const { Lease } = require('../../target/rooms/lib/lease/lease.js')

// --- an ordinary EventEmitter ---

test.serial('it has every method of EventEmitter, and only FlakeId as its parent', async (t) => {
  const { flake } = await joined(t)
  const methods = Object.getOwnPropertyNames(EventEmitter.prototype).filter(
    (name) => typeof EventEmitter.prototype[name] === 'function' && name !== 'constructor',
  )
  for (const method of methods) t.is(typeof flake[method], 'function', method)
  t.false(flake instanceof EventEmitter, 'a class has one parent')
  t.true(flake instanceof FlakeId)
  flake.on('renewed', () => {})
  t.false(JSON.stringify({ flake }).includes('_events'), 'the internals of an EventEmitter are not shared')
})

test.serial('listeners: added in any way, in order, once or until they are removed', async (t) => {
  const { flake } = await joined(t)
  const heard = []
  const add = (name) =>
    function () {
      heard.push(name)
      t.is(this, flake)
    }
  const removed = add('removed')
  t.is(flake.on('detached', add('on')), flake)
  flake.addListener('detached', add('addListener')).once('detached', add('once'))
  flake.prependListener('detached', add('first')).prependOnceListener('detached', add('very first'))
  t.is(flake.on('detached', removed).off('detached', removed), flake)
  flake.on('detached', removed).removeListener('detached', removed)
  t.is(flake.listenerCount('detached'), 5)
  t.is(flake.listeners('detached').length, 5)
  t.is(flake.rawListeners('detached').length, 5)
  t.deepEqual(flake.eventNames(), ['detached'])
  t.is(flake.setMaxListeners(3), flake)
  t.is(flake.getMaxListeners(), 3)
  await flake.detach()
  t.deepEqual(heard, ['very first', 'first', 'on', 'addListener', 'once'])
  await flake.attach()
  await flake.detach()
  t.deepEqual(heard.slice(5), ['first', 'on', 'addListener'])
  t.is(flake.removeAllListeners('detached'), flake)
  t.is(flake.listenerCount('detached'), 0)
  flake.on('lost', () => {}).removeAllListeners()
  t.deepEqual(flake.eventNames(), [])
})

test.serial('events.once and events.on', async (t) => {
  const { flake, store } = await joined(t)
  const alive = setInterval(() => {}, 1000) // a lease alone does not keep the process alive
  t.teardown(() => clearInterval(alive))
  const lost = events.once(flake, 'lost')
  const attached = events.once(flake, 'attached')
  const told = []
  const listening = (async () => {
    for await (const [detail] of events.on(flake, 'renewed')) {
      told.push(detail)
      if (told.length === 2) return
    }
  })()
  await listening
  t.deepEqual(
    told,
    [1, 2].map(() => ({ group: 'default', slot: 0 })),
  )
  giveAway(store, 0)
  t.like((await lost)[0], { group: 'default', slot: 0 })
  t.deepEqual(await attached, [{ group: 'default', slot: 1 }])
  await t.throwsAsync(events.once(flake, 'lost', { signal: AbortSignal.abort() }), { name: 'AbortError' })
  for (const event of EVENTS) t.is(flake.listenerCount(event), 0, event)
})

test.serial('an unknown event is an error that names the known ones', async (t) => {
  const { flake } = await joined(t)
  for (const event of ['losst', 'attach', '', 'newListener', 'toString', Symbol('lost'), undefined, 7]) {
    for (const method of ['on', 'once', 'addListener', 'prependListener', 'prependOnceListener', 'off']) {
      const error = throwsCode(t, () => flake[method](event, () => {}), 'ERR_FLAKE_OPTION', RangeError)
      t.is(error.option, 'event')
      for (const known of EVENTS) t.true(error.message.includes(known))
    }
    for (const method of ['emit', 'listenerCount', 'listeners', 'removeAllListeners', 'removeListener']) {
      throwsCode(t, () => flake[method](event), 'ERR_FLAKE_OPTION', RangeError)
    }
  }
  await t.throwsAsync(events.once(flake, 'losst'), { code: 'ERR_FLAKE_OPTION' })
  t.notThrows(() => flake.on('error', () => {}).off('error', () => {}), 'events.once() listens to it')
})

// --- when ---

for (const [place, storeOf] of [
  ['a store', () => undefined],
  ['a folder', (t) => `file:${diskFolder(t)}`],
]) {
  test.serial(`${place}: detached and attached are emitted before their calls settle`, async (t) => {
    const { flake } = await joined(t, {}, storeOf(t))
    const told = record(flake)
    const done = []
    const asks = async (call) => {
      await flake[call]()
      done.push([call, ...named(told)])
      told.length = 0
    }
    await asks('detach')
    await asks('attach')
    await asks('close')
    t.deepEqual(done, [
      ['detach', 'detached'],
      ['attach', 'attached'],
      ['close', 'detached'],
    ])
  })
}

test.serial('attach() that fails: its error comes after the event', async (t) => {
  const { flake, store } = await joined(t)
  await flake.detach()
  const told = record(flake)
  await store.destroy('default')
  await t.throwsAsync(flake.attach(), { code: 'ERR_FLAKE_DESTROYED' })
  t.deepEqual(named(told), ['destroyed'])
  t.is(flake.state, 'destroyed')
})

test.serial('waiting calls are served when the event comes, and not a second later', async (t) => {
  const { flake, store } = await joined(t)
  store.fail()
  for (;;) {
    try {
      flake.nextBigInt()
    } catch (error) {
      if (error.code === 'ERR_FLAKE_LEASE_EXPIRED') break
    }
    await sleep(20)
  }
  let isServed = false
  for (const event of ['renewed', 'attached']) {
    if (event === 'attached') {
      giveAway(store, flake.slot)
      store.before = async (step) => step === 'acquire' && new Promise((resolve) => setTimeout(resolve, 50))
      await happens(flake, 'lost')
    }
    isServed = false
    flake.nextAsync().then(() => (isServed = true))
    const coming = happens(flake, event)
    if (event === 'renewed') store.work()
    await coming
    await afterEvents()
    t.true(isServed, event)
  }
  const waiting = t.throwsAsync(async () => {
    giveAway(store, flake.slot)
    store.before = async (step) => step === 'acquire' && new Promise(() => {})
    await happens(flake, 'lost')
    const call = flake.nextAsync().catch((error) => {
      isServed = 'refused'
      throw error
    })
    await flake.detach()
    await afterEvents()
    t.is(isServed, 'refused')
    await call
  })
  t.is((await waiting).code, 'ERR_FLAKE_DETACHED')
})

test.serial('events during a step wait for its end', async (t) => {
  const store = new MemoryStore()
  const config = { fingerprint: 'bits', slots: 4, ...LEASE, durable: false }
  const done = []
  const failsMeanwhile = (what) => {
    done.push(what)
    t.true(lease.isComing(STATUS.FILE), what)
  }
  const generator = {
    firstMs: (lo) => lo,
    open: () => failsMeanwhile('open'),
    raise: () => failsMeanwhile('raise'),
    retire: () => -1,
    fault: () => undefined,
    tell: (event) => done.push(event),
  }
  const lease = new Lease(store, generator, { group: 'default', host: 'h', config, waitMs: 5000 })
  await lease.attach()
  await until(() => done.includes('renewed'))
  t.deepEqual(done, ['open', 'raise', 'attached', 'renewed'], 'no step within a step')
  t.is(store.count('renew'), 1, 'at once, and once')
  t.false(lease.isComing(STATUS.FILE), 'the store says that it is held')
  await lease.close()
})

test.serial('a listener may detach during its event', async (t) => {
  const { flake, store } = await joined(t)
  let detaching
  flake.once('renewed', () => {
    detaching = flake.detach()
  })
  await happens(flake, 'detached')
  await detaching
  t.is(store.count('release'), 1)
  closeAfter(t, flake)
})
