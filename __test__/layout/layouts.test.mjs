// Layouts as mathematics: for every dialect with its options, and for random layouts, packing and unpacking are
// inverses, and IDs sort by time where the layout promises it. BigInt cuts the fields again here, from names and widths
// alone.

import assert from 'node:assert/strict'
import test from 'ava'
import fc from 'fast-check'
import { dialect } from '../support/dialects.mjs'
import { FlakeId, numberOf } from '../support/index.mjs'

const { Layout, layouts } = FlakeId
const NODES = [128, 129, 200, 256, 512, 1000, 1024, 2048, 4096, 8191, 8192]
const EPOCHS = [0, 456, -1_000_000_000_000, 1_700_000_000_000]
const MAX_ID = 2n ** 64n - 1n
const LAST_DATE = 8_640_000_000_000_000n

/** A layout and the length of its ticks, which a Layout does not expose. */
const timed = (layout, tickNs = BigInt(dialect(layout.name).tickNs)) => ({ layout, tickNs })

const dialects = [
  ...Object.values(layouts),
  ...NODES.map((nodes) => new Layout('snowcast', { nodes })),
  new Layout('uniqueid', { mode: 'sequential' }),
  ...Object.values(layouts).flatMap((layout) =>
    layout.fields.length > 0 ? [new Layout(layout, { mode: 'spread' })] : [],
  ),
  ...Object.keys(layouts).flatMap((name) => EPOCHS.map((epoch) => new Layout(name, { epoch }))),
].map((layout) => timed(layout))

// --- random custom layouts ---

const NAMES = ['a', 'b', 'shard', 'worker', 'zero', 'zero', 'counter', 'mode2', 'Zero', 'x y']

/** 64 bits cut into fields with these names. */
const cut = (names) =>
  fc
    .uniqueArray(fc.integer({ min: 1, max: 63 }), { minLength: names.length - 1, maxLength: names.length - 1 })
    .map((cuts) => [0, ...cuts.sort((a, b) => a - b), 64])
    .map((marks) => names.map((name, i) => [name, marks[i + 1] - marks[i]]))

const isNode = ([name]) => !['timestamp', 'counter', 'zero'].includes(name)
const bitsOf = (fields) => fields.reduce((sum, [, bits]) => sum + bits, 0)
const isPossible = (fields) =>
  bitsOf(fields.filter(isNode)) <= 53 && bitsOf(fields.filter(([name]) => name === 'counter')) <= 53

const fieldSets = fc
  .shuffledSubarray(NAMES, { minLength: 1, maxLength: 6 })
  .chain((others) => fc.shuffledSubarray([...others, 'timestamp'], { minLength: others.length + 1 }))
  .chain(cut)
  .filter(isPossible)

const ownLayouts = fc
  .record({
    fields: fieldSets,
    tickMs: fc.constantFrom(1, 10, 1000, 0.1, 0.0001, 0.000001, 2.5, 86_400_000),
    epoch: fc.constantFrom(...EPOCHS),
    mode: fc.constantFrom(undefined, undefined, 'spread'),
  })
  .map((spec) => timed(new Layout(spec), BigInt(Math.round(spec.tickMs * 1e6))))

const anyLayout = fc.oneof(fc.constantFrom(...dialects), ownLayouts)
const anyId = fc.oneof(
  fc.bigInt({ min: 0n, max: MAX_ID }),
  fc.nat({ max: 63 }).map((bit) => 1n << BigInt(bit)),
  fc.nat({ max: 1000 }).map(BigInt),
  fc.nat({ max: 1000 }).map((n) => MAX_ID - BigInt(n)),
)

const holds = (t, property, numRuns = 3000) => t.notThrows(() => fc.assert(property, { numRuns }))

// --- the bits, cut again ---

/**
 * The values of the fields in an ID and their widths, as bigints; pieces of one name are joined, the upper one first.
 */
function slices({ fields }, id) {
  const values = {}
  const widths = {}
  let shift = 64n
  for (const [name, bits] of fields) {
    shift -= BigInt(bits)
    values[name] = ((values[name] ?? 0n) << BigInt(bits)) | ((id >> shift) & (2n ** BigInt(bits) - 1n))
    widths[name] = (widths[name] ?? 0n) + BigInt(bits)
  }
  return { values, widths }
}

