// Each dialect as its system has it: IDs that were really generated, the ends of its time, and its peculiarities
// (Chronicle's decimal digits and text, snowcast's nodes, java-uniqueid's modes, Hazelcast's order of fields).

import test from 'ava'
import { DIALECTS, GOLDEN } from '../support/dialects.mjs'
import { FlakeId, manualClock, numberOf, SOME_TIME, throwsCode } from '../support/index.mjs'

const { Layout, layouts, toSigned } = FlakeId
const NAMES = DIALECTS.map(({ name }) => name)
const iso = (text) => new Date(text)

test('the layouts are the rows of the table', (t) => {
  t.deepEqual(Object.keys(layouts), NAMES)
  t.true(Object.isFrozen(layouts))
  for (const { name, epoch, fields } of DIALECTS) {
    t.like(layouts[name], { name, epoch })
    t.deepEqual(layouts[name].fields, fields)
    t.true(Object.isFrozen(layouts[name]))
    t.is(new FlakeId({ layout: name, clock: manualClock() }).layout.name, name)
  }
})

test('each has an ID of its system, with every field other than 0, so that no two fields can be swapped', (t) => {
  for (const { name, nodeFields } of DIALECTS) {
    const fields = GOLDEN.filter(({ layout }) => layout === name).map(({ fields }) => fields)
    for (const field of [...nodeFields.map(([field]) => field)])
      t.true(
        fields.some((each) => each[field] > 0),
        `${name} has no golden ID with a ${field}`,
      )
    t.true(
      fields.some(({ timestamp = 0, timestamp_ns: ns = 0 }) => timestamp > 0 || ns > 0),
      `${name} has no golden ID`,
    )
  }
})

// --- IDs that were really generated ---

test('Discord: the example of its documentation', (t) => {
  t.like(layouts.discord.decode('175928847299117063'), {
    date: iso('2016-04-30T11:18:25.796Z'),
    worker: 1,
    process: 0,
    counter: 7,
  })
})

test('Twitter: the tweet of Wikipedia, "Snowflake ID"', (t) => {
  t.like(layouts.twitter.decode(1541815603606036480n), {
    date: iso('2022-06-28T16:07:40.105Z'),
    id: 378, // datacenter and worker joined
    datacenter: 378 >> 5,
    worker: 378 & 31,
    counter: 0,
  })
})

test('Instagram: the example of its engineering blog', (t) => {
  const id = (1387263000n << 23n) | (BigInt(31341 % 2000) << 10n) | BigInt(5001 % 1024)
  const { instagram } = layouts
  t.is(instagram.epoch, Date.parse('2011-08-24T21:07:01.721Z'))
  t.like(instagram.decode(id), {
    tick: 1387263000n,
    shard: 1341,
    counter: 905,
    timestamp: instagram.epoch + 1387263000,
  })
  t.is(numberOf(instagram.encode({ tick: 1387263000n, shard: 1341, counter: 905 })), id)
})

test('Sonyflake: 10 ms since 2014-09-01, sequence, machine', (t) => {
  const time = Date.parse('2024-02-29T12:34:56.780Z')
  const tick = BigInt(time - Date.parse('2014-09-01T00:00:00Z')) / 10n
  const id = (tick << 24n) | (200n << 16n) | 0xc0a8n
  t.like(layouts.sonyflake.decode(id), { date: new Date(time), tick, counter: 200, machine: 0xc0a8 })
  for (const within of [0, 9]) {
    t.is(numberOf(layouts.sonyflake.encode({ timestamp: time + within, counter: 200, machine: 0xc0a8 })), id)
  }
  const flake = new FlakeId({ layout: 'sonyflake', machine: 5, clock: () => time + 3 })
  t.deepEqual(
    [...flake.takeBigInts(3)],
    [0n, 1n, 2n].map((n) => (tick << 24n) | (n << 16n) | 5n),
  )
})

