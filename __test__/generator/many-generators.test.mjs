// A generator for each request: those with the same options share what the addon holds for them. They affect each other
// only where they share by design, and options and environment are read again each time.

import '../support/clocks.mjs' // before flakeforge
import { createRequire } from 'node:module'
import os from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import { replaceClocks } from '../support/clocks.mjs'
import { FlakeId, freshNode, jsonOfChild, manualClock, PATIENT, SOME_TIME, turn, useUp } from '../support/index.mjs'

const require = createRequire(import.meta.url)
const { Interned } = require('../../target/rooms/lib/codec/facts.js')
const { Layout, layouts } = FlakeId
const EPOCH = 1577836800000

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')

// --- objects in the addon ---

test('a hundred generators with the same options are one in the addon, and have one layout', async (t) => {
  const source = `
    import { createRequire } from 'node:module'
    const require = createRequire(${JSON.stringify(import.meta.url)})
    const { FlakeId: Made } = require('../../target/rooms/lib/generator/flake-id.js')
    const { generators } = require('../../target/rooms/lib/native/hot.js')
    const native = require('../../target/rooms/lib/native/index.js')
    const made = { open: 0, layouts: 0 }
    const { open } = generators
    generators.open = (...args) => (made.open++, open.apply(generators, args))
    const { Layout } = native
    native.Layout = class extends Layout { constructor(...args) { super(...args); made.layouts++ } }
    const spec = () => ({ fields: [['timestamp', 41], ['node', 3], ['counter', 20]] })
    const counts = [
      () => undefined,
      () => ({ epoch: ${EPOCH} }),
      () => ({ epoch: new Date(${EPOCH}) }),
      () => ({ id: 7 }),
      () => ({ datacenter: 3, worker: 7 }),
      () => ({ layout: 'snowcast', nodes: 128, id: 7, idOffset: 5n }),
      () => ({ layout: 'uniqueid', mode: 'sequential', idOffset: 5n }),
      () => ({ layout: spec(), node: 1, prefetch: { count: 5 }, maxAheadMs: 3, seqMask: 7 }),
    ].map((options) => {
      Object.assign(made, { open: 0, layouts: 0 })
      const kept = Array.from({ length: 100 }, () => new Made(options()))
      return [made.open, made.layouts, new Set(kept.map((flake) => flake.layout)).size]
    })
    console.log(JSON.stringify(counts))`
  t.deepEqual(await jsonOfChild(t, source), [
    [1, 1, 1], // a layout is created when a generator first uses it
    [1, 1, 1],
    [0, 0, 1], // the same epoch as before
    [1, 0, 1],
    [1, 0, 1],
    [1, 1, 1], // the addon has only those that generate IDs
    [1, 1, 1],
    [1, 1, 1],
  ])
})

test('a clock has its own generator, whatever else is equal', (t) => {
  const [a, b] = [manualClock(SOME_TIME), manualClock(SOME_TIME + 5)]
  const flakes = [a, b, a].map((clock) => new FlakeId({ id: 7, clock }))
  t.deepEqual(
    flakes.map((flake) => flake.decode(flake.next()).timestamp),
    [SOME_TIME, SOME_TIME + 5, SOME_TIME],
  )
  t.deepEqual(
    flakes.map((flake) => flake.stats.ids),
    [1, 1, 1],
  )
})

test('a layout is shared only where all its options are equal', (t) => {
  const of = (options) => new FlakeId({ clock: manualClock(), ...options }).layout
  t.is(of({}), layouts.flake)
  t.is(of({ layout: 'discord' }), layouts.discord)
  t.is(of({ epoch: EPOCH }), of({ epoch: new Date(EPOCH) }))
  t.is(of({ epoch: EPOCH }), of({ epoch: String(EPOCH), layout: layouts.flake }))
  const some = [
    of({}),
    of({ epoch: EPOCH }),
    of({ epoch: EPOCH + 1 }),
    of({ idOffset: 5n }),
    of({ idOffset: 6n }),
    of({ idOffset: 5n, epoch: EPOCH }),
    of({ layout: 'twitter', epoch: EPOCH }),
    of({ layout: 'snowcast' }),
    of({ layout: 'snowcast', nodes: 128 }),
    of({ layout: 'snowcast', nodes: 256 }),
    of({ layout: 'uniqueid' }),
    of({ layout: 'uniqueid', mode: 'sequential' }),
    ...[10, 11].map((width) =>
      of({
        layout: { fields: Object.entries({ timestamp: 41, node: 23 - width, counter: width }) },
      }),
    ),
  ]
  t.is(new Set(some).size, some.length)
  t.not(new Layout('flake'), layouts.flake, 'new creates a new one')
})

// --- what is not shared ---

test('each has its own knobs and fields, even where the generator in the addon is the same', (t) => {
  const id = freshNode()
  const [byId, byFields] = [new FlakeId({ id, ...PATIENT }), new FlakeId({ datacenter: id >> 5, worker: id & 31 })]
  t.deepEqual([byId.id, byId.datacenter, byId.worker], [id, undefined, undefined])
  t.deepEqual([byFields.id, byFields.datacenter, byFields.worker], [id, id >> 5, id & 31])
  useUp(byFields) // it throws, and does not have the other's maxWaitMs
  for (let i = 0; i < 5000; i++) byId.next() // it waits
  t.is(byId.stats.ids, byFields.stats.ids)
})

