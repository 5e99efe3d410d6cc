// Times as numbers of ms, which hold the present only to 244 ns: `encode`, `range` and generators read the output of
// `decode` as the same tick again. Over all dialects and 500 random layouts; generators take the rule from the core,
// `encode` from the codec.

import assert from 'node:assert/strict'
import test from 'ava'
import fc from 'fast-check'
import { FlakeId, numberOf } from '../support/index.mjs'
import { isOfOtherUnit } from '../support/units.mjs'

const { Layout, layouts } = FlakeId
const NOW = Date.UTC(2026, 10, 26)
const LAST_DATE = 8_640_000_000_000_000n

const orders = fc.constantFrom(
  ['timestamp', 'node', 'counter'],
  ['zero', 'timestamp', 'counter', 'node'],
  ['node', 'timestamp', 'counter'],
  ['zero', 'node', 'timestamp', 'counter'],
  ['counter', 'timestamp'],
  ['zero', 'counter', 'node', 'timestamp'],
  ['timestamp', 'zero'],
)

/** A layout in which the time has `bits` bits, and the other fields share the rest. */
function ofBits(order, bits) {
  const others = order.length - 1
  const widths = order.map((name, i) =>
    name === 'timestamp' ? bits : Math.floor((64 - bits + i) / others) - Math.floor(i / others),
  )
  widths[order[0] === 'timestamp' ? 1 : 0] += 64 - widths.reduce((sum, width) => sum + width)
  return order.map((name, i) => [name, widths[i]])
}

const specs = fc
  .record({
    order: orders,
    bits: fc.integer({ min: 36, max: 60 }),
    tickNs: fc.oneof(
      fc.constantFrom(
        1,
        7,
        10,
        100,
        122,
        244,
        245,
        300,
        399,
        483,
        999,
        1000,
        10_000,
        100_000,
        300_000,
        1_000_000,
        2_500_000,
        10_000_000,
      ),
      fc.integer({ min: 1, max: 30_000_000 }),
    ),
    epoch: fc.constantFrom(0, -1, -1_000_000_000_000, 1_577_836_800_000, NOW, NOW + 1),
  })
  .map(({ order, bits, tickNs, epoch }) => ({ fields: ofBits(order, bits), tickMs: tickNs / 1e6, epoch }))

/** The layouts with the length of their ticks in ns. */
const LAYOUTS = [
  ...Object.values(layouts).map((layout) => ({ layout, tickNs: BigInt(Math.round(layout.tickMs * 1e6)) })),
  ...fc.sample(specs, { numRuns: 900, seed: 43 }).flatMap((spec) => {
    try {
      return [{ layout: new Layout(spec), tickNs: BigInt(Math.round(spec.tickMs * 1e6)) }]
    } catch (error) {
      assert.equal(error.code, 'ERR_FLAKE_OPTION')
      return []
    }
  }),
].slice(0, 511)

/** The first tick of a layout, the last one with a Date, present ones, and others. */
function ticksOf({ layout, tickNs }) {
  const bits = layout.fields.find(([name]) => name === 'timestamp')?.[1]
  const all = bits === undefined ? (2n ** 64n - 100n) / 100n - 1n : 2n ** BigInt(bits) - 1n
  const ofDates = ((LAST_DATE - BigInt(layout.epoch)) * 1_000_000n) / tickNs - 1n
  const last = all < ofDates ? all : ofDates
  const today = (BigInt(NOW - layout.epoch) * 1_000_000n) / tickNs
  const near = [0n, last].flatMap((tick) => [0n, 1n, 2n, 3n, 1000n].map((n) => (tick === 0n ? n : tick - n)))
  const random = Array.from({ length: 24 }, (_, i) => today + BigInt(i) + BigInt(Math.floor(Math.random() * 1e9)))
  const any = Array.from({ length: 8 }, () => (last * BigInt(Math.floor(Math.random() * 2 ** 52))) / 2n ** 52n)
  return [...near, ...random, ...any].filter((tick) => tick >= 0n && tick <= last)
}

const forAll = (t, check) => {
  t.is(LAYOUTS.length, 511)
  for (const each of LAYOUTS) for (const tick of ticksOf(each)) check(each, tick)
}
/** When a tick starts, to the nearest number that is in the same ms; undefined for a tick that does not exist. */
function startOf({ layout, tickNs }, tick) {
  const ns = BigInt(layout.epoch) * 1_000_000n + tick * tickNs
  const whole = (ns - (((ns % 1_000_000n) + 1_000_000n) % 1_000_000n)) / 1_000_000n
  if (tick < 0n) return
  const nearest = Number(whole) + Number(ns - whole * 1_000_000n) / 1e6
  return nearest < Number(whole + 1n) ? nearest : below(Number(whole + 1n))
}

