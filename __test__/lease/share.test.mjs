// join() with the option `share`: one generator for all calls of a thread that name the same store and group.

import { rm } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import test from 'ava'
import { freshFolder, until } from '../servers/server.mjs'
import { FlakeId, turn } from '../support/index.mjs'
import { joinAs, leaseOptions } from '../support/lease.mjs'
import { MemoryStore } from '../support/store.mjs'
import { once } from '../support/waits.mjs'

const shared = (options) => leaseOptions({ share: true, ...options })
const MISMATCH = { code: 'ERR_FLAKE_CONFIG_MISMATCH' }

test('calls of the same store and group get one generator, which the last close() closes', async (t) => {
  const store = new MemoryStore()
  const options = shared()
  const [one, two] = await Promise.all([FlakeId.join(store, options), FlakeId.join(store, options)])
  const three = await FlakeId.join(store, { ...options, signal: AbortSignal.timeout(60_000) })
  t.is(one, two)
  t.is(one, three)
  t.is(store.count('acquire'), 1)
  await one.close()
  await two.close()
  t.is(three.state, 'attached')
  t.true(three.nextBigInt() > 0n)
  t.is(store.count('release'), 0)
  await three.close()
  t.is(store.count('release'), 1)
  t.throws(() => one.next(), { code: 'ERR_FLAKE_DETACHED' })
  await three.close()
  const next = await joinAs(t, store, options)
  t.not(next, one)
  t.is(store.count('acquire'), 2)
})

test('without it, each call has its own slot; with it, so has each group and each store', async (t) => {
  const store = new MemoryStore()
  const options = shared()
  const one = await joinAs(t, store, options)
  const alone = await joinAs(t, store, { ...options, share: false })
  t.not(one, alone)
  t.not(one.slot, alone.slot)
  t.not(one, await joinAs(t, store, { ...shared(), group: 'other' }))
  t.not(one, await joinAs(t, new MemoryStore(), shared()))
})

test('an address is the same letter by letter', async (t) => {
  const folder = await freshFolder('share')
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const options = shared()
  const one = await joinAs(t, `file:${folder}`, options)
  t.is(one, await joinAs(t, `file:${folder}`, options))
  t.not(one, await joinAs(t, `file:${folder}/`, options))
})

test('equal lists of addresses are one store, also as a text', async (t) => {
  const addresses = ['redis://127.0.0.1:1', 'redis://127.0.0.1:2', 'redis://127.0.0.1:3'] // nothing listens there
  const options = shared({ group: 'listed', waitMs: 5_000 })
  const calls = [[...addresses], [...addresses].reverse(), addresses.join(' ')].map((store) =>
    FlakeId.join(store, options),
  )
  const other = FlakeId.join(addresses, { ...options, ttlMs: options.ttlMs + 1_000 })
  await t.throwsAsync(other, { ...MISMATCH, message: /shared generator of group 'listed'/ })
  const errors = await Promise.all(calls.map((call) => call.catch((error) => error)))
  t.is(new Set(errors).size, 1, 'one attempt for all')
  t.is(errors[0].code, 'ERR_FLAKE_STORE')
})

test('options that differ are refused by name, and nothing is held', async (t) => {
  const store = new MemoryStore()
  const options = shared({ elseFrom: 'http://127.0.0.1:9' })
  const flake = await FlakeId.join(store, options)
  for (const [other, message] of [
    [{ ttlMs: 3000 }, /ttlMs 2000.*ttlMs 3000/s],
    [{ layout: 'twitter' }, /layout.*flake.*layout.*twitter/s],
    [{ maxWaitMs: 5 }, /maxWaitMs 0.*maxWaitMs 5/s],
    [{ prefetch: 7 }, /prefetch/],
    [{ host: 'other' }, /host other/],
    [{ worker: 3 }, /worker = 3/],
    [{ elseFrom: { urls: 'http://127.0.0.1:9', token: 'secret-of-the-server' } }, /elseFrom/],
  ]) {
    const error = await t.throwsAsync(FlakeId.join(store, { ...options, ...other }), { ...MISMATCH, message })
    t.notRegex(`${error.message} ${error.ours} ${error.theirs}`, /secret/)
  }
  await t.throwsAsync(FlakeId.join(store, { ...options, share: 'yes' }), { code: 'ERR_FLAKE_OPTION' })
  await flake.close()
  t.is(flake.state, 'detached', 'the calls that failed hold nothing')
})

test('a call that aborts holds nothing, and the last one gives up joining', async (t) => {
  const store = new MemoryStore()
  let answer
  store.before = () => new Promise((resolve) => (answer = resolve))
  const options = shared()
  const over = [new AbortController(), new AbortController()]
  const joins = over.map(({ signal }) => FlakeId.join(store, { ...options, signal }))
  over[0].abort(new Error('first'))
  await t.throwsAsync(joins[0], { message: 'first' })
  const third = FlakeId.join(store, options)
  await turn() // it holds the generator
  over[1].abort(new Error('second'))
  await t.throwsAsync(joins[1], { message: 'second' })
  store.work()
  answer()
  const flake = await third
  t.is(flake.state, 'attached')
  await flake.close()
  t.is(store.count('release'), 1)

  store.before = () => new Promise((resolve) => (answer = resolve))
  const only = new AbortController()
  const join = FlakeId.join(store, { ...options, signal: only.signal })
  only.abort(new Error('only'))
  await t.throwsAsync(join, { message: 'only' })
  store.work()
  answer()
  const next = await joinAs(t, store, options)
  t.is(next.state, 'attached')
  await until(() => store.count('acquire') - store.count('release') === 1) // a slot that came too late is released
})

test('a call that aborts when the slot is already granted does not keep it', async (t) => {
  const store = new MemoryStore()
  const over = new AbortController()
  store.functions = async () => {
    over.abort(new Error('late')) // join() looks at the database's functions once it has the slot
    return []
  }
  await t.throwsAsync(FlakeId.join(store, { ...shared(), signal: over.signal }), { message: 'late' })
  await until(() => store.count('release') === 1)
})

test('a call that fails, or comes after the end, leaves the next one to begin anew', async (t) => {
  const store = new MemoryStore()
  const options = shared()
  store.fail()
  const calls = [FlakeId.join(store, options), FlakeId.join(store, options)]
  for (const call of calls) await t.throwsAsync(call, { code: 'ERR_FLAKE_STORE' })
  store.work()
  const one = await FlakeId.join(store, options)
  await one.destroy()
  t.is(one.state, 'destroyed')
  const two = await joinAs(t, store, options)
  t.not(one, two)
  t.is(two.state, 'attached')
  await one.close()
  t.is(two.state, 'attached')
})

test('after detach(), another join() attaches it again', async (t) => {
  const store = new MemoryStore()
  const options = shared()
  const one = await joinAs(t, store, options)
  await one.detach()
  t.is(await joinAs(t, store, options), one)
  t.is(one.state, 'attached')
})

test('a worker thread has a generator of its own', async (t) => {
  const folder = await freshFolder('share')
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const options = shared()
  const one = await joinAs(t, `file:${folder}`, options)
  const source = `
    const { parentPort, workerData } = require('node:worker_threads')
    require('flakeforge').join(...workerData).then(async (flake) => {
      parentPort.postMessage({ slot: flake.slot })
      await flake.close()
    })`
  const worker = new Worker(source, { eval: true, workerData: [`file:${folder}`, options] })
  const exit = once(worker, 'exit')
  const [{ slot }] = await once(worker, 'message')
  t.not(slot, one.slot)
  await exit
})