const reverse = (value, width) => BigInt(`0b${[...value.toString(2).padStart(Number(width), '0')].reverse().join('')}`)
const isDecimal = (layout) => layout.fields.length === 0

/** The parts of an ID, in plain arithmetic; undefined if a bit is set that must be 0. */
function modelled(layout, id) {
  if (isDecimal(layout)) return { tick: id / 100n, counter: 0, host: Number(id % 100n), id: Number(id % 100n) }
  const { values, widths } = slices(layout, id)
  const { zero = 0n, timestamp, counter = 0n, mode, ...nodes } = values
  if (zero !== 0n) return undefined
  const names = Object.keys(nodes)
  const isReversed = mode === undefined ? layout.mode === 'spread' : mode === 0n
  return {
    tick: isReversed ? reverse(timestamp, widths.timestamp) : timestamp,
    counter: Number(counter),
    id: Number(names.reduce((joined, name) => (joined << widths[name]) | nodes[name], 0n)),
    ...Object.fromEntries(names.map((name) => [name, Number(nodes[name])])),
    ...(mode === undefined && !isReversed ? {} : { mode: isReversed ? 'spread' : 'sequential' }),
  }
}

test('random IDs: decode cuts the bits and encode joins them again; a bit that must be 0 is rejected', (t) => {
  const seen = { decoded: 0, refused: 0 }
  const property = fc.property(anyLayout, anyId, ({ layout, tickNs }, id) => {
    fc.pre(!isDecimal(layout) || id / 100n < MAX_ID / 100n) // the last tick of a decimal layout does not have all hosts
    const expected = modelled(layout, id)
    if (expected === undefined) {
      seen.refused++
      assert.throws(() => layout.decode(id), { name: 'TypeError', code: 'ERR_FLAKE_ID', value: id })
      return
    }
    seen.decoded++
    const { timestamp, date, ...parts } = layout.decode(id)
    assert.deepEqual(parts, expected)
    const ms = Number(expected.tick * tickNs) / 1e6 + layout.epoch
    assert.ok(Math.abs(timestamp - ms) <= Math.abs(ms) * 1e-15 + 0.001, `${timestamp} for ${ms}`)
    const inMs = expected.tick * tickNs - ((((expected.tick * tickNs) % 1_000_000n) + 1_000_000n) % 1_000_000n)
    const start = BigInt(layout.epoch) + inMs / 1_000_000n // the ms that it lies in, before 1970 too
    assert.equal(date.getTime(), new Date(Number(start)).getTime())
    assert.equal(numberOf(layout.encode({ timestamp, date, ...parts })), id)
  })
  holds(t, property, 5000)
  t.true(seen.decoded > 1000 && seen.refused > 300, JSON.stringify(seen))
})

for (const name of ['chronicle', 'chronicle-micros']) {
  test(`${name}: the last sixteen numbers, in a tick without all hosts, are decoded and encoded or rejected`, (t) => {
    const layout = layouts[name]
    for (let id = MAX_ID - 20n; id <= MAX_ID; id++) {
      let parts
      try {
        parts = layout.decode(id)
      } catch (error) {
        t.is(error.code, 'ERR_FLAKE_ID')
        t.true(id >= MAX_ID - 15n, `${id} is an ID`)
        continue
      }
      t.is(numberOf(layout.encode(parts)), id)
    }
  })
}

test('a counter too wide for a number is rejected, or loses no bits', (t) => {
  for (const bits of [54, 60, 63]) {
    const spec = { fields: Object.entries({ timestamp: 64 - bits, counter: bits }) }
    let layout
    try {
      layout = new Layout(spec)
    } catch (error) {
      t.is(error.code, 'ERR_FLAKE_OPTION')
      t.regex(error.message, /counter|bits/)
      continue
    }
    for (const id of [2n ** BigInt(bits) - 1n, 2n ** 53n + 1n]) t.is(numberOf(layout.encode(layout.decode(id))), id)
  }
})

// --- parts ---

/** A number from anywhere in the range, including its ends. */
const upTo = (max) =>
  fc.oneof(
    fc.maxSafeNat().map((n) => n % (max + 1)),
    fc.constantFrom(0, max),
  )

/** The last tick that fits the bits or digits, and a Date. */
function lastTickOf(layout, tickNs) {
  const wide = isDecimal(layout) ? MAX_ID / 100n - 1n : 2n ** slices(layout, 0n).widths.timestamp - 1n
  const shown = ((LAST_DATE - BigInt(layout.epoch)) * 1_000_000n) / tickNs - 1n
  return wide < shown ? wide : shown
}