test('safe: ms since 2020 in 41 bits, node and counter in 6 each, all below 2^53', (t) => {
  const { safe } = layouts
  const since = Date.parse('2020-01-01T00:00:00Z')
  const time = Date.parse('2026-11-20T13:25:27.205Z')
  // Numbers, so that this arithmetic differs from the core's: 4,096 IDs per ms, 64 for each node.
  const id = (time - since) * 4096 + 37 * 64 + 5
  t.is(id, 890242364234053)
  t.like(safe.decode(id), { date: new Date(time), tick: BigInt(time - since), node: 37, counter: 5, id: 37 })
  t.is(Number(numberOf(safe.encode({ timestamp: time, node: 37, counter: 5 }))), id)
  const flake = new FlakeId({ layout: 'safe', node: 37, clock: () => time })
  const made = Array.from({ length: 200 }, (_, i) => (time - since + Math.floor(i / 64)) * 4096 + 37 * 64 + (i % 64))
  t.deepEqual([...flake.takeNumbers(200)], made, 'after 64 IDs the next ms is borrowed')
  const last = safe.range(safe.end.getTime() - 1).max
  t.is(numberOf(last), BigInt(Number.MAX_SAFE_INTEGER))
  t.is(safe.end.toISOString(), '2089-09-06T15:47:35.552Z')
  t.is(numberOf(safe.encode({ timestamp: since })), 0n)
  throwsCode(t, () => safe.decode(2n ** 53n), 'ERR_FLAKE_ID', TypeError)
})

test('Hazelcast: the node is lowest, so the IDs of one node step by 65 536', (t) => {
  const time = Date.parse('2024-02-29T12:34:56.789Z')
  const base = (BigInt(time - Date.parse('2018-01-01T00:00:00Z')) << 22n) | 77n
  const flake = new FlakeId({ layout: 'hazelcast', node: 77, clock: () => time })
  t.deepEqual(
    [...flake.takeBigInts(100)],
    Array.from({ length: 100 }, (_, i) => base + 65536n * BigInt(i)), // 64 per ms; then the next ms, by the same step
  )
  t.like(layouts.hazelcast.decode(base + 65536n * 64n), { date: new Date(time + 1), counter: 0, node: 77 })
})

test("snowcast: its manual's example", (t) => {
  const flake = new FlakeId({ layout: 'snowcast', node: 1234, clock: () => Date.parse('2014-03-03T05:12:12Z') })
  t.is(flake.epoch, Date.parse('2014-01-01T00:00:00Z'))
  t.deepEqual(flake.takeBigInts(2)[1], 44368455009519617n)
  t.like(layouts.snowcast.decode(44368455009519617n), { date: iso('2014-03-03T05:12:12Z'), node: 1234, counter: 1 })
})

// --- the ends of time ---

const all = [
  ...Object.values(layouts),
  new Layout('uniqueid', { mode: 'sequential' }),
  new Layout('flake', { epoch: 9e11 }),
]

for (const [number, layout] of all.entries()) {
  test(`the end of ${layout.name} ${number}: a generator works until then, and no longer`, (t) => {
    const end = layout.end.getTime()
    const before = new FlakeId({ layout, clock: () => end - 1 })
    t.is(before.decode(before.next()).tick, layout.decode(layout.encode({ timestamp: end - 1 })).tick)
    for (const after of [end, end + 1, end + 1e9]) {
      const flake = new FlakeId({ layout, clock: () => after })
      for (const call of [() => flake.next(), () => flake.take(1), () => layout.encode({ timestamp: after })]) {
        t.is(throwsCode(t, call, 'ERR_FLAKE_TIME_RANGE', RangeError).timestamp, after)
      }
    }
    const early = new FlakeId({ layout, clock: () => layout.epoch - 1 })
    t.is(throwsCode(t, () => early.next(), 'ERR_FLAKE_TIME_RANGE', RangeError).timestamp, layout.epoch - 1)
  })
}

/** Those in which the time decides the sign. */
const SIGNED = DIALECTS.filter(({ name, topIsZero }) => !topIsZero && !['uniqueid', 'chronicle-micros'].includes(name))