/** The next number below, by its bits. */
function below(number) {
  const bits = new BigInt64Array(new Float64Array([number]).buffer)
  bits[0] += number > 0 ? -1n : 1n
  return new Float64Array(bits.buffer)[0]
}

/** How far apart numbers of this size are. */
const gapAt = (number) => Math.abs(number) - below(Math.abs(number))

/** Whether a time is a whole ms, which is exact, and is in this tick. */
function isWholeIn({ layout, tickNs }, tick, ms) {
  if (!Number.isInteger(ms)) return false
  const since = BigInt(ms - layout.epoch) * 1_000_000n - tick * tickNs
  return since >= 0n && since < tickNs
}

/** Whether a tick ends before the last Date, as all ticks of a layout do. */
const isWithinDates = ({ layout, tickNs }, tick) =>
  (tick + 1n) * tickNs <= (LAST_DATE - BigInt(layout.epoch)) * 1_000_000n

const say = ({ layout, tickNs }, tick) =>
  `tick ${tick} of ${tickNs} ns, epoch ${layout.epoch}, ${JSON.stringify(layout.fields)}`

test('timestamp and date of a tick are in the ms in which it starts, also in its last 100 ns and before 1970', (t) => {
  const nanos = [
    ['timestamp', 63],
    ['counter', 1],
  ]
  const own = (epoch) => [{ fields: nanos, tickMs: 1e-6, epoch }]
  const rows = [
    ['chronicle'],
    ['chronicle', { epoch: -86_400_000 }],
    own(NOW),
    own(-86_400_000),
    own(-(2 ** 40)),
    own(2 ** 40),
  ]
  for (const row of rows) {
    const layout = new Layout(...row)
    const perMs = BigInt(Math.round(1 / layout.tickMs))
    for (const ms of [0n, 1n, 3n, 86_399_999n, 86_400_000n, 1_700_000_000_000n])
      for (const part of [0n, 1n, perMs / 2n, perMs - 122n, perMs - 61n, perMs - 2n, perMs - 1n]) {
        const { timestamp, date } = layout.decode(layout.encode({ tick: ms * perMs + (part < 0n ? 0n : part) }))
        const start = layout.epoch + Number(ms)
        t.deepEqual([date.getTime(), Math.floor(timestamp)], [start, start], `${JSON.stringify(row)} ${ms} ${part}`)
      }
  }
})

test('encode inverts decode: by tick, by timestamp and by date', (t) => {
  let shared = 0
  forAll(t, (each, tick) => {
    const { layout } = each
    const id = numberOf(layout.encode({ tick }))
    const parts = layout.decode(id)
    const { timestamp, date, mode } = parts
    assert.equal(numberOf(layout.encode(parts)), id, say(each, tick))
    assert.equal(numberOf(layout.encode(JSON.parse(JSON.stringify(parts)))), id, say(each, tick))
    if (timestamp >= layout.end.getTime()) return // there is no number between the last tick and the end
    if (isOfOtherUnit(timestamp)) return
    const byTime = layout.decode(layout.encode({ timestamp, mode }))
    if (!isWholeIn(each, byTime.tick, timestamp)) assert.equal(byTime.timestamp, timestamp, say(each, tick))
    if (byTime.tick !== tick) shared++
    const isAlone = [tick - 1n, tick + 1n].every((other) => startOf(each, other) !== timestamp)
    if (isAlone && !isWholeIn(each, byTime.tick, timestamp)) assert.equal(byTime.tick, tick, say(each, tick))
    const byDate = layout.decode(layout.encode({ date, mode }))
    assert.equal(byDate.date.getTime(), date.getTime(), say(each, tick))
    if (each.tickNs >= 1_000_000n) assert.equal(byDate.tick, tick, say(each, tick))
  })
  t.log(`${shared} ticks share their number of ms with others`)
})

/** Whether a tick has an instant of the time that a number of ms denotes: the whole ms if it is an integer. */
function isOf(each, tick, timestamp) {
  if (!Number.isInteger(timestamp)) return each.layout.decode(each.layout.encode({ tick })).timestamp === timestamp
  const start = BigInt(each.layout.epoch) * 1_000_000n + tick * each.tickNs
  const ms = BigInt(timestamp) * 1_000_000n
  return start < ms + 1_000_000n && start + each.tickNs > ms
}