/** Random parts of a layout, within its fields and its time. */
function partsOf({ layout, tickNs }) {
  const { widths } = slices(layout, 0n)
  const lastTick = lastTickOf(layout, tickNs)
  const { timestamp: _, counter = 0n, zero: __, mode, ...nodes } = widths
  const maxima = Object.entries(nodes).map(([name, width]) => [name, 2 ** Number(width) - 1])
  const parts = {
    tick: fc.oneof(fc.bigInt({ min: 0n, max: lastTick }), fc.constantFrom(0n, lastTick)),
    counter: upTo(2 ** Number(counter) - 1),
    ...Object.fromEntries((isDecimal(layout) ? [['host', 99]] : maxima).map(([name, max]) => [name, upTo(max)])),
    ...(mode === undefined ? {} : { mode: fc.constantFrom('spread', 'sequential') }),
    ...(mode === undefined && layout.mode === 'spread' ? { mode: fc.constant('spread') } : {}),
  }
  return fc.record(parts, { noNullPrototype: true }) // so that deepEqual compares its contents
}

/** Whether a number cannot look like a time in another unit. */
const isMs = (number) => number <= 0 || (number > 1e12 && number < 4e12)

const anyParts = anyLayout.chain((each) => fc.record({ each: fc.constant(each), parts: partsOf(each) }))

test('random parts: decode returns what encode was given, however time and node are given', (t) => {
  const property = fc.property(anyParts, ({ each: { layout, tickNs }, parts }) => {
    const id = layout.encode(parts)
    const { timestamp, date, id: node, ...back } = layout.decode(id)
    assert.deepEqual(back, parts)
    const { tick, counter, mode } = parts
    const ns = BigInt(layout.epoch) * 1_000_000n + tick * tickNs
    const times = [ns, ns + tickNs - 1n].filter((time) => isMs(Number(time) / 1e6)).map((timestamp) => ({ timestamp }))
    for (const time of [{ tick }, ...times]) {
      assert.deepEqual(layout.encode({ ...time, counter, mode, id: node }), id)
    }
    if (tickNs % 1_000_000n !== 0n) return
    if (isMs(timestamp)) assert.deepEqual(layout.encode({ timestamp, counter, mode, id: node }), id)
    assert.deepEqual(layout.encode({ timestamp: date, counter, mode, id: node }), id)
    assert.deepEqual(layout.encode({ date, counter, mode, id: node }), id)
  })
  holds(t, property)
})

// --- order ---

/** Timestamp on top, or below bits that are always 0, and not reversed. */
function isOrdered({ fields }, mode) {
  if (fields.length === 0) return true
  return fields.find(([name]) => name !== 'zero')[0] === 'timestamp' && mode !== 'spread'
}

const sign = (difference) => (difference > 0n) - (difference < 0n)

test('time-ordered layouts: IDs of one node sort by tick and counter', (t) => {
  let compared = 0
  const pairs = anyLayout.chain((each) => fc.tuple(fc.constant(each), partsOf(each), partsOf(each), fc.boolean()))
  const property = fc.property(pairs, ([{ layout }, one, two, isSameTick]) => {
    fc.pre(isOrdered(layout, one.mode))
    const [first, second] = [one, { ...one, counter: two.counter, tick: isSameTick ? one.tick : two.tick }]
    const ticks = sign(first.tick - second.tick)
    const counters = Math.sign(first.counter - second.counter)
    assert.equal(FlakeId.compare(layout.encode(first), layout.encode(second)), ticks === 0 ? counters : ticks)
    compared++
  })
  holds(t, property)
  t.true(compared > 1000)
})

