// The clock of the WebAssembly, and how a page waits with it, with two clocks of JavaScript that the test moves.

import fs from 'node:fs'
import path from 'node:path'
import vm from 'node:vm'
import test from 'ava'
import fc from 'fast-check'

const root = path.join(import.meta.dirname, '..', '..')
const CLOCK = path.join(root, 'npm', 'wasm32-wasi', 'clock.cjs')
const PAGE = path.join(root, 'npm', 'wasm32-wasi', 'page.cjs')
const NOON = Date.UTC(2026, 10, 20, 12)

/** The exports of a CommonJS file with these globals. */
function load(file, globals) {
  const module = { exports: {} }
  vm.runInNewContext(fs.readFileSync(file, 'utf8'), { module, require: () => ({}), ...globals })
  return module.exports
}

/** The clock of the module, over two clocks that do not move until the test changes `is`. */
function clockOver(is) {
  const performance = { timeOrigin: NOON, now: () => is.since }
  return load(CLOCK, { Date: { now: () => is.ms }, performance })
}

test('the time is finer than a millisecond', (t) => {
  const is = { ms: NOON, since: 0 }
  const { monotonicNow, unixNow } = clockOver(is)
  Object.assign(is, { ms: NOON + 7, since: 7.25 })
  t.is(unixNow(), NOON + 7.25)
  t.is(monotonicNow(), 7.25)
})

for (const departed of [-5_000, -1.5, 1.5, 5_000]) {
  test(`the time is finer than a millisecond where one clock is ${departed} ms ahead of the other`, (t) => {
    const is = { ms: NOON, since: departed }
    const { unixNow } = clockOver(is)
    const times = []
    for (let tenths = 0; tenths < 50; tenths++) {
      Object.assign(is, { ms: NOON + Math.floor(tenths / 10), since: departed + tenths / 10 })
      times.push(unixNow())
    }
    t.is(new Set(times.slice(-20)).size, 20)
    t.deepEqual(times.toSorted(), times)
  })
}

test('the time never leaves the millisecond of Date.now(), wherever the other clock goes', (t) => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 3_000 }), fc.double({ min: 0, max: 3_000, noNaN: true })))
  fc.assert(
    fc.property(steps, (all) => {
      const is = { ms: NOON, since: 0 }
      const { unixNow } = clockOver(is)
      for (const [ms, since] of all) {
        is.ms += ms
        is.since += since
        t.is(Math.floor(unixNow()), is.ms)
      }
    }),
  )
})

/** How a page waits `ms` where each look at a clock advances it: Unix time only after `still` looks, then by `step`. */
function pauseOver(ms, still, step) {
  const at = { unix: NOON, monotonic: 0, looks: 0 }
  const wasm = {
    unixNow() {
      at.looks++
      if (at.looks > still) at.unix += step
      return at.unix
    },
    monotonicNow: () => (at.monotonic += 0.001),
  }
  load(PAGE, {}).pauseBy(wasm)(ms)
  return at
}

test('a page waits until the clock of the module says that the time is over, even if that clock had stopped', (t) => {
  const { unix, monotonic } = pauseOver(0.001, 1_000, 0.01)
  t.true(unix >= NOON + 0.001)
  t.true(monotonic > 0.9, 'much longer than it should have taken by the other clock')
})

test('a page does not wait for a clock that was set back', (t) => {
  const { unix, monotonic } = pauseOver(2, 5, -1_000)
  t.true(unix < NOON)
  t.true(monotonic > 2 && monotonic < 200)
})