for (const { name } of SIGNED) {
  test(`signedEnd of ${name}: from then on IDs are negative in a signed column, and not before`, (t) => {
    const layout = layouts[name]
    const signedEnd = layout.signedEnd.getTime()
    t.true(signedEnd < layout.end.getTime())
    const latest = layout.range(BigInt(signedEnd - 1) * 1_000_000n).max
    t.true(toSigned(latest) > 0n)
    for (const node of [0, layout.decode(layout.range(signedEnd).max).id]) {
      const at = (clock) => toSigned(new FlakeId({ layout, id: node, clock: () => clock }).next())
      t.true(at(signedEnd - 1) >= 0n)
      t.true(at(signedEnd) < 0n, `node ${node}`)
    }
  })
}

test('signedEnd is the end where the top bit is always 0, and the start where time does not decide it', (t) => {
  for (const { name } of DIALECTS.filter(({ topIsZero }) => topIsZero)) {
    t.deepEqual(layouts[name].signedEnd, layouts[name].end)
    t.true(toSigned(layouts[name].range(layouts[name].end.getTime() - 1).max) > 0n)
  }
  t.true(layouts.uniqueid.signedEnd.getTime() - layouts.uniqueid.epoch <= 1)
  t.true(toSigned(layouts.uniqueid.encode({ timestamp: 1 })) < 0n, 'the lowest bit is the top one')
  t.is(new Layout('uniqueid', { mode: 'sequential' }).signedEnd.getTime(), 2 ** 41)
  const nodeFirst = new Layout({ epoch: 5, fields: Object.entries({ shard: 10, timestamp: 44, counter: 10 }) })
  t.true(nodeFirst.signedEnd.getTime() - 5 <= 1)
})

test('the dates of flake, as the types document them', (t) => {
  t.is(layouts.flake.end.toISOString().slice(0, 10), '2109-05-15')
  t.is(layouts.flake.signedEnd.toISOString().slice(0, 10), '2039-09-07')
})

// --- Chronicle ---

test('chronicle: IDs of one host step by 100, which is 10 M per second', (t) => {
  for (const [layout, msPerTick] of [
    ['chronicle', 0.0001],
    ['chronicle-micros', 0.1],
  ]) {
    const flake = new FlakeId({ layout, host: 28, clock: () => SOME_TIME })
    const n = 10_000
    const ids = flake.takeBigInts(n)
    t.is(ids[0], BigInt(SOME_TIME) * (layout === 'chronicle' ? 1_000_000n : 1000n) + 28n)
    t.true(ids.every((id, i) => id === ids[0] + 100n * BigInt(i)))
    t.is(flake.decode(flake.nextBigInt()).timestamp, SOME_TIME + n * msPerTick)
  }
})

test('chronicle: a host is 0 to 99; 128, which Chronicle reduces to its remainder, is an error', (t) => {
  for (const layout of ['chronicle', 'chronicle-micros']) {
    for (const host of [0, 99]) t.is(new FlakeId({ layout, host }).id, host)
    for (const host of [100, 128, -1]) {
      const error = throwsCode(t, () => new FlakeId({ layout, host }), 'ERR_FLAKE_OPTION', RangeError)
      t.is(error.option, 'host')
      t.regex(error.message, /99/)
      throwsCode(t, () => new FlakeId({ layout, id: host }), 'ERR_FLAKE_OPTION', RangeError)
      throwsCode(t, () => layouts[layout].encode({ timestamp: 5, host }), 'ERR_FLAKE_OPTION', RangeError)
    }
  }
})