test('range: the bounds contain the IDs of these times and no others', (t) => {
  const cases = ownOrDialect(true).chain((each) => fc.tuple(fc.constant(each), instants(each), partsOf(each)))
  const property = fc.property(cases, ([{ layout, tickNs }, [from, to], parts]) => {
    const tickOf = (ms, ns = 0n) => ((BigInt(ms) - BigInt(layout.epoch)) * 1_000_000n + ns) / tickNs
    const lastOf = (ms) => [tickOf(ms, 999_999n), lastTickOf(layout, tickNs)].reduce((a, b) => (a < b ? a : b))
    const { min, max } = layout.range(new Date(from), new Date(to))
    const mode = layout.decode(max).mode
    const id = numberOf(layout.encode({ ...parts, ...(mode && { mode }) }))
    const isWithin = numberOf(min) <= id && id <= numberOf(max)
    assert.equal(isWithin, parts.tick >= tickOf(from) && parts.tick <= lastOf(to))
    if (isMs(from) && isMs(to)) assert.deepEqual(layout.range(from, to), { min, max })
    const [lowest, highest] = [layout.decode(min), layout.decode(max)]
    assert.deepEqual([lowest.counter, lowest.id], [0, 0], 'min: all else is 0')
    assert.ok(mode || lowest.tick === tickOf(from)) // with a mode: see below
    assert.equal(highest.tick, lastOf(to))
    assert.ok(!isDecimal(layout) || highest.host === 99, 'max: all else is 1')
    const { values, widths } = slices(layout, numberOf(max))
    for (const name of Object.keys(values).filter((name) => name !== 'timestamp')) {
      assert.equal(values[name], name === 'zero' ? 0n : 2n ** widths[name] - 1n, `max: all of ${name} is 1`)
    }
    const first = new Date(from)
    assert.deepEqual(layout.range(first), layout.range(first, first), 'an instant is a range')
    assert.equal(layout.decode(layout.range(first).max).tick, lastOf(from))
    if (lastOf(from) < tickOf(to)) {
      assert.throws(() => layout.range(new Date(to), first), { code: 'ERR_FLAKE_OPTION', option: 'to', value: first })
    }
  })
  holds(t, property, 2000)
})

const isOrderedOne = ({ layout }) =>
  isOrdered(layout, layout.mode ?? (layout.name === 'uniqueid' ? 'spread' : undefined))
const SEQUENTIAL = dialects.find(({ layout }) => layout.name === 'uniqueid' && layout.signedEnd.getTime() > 1e12)
const ownOrDialect = (ordered) => anyLayout.filter((each) => isOrderedOne(each) === ordered)

/** Two instants that the layout can express, in whole ms, the earlier one first; often close to each other. */
function instants({ layout, tickNs }) {
  const first = layout.epoch
  const last = first + Number((lastTickOf(layout, tickNs) * tickNs) / 1_000_000n)
  const near = fc.tuple(fc.integer({ min: first, max: last }), fc.nat({ max: 100 }))
  return fc.oneof(
    fc
      .tuple(fc.integer({ min: first, max: last }), fc.integer({ min: first, max: last }))
      .map(([a, b]) => (a < b ? [a, b] : [b, a])),
    near.map(([from, more]) => [from, Math.min(from + more, last)]),
  )
}

test('range: the smallest ID of a sequential layout is an ID of that mode and time', (t) => {
  const { layout } = SEQUENTIAL
  const { min, max } = layout.range(1_700_000_000_000)
  for (const id of [min, max]) t.like(layout.decode(id), { timestamp: 1_700_000_000_000, mode: 'sequential' })
})

test('range: a layout whose IDs do not sort by time has none', (t) => {
  let refused = 0
  const property = fc.property(ownOrDialect(false), ({ layout }) => {
    assert.throws(() => layout.range(layout.epoch), { name: 'RangeError', code: 'ERR_FLAKE_OPTION' })
    refused++
  })
  holds(t, property, 500)
  t.true(refused > 100)
  t.throws(() => layouts.uniqueid.range(Date.now()), { code: 'ERR_FLAKE_OPTION', message: /ordered by time/ })
})

test('range: parts outside the times of a layout are clipped', (t) => {
  const property = fc.property(ownOrDialect(true), fc.nat(), ({ layout }, more) => {
    const first = layout.epoch
    const last = layout.end.getTime() - 1 // a whole ms; the last tick may start after it
    const whole = layout.range(new Date(first), new Date(last + 1))
    const [before, after] = [new Date(first - 1 - more), new Date(Math.min(last + 2 + more, 8.64e15))]
    assert.deepEqual(layout.range(before, after), whole)
    if (first > 1e12) {
      assert.deepEqual(layout.range(new Date(first - 1), BigInt(last + 2) * 1_000_000n), whole)
      assert.deepEqual(layout.range(BigInt(first) * 1_000_000n - 1n, new Date(last + 1)), whole)
    }
    assert.deepEqual(layout.range(before, new Date(first)).max, layout.range(new Date(first)).max)
    const { timestamp } = layout.decode(whole.max)
    const next = timestamp + layout.tickMs
    assert.ok(timestamp <= last + 1 && (next > last || timestamp === next), 'the last tick')
  })
  holds(t, property, 500)
})