test('a generator that prefetches is not shared with one that does not', (t) => {
  const id = freshNode()
  const [plain, five, six] = [{}, { prefetch: 5 }, { prefetch: 6 }].map((more) => new FlakeId({ id, ...more }))
  for (const flake of [plain, five, six]) flake.next()
  t.deepEqual(
    [plain, five, six].map(({ stats }) => [stats.ids, stats.batches]),
    [
      [1, 0],
      [1, 1],
      [1, 1],
    ],
  )
})

test('a layout that is derived from another keeps the options that are not set again', (t) => {
  const moved = new Layout('flake', { idOffset: 5n })
  const parts = { timestamp: SOME_TIME, id: 5 }
  for (const layout of [new Layout(moved, { epoch: EPOCH }), new FlakeId({ layout: moved, epoch: EPOCH }).layout]) {
    t.deepEqual(layout.encode(parts), new Layout('flake', { epoch: EPOCH, idOffset: 5n }).encode(parts))
  }
  t.is(new FlakeId({ layout: new Layout('flake', { epoch: EPOCH }), idOffset: 5n }).epoch, EPOCH)
})

test('options are read again each time: changed objects, getters; inherited ones are rejected', (t) => {
  const options = { id: 1 }
  t.is(new FlakeId(options).id, 1)
  options.id = 2
  t.is(new FlakeId(options).id, 2)
  let next = 10
  const counting = {
    get id() {
      return next
    },
  }
  t.is(new FlakeId(counting).id, 10)
  next = 11
  t.is(new FlakeId(counting).id, 11)
  t.throws(() => new FlakeId(Object.create({ id: 12 })), { code: 'ERR_FLAKE_OPTION' })
  t.is(new FlakeId(Object.defineProperty({}, 'id', { value: 13 })).id, 13)
  const spec = { fields: Object.entries({ timestamp: 41, a: 3, counter: 20 }) }
  t.is(new FlakeId({ layout: spec, a: 7 }).id, 7)
  spec.fields[1][0] = 'b'
  t.throws(() => new FlakeId({ layout: spec, a: 7 }), { code: 'ERR_FLAKE_OPTION' })
  t.is(new FlakeId({ layout: spec, b: 7 }).id, 7)
})

test('the environment and the host name are read again each time', (t) => {
  const { hostname } = os
  t.teardown(() => {
    os.hostname = hostname
    delete process.env.FLAKEFORGE_ID
  })
  const ids = []
  for (const [variable, host] of [
    ['5', 'a-1'],
    ['6', 'a-1'],
    ['ordinal', 'a-1'],
    ['ordinal', 'a-2'],
  ]) {
    process.env.FLAKEFORGE_ID = variable
    os.hostname = () => host
    ids.push(new FlakeId().id, new FlakeId().decode(new FlakeId().next()).id)
  }
  t.deepEqual(ids, [5, 5, 6, 6, 1, 1, 2, 2])
})

test('an error is the same at every call, and affects no later call', (t) => {
  for (const [options, message] of [
    [{ id: 1024 }, /id must be an integer from 0 to 1023, but is 1024/],
    [{ epoch: 1e13 }, /epoch must be/],
    [{ wroker: 1 }, /wroker/],
    [{ layout: 'uniqueid', idOffset: 1n }, /ordered by time/],
  ]) {
    for (let i = 0; i < 3; i++) {
      t.is(t.throws(() => new FlakeId(options), { code: 'ERR_FLAKE_OPTION' }).message.match(message)?.length, 1)
      t.notThrows(() => new FlakeId())
    }
  }
})

test('the epoch is compared with the present at every call', (t) => {
  const epoch = Date.now() - 1000
  t.is(new FlakeId({ epoch }).epoch, epoch)
  replaceClocks(t, { unixNow: () => epoch - 1 })
  t.is(t.throws(() => new FlakeId({ epoch }), { code: 'ERR_FLAKE_OPTION' }).option, 'epoch')
})

test('a subclass has generators of its own class', (t) => {
  class Mine extends FlakeId {
    hello() {
      return this.id
    }
  }
  t.is(new Mine({ id: 3 }).hello(), 3)
  t.false(new FlakeId({ id: 3 }) instanceof Mine)
})

// --- lifetimes ---

test('an unreferenced generator is collected, and a referenced one is not', async (t) => {
  const interned = new Interned()
  const held = interned.get('held', () => ({}))
  let collected = 0
  const registry = new FinalizationRegistry(() => collected++)
  registry.register(
    interned.get('dropped', () => ({})),
    undefined,
  )
  while (collected === 0) {
    collect()
    await turn()
  }
  t.is(
    interned.get('held', () => 'another'),
    held,
  )
  const made = {}
  t.is(
    interned.get('dropped', () => made),
    made,
  )
})

test('no more than ten thousand are known, and the oldest is forgotten first', (t) => {
  const interned = new Interned()
  const kept = Array.from({ length: 10_001 }, (_, i) => interned.get(i, () => ({ i })))
  const isKnown = (key) => interned.get(key, () => undefined ?? {}) === kept[key]
  t.true(isKnown(1))
  t.true(isKnown(10_000))
  t.false(isKnown(0))
})

test('a generator that could not be created is tried again', (t) => {
  const interned = new Interned()
  t.throws(() =>
    interned.get(1, () => {
      throw new Error('not yet')
    }),
  )
  t.is(interned.get(1, () => t).title, t.title)
})