test('range(t, t) has every ID whose timestamp is t, or begins with this ms, and no ID of another time', (t) => {
  let checked = 0
  forAll(t, (each, tick) => {
    const { layout } = each
    const { timestamp, mode } = layout.decode(layout.encode({ tick }))
    if (timestamp >= layout.end.getTime() || isOfOtherUnit(timestamp)) return
    let bounds
    try {
      bounds = layout.range(timestamp, timestamp)
    } catch (error) {
      assert.equal(error.code, 'ERR_FLAKE_OPTION', `${error.message} ${say(each, tick)}`) // does not sort by time
      return
    }
    const [min, max] = [bounds.min, bounds.max].map(numberOf)
    for (const near of [-3n, -1n, 0n, 1n, 3n]) {
      if (tick + near < 0n || !isWithinDates(each, tick + near)) continue
      let id
      try {
        id = numberOf(layout.encode({ tick: tick + near, mode, id: 0 }))
      } catch {
        continue // after the last tick
      }
      assert.equal(min <= id && id <= max, isOf(each, tick + near, timestamp), `${near}: ${say(each, tick)}`)
      checked++
    }
  })
  t.true(checked > 10_000, String(checked))
})

test('a time within a tick belongs to that tick, and to no later one', (t) => {
  forAll(t, (each, tick) => {
    const { layout } = each
    const { timestamp, mode } = layout.decode(layout.encode({ tick }))
    for (const part of [0.3, 0.5, 0.9, 0.9999999]) {
      const ms = timestamp + layout.tickMs * part
      let found
      try {
        found = layout.decode(layout.encode({ timestamp: ms, mode }))
      } catch (error) {
        assert.equal(error.code, 'ERR_FLAKE_TIME_RANGE')
        continue // a number that equals the end
      }
      assert.ok(found.timestamp <= ms, say(each, tick))
      const next = layout.tickMs * 1e6 < 2000 ? undefined : layout.decode(layout.encode({ tick: found.tick, mode }))
      if (next) assert.ok(next.timestamp + layout.tickMs * 1.001 + gapAt(ms) >= ms, say(each, tick))
    }
  })
  t.pass()
})

test('a generator whose clock returns numbers is in the tick that encode finds', (t) => {
  let made = 0
  forAll(t, (each, tick) => {
    if (tick % 3n !== 0n) return
    const { layout } = each
    const { timestamp, mode } = layout.decode(layout.encode({ tick }))
    for (const ms of [timestamp, timestamp + layout.tickMs / 3, timestamp - layout.tickMs / 3]) {
      if (isOfOtherUnit(ms)) continue // a clock may be, encode refuses it
      const codec = attempt(() => layout.decode(layout.encode({ timestamp: ms, mode })).tick)
      const core = attempt(() => layout.decode(new FlakeId({ layout, id: 0, clock: () => ms }).next()).tick)
      assert.equal(core, codec, `${ms}: ${say(each, tick)}`)
      made++
    }
  })
  t.true(made > 5000, String(made))
})

function attempt(call) {
  try {
    return call()
  } catch (error) {
    return error.code
  }
}

test('the times from the bug report', (t) => {
  const micros = layouts['chronicle-micros']
  const { timestamp } = micros.decode(1666392005494428n)
  t.is(numberOf(micros.encode({ timestamp, host: 28 })), 1666392005494428n)
  t.is(numberOf(micros.range(timestamp - 1, timestamp).max), 1666392005494499n)
  const tenths = { epoch: 0, tickMs: 0.1, fields: Object.entries({ timestamp: 50, node: 4, counter: 10 }) }
  const ticks = [1700000000000.1, 1700000000000.2].map((now) => {
    const flake = new FlakeId({ layout: tenths, clock: () => now })
    return flake.decode(flake.next()).tick
  })
  t.deepEqual(ticks, [17000000000001n, 17000000000002n])
})

// --- the end of what fits a signed column ---

test('signedEnd is when the first ID, whatever its node and counter, has the top bit set', (t) => {
  for (const { layout, tickNs } of LAYOUTS) {
    if (layout.name === 'uniqueid') continue
    const [[top, width] = ['timestamp', 0]] = layout.fields
    const end = layout.end.getTime()
    const half = Number((2n ** BigInt(Math.max(width - 1, 0)) * tickNs) / 1_000n) / 1e3 + layout.epoch
    const decimal = Number((2n ** 63n - 1n - 99n) / 100n + 1n) * layout.tickMs + layout.epoch
    const expected =
      layout.fields.length === 0 ? decimal : top === 'zero' ? end : top === 'timestamp' ? half : layout.epoch
    const wanted = Math.min(end, expected)
    t.true(Math.abs(layout.signedEnd.getTime() - wanted) <= 1, `${layout.signedEnd.getTime()} is not ${wanted}`)
  }
  const fields = Object.entries({ zero: 1, node: 10, timestamp: 41, counter: 12 })
  const layout = new Layout({ epoch: Date.UTC(2020, 4, 3), fields })
  t.is(layout.signedEnd.toISOString(), '2090-01-07T15:47:35.552Z')
  t.is(layouts.uniqueid.signedEnd.getTime(), 1)
})