test('range: an offset moves the first tick and the last one', (t) => {
  for (const idOffset of [-(2n ** 40n), 2n ** 62n]) {
    const layout = new Layout('twitter', { idOffset })
    const { min, max } = layout.range(0, Date.UTC(4000, 0))
    const [first, last] = [layout.decode(min), layout.decode(max)]
    t.throws(() => layout.encode({ tick: first.tick - 1n }), { code: 'ERR_FLAKE_OPTION' }, String(idOffset))
    t.throws(() => layout.encode({ tick: last.tick + 1n, counter: 4095, id: 1023 }), { code: 'ERR_FLAKE_OPTION' })
  }
})

test('range: entirely outside the times of a layout, the error names argument and bound', (t) => {
  for (const { layout } of dialects.filter(isOrderedOne)) {
    const end = layout.end.getTime()
    const [begin, until] = [layout.epoch, end].map((ms) => new Date(ms).toISOString().slice(0, -1).replace('+', '\\+'))
    for (const [times, message] of [
      [[layout.epoch - 1], `^The time of from, .* is before the epoch ${begin}`],
      [[layout.epoch - 2, layout.epoch - 1], `^The time of to, .* is before the epoch ${begin}`],
      [[end + 1], `^The time of from, .* is too late for layout '${layout.name}', which ends at ${until}`],
      [[end + 1, end + 2], '^The time of from, .* is too late .*Give an earlier time'],
    ]) {
      const error = t.throws(() => layout.range(...times), { code: 'ERR_FLAKE_TIME_RANGE', instanceOf: RangeError })
      t.regex(error.message, new RegExp(message))
      t.notRegex(error.message, /clock/i)
    }
    for (const times of [
      [end + 5, layout.epoch - 5],
      [layout.epoch + 5, layout.epoch - 5],
    ]) {
      const { code } = t.throws(() => layout.range(...times))
      t.is(code, times[0] > end ? 'ERR_FLAKE_TIME_RANGE' : 'ERR_FLAKE_OPTION', 'to is before from')
    }
  }
  for (const time of [Number.NaN, Number.POSITIVE_INFINITY, new Date(Number.NaN), '2020', true, {}, null, undefined]) {
    t.throws(() => layouts.flake.range(time), { code: 'ERR_FLAKE_OPTION' })
  }
})

test('end is an instant, however long the ticks: at most the last one of a Date', (t) => {
  holds(
    t,
    fc.property(anyLayout, ({ layout, tickNs }) => {
      const end = layout.end.getTime()
      const exact = Number(((lastTickOf(layout, tickNs) + 1n) * tickNs) / 1_000_000n) + layout.epoch
      assert.ok(end >= exact && end <= Number(LAST_DATE), `${end} for ${exact}`)
      assert.ok(layout.signedEnd.getTime() <= end)
    }),
  )
})

// --- generators ---

test('a batch equals as many single calls, and encode of tick, counter and node', (t) => {
  const cases = anyParts.chain((each) => fc.tuple(fc.constant(each), fc.integer({ min: 1, max: 40 })))
  const property = fc.property(
    cases,
    ([
      {
        each: { layout, tickNs },
        parts,
      },
      n,
    ]) => {
      const clock = () => BigInt(layout.epoch) * 1_000_000n + parts.tick * tickNs
      const { id } = layout.decode(layout.encode(parts))
      const make = () => new FlakeId({ layout, id, clock, maxAheadMs: Number.POSITIVE_INFINITY })
      const single = make()
      const expected = []
      try {
        while (expected.length < n) expected.push(single.nextBigInt())
      } catch (error) {
        assert.equal(error.code, 'ERR_FLAKE_TIME_RANGE') // the last tick has no successor
      }
      const ids = [...make().takeBigInts(expected.length)]
      assert.deepEqual(ids, expected)
      for (const made of ids) {
        const { tick, counter, id: node } = layout.decode(made)
        assert.equal(node, id)
        assert.equal(numberOf(layout.encode({ tick, counter, id })), made)
      }
      if (ids.length > 0) assert.equal(layout.decode(ids[0]).tick, parts.tick)
    },
  )
  holds(t, property, 1500)
})
