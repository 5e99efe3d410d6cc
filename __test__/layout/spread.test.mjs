// Mode 'spread' with any layout of bits: the timestamp's bits in reverse order, as java-uniqueid writes them, so that keys fall
// evenly into ranges. Other files try it where they try every layout: layouts, copies, UUIDs, options.

import test from 'ava'
import { DIALECTS, GOLDEN } from '../support/dialects.mjs'
import { bufferOf, FlakeId, hexOf, throwsCode } from '../support/index.mjs'

const { Layout, layouts, toBigInt } = FlakeId

const TIME = Date.UTC(2026, 0) // after all epochs, and the start of a tick everywhere

const WITH_BITS = DIALECTS.filter(({ fields }) => fields.length > 0)
const spread = (name) => new Layout(name, { mode: 'spread' })

/** java-uniqueid's bits in a layout of our own, without its field for the mode, which is 0 in SPREAD. */
const OWN = new Layout(
  { fields: Object.entries({ timestamp: 42, counter: 6, zero: 4, generator: 8, cluster: 4 }) },
  { mode: 'spread' },
)

test('IDs of java-uniqueid, SPREAD, bit for bit', (t) => {
  const ids = GOLDEN.filter(
    ({ layout, mode, fields }) => layout === 'uniqueid' && mode === 'spread' && fields.generator < 256,
  )
  t.true(ids.length >= 7)
  for (const { fields, hex, name } of ids) {
    t.is(hexOf(OWN.encode(fields)), hex, name)
    t.like(OWN.decode(Buffer.from(hex, 'hex')), { ...fields, mode: 'spread' }, name)
    const { timestamp, counter, ...nodes } = fields
    const made = new FlakeId({ layout: OWN, ...nodes, clock: () => timestamp }).takeBigInts(counter + 1)[counter]
    t.is(hexOf(bufferOf(made)), hex, `${name}: a generator generates it`)
  }
})

/** The 64 digits of an ID: those of the timestamp, and the others. */
function digitsOf({ fields }, id) {
  const at = fields.findIndex(([name]) => name === 'timestamp')
  const from = fields.slice(0, at).reduce((sum, [, bits]) => sum + bits, 0)
  const to = from + fields[at][1]
  const digits = toBigInt(id).toString(2).padStart(64, '0')
  return { time: digits.slice(from, to), others: digits.slice(0, from) + digits.slice(to) }
}

for (const { name, counterBits } of WITH_BITS.filter(({ name }) => name !== 'uniqueid')) {
  test(`${name}: only the digits of the time are reversed`, (t) => {
    const [plain, reversed] = [layouts[name], spread(name)]
    for (const timestamp of [TIME, TIME + 12_345_670]) {
      const parts = { timestamp, counter: counterBits > 0 ? 1 : 0 }
      const [one, other] = [plain, reversed].map((layout) => layout.encode(parts))
      const [expected, found] = [digitsOf(plain, one), digitsOf(reversed, other)]
      t.is(found.time, [...expected.time].reverse().join(''))
      t.is(found.others, expected.others)
      t.like(reversed.decode(other), { ...plain.decode(one), mode: 'spread' })
    }
  })

  test(`${name}: a generator makes IDs that decode to its own times and counters`, (t) => {
    const flake = new FlakeId({ layout: name, mode: 'spread', clock: () => TIME, maxAheadMs: 60_000 })
    const ids = [...flake.takeBigInts(300), flake.nextBigInt(), toBigInt(flake.next()), toBigInt(flake.nextString())]
    const parts = ids.map((id) => flake.decode(id))
    t.like(parts[0], { timestamp: TIME, counter: 0 })
    const first = parts[0].tick << BigInt(counterBits)
    for (const [i, { tick, counter }] of parts.entries()) {
      t.is((tick << BigInt(counterBits)) + BigInt(counter), first + BigInt(i))
    }
  })
}

test('the IDs of consecutive ticks fall into ranges evenly', (t) => {
  for (const { name, topIsZero } of WITH_BITS) {
    const layout = spread(name)
    const start = layout.decode(layout.encode({ timestamp: TIME })).tick
    const zeros = topIsZero ? BigInt(layout.fields[0][1]) : 0n
    const counts = new Array(16).fill(0)
    for (let i = 0n; i < 4096n; i++) counts[Number(toBigInt(layout.encode({ tick: start + i })) >> (60n - zeros))]++
    t.deepEqual(counts, new Array(16).fill(256), name)
  }
})

test('what is not ordered by time is refused, and says so', (t) => {
  const layout = spread('flake')
  const error = throwsCode(t, () => layout.range(TIME), 'ERR_FLAKE_OPTION', RangeError)
  t.is(error.value, 'flake')
  t.is(
    error.message,
    "layout must not be 'flake' in mode 'spread', whose IDs are not ordered by time. Select rows by a separate column with the time",
  )
  throwsCode(t, () => layouts.uniqueid.range(TIME), 'ERR_FLAKE_OPTION', RangeError)
  throwsCode(t, () => new Layout(layout, { idOffset: 1n }), 'ERR_FLAKE_OPTION', TypeError)
  throwsCode(t, () => new Layout('hazelcast', { idOffset: 1n, mode: 'spread' }), 'ERR_FLAKE_OPTION', TypeError)
})

test('an idOffset of 0 changes nothing', (t) => {
  for (const idOffset of [0, 0n, '0']) {
    t.is(new Layout('discord', { mode: 'spread', idOffset }).idOffset, undefined)
    t.is(new Layout(new Layout('hazelcast', { idOffset: 5 }), { idOffset }).idOffset, undefined)
    t.deepEqual(new Layout({ ...layouts.twitter, idOffset }), layouts.twitter)
  }
})

test('an ID without a bit for its mode cannot have the other one', (t) => {
  const time = { timestamp: TIME }
  t.regex(
    throwsCode(t, () => spread('flake').encode({ ...time, mode: 'sequential' }), 'ERR_FLAKE_OPTION', RangeError)
      .message,
    /'spread'/,
  )
  t.regex(
    throwsCode(t, () => layouts.flake.encode({ ...time, mode: 'spread' }), 'ERR_FLAKE_OPTION', RangeError).message,
    /'sequential'/,
  )
  t.deepEqual(layouts.flake.encode({ ...time, mode: 'sequential' }), layouts.flake.encode(time))
  t.deepEqual(spread('flake').encode({ ...time, mode: 'spread' }), spread('flake').encode(time))
})

test("'sequential' is what every other layout is anyway", (t) => {
  const { flake } = layouts
  for (const layout of [
    new Layout('flake', { mode: 'sequential' }),
    new Layout(spread('flake'), { mode: 'sequential' }),
  ]) {
    t.deepEqual({ ...layout }, { ...flake })
    t.deepEqual(layout.range(TIME), flake.range(TIME))
  }
  t.is(spread('flake').mode, 'spread')
  t.false('mode' in flake)
})

test('numbers: all IDs of the layout safe are exact, in any order', (t) => {
  const flake = new FlakeId({ layout: 'safe', mode: 'spread', node: 9 })
  for (const id of [flake.nextNumber(), ...flake.takeNumbers(100)]) {
    t.true(Number.isSafeInteger(id))
    t.is(flake.decode(id).node, 9)
  }
})

test('signedEnd: the second tick if its bits reach the top, and never if the top is 0', (t) => {
  t.is(spread('flake').signedEnd.getTime(), 1)
  t.is(spread('twitter').signedEnd.getTime(), layouts.twitter.end.getTime())
})
