// What console.log and util.inspect show of a generator: its class and state, in the available space.

import { inspect } from 'node:util'
import test from 'ava'
import { FlakeId, fixed, jsonOfChild, lease, SOME_TIME } from '../support/index.mjs'
import { joined } from '../support/lease.mjs'
import { opened } from '../support/segment.mjs'

test('FlakeId shows the layout, the node, the epoch and how its ticks are used', (t) => {
  t.is(
    inspect(new FlakeId({ datacenter: 9, worker: 7, epoch: SOME_TIME })),
    `FlakeId {
  layout: 'flake',
  datacenter: 9,
  worker: 7,
  id: 295,
  epoch: 2023-11-14T22:13:20.000Z,
  seqMask: 4095,
  maxAheadMs: 0,
  maxWaitMs: 0
}`,
  )
  t.regex(
    inspect(new FlakeId({ layout: 'hazelcast', node: 3, prefetch: 20 })),
    /layout: 'hazelcast',\n {2}node: 3,\n {2}id: 3,/,
  )
})

test('FlakeId shows only what differs from the defaults', (t) => {
  const special = inspect(fixed({ id: 5, prefetch: { count: 20, validityMs: 0 }, maxWaitMs: 30 }))
  for (const part of ['maxWaitMs: 30', 'prefetch: { count: 20, validityMs: 0 }', 'clock: [Function: clock]']) {
    t.true(special.includes(part), special)
  }
  t.notRegex(inspect(new FlakeId({ id: 5 })), /prefetch|shared|clock|datacenter|undefined/)
})

test('LeasedFlakeId shows its group, state, slot and expiry, and no node number without a slot', async (t) => {
  const { flake } = await joined(t, { group: 'orders' })
  const expires = flake.expires.toISOString()
  const shown = inspect(flake)
  t.regex(shown, /^LeasedFlakeId \{\n {2}group: 'orders',\n {2}state: 'attached',\n {2}slot: 0,\n {2}expires: /)
  t.true(shown.includes(`expires: ${expires},\n  layout: 'flake',\n  datacenter: 0,\n  worker: 0,\n  id: 0,`), shown)
  await flake.detach()
  t.regex(
    inspect(flake),
    /^LeasedFlakeId \{\n {2}group: 'orders',\n {2}state: 'detached',\n {2}layout: 'flake',\n {2}epoch: /,
  )
  t.notRegex(inspect(flake), /slot|expires|worker|\bid:|undefined/)
  await flake.attach()
  await flake.destroy()
  t.regex(inspect(flake), /state: 'destroyed',\n {2}layout/)
})

test('SegmentId shows its counter and its remaining numbers', async (t) => {
  const { segment } = await opened(t, { block: 10 })
  segment.nextBigInt()
  t.is(inspect(segment), "SegmentId { name: 'invoices', block: 10, left: 9, isClosed: false }")
  t.is(inspect({ segment }, { depth: 0 }), '{ segment: [SegmentId] }')
  await segment.close()
  t.is(inspect(segment), "SegmentId { name: 'invoices', block: 10, left: 0, isClosed: true }")
})

test('a subclass shows its own name, and a deeply nested object only its name', (t) => {
  class Orders extends FlakeId {}
  const flake = new Orders({ id: 5 })
  t.true(inspect(flake).startsWith("Orders {\n  layout: 'flake'"))
  t.regex(inspect({ a: { flake } }), /a: \{\n +flake: Orders \{\n +layout: 'flake',/)
  t.is(inspect({ a: { b: { flake } } }), '{ a: { b: { flake: [Orders] } } }')
  t.is(inspect({ flake }, { depth: 0 }), '{ flake: [Orders] }')
  t.regex(inspect({ flake: new Orders({ id: 5, prefetch: true }) }, { depth: 1 }), /prefetch: \[Object\]/)
  t.regex(inspect({ flake: new Orders({ id: 5, prefetch: true }) }, { depth: null }), /prefetch: \{ count: 100,/)
  t.true(inspect(flake, { colors: true }).includes("\u001b[32m'flake'"))
  t.true(inspect(flake, { breakLength: 1000, compact: true }).split('\n').length === 1)
})

test('the classes and their prototypes are shown as Node.js shows any class', async (t) => {
  t.true(inspect(FlakeId).startsWith('<ref *1> [class FlakeId] {'))
  t.false(inspect(FlakeId).includes('Symbol('))
  t.is(inspect(lease.LeasedFlakeId), '[class LeasedFlakeId extends FlakeId]')
  t.is(inspect(lease.SegmentId), '[class SegmentId]')
  for (const { prototype } of [FlakeId, lease.LeasedFlakeId, lease.SegmentId]) t.notThrows(() => inspect(prototype))
})

test('the hook is not a property, and JSON shows the same values', (t) => {
  const flake = new FlakeId({ id: 5 })
  t.deepEqual(Reflect.ownKeys(flake), ['uncloneable'])
  t.deepEqual(Object.keys(JSON.parse(JSON.stringify(flake))), [
    'layout',
    'id',
    'epoch',
    'seqMask',
    'maxAheadMs',
    'maxWaitMs',
  ])
})

test('console.log shows it', async (t) => {
  const source = `
    const shown = []
    process.stdout.write = (text) => shown.push(text)
    console.log(new FlakeId({ id: 5 }))
    delete process.stdout.write
    process.stdout.write(JSON.stringify(shown.join('').split('\\n')[0]))
  `
  t.is(await jsonOfChild(t, source), 'FlakeId {')
})
