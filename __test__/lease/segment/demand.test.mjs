// How many blocks a member of a counter requests at once: lib/base/demand.ts with given times, and SegmentId's use of
// it with a stopped clock.

import '../../support/clocks.mjs' // before flakeforge
import { createRequire } from 'node:module'
import test from 'ava'
import fc from 'fast-check'
import { replaceClocks } from '../../support/clocks.mjs'
import { holds, numberOf, turn } from '../../support/index.mjs'
import { opened, range } from '../../support/segment.mjs'

const { Demand, sixteenth } = createRequire(import.meta.url)('../../../target/rooms/lib/base/demand.js')

const FAST = 1 // ms: by then everything received is used up
const FAIR = 50
const SLOW = 1000

/** Requests blocks, each time this many ms after the last; returns the numbers of blocks. */
function asked(demand, gaps, { now = 0, tookMs = 0.5 } = {}) {
  return gaps.map((gap) => {
    now += gap
    const count = demand.ask(now)
    demand.came(now + tookMs, count)
    return count
  })
}

const times = (n, value) => Array(n).fill(value)

test('one block, while each lasts', (t) => {
  t.deepEqual(asked(new Demand(1, sixteenth), times(500, FAIR)), times(500, 1))
})

test('more where blocks are used up at once, and only in proportion to the previous request', (t) => {
  let had = 1
  for (const count of asked(new Demand(1, sixteenth), times(300, FAST))) {
    t.true(count <= Math.ceil(had / 16), `${count} after ${had}`)
    had += count
  }
  t.true(had > 10_000)
})

test('no more than last a short while', (t) => {
  const demand = new Demand(1, sixteenth)
  let now = 0
  let count = 1
  for (let i = 0; i < 1000; i++) {
    now += count // a block lasts 1 ms
    count = demand.ask(now)
    demand.came(now + 0.5, count)
  }
  t.true(count >= 21 && count <= 42, String(count))
})

test('more than last while the store answers', (t) => {
  const demand = new Demand(1, sixteenth)
  let now = 0
  let count = 1
  for (let i = 0; i < 2000; i++) {
    now += Math.max(count, 50) // a block lasts 1 ms, and the answer takes 50
    count = demand.ask(now)
    demand.came(now + 50, count)
  }
  t.true(count >= 70 && count <= 141, String(count))
})

test('fewer when they last long again, down to one', (t) => {
  const demand = new Demand(1, sixteenth)
  const [most] = asked(demand, times(300, FAST)).slice(-1)
  t.true(most > 100)
  const [next, ...rest] = asked(demand, times(60, SLOW), { now: 300 * FAST })
  t.is(next, Math.ceil(most / 2))
  t.is(rest.at(-1), 1)
})

test('whatever the times: at least one, at most twice the last, and in proportion to the previous request', (t) => {
  const step = fc.record({ gap: fc.nat({ max: 200 }), tookMs: fc.nat({ max: 100 }) })
  holds(
    t,
    [fc.array(step, { maxLength: 200 })],
    (steps) => {
      const demand = new Demand(1, sixteenth)
      let [now, had, last] = [0, 1, 1]
      for (const { gap, tookMs } of steps) {
        now += gap
        const count = demand.ask(now)
        if (!Number.isSafeInteger(count) || count < 1 || count > last * 2 || count > Math.ceil(had / 16)) return false
        now += tookMs
        demand.came(now, count)
        had += count
        last = count
      }
      return true
    },
    500,
  )
})

test.serial('a fast member takes several blocks with one call, and skips no ID', async (t) => {
  replaceClocks(t, { monotonicNow: () => 5 }) // each block is used up as soon as it arrives
  const { segment, store } = await opened(t, { block: 10 })
  const ids = []
  for (let i = 0; i < 2000; i++) {
    ids.push(numberOf(await segment.nextAsync()))
    if (i % 100 === 0) await turn()
  }
  t.deepEqual(ids, range(0, 2000))
  const blocks = store.calls.map(([by]) => Number(by) / 10)
  t.deepEqual(blocks.slice(0, 17), times(17, 1))
  t.true(blocks.at(-1) > 5, String(blocks))
  t.true(blocks.every(Number.isInteger))
  t.true(store.values.get('invoices') < (2000n * 9n) / 8n)
})

test.serial('near the end of 64 bits it takes what fits', async (t) => {
  replaceClocks(t, { monotonicNow: () => 5 })
  for (const left of [1000n, 1010n, 1020n, 1030n]) {
    const first = 2n ** 64n - 1n - left
    const { segment } = await opened(t, { block: 10, init: first - 1n })
    for (let i = 0n; i < left; i++) t.is(numberOf(await segment.nextAsync()), first + i)
    await t.throwsAsync(segment.nextAsync(), { code: 'ERR_FLAKE_STORE', message: /2\^64/ })
  }
})