test('chronicle: text with nine digits of seconds, both ways', (t) => {
  const { chronicle, 'chronicle-micros': micros } = layouts
  for (const [layout, id, text] of [
    [chronicle, 0n, '1970-01-01T00:00:00.000000000'],
    [chronicle, 99n, '1970-01-01T00:00:00.000000099'],
    [chronicle, 1640700422954100128n, '2021-12-28T14:07:02.954100128'],
    [chronicle, 2n ** 64n - 17n, '2554-07-21T23:34:33.709551599'],
    [micros, 1640700422954228n, '2021-12-28T14:07:02.954228000'],
    [micros, 99n, '1970-01-01T00:00:00.000099000'],
  ]) {
    t.is(layout.toText(id), text)
    t.is(numberOf(layout.fromText(text)), id)
  }
  // biome-ignore format: one kind a line
  for (const bad of [
    '', 5, null, 5n, {}, Symbol('x'),
    '2021-12-28', '2021-12-28T14:07:02.', '2021-12-28T14:07:02.9541001280', '2021-12-28T14:07:02+01', '2021-12-28T14:07Z',
    '2021-12-28T14:07:02z', '2021-12-28T14:07:02.9+25:00', '2021-12-28T24:00:00', '2021-12-28 14:07:02',
    '2021-13-28T14:07:02.954100128', '2021-12-32T14:07:02.954100128', '2021-12-28T25:07:02.954100128',
    '2021-02-30T14:07:02.954100128', // which Date.parse reads as the second of March
    '1969-12-31T23:59:59.999999999', '2555-01-01T00:00:00.000000000', '9999-01-01T00:00:00.000000000',
  ]) {
    throwsCode(t, () => chronicle.fromText(bad), 'ERR_FLAKE_ID', TypeError)
  }
  // as java.time and Chronicle write the same moments
  for (const [text, id] of [
    ['2021-12-28T14:07:02.9541001', 1640700422954100100n],
    ['2021-12-28T14:07:02.954', 1640700422954000000n],
    ['2021-12-28T14:07:02', 1640700422000000000n],
    ['2021-12-28T14:07:02.954100128Z', 1640700422954100128n],
    ['2021-12-28T15:07:02.954100128+01:00', 1640700422954100128n],
    ['2021-12-27T23:37:02.9541-14:30', 1640700422954100000n],
    ['1970-01-01T09:00:00+09:00', 0n],
  ])
    t.is(numberOf(chronicle.fromText(text)), id, text)
  throwsCode(t, () => chronicle.fromText('1970-01-01T00:00:00+00:01'), 'ERR_FLAKE_ID', TypeError)
  throwsCode(t, () => micros.fromText('2021-12-28T14:07:02.954228001'), 'ERR_FLAKE_ID', TypeError)
  t.is(chronicle.toText(5), '1970-01-01T00:00:00.000000005')
  throwsCode(t, () => chronicle.toText(0.5), 'ERR_FLAKE_ID', TypeError)
})

test('chronicle: text of times before 1970, and of years that a Date writes with a sign', (t) => {
  for (const [name, epoch, id, text] of [
    ['chronicle', -1000, 1n, '1969-12-31T23:59:59.000000001'],
    ['chronicle', -86_400_000, 5n, '1969-12-31T00:00:00.000000005'],
    ['chronicle', -86_400_000, 86_399_999_999_999n, '1969-12-31T23:59:59.999999999'],
    ['chronicle', Date.UTC(10_000, 0), 99n, '+010000-01-01T00:00:00.000000099'],
    ['chronicle', Date.UTC(-1, 11, 31), 7n, '-000001-12-31T00:00:00.000000007'],
    ['chronicle-micros', -1500, 400_000n, '1969-12-31T23:59:58.900000000'],
    ['chronicle-micros', Date.UTC(9999, 11, 31), 86_400_000_099n, '+010000-01-01T00:00:00.000099000'],
  ]) {
    const layout = new Layout(name, { epoch })
    t.is(layout.toText(id), text)
    t.is(numberOf(layout.fromText(text)), id)
    t.is(Date.parse(`${text.slice(0, -6)}Z`), Math.floor(layout.decode(id).timestamp))
  }
  const early = new Layout('chronicle', { epoch: -86_400_000 })
  throwsCode(t, () => early.fromText('-000000-01-01T00:00:00.000000000'), 'ERR_FLAKE_ID', TypeError)
})

test('toText and fromText work only for chronicle layouts', (t) => {
  for (const name of NAMES.filter((name) => !name.startsWith('chronicle'))) {
    throwsCode(t, () => layouts[name].toText(5n), 'ERR_FLAKE_OPTION', RangeError)
    throwsCode(t, () => layouts[name].fromText('2021-12-28T14:07:02.954100128'), 'ERR_FLAKE_OPTION', RangeError)
  }
})

