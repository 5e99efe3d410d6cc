// No ID lies outside a granted window: with every layout, by every call for IDs, through renewals, losses, failures and
// a detach. The store is the test's own and remembers every window; an ID is inside one if its whole tick is.

import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { dialect, WITH_NODES } from '../support/dialects.mjs'
import { numberOf, split } from '../support/index.mjs'
import { happens, joined } from '../support/lease.mjs'
import { giveAway, LEASE } from '../support/store.mjs'

const NS_PER_MS = 1_000_000n

/** Windows are shorter here than the time that some layouts may run ahead. */
const shortAhead = ({ maxAheadMs }) => (Number.isFinite(maxAheadMs) && maxAheadMs > 1000 ? { maxAheadMs: 1000 } : {})

/** Layouts, each with its own knobs, and some that run ahead, prefetch, or both. */
const CASES = {
  ...Object.fromEntries(WITH_NODES.map((each) => [each.name, { layout: each.name, ...shortAhead(each) }])),
  'hazelcast with prefetch': { layout: 'hazelcast', maxAheadMs: 1000, prefetch: { count: 5000, validityMs: 0 } },
  'chronicle that waits': { layout: 'chronicle', maxAheadMs: 0 },
  'flake that runs ahead': { maxAheadMs: 1200 },
  'flake with prefetch': { prefetch: 1000 },
  'flake that runs ahead with prefetch': { maxAheadMs: 1200, prefetch: { count: 100_000, validityMs: 0 } },
  'uniqueid, sequential': { layout: 'uniqueid', mode: 'sequential' },
  'ticks of a second': {
    layout: { tickMs: 1000, fields: Object.entries({ timestamp: 40, shard: 10, counter: 14 }) },
  },
  'ticks of 300 ms': {
    layout: { tickMs: 300, fields: Object.entries({ timestamp: 40, shard: 10, counter: 14 }) },
  },
  'ticks of 1 µs': {
    layout: { tickMs: 0.001, fields: Object.entries({ timestamp: 54, shard: 6, counter: 4 }) },
  },
}

const tickNs = ({ layout = 'flake' }) => BigInt(Math.round((dialect(layout) ?? { tickMs: 1, ...layout }).tickMs * 1e6))

/** The start and the end of an ID's tick, in Unix ns, both inclusive. */
function spanOf(flake, id, ns) {
  const start = BigInt(flake.epoch) * NS_PER_MS + flake.decode(id).tick * ns
  return [start, start + ns - 1n]
}

/** The windows as [slot, first ns, last ns]. */
const spansOf = (windows) =>
  windows.map(({ slot, lo, hi }) => [slot, BigInt(lo) * NS_PER_MS, BigInt(hi + 1) * NS_PER_MS - 1n])

/** IDs outside all windows of their slot, as readable text. The slot is the node number here. */
function strays({ flake, store, ids, ns }) {
  const spans = spansOf(store.windows)
  return ids.flatMap((id) => {
    const [start, end] = spanOf(flake, id, ns)
    const { id: slot } = flake.decode(id)
    const isIn = spans.some(([of, first, last]) => of === slot && first <= start && end <= last)
    return isIn ? [] : [`${id} of slot ${slot}: ${start}…${end}`]
  })
}

const WAYS = [
  (flake) => [flake.next()],
  (flake) => [flake.nextBigInt()],
  (flake) => split(flake.take(70)),
  (flake) => split(flake.takeBigInts(300)),
  async (flake) => [await flake.nextAsync()],
  async (flake) => split(await flake.takeAsync(200)),
]
const REFUSALS = ['ERR_FLAKE_OVERFLOW', 'ERR_FLAKE_LEASE_EXPIRED', 'ERR_FLAKE_DETACHED']

/** Generates IDs in all ways until `isOver()`; errors are expected. */
async function makeAll(flake, isOver) {
  const ids = []
  const refused = {}
  for (let i = 0; !isOver(); i++) {
    try {
      for (const id of await WAYS[i % WAYS.length](flake)) ids.push(numberOf(id))
    } catch (error) {
      if (!REFUSALS.includes(error.code)) throw error
      refused[error.code] = (refused[error.code] ?? 0) + 1
    }
    await sleep(10)
  }
  return { ids, refused }
}

const MORE_THAN_IS_HELD = 200_000 // by a prefetch

/** Some seconds in the life of a lease: consecutive windows, one that ends without a renewal, and a lost slot. */
async function live(t, { flake, store, group }) {
  await sleep(700)
  store.fail()
  await sleep(LEASE.ttlMs + 300)
  t.throws(() => flake.takeBigInts(MORE_THAN_IS_HELD), { code: 'ERR_FLAKE_LEASE_EXPIRED' })
  store.work()
  await flake.nextAsync()
  await sleep(500)
  giveAway(store, flake.slot, group)
  await happens(flake, 'attached')
  await sleep(900)
}

for (const [name, options] of Object.entries(CASES)) {
  test(`${name}: no ID outside a window, none twice`, async (t) => {
    const group = 'windows'
    const { flake, store } = await joined(t, { epoch: undefined, ...options, group, slots: 8 })
    let isOver = false
    const making = makeAll(flake, () => isOver)
    await live(t, { flake, store, group })
    isOver = true
    const { ids, refused } = await making
    t.true(ids.length > 1000, `${ids.length} IDs, errors: ${JSON.stringify(refused)}`)
    t.is(new Set(ids).size, ids.length, 'duplicates')
    const found = strays({ flake, store, ids, ns: tickNs(options) })
    t.deepEqual(found.slice(0, 3), [], `${found.length} of ${ids.length}`)
    t.deepEqual([...new Set(ids.map((id) => flake.decode(id).id))], [0, 1], 'two slots were held')
  })
}

test('the same check finds IDs outside a window', async (t) => {
  const { flake, store } = await joined(t)
  const ids = [flake.nextBigInt()]
  t.deepEqual(strays({ flake, store, ids, ns: NS_PER_MS }), [])
  const [{ slot, lo, hi }] = store.windows
  const at = (ms, id) => numberOf(flake.layout.encode({ timestamp: ms, id }))
  t.deepEqual(strays({ flake, store, ids: [at(lo, slot), at(hi, slot)], ns: NS_PER_MS }), [])
  const outside = [at(lo - 1, slot), at(hi + 1, slot), at(lo, slot + 1)]
  t.is(strays({ flake, store, ids: outside, ns: NS_PER_MS }).length, 3)
})

test('join() and attach() resolve once an ID can be generated, however long a tick is', async (t) => {
  for (const tickMs of [10, 1000]) {
    const layout = { tickMs, fields: Object.entries({ timestamp: 40, shard: 10, counter: 14 }) }
    const { flake } = await joined(t, { layout, epoch: undefined, group: `ticks of ${tickMs} ms` })
    t.notThrows(() => flake.nextBigInt(), `after join, ticks of ${tickMs} ms`)
    await flake.detach()
    await flake.attach()
    t.notThrows(() => flake.nextBigInt(), `after attach, ticks of ${tickMs} ms`)
  }
})