// --- options of layouts ---

test('snowcast: nodes rounds up to a power of two, and the counter gets the remaining bits', (t) => {
  for (const [nodes, node] of [
    [128, 7],
    [129, 8],
    [256, 8],
    ['300', 9],
    [1000, 10],
    [4097, 13],
    [8192, 13],
  ]) {
    const layout = new Layout('snowcast', { nodes })
    t.deepEqual(layout.fields, Object.entries({ timestamp: 41, node, counter: 23 - node }))
    t.notThrows(() => new FlakeId({ layout: 'snowcast', nodes, node: 2 ** node - 1 }))
    throwsCode(t, () => new FlakeId({ layout: 'snowcast', nodes, node: 2 ** node }), 'ERR_FLAKE_OPTION', RangeError)
  }
  const flake = new FlakeId({ layout: 'snowcast', nodes: 128, node: 3, maxWaitMs: 0, clock: manualClock() })
  t.is(flake.takeBigInts(65_536).length, 65_536)
  throwsCode(t, () => flake.next(), 'ERR_FLAKE_OVERFLOW')
})

test('snowcast: an epoch from a number or a Date; one in the future is rejected', (t) => {
  const date = iso('2020-05-05')
  for (const epoch of [date, date.getTime()]) {
    t.is(new FlakeId({ layout: 'snowcast', epoch }).epoch, date.getTime())
    t.is(new Layout('snowcast', { epoch }).epoch, date.getTime())
  }
  for (const epoch of [Date.now() + 1e9, new Date(Date.now() + 1e9)]) {
    t.is(
      throwsCode(t, () => new FlakeId({ layout: 'snowcast', epoch }), 'ERR_FLAKE_OPTION', RangeError).option,
      'epoch',
    )
  }
})

test('a layout can be derived from another, with another option', (t) => {
  const [small, early] = [new Layout('snowcast', { nodes: 128 }), new Layout('snowcast', { nodes: 128, epoch: 5 })]
  t.deepEqual(new Layout(small, { epoch: 5 }).fields, small.fields)
  t.is(new Layout(small, { epoch: 5 }).epoch, 5)
  t.is(new FlakeId({ layout: early, node: 9 }).layout.epoch, 5)
  t.is(new FlakeId({ layout: early, epoch: 7, clock: manualClock() }).layout.epoch, 7)
  t.is(early.epoch, 5, 'which stays unchanged')
  const own = new Layout({ name: 'mine', fields: Object.entries({ timestamp: 41, shard: 23 }) })
  t.is(new Layout(own, { epoch: 5 }).name, 'mine')
})

test('uniqueid: in spread mode IDs one ms apart are far apart, in sequential mode they are in order', (t) => {
  for (const [mode, isFar] of [
    ['spread', true],
    [undefined, true],
    ['sequential', false],
  ]) {
    const clock = manualClock()
    const flake = new FlakeId({ layout: 'uniqueid', mode, generator: 300, cluster: 2, clock })
    const first = flake.nextBigInt()
    clock.now += 1
    const second = flake.nextBigInt()
    t.is(second > first ? second - first > 2n ** 62n : first - second > 2n ** 62n, isFar)
    t.is(flake.layout.decode(second).mode, mode ?? 'spread')
    t.like(layouts.uniqueid.decode(second), {
      timestamp: SOME_TIME + 1,
      generator: 300,
      cluster: 2,
      id: (300 << 4) | 2,
    })
  }
})

test('uniqueid: batches of 500 and more', (t) => {
  for (const mode of ['spread', 'sequential']) {
    const ids = new FlakeId({ layout: 'uniqueid', mode, id: 77 }).takeBigInts(1500)
    t.is(new Set(ids).size, 1500)
    const parts = [...ids].map((id) => layouts.uniqueid.decode(id))
    t.true(parts.every(({ id, mode: own }) => id === 77 && own === mode))
    t.true(parts.every(({ tick, counter }, i) => i === 0 || tick > parts[i - 1].tick || counter > parts[i - 1].counter))
  }
})
